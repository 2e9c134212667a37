// The Lab: run, look inside, change, pull.

import { checkAccess, checkFits, keepPicture, must, until } from "../browser.mjs";
import { settle } from "./exercise.mjs";

const VIEWS = ["Nodes", "Elements", "Contacts", "Forces", "Anchors", "Frames", "Normals"];

export async function lab(world, check) {
  const { page, url } = world;

  await check("the Lab lists its scenes", async () => {
    await page.goto(`${url}/lab`);
    await page.getByRole("button", { name: /^Run/ }).first().waitFor();
    await settle(page);
    await keepPicture(page, "lab-list");
    await checkAccess(page);
    await checkFits(page);
    return `${await page.getByRole("button", { name: /^Run/ }).count()} scenes`;
  });

  const runs = await check("a scene runs, and tells its costs", async () => {
    await page.getByRole("button", { name: "Run Gall bladder", exact: true }).click();
    await page.waitForURL("**/lab/*");
    await until(page, () => (window.trocar?.frames ?? 0) > 5 && window.trocar.lastFrame.time > 0.3);
    await page.getByText(/One step/).waitFor();
    await checkAccess(page);
    await keepPicture(page, "lab");
  });
  if (!runs) {
    return;
  }

  await check("debug views come and go", async () => {
    for (const view of VIEWS) {
      await page.getByRole("checkbox", { name: view }).check();
    }
    await until(
      page,
      (least) => window.trocar.frames > least + 10,
      await page.evaluate(() => window.trocar.frames),
    );
    await keepPicture(page, "lab-views");
    await checkAccess(page);
    for (const view of VIEWS.slice(1)) {
      await page.getByRole("checkbox", { name: view }).uncheck();
    }
  });

  await check("the trees of boxes are seen level by level", async () => {
    await page.getByRole("checkbox", { name: "Boxes" }).check();
    await page.getByText(/\d+ in \d+ levels/).waitFor();
    const levels = page.getByRole("group", { name: /^Level of boxes/ });
    must((await levels.getByRole("radio").count()) > 1, "there is one level only");
    await levels.getByText("2", { exact: true }).click();
    await until(
      page,
      (least) => window.trocar.frames > least + 3,
      await page.evaluate(() => window.trocar.frames),
    );
    await keepPicture(page, "lab-boxes");
    await checkAccess(page);
    await page.getByRole("checkbox", { name: "Boxes" }).uncheck();
  });

  await check("a parameter is changed, refused, and reset", async () => {
    const field = page.getByRole("textbox", { name: /^gravity y/ });
    const before = await field.inputValue();
    await field.fill("-2");
    await field.press("Enter");
    const reset = page.getByRole("button", { name: "Reset all (1)" });
    await reset.waitFor();
    await field.fill("1e99");
    await field.press("Enter");
    await page.getByText(/Please give a number/).waitFor();
    await keepPicture(page, "lab-parameter");
    await reset.click();
    await page.getByRole("button", { name: "Reset all", exact: true }).waitFor();
    must(
      (await field.inputValue()) === before,
      `gravity is ${await field.inputValue()} after the reset, was ${before}`,
    );
  });

  await check("an integrator is chosen", async () => {
    const choice = page.getByRole("combobox", { name: "integrator" }).first();
    await choice.selectOption("modified Heun");
    await page.getByRole("button", { name: "Reset all (1)" }).click();
    await page.getByRole("button", { name: "Reset all", exact: true }).waitFor();
    must(
      (await choice.inputValue()) === "0",
      `the integrator is number ${await choice.inputValue()} after the reset`,
    );
  });

  await check("the mouse pulls on things", async () => {
    await page.getByRole("radio", { name: "Pulls" }).check();
    await until(
      page,
      (least) => window.trocar.frames > least + 3,
      await page.evaluate(() => window.trocar.frames),
    );
    const pulled = await pull(page);
    await keepPicture(page, "lab-pull");
    await page.mouse.up();
    must(pulled > 0.001, `what was pulled moved by ${(1000 * pulled).toFixed(2)} mm only`);
    return `${(1000 * pulled).toFixed(1)} mm`;
  });

  await check("time runs slowly, stops, and begins anew", async () => {
    await page.getByRole("radio", { name: "0.25" }).check();
    await page.getByRole("button", { name: "Pause", exact: true }).click();
    await until(page, () => window.trocar.lastFrame.paused);
    await page.getByRole("button", { name: "Go on" }).click();
    await until(page, () => !window.trocar.lastFrame.paused);
    const before = await page.evaluate(() => window.trocar.lastFrame.time);
    await page.getByRole("button", { name: "Restart" }).click();
    await until(page, (then) => window.trocar.lastFrame.time < then, before);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL("**/lab");
  });

  await check("the mouse drags a body, held by its joint and pushing others", async () => {
    await page.getByRole("button", { name: "Run Newton's cradle", exact: true }).click();
    await page.waitForURL("**/lab/*");
    await until(page, () => (window.trocar?.frames ?? 0) > 5 && window.trocar.lastFrame.time > 0.1);
    await page.getByRole("radio", { name: "0.25" }).check();
    await page.getByRole("radio", { name: "Pulls" }).check();
    // The middle one hardly moves by itself, and has others beside it.
    const place = (name = "ball 3") =>
      page.evaluate((name) => {
        const { scene, lastFrame } = window.trocar;
        return [...lastFrame.bodies[scene.bodies.findIndex((b) => b.name === name)].slice(0, 3)];
      }, name);
    const from = await place();
    const [x, y] = await page.evaluate((at) => window.trocar.pixelsOf(at), from);
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.getByText(/Pulling on .*ball 3/).waitFor();
    await page.mouse.move(x + 90, y - 60, { steps: 10 });
    const moved = async () => Math.hypot(...(await place()).map((v, k) => v - from[k]));
    for (let i = 0; i < 60 && (await moved()) < 0.03; i += 1) {
      await until(
        page,
        (least) => window.trocar.frames > least + 2,
        await page.evaluate(() => window.trocar.frames),
      );
    }
    const [way, now, next] = [await moved(), await place(), await place("ball 4")];
    await keepPicture(page, "lab-drag");
    await page.mouse.up();
    must(way > 0.03, `the ball was dragged by ${(1000 * way).toFixed(1)} mm only`);
    const rod = (at) => Math.hypot(...at.map((v, k) => v - PIVOT[k]));
    const stretched = Math.abs(rod(now) - rod(from));
    must(stretched < 1e-4, `its rod is ${(1000 * stretched).toFixed(2)} mm longer or shorter`);
    must(next[0] > from[0] + 0.1, "it went through the one beside it");
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL("**/lab");
    return `${(1000 * way).toFixed(0)} mm`;
  });

  await check("tissue lies in a bowl, and how deep is seen", async () => {
    await page.getByRole("button", { name: "Run Bowl", exact: true }).click();
    await page.waitForURL("**/lab/*");
    await until(page, () => (window.trocar?.frames ?? 0) > 5 && window.trocar.lastFrame.time > 0.8);
    await page.getByRole("checkbox", { name: "Depths" }).check();
    const deepest = page
      .locator("dt", { hasText: /^Deepest overlap$/ })
      .locator("xpath=following-sibling::dd[1]");
    await page.getByText(/\d+, [1-9]\d* overlap/).waitFor();
    const words = await deepest.innerText();
    const depth = Number.parseFloat(words);
    must(depth > 0 && depth < 1, `the sheet is ${words} deep in the bowl`);
    await keepPicture(page, "lab-depths");
    await checkAccess(page);
    await page.getByRole("checkbox", { name: "Depths" }).uncheck();
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL("**/lab");
    return words;
  });
}

/** Where the middle ball of the cradle is hung, m. */
const PIVOT = [0, 0.7, 0];

/** Tries the visible points of the tissues until the mouse has hold of one, and pulls. Returns how far it came, m. */
async function pull(page) {
  const places = await page.evaluate(() => {
    const { scene, lastFrame, pixelsOf } = window.trocar;
    return scene.tissues.flatMap((_, t) => {
      const positions = lastFrame.tissues[t];
      const middle = [0, 0, 0];
      for (let i = 0; i < positions.length; i += 1) {
        middle[i % 3] += (3 * positions[i]) / positions.length;
      }
      const at = pixelsOf(middle);
      return at ? [at] : [];
    });
  });
  const box = await page.locator(".operating-field").boundingBox();
  for (const [x, y] of places) {
    if (x < box.x + 30 || y < box.y + 30 || x > box.x + box.width - 30 || y > box.y + box.height - 30) {
      continue;
    }
    await page.mouse.move(x, y);
    await page.mouse.down();
    const picked = page.getByText(/Pulling on|Nothing is there/);
    await picked.waitFor();
    if (/Pulling/.test(await picked.textContent())) {
      await page.evaluate(() => {
        window.before = window.trocar.lastFrame.tissues.map((positions) => positions.slice());
      });
      await page.mouse.move(x + 60, y - 60, { steps: 10 });
      const moved = () => page.evaluate(farthestMove);
      for (let i = 0; i < 40 && (await moved()) < 0.003; i += 1) {
        await until(
          page,
          (least) => window.trocar.frames > least + 2,
          await page.evaluate(() => window.trocar.frames),
        );
      }
      return moved();
    }
    await page.mouse.up();
  }
  throw new Error(`none of ${places.length} tissues could be taken hold of`);
}

/** Runs in the page: how far any vertex is from where it was, m. */
function farthestMove() {
  let farthest = 0;
  window.trocar.lastFrame.tissues.forEach((now, t) => {
    const before = window.before[t];
    for (let i = 0; i < now.length; i += 3) {
      farthest = Math.max(
        farthest,
        Math.hypot(now[i] - before[i], now[i + 1] - before[i + 1], now[i + 2] - before[i + 2]),
      );
    }
  });
  return farthest;
}
