// The pages nobody operates on.

import { checkAccess, checkFits, keepPicture, must } from "../browser.mjs";
import { settle } from "./exercise.mjs";

export async function others(world, check) {
  const { page, url } = world;

  await check("the quiet pages are whole", async () => {
    for (const [path, name] of [
      ["/about", "about"],
      ["/watch", "watch"],
      ["/no/such/page", "nowhere"],
    ]) {
      await page.goto(url + path);
      await page.getByRole("heading", { level: 1 }).waitFor();
      await settle(page);
      await keepPicture(page, name);
      await checkAccess(page);
      await checkFits(page);
    }
    const words = await page.goto(`${url}/about`).then(() => page.locator("main").textContent());
    must(
      /not a medical device|no medical device/i.test(words),
      "the page does not say that it is no medical device",
    );
  });
}
