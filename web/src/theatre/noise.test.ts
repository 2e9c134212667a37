import { describe, expect, it } from "vitest";
import { CELLS, clouds, pebbles } from "./noise";

describe.each([
  ["clouds", clouds],
  ["pebbles", pebbles],
])("%s", (_, noise) => {
  const at = (x: number, y: number, z: number) => {
    const out = new Float32Array(4);
    noise(x, y, z, out);
    return out;
  };

  it("repeats without a seam", () => {
    for (const k of [0, 1, 2]) {
      const p: [number, number, number] = [3.3, 7.7, 15.9];
      const q: [number, number, number] = [...p];
      q[k] += CELLS;
      expect(at(...q)[0]).toBeCloseTo(at(...p)[0], 4);
    }
  });

  it("tells its slope", () => {
    const h = 1e-3;
    let tried = 0;
    for (let i = 0; i < 40; i += 1) {
      const p = [0.37 * i + 0.21, 0.73 * i + 0.4, 1.13 * i + 0.77] as const;
      const slope = at(...p);
      const difference = (at(p[0] + h, p[1], p[2])[0] - at(p[0] - h, p[1], p[2])[0]) / (2 * h);
      // On the ridge between two pebbles there is none.
      if (Math.abs(difference) < 0.95 || noise === clouds) {
        expect(Math.abs(difference - slope[1])).toBeLessThan(0.06);
        tried += 1;
      }
    }
    expect(tried).toBeGreaterThan(20);
  });
});
