// A sheet that tears, as the page has it: its rim, where tears end, and where a point of it has come to.

/** Points nearer than this at rest lie at the same place, m. */
const SAME = 1e-7;

export class Sheet {
  constructor(page) {
    this.page = page;
    this.edits = -1;
  }

  /** Sees how the sheet lies now, and how it is torn. */
  async look() {
    const { now, edits, triangles, rest } = await this.page.evaluate(lookAtSheet, this.edits);
    this.now = now;
    if (triangles) {
      Object.assign(this, { edits, triangles, rest });
      this.rim = rimOf(triangles);
    }
  }

  /** Where a vertex is at rest, m. */
  atRest(vertex) {
    return this.rest.slice(3 * vertex, 3 * vertex + 3);
  }

  /** The vertices where tears end: there the rim turns back along itself, since a tear has no width at rest. */
  get tips() {
    return [...this.rim]
      .filter(([, [before, after]]) => distance(this.atRest(before), this.atRest(after)) < SAME)
      .map(([vertex]) => vertex);
  }

  /** Where all of the rim is at rest, but for what `whole` says was there from the start. */
  torn(whole) {
    return [...this.rim.keys()].map((vertex) => this.atRest(vertex)).filter((at) => !whole(at));
  }

  /** Where the edges of one tear are at rest: along the rim both ways, from its tip back to what is `whole`. */
  edges(tip, whole) {
    const found = new Set();
    for (const way of [0, 1]) {
      for (let v = tip; !whole(this.atRest(v)) && (v === tip || !found.has(v)); v = this.rim.get(v)[way]) {
        found.add(v);
      }
    }
    return [...found].map((vertex) => this.atRest(vertex));
  }

  /** Where a point of the sheet, given at rest, is now. The sheet is flat at rest. */
  place(point) {
    let [most, found] = [Number.NEGATIVE_INFINITY, null];
    for (let t = 0; t < this.triangles.length; t += 3) {
      const corners = this.triangles.slice(t, t + 3);
      const weights = weightsOf(
        point,
        corners.map((vertex) => this.atRest(vertex)),
      );
      // It lies in one triangle, or in none for rounding: then beside one.
      if (Math.min(...weights) > most) {
        most = Math.min(...weights);
        found = { corners, weights };
      }
    }
    const { corners, weights } = found;
    return [0, 1, 2].map((k) => corners.reduce((sum, v, i) => sum + weights[i] * this.now[3 * v + k], 0));
  }
}

/** Runs in the page. What is at rest is as long as all the rest: it is told only if it has changed since `known`. */
function lookAtSheet(known) {
  const { scene, lastFrame } = window.trocar;
  const surface = lastFrame.surfaces[0];
  const edits = surface?.edits ?? 0;
  const now = [...lastFrame.tissues[0]];
  if (edits === known) {
    return { now };
  }
  const { triangles, positions } = scene.tissues[0];
  return {
    now,
    edits,
    triangles: [...(surface?.triangles ?? triangles)],
    rest: [...(surface?.rest ?? positions)],
  };
}

/** The vertices of the rim, each with the ones before and after it: an edge of the rim has a triangle on one side only. */
function rimOf(triangles) {
  const edges = new Map();
  for (let t = 0; t < triangles.length; t += 3) {
    for (let k = 0; k < 3; k += 1) {
      const [a, b] = [triangles[t + k], triangles[t + ((k + 1) % 3)]];
      edges.set(`${a} ${b}`, [a, b]);
    }
  }
  const lone = [...edges.values()].filter(([a, b]) => !edges.has(`${b} ${a}`));
  const before = new Map(lone.map(([a, b]) => [b, a]));
  return new Map(lone.map(([a, b]) => [a, [before.get(a), b]]));
}

/** Barycentric, seen from above. */
function weightsOf([x, y], [[ax, ay], [bx, by], [cx, cy]]) {
  const whole = (bx - ax) * (cy - ay) - (cx - ax) * (by - ay);
  const b = ((x - ax) * (cy - ay) - (cx - ax) * (y - ay)) / whole;
  const c = ((bx - ax) * (y - ay) - (x - ax) * (by - ay)) / whole;
  return [1 - b - c, b, c];
}

export const distance = (a, b) => Math.hypot(...a.map((value, k) => value - b[k]));
