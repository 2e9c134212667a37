// What goes on inside the tissue: a binary message for those who asked to see it (K134).

import { FrameError, Reader } from "./reader";

/** "TRI7", read as a little-endian u32. */
export const INSIGHT_MAGIC = 0x37495254;

/** Which parts of an insight are wanted. */
export interface Views {
  nodes: boolean;
  elements: boolean;
  contacts: boolean;
  forces: boolean;
  anchors: boolean;
  frames: boolean;
  normals: boolean;
  boxes: boolean;
  /** How deep contacts are, and the distance grids of bodies. */
  depths: boolean;
  /** Of membranes, in false colours; one at a time. */
  stress: boolean;
  displacement: boolean;
  adhesion: boolean;
  front: boolean;
}

/** Nothing but the picture. */
export const NO_VIEWS: Views = {
  nodes: false,
  elements: false,
  contacts: false,
  forces: false,
  anchors: false,
  frames: false,
  normals: false,
  boxes: false,
  depths: false,
  stress: false,
  displacement: false,
  adhesion: false,
  front: false,
};

/** What a node is, in the order of its number. */
export const NODE_STATES = [
  "free",
  "locked",
  "fixed",
  "grasped",
  "follower",
  "centre",
  "inside",
  "joined",
  "pulled",
  "marked",
  "leader",
  "passive",
  "clipped",
  "cut",
  "coagulated",
] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** Words of one node, element, torsion element, contact, force, anchor, frame, normal and box. */
export const NODE = 4;
export const ELEMENT = 7;
export const TORQUE = 6;
export const CONTACT = 8;
export const FORCE = 6;
export const ANCHOR = 6;
export const FRAME = 7;
export const NORMAL = 6;
export const BOX = 8;
/** Words of a triangle in false colours: three corners and a number from 0 to 1 at each. */
export const COLOUR = 12;
/** Words of a point of a distance grid: where it is, and the nearest point of the surface. */
export const GRID = 6;

/** What the search for contacts did in a step. */
export interface Search {
  /** Hulls of instruments and bodies that may touch a tissue. */
  probes: number;
  /** Boxes over the triangles of all tissues. */
  boxes: number;
  /** Pairs of a hull and a triangle that were looked at closely. */
  pairs: number;
  /** Pairs of bodies whose boxes overlap. */
  bodyPairs: number;
  contacts: number;
  /** Pairs of triangles of tissues that touch themselves or each other, looked at closely. */
  foldPairs: number;
  /** Places where they are within their thickness, or about to be. */
  folds: number;
  /** Pairs of triangles of tissues that go through each other (H10). */
  crossings: number;
  /** Contacts whose two sides overlap. */
  overlaps: number;
  /** The deepest of them, m; 0 if none does. */
  deepest: number;
  /** How many levels the trees of boxes have. */
  levels: number;
}

/** All arrays are views into the received message. Lengths in m, forces in N. */
export interface Insight {
  /** Of the frame it belongs to. */
  number: number;
  /** Four words a node: its position, and a word that is only to be read through {@link states}. */
  nodes: Float32Array;
  /** The same memory: the fourth word of each node is an index into {@link NODE_STATES}. */
  states: Uint32Array;
  /** Both ends and the force, above 0 for tension. */
  elements: Float32Array;
  /** Of torsion elements: position of the frame, and torque, N m. */
  torques: Float32Array;
  /** Point, normal, force and depth. */
  contacts: Float32Array;
  /** Position and force. */
  forces: Float32Array;
  /** Both ends. */
  anchors: Float32Array;
  /** Poses. */
  frames: Float32Array;
  /** Position and direction. */
  normals: Float32Array;
  /** Lowest and highest corner, 1 if something is near, and how many levels are below it. */
  boxes: Float32Array;
  /** Triangles: of each corner its position and a number from 0 to 1. */
  colours: Float32Array;
  /** Points of distance grids just inside of their bodies, and the points of the surface nearest to them (F26). */
  grids: Float32Array;
  search: Search;
}

/** True if a binary message is an insight and not a frame. */
export function isInsight(message: ArrayBuffer): boolean {
  return message.byteLength >= 4 && new DataView(message).getUint32(0, true) === INSIGHT_MAGIC;
}

/** Reads an insight, checking every length, state and number. Throws {@link FrameError}. */
export function parseInsight(message: ArrayBuffer): Insight {
  const reader = new Reader(message, "insight");
  reader.magic(INSIGHT_MAGIC);
  const number = reader.u32("frame number");
  const rows = (what: string, size: number) => reader.floats(size * reader.count(what, 4 * size), what);
  const nodes = rows("nodes", NODE);
  const states = new Uint32Array(nodes.buffer, nodes.byteOffset, nodes.length);
  for (let at = 3; at < states.length; at += NODE) {
    if (states[at] >= NODE_STATES.length) {
      throw new FrameError(`the insight has a node of state ${states[at]}, which is unknown`);
    }
  }
  const insight: Insight = {
    number,
    nodes,
    states,
    elements: rows("elements", ELEMENT),
    torques: rows("torsion elements", TORQUE),
    contacts: rows("contacts", CONTACT),
    forces: rows("forces", FORCE),
    anchors: rows("anchors", ANCHOR),
    frames: rows("frames", FRAME),
    normals: rows("normals", NORMAL),
    boxes: rows("boxes", BOX),
    colours: rows("colours", COLOUR),
    grids: rows("points of grids", GRID),
    search: {
      probes: reader.u32("probes"),
      boxes: reader.u32("boxes of the search"),
      pairs: reader.u32("pairs"),
      bodyPairs: reader.u32("pairs of bodies"),
      contacts: reader.u32("contacts of the search"),
      foldPairs: reader.u32("pairs of triangles"),
      folds: reader.u32("folds"),
      crossings: reader.u32("crossing triangles"),
      overlaps: reader.u32("overlaps"),
      deepest: reader.floats(1, "deepest overlap")[0],
      levels: 0,
    },
  };
  reader.end();
  for (let at = BOX - 1; at < insight.boxes.length; at += BOX) {
    insight.search.levels = Math.max(insight.search.levels, insight.boxes[at] + 1);
  }
  return insight;
}
