// A profile, the exercise, the score, the debrief, the list of results.

import { checkAccess, checkFits, checkFocusSeen, keepPicture, must, until } from "../browser.mjs";
import { checkOverPicture } from "../contrast.mjs";
import { Hand } from "../hand.mjs";
import { operate } from "../surgeon.mjs";

export const NAME = "Ada Test";
/**
 * So often the exercise is tried until it is passed. Three or four pictures a second, all that a busy machine draws in
 * software, let pointer and wheel come apart by half a second: a run scores 64 to 80 points then, and 65 are a pass.
 */
const RUNS = 3;

export async function exercise(world, check) {
  const { page, url } = world;

  const known = await check("a profile is made, or chosen", async () => {
    await page.goto(url);
    await page.getByLabel("Your name").or(page.getByText("Who operates?")).first().waitFor();
    await settle(page);
    await keepPicture(page, "home-first");
    await checkAccess(page);
    await chooseProfile(page);
    await page.goto(url);
    await page.getByRole("heading", { level: 1, name: new RegExp(NAME) }).waitFor();
    await settle(page);
    await keepPicture(page, "home");
    await checkAccess(page);
    await checkFits(page);
  });
  if (!known) {
    return;
  }

  await check("the exercise says what to do", async () => {
    await page
      .getByRole("link", { name: /Grasp and lift/ })
      .first()
      .click();
    await page.getByRole("radio", { name: /Easy/ }).check();
    await settle(page);
    await keepPicture(page, "brief");
    await checkAccess(page);
    await checkFits(page);
  });

  const waits = await check("the operation waits for Start", async () => {
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).waitFor();
    await until(page, () => (window.trocar?.frames ?? 0) > 3);
    const role = await page.evaluate(() => window.trocar.role);
    must(role === "controller", `the role is ${role}`);
    await keepPicture(page, "briefing");
    await checkAccess(page);
    const time = await page.evaluate(() => window.trocar.task.elapsed);
    must(time < 0.5, `${time} s have passed already`);
  });
  if (!waits) {
    return;
  }

  await check("help, settings and pause are in reach of the keys", async () => {
    await page.keyboard.press("Enter"); // Start has the focus
    await until(page, () => !window.trocar.lastFrame.paused && window.trocar.task.elapsed > 0.2);
    await page.keyboard.press("?");
    await page.getByRole("heading", { name: "How to operate" }).waitFor();
    await until(page, () => window.trocar.lastFrame.paused);
    await keepPicture(page, "help");
    await checkAccess(page);
    await page.keyboard.press("Escape");
    await until(page, () => !window.trocar.lastFrame.paused);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Paused" }).waitFor();
    await until(page, () => window.trocar.lastFrame.paused);
    await checkFocusSeen(page);
    await keepPicture(page, "paused");
    await page.getByRole("dialog").getByRole("button", { name: "Settings" }).click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await keepPicture(page, "settings");
    await checkAccess(page);
    await page.keyboard.press("Escape");
    await page.getByRole("heading", { name: "Paused" }).waitFor();
    await page.keyboard.press("Escape");
    await until(page, () => !window.trocar.lastFrame.paused);
    const contrast = await checkAccess(page);
    must(contrast !== null, "nothing is written over the picture");
    return `words over the picture have a contrast of ${contrast.toFixed(1)} or more, whatever it shows`;
  });

  const operated = await check("the mouse grasps, lifts, holds, lowers, lets go, and passes", async () => {
    const told = [];
    for (;;) {
      const goals = await operate(new Hand(page), async (moment) => {
        await keepPicture(page, `operate-${moment}`);
        await checkOverPicture(page);
      });
      const { score, passed } = await page.evaluate(() => window.trocar.finished);
      told.push(`${goals.join(", ")}: ${score.toFixed(0)} points`);
      if (passed || told.length === RUNS) {
        return told.join("; once more: ");
      }
      await page.getByRole("button", { name: "Once more" }).click();
      await until(page, () => !window.trocar.finished && (window.trocar.lastFrame?.time ?? 9) < 5);
    }
  });
  if (!operated) {
    return;
  }

  await check("the score is shown and kept", async () => {
    const finished = await until(page, () => window.trocar?.finished ?? null).then((handle) =>
      handle.jsonValue(),
    );
    await page.getByRole("button", { name: "See the debrief" }).waitFor();
    await keepPicture(page, "finished");
    await checkAccess(page);
    must(finished.problem === null, `the result could not be kept: ${finished.problem}`);
    const kept = await ask(`${url}/api/results/${finished.result}`);
    must(kept.ending === "completed", `its ending is ${kept.ending}`);
    must(Math.abs(kept.score - finished.score) < 0.01, `${kept.score} is kept, ${finished.score} was said`);
    must(kept.passed && finished.passed, `it was not passed: ${costs(kept)}`);
    must(kept.profile_name === NAME, `it belongs to ${kept.profile_name}`);
    must(kept.trace.time.length > 50, "its trace is empty");
    must(kept.has_recording, "it has no recording");
    world.result = kept;
    return `${kept.score.toFixed(1)} points, ${kept.passed ? "passed" : "not passed"}, ${kept.seconds.toFixed(0)} s`;
  });

  await check("the debrief opens by Enter", async () => {
    await page.keyboard.press("Enter"); // the way to the debrief has the focus
    await page.waitForURL(`**/result/${world.result.id}`);
    await page
      .getByRole("img", { name: new RegExp(`^${Math.round(world.result.score)} of 100`) })
      .first()
      .waitFor();
    await settle(page);
    await keepPicture(page, "debrief");
    await checkAccess(page);
    await checkFits(page);
  });

  await check("the result is among the results", async () => {
    await page.getByRole("link", { name: "Results", exact: true }).first().click();
    await page.locator(`a[href="/result/${world.result.id}"]`).first().waitFor();
    await settle(page);
    await keepPicture(page, "results");
    await checkAccess(page);
    await checkFits(page);
  });
}

/** Score and what it lacks, part by part. */
function costs({ score, parts }) {
  const lacking = parts.filter(({ points, most }) => points < most);
  const words = lacking.map(({ id, points, most }) => `${id} ${points.toFixed(0)} of ${most}`);
  return `${score.toFixed(1)} points, ${words.join(", ")}`;
}

/** The first time it is made, afterwards it is there to be chosen. */
async function chooseProfile(page) {
  const first = page.getByLabel("Your name");
  const mine = page.getByRole("button", { name: new RegExp(`^${NAME}`) });
  if (await first.isVisible()) {
    await first.fill(NAME);
    await page.getByRole("button", { name: "Begin" }).click();
    await page.waitForURL("**/exercise/**");
  } else if ((await mine.count()) > 0) {
    await mine.first().click();
  } else {
    await page.getByLabel("Somebody new").fill(NAME);
    await page.getByRole("button", { name: "Add" }).click();
    await page.getByRole("heading", { level: 1, name: new RegExp(NAME) }).waitFor();
  }
}

/** Waits for what a page still draws: skeletons gone, pictures there. */
export async function settle(page) {
  await until(page, () => document.querySelector(".skeleton") === null);
}

export async function ask(address, options) {
  const response = await fetch(address, options);
  must(response.ok, `${address} answered ${response.status}`);
  return response.status === 204 ? null : response.json();
}
