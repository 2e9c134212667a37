import { Color } from "three";
import { describe, expect, it } from "vitest";
import type { Look } from "../wire";
import { arrowLength } from "./inside";
import { colourOf, paintVertices } from "./looks";
import { plainShader, richShader } from "./shader";
import { cannula, endoscope, fork, jaw, sleeve } from "./shapes";
import { draw, SHEET } from "./vessels";

const LOOKS: Look[] = [
  "plain",
  "liver",
  "gall_bladder",
  "duct",
  "vein",
  "artery",
  "fat",
  "bowel",
  "peritoneum",
  "membrane",
  "muscle",
  "steel",
  "plastic",
];

describe("looks", () => {
  it("have a shader in both qualities, without holes", () => {
    for (const look of LOOKS) {
      for (const { vertex, fragment } of [richShader(look), plainShader(look)]) {
        expect(`${vertex}${fragment}`).not.toMatch(/undefined|NaN/);
      }
    }
  });

  it("paint every vertex with a colour near the look's own", () => {
    const rest = Float32Array.from({ length: 300 }, (_, i) => 0.05 * Math.sin(i));
    for (const look of LOOKS) {
      const colour = colourOf(look, [0.6, 0.5, 0.4]);
      const painted = paintVertices(look, colour, rest);
      for (let i = 0; i < painted.length; i += 1) {
        const own = colour.toArray()[i % 3];
        expect(painted[i]).toBeGreaterThan(0.3 * own);
        expect(painted[i]).toBeLessThan(1.8 * own);
      }
    }
  });

  it("are tinted by the scene", () => {
    const red = colourOf("liver", [1, 0, 0]);
    const blue = colourOf("liver", [0, 0, 1]);
    expect(red.r).toBeGreaterThan(blue.r);
    expect(colourOf("plain", [1, 0, 0])).toEqual(new Color(1, 0, 0));
  });
});

describe("vessels", () => {
  it("repeat without a seam, and leave most of the tissue bare", () => {
    const ink = draw(7, 9, 2.3, 330);
    let [filled, jumps] = [0, 0];
    for (let i = 0; i < SHEET; i += 1) {
      // A vessel that reaches the last column goes on in the first.
      jumps += Number(Math.abs(ink[i * SHEET] - ink[i * SHEET + SHEET - 1]) > 250);
    }
    for (const value of ink) {
      filled += Number(value > 128);
    }
    expect(jumps).toBeLessThan(0.02 * SHEET);
    expect(filled / ink.length).toBeGreaterThan(0.005);
    expect(filled / ink.length).toBeLessThan(0.2);
  });
});

describe("instruments", () => {
  it.each([
    ["jaw", jaw(0.018, 0.0018), [0.003, 0.003, 0.02]],
    ["fork", fork(0.0025, 0.015), [0.006, 0.006, 0.018]],
    ["sleeve", sleeve(0.0025, 0.3, 0.015), [0.006, 0.006, 0.3]],
    ["cannula", cannula(0.0025), [0.02, 0.02, 0.06]],
    ["endoscope", endoscope(0.005, 0.28, 0.52), [0.03, 0.03, 0.36]],
  ])("%s is whole and as large as it should be", (_, geometry, [x, y, z]) => {
    const { array } = geometry.getAttribute("position");
    expect(Array.from(array).every(Number.isFinite)).toBe(true);
    expect(Array.from(geometry.getAttribute("normal").array).every(Number.isFinite)).toBe(true);
    geometry.computeBoundingBox();
    const { min, max } = geometry.boundingBox ?? { min: null, max: null };
    expect((max?.x ?? 9) - (min?.x ?? 0)).toBeLessThan(1.5 * x);
    expect((max?.y ?? 9) - (min?.y ?? 0)).toBeLessThan(1.5 * y);
    expect((max?.z ?? 9) - (min?.z ?? 0)).toBeLessThan(1.2 * z);
    expect((max?.z ?? 0) - (min?.z ?? 9)).toBeGreaterThan(0.7 * z);
  });

  it("close their jaws flat on flat", () => {
    const geometry = jaw(0.018, 0.0018);
    geometry.computeBoundingBox();
    expect(geometry.boundingBox?.min.y).toBeGreaterThanOrEqual(0);
  });
});

describe("arrowLength", () => {
  it("shows a touch and a pull", () => {
    expect(arrowLength(0)).toBe(0);
    expect(arrowLength(0.01)).toBeGreaterThan(0.002);
    expect(arrowLength(10)).toBeLessThan(0.02);
  });
});
