// Opens the page in a real browser and operates.
//
//   node test/smoke.mjs URL       against a running server
//   node test/smoke.mjs --fake    against the stand-in of fake-server.mjs, with the loss of the connection
//
// Screenshots go to target/browser/. CHROMIUM names the browser.

import { existsSync, mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { startFakeServer } from "./fake-server.mjs";

const BROWSERS = [
  process.env.CHROMIUM,
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
  "/Applications/Chromium.app/Contents/MacOS/Chromium",
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
  "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
];
const ARGUMENTS = [
  "--no-sandbox",
  "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader",
  "--disable-background-networking",
];
const PICTURES = fileURLToPath(new URL("../../target/browser/", import.meta.url));

/** Software rendering beside an unoptimised simulation: patience, ms. */
const PATIENCE = 60_000;
/** The tissue must give way by this much, m. */
const LEAST_DENT = 0.002;

const target = process.argv[2];
if (target === undefined) {
  console.error("usage: node test/smoke.mjs URL | --fake");
  process.exit(2);
}
const executablePath = BROWSERS.find((path) => path && existsSync(path));
if (executablePath === undefined) {
  console.error("no Chromium found: install it, or name it in CHROMIUM");
  process.exit(2);
}

let passed = 0;
let failed = 0;
async function check(promise, name) {
  try {
    const note = await promise();
    passed += 1;
    console.log(`ok      ${name}${note ? `: ${note}` : ""}`);
  } catch (error) {
    failed += 1;
    console.log(`FAILED  ${name}: ${error.message}`);
  }
}

function must(truth, sentence) {
  if (!truth) {
    throw new Error(sentence);
  }
}

mkdirSync(PICTURES, { recursive: true });
const fake = target === "--fake" ? await startFakeServer() : null;
const url = fake?.url ?? target;
const browser = await chromium.launch({ executablePath, args: ARGUMENTS });
const complaints = [];
const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
page.setDefaultTimeout(PATIENCE);
page.on("pageerror", (error) => complaints.push(`page error: ${error.message}`));
page.on("console", (message) => {
  if (message.type() === "error") {
    complaints.push(`console: ${message.text()}`);
  }
});

const frames = () => page.evaluate(() => window.trocar?.frames ?? 0);
// Polls by the clock: the usual way, once a picture, is slow where pictures are drawn in software.
const until = (condition, argument) => page.waitForFunction(condition, argument, { polling: 50 });
const framesAfter = (count) => until((least) => (window.trocar?.frames ?? 0) >= least, count);

await check(async () => {
  await page.goto(url);
  await framesAfter(5);
  const before = await frames();
  await framesAfter(before + 20);
  const time = await page.evaluate(() => window.trocar.lastFrame.time);
  await until((then) => window.trocar.lastFrame.time > then, time);
  return `${await frames()}, and simulated time passes`;
}, "frames arrive");

await check(async () => {
  const role = await page.evaluate(() => window.trocar.role);
  must(role === "controller", `the role is ${role}`);
}, "the first page holds the instrument");

await check(async () => {
  await page.evaluate(() => {
    window.before = window.trocar.lastFrame.tissues.map((positions) => positions.slice());
  });
  await page.screenshot({ path: `${PICTURES}start-1280x720.png` });
  const dent = await reachIntoTissue();
  must(dent > LEAST_DENT, `the tissue moved by ${(1000 * dent).toFixed(2)} mm at most`);
  return `${(1000 * dent).toFixed(1)} mm`;
}, "the tip moves the tissue");

await check(async () => {
  // A tool may close on nothing; a surgeon opens it and reaches again.
  let held = 0;
  for (let tries = 0; tries < 4 && held === 0; tries++) {
    if (tries > 0) {
      await page.mouse.up();
      await until(() => window.trocar.lastFrame.instruments[0].handle.jaw > 0.65);
      await reachIntoTissue();
    }
    await page.mouse.down();
    await until(() => {
      const { lastFrame, scene } = window.trocar;
      const [closed, open] = scene.instruments[0].limits.jaw;
      return lastFrame.instruments[0].handle.jaw < closed + 0.3 * (open - closed);
    });
    await framesAfter((await frames()) + 5);
    held = await page.evaluate(() => window.trocar.lastFrame.instruments[0].grasped);
  }
  await page.screenshot({ path: `${PICTURES}grasp-1280x720.png` });
  await page.mouse.up();
  must(held > 0 || fake, "the jaws closed four times and held nothing");
  return `${held} points held`;
}, "the left button closes the jaws");

await check(async () => {
  await page.keyboard.press("p");
  await until(() => window.trocar.lastFrame.paused);
  await page.locator("#paused").waitFor({ state: "visible" });
  await page.keyboard.press("p");
  await until(() => !window.trocar.lastFrame.paused);
}, "P pauses and goes on");

await check(async () => {
  await page.setViewportSize({ width: 1920, height: 1080 });
  await framesAfter((await frames()) + 10);
  await page.screenshot({ path: `${PICTURES}operate-1920x1080.png` });
  const fits = await page.evaluate(
    () =>
      document.documentElement.scrollWidth <= innerWidth &&
      document.documentElement.scrollHeight <= innerHeight,
  );
  must(fits, "the page scrolls");
  await page.setViewportSize({ width: 1280, height: 720 });
}, "the page fits two window sizes");

await check(async () => {
  const watcher = await browser.newPage({ viewport: { width: 640, height: 480 } });
  watcher.setDefaultTimeout(PATIENCE);
  await watcher.goto(url);
  await watcher.waitForFunction(() => window.trocar?.role === "viewer" && window.trocar.frames > 3);
  const says = await watcher.locator("#role").textContent();
  must(/watching/.test(says), `it says “${says}”`);
  await watcher.close();
}, "a second page watches");

if (fake) {
  await check(async () => {
    fake.drop(1500);
    await page.locator("#banner").waitFor({ state: "visible" });
    await page.screenshot({ path: `${PICTURES}lost-1280x720.png` });
    await page.locator("#banner").waitFor({ state: "hidden" });
    await framesAfter((await frames()) + 10);
    // The browser itself reports the refused connections; they are the point of this check.
    complaints.splice(
      0,
      complaints.length,
      ...complaints.filter((text) => !/WebSocket connection/.test(text)),
    );
  }, "a lost connection is said and mended");
}

await check(async () => {
  must(complaints.length === 0, complaints.join("; "));
}, "no error in the console");

await browser.close();
await fake?.close();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);

/** Points at the middle of a tissue and pushes in, tissue after tissue, until one gives way. Returns how far, m. */
async function reachIntoTissue() {
  const count = await page.evaluate(() => window.trocar.scene.tissues.length);
  let most = 0;
  for (let tissue = 0; tissue < count; tissue += 1) {
    // Well out first, so that the tip doesn't plough through what lies between.
    for (let notch = 0; notch < 10; notch += 1) {
      await page.mouse.wheel(0, 100);
    }
    for (let notch = 0; notch < 60; notch += 1) {
      const [x, y] = await page.evaluate(middleOnPage, tissue);
      // The pointer wanders a little, as a hand does: the page learns from it how the instrument turns.
      await page.mouse.move(x + 12 * Math.cos(notch), y + 8 * Math.sin(notch));
      if (notch >= 6) {
        await page.mouse.wheel(0, -100);
      }
      await framesAfter((await frames()) + 5);
      const dent = await page.evaluate(farthestMove);
      most = Math.max(most, dent);
      if (most > 1.5 * LEAST_DENT) {
        return most;
      }
    }
  }
  return most;
}

/** Runs in the page: where the middle of a tissue at rest appears, CSS pixels. */
function middleOnPage(tissue) {
  const { positions, vertices } = window.trocar.scene.tissues[tissue];
  const middle = [0, 0, 0];
  positions.forEach((value, i) => {
    middle[i % 3] += value / vertices;
  });
  return window.trocar.pixelsOf(middle);
}

/** Runs in the page: the farthest any vertex is both from rest and from where it hung before the touch, m. */
function farthestMove() {
  const { scene, lastFrame } = window.trocar;
  let farthest = 0;
  lastFrame.tissues.forEach((now, t) => {
    const rest = scene.tissues[t].positions;
    const before = window.before[t];
    for (let i = 0; i < now.length; i += 3) {
      const from = (p) => Math.hypot(now[i] - p[i], now[i + 1] - p[i + 1], now[i + 2] - p[i + 2]);
      farthest = Math.max(farthest, Math.min(from(rest), from(before)));
    }
  });
  return farthest;
}
