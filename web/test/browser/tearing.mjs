// Tears a capsule along a circle by what is seen of it: the flap is taken ahead of the tip of the tear and led around
// and inwards, and taken anew. The hand looks where the tip is, as a surgeon does, and draws farther inwards where the
// tear is outside: a fixed way of the hand would show how lucky its numbers are.

import { must } from "./must.mjs";
import { distance } from "./sheet.mjs";

/** The flap is taken this far ahead of the tip, rad, and this far from the middle, m. */
const AHEAD = 0.35;
const INSIDE = 0.0014;
/** How deep the jaws go below the flap before they close, m, and how much deeper at every further attempt. */
const BELOW = 5e-5;
const DEEPER = 1e-4;
const TRIES = 4;
/** A grip leads the flap around in steps of this, rad, and no farther than this: beyond, it would only draw. */
const STEP = 0.05;
const LONGEST = 1.9;
/** A grip is good for so much of a tear, rad: then the tip is too far from the jaws to be led well. */
const WORTH = 0.5;
/** How high the flap is lifted, m, and after how much of the way, rad. */
const HEIGHT = 0.001;
const LIFTED = 0.3;
/** How much nearer to the middle the hand comes, m/rad. */
const INWARDS = 3e-4;
/** No more than this of what the tear is beside the circle is answered, m. */
const ANSWER = 3e-4;
/** On the way, near the capsule, and with it: a quick hand tears where it does not look. */
const QUICK = { near: 2e-4, speed: 0.01, patience: 5000 };
const CLOSE = { near: 1e-4, speed: 0.005, patience: 3000 };
const STEADY = { near: 1.5e-4, speed: 0.0015, patience: 2000 };

export class Tearing {
  /** Of a `sheet` around its middle, at `radius` m, from `tip` on: where the tear ends at rest. */
  constructor(hand, sheet, radius, tip) {
    Object.assign(this, { hand, sheet, radius, tip });
  }

  /** How far round the tear has come, rad. */
  get round() {
    return angleOf(this.tip);
  }

  /** Until it is farther round than `far`, rad, or so many grips are over; the last still holds. Tells their number. */
  async tear(far, most) {
    for (let grips = 1; ; grips += 1) {
      const from = await this.take();
      await this.lead(from, far);
      if (this.round > far || grips === most) {
        return grips;
      }
      await this.letGo();
    }
  }

  /** Takes the flap ahead of the tip. Tells where. */
  async take() {
    const { hand, sheet } = this;
    await this.follow();
    const flap = around(this.round + AHEAD, INSIDE, 0);
    await hand.reach(() => above(sheet.place(flap), HEIGHT), QUICK);
    for (let attempt = 0; attempt < TRIES; attempt += 1) {
      await hand.open();
      await sheet.look();
      const at = above(sheet.place(flap), -BELOW - DEEPER * attempt);
      await hand.reach(() => at, CLOSE);
      await hand.close();
      const { holding, tip } = await hand.look();
      if (holding) {
        return tip;
      }
    }
    const { tip } = await hand.look();
    throw new Error(`the forceps hold nothing at ${tip.map((x) => (1000 * x).toFixed(2))} mm`);
  }

  /** Leads what is held around from where it was taken: as far as this grip is good for, or has to. */
  async lead(from, far) {
    const { hand } = this;
    const [angle, start, begin] = [angleOf(from), Math.hypot(from[0], from[1]), this.round];
    const lost = ({ holding }) => !holding;
    for (let led = STEP; led < LONGEST && this.round - begin < WORTH && this.round <= far; led += STEP) {
      const lifted = Math.min(1, led / LIFTED);
      const outside = Math.hypot(this.tip[0], this.tip[1]) - this.radius;
      const answer = Math.max(-ANSWER, Math.min(ANSWER, outside));
      const goal = around(angle + led, start - INWARDS * led - lifted * answer, lifted * HEIGHT);
      const seen = await hand.reach(() => goal, { ...STEADY, enough: lost });
      await this.follow();
      if (lost(seen)) {
        return;
      }
    }
  }

  /** Looks where the tip has gone: of several it is the one that is nearest to where it was. */
  async follow() {
    await this.sheet.look();
    const away = (vertex) => distance(this.sheet.atRest(vertex), this.tip);
    const [next] = this.sheet.tips.sort((a, b) => away(a) - away(b));
    must(next !== undefined, "the tear has no tip any more");
    this.vertex = next;
    this.tip = this.sheet.atRest(next);
  }

  async letGo() {
    await this.hand.open();
    const { tip } = await this.hand.look();
    await this.hand.reach(() => above(tip, HEIGHT), QUICK);
  }
}

const around = (angle, radius, height) => [radius * Math.cos(angle), radius * Math.sin(angle), height];
const angleOf = ([x, y]) => Math.atan2(y, x);
const above = ([x, y, z], height) => [x, y, z + height];
