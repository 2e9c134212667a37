// How a shaft in its trocar answers to yaw and pitch. It isn't told but learned from what is seen, so any mounting
// works; a good first guess only spares the first wrong motion.

import { minus, plus, times, type Vector } from "./space";

/** Smallest turn worth learning from, rad: well above the rounding of f32 positions. */
const LEAST_TURN = 2e-3;
/** Largest: beyond it the shaft was reset, not turned. */
const LARGEST_TURN = 0.4;

export class Swing {
  /** How the direction of the shaft changes with yaw and with pitch, per rad. */
  byYaw: Vector;
  byPitch: Vector;
  /** The last sight learned from. */
  private seen: { yaw: number; pitch: number; direction: Vector } | null = null;

  constructor(guess: readonly [Vector, Vector]) {
    [this.byYaw, this.byPitch] = guess;
  }

  /** Takes in where the shaft points with this yaw and pitch. */
  see({ yaw, pitch }: { yaw: number; pitch: number }, direction: Vector): void {
    if (this.seen !== null) {
      const turnedYaw = yaw - this.seen.yaw;
      const turnedPitch = pitch - this.seen.pitch;
      const turned = Math.hypot(turnedYaw, turnedPitch);
      if (turned < LEAST_TURN) {
        return;
      }
      if (turned < LARGEST_TURN) {
        this.learn(turnedYaw, turnedPitch, minus(direction, this.seen.direction));
      }
    }
    this.seen = { yaw, pitch, direction };
  }

  /** Broyden's rank-one update: the answer becomes right along the turn just made, and stays as it was across it. */
  private learn(yaw: number, pitch: number, change: Vector): void {
    const expected = plus(times(this.byYaw, yaw), times(this.byPitch, pitch));
    const surprise = times(minus(change, expected), 1 / (yaw * yaw + pitch * pitch));
    this.byYaw = plus(this.byYaw, times(surprise, yaw));
    this.byPitch = plus(this.byPitch, times(surprise, pitch));
  }
}
