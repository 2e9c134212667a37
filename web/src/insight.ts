// What goes on inside the tissue: a binary message for those who asked to see it (K134).

import { FrameError, Reader } from "./reader";

/** "TRI2", read as a little-endian u32. */
export const INSIGHT_MAGIC = 0x32495254;

/** Which parts of an insight are wanted. */
export interface Views {
  nodes: boolean;
  elements: boolean;
  contacts: boolean;
  forces: boolean;
  anchors: boolean;
  frames: boolean;
  normals: boolean;
}

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
] as const;
export type NodeState = (typeof NODE_STATES)[number];

/** Words of one node, element, contact, force, anchor, frame and normal. */
export const NODE = 4;
export const ELEMENT = 7;
export const CONTACT = 7;
export const FORCE = 6;
export const ANCHOR = 6;
export const FRAME = 7;
export const NORMAL = 6;

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
  /** Point, normal and force. */
  contacts: Float32Array;
  /** Position and force. */
  forces: Float32Array;
  /** Both ends. */
  anchors: Float32Array;
  /** Poses. */
  frames: Float32Array;
  /** Position and direction. */
  normals: Float32Array;
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
  const insight = {
    number,
    nodes,
    states,
    elements: rows("elements", ELEMENT),
    contacts: rows("contacts", CONTACT),
    forces: rows("forces", FORCE),
    anchors: rows("anchors", ANCHOR),
    frames: rows("frames", FRAME),
    normals: rows("normals", NORMAL),
  };
  reader.end();
  return insight;
}
