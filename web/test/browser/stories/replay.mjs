// The recording of the operation plays, stops, and goes to any moment.

import { checkAccess, keepPicture, must, PATIENCE, until } from "../browser.mjs";

export async function replay(world, check) {
  const { page, url } = world;
  if (!world.result) {
    return; // has failed already
  }

  const plays = await check("the replay plays", async () => {
    await page.goto(`${url}/result/${world.result.id}`);
    await page
      .getByRole("button", { name: /replay/i })
      .first()
      .click();
    await page.waitForURL("**/replay/**");
    await until(page, () => (window.trocar?.frames ?? 0) > 2);
    await fromTheStart(page);
    const begin = await time(page);
    await until(page, (then) => window.trocar.lastFrame.time > then + 1, begin);
    await keepPicture(page, "replay");
    await checkAccess(page);
    return `${begin.toFixed(1)} s to ${(await time(page)).toFixed(1)} s`;
  });
  if (!plays) {
    return;
  }

  await check("it stops, and goes to any moment", async () => {
    await fromTheStart(page);
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await until(page, () => window.trocar.lastFrame.paused);
    const slider = page.getByRole("slider", { name: "Time" });
    const { x, y, width, height } = await slider.boundingBox();
    const long = Number(await slider.getAttribute("max"));
    must(
      Math.abs(long - world.result.seconds) < 2,
      `it is ${long} s long, the operation took ${world.result.seconds} s`,
    );
    for (const share of [0.75, 0.25]) {
      await page.mouse.click(x + share * width, y + height / 2);
      await until(page, (wanted) => Math.abs(window.trocar.lastFrame.time - wanted) < 1.5, share * long);
    }
    const before = await time(page);
    await page.keyboard.press("ArrowRight");
    await until(page, (then) => window.trocar.lastFrame.time > then + 0.5, before);
    const goal = page.locator(".event-list button.goal").last();
    await goal.click();
    await until(page, (then) => window.trocar.lastFrame.time > then, before);
    await keepPicture(page, "replay-scrubbed");
  });

  await check("it shows the same operation", async () => {
    await page.keyboard.press("Home");
    await until(page, () => window.trocar.lastFrame.time < 0.5);
    await page.getByRole("radio", { name: "4 ×" }).check();
    await page.getByRole("button", { name: "Play", exact: true }).click();
    const before = await time(page);
    await until(page, (then) => window.trocar.lastFrame.time > then + 2, before);
    await page.getByRole("button", { name: "Free camera" }).click();
    await until(
      page,
      (least) => window.trocar.frames > least + 3,
      await page.evaluate(() => window.trocar.frames),
    );
    await keepPicture(page, "replay-free");
    // Every step is compared on the way: only at the end is it known.
    await page.getByRole("radio", { name: "8 ×" }).check();
    const play = page.getByRole("button", { name: "Play", exact: true });
    if (await play.isVisible()) {
      await play.click();
    }
    await until(page, () => window.trocar.lastFrame.atEnd, null, 3 * PATIENCE);
    await page.getByText("The end", { exact: true }).waitFor();
    await keepPicture(page, "replay-end");
    await checkAccess(page);
    const warnings = await page.locator(".replay-events .notice").allTextContents();
    must(warnings.length === 0, warnings.join(" "));
    return `${(await time(page)).toFixed(1)} s, the same to the end`;
  });
}

/** Plays from the start: on a slow machine it may be over before anything was looked at. */
async function fromTheStart(page) {
  await page.keyboard.press("Home");
  await until(page, () => window.trocar.lastFrame.time < 5);
  const play = page.getByRole("button", { name: "Play", exact: true });
  if (await play.isVisible()) {
    await play.click();
  }
}

function time(page) {
  return page.evaluate(() => window.trocar.lastFrame.time);
}
