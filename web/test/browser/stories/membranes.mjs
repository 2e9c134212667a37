// Membranes: a lens capsule is taken with forceps and torn along its circle, with nothing but the mouse.

import { changed, keepPicture, must, until } from "../browser.mjs";
import { Hand } from "../hand.mjs";
import { Sheet } from "../sheet.mjs";
import { Tearing } from "../tearing.mjs";
import { settle } from "./exercise.mjs";

/** The forceps have an eighth of the usual shaft: the wheel pushes them by as much less. */
const FINENESS = 0.12;

/** The capsule is a disc of this radius, and its cut goes along the x axis from here to there, m. */
const DISC = 0.0055;
const CUT = [-0.0004, 0.0025];
/** What lies on a line is no farther from it than this, m. */
const ON = 1e-6;

/** So far round it is torn, rad, with so many grips at most; and so far from the circle on average at most, m. */
const ROUND = Math.PI / 3;
const GRIPS = 4;
const BESIDE = 3e-4;
/** The flap hangs on the other end of the cut, which may tear on, too: by this share of the tear that is led at most. */
const ELSEWHERE = 0.5;

/** False colours cover more than this share of the picture; what moves by itself, less than that. */
const COLOURED = 0.5;
const STRAY = 0.1;

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

  await check("the mouse takes its flap with the forceps and tears along the circle", async () => {
    const radius = await page.evaluate(() => window.trocar.scene.tissues[0].path.circle.radius);
    const sheet = new Sheet(page);
    const tearing = new Tearing(new Hand(page, FINENESS), sheet, radius, [CUT[1], 0, 0]);
    const grips = await tearing.tear(ROUND, GRIPS);
    // As last seen: while a picture is taken, it tears on.
    const edge = sheet.edges(tearing.vertex, isWhole);
    const beside = edge.reduce((sum, at) => sum + Math.abs(fromMiddle(at) - radius), 0) / edge.length;
    const others = sheet.torn(isWhole).length - edge.length;
    await keepPicture(page, "capsule-torn");
    const round = (180 / Math.PI) * tearing.round;
    const told =
      `${round.toFixed(0)}° round with ${grips} ${grips > 1 ? "grips" : "grip"}, ` +
      `${(1000 * beside).toFixed(2)} mm beside it on average; ${edge.length} vertices, ${others} more elsewhere`;
    must(tearing.round >= ROUND && beside < BESIDE && others < ELSEWHERE * edge.length, told);
    return told;
  });

  await check("false colours tell stress and adhesion", async () => {
    const plain = await circle(page);
    const stress = await coloured(page, "Stress", plain);
    const adhesion = await coloured(page, "Adhesion", plain);
    must((await changed(page, stress, adhesion)) > STRAY, "stress and adhesion look the same");
    await until(page, (least) => window.trocar.frames > least + 10, await frames(page));
    const left = await changed(page, plain, await circle(page));
    must(left < STRAY, `${percent(left)} of the picture stay coloured`);
    const shares = await Promise.all([stress, adhesion].map((picture) => changed(page, plain, picture)));
    return `of the picture ${shares.map(percent).join(" and ")}`;
  });

  await check("the cystotome is held instead", async () => {
    await page.mouse.up();
    await page.locator(".operating-field").focus();
    await page.keyboard.press("2");
    // Its tip is on the other side.
    await until(page, () => window.trocar.tip[0] < 0);
    await page.getByRole("button", { name: "Leave" }).click();
    await page.waitForURL("**/lab");
  });
}

/** Whether a place of the rim, at rest, was there before anything tore: on the rim of the disc, or on the cut. */
function isWhole([x, y]) {
  const onCut = Math.abs(y) < ON && x > CUT[0] - ON && x < CUT[1] + ON;
  return onCut || fromMiddle([x, y]) > DISC - ON;
}

/** Switches a view on for a moment: what the circle looks like with it. Throws if that is no different from `plain`. */
async function coloured(page, view, plain) {
  const box = page.getByRole("checkbox", { name: view });
  // By its key: the mouse still holds the flap, and the colours tell what that does.
  await box.press("Space");
  await until(page, (least) => window.trocar.frames > least + 10, await frames(page));
  const picture = await circle(page);
  await keepPicture(page, `capsule-${view.toLowerCase()}`);
  await box.press("Space");
  const share = await changed(page, plain, picture);
  must(share > COLOURED, `${view} colours ${percent(share)} of the picture`);
  return picture;
}

/** A picture of the capsule around its circle. */
async function circle(page) {
  const [[left, bottom], [right, top]] = await page.evaluate(
    (far) => [window.trocar.pixelsOf([-far, -far, 0]), window.trocar.pixelsOf([far, far, 0])],
    CUT[1],
  );
  return page.screenshot({ clip: { x: left, y: top, width: right - left, height: bottom - top } });
}

const frames = (page) => page.evaluate(() => window.trocar.frames);
const fromMiddle = ([x, y]) => Math.hypot(x, y);
const percent = (share) => `${(100 * share).toFixed(0)} %`;
