// Without a mouse: keys alone, and a gamepad.

import { checkFocusSeen, keepPicture, must, openPage, until } from "../browser.mjs";
import { ask } from "./exercise.mjs";

export async function hands(world, check) {
  if (!world.first) {
    return; // the size of the window makes no difference to these
  }
  const { page, url } = world;

  await check("keys alone start an exercise, operate, and leave", async () => {
    await page.goto(url);
    await page
      .getByRole("link", { name: /Grasp and lift/ })
      .first()
      .waitFor();
    await tabTo(page, /Grasp and lift/);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/exercise/**");
    await page.getByRole("button", { name: "Start", exact: true }).waitFor();
    await tabTo(page, /^Start$/);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/operate/**");
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).waitFor();
    await page.keyboard.press("Enter");
    await until(page, () => window.trocar?.lastFrame && !window.trocar.lastFrame.paused);
    const before = await handle(page);
    await page.keyboard.down("ArrowRight");
    await until(
      page,
      (then) =>
        Math.abs(window.trocar.lastFrame.instruments[0].handle.yaw - then.yaw) > 0.02 ||
        Math.abs(window.trocar.lastFrame.instruments[0].handle.pitch - then.pitch) > 0.02,
      before,
    );
    await page.keyboard.up("ArrowRight");
    await page.keyboard.down("KeyW");
    await until(
      page,
      (then) => window.trocar.lastFrame.instruments[0].handle.depth > then.depth + 0.003,
      before,
    );
    await page.keyboard.up("KeyW");
    await page.keyboard.down("Space");
    await until(page, (then) => window.trocar.lastFrame.instruments[0].handle.jaw < then.jaw - 0.2, before);
    await page.keyboard.up("Space");
    await page.keyboard.press("p");
    await page.getByRole("heading", { name: "Paused" }).waitFor();
    await tabTo(page, /^Leave$/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Leave?" }).waitFor();
    await checkFocusSeen(page);
    await page.keyboard.press("Enter");
    await page.waitForURL("**/exercise/**");
    // What was left is kept, and said to be so.
    const [newest] = await ask(`${url}/api/results`);
    must(newest.ending === "broken_off" || newest.ending === "given_up", `it is kept as ${newest.ending}`);
  });

  await check("a gamepad operates", async () => {
    const other = await openPage(world.browser, world.size, world.complaints);
    await other.addInitScript(() => {
      const pad = {
        id: "Test pad",
        index: 0,
        connected: true,
        mapping: "standard",
        timestamp: 0,
        axes: [0, 0, 0, 0],
        buttons: Array.from({ length: 17 }, () => ({ pressed: false, touched: false, value: 0 })),
      };
      window.pad = pad;
      navigator.getGamepads = () => [pad];
    });
    const scenes = await ask(`${url}/api/scenes`);
    const scene = scenes.find(({ instruments }) => instruments > 0);
    must(scene, "no scene has an instrument");
    const operation = await ask(`${url}/api/operations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "lab", scene: scene.id }),
    });
    await other.goto(`${url}/lab/${operation.id}`);
    await until(other, () => window.trocar?.role === "controller" && window.trocar.frames > 3);
    const before = await handle(other);
    await other.evaluate(() => {
      window.pad.axes[0] = 0.8;
      window.pad.buttons[7] = { pressed: true, touched: true, value: 1 };
    });
    await until(
      other,
      (then) => {
        const { yaw, pitch, jaw } = window.trocar.lastFrame.instruments[0].handle;
        return Math.hypot(yaw - then.yaw, pitch - then.pitch) > 0.02 && jaw < then.jaw - 0.2;
      },
      before,
    );
    await other.evaluate(() => {
      window.pad.axes[0] = 0;
    });
    await other.context().close();
  });

  await check("somebody else can watch", async () => {
    const scenes = await ask(`${url}/api/scenes`);
    await page.goto(`${url}/lab`);
    await page.getByRole("button", { name: new RegExp(`^Run ${scenes[0].name}`) }).click();
    await page.waitForURL("**/lab/*");
    await until(page, () => window.trocar?.role === "controller");
    const watcher = await openPage(world.browser, { width: 900, height: 640 }, world.complaints);
    await watcher.goto(`${url}/watch`);
    await watcher.getByRole("link", { name: /watch/i }).last().waitFor();
    await keepPicture(watcher, "watch");
    await watcher.goto(`${page.url()}?watch=1`);
    await until(watcher, () => window.trocar?.role === "viewer" && window.trocar.frames > 3);
    await watcher.getByText("You are watching").waitFor();
    await keepPicture(watcher, "lab-watching");
    await watcher.context().close();
  });

  await check("settings are remembered", async () => {
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("radio", { name: "Large" }).check();
    await page.getByRole("switch", { name: "High contrast" }).check();
    await page.getByRole("button", { name: "Done" }).click();
    await page.reload();
    await until(page, () => (window.trocar?.frames ?? 0) > 3);
    const kept = await page.evaluate(() => ({ ...document.documentElement.dataset }));
    must(kept.hud === "large" && kept.contrast === "high", `they are ${JSON.stringify(kept)}`);
    await keepPicture(page, "lab-high-contrast");
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("button", { name: "Reset to defaults" }).click();
    await page.getByRole("button", { name: "Done" }).click();
    must(
      (await page.evaluate(() => document.documentElement.dataset.hud)) === "medium",
      "the reset does nothing",
    );
  });
}

/** Presses Tab until what has the focus is called `name`; on the way everything must show its focus. */
async function tabTo(page, name) {
  for (let presses = 0; presses < 80; presses += 1) {
    await page.keyboard.press("Tab");
    const text = await page.evaluate(() => {
      const element = document.activeElement;
      return element && element !== document.body
        ? (element.getAttribute("aria-label") ?? element.textContent ?? "")
        : null;
    });
    if (text === null) {
      continue; // the browser's own controls come after the last
    }
    await checkFocusSeen(page);
    if (name.test(text.trim())) {
      return;
    }
  }
  throw new Error(`80 times Tab did not come to ${name}`);
}

function handle(page) {
  return page.evaluate(() => ({ ...window.trocar.lastFrame.instruments[0].handle }));
}
