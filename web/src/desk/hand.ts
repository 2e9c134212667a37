// The hand: turns what the trainee does at the desk into the handle of an instrument.

import type { Handle, Limits } from "../wire";
import { clamp, type Eye, minus, type Place, placeOf, plus, times, turn, type Vector } from "./space";
import { Swing } from "./swing";

/** Fastest motion of the handle: quick as a hand, not as a mouse. */
const SWING_SPEED = 2.5; // rad/s
const JAW_SPEED = 5; // rad/s

/** Damping of the inverse, in picture units per rad: keeps the swing bounded where the shaft points into the eye. */
const DAMPING = 0.2;
/** A correction smaller than this, rad, moves the tip by some µm: not worth a message. */
const LEAST_CORRECTION = 1e-4;

/** What a hand sees of its instrument in a frame. */
export interface Sight {
  /** The handle as reached. */
  handle: Handle;
  /** Where the tip is with it. */
  tip: Vector;
  trocar: Vector;
  /** Orientation of the shaft, if known: from it the first guess of how it swings. */
  shaft?: ArrayLike<number> & Iterable<number>;
}

export class Hand {
  /** Where the handle is wanted. */
  private readonly wanted: Handle;
  /** What is sent: follows `wanted` at the speed of a hand. */
  private readonly now: Handle;
  private readonly limits: Limits;
  private swing: Swing | null = null;
  private sight: Sight | null = null;
  private reach = 0;
  /** Whether it has ever moved: until then others may lead the instrument, and the hand goes along. */
  private moved = false;

  constructor(handle: Handle, limits: Limits) {
    this.now = { ...handle };
    this.wanted = { ...handle };
    this.limits = limits;
  }

  get handle(): Readonly<Handle> {
    return this.now;
  }

  /** Where the tip was when last seen. */
  get tip(): Vector | null {
    return this.sight?.tip ?? null;
  }

  /** Takes in a frame. */
  see(sight: Sight, eye: Eye): void {
    const arm = minus(sight.tip, sight.trocar);
    this.reach = Math.hypot(...arm);
    this.sight = sight;
    if (!this.moved) {
      Object.assign(this.now, sight.handle);
      Object.assign(this.wanted, sight.handle);
    }
    this.swing ??= new Swing(sight.shaft ? mounted(sight.shaft, sight.handle) : [eye.right, eye.up]);
    this.swing.see(sight.handle, times(arm, 1 / Math.max(this.reach, 1e-9)));
  }

  /**
   * Swings the tip towards a place in the picture: one Newton step from the last frame. The tip is taken to be as deep
   * as it will be after the next `seconds`, or each push would throw it aside until the next picture.
   */
  aim(goal: Place, eye: Eye, seconds = 0): void {
    if (this.sight === null || this.swing === null) {
      return;
    }
    const { trocar, handle: reached } = this.sight;
    const reach = this.reach + ease(this.now.depth, this.wanted.depth, seconds) - reached.depth;
    const tip = plus(trocar, times(minus(this.sight.tip, trocar), reach / Math.max(this.reach, 1e-9)));
    const here = placeOf(tip, eye);
    if (here === null) {
      return;
    }
    const slope = (axis: Vector): Place => {
      const small = 1e-3;
      const there = placeOf(plus(tip, times(axis, reach * small)), eye) ?? here;
      return [(there[0] - here[0]) / small, (there[1] - here[1]) / small];
    };
    const [a, c] = slope(this.swing.byYaw);
    const [b, d] = slope(this.swing.byPitch);
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
    const yaw = clamp(reached.yaw + (bb * ax - ab * bx) / determinant, this.limits.yaw);
    const pitch = clamp(reached.pitch + (aa * bx - ab * ax) / determinant, this.limits.pitch);
    if (Math.hypot(yaw - this.wanted.yaw, pitch - this.wanted.pitch) > LEAST_CORRECTION) {
      this.wanted.yaw = yaw;
      this.wanted.pitch = pitch;
    }
  }

  /** Stays where it is: what was aimed at before counts no more. */
  rest(): void {
    this.wanted.yaw = this.now.yaw;
    this.wanted.pitch = this.now.pitch;
  }

  /** Pushes the instrument in (positive) or pulls it out, m. */
  push(distance: number): void {
    this.wanted.depth = clamp(this.wanted.depth + distance, this.limits.depth);
  }

  /** Turns the instrument about its shaft, rad. */
  roll(angle: number): void {
    this.wanted.roll += angle;
  }

  /** Closes the jaws: from 0, open, to 1, shut. */
  squeeze(amount: number): void {
    const [shut, open] = this.limits.jaw;
    this.wanted.jaw = open + clamp(amount, [0, 1]) * (shut - open);
  }

  /** Moves the handle towards where it is wanted, for `seconds`. Returns whether it moved. */
  follow(seconds: number): boolean {
    const before = { ...this.now };
    const yaw = this.wanted.yaw - this.now.yaw;
    const pitch = this.wanted.pitch - this.now.pitch;
    const share = Math.min(1, (SWING_SPEED * seconds) / Math.max(Math.hypot(yaw, pitch), 1e-12));
    this.now.yaw += share * yaw;
    this.now.pitch += share * pitch;
    const jaw = JAW_SPEED * seconds;
    this.now.jaw += clamp(this.wanted.jaw - this.now.jaw, [-jaw, jaw]);
    this.now.depth = ease(this.now.depth, this.wanted.depth, seconds);
    this.now.roll = this.wanted.roll;
    const moves = (Object.keys(before) as (keyof Handle)[]).some((key) => before[key] !== this.now[key]);
    this.moved ||= moves;
    return moves;
  }
}

/** A notch of the wheel is a jump of millimetres: it is spread over about 60 ms. */
export function ease(now: number, wanted: number, seconds: number): number {
  const next = now + (wanted - now) * (1 - Math.exp(-seconds / 0.06));
  return Math.abs(wanted - next) < 1e-6 ? wanted : next;
}

/**
 * How a shaft mounted as T · Ry(yaw) · Rx(−pitch) · Rz(roll) answers, given its whole orientation: with
 * D = T · Ry · Rx, its direction D·z changes by cos(pitch) D·x with yaw and by D·y with pitch.
 */
function mounted(shaft: ArrayLike<number> & Iterable<number>, { pitch, roll }: Handle): [Vector, Vector] {
  const [c, s] = [Math.cos(roll), Math.sin(roll)];
  return [times(turn([c, -s, 0], shaft), Math.cos(pitch)), turn([s, c, 0], shaft)];
}
