// What things are made of. Two palettes: a rich one for a graphics card, and a plain one for machines that
// draw in software, where every instruction for a pixel is paid for by the processor that also simulates.

import {
  type Color,
  DoubleSide,
  type Material,
  MeshLambertMaterial,
  MeshPhongMaterial,
  MeshPhysicalMaterial,
  MeshStandardMaterial,
} from "three";

export interface Palette {
  /** Wet, slightly uneven in colour, finely veined. `size` is the radius of the tissue, m: the grain is relative to it. */
  tissue(color: Color, size: number): Material;
  scenery(color: Color, opacity: number): Material;
  body(color: Color): Material;
  steel(): Material;
  /** The insulation of a shaft. */
  sleeve(): Material;
  /** The rim of a port. */
  plastic(): Material;
}

const STEEL = 0xc9ced6;
const SLEEVE = 0x1b1d22;
const PLASTIC = 0x3a6f8f;

const seeThrough = (opacity: number) => ({
  side: DoubleSide,
  transparent: opacity < 1,
  opacity,
  depthWrite: opacity >= 1,
});

const cheap = { fog: false, toneMapped: false };

export const RICH: Palette = {
  tissue: (color, size) =>
    grained(
      new MeshPhysicalMaterial({
        color,
        roughness: 0.5,
        clearcoat: 0.55,
        clearcoatRoughness: 0.28,
        side: DoubleSide,
      }),
      size,
    ),
  scenery: (color, opacity) => new MeshStandardMaterial({ color, roughness: 0.7, ...seeThrough(opacity) }),
  body: (color) => new MeshStandardMaterial({ color, roughness: 0.4 }),
  steel: () => new MeshStandardMaterial({ color: STEEL, metalness: 1, roughness: 0.28 }),
  sleeve: () => new MeshStandardMaterial({ color: SLEEVE, metalness: 0.1, roughness: 0.42 }),
  plastic: () => new MeshStandardMaterial({ color: PLASTIC, roughness: 0.5 }),
};

export const PLAIN: Palette = {
  tissue: (color, size) =>
    mottled(
      new MeshPhongMaterial({ color, specular: 0x554444, shininess: 40, side: DoubleSide, ...cheap }),
      size,
    ),
  scenery: (color, opacity) => new MeshLambertMaterial({ color, ...seeThrough(opacity), ...cheap }),
  body: (color) => new MeshLambertMaterial({ color, ...cheap }),
  steel: () => new MeshPhongMaterial({ color: STEEL, specular: 0xffffff, shininess: 60, ...cheap }),
  sleeve: () => new MeshPhongMaterial({ color: SLEEVE, specular: 0x555555, shininess: 30, ...cheap }),
  plastic: () => new MeshLambertMaterial({ color: PLASTIC, ...cheap }),
};

/** Patches of colour for each vertex: coarser than {@link grained}, and free for the pixels. */
function mottled<M extends Material>(material: M, size: number): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.grain = { value: 1 / size };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${REST}\nvarying float vPatches;\n${NOISE}`)
      .replace(
        "#include <begin_vertex>",
        "#include <begin_vertex>\nvPatches = noise(rest * grain * 3.0 + 7.0);",
      );
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", "#include <common>\nvarying float vPatches;")
      .replace("#include <color_fragment>", "diffuseColor.rgb *= 0.82 + 0.36 * vPatches;");
  };
  return material;
}

/** Adds the grain. It is computed from where a vertex was at rest, so it stretches with the tissue, and no picture has to be loaded. */
function grained<M extends Material>(material: M, size: number): M {
  material.onBeforeCompile = (shader) => {
    shader.uniforms.grain = { value: 1 / size };
    shader.vertexShader = shader.vertexShader
      .replace("#include <common>", `#include <common>\n${REST}\nvarying vec3 vRest;`)
      .replace("#include <begin_vertex>", "#include <begin_vertex>\nvRest = rest * grain;");
    shader.fragmentShader = shader.fragmentShader
      .replace("#include <common>", `#include <common>\nvarying vec3 vRest;\n${NOISE}`)
      .replace("#include <color_fragment>", `#include <color_fragment>\n${MOTTLE}`);
  };
  return material;
}

const REST = /* glsl */ `
attribute vec3 rest;
uniform float grain;
`;

const NOISE = /* glsl */ `
float scatter(vec3 p) {
  p = fract(p * 0.3183099 + 0.1);
  p *= 17.0;
  return fract(p.x * p.y * p.z * (p.x + p.y + p.z));
}
float noise(vec3 x) {
  vec3 i = floor(x);
  vec3 f = fract(x);
  f = f * f * (3.0 - 2.0 * f);
  vec4 near = vec4(scatter(i), scatter(i + vec3(1, 0, 0)), scatter(i + vec3(0, 1, 0)), scatter(i + vec3(1, 1, 0)));
  i.z += 1.0;
  vec4 far = vec4(scatter(i), scatter(i + vec3(1, 0, 0)), scatter(i + vec3(0, 1, 0)), scatter(i + vec3(1, 1, 0)));
  vec4 layer = mix(near, far, f.z);
  vec2 row = mix(layer.xz, layer.yw, f.x);
  return mix(row.x, row.y, f.y);
}
`;

/** Pale patches, and veins where the noise crosses its mean. */
const MOTTLE = /* glsl */ `
float patches = noise(vRest * 3.0 + 7.0);
float wave = noise(vRest * 2.2 + 1.7 * patches);
float veins = 1.0 - smoothstep(0.0, 0.035, abs(wave - 0.5));
diffuseColor.rgb *= 0.82 + 0.36 * patches;
diffuseColor.rgb = mix(diffuseColor.rgb, diffuseColor.rgb * vec3(0.72, 0.38, 0.42), 0.45 * veins);
`;
