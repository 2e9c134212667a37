// The grain of all things: two blocks of noise, made once, that repeat in every direction. A shader reads value and
// slope in one tap, and the card's own mipmaps keep fine grain from shimmering in the distance.

import { Data3DTexture, LinearFilter, LinearMipmapLinearFilter, RepeatWrapping, RGBAFormat } from "three";

/** Texels along an edge of a block, and cells of the lattice. */
export const TEXELS = 64;
export const CELLS = 16;

/** Slopes from half of this downwards to half of it upwards are kept, per cell. */
export const STEEPEST = 4;

/** A well mixed number from 0 to 1 for a point of the lattice, which repeats. */
function scatter(x: number, y: number, z: number, seed: number): number {
  const wrap = (value: number) => ((value % CELLS) + CELLS) % CELLS;
  let h = (wrap(x) + CELLS * (wrap(y) + CELLS * wrap(z)) + 4099 * seed) | 0;
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
  h = Math.imul(h ^ (h >>> 16), 0x45d9f3b);
  return ((h ^ (h >>> 16)) >>> 0) / 2 ** 32;
}

/** Smooth noise from 0 to 1 with its slope, per cell: values on a lattice, blended by 6t⁵ − 15t⁴ + 10t³. */
export function clouds(x: number, y: number, z: number, out: Float32Array): void {
  const [i, j, k] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  const [u, v, w] = [x - i, y - j, z - k];
  const blend = (t: number) => t * t * t * (t * (6 * t - 15) + 10);
  const slope = (t: number) => 30 * t * t * (t * (t - 2) + 1);
  const [bu, bv, bw] = [blend(u), blend(v), blend(w)];
  const at = (a: number, b: number, c: number) => scatter(i + a, j + b, k + c, 1);
  const [a, b, c, d] = [at(0, 0, 0), at(1, 0, 0), at(0, 1, 0), at(1, 1, 0)];
  const [e, f, g, h] = [at(0, 0, 1), at(1, 0, 1), at(0, 1, 1), at(1, 1, 1)];
  const mix = (p: number, q: number, t: number) => p + (q - p) * t;
  const near = mix(mix(a, b, bu), mix(c, d, bu), bv);
  const far = mix(mix(e, f, bu), mix(g, h, bu), bv);
  out[0] = mix(near, far, bw);
  out[1] = slope(u) * mix(mix(b - a, d - c, bv), mix(f - e, h - g, bv), bw);
  out[2] = slope(v) * mix(mix(c - a, d - b, bu), mix(g - e, h - f, bu), bw);
  out[3] = slope(w) * (far - near);
}

/** Distance to the nearest of scattered points, in cells, with its slope. */
export function pebbles(x: number, y: number, z: number, out: Float32Array): void {
  const [i, j, k] = [Math.floor(x), Math.floor(y), Math.floor(z)];
  let nearest = 9;
  for (let a = -1; a <= 1; a += 1) {
    for (let b = -1; b <= 1; b += 1) {
      for (let c = -1; c <= 1; c += 1) {
        const dx = x - (i + a + scatter(i + a, j + b, k + c, 2));
        const dy = y - (j + b + scatter(i + a, j + b, k + c, 3));
        const dz = z - (k + c + scatter(i + a, j + b, k + c, 4));
        const far = dx * dx + dy * dy + dz * dz;
        if (far < nearest) {
          nearest = far;
          out[1] = dx;
          out[2] = dy;
          out[3] = dz;
        }
      }
    }
  }
  const distance = Math.sqrt(nearest);
  out[0] = distance;
  for (let n = 1; n < 4; n += 1) {
    out[n] /= Math.max(distance, 1e-6);
  }
}

/** A block of noise for the card. */
export function block(noise: typeof clouds): Data3DTexture {
  const texels = new Uint8Array(4 * TEXELS ** 3);
  const sample = new Float32Array(4);
  const step = CELLS / TEXELS;
  let at = 0;
  for (let z = 0; z < TEXELS; z += 1) {
    for (let y = 0; y < TEXELS; y += 1) {
      for (let x = 0; x < TEXELS; x += 1) {
        noise((x + 0.5) * step, (y + 0.5) * step, (z + 0.5) * step, sample);
        texels[at] = Math.min(255, 255 * sample[0]);
        for (let n = 1; n < 4; n += 1) {
          texels[at + n] = 255 * (0.5 + sample[n] / STEEPEST);
        }
        at += 4;
      }
    }
  }
  const texture = new Data3DTexture(texels, TEXELS, TEXELS, TEXELS);
  texture.format = RGBAFormat;
  texture.wrapS = RepeatWrapping;
  texture.wrapT = RepeatWrapping;
  texture.wrapR = RepeatWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}
