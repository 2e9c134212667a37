// Works through an exercise by what the page shows: the mark whose turn it is says where, its kind says what.

import { must, PATIENCE } from "./browser.mjs";

/** The hand first stops this far before the spot, m. */
const STAND_OFF = 0.015;
/** Then it goes over the spot by this much, m; a little more at every further attempt. */
const OVER = 0.004;
const MORE = 0.001;
/** Attempts to grasp, one after the other. */
const TRIES = 5;
/** What is done at most: goals, and what has to be done again. */
const MOST_DEEDS = 12;
/** Speeds of the tip, m/s of simulated time: on the way, near tissue, with tissue. */
const [QUICK, CLOSE, GENTLE] = [0.03, 0.012, 0.02];

/** Operates until the exercise is over. `moment(name)` is called at what is worth a picture. Tells what was done. */
export async function operate(hand, moment) {
  const deeds = [];
  for (;;) {
    const seen = await hand.look();
    if (seen.finished) {
      return deeds;
    }
    must(seen.task, "the page knows of no task");
    if (seen.task.goal >= seen.task.goals) {
      await hand.wait(1); // the score is on its way
      continue;
    }
    must(deeds.length < MOST_DEEDS, `it goes on and on: ${deeds.join(", ")}`);
    deeds.push(seen.task.title);
    const { goal } = seen.task;
    const reached = (now) => now.finished !== null || now.task.goal !== goal;
    if (markOf(seen)?.kind === "spot") {
      await grasp(hand, reached);
      await moment("grasp");
    } else if (/let go|open the jaws/i.test(`${seen.task.title} ${seen.task.instruction}`)) {
      await release(hand, reached);
    } else {
      await carry(hand, reached, moment);
    }
  }
}

/** To the marked spot from the trocar's side, over it, and closed. */
async function grasp(hand, reached) {
  const spot = (now) => markOf(now)?.position ?? now.tip;
  for (let attempt = 0; attempt < TRIES; attempt += 1) {
    await hand.open();
    await hand.reach(spot, { along: STAND_OFF, near: 0.003, speed: QUICK });
    // Tissue gives way: when the tip does not come nearer any more, that is near enough.
    await hand.reach(spot, { along: -(OVER + attempt * MORE), near: 0.0012, speed: CLOSE, patience: 15_000 });
    await hand.close();
    if (await hand.sees(reached, 4000)) {
      return;
    }
    await hand.open();
    await hand.reach(spot, { along: STAND_OFF, near: 0.004, speed: QUICK });
  }
  throw new Error(`the jaws closed ${TRIES} times at the mark and did not hold what they should`);
}

/** What is held goes into the ball, and stays there until that is enough. */
async function carry(hand, reached, moment) {
  const lost = (now) => reached(now) || !now.holding;
  const end = Date.now() + 2 * PATIENCE;
  let kept = false;
  while (!lost(await hand.look())) {
    must(Date.now() < end, "what is held does not stay in the ball");
    await hand.reach(intoBall(), { near: 0.0015, speed: GENTLE, enough: lost });
    if (!kept) {
      kept = true;
      await moment("lift");
    }
    await hand.sees(lost, 5000);
  }
}

/** Into the ball, at rest, open. */
async function release(hand, reached) {
  const lost = (now) => reached(now) || !now.holding;
  await hand.reach(intoBall(), { near: 0.002, speed: GENTLE, enough: lost });
  await hand.wait(6);
  await hand.open();
  await hand.sees(reached, 5000);
}

/** Where the tip has to go so that what it holds comes into the middle of the ball: an arrow shows where that is now. */
function intoBall() {
  let before = [0, 0, 0]; // from what is held to the tip
  return (now) => {
    const held = now.task.marks.find(({ kind }) => kind === "arrow")?.position;
    if (held) {
      before = now.tip.map((value, k) => value - held[k]);
    }
    const ball = markOf(now);
    return ball ? ball.position.map((value, k) => value + before[k]) : now.tip;
  };
}

/** The mark whose turn it is. */
function markOf(seen) {
  return (seen.task?.marks ?? []).find(({ state, kind }) => state !== "next" && kind !== "arrow") ?? null;
}
