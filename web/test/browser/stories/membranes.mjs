// Membranes: a lens capsule is taken with forceps and torn, with nothing but the mouse.

import { keepPicture, must, until } from "../browser.mjs";
import { Hand } from "../hand.mjs";
import { settle } from "./exercise.mjs";

/** The forceps have an eighth of the usual shaft: the wheel pushes them by as much less. */
const FINENESS = 0.12;

/** Beside the cut, and around the circle from there, m. */
const FLAP = [0.0016, 0.0006, -0.0001];
const WAY = [
  [0.0014, 0.0011, 0.0009],
  [0.0009, 0.0016, 0.001],
  [0.0002, 0.0019, 0.001],
  [-0.0007, 0.0018, 0.001],
];

export async function membranes(world, check) {
  if (!world.first) {
    return;
  }
  const { page, url } = world;

  const runs = await check("a lens capsule lies under forceps and a cystotome", async () => {
    await page.goto(`${url}/lab`);
    await page.getByRole("button", { name: /^Run/ }).first().waitFor();
    await settle(page);
    await page.getByRole("button", { name: "Run Capsulorhexis with forceps", exact: true }).click();
    await page.waitForURL("**/lab/*");
    await until(page, () => (window.trocar?.frames ?? 0) > 5 && window.trocar.lastFrame.time > 0.1);
    await page.getByRole("textbox", { name: /^tip tears at/ }).waitFor();
    await keepPicture(page, "capsule");
  });
  if (!runs) {
    return;
  }

  await check("the mouse takes its flap with the forceps and tears it", async () => {
    const hand = new Hand(page, FINENESS);
    const vertices = () => page.evaluate(() => window.trocar.lastFrame.tissues[0].length / 3);
    const whole = await vertices();
    const slow = { near: 1e-4, speed: 0.004, patience: 15_000 };
    await hand.reach(() => [FLAP[0], FLAP[1], 0.001], slow);
    let seen = await hand.look();
    for (let deeper = 0; deeper < 4 && !seen.holding; deeper += 1) {
      await hand.open();
      await hand.reach(() => [FLAP[0], FLAP[1], FLAP[2] - 1e-4 * deeper], slow);
      await hand.close();
      seen = await hand.look();
    }
    must(seen.holding, `the forceps hold nothing at ${seen.tip.map((x) => (1000 * x).toFixed(2))} mm`);
    for (const point of WAY) {
      await hand.reach(() => point, slow);
    }
    await keepPicture(page, "capsule-torn");
    const torn = await vertices();
    await page.mouse.up();
    must(torn > whole, `it has ${torn} vertices, as before`);
    return `${torn - whole} vertices more`;
  });

  await check("the cystotome is held instead", async () => {
    await page.locator(".operating-field").focus();
    await page.keyboard.press("2");
    // Its tip is on the other side.
    await until(page, () => window.trocar.tip[0] < 0);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL("**/lab");
  });
}
