// A hand on a real mouse: it sees where the tip is in the picture and moves until the tip is where it should be.
// Nothing goes past the page: only the pointer, the wheel and the button.

import { PATIENCE, until } from "./browser.mjs";

/** What a notch of 100 px pushes is the page's business; this is how the hand guesses it, m/px. */
const PUSH_PER_PIXEL = 3e-5;
/** No longer than this passes between two glances, s, however slow the pictures are: a steady hand. */
const GLANCE = 0.3;
/** Share of the error in the picture that is made good when the tip rests beside its place. */
const TRIM = 0.4;

export class Hand {
  /** `fineness` is by how much less than a usual instrument the wheel pushes. */
  constructor(page, fineness = 1) {
    this.page = page;
    this.pushPerPixel = fineness * PUSH_PER_PIXEL;
    /** What the pointer has to be off so that the tip is right, px. */
    this.trim = [0, 0];
    /** How far the wheel has asked the tip to be from the trocar, m; null until the hand has taken the instrument up. */
    this.reached = null;
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

  /** Waits until a few frames more have come. */
  async wait(frames = 3) {
    const { frames: now } = await this.look();
    await until(
      this.page,
      (least) => !window.trocar || window.trocar.frames >= least,
      now + frames,
      undefined,
      10,
    );
  }

  async close() {
    await this.page.mouse.down();
    await this.jaws(([closed, open], jaw) => jaw < closed + 0.1 * (open - closed));
  }

  async open() {
    await this.page.mouse.up();
    await this.jaws(([closed, open], jaw) => jaw > closed + 0.6 * (open - closed));
  }

  /** Waits for the jaws; they close no further than what is between them lets them. */
  async jaws(done) {
    for (let before = Number.NaN; ; ) {
      await this.wait(3);
      const { jaw, jawLimits, holding, finished } = await this.look();
      if (finished || done(jawLimits, jaw) || (holding && Math.abs(jaw - before) < 1e-3)) {
        return;
      }
      before = jaw;
    }
  }

  /**
   * Brings the tip to `target`, m, a function of what is seen; `along` metres short of it (negative: beyond it), seen
   * from the trocar; no faster than `speed`, m/s of simulated time. Ends when it is within `near`, when `enough(seen)`
   * says so, or when it has come no nearer for `patience` ms: then something is in the way, and the caller sees.
   */
  async reach(target, { near, along = 0, speed, enough = () => false, patience = PATIENCE }) {
    let nearest = Number.POSITIVE_INFINITY;
    let end = Date.now() + patience;
    let before = await this.look();
    let point = before.tip;
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
      const ahead = minus(wanted, point);
      const step = speed * Math.min(GLANCE, Math.max(0.02, seen.time - before.time));
      if (length(ahead) > step) {
        point = plus(point, times(ahead, step / length(ahead)));
      } else {
        point = wanted;
        await this.correct(seen, before, wanted);
      }
      before = seen;
      if (this.reached === null) {
        // First to where the pointer holds the tip still, or the tip would jump.
        await this.swing(seen.tip);
        await this.wait(1);
        this.reached = length(minus(seen.tip, seen.trocar));
      }
      await this.move(point, seen);
    }
  }

  /** A step of the tip to `point`: pointer and wheel in the same picture, or the tip would go zigzag. */
  async move(point, seen) {
    const at = await this.pointerFor(point);
    await Promise.all([this.push(length(minus(point, seen.trocar)) - this.reached), this.point(at)]);
    await this.wait(2);
  }

  /** The tip rests, but beside its place: the pointer is trimmed, the other way than the tip has to go. */
  async correct(seen, before, wanted) {
    if (length(minus(seen.tip, before.tip)) > 3e-4) {
      return;
    }
    this.reached = length(minus(seen.tip, seen.trocar));
    const away = minus(wanted, seen.trocar);
    const there = plus(seen.trocar, times(away, this.reached / length(away)));
    const [is, should] = await this.page.evaluate(
      (points) => points.map((point) => window.trocar.pixelsOf(point)),
      [seen.tip, there],
    );
    if (is && should) {
      this.trim = this.trim.map((off, k) => Math.max(-150, Math.min(150, off - TRIM * (should[k] - is[k]))));
    }
  }

  /** Moves the pointer to where it holds the tip at `point`. */
  async swing(point) {
    await this.point(await this.pointerFor(point));
  }

  /** Where the pointer holds the tip at `point`: through a trocar, the other way. Null if that is behind the eye. */
  pointerFor(point) {
    return this.page.evaluate((goal) => window.trocar.pointerFor(goal), point);
  }

  async point(at) {
    if (at !== null) {
      const { width, height } = this.page.viewportSize();
      const inside = (place, size) => Math.max(2, Math.min(size - 2, place));
      await this.page.mouse.move(inside(at[0] + this.trim[0], width), inside(at[1] + this.trim[1], height));
    }
  }

  /** Turns the wheel, m inwards. */
  async push(metres) {
    const pixels = Math.round(metres / this.pushPerPixel);
    if (pixels !== 0) {
      this.reached += pixels * this.pushPerPixel;
      await this.page.mouse.wheel(0, -pixels);
    }
  }
}

/** Runs in the page. */
function lookAround() {
  const { scene, lastFrame, frames, task, finished, tip } = window.trocar;
  const [{ trocar, limits }] = scene.instruments;
  const [instrument] = lastFrame.instruments;
  return {
    tip,
    trocar,
    frames,
    time: lastFrame.time,
    jaw: instrument.handle.jaw,
    jawLimits: limits.jaw,
    holding: instrument.grasped > 0,
    force: Math.hypot(...instrument.force),
    task,
    finished: finished ?? null,
  };
}

const plus = (a, b) => a.map((value, i) => value + b[i]);
const minus = (a, b) => a.map((value, i) => value - b[i]);
const times = (a, factor) => a.map((value) => factor * value);
const length = (a) => Math.hypot(...a);
