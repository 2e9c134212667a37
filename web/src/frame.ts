// The binary half of the protocol: one message a frame.

import { FrameError, Reader } from "./reader";
import type { EndoscopeHandle, Handle, SceneDescription } from "./wire";

/** "TRF3", read as a little-endian u32. */
export const FRAME_MAGIC = 0x33465254;

const PAUSED = 1 << 0;
const SLOW = 1 << 1;
const AT_END = 1 << 2;

/** Floats in one pose: position x y z, quaternion x y z w. */
export const POSE = 7;

/** One picture of the simulation. The arrays are views into the received message: nothing is copied. */
export interface Frame {
  number: number;
  /** The last sequence of ours whose handle the simulation has consumed. */
  inputSequence: number;
  paused: boolean;
  /** The machine can't keep up: simulated time runs slower than the clock. */
  slow: boolean;
  /** A replay has reached its end. */
  atEnd: boolean;
  /** Simulated time, s. */
  time: number;
  /** Simulated seconds per second of the clock. */
  rate: number;
  /** Mean cost of a whole step, µs. */
  stepCost: number;
  /** Largest error that aiming left, m, and how many sweeps it took. */
  aimError: number;
  aimIterations: number;
  /** Largest error that correcting left, m/s. */
  correctError: number;
  contacts: number;
  substeps: number;
  /** J */
  energy: { kinetic: number; gravity: number; elastic: number };
  /** Cost of each stage, µs per step, in the order of the scene's `stages`. */
  stageCosts: Float32Array;
  /** What the endoscope sees; null without one. */
  eye: EyeFrame | null;
  /** For each tissue the vertex positions x y z, m. */
  tissues: Float32Array[];
  /** For each tissue its surface, if that was torn or cut since the scene was described. */
  surfaces: (SurfaceFrame | null)[];
  /** For each body its pose. */
  bodies: Float32Array[];
  instruments: InstrumentFrame[];
}

/** The surface of a tissue as it is by now. */
export interface SurfaceFrame {
  /** How often it was edited: the same number, the same surface. */
  edits: number;
  /** Three vertices a triangle. */
  triangles: Uint32Array;
  /** Where each vertex is at rest, x y z, m. */
  rest: Float32Array;
}

export interface EyeFrame {
  /** Looks along -z, +y is up in the picture. */
  pose: Float32Array;
  /** Whole angle of the round picture, rad. */
  fieldOfView: number;
  /** The handle as now reached. */
  handle: EndoscopeHandle;
}

export interface InstrumentFrame {
  /** Origin at the hinge, +z from the trocar to the tip. */
  shaft: Float32Array;
  /** Origin at the hinge, the jaw along +z. */
  jawA: Float32Array;
  jawB: Float32Array;
  /** The handle as now reached. */
  handle: Handle;
  /** Force at the tip, N. */
  force: Float32Array;
  /** How many points of tissue the jaws hold. */
  grasped: number;
}

/** Reads a frame, checking every length and that every number is finite. Throws {@link FrameError}. */
export function parseFrame(message: ArrayBuffer): Frame {
  const reader = new Reader(message, "frame");
  reader.magic(FRAME_MAGIC);
  const number = reader.u32("frame number");
  const inputSequence = reader.u32("input sequence");
  const flags = reader.u32("flags");
  const frame: Frame = {
    number,
    inputSequence,
    paused: (flags & PAUSED) !== 0,
    slow: (flags & SLOW) !== 0,
    atEnd: (flags & AT_END) !== 0,
    time: reader.f64("time"),
    rate: reader.f32("rate"),
    stepCost: reader.f32("step cost"),
    aimError: reader.f32("aim error"),
    aimIterations: reader.u32("aim iterations"),
    correctError: reader.f32("correct error"),
    contacts: reader.u32("contacts"),
    substeps: reader.u32("substeps"),
    energy: {
      kinetic: reader.f32("kinetic energy"),
      gravity: reader.f32("potential energy"),
      elastic: reader.f32("elastic energy"),
    },
    stageCosts: reader.floats(reader.count("stages", 4), "stage costs"),
    eye: parseEye(reader),
    tissues: [],
    surfaces: [],
    bodies: [],
    instruments: [],
  };
  for (let left = reader.count("tissues", 8); left > 0; left -= 1) {
    const vertices = reader.count("vertices", 12);
    frame.surfaces.push(parseSurface(reader, vertices));
    frame.tissues.push(reader.floats(3 * vertices, "vertex positions"));
  }
  for (let left = reader.count("bodies", 4 * POSE); left > 0; left -= 1) {
    frame.bodies.push(reader.floats(POSE, "body pose"));
  }
  for (let left = reader.count("instruments", 4 * (3 * POSE + 9)); left > 0; left -= 1) {
    const shaft = reader.floats(POSE, "shaft pose");
    const jawA = reader.floats(POSE, "jaw pose");
    const jawB = reader.floats(POSE, "jaw pose");
    const [yaw, pitch, depth, roll, jaw] = reader.floats(5, "handle");
    const force = reader.floats(3, "force");
    const grasped = reader.u32("grasped anchors");
    frame.instruments.push({ shaft, jawA, jawB, handle: { yaw, pitch, depth, roll, jaw }, force, grasped });
  }
  reader.end();
  return frame;
}

function parseSurface(reader: Reader, vertices: number): SurfaceFrame | null {
  const edits = reader.u32("edits");
  if (edits === 0) {
    return null;
  }
  const triangles = reader.words(3 * reader.count("triangles", 12), "triangles");
  if (triangles.some((vertex) => vertex >= vertices)) {
    throw new FrameError(`the frame has a triangle outside its ${vertices} vertices`);
  }
  return { edits, triangles, rest: reader.floats(3 * vertices, "rest positions") };
}

function parseEye(reader: Reader): EyeFrame | null {
  const present = reader.u32("eye");
  if (present === 0) {
    return null;
  }
  if (present !== 1) {
    throw new FrameError(`the frame has ${present} eyes: one or none is allowed`);
  }
  const pose = reader.floats(POSE, "eye pose");
  const fieldOfView = reader.f32("field of view");
  // Narrower or wider than any lens: such a picture can't be drawn.
  if (fieldOfView < 0.001 || fieldOfView > 3.1) {
    throw new FrameError(`the frame's field of view is ${fieldOfView} rad`);
  }
  const [yaw, pitch, depth, roll, horizon, zoom] = reader.floats(6, "endoscope handle");
  return { pose, fieldOfView, handle: { yaw, pitch, depth, roll, horizon, zoom } };
}

/** Checks that a frame belongs to the scene that the server announced. Throws {@link FrameError}. */
export function checkFrame(frame: Frame, scene: SceneDescription): void {
  same("tissues", frame.tissues.length, scene.tissues.length);
  same("bodies", frame.bodies.length, scene.bodies.length);
  same("instruments", frame.instruments.length, scene.instruments.length);
  same("stages", frame.stageCosts.length, scene.stages.length);
  same("eyes", frame.eye ? 1 : 0, scene.endoscope ? 1 : 0);
  for (let i = 0; i < frame.tissues.length; i += 1) {
    if (frame.surfaces[i] === null) {
      same(`vertices of ${scene.tissues[i].name}`, frame.tissues[i].length / 3, scene.tissues[i].vertices);
    }
  }
}

function same(what: string, found: number, expected: number): void {
  if (found !== expected) {
    throw new FrameError(`the frame has ${found} ${what}, the scene has ${expected}`);
  }
}
