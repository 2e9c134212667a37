// Both hands of a trainee: one on an instrument, one on the endoscope.

import type { Frame } from "../frame";
import type { EndoscopeHandle, Handle, SceneDescription } from "../wire";
import type { Motion } from "./desk";
import { Hand } from "./hand";
import { Optic } from "./optic";
import { Pointing } from "./pointing";
import { type Eye, type Place, placeOf, type Vector } from "./space";

/** Who carries what the hands want to the simulation. */
export interface Messenger {
  steer(instrument: number, handle: Handle): void;
  look(handle: EndoscopeHandle): void;
}

/** Where the closed jaws of an instrument, or the tip of a needle, end, m. */
export function tipOf(frame: Frame, scene: SceneDescription, instrument: number): Vector | null {
  const seen = frame.instruments[instrument];
  if (!seen) {
    return null;
  }
  const { jaw_length: length, kind } = scene.instruments[instrument];
  // A needle's tip has a frame of its own, as it may be bent.
  const [px, py, pz, x, y, z, w] = kind === "needle" ? seen.jawA : seen.shaft;
  // The third column of the rotation matrix: +z.
  return [
    px + length * 2 * (x * z + w * y),
    py + length * 2 * (y * z - w * x),
    pz + length * (1 - 2 * (x * x + y * y)),
  ];
}

export class Hands {
  readonly pointing = new Pointing();
  /** Null if the endoscope isn't ours to move. */
  optic: Optic | null = null;
  /** Which instrument is held, counted from 0. */
  instrument = 0;
  private hands: Hand[] = [];
  private locked: boolean[] = [];
  /** Instruments whose jaws have been moved: until then they stay as the scene has them. */
  private readonly touched = new Set<number>();
  private lastEye: Eye | null = null;

  /** How many instruments can be held. */
  get count(): number {
    return this.hands.length;
  }

  /** The handle as last wanted; null without an instrument. */
  get handle(): Readonly<Handle> | null {
    return this.hands[this.instrument]?.handle ?? null;
  }

  /** Takes the instruments as they stand in a frame; if none is given, as the scene has them at the start. */
  take(scene: SceneDescription, frame: Frame | null): void {
    this.release();
    this.hands = scene.instruments.map(
      ({ handle, limits }, i) => new Hand(frame?.instruments[i]?.handle ?? handle, limits),
    );
    this.locked = this.hands.map(() => false);
    this.optic = scene.endoscope && new Optic(frame?.eye?.handle ?? scene.endoscope.handle, scene.endoscope);
    this.instrument = Math.min(this.instrument, Math.max(0, this.hands.length - 1));
  }

  /** Holds nothing any more. */
  release(): void {
    this.hands = [];
    this.optic = null;
    this.touched.clear();
    this.pointing.rest();
  }

  /** The instrument stays where it is until the hand moves again. */
  rest(): void {
    this.pointing.rest();
    this.hands[this.instrument]?.rest();
  }

  /** Holds another instrument. */
  hold(instrument: number): void {
    if (instrument < this.hands.length && instrument !== this.instrument) {
      this.rest();
      this.instrument = instrument;
    }
  }

  next(): void {
    this.hold((this.instrument + 1) % Math.max(1, this.hands.length));
  }

  /** Locks the jaws shut, or lets them open. */
  lock(): void {
    this.locked[this.instrument] = !this.locked[this.instrument];
    this.touched.add(this.instrument);
  }

  /** Takes in a frame, as seen by `eye`. */
  see(frame: Frame, scene: SceneDescription, eye: Eye): void {
    this.hands.forEach((hand, i) => {
      const { handle, shaft } = frame.instruments[i];
      const tip = tipOf(frame, scene, i);
      if (tip) {
        hand.see({ handle, tip, trocar: scene.instruments[i].trocar, shaft: shaft.subarray(3) }, eye);
      }
    });
    if (frame.eye) {
      const [x, y, z] = frame.eye.pose;
      this.optic?.see(frame.eye.handle, [x, y, z]);
    }
  }

  /** Moves the endoscope. What lies `distance` m away follows the hand that drags the picture. */
  look(
    { drag, reach, cable, horizon, zoom }: Motion,
    seconds: number,
    eye: Eye,
    distance: number,
    to: Messenger,
  ): void {
    if (this.optic === null) {
      return;
    }
    if (drag[0] !== 0 || drag[1] !== 0) {
      this.optic.drag(drag, eye, distance);
    }
    this.optic.push(reach);
    this.optic.cable(cable);
    this.optic.horizon(horizon);
    this.optic.zoom(zoom);
    if (this.optic.follow(seconds)) {
      to.look(this.optic.handle);
    }
  }

  /** Moves the instruments. `pointer` is where it is, if it moved. */
  operate(motion: Motion, pointer: Place | null, seconds: number, eye: Eye, to: Messenger): void {
    const hand = this.hands[this.instrument];
    if (!hand) {
      return;
    }
    // When the picture moves, the pointer would drag the tip along with it.
    if (this.lastEye !== null && !same(eye, this.lastEye)) {
      this.rest();
    }
    this.lastEye = eye;
    const tip = hand.tip && placeOf(hand.tip, eye);
    if (pointer !== null) {
      this.pointing.moveTo(pointer, tip);
    }
    if (motion.swing[0] !== 0 || motion.swing[1] !== 0) {
      this.pointing.moveBy(motion.swing, tip);
    }
    hand.push(motion.push);
    if (this.pointing.goal !== null) {
      hand.aim(this.pointing.goal, eye, seconds);
    }
    hand.roll(motion.roll);
    if (motion.squeeze > 0) {
      this.touched.add(this.instrument);
    }
    this.hands.forEach((each, i) => {
      if (this.touched.has(i)) {
        each.squeeze(this.locked[i] ? 1 : i === this.instrument ? motion.squeeze : 0);
      }
      if (each.follow(seconds)) {
        to.steer(i, each.handle);
      }
    });
  }
}

function same(a: Eye, b: Eye): boolean {
  return (
    a.scale === b.scale &&
    [0, 1, 2].every(
      (k) => a.position[k] === b.position[k] && a.forward[k] === b.forward[k] && a.right[k] === b.right[k],
    )
  );
}
