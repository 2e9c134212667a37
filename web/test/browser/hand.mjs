// A hand on a real mouse: it sees where the tip is in the picture and moves until the tip is where it should be.
// Nothing goes past the page: only the pointer, the wheel and the button.

import { PATIENCE, until } from "./browser.mjs";

/** What a notch of 100 px pushes is the page's business; this is how the hand guesses it, m/px. */
const PUSH_PER_PIXEL = 3e-5;
/** No more than this at once, m: a steady hand. */
const LONGEST_STEP = 0.015;
/** How much of the error in the picture is made good at once. */
const GAIN = 0.8;

export class Hand {
  constructor(page) {
    this.page = page;
    const { width, height } = page.viewportSize();
    this.pointer = [width / 2, height / 2];
  }

  /** What the hand sees now. */
  look() {
    return this.page.evaluate(lookAround);
  }

  /** Whether `condition` of what is seen comes true within `patience` ms. */
  async sees(condition, patience) {
    for (const end = Date.now() + patience; ; ) {
      const seen = await this.look();
      if (condition(seen)) {
        return true;
      }
      if (Date.now() > end) {
        return false;
      }
      await this.wait(1);
    }
  }

  /** Waits until the picture has changed a few times. */
  async wait(frames = 3) {
    const { frames: now } = await this.look();
    await until(this.page, (least) => (window.trocar?.frames ?? 0) >= least, now + frames);
  }

  async close() {
    await this.page.mouse.down();
    await until(this.page, () => {
      const { lastFrame, scene } = window.trocar;
      const [closed, open] = scene.instruments[0].limits.jaw;
      const { jaw, grasped } = { ...lastFrame.instruments[0].handle, ...lastFrame.instruments[0] };
      return grasped > 0 || jaw < closed + 0.15 * (open - closed);
    });
    await this.wait(4);
  }

  async open() {
    await this.page.mouse.up();
    await until(this.page, () => {
      const { lastFrame, scene } = window.trocar;
      const [closed, open] = scene.instruments[0].limits.jaw;
      return lastFrame.instruments[0].handle.jaw > closed + 0.6 * (open - closed);
    });
    await this.wait(4);
  }

  /**
   * Brings the tip to `target`, m, a function of what is seen; `along` metres short of it (negative: beyond it), seen
   * from the trocar; no faster than `speed`, m/s of simulated time. Ends when it is within `near`, when `enough(seen)`
   * says so, or when it has come no nearer for `patience` ms: then something is in the way, and the caller sees.
   */
  async reach(target, { near, along = 0, speed, enough = () => false, patience = PATIENCE }) {
    let nearest = Number.POSITIVE_INFINITY;
    let end = Date.now() + patience;
    let last = (await this.look()).time;
    for (;;) {
      const seen = await this.look();
      const away = minus(target(seen), seen.trocar);
      const far = length(away);
      const wanted = plus(seen.trocar, times(away, (far - along) / far));
      const error = length(minus(wanted, seen.tip));
      if (error < 0.95 * nearest) {
        nearest = error;
        end = Date.now() + patience;
      }
      if (seen.finished || enough(seen) || error < near || Date.now() > end) {
        return seen;
      }
      const longest = Math.min(LONGEST_STEP, speed * Math.max(0.02, seen.time - last));
      last = seen.time;
      const next = plus(seen.tip, times(minus(wanted, seen.tip), Math.min(1, longest / error)));
      await this.swing(seen, next);
      await this.push(length(minus(next, seen.trocar)) - length(minus(seen.tip, seen.trocar)));
      await this.wait(2);
    }
  }

  /** Moves the pointer so that the shaft turns towards `wanted`: the tip goes the other way than the hand. */
  async swing(seen, wanted) {
    const away = minus(wanted, seen.trocar);
    const there = plus(seen.trocar, times(away, length(minus(seen.tip, seen.trocar)) / length(away)));
    const [from, to] = await this.page.evaluate(
      ([tip, goal]) => [window.trocar.pixelsOf(tip), window.trocar.pixelsOf(goal)],
      [seen.tip, there],
    );
    if (from === null || to === null) {
      return;
    }
    const { width, height } = this.page.viewportSize();
    const inside = (at, size) => Math.max(2, Math.min(size - 2, at));
    this.pointer = [
      inside(this.pointer[0] - GAIN * (to[0] - from[0]), width),
      inside(this.pointer[1] - GAIN * (to[1] - from[1]), height),
    ];
    await this.page.mouse.move(...this.pointer, { steps: 2 });
  }

  /** Turns the wheel, m inwards. */
  async push(metres) {
    const pixels = Math.round(metres / PUSH_PER_PIXEL);
    if (pixels !== 0) {
      await this.page.mouse.wheel(0, -pixels);
    }
  }
}

/** Runs in the page. */
function lookAround() {
  const { scene, lastFrame, frames, task, finished } = window.trocar;
  const [px, py, pz, x, y, z, w] = lastFrame.instruments[0].shaft;
  const { jaw_length: jaw, trocar } = scene.instruments[0];
  // The third column of the rotation matrix: the shaft's +z.
  const tip = [
    px + jaw * 2 * (x * z + w * y),
    py + jaw * 2 * (y * z - w * x),
    pz + jaw * (1 - 2 * (x * x + y * y)),
  ];
  return {
    tip,
    trocar,
    frames,
    time: lastFrame.time,
    holding: lastFrame.instruments[0].grasped > 0,
    force: Math.hypot(...lastFrame.instruments[0].force),
    task,
    finished: finished ?? null,
  };
}

const plus = (a, b) => a.map((value, i) => value + b[i]);
const minus = (a, b) => a.map((value, i) => value - b[i]);
const times = (a, factor) => a.map((value) => factor * value);
const length = (a) => Math.hypot(...a);
