// The hand: turns what the trainee does at the desk into the handle of an instrument.
//
// The tip goes where the pointer is. The hand isn't told how yaw and pitch turn an instrument in its
// trocar: it sees in each frame where the tip went, and learns. So any mounting works, and the camera
// may stand anywhere.

import type { Handle, SceneDescription } from "./wire";

export type Vector = readonly [number, number, number];
/** A place in the picture: y from -1 (bottom) to 1 (top), x to the right in the same unit. */
export type Place = readonly [number, number];
export type Limits = SceneDescription["instruments"][number]["limits"];

/** What the picture is seen with: an orthonormal frame and 1 / tan(half the vertical field of view). */
export interface Eye {
  position: Vector;
  right: Vector;
  up: Vector;
  forward: Vector;
  scale: number;
}

/** Fastest motion of the handle: quick as a hand, not as a mouse. */
const SWING_SPEED = 2.5; // rad/s
const JAW_SPEED = 5; // rad/s

/** Smallest turn worth learning from, rad: well above the rounding of f32 positions. */
const LEAST_TURN = 2e-3;
/** Largest: beyond it the instrument was reset, not turned. */
const LARGEST_TURN = 0.4;
/** Damping of the inverse, in picture units per rad: keeps the swing bounded where the shaft points into the eye. */
const DAMPING = 0.2;
/** A correction smaller than this, rad, moves the tip by some µm: not worth a message. */
const LEAST_CORRECTION = 1e-4;

/** Where a point appears in the picture; null behind the eye. */
export function placeOf(point: Vector, eye: Eye): Place | null {
  const ray = minus(point, eye.position);
  const away = dot(ray, eye.forward);
  if (away <= 0) {
    return null;
  }
  return [(eye.scale * dot(ray, eye.right)) / away, (eye.scale * dot(ray, eye.up)) / away];
}

export class Hand {
  /** Where the handle is wanted. */
  private wanted: Handle;
  /** What is sent: follows `wanted` at the speed of a hand. */
  private readonly now: Handle;
  private readonly limits: Limits;
  /** How the direction of the shaft answers to yaw and to pitch, per rad; unknown before the first frame. */
  private answer: [Vector, Vector] | null = null;
  /** The last frame learned from. */
  private seen: { handle: Handle; direction: Vector } | null = null;
  private tip: Vector | null = null;
  private reach = 0;
  private reached: Handle;

  constructor(handle: Handle, limits: Limits) {
    this.now = { ...handle };
    this.wanted = { ...handle };
    this.reached = handle;
    this.limits = limits;
  }

  get handle(): Readonly<Handle> {
    return this.now;
  }

  /** Takes in a frame: the handle as reached, and where the tip is with it. */
  see(reached: Handle, tip: Vector, trocar: Vector, eye: Eye): void {
    const arm = minus(tip, trocar);
    this.reach = Math.hypot(...arm);
    this.tip = tip;
    this.reached = reached;
    const direction = times(arm, 1 / Math.max(this.reach, 1e-9));
    // A first guess: yaw to the right, pitch upwards in the picture.
    this.answer ??= [eye.right, eye.up];
    if (this.seen === null) {
      this.seen = { handle: reached, direction };
      return;
    }
    const yaw = reached.yaw - this.seen.handle.yaw;
    const pitch = reached.pitch - this.seen.handle.pitch;
    const turn = Math.hypot(yaw, pitch);
    if (turn < LEAST_TURN) {
      return;
    }
    if (turn < LARGEST_TURN) {
      this.learn(yaw, pitch, minus(direction, this.seen.direction));
    }
    this.seen = { handle: reached, direction };
  }

  /** Broyden's rank-one update: the answer becomes right along the turn just made, and stays as it was across it. */
  private learn(yaw: number, pitch: number, change: Vector): void {
    if (this.answer === null) {
      return;
    }
    const [byYaw, byPitch] = this.answer;
    const expected = plus(times(byYaw, yaw), times(byPitch, pitch));
    const surprise = times(minus(change, expected), 1 / (yaw * yaw + pitch * pitch));
    this.answer = [plus(byYaw, times(surprise, yaw)), plus(byPitch, times(surprise, pitch))];
  }

  /** Swings the tip towards a place in the picture: one Newton step from the last frame. */
  aim(goal: Place, eye: Eye): void {
    if (this.tip === null || this.answer === null) {
      return;
    }
    const tip = this.tip;
    const here = placeOf(tip, eye);
    if (here === null) {
      return;
    }
    const slope = (axis: Vector): Place => {
      const small = 1e-3;
      const there = placeOf(plus(tip, times(axis, this.reach * small)), eye) ?? here;
      return [(there[0] - here[0]) / small, (there[1] - here[1]) / small];
    };
    const [a, c] = slope(this.answer[0]);
    const [b, d] = slope(this.answer[1]);
    const x = goal[0] - here[0];
    const y = goal[1] - here[1];
    // Damped least squares of [a b; c d] · [yaw pitch] = [x y] (Levenberg and Marquardt). The damping grows
    // with the distance, so that the tip comes to rest at the nearest place if it can't reach the goal.
    const damping = DAMPING * DAMPING + x * x + y * y;
    const aa = a * a + c * c + damping;
    const bb = b * b + d * d + damping;
    const ab = a * b + c * d;
    const determinant = aa * bb - ab * ab;
    const ax = a * x + c * y;
    const bx = b * x + d * y;
    const yaw = clamp(this.reached.yaw + (bb * ax - ab * bx) / determinant, this.limits.yaw);
    const pitch = clamp(this.reached.pitch + (aa * bx - ab * ax) / determinant, this.limits.pitch);
    if (Math.hypot(yaw - this.wanted.yaw, pitch - this.wanted.pitch) > LEAST_CORRECTION) {
      this.wanted.yaw = yaw;
      this.wanted.pitch = pitch;
    }
  }

  /** Pushes the instrument in (positive) or pulls it out, m. */
  push(distance: number): void {
    this.wanted.depth = clamp(this.wanted.depth + distance, this.limits.depth);
  }

  /** Turns the instrument about its shaft, rad. */
  roll(angle: number): void {
    this.wanted.roll += angle;
  }

  /** Closes the jaws, or lets them open. */
  squeeze(closed: boolean): void {
    this.wanted.jaw = this.limits.jaw[closed ? 0 : 1];
  }

  /** Moves the handle towards where it is wanted, for `seconds`. Returns whether it moved. */
  follow(seconds: number): boolean {
    const before = { ...this.now };
    const yaw = this.wanted.yaw - this.now.yaw;
    const pitch = this.wanted.pitch - this.now.pitch;
    const share = Math.min(1, (SWING_SPEED * seconds) / Math.max(Math.hypot(yaw, pitch), 1e-12));
    this.now.yaw += share * yaw;
    this.now.pitch += share * pitch;
    this.now.jaw += Math.max(
      -JAW_SPEED * seconds,
      Math.min(JAW_SPEED * seconds, this.wanted.jaw - this.now.jaw),
    );
    // A notch of the wheel is a jump of millimetres: spread it over about 60 ms.
    this.now.depth += (this.wanted.depth - this.now.depth) * (1 - Math.exp(-seconds / 0.06));
    if (Math.abs(this.wanted.depth - this.now.depth) < 1e-6) {
      this.now.depth = this.wanted.depth;
    }
    this.now.roll = this.wanted.roll;
    return (Object.keys(before) as (keyof Handle)[]).some((key) => before[key] !== this.now[key]);
  }
}

function clamp(value: number, [low, high]: readonly [number, number]): number {
  return Math.min(high, Math.max(low, value));
}

function plus(a: Vector, b: Vector): Vector {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

function minus(a: Vector, b: Vector): Vector {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

function times(a: Vector, factor: number): Vector {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}
