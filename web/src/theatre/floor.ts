// The floor of a workshop: squares that tell how large things are, and no edge.

import { Color, FrontSide, type IUniform, ShaderMaterial, SRGBColorSpace } from "three";
import { FILM, LAMP, SHADOW } from "./shader";

/** Sides of the squares, m: the largest that still shows at least so many between eye and target. */
const SIDES = [10, 1, 0.1, 0.01];
const SQUARES = 6;

const VERTEX = /* glsl */ `
uniform mat4 shadowView;
varying vec3 vWorld;
varying vec3 vPlace;
varying vec3 vNormal;
varying vec4 vShadow;
void main() {
  vec4 world = modelMatrix * vec4(position, 1.0);
  vec4 place = viewMatrix * world;
  vWorld = world.xyz;
  vPlace = place.xyz;
  vNormal = normalMatrix * normal;
  vShadow = shadowView * world;
  gl_Position = projectionMatrix * place;
}
`;

const MAIN = /* glsl */ `
uniform vec3 colour;
uniform vec3 behind;
uniform float side;
uniform float sight;
varying vec3 vWorld;
varying vec3 vPlace;
varying vec3 vNormal;
// Share of the dark squares in a pixel: the integral of the pattern over it, so that nothing flickers far away.
float squares(vec2 at) {
  vec2 wide = max(fwidth(at), 1e-4);
  vec2 mean = (abs(fract(0.5 * (at - 0.5 * wide)) - 0.5) - abs(fract(0.5 * (at + 0.5 * wide)) - 0.5)) * 2.0 / wide;
  return 0.5 - 0.5 * mean.x * mean.y;
}
void main() {
  vec3 towards = lampPlace - vPlace;
  float far = length(towards);
  float facing = max(dot(normalize(vNormal), towards / far), 0.0);
  float light = lampStrength * facing;
#ifdef SHADED
  light *= mix(0.25, 1.0, lit(facing));
#endif
  vec3 radiance = colour * (LAMP * light + walls * lampStrength) * (1.0 - 0.3 * squares(vWorld.xz / side));
  float away = smoothstep(0.35, 1.0, length(vPlace) / sight);
  gl_FragColor = vec4(mix(developed(radiance), behind, away), 1.0);
  #include <colorspace_fragment>
}
`;

export interface FloorOptions {
  /** sRGB, 0 to 1. */
  colour: readonly [number, number, number];
  /** What is behind everything: the floor fades into it. */
  behind: number;
  /** From the eye to what it looks at, m. */
  distance: number;
  /** True if there are shadows. */
  shaded: boolean;
}

export function floorMaterial(
  shared: Record<string, IUniform>,
  { colour, behind, distance, shaded }: FloorOptions,
): ShaderMaterial {
  return new ShaderMaterial({
    vertexShader: VERTEX,
    fragmentShader: [LAMP, FILM, shaded ? SHADOW : "", MAIN].join("\n"),
    defines: shaded ? { SHADED: "" } : {},
    uniforms: {
      ...shared,
      colour: { value: new Color().setRGB(...colour, SRGBColorSpace) },
      behind: { value: new Color(behind) },
      side: { value: sideFor(distance) },
      sight: { value: Math.min(4.5 * distance, REACH) },
    },
    toneMapped: false,
    side: FrontSide,
  });
}

/** How far a floor is drawn at least, m. */
const REACH = 10;

/** Side of the squares of a floor that is seen from so far away, m. */
export function sideFor(distance: number): number {
  return SIDES.find((side) => side * SQUARES <= distance) ?? SIDES[SIDES.length - 1];
}
