// Debug views (K134): what the simulation knows, drawn over the picture.

import {
  BufferAttribute,
  BufferGeometry,
  Color,
  DoubleSide,
  DynamicDrawUsage,
  Group,
  LineBasicMaterial,
  LineSegments,
  Mesh,
  MeshBasicMaterial,
  Points,
  PointsMaterial,
  Quaternion,
  Vector3,
} from "three";
import {
  ANCHOR,
  BOX,
  COLOUR,
  CONTACT,
  ELEMENT,
  FORCE,
  FRAME,
  GRID,
  type Insight,
  NODE,
  NODE_STATES,
  NORMAL,
  type NodeState,
  TORQUE,
  type Views,
} from "../insight";

/** sRGB; the legend shows the same. */
export const NODE_COLOURS: Record<NodeState, string> = {
  free: "#e8eef2",
  locked: "#ffb347",
  fixed: "#ff5d5d",
  grasped: "#46f0e0",
  follower: "#c58cff",
  centre: "#ffe066",
  inside: "#9ad0ff",
  joined: "#ff8ce6",
  pulled: "#7dff9a",
  marked: "#b5651d",
  leader: "#7a5cff",
  passive: "#6b7780",
  clipped: "#c9d64f",
  cut: "#ff9d9d",
  coagulated: "#4a3228",
};
export const ELEMENT_COLOURS = { compression: "#3f8cff", slack: "#9aa4ab", tension: "#ff4d4d" };
export const VIEW_COLOURS = {
  contacts: "#ffe066",
  forces: "#7dff9a",
  anchors: "#ff8ce6",
  normals: "#9ad0ff",
  depths: "#ff5d5d",
  boxes: "#5f7f8f",
  near: "#ffb347",
  grids: "#6fb7d6",
  torques: "#c58cff",
};
export const AXIS_COLOURS = ["#ff5d5d", "#7dff9a", "#3f8cff"] as const;

/** From violet over blue, green and yellow to red, as wavelengths go (W140). */
export const SPECTRUM = ["#3b0f70", "#2166d8", "#19b5a5", "#c8d820", "#e8281e"] as const;
const spectral = SPECTRUM.map((colour) => new Color(colour));

/** The colour of a number from 0 to 1. */
export function spectrum(value: number, into: Color): Color {
  const at = Math.min(1, Math.max(0, value)) * (spectral.length - 1);
  const low = Math.min(Math.floor(at), spectral.length - 2);
  return into.copy(spectral[low]).lerp(spectral[low + 1], at - low);
}

/** An arrow of a force is 3 mm long for each factor of ten above 1 mN: both a touch and a pull are seen. */
export function arrowLength(newtons: number): number {
  return 0.003 * Math.log10(1 + newtons / 0.001);
}

/** Torques are drawn as forces on an arm of a centimetre. */
const TORQUE_ARM = 0.01;
/** Overlaps are fractions of a millimetre: they are drawn this much longer. */
const DEPTH_SCALE = 10;
/** An overlap that is shown in full colour is at least this deep, m: noise stays dark. */
const LEAST_DEPTH = 1e-5;
/** Corners of a box that an edge joins: bit k of a corner says whether it is high along axis k. */
const EDGES = [0, 1, 2, 3, 4, 5, 6, 7, 0, 2, 1, 3, 4, 6, 5, 7, 0, 4, 1, 5, 2, 6, 3, 7];

const NORMAL_LENGTH = 0.004;
const AXIS_LENGTH = 0.005;

/** Coloured points or lines whose memory is reused, and grows when it must. */
class Strokes {
  readonly object: LineSegments | Points | Mesh;
  private geometry = new BufferGeometry();
  private places = new Float32Array(0);
  private colours = new Float32Array(0);
  private count = 0;

  constructor(kind: "points" | "lines" | "faces", size: number, order: number) {
    const look = {
      vertexColors: true,
      depthTest: false,
      depthWrite: false,
      transparent: true,
      toneMapped: false,
    };
    if (kind === "points") {
      this.object = new Points(this.geometry, new PointsMaterial({ ...look, size, sizeAttenuation: false }));
    } else if (kind === "lines") {
      this.object = new LineSegments(this.geometry, new LineBasicMaterial({ ...look, opacity: 0.85 }));
    } else {
      // Faces hide each other, as what they lie on does, and lie upon it.
      this.object = new Mesh(
        this.geometry,
        new MeshBasicMaterial({
          vertexColors: true,
          side: DoubleSide,
          toneMapped: false,
          polygonOffset: true,
          polygonOffsetFactor: -2,
          polygonOffsetUnits: -2,
        }),
      );
    }
    this.object.frustumCulled = false;
    this.object.renderOrder = order;
    this.object.visible = false;
  }

  begin(): void {
    this.count = 0;
  }

  add(x: number, y: number, z: number, colour: Color): void {
    const at = 3 * this.count;
    if (at + 3 > this.places.length) {
      this.grow();
    }
    this.places[at] = x;
    this.places[at + 1] = y;
    this.places[at + 2] = z;
    this.colours[at] = colour.r;
    this.colours[at + 1] = colour.g;
    this.colours[at + 2] = colour.b;
    this.count += 1;
  }

  end(): void {
    this.object.visible = this.count > 0;
    this.geometry.setDrawRange(0, this.count);
    for (const name of ["position", "color"]) {
      const attribute = this.geometry.getAttribute(name) as BufferAttribute | undefined;
      if (attribute) {
        attribute.needsUpdate = true;
      }
    }
  }

  dispose(): void {
    this.geometry.dispose();
    (this.object.material as LineBasicMaterial).dispose();
  }

  private grow(): void {
    const room = Math.max(3 * 256, 2 * this.places.length);
    const larger = (old: Float32Array) => {
      const made = new Float32Array(room);
      made.set(old);
      return made;
    };
    this.places = larger(this.places);
    this.colours = larger(this.colours);
    this.geometry.dispose();
    this.geometry = new BufferGeometry();
    this.geometry.setAttribute("position", new BufferAttribute(this.places, 3).setUsage(DynamicDrawUsage));
    this.geometry.setAttribute("color", new BufferAttribute(this.colours, 3).setUsage(DynamicDrawUsage));
    this.object.geometry = this.geometry;
  }
}

const nodeColours = NODE_STATES.map((state) => new Color(NODE_COLOURS[state]));
const axes = AXIS_COLOURS.map((colour) => new Color(colour));
const [
  contactColour,
  forceColour,
  anchorColour,
  normalColour,
  depthColour,
  boxColour,
  nearColour,
  torqueColour,
  gridColour,
] = [
  new Color(VIEW_COLOURS.contacts),
  new Color(VIEW_COLOURS.forces),
  new Color(VIEW_COLOURS.anchors),
  new Color(VIEW_COLOURS.normals),
  new Color(VIEW_COLOURS.depths),
  new Color(VIEW_COLOURS.boxes),
  new Color(VIEW_COLOURS.near),
  new Color(VIEW_COLOURS.torques),
  new Color(VIEW_COLOURS.grids),
];
const [blue, grey, red] = [
  new Color(ELEMENT_COLOURS.compression),
  new Color(ELEMENT_COLOURS.slack),
  new Color(ELEMENT_COLOURS.tension),
];

export class Inside extends Group {
  private readonly points = new Strokes("points", 6, 420);
  private readonly small = new Strokes("points", 4, 410);
  private readonly lines = new Strokes("lines", 1, 400);
  private readonly faces = new Strokes("faces", 1, 390);
  private readonly mixed = new Color();
  private readonly turn = new Quaternion();
  private readonly axis = new Vector3();
  /** The force that is shown in full colour, N: the largest of late. */
  private strongest = 0;

  constructor() {
    super();
    this.add(this.faces.object, this.lines.object, this.small.object, this.points.object);
  }

  /** Shows an insight, as far as it is wanted. */
  show(insight: Insight | null, views: Views, level: number): void {
    for (const strokes of [this.points, this.small, this.lines, this.faces]) {
      strokes.begin();
    }
    if (insight) {
      if (views.elements) {
        this.elements(insight.elements);
        this.arrows(insight.torques, TORQUE, torqueColour, TORQUE_ARM);
      }
      if (views.nodes) {
        const { nodes, states } = insight;
        for (let i = 0; i < nodes.length; i += NODE) {
          this.small.add(nodes[i], nodes[i + 1], nodes[i + 2], nodeColours[states[i + 3]]);
        }
      }
      if (views.contacts) {
        const c = insight.contacts;
        for (let i = 0; i < c.length; i += CONTACT) {
          this.points.add(c[i], c[i + 1], c[i + 2], contactColour);
          const length = NORMAL_LENGTH;
          this.line(c, i, length * c[i + 3], length * c[i + 4], length * c[i + 5], contactColour);
          if (c[i + 7] > 0) {
            const depth = -DEPTH_SCALE * c[i + 7];
            this.line(c, i, depth * c[i + 3], depth * c[i + 4], depth * c[i + 5], depthColour);
          }
        }
      }
      if (views.depths) {
        this.depths(insight);
      }
      if (views.forces) {
        this.arrows(insight.forces, FORCE, forceColour);
      }
      if (views.anchors) {
        const a = insight.anchors;
        for (let i = 0; i < a.length; i += ANCHOR) {
          this.points.add(a[i], a[i + 1], a[i + 2], anchorColour);
          this.line(a, i, a[i + 3] - a[i], a[i + 4] - a[i + 1], a[i + 5] - a[i + 2], anchorColour);
        }
      }
      if (views.frames) {
        this.frames(insight.frames);
      }
      if (views.normals) {
        const n = insight.normals;
        for (let i = 0; i < n.length; i += NORMAL) {
          const length = NORMAL_LENGTH;
          this.line(n, i, length * n[i + 3], length * n[i + 4], length * n[i + 5], normalColour);
        }
      }
      if (views.boxes) {
        this.boxes(insight.boxes, Math.min(level, insight.search.levels - 1));
      }
      if (views.stress || views.displacement || views.adhesion || views.front) {
        const c = insight.colours;
        for (let i = 0; i < c.length; i += COLOUR / 3) {
          this.faces.add(c[i], c[i + 1], c[i + 2], spectrum(c[i + 3], this.mixed));
        }
      }
    }
    for (const strokes of [this.points, this.small, this.lines, this.faces]) {
      strokes.end();
    }
  }

  dispose(): void {
    for (const strokes of [this.points, this.small, this.lines, this.faces]) {
      strokes.dispose();
    }
  }

  private line(from: Float32Array, at: number, x: number, y: number, z: number, colour: Color): void {
    this.lines.add(from[at], from[at + 1], from[at + 2], colour);
    this.lines.add(from[at] + x, from[at + 1] + y, from[at + 2] + z, colour);
  }

  private elements(e: Float32Array): void {
    let strongest = 0;
    for (let i = 0; i < e.length; i += ELEMENT) {
      strongest = Math.max(strongest, Math.abs(e[i + 6]));
    }
    this.strongest = Math.max(strongest, 0.98 * this.strongest, 1e-9);
    for (let i = 0; i < e.length; i += ELEMENT) {
      // The root brings out the many weak ones beside the few strong.
      const share = Math.sqrt(Math.abs(e[i + 6]) / this.strongest);
      const colour = this.mixed.copy(grey).lerp(e[i + 6] < 0 ? blue : red, Math.min(1, share));
      this.lines.add(e[i], e[i + 1], e[i + 2], colour);
      this.lines.add(e[i + 3], e[i + 4], e[i + 5], colour);
    }
  }

  /** Rows of a position and a force, or of a torque, which is as long as a force of that torque on `arm` m. */
  private arrows(f: Float32Array, row: number, colour: Color, arm = 1): void {
    for (let i = 0; i < f.length; i += row) {
      const size = Math.hypot(f[i + 3], f[i + 4], f[i + 5]);
      const scale = size > 0 ? arrowLength(size / arm) / size : 0;
      const [x, y, z] = [scale * f[i + 3], scale * f[i + 4], scale * f[i + 5]];
      this.line(f, i, x, y, z, colour);
      this.small.add(f[i] + x, f[i + 1] + y, f[i + 2] + z, colour);
    }
  }

  /** Where contacts are, in the colour of how deep they are, and the points of distance grids with the way to the surface (F26). */
  private depths({ contacts: c, grids: g, search }: Insight): void {
    for (let i = 0; i < g.length; i += GRID) {
      this.line(g, i, g[i + 3] - g[i], g[i + 4] - g[i + 1], g[i + 5] - g[i + 2], gridColour);
      this.small.add(g[i + 3], g[i + 4], g[i + 5], gridColour);
    }
    const most = Math.max(search.deepest, LEAST_DEPTH);
    for (let i = 0; i < c.length; i += CONTACT) {
      // What is about to touch does not overlap yet.
      if (c[i + 7] >= 0) {
        this.points.add(c[i], c[i + 1], c[i + 2], spectrum(c[i + 7] / most, this.mixed));
      }
    }
  }

  /** Those of one level; bodies have but one. */
  private boxes(b: Float32Array, level: number): void {
    for (let i = 0; i < b.length; i += BOX) {
      if (b[i + 7] !== level) {
        continue;
      }
      const colour = b[i + 6] > 0 ? nearColour : boxColour;
      for (const corner of EDGES) {
        this.lines.add(
          b[i + (corner & 1 ? 3 : 0)],
          b[i + 1 + (corner & 2 ? 3 : 0)],
          b[i + 2 + (corner & 4 ? 3 : 0)],
          colour,
        );
      }
    }
  }

  private frames(f: Float32Array): void {
    for (let i = 0; i < f.length; i += FRAME) {
      this.turn.fromArray(f, i + 3);
      for (let k = 0; k < 3; k += 1) {
        this.axis.set(k === 0 ? 1 : 0, k === 1 ? 1 : 0, k === 2 ? 1 : 0).applyQuaternion(this.turn);
        this.axis.multiplyScalar(AXIS_LENGTH);
        this.line(f, i, this.axis.x, this.axis.y, this.axis.z, axes[k]);
      }
    }
  }
}
