// Where the tip is wanted in the picture, from where the hand is.
//
// The hand is a place too: where the pointer is, or where keys and sticks have moved it. Through a trocar the tip
// goes the other way than the hand, so its place is mirrored through the middle of the picture. Every place of the
// picture can be reached and none is a dead end, because the pointer's place itself counts, not its motion.

import type { Place } from "./space";

/** The tip never jumps to the pointer when it is taken up: what separates them fades while the hand travels this far. */
const CATCH_UP = 0.25;
/** Beyond this the tip is out of any picture. */
const FARTHEST = 2.2;

export class Pointing {
  /** Against the hand's motion, as through a trocar. */
  fulcrum = true;
  /** Speed of the tip relative to the hand's, in the middle of the picture. */
  sensitivity = 1;
  /** Where the tip is wanted; null until the hand moves. */
  goal: Place | null = null;
  private hand: Place | null = null;
  private apart: Place = [0, 0];

  /** The hand's place in the picture is known: it is the pointer's. `tip` is where the tip is now. */
  moveTo(hand: Place, tip: Place | null): void {
    const there = this.through(hand);
    const from = this.goal ?? tip;
    if (this.hand === null) {
      this.apart = from === null ? [0, 0] : [from[0] - there[0], from[1] - there[1]];
    } else {
      const travel = Math.hypot(hand[0] - this.hand[0], hand[1] - this.hand[1]);
      const left = Math.exp(-travel / CATCH_UP);
      this.apart = [this.apart[0] * left, this.apart[1] * left];
    }
    this.hand = hand;
    this.goal = [there[0] + this.apart[0], there[1] + this.apart[1]];
  }

  /** The hand moves, wherever it is. */
  moveBy(motion: Place, tip: Place | null): void {
    const from = this.goal ?? tip;
    if (from === null) {
      return;
    }
    const speed = (this.fulcrum ? -1 : 1) * this.sensitivity;
    this.goal = bounded([from[0] + speed * motion[0], from[1] + speed * motion[1]]);
    this.hand = null;
  }

  /** The picture or the instrument has changed under the hand: it begins from where the tip is then. */
  rest(): void {
    this.goal = null;
    this.hand = null;
  }

  /** Where the tip goes with the hand at this place. */
  through(hand: Place): Place {
    const far = Math.hypot(...hand);
    const factor = (this.fulcrum ? -1 : 1) * curve(far, this.sensitivity);
    return bounded([hand[0] * factor, hand[1] * factor]);
  }

  /** Where the hand has to be for the tip to go to this place: {@link through}, the other way round. */
  back(tip: Place): Place {
    const far = Math.hypot(...tip);
    let [low, high] = [0, 4];
    for (let i = 0; i < 40; i += 1) {
      const middle = (low + high) / 2;
      if (middle * curve(middle, this.sensitivity) < far) {
        low = middle;
      } else {
        high = middle;
      }
    }
    const factor = far > 0 ? ((this.fulcrum ? -1 : 1) * low) / far : 0;
    return [tip[0] * factor, tip[1] * factor];
  }
}

/**
 * How far from the middle the tip goes, per distance of the hand. A slow hand is slow in the middle and makes up for
 * it towards the rim, so that the rim stays within reach.
 */
function curve(far: number, sensitivity: number): number {
  if (sensitivity >= 1) {
    return sensitivity;
  }
  const within = Math.min(far, 1);
  return sensitivity + (1 - sensitivity) * within * within;
}

function bounded([x, y]: Place): Place {
  const far = Math.hypot(x, y);
  return far > FARTHEST ? [(x * FARTHEST) / far, (y * FARTHEST) / far] : [x, y];
}
