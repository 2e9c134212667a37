// Uses Trocar as people do, in a real browser, at two window sizes: a profile, an exercise that is really operated
// with the mouse, its score, its replay, what is kept of it, the Lab, keyboard, gamepad, accessibility.
//
//   node test/browser/operate.mjs PROGRAM     starts the program with a data folder of its own
//   node test/browser/operate.mjs URL         against a running server
//
// Screenshots go to target/browser/. CHROMIUM names the browser; TROCAR the program, if no argument does.

import { keepPicture, launch, must, openPage } from "./browser.mjs";
import { startServer } from "./server.mjs";
import { ask, exercise } from "./stories/exercise.mjs";
import { hands } from "./stories/hands.mjs";
import { lab } from "./stories/lab.mjs";
import { membranes } from "./stories/membranes.mjs";
import { others } from "./stories/others.mjs";
import { pace } from "./stories/pace.mjs";
import { replay } from "./stories/replay.mjs";
import { farewell, results } from "./stories/results.mjs";

const SIZES = [
  { width: 1280, height: 720 },
  { width: 1920, height: 1080 },
];

const which = process.argv[2] ?? process.env.TROCAR;
if (which === undefined) {
  console.error("usage: node test/browser/operate.mjs PROGRAM | URL");
  process.exit(2);
}
const browser = await launch();
if (browser === undefined) {
  console.error("no Chromium found: install it, or name it in CHROMIUM");
  process.exit(2);
}
const server = await startServer(which);

let passed = 0;
let failed = 0;
for (const size of SIZES) {
  const complaints = [];
  const page = await openPage(browser, size, complaints);
  /** What one story leaves for the next. */
  const world = { url: server.url, browser, page, size, complaints, first: size === SIZES[0] };
  /** Does a deed, and tells whether it went well. */
  const check = async (name, deed) => {
    const began = Date.now();
    const label = `${size.width}×${size.height}  ${name}`;
    const spent = () => `${((Date.now() - began) / 1000).toFixed(1)} s`;
    try {
      const note = await deed();
      passed += 1;
      console.log(`ok      ${label}${note ? `: ${note}` : ""} (${spent()})`);
      return true;
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${label}: ${error.message.split("\n").slice(0, 3).join(" ")} (${spent()})`);
      await keepPicture(world.page, `failed-${failed}`).catch(() => {});
      return false;
    }
  };
  const well = await check("the server is well", async () => {
    const health = await ask(`${server.url}/api/health`);
    must(health.status === "ok" && health.keeps, JSON.stringify(health));
  });
  for (const story of well
    ? [exercise, replay, results, lab, membranes, hands, others, pace, farewell]
    : []) {
    await story(world, check);
  }
  await check("no error, warning or failed request anywhere", () => {
    must(complaints.length === 0, [...new Set(complaints)].join("; "));
  });
  await page.context().close();
}

await browser.close();
await server.end();
console.log(`${passed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
