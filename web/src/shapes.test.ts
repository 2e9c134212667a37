import { describe, expect, it } from "vitest";
import { smoothNormals } from "./shapes";

describe("smoothNormals", () => {
  it("is the mean of the faces, of unit length, and zero where there is no face", () => {
    // A roof: two slopes of 45° that meet in the ridge along x, and a lone vertex.
    const positions = new Float32Array([0, 1, 0, 1, 1, 0, 0, 0, 1, 1, 0, 1, 0, 0, -1, 1, 0, -1, 9, 9, 9]);
    const triangles = new Uint32Array([0, 2, 1, 1, 2, 3, 0, 1, 4, 1, 5, 4]);
    const normals = new Float32Array(positions.length);
    smoothNormals(positions, triangles, normals);
    expect(normals[3 * 3 + 1]).toBeCloseTo(Math.SQRT1_2);
    expect(normals[3 * 3 + 2]).toBeCloseTo(Math.SQRT1_2);
    expect(Math.hypot(normals[0], normals[1], normals[2])).toBeCloseTo(1);
    expect(normals[1]).toBeGreaterThan(0.9);
    expect([...normals.slice(18)]).toEqual([0, 0, 0]);
  });
});
