// What remains of operations: files to take along, comparison, the learning curve, and the right to be forgotten.

import { readFileSync } from "node:fs";
import { checkAccess, checkFits, keepPicture, must, until } from "../browser.mjs";
import { ask, NAME, settle } from "./exercise.mjs";

export async function results(world, check) {
  const { page, url } = world;
  if (!world.result) {
    return; // has failed already
  }
  const debrief = async () => {
    await page.goto(`${url}/result/${world.result.id}`);
    await page.getByRole("heading", { name: "Take it with you" }).waitFor();
    await settle(page);
  };

  await check("a result can be taken along", async () => {
    await debrief();
    const rows = readTable(await download(page, "Curves as CSV"));
    const length = world.result.trace.time.length;
    must(rows.length === length + 1, `the table has ${rows.length - 1} rows, the trace ${length}`);
    must(
      rows.every((row) => row.length === rows[0].length),
      "its rows are not equally long",
    );
    must(rows[1].map(Number).every(Number.isFinite), `its first row is ${rows[1]}`);
    const all = JSON.parse(await download(page, "Everything as JSON"));
    must(all.id === world.result.id && all.trace.time.length === length, "the JSON is of something else");
    must(all.measures.length > 5 && all.parts.length > 5, "the JSON lacks measures or parts");
    const recording = await download(page, "Recording", null);
    must(recording.length > 10_000, `the recording has ${recording.length} bytes`);
    return `${rows.length - 1} rows of ${rows[0].length} columns`;
  });

  const twice = await check("a second run is finished early", async () => {
    await page.goto(`${url}/exercise/${world.result.exercise}?level=${world.result.level}`);
    await page.getByRole("button", { name: "Start", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Start", exact: true }).click();
    await until(page, () => (window.trocar?.task?.elapsed ?? 0) > 0.5);
    await page.getByRole("button", { name: "Finish", exact: true }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Finish and score" }).click();
    await page.getByRole("button", { name: "See the debrief" }).waitFor();
    const finished = await page.evaluate(() => window.trocar.finished);
    must(!finished.passed, "who does nothing passes");
    world.second = await ask(`${url}/api/results/${finished.result}`);
    return `${world.second.score?.toFixed(0)} points, ${world.second.ending}`;
  });
  if (!twice) {
    return;
  }

  await check("two runs are compared", async () => {
    await debrief();
    await page.getByRole("combobox", { name: "Compare with" }).selectOption(String(world.second.id));
    await page.getByRole("columnheader", { name: "Compared" }).waitFor();
    const cells = page
      .getByRole("row", { name: /^Time / })
      .first()
      .getByRole("cell");
    const words = await cells.allTextContents();
    const [mine, other] = words.map(Number.parseFloat);
    must(
      Math.abs(mine - world.result.seconds) < 1 && Math.abs(other - world.second.seconds) < 1,
      `the times are ${words.slice(0, 2)}`,
    );
    await page.getByText(/against the compared run/).waitFor();
    await page.getByRole("combobox", { name: "Compare with" }).scrollIntoViewIfNeeded();
    await keepPicture(page, "debrief-compared");
    await checkAccess(page);
    await checkFits(page);
  });

  await check("the learning curve is drawn, and all results fit in one table", async () => {
    await page.goto(`${url}/results?exercise=${world.result.exercise}&level=${world.result.level}`);
    await settle(page);
    const curve = page.getByRole("img", { name: /^Score of \d+ runs?: / });
    await curve.waitFor();
    const words = await curve.getAttribute("aria-label");
    must(words.includes(String(Math.round(world.result.score))), `it tells: ${words}`);
    const drawn = await curve.evaluate((plot) => {
      const canvas = plot.matches("canvas") ? plot : plot.querySelector("canvas");
      const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
      return data.some((value, i) => i % 4 === 3 && value > 0);
    });
    must(drawn, "the curve is blank");
    await keepPicture(page, "learning-curve");
    for (const [what, unit] of [
      ["Time", "s"],
      ["Path length", "m"],
      ["Greatest force", "N"],
    ]) {
      await page.getByText(what, { exact: true }).first().click();
      await page.getByRole("img", { name: new RegExp(`^${what} of .*${unit}`) }).waitFor();
    }
    const rows = readTable(await download(page, "All results as CSV"));
    const kept = await ask(`${url}/api/results?profile=${world.result.profile}`);
    must(rows.length === kept.length + 1, `${rows.length - 1} rows for ${kept.length} results`);
    return words;
  });
}

/** The last story: nothing of a person stays who wants to be forgotten. */
export async function farewell(world, check) {
  const { page, url } = world;
  if (!world.result) {
    return;
  }
  await check("a profile is deleted with its results, after a question", async () => {
    const { profile } = world.result;
    const before = await ask(`${url}/api/results?profile=${profile}`);
    must(before.length > 0, "there is nothing to delete");
    await page.goto(url);
    await page.getByRole("button", { name: new RegExp(`Who operates: .*${NAME}`) }).click();
    await page.getByRole("button", { name: `Delete ${NAME}`, exact: true }).click();
    const question = page.getByRole("dialog", { name: `Delete ${NAME}?` });
    await question.getByText(new RegExp(`all ${before.length} results|its one result`)).waitFor();
    await keepPicture(page, "delete-profile");
    await question.getByRole("button", { name: "Keep" }).click();
    await question.waitFor({ state: "hidden" });
    must(
      (await ask(`${url}/api/profiles`)).some(({ id }) => id === profile),
      "Keep does not keep",
    );
    await page.getByRole("button", { name: `Delete ${NAME}`, exact: true }).click();
    await question.getByRole("button", { name: `Delete ${NAME}` }).click();
    await page.getByText(`${NAME} was deleted.`).waitFor();
    must(!(await ask(`${url}/api/profiles`)).some(({ id }) => id === profile), "the profile is still there");
    const left = (await ask(`${url}/api/results`)).filter((row) => row.profile === profile);
    must(left.length === 0, `${left.length} results are still there`);
    for (const file of ["", "/export.csv", "/recording"]) {
      const { status } = await fetch(`${url}/api/results/${world.result.id}${file}`);
      must(status === 404, `the result${file} answers ${status}`);
    }
    await keepPicture(page, "deleted-profile");
    return `${before.length} results`;
  });
}

/** Follows a link that downloads; gives what came. */
async function download(page, name, encoding = "utf8") {
  const coming = page.waitForEvent("download");
  await page.getByRole("link", { name }).click();
  return readFileSync(await (await coming).path(), encoding);
}

/** Rows and cells of a CSV without quoted commas. */
function readTable(text) {
  return text
    .trim()
    .split(/\r?\n/)
    .map((line) => line.split(","));
}
