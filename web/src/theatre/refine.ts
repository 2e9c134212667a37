// Smooth pictures of coarse nets (K130): each triangle becomes four, and the new vertices are lifted onto
// the curve that the normals tell of. Only the picture is refined; the vertices of the simulation stay where
// they are.
//
// The new vertex on the edge from P1 to P2, with p = P2 − P1 and the unit normals n1, n2 there, is
//
//   P12 = P1 + p/2 + k (p · (n2 − n1)) n12,   n12 = (n1 + n2) / |n1 + n2|
//
// On a circle of radius R, n2 − n1 = p/R, and the arc stands |p|²/8R above the middle of its chord: k = 1/8 is
// right for small angles. Where the surface is convex p · (n2 − n1) > 0 and it bulges outwards. The 1997
// text normalises the difference of the normals; then the bulge would not vanish with the curvature.

/** k for circles. */
export const BULGE = 1 / 8;

/** What depends on the triangles alone: computed once, used every frame. */
export class Refinement {
  /** Three vertices a triangle, of the finest level. */
  readonly triangles: Uint32Array;
  /** How many vertices the finest level has. The first ones are those of the coarse net. */
  readonly vertices: number;
  private readonly levels: Level[];

  constructor(triangles: ArrayLike<number>, vertices: number, times: number) {
    let finest: Uint32Array = Uint32Array.from(triangles);
    let count = vertices;
    this.levels = [];
    for (let i = 0; i < times; i += 1) {
      const level = divide(finest, count);
      this.levels.push(level);
      finest = level.finer;
      count += level.edges.length / 2;
    }
    this.triangles = finest;
    this.vertices = count;
  }

  /**
   * Fills in the finer vertices. `positions` holds the coarse ones at its beginning and gets the others behind
   * them; `normals` gets the smooth normals of the finest level. Both have room for three numbers a vertex.
   */
  apply(positions: Float32Array, normals: Float32Array): void {
    for (let level = 0; level < this.depth; level += 1) {
      this.normals(level, positions, normals);
      this.lift(level, positions, normals);
    }
  }

  /** Levels of {@link apply}: one more than how often each triangle is divided. */
  get depth(): number {
    return this.levels.length + 1;
  }

  /** The normals of one level. Nothing beyond the finest. */
  normals(level: number, positions: Float32Array, normals: Float32Array): void {
    if (level < this.levels.length) {
      const { coarse, vertices } = this.levels[level];
      smoothNormals(positions, coarse, normals, vertices);
    } else if (level === this.levels.length) {
      smoothNormals(positions, this.triangles, normals, this.vertices);
    }
  }

  /** The vertices that follow from the normals of one level. Nothing at the finest. */
  lift(level: number, positions: Float32Array, normals: Float32Array): void {
    if (level < this.levels.length) {
      const { edges, vertices } = this.levels[level];
      bulge(positions, normals, edges, vertices);
    }
  }

  /** How many vertices a level has; beyond the finest, none are new. */
  verticesAt(level: number): number {
    return level < this.levels.length ? this.levels[level].vertices : this.vertices;
  }

  /** The vertices on open rims at a level: those of edges that bound one triangle only. */
  rim(level: number): number[] {
    const triangles = level < this.levels.length ? this.levels[level].coarse : this.triangles;
    const bounds = new Map<number, number>();
    for (let t = 0; t < triangles.length; t += 3) {
      for (let k = 0; k < 3; k += 1) {
        const [a, b] = [triangles[t + k], triangles[t + ((k + 1) % 3)]];
        const key = Math.min(a, b) * this.vertices + Math.max(a, b);
        bounds.set(key, (bounds.get(key) ?? 0) + 1);
      }
    }
    const rim = new Set<number>();
    for (const [key, count] of bounds) {
      if (count === 1) {
        rim.add(Math.floor(key / this.vertices)).add(key % this.vertices);
      }
    }
    return [...rim];
  }
}

interface Level {
  coarse: Uint32Array;
  finer: Uint32Array;
  /** Two vertices an edge. Edge e gets the vertex `vertices` + e. */
  edges: Uint32Array;
  vertices: number;
}

/** Each edge once, and each triangle as four. */
function divide(triangles: Uint32Array, vertices: number): Level {
  const edges: number[] = [];
  const known = new Map<number, number>();
  const middle = (a: number, b: number): number => {
    const key = Math.min(a, b) * vertices + Math.max(a, b);
    let edge = known.get(key);
    if (edge === undefined) {
      edge = edges.length / 2;
      known.set(key, edge);
      edges.push(a, b);
    }
    return vertices + edge;
  };
  const finer = new Uint32Array(4 * triangles.length);
  for (let t = 0; t < triangles.length; t += 3) {
    const [a, b, c] = [triangles[t], triangles[t + 1], triangles[t + 2]];
    const [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
    finer.set([a, ab, ca, ab, b, bc, ca, bc, c, ab, bc, ca], 4 * t);
  }
  return { coarse: triangles, finer, edges: Uint32Array.from(edges), vertices };
}

/** Puts the vertex of each edge where the formula has it. */
function bulge(p: Float32Array, n: Float32Array, edges: Uint32Array, vertices: number): void {
  let out = 3 * vertices;
  for (let e = 0; e < edges.length; e += 2, out += 3) {
    const a = 3 * edges[e];
    const b = 3 * edges[e + 1];
    const lift =
      BULGE *
      ((p[b] - p[a]) * (n[b] - n[a]) +
        (p[b + 1] - p[a + 1]) * (n[b + 1] - n[a + 1]) +
        (p[b + 2] - p[a + 2]) * (n[b + 2] - n[a + 2]));
    const x = n[a] + n[b];
    const y = n[a + 1] + n[b + 1];
    const z = n[a + 2] + n[b + 2];
    const length = Math.sqrt(x * x + y * y + z * z);
    // Opposite normals, as on the rim of a closed fold, have no direction between them.
    const scale = length > 1e-6 ? lift / length : 0;
    p[out] = 0.5 * (p[a] + p[b]) + scale * x;
    p[out + 1] = 0.5 * (p[a + 1] + p[b + 1]) + scale * y;
    p[out + 2] = 0.5 * (p[a + 2] + p[b + 2]) + scale * z;
  }
}

/** Smooth normals of the first `vertices` vertices, weighted by the area of the triangles. Allocates nothing. */
export function smoothNormals(
  p: Float32Array,
  triangles: Uint32Array,
  n: Float32Array,
  vertices: number,
): void {
  n.fill(0, 0, 3 * vertices);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = p[b] - p[a];
    const uy = p[b + 1] - p[a + 1];
    const uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a];
    const vy = p[c + 1] - p[a + 1];
    const vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    n[a] += x;
    n[a + 1] += y;
    n[a + 2] += z;
    n[b] += x;
    n[b + 1] += y;
    n[b + 2] += z;
    n[c] += x;
    n[c + 1] += y;
    n[c + 2] += z;
  }
  for (let i = 0; i < 3 * vertices; i += 3) {
    unit(n, i);
  }
}

/** A vertex of no triangle keeps a zero normal; nobody sees it. */
function unit(n: Float32Array, at: number): void {
  const length = Math.sqrt(n[at] * n[at] + n[at + 1] * n[at + 1] + n[at + 2] * n[at + 2]);
  const scale = length > 0 ? 1 / length : 0;
  n[at] *= scale;
  n[at + 1] *= scale;
  n[at + 2] *= scale;
}

/** A surface that moves: the coarse vertices come with every frame. */
export class Skin {
  readonly refinement: Refinement;
  readonly positions: Float32Array;
  readonly normals: Float32Array;
  /** Where each vertex is at rest: what is painted on the tissue clings to it. */
  readonly rest: Float32Array;
  private readonly coarse: number;

  constructor(positions: ArrayLike<number>, triangles: ArrayLike<number>, times: number) {
    this.coarse = positions.length;
    this.refinement = new Refinement(triangles, positions.length / 3, times);
    this.positions = new Float32Array(3 * this.refinement.vertices);
    this.normals = new Float32Array(3 * this.refinement.vertices);
    this.positions.set(positions);
    this.refinement.apply(this.positions, this.normals);
    this.rest = this.positions.slice();
  }

  /** Takes in the coarse vertices of a frame. */
  take(coarse: Float32Array): void {
    this.positions.set(coarse.subarray(0, this.coarse));
  }
}

/**
 * Skins whose rims meet. Where the vertices of two rims coincide at rest, both get the same normal, so that the edges
 * between them bulge alike and no crack opens; and light runs over the seam without a step.
 */
export class Seams {
  private readonly skins: Skin[];
  /** For each level: pairs of skin and vertex, group after group. */
  private readonly groups: [Skin, number][][][] = [];

  constructor(skins: Skin[]) {
    this.skins = skins;
    for (const skin of skins) {
      skin.positions.set(skin.rest);
    }
    const deepest = Math.max(0, ...skins.map(({ refinement }) => refinement.depth));
    for (let level = 0; level < deepest; level += 1) {
      // After each level: where the vertices of the next one meet is known once it is sewn.
      this.groups.push(this.meet(level));
      this.shape();
      for (const skin of skins) {
        skin.rest.set(skin.positions);
      }
    }
  }

  /** Computes all finer vertices and normals, after every skin has taken its frame. */
  shape(): void {
    // Level by level for all skins at once: a seam needs the normals of both sides.
    for (let level = 0; level < this.groups.length; level += 1) {
      for (const skin of this.skins) {
        skin.refinement.normals(level, skin.positions, skin.normals);
      }
      for (const group of this.groups[level]) {
        agree(group);
      }
      for (const skin of this.skins) {
        skin.refinement.lift(level, skin.positions, skin.normals);
      }
    }
  }

  /** Vertices on a rim, each with those that lie at the same place, on whatever skin. */
  private meet(level: number): [Skin, number][][] {
    const places = new Map<string, [Skin, number][]>();
    const keyOf = ({ rest }: Skin, vertex: number) =>
      [0, 1, 2].map((k) => Math.round(rest[3 * vertex + k] * 1e6)).join(" ");
    for (const skin of this.skins) {
      for (const vertex of skin.refinement.rim(level)) {
        places.set(keyOf(skin, vertex), []);
      }
    }
    for (const skin of this.skins) {
      for (let vertex = 0; vertex < skin.refinement.verticesAt(level); vertex += 1) {
        places.get(keyOf(skin, vertex))?.push([skin, vertex]);
      }
    }
    return [...places.values()].filter((group) => group.length > 1);
  }
}

const sum = new Float32Array(3);

function agree(group: [Skin, number][]): void {
  sum.fill(0);
  for (const [{ normals }, vertex] of group) {
    for (let k = 0; k < 3; k += 1) {
      sum[k] += normals[3 * vertex + k];
    }
  }
  unit(sum, 0);
  for (const [{ normals }, vertex] of group) {
    normals.set(sum, 3 * vertex);
  }
}
