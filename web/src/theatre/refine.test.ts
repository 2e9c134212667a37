import { describe, expect, it } from "vitest";
import { Refinement, Seams, Skin } from "./refine";

/** An octahedron on the unit sphere. */
const CORNERS = [1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1, 0, 0, 0, 1, 0, 0, -1];
const FACES = [0, 2, 4, 2, 1, 4, 1, 3, 4, 3, 0, 4, 2, 0, 5, 1, 2, 5, 3, 1, 5, 0, 3, 5];

/** A tube about x from `from` to `to`, open at both ends. */
function pipe(from: number, to: number, rings: number, around: number, radius = (_x: number) => 1) {
  const positions: number[] = [];
  const triangles: number[] = [];
  for (let i = 0; i < rings; i += 1) {
    const x = from + ((to - from) * i) / (rings - 1);
    for (let j = 0; j < around; j += 1) {
      const angle = (2 * Math.PI * j) / around;
      positions.push(x, radius(x) * Math.cos(angle), radius(x) * Math.sin(angle));
      if (i + 1 < rings) {
        const next = (j + 1) % around;
        const [a, b, c, d] = [
          i * around + j,
          i * around + next,
          (i + 1) * around + j,
          (i + 1) * around + next,
        ];
        triangles.push(a, b, c, b, d, c);
      }
    }
  }
  return { positions, triangles };
}

function edgesOf(triangles: ArrayLike<number>): Map<string, number> {
  const edges = new Map<string, number>();
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k += 1) {
      const [a, b] = [triangles[t + k], triangles[t + ((k + 1) % 3)]];
      const key = a < b ? `${a} ${b}` : `${b} ${a}`;
      edges.set(key, (edges.get(key) ?? 0) + 1);
    }
  }
  return edges;
}

/** Farthest of a vertex or of the middle of a triangle from the unit sphere. */
function roundness({ positions, refinement: { triangles } }: Skin): number {
  let worst = 0;
  for (let i = 0; i < triangles.length; i += 3) {
    const middle = [0, 1, 2].map((k) => {
      const corner = (c: number) => positions[3 * triangles[i + c] + k];
      return (corner(0) + corner(1) + corner(2)) / 3;
    });
    worst = Math.max(worst, Math.abs(1 - Math.hypot(...middle)));
  }
  return worst;
}

describe("Refinement", () => {
  it("makes four of each triangle and one vertex of each edge", () => {
    for (const { positions, triangles } of [{ positions: CORNERS, triangles: FACES }, pipe(0, 3, 4, 7)]) {
      const vertices = positions.length / 3;
      const once = new Refinement(triangles, vertices, 1);
      expect(once.vertices).toBe(vertices + edgesOf(triangles).size);
      expect(once.triangles).toHaveLength(4 * triangles.length);
      const twice = new Refinement(triangles, vertices, 2);
      expect(twice.vertices).toBe(once.vertices + edgesOf(once.triangles).size);
      expect(twice.triangles).toHaveLength(16 * triangles.length);
    }
  });

  it("keeps a closed net closed and its triangles the same way round", () => {
    const { positions, refinement } = new Skin(CORNERS, FACES, 2);
    expect([...edgesOf(refinement.triangles).values()].every((count) => count === 2)).toBe(true);
    const { triangles } = refinement;
    let volume = 0;
    for (let t = 0; t < triangles.length; t += 3) {
      const [a, b, c] = [0, 1, 2].map((k) =>
        positions.subarray(3 * triangles[t + k], 3 * triangles[t + k] + 3),
      );
      volume +=
        (a[0] * (b[1] * c[2] - b[2] * c[1]) +
          a[1] * (b[2] * c[0] - b[0] * c[2]) +
          a[2] * (b[0] * c[1] - b[1] * c[0])) /
        6;
    }
    // Between the octahedron and its sphere.
    expect(volume).toBeGreaterThan(3.2);
    expect(volume).toBeLessThan((4 / 3) * Math.PI);
  });

  it("leaves the vertices of the simulation where they are", () => {
    const { positions } = new Skin(CORNERS, FACES, 2);
    expect([...positions.subarray(0, CORNERS.length)]).toEqual(CORNERS);
  });

  it("comes nearer to a sphere with each division", () => {
    const errors = [0, 1, 2].map((times) => roundness(new Skin(CORNERS, FACES, times)));
    expect(errors[1]).toBeLessThan(0.6 * errors[0]);
    expect(errors[2]).toBeLessThan(0.6 * errors[1]);
  });

  it("is exact for a circle of small angles", () => {
    // The lift of the middle of a chord; the exact one is 1 − cos(π/n).
    for (const around of [12, 24, 48]) {
      const { positions, triangles } = pipe(0, 8, 9, around);
      const skin = new Skin(positions, triangles, 1);
      // In the middle of the pipe, where the normals know nothing of the ends.
      const ring = 4 * around;
      const { triangles: finer } = skin.refinement;
      let vertex = -1;
      for (let t = 0; t < triangles.length && vertex < 0; t += 3) {
        if (triangles[t] === ring && triangles[t + 1] === ring + 1) {
          vertex = finer[4 * t + 1];
        }
      }
      const lift =
        Math.hypot(skin.positions[3 * vertex + 1], skin.positions[3 * vertex + 2]) -
        Math.cos(Math.PI / around);
      const exact = 1 - Math.cos(Math.PI / around);
      expect(Math.abs(lift / exact - 1)).toBeLessThan(6 / around ** 2);
    }
  });

  it("leaves what is flat flat", () => {
    const positions = [0, 0, 2, 1, 0, 2, 0, 1, 2, 1, 1, 2, 2, 3, 2];
    const skin = new Skin(positions, [0, 1, 2, 1, 3, 2, 3, 4, 2], 2);
    for (let i = 2; i < skin.positions.length; i += 3) {
      expect(skin.positions[i]).toBe(2);
      expect(skin.normals[i]).toBe(1);
    }
  });

  it("takes open pipes, degenerate triangles and loose vertices without a number that is none", () => {
    const { positions, triangles } = pipe(0, 2, 3, 5);
    const skin = new Skin([...positions, 9, 9, 9], [...triangles, 0, 0, 1, 2, 2, 2], 2);
    expect(skin.positions.every(Number.isFinite)).toBe(true);
    expect(skin.normals.every(Number.isFinite)).toBe(true);
    const rim = skin.refinement.rim(0);
    expect(rim.length).toBeGreaterThanOrEqual(10);
  });

  it("bends a dent inwards", () => {
    // The same net inside out is the wall of a hollow: its middles move towards the same sphere.
    const inside = FACES.map((_, i) => FACES[i - (i % 3) + [0, 2, 1][i % 3]]);
    const outer = new Skin(CORNERS, FACES, 1);
    const inner = new Skin(CORNERS, inside, 1);
    const radius = ({ positions }: Skin) => Math.hypot(...positions.subarray(18, 21));
    expect(radius(inner)).toBeCloseTo(radius(outer), 6);
  });
});

describe("Seams", () => {
  it("opens no crack between an organ and its duct, at rest and when they move", () => {
    const narrowing = (x: number) => 1.6 - 0.3 * x;
    const organ = pipe(-2, 2, 5, 12, narrowing);
    const duct = pipe(2, 6, 5, 12, () => narrowing(2));
    const skins = [
      new Skin(organ.positions, organ.triangles, 2),
      new Skin(duct.positions, duct.triangles, 2),
    ];
    const seams = new Seams(skins);
    const gap = () => {
      const [a, b] = skins.map(({ refinement, positions }) =>
        refinement.rim(2).map((vertex) => positions.subarray(3 * vertex, 3 * vertex + 3)),
      );
      // The 48 points of the organ's rim at the seam: each has a partner.
      const nearest = a.map((p) =>
        Math.min(...b.map((q) => Math.hypot(p[0] - q[0], p[1] - q[1], p[2] - q[2]))),
      );
      return nearest.sort((p, q) => p - q).slice(0, 48);
    };
    expect(Math.max(...gap())).toBeLessThan(1e-6);
    // Bend both along the same curve.
    const bend = (positions: number[]) =>
      Float32Array.from(positions, (value, i) => (i % 3 === 1 ? value + 0.1 * positions[i - 1] ** 2 : value));
    skins[0].take(bend(organ.positions));
    skins[1].take(bend(duct.positions));
    seams.shape();
    expect(Math.max(...gap())).toBeLessThan(1e-5);
  });

  it("leaves strangers alone", () => {
    const one = pipe(0, 2, 3, 6);
    const alone = new Skin(one.positions, one.triangles, 1);
    const other = pipe(5, 7, 3, 6);
    const skin = new Skin(one.positions, one.triangles, 1);
    new Seams([skin, new Skin(other.positions, other.triangles, 1)]);
    expect([...skin.positions]).toEqual([...alone.positions]);
  });
});
