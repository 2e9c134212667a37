// The binary half of the protocol: one message a frame, little endian.

import type { Handle, SceneDescription } from "./wire";

/** "TRF1", read as a little-endian u32. */
const MAGIC = 0x31465254;

const PAUSED = 1 << 0;
const SLOW = 1 << 1;

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
  /** Simulated time, s. */
  time: number;
  /** Simulated seconds per second of the clock. */
  rate: number;
  /** Mean cost of a whole step, µs. */
  stepCost: number;
  /** Cost of each stage, µs per step, in the order of the scene's `stages`. */
  stageCosts: Float32Array;
  /** For each tissue the vertex positions x y z, m. */
  tissues: Float32Array[];
  /** For each body its pose. */
  bodies: Float32Array[];
  instruments: InstrumentFrame[];
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

/** A frame that is not what the protocol says. */
export class FrameError extends Error {
  override name = "FrameError";
}

/** Reads a frame, checking every length and that every number is finite. Throws {@link FrameError}. */
export function parseFrame(message: ArrayBuffer): Frame {
  const reader = new Reader(message);
  const magic = reader.u32("magic");
  if (magic !== MAGIC) {
    throw new FrameError(`not a frame: it begins with 0x${magic.toString(16)}, not 0x${MAGIC.toString(16)}`);
  }
  const number = reader.u32("frame number");
  const inputSequence = reader.u32("input sequence");
  const flags = reader.u32("flags");
  const frame: Frame = {
    number,
    inputSequence,
    paused: (flags & PAUSED) !== 0,
    slow: (flags & SLOW) !== 0,
    time: reader.f64("time"),
    rate: reader.f32("rate"),
    stepCost: reader.f32("step cost"),
    stageCosts: reader.floats(reader.count("stages", 4), "stage costs"),
    tissues: [],
    bodies: [],
    instruments: [],
  };
  for (let left = reader.count("tissues", 4); left > 0; left -= 1) {
    frame.tissues.push(reader.floats(3 * reader.count("vertices", 12), "vertex positions"));
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

/** Checks that a frame belongs to the scene that the server announced. Throws {@link FrameError}. */
export function checkFrame(frame: Frame, scene: SceneDescription): void {
  same("tissues", frame.tissues.length, scene.tissues.length);
  same("bodies", frame.bodies.length, scene.bodies.length);
  same("instruments", frame.instruments.length, scene.instruments.length);
  same("stages", frame.stageCosts.length, scene.stages.length);
  for (let i = 0; i < frame.tissues.length; i += 1) {
    same(`vertices of ${scene.tissues[i].name}`, frame.tissues[i].length / 3, scene.tissues[i].vertices);
  }
}

function same(what: string, found: number, expected: number): void {
  if (found !== expected) {
    throw new FrameError(`the frame has ${found} ${what}, the scene has ${expected}`);
  }
}

class Reader {
  private readonly view: DataView;
  private at = 0;

  constructor(message: ArrayBuffer) {
    this.view = new DataView(message);
  }

  u32(what: string): number {
    return this.view.getUint32(this.take(4, what), true);
  }

  f32(what: string): number {
    return finite(this.view.getFloat32(this.take(4, what), true), what);
  }

  f64(what: string): number {
    return finite(this.view.getFloat64(this.take(8, what), true), what);
  }

  /** A count of things of at least `size` bytes: never more than the rest of the message can hold. */
  count(what: string, size: number): number {
    const count = this.u32(`number of ${what}`);
    if (count * size > this.view.byteLength - this.at) {
      throw new FrameError(`the frame ends before its ${count} ${what}`);
    }
    return count;
  }

  /** A view, not a copy: all that precedes is a multiple of four bytes, and browsers are little endian. */
  floats(length: number, what: string): Float32Array {
    const floats = new Float32Array(this.view.buffer as ArrayBuffer, this.take(4 * length, what), length);
    for (let i = 0; i < length; i += 1) {
      finite(floats[i], what);
    }
    return floats;
  }

  end(): void {
    const left = this.view.byteLength - this.at;
    if (left > 0) {
      throw new FrameError(`the frame has ${left} bytes too many`);
    }
  }

  private take(bytes: number, what: string): number {
    const start = this.at;
    if (start + bytes > this.view.byteLength) {
      throw new FrameError(`the frame ends inside its ${what}, at byte ${this.view.byteLength}`);
    }
    this.at = start + bytes;
    return start;
  }
}

function finite(value: number, what: string): number {
  if (!Number.isFinite(value)) {
    throw new FrameError(`the frame's ${what} is not a finite number`);
  }
  return value;
}
