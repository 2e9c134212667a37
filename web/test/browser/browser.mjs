// A real browser, what it complains about, and pictures of what it shows.

import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { checkOverPicture, known } from "./contrast.mjs";
import { must } from "./must.mjs";

export { must };

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
/** Software rendering beside an unoptimised simulation: patience, ms. */
export const PATIENCE = 60_000;
const PICTURES = fileURLToPath(new URL("../../../target/browser/", import.meta.url));
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
/**
 * What the browser says of its own software renderer, and of nothing we do: reading pixels back for a screenshot is
 * slow there, and it tells so.
 */
const OF_THE_BROWSER = /GPU stall due to ReadPixels|Automatic fallback to software WebGL|GroupMarkerNotSet/;

/** Launches the browser; undefined if none is installed. */
export async function launch() {
  const executablePath = BROWSERS.find((path) => path && existsSync(path));
  mkdirSync(PICTURES, { recursive: true });
  return executablePath && chromium.launch({ executablePath, args: ARGUMENTS });
}

/** A page of its own, with its own memory. `complaints` collects whatever should not be: errors, warnings, failed requests. */
export async function openPage(browser, { width, height }, complaints) {
  const context = await browser.newContext({ viewport: { width, height }, reducedMotion: "no-preference" });
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  watch(page, complaints);
  return page;
}

function watch(page, complaints) {
  const at = () => new URL(page.url(), "http://nowhere").pathname;
  page.on("pageerror", (error) => complaints.push(`${at()}: page error: ${error.message}`));
  page.on("console", (message) => {
    if (["error", "warning"].includes(message.type()) && !OF_THE_BROWSER.test(message.text())) {
      complaints.push(`${at()}: console ${message.type()}: ${message.text()}`);
    }
  });
  page.on("requestfailed", (request) => {
    // A page that is left gives up what it was still fetching.
    if (request.failure()?.errorText !== "net::ERR_ABORTED") {
      complaints.push(`${at()}: ${request.url()} failed: ${request.failure()?.errorText}`);
    }
  });
  page.on("response", (response) => {
    if (response.status() >= 400) {
      complaints.push(`${at()}: ${response.url()} answered ${response.status()}`);
    }
  });
}

/** Waits for a condition in the page. Polls by the clock: once a picture is slow where pictures are drawn in software. */
export function until(page, condition, argument, timeout = PATIENCE, polling = 50) {
  return page.waitForFunction(condition, argument, { polling, timeout });
}

/** Keeps a picture under target/browser/. */
export async function keepPicture(page, name) {
  const { width, height } = page.viewportSize();
  await page.screenshot({ path: `${PICTURES}${name}-${width}x${height}.png`, timeout: PATIENCE });
}

/** What share of two pictures of the same place has clearly other colours in the one than in the other. */
export function changed(page, before, after) {
  return page.evaluate(
    compare,
    [before, after].map((picture) => picture.toString("base64")),
  );
}

/** Runs in the page: it can read pictures, Node can't. */
async function compare(pictures) {
  const [before, after] = await Promise.all(
    pictures.map(async (picture) => {
      const bytes = Uint8Array.from(atob(picture), (letter) => letter.charCodeAt(0));
      const image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
      const brush = new OffscreenCanvas(image.width, image.height).getContext("2d");
      brush.drawImage(image, 0, 0);
      return brush.getImageData(0, 0, image.width, image.height).data;
    }),
  );
  let others = 0;
  for (let i = 0; i < before.length; i += 4) {
    others += [0, 1, 2].some((k) => Math.abs(after[i + k] - before[i + k]) > 32) ? 1 : 0;
  }
  return (4 * others) / before.length;
}

/** Throws if axe finds something serious: labels, roles, contrast, focus. Tells the least contrast over a picture. */
export async function checkAccess(page) {
  // Through the protocol, not a script element: the content policy rightly forbids those.
  const { violations, incomplete } = await page.evaluate(
    `(() => { ${AXE}; return axe.run(document, { resultTypes: ["violations", "incomplete"] }); })()`,
  );
  const grave = violations.filter(({ impact }) => impact === "serious" || impact === "critical");
  const words = grave.map(
    ({ id, help, nodes }) => `${id} (${help}) at ${nodes.map(({ target }) => target.join(" ")).join(", ")}`,
  );
  must(grave.length === 0, words.join("; "));
  // What axe can't judge, above all what lies over a picture, is computed here.
  const unsure = incomplete
    .filter(({ id }) => id === "color-contrast")
    .flatMap(({ nodes }) => nodes.map(({ target, any }) => ({ target: target.join(" "), ...any[0] })));
  for (const { target, message } of unsure) {
    must(await known(page, target), `the contrast of ${target} is too low or not known: ${message}`);
  }
  return checkOverPicture(page);
}

/** Throws if the page is wider than its window. */
export async function checkFits(page) {
  const excess = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  must(excess <= 0, `the page is ${excess} px too wide`);
}

/** Throws if what has the focus does not show it. */
export async function checkFocusSeen(page) {
  const seen = await page.evaluate(() => {
    const element = document.activeElement;
    if (element === null || element === document.body) {
      return "nothing has the focus";
    }
    const shows = (style) =>
      (style.outlineStyle !== "none" && Number.parseFloat(style.outlineWidth) >= 1) ||
      (style.content !== "none" && Number.parseFloat(style.borderTopWidth) >= 1);
    // A hidden radio button shows it on its label.
    const label = element.closest("label");
    return shows(getComputedStyle(element)) ||
      shows(getComputedStyle(element, "::after")) ||
      (label && shows(getComputedStyle(label)))
      ? null
      : element.outerHTML.slice(0, 120);
  });
  must(seen === null, `the focus can't be seen: ${seen}`);
}
