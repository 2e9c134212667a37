// Vessels on a sheet that repeats in both directions: trees that branch and taper, and fine capillaries between them.

import { DataTexture, LinearFilter, LinearMipmapLinearFilter, RepeatWrapping, RGBAFormat } from "three";
import { clouds, pebbles } from "./noise";

/** Texels along an edge of the sheet. */
export const SHEET = 512;

/** A small generator of its own: the same sheet everywhere. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

/** One channel of a sheet: a branching drawing from 0 to 255. Widths and steps in texels. */
export function draw(seed: number, trees: number, width: number, length: number): Uint8Array {
  const ink = new Uint8Array(SHEET * SHEET);
  const random = generator(seed);
  const dot = (x: number, y: number, radius: number, strength: number) => {
    const reach = Math.ceil(radius + 1);
    for (let j = -reach; j <= reach; j += 1) {
      for (let i = -reach; i <= reach; i += 1) {
        const [px, py] = [Math.round(x) + i, Math.round(y) + j];
        const far = Math.hypot(px - x, py - y);
        const at = (((py % SHEET) + SHEET) % SHEET) * SHEET + (((px % SHEET) + SHEET) % SHEET);
        ink[at] = Math.max(ink[at], 255 * strength * Math.max(0, Math.min(1, radius + 0.5 - far)));
      }
    }
  };
  const grow = (x: number, y: number, angle: number, broad: number, left: number, depth: number): void => {
    let [px, py, way, bend] = [x, y, angle, 0];
    let untilBranch = left * (0.15 + 0.2 * random());
    for (let gone = 0; gone < left; gone += 1) {
      // Vessels wind: the bend itself wanders, and never far.
      bend = 0.9 * bend + 0.05 * (random() - 0.5);
      way += bend;
      px += Math.cos(way);
      py += Math.sin(way);
      const taper = 1 - 0.75 * (gone / left);
      dot(px, py, Math.max(0.35, broad * taper), Math.min(1, 0.45 + broad * taper));
      untilBranch -= 1;
      if (untilBranch <= 0 && depth > 0) {
        const side = random() < 0.5 ? -1 : 1;
        const turn = way + side * (0.5 + 0.6 * random());
        grow(px, py, turn, broad * taper * 0.68, (left - gone) * (0.4 + 0.35 * random()), depth - 1);
        untilBranch = left * (0.08 + 0.16 * random());
      }
    }
  };
  for (let tree = 0; tree < trees; tree += 1) {
    grow(
      SHEET * random(),
      SHEET * random(),
      2 * Math.PI * random(),
      width,
      length * (0.7 + 0.6 * random()),
      3,
    );
  }
  return ink;
}

/** Red: trees. Green: capillaries. Blue: pebbles, 32 across. Alpha: clouds, 16 across. */
export function sheet(): DataTexture {
  const trees = draw(7, 9, 2.3, 330);
  const capillaries = draw(11, 90, 0.7, 90);
  const texels = new Uint8Array(4 * SHEET * SHEET);
  const grain = new Float32Array(4);
  for (let i = 0; i < SHEET * SHEET; i += 1) {
    const [x, y] = [(i % SHEET) / SHEET, Math.floor(i / SHEET) / SHEET];
    texels[4 * i] = trees[i];
    texels[4 * i + 1] = capillaries[i];
    // Twice the lattice's period: it fits an edge a whole number of times.
    pebbles(32 * x, 32 * y, 0.5, grain);
    texels[4 * i + 2] = Math.min(255, 255 * grain[0]);
    clouds(16 * x, 16 * y, 0.5, grain);
    texels[4 * i + 3] = 255 * grain[0];
  }
  const texture = new DataTexture(texels, SHEET, SHEET, RGBAFormat);
  texture.wrapS = RepeatWrapping;
  texture.wrapT = RepeatWrapping;
  texture.magFilter = LinearFilter;
  texture.minFilter = LinearMipmapLinearFilter;
  texture.generateMipmaps = true;
  texture.needsUpdate = true;
  return texture;
}
