// How tissue and steel look: one shader, a kind of surface for each look, and the light of an endoscope.
//
// What is painted on a surface is computed from where it was at rest, in mm, so it clings to tissue that moves, has
// its true size, and no picture has to be loaded. Light: one lamp beside the lens, as on a laparoscope.

import type { Look } from "../wire";
import { CELLS, STEEPEST } from "./noise";

/** Clouds and pebbles at a place given in mm; `size` is that of a cell, mm. The slope comes per mm. */
const GRAIN = /* glsl */ `
uniform highp sampler3D cloudBlock;
uniform highp sampler3D pebbleBlock;
uniform highp sampler2D vesselSheet;
varying vec3 vSides;

vec4 clouds(vec3 p, float size) {
  vec4 grain = texture(cloudBlock, p / (${CELLS}.0 * size));
  return vec4(grain.x, (grain.yzw - 0.5) * (${STEEPEST}.0 / size));
}
vec4 pebbles(vec3 p, float size) {
  vec4 grain = texture(pebbleBlock, p / (${CELLS}.0 * size));
  return vec4(grain.x, (grain.yzw - 0.5) * (${STEEPEST}.0 / size));
}
// Trees and capillaries from three sides; the sheet repeats every \`period\` mm.
vec2 vessels(vec3 p, float period) {
  p /= period;
  vec3 sides = pow(abs(vSides), vec3(8.0));
  sides /= sides.x + sides.y + sides.z;
  return sides.x * texture(vesselSheet, p.yz).xy
    + sides.y * texture(vesselSheet, p.zx + 0.37).xy
    + sides.z * texture(vesselSheet, p.xy + 0.71).xy;
}
// Thin lines where the noise crosses its mean, as broad as \`width\` in the noise's own unit.
float threads(float value, float width) {
  return 1.0 - smoothstep(0.0, width, abs(value - 0.5));
}
`;

/** What a surface is like at a point. */
const SURFACE = /* glsl */ `
struct Surface {
  vec3 albedo;
  // Height of the relief by place at rest, mm per mm; of the flesh and of the film of moisture upon it.
  vec3 relief;
  vec3 film;
  float roughness;
  float wet;
  // How far light seeps through: reddens the edge of the shadow.
  float depth;
  float opacity;
};
`;

/** One function for each look: what is at p, the place at rest in mm. */
const LOOKS: Record<Look, string> = {
  plain: /* glsl */ `
    vec4 patches = clouds(p, 9.0);
    s.albedo = colour * (0.86 + 0.28 * patches.x);
    s.relief = 0.15 * clouds(p, 2.0).yzw;
    s.film = 0.5 * clouds(p, 3.0).yzw;
    s.wet = 0.45;`,
  liver: /* glsl */ `
    vec4 patches = clouds(p, 14.0);
    vec4 lobules = pebbles(p, 1.15);
    vec4 waves = clouds(p, 4.5);
    float stipple = smoothstep(0.1, 0.8, lobules.x);
    s.albedo = colour * mix(vec3(0.74, 0.70, 0.70), vec3(1.22, 1.32, 1.30), 0.5 * stipple + 0.5 * patches.x);
    s.albedo *= 0.88 + 0.24 * clouds(p, 2.3).x;
    s.relief = -0.10 * lobules.yzw + 0.35 * waves.yzw;
    s.film = 0.75 * waves.yzw + 0.22 * clouds(p, 1.5).yzw + 0.05 * lobules.yzw;
    s.roughness = 0.45;
    s.wet = 1.0;
    s.depth = 0.3;`,
  gall_bladder: /* glsl */ `
    vec4 wide = clouds(p, 15.0);
    vec4 waves = clouds(p, 3.6);
    float bile = smoothstep(0.2, 0.8, wide.x + 0.3 * (waves.x - 0.5));
    s.albedo = colour * mix(vec3(0.80, 0.92, 0.96), vec3(1.10, 1.02, 0.72), bile);
    // Serosa: a pale, faintly pink veil with streaks.
    s.albedo = mix(s.albedo, vec3(0.40, 0.27, 0.21), 0.34 * smoothstep(0.25, 0.8, clouds(p + 5.0, 6.0).x));
    vec2 tree = vessels(p + 1.2 * waves.yzw, 46.0);
    s.albedo = mix(s.albedo, vec3(0.30, 0.03, 0.025), 0.78 * tree.x);
    s.albedo = mix(s.albedo, vec3(0.40, 0.09, 0.06), 0.45 * tree.y);
    s.relief = 0.30 * waves.yzw + 0.08 * clouds(p, 1.1).yzw;
    s.film = 0.75 * waves.yzw + 0.16 * clouds(p, 1.4).yzw;
    s.roughness = 0.4;
    s.wet = 1.0;
    s.depth = 0.4;`,
  duct: /* glsl */ `
    vec4 wide = clouds(p, 6.0);
    vec2 tree = vessels(p, 22.0);
    s.albedo = colour * mix(vec3(0.82, 0.90, 0.85), vec3(1.12, 1.06, 0.9), wide.x);
    s.albedo = mix(s.albedo, vec3(0.38, 0.05, 0.04), 0.5 * tree.x + 0.3 * tree.y);
    s.relief = 0.14 * clouds(p, 1.3).yzw;
    s.film = 0.4 * clouds(p, 2.2).yzw;
    s.roughness = 0.42;
    s.wet = 0.95;
    s.depth = 0.5;`,
  vein: /* glsl */ `
    vec4 wide = clouds(p, 5.0);
    s.albedo = colour * (0.80 + 0.40 * wide.x);
    s.albedo = mix(s.albedo, vec3(0.36, 0.27, 0.32), 0.2 * clouds(p, 1.8).x);
    s.relief = 0.12 * clouds(p, 1.6).yzw;
    s.film = 0.4 * clouds(p, 2.4).yzw;
    s.roughness = 0.4;
    s.wet = 1.0;
    s.depth = 0.4;`,
  artery: /* glsl */ `
    vec4 wide = clouds(p, 4.0);
    s.albedo = colour * (0.82 + 0.36 * wide.x);
    s.albedo = mix(s.albedo, vec3(0.50, 0.22, 0.18), 0.25 * clouds(p, 2.1).x);
    s.relief = 0.12 * clouds(p, 1.1).yzw;
    s.film = 0.35 * clouds(p, 2.0).yzw;
    s.roughness = 0.36;
    s.wet = 1.0;
    s.depth = 0.4;`,
  fat: /* glsl */ `
    vec4 lobules = pebbles(p + 1.2 * clouds(p, 3.0).yzw, 3.2);
    vec4 small = pebbles(p, 1.2);
    float cleft = smoothstep(0.4, 0.95, lobules.x);
    s.albedo = colour * mix(vec3(1.06, 1.04, 0.98), vec3(0.80, 0.62, 0.42), cleft);
    s.albedo *= 0.86 + 0.28 * clouds(p, 7.0).x;
    vec2 tree = vessels(p, 60.0);
    s.albedo = mix(s.albedo, vec3(0.42, 0.05, 0.03), 0.75 * tree.x + 0.22 * tree.y);
    s.relief = -1.5 * lobules.x * lobules.yzw - 0.22 * small.yzw;
    s.film = 0.7 * s.relief + 0.3 * clouds(p, 1.6).yzw;
    s.roughness = 0.5;
    s.wet = 0.9;
    s.depth = 0.6;`,
  bowel: /* glsl */ `
    vec4 wide = clouds(p, 11.0);
    vec4 waves = clouds(p, 4.2);
    vec2 tree = vessels(p + 1.5 * waves.yzw, 58.0);
    s.albedo = colour * mix(vec3(0.88, 0.78, 0.76), vec3(1.06, 1.08, 1.06), wide.x);
    s.albedo = mix(s.albedo, vec3(0.42, 0.04, 0.045), 0.75 * tree.x + 0.36 * tree.y);
    s.relief = 0.35 * waves.yzw;
    s.film = 0.8 * waves.yzw + 0.18 * clouds(p, 1.5).yzw;
    s.roughness = 0.45;
    s.wet = 1.0;
    s.depth = 0.5;`,
  peritoneum: /* glsl */ `
    vec4 wide = clouds(p, 14.0);
    vec4 waves = clouds(p, 6.0);
    vec2 tree = vessels(p + 2.0 * waves.yzw, 85.0);
    float bundles = clouds(p * vec3(0.25, 1.0, 1.0), 3.0).x;
    s.albedo = colour * (0.80 + 0.22 * wide.x + 0.2 * bundles);
    s.albedo = mix(s.albedo, vec3(0.40, 0.045, 0.045), 0.72 * tree.x + 0.34 * tree.y);
    s.relief = 0.35 * waves.yzw;
    s.film = 0.9 * waves.yzw + 0.2 * clouds(p, 2.0).yzw;
    s.roughness = 0.5;
    s.wet = 0.8;
    s.depth = 0.45;`,
  membrane: /* glsl */ `
    vec4 wide = clouds(p, 6.0);
    float fibres = threads(clouds(p * vec3(1.0, 0.35, 1.0), 1.4).x, 0.10);
    vec2 tree = vessels(p, 50.0);
    s.albedo = mix(colour, vec3(0.70, 0.62, 0.56), 0.3 * fibres) * (0.84 + 0.3 * wide.x);
    s.albedo = mix(s.albedo, vec3(0.42, 0.05, 0.04), 0.7 * tree.x);
    s.film = 0.6 * clouds(p, 3.0).yzw;
    s.roughness = 0.5;
    s.wet = 0.9;
    s.depth = 0.7;
    s.opacity = 0.45 + 0.22 * fibres + 0.4 * tree.x;`,
  muscle: /* glsl */ `
    vec3 along = p * vec3(1.0, 0.12, 1.0);
    vec4 bundles = clouds(along, 0.9);
    vec4 strands = clouds(along, 0.3);
    s.albedo = colour * (0.66 + 0.44 * bundles.x + 0.22 * strands.x);
    s.albedo = mix(s.albedo, vec3(0.58, 0.42, 0.36), 0.35 * threads(clouds(along, 1.7).x, 0.06));
    s.relief = 0.35 * bundles.yzw * vec3(1.0, 0.12, 1.0);
    s.film = 0.4 * clouds(p, 2.5).yzw + 0.5 * s.relief;
    s.roughness = 0.5;
    s.wet = 0.85;
    s.depth = 0.5;`,
  steel: /* glsl */ `
    float brushed = clouds(p * vec3(9.0, 9.0, 0.6), 1.0).x;
    s.albedo = colour * (0.93 + 0.12 * brushed);
    s.roughness = 0.26 + 0.12 * brushed;`,
  plastic: /* glsl */ `
    s.albedo = colour;
    s.roughness = 0.42;
    s.wet = 0.25;`,
};

/** Most points of a line that is drawn on a surface. */
export const PATH_POINTS = 32;

/** A curve that is drawn on a surface where it lies at rest: how much of it is seen at a place, in mm. Torn, both edges keep their part. */
const TRACE = /* glsl */ `
#ifdef PATH
uniform vec4 pathCircle;
uniform vec3 pathPoints[${PATH_POINTS}];
uniform int pathCount;
uniform float pathWidth;
uniform vec3 pathColour;
float trace(vec3 p) {
  float far = pathCircle.w > 0.0 ? abs(distance(p, pathCircle.xyz) - pathCircle.w) : 1e9;
  for (int i = 1; i < ${PATH_POINTS}; i += 1) {
    if (i >= pathCount) {
      break;
    }
    vec3 along = pathPoints[i] - pathPoints[i - 1];
    vec3 from = p - pathPoints[i - 1];
    float part = clamp(dot(from, along) / max(dot(along, along), 1e-9), 0.0, 1.0);
    far = min(far, length(from - part * along));
  }
  float soft = fwidth(far);
  return 1.0 - smoothstep(0.5 * pathWidth - soft, 0.5 * pathWidth + soft, far);
}
#endif
`;

const VERTEX = /* glsl */ `
#ifdef CLINGS
attribute vec3 rest;
attribute vec3 restNormal;
#endif
varying vec3 vRest;
varying vec3 vSides;
varying vec3 vPlace;
varying vec3 vNormal;
uniform mat4 shadowView;
varying vec4 vShadow;
void main() {
#ifdef CLINGS
  vRest = 1000.0 * rest;
  vSides = restNormal;
#else
  vRest = 1000.0 * position;
  vSides = normal;
#endif
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  vPlace = place.xyz;
  vNormal = normalMatrix * normal;
  vShadow = shadowView * modelMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
}
`;

/** The lamp and the film of the camera. */
export const LAMP = /* glsl */ `
// The lamp, seen from the eye, m; the distance at which it is as bright as \`lampStrength\`.
uniform vec3 lampPlace;
uniform float lampReach;
uniform float lampStrength;
// Width of the beam: cosine of the angle where it has faded, as seen from the lamp along -z. Below -1: all around.
uniform float lampEdge;

const vec3 LAMP = vec3(1.0, 0.96, 0.88);
// What the walls around throw back.
uniform vec3 walls;

// Less than by the square of the distance: the camera's gain evens it out.
float brightness(float near, float slant) {
  float beam = smoothstep(lampEdge, mix(lampEdge, 1.0, 0.8), slant);
  return lampStrength * beam * min(near * sqrt(near), 1.9);
}

// Dark room of instruments: what metal mirrors, by the direction it is seen in.
vec3 cavity(vec3 direction) {
  float bands = 0.5 + 0.5 * sin(5.0 * direction.y + 2.0 * direction.x);
  float ahead = smoothstep(-0.9, 0.7, -direction.z);
  return mix(vec3(0.035, 0.028, 0.027), vec3(0.40, 0.33, 0.31), ahead * (0.08 + 0.92 * bands * bands * bands));
}
`;

/** Bright things become white gradually (the curve of K. Narkowicz for ACES, 2016). */
export const FILM = /* glsl */ `
vec3 developed(vec3 radiance) {
  return clamp(radiance * (2.51 * radiance + 0.03) / (radiance * (2.43 * radiance + 0.59) + 0.14), 0.0, 1.0);
}
`;

const SHINE = /* glsl */ `
varying vec3 vRest;
varying vec3 vPlace;
varying vec3 vNormal;
uniform vec3 colour;
uniform float opacity;

float shine(vec3 normal, vec3 middle, float roughness) {
  float a = roughness * roughness;
  float across = max(dot(normal, middle), 0.0);
  float width = across * across * (a * a - 1.0) + 1.0;
  return a * a / (3.14159 * width * width);
}
`;

export const SHADOW = /* glsl */ `
uniform highp sampler2D shadowMap;
uniform float shadowTexel;
varying vec4 vShadow;
float lit(float facing) {
  vec3 at = 0.5 + 0.5 * vShadow.xyz / vShadow.w;
  if (any(greaterThan(abs(at.xy - 0.5), vec2(0.5))) || at.z > 1.0) {
    return 1.0;
  }
  // Steeper surfaces fall away faster within a texel.
  float bias = 0.0006 + 0.002 * (1.0 - facing);
  float sum = 0.0;
  for (int i = -1; i <= 1; i += 1) {
    for (int j = -1; j <= 1; j += 1) {
      sum += step(at.z - bias, texture(shadowMap, at.xy + shadowTexel * 1.3 * vec2(i, j)).x);
    }
  }
  return sum / 9.0;
}
`;

/** Tilts a normal by a relief that is given by its slope over the place at rest (Mikkelsen, "Bump mapping unparametrized
 * surfaces on the GPU", 2010). */
const TILT = /* glsl */ `
vec3 tilt(vec3 normal, vec3 relief, vec3 px, vec3 py, vec3 rx, vec3 ry) {
  vec3 a = cross(py, normal);
  vec3 b = cross(normal, px);
  float area = dot(px, a);
  vec3 slope = sign(area) * 0.001 * (dot(relief, rx) * a + dot(relief, ry) * b);
  return normalize(abs(area) * normal - slope);
}
`;

const MAIN = /* glsl */ `
void main() {
  Surface s = Surface(colour, vec3(0.0), vec3(0.0), 0.5, 0.0, 0.0, opacity);
  paint(vRest, s);
#ifdef PATH
  float drawn = trace(vRest);
  s.albedo = mix(s.albedo, pathColour, drawn);
  s.opacity = mix(s.opacity, 1.0, drawn);
#endif
  vec3 eye = normalize(-vPlace);
  vec3 smoothly = normalize(vNormal);
  smoothly = dot(smoothly, eye) < 0.0 && !gl_FrontFacing ? -smoothly : smoothly;
  vec3 px = dFdx(vPlace), py = dFdy(vPlace), rx = dFdx(vRest), ry = dFdy(vRest);
  vec3 normal = tilt(smoothly, s.relief, px, py, rx, ry);
  vec3 film = tilt(smoothly, s.film, px, py, rx, ry);

  vec3 towards = lampPlace - vPlace;
  float far = length(towards);
  vec3 lamp = towards / far;
  vec3 light = LAMP * brightness(lampReach / far, lamp.z);
  float facing = dot(normal, lamp);
  light *= mix(0.2, 1.0, lit(max(dot(smoothly, lamp), 0.0)));
  vec3 middle = normalize(lamp + eye);
  float grazing = 1.0 - max(dot(smoothly, eye), 0.0);

#ifdef METAL
  vec3 around = cavity(reflect(-eye, normal));
  float spot = shine(normal, middle, s.roughness) * max(facing, 0.0);
  vec3 radiance = s.albedo * (around * (0.2 + 0.8 * light) + 0.30 * light * min(spot, 12.0));
  radiance += s.albedo * 0.07 * light * max(facing, 0.0);
#else
  // Red light seeps farthest through flesh.
  vec3 wrap = s.depth * vec3(0.40, 0.18, 0.14);
  vec3 diffuse = max((facing + wrap) / (1.0 + wrap), 0.0);
  vec3 radiance = s.albedo * (light * diffuse + walls * lampStrength * (0.7 + 0.3 * normal.y));
  // The edge, where one looks through more of the flesh's own light.
  radiance += s.albedo * vec3(0.8, 0.42, 0.34) * light * s.depth * 0.2 * pow(grazing, 3.0);
  radiance += 0.03 * light * min(shine(normal, middle, s.roughness), 6.0) * max(facing, 0.0);
  // The film of moisture: sharp glints, their halo, and the cavity mirrored at a slant.
  float fresnel = pow(1.0 - max(dot(film, eye), 0.0), 5.0);
  float glint = shine(film, middle, 0.17) + 0.2 * shine(film, middle, 0.40);
  float toFilm = max(dot(film, lamp), 0.0);
  radiance += s.wet * light * toFilm * (0.024 + 0.12 * fresnel) * min(glint, 160.0);
  radiance += s.wet * fresnel * vec3(0.10, 0.07, 0.065) * (0.2 + 0.8 * light);
#endif
  float seen = s.opacity;
#ifdef SHEER
  seen = mix(seen, min(1.0, seen + 0.45), pow(grazing, 2.0));
  seen = min(1.0, seen + 0.3 * max(0.0, radiance.g - 0.6));
#endif
  gl_FragColor = vec4(developed(radiance), seen);
  #include <colorspace_fragment>
}
`;

/** For machines that draw in software: colours come with the vertices, light is computed there too; a pixel costs one look
 * at the sheet of vessels, and the glint. */
const PLAIN_VERTEX = /* glsl */ `
#ifdef CLINGS
attribute vec3 rest;
#endif
#ifdef PAINTED
attribute vec3 paint;
#endif
uniform vec3 colour;
uniform mat3 outlook;
varying vec3 vLight;
varying vec3 vColour;
varying vec3 vNormal;
varying vec3 vMiddle;
varying vec2 vSheet;
#ifdef PATH
varying vec3 vRest;
#endif
${LAMP}
void main() {
#ifdef PATH
  vRest = 1000.0 * rest;
#endif
#ifdef CLINGS
  vSheet = (outlook * rest).xy * (1000.0 / PERIOD);
#else
  vSheet = position.xz * (1000.0 / PERIOD);
#endif
#ifdef PAINTED
  vColour = paint;
#else
  vColour = colour;
#endif
  vec4 place = modelViewMatrix * vec4(position, 1.0);
  gl_Position = projectionMatrix * place;
  vec3 normal = normalize(normalMatrix * normal);
  vec3 eye = normalize(-place.xyz);
  normal = faceforward(normal, -eye, normal);
  vec3 towards = lampPlace - place.xyz;
  float inverse = inversesqrt(dot(towards, towards));
  vec3 lamp = towards * inverse;
  vLight = LAMP * brightness(lampReach * inverse, lamp.z);
  float facing = dot(normal, lamp);
#ifdef METAL
  vColour *= cavity(reflect(-eye, normal)) * (0.2 + 0.8 * vLight) + 0.12 * vLight * max(facing, 0.0);
#else
  vec3 diffuse = max((facing + vec3(0.14, 0.06, 0.05)) / vec3(1.14, 1.06, 1.05), 0.0);
  vColour *= vLight * diffuse + walls * lampStrength;
#endif
  vNormal = normal;
  vMiddle = normalize(lamp + eye);
}
`;

const PLAIN_MAIN = /* glsl */ `
uniform highp sampler2D vesselSheet;
uniform float opacity;
varying vec3 vLight;
varying vec3 vColour;
varying vec3 vNormal;
varying vec3 vMiddle;
varying vec2 vSheet;
#ifdef PATH
varying vec3 vRest;
#endif
${TRACE}
${FILM}
void main() {
#ifdef SMOOTH
  vec3 radiance = vColour;
  vec3 film = vNormal;
#else
  vec4 grain = texture(vesselSheet, vSheet);
  vec3 radiance = vColour * (1.0 - STIPPLE * (grain.z - 0.5));
  radiance = mix(radiance, radiance * vec3(0.62, 0.16, 0.16), VESSELS * max(grain.x, 0.5 * grain.y));
  vec3 film = vNormal + vec3(grain.w - 0.5, 0.25 * (grain.z - 0.5) + 0.4 * (grain.w - 0.5), 0.0) * 0.38;
#endif
  float across = dot(film, vMiddle);
  // About the 60th power, and its halo, of the cosine: without a root or a logarithm.
  float glint = across * across / dot(film, film);
  glint *= glint; glint *= glint; glint *= glint;
  float sharp = glint * glint; sharp *= sharp;
  radiance += (WET * step(0.0, across)) * vLight * (0.03 * glint + 0.42 * sharp);
  float seen = opacity;
#ifdef PATH
  float drawn = trace(vRest);
  radiance = mix(radiance, pathColour * vLight, drawn);
  seen = mix(seen, 1.0, drawn);
#endif
  gl_FragColor = vec4(sqrt(developed(radiance)), seen);
}
`;

interface PlainLook {
  /** mm after which the sheet repeats. */
  period: number;
  stipple?: number;
  vessels?: number;
  wet?: number;
  smooth?: boolean;
}

const PLAIN: Record<Look, PlainLook> = {
  plain: { period: 60, wet: 0.4 },
  liver: { period: 40, stipple: 0.34, wet: 0.9 },
  gall_bladder: { period: 46, vessels: 0.85, wet: 0.9 },
  duct: { period: 22, vessels: 0.6, wet: 0.8 },
  vein: { period: 60, wet: 0.9 },
  artery: { period: 60, wet: 0.9 },
  fat: { period: 60, stipple: 0.3, vessels: 0.75, wet: 0.6 },
  bowel: { period: 58, vessels: 0.8, wet: 0.9 },
  peritoneum: { period: 85, vessels: 0.8, wet: 0.5 },
  membrane: { period: 50, vessels: 0.7, wet: 0.6 },
  muscle: { period: 30, stipple: 0.4, wet: 0.7 },
  steel: { period: 60, wet: 1.1, smooth: true },
  plastic: { period: 60, wet: 0.3, smooth: true },
};

export interface Shader {
  vertex: string;
  fragment: string;
}

/** The shader of a look for a graphics card. */
export function richShader(look: Look): Shader {
  const paint = `void paint(vec3 p, inout Surface s) {${LOOKS[look]}\n}`;
  return {
    vertex: VERTEX,
    fragment: [GRAIN, SURFACE, LAMP, FILM, SHINE, SHADOW, TILT, TRACE, paint, MAIN].join("\n"),
  };
}

/** The shader of a look for a machine that draws in software. */
export function plainShader(look: Look): Shader {
  const { period, stipple = 0, vessels = 0, wet = 1, smooth = false } = PLAIN[look];
  const numbers = { PERIOD: period, STIPPLE: stipple, VESSELS: vessels, WET: wet };
  const head = Object.entries(numbers)
    .map(([name, value]) => `#define ${name} ${value.toFixed(3)}`)
    .concat(smooth ? ["#define SMOOTH"] : [])
    .join("\n");
  return { vertex: `${head}\n${PLAIN_VERTEX}`, fragment: `${head}\n${PLAIN_MAIN}` };
}
