// What a picture costs the page itself. Without a graphics card sixty pictures a second can't be shown, but whether
// the page leaves time for them can be measured: with everything in place but the drawing.

import { must, openPage, until } from "../browser.mjs";
import { ask } from "./exercise.mjs";

/** Pictures that are measured. */
const PICTURES = 600;

export async function pace(world, check) {
  if (!world.first) {
    return; // without the drawing the size of the window makes no difference
  }
  await check("what a picture costs the page, all but the drawing", async () => {
    const page = await openPage(world.browser, world.size, world.complaints);
    await page.addInitScript(withoutDrawing);
    const scenes = await ask(`${world.url}/api/scenes`);
    const scene = scenes.find(({ name }) => name === "Gall bladder");
    must(scene, "the gall bladder is not among the scenes");
    const operation = await ask(`${world.url}/api/operations`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ kind: "lab", scene: scene.id }),
    });
    // As rich as on a graphics card.
    await page.goto(`${world.url}/lab/${operation.id}?quality=rich`);
    await until(page, () => window.trocar?.role === "controller" && window.trocar.frames > 60);
    const processor = await page.context().newCDPSession(page);
    // By the clock of the thread: what other programs do on this machine does not count.
    await processor.send("Performance.enable", { timeDomain: "threadTicks" });
    const before = await tasks(processor);
    await page.evaluate(() => window.costs.begin());
    const { width, height } = world.size;
    for (let i = 0; (await page.evaluate(() => window.costs.pictures.length)) < PICTURES; i += 1) {
      await page.mouse.move(width * (0.5 + 0.1 * Math.cos(i / 9)), height * (0.5 + 0.1 * Math.sin(i / 9)));
    }
    const { pictures, seconds, frames } = await page.evaluate(() => window.costs.end());
    const busy = (1000 * ((await tasks(processor)) - before)) / pictures.length;
    await page.context().close();
    const sorted = pictures.sort((a, b) => a - b);
    const at = (share) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))].toFixed(1);
    return (
      `median ${at(0.5)} ms, 99 of 100 below ${at(0.99)} ms, of 16.7 ms; ` +
      `the whole main thread ${busy.toFixed(1)} ms of processor time a picture ` +
      `(${sorted.length} pictures, ${(sorted.length / seconds).toFixed(0)} pictures and ${(frames / seconds).toFixed(0)} frames a second)`
    );
  });
}

/** What all tasks of the page's main thread have taken, s. */
async function tasks(processor) {
  const { metrics } = await processor.send("Performance.getMetrics");
  return metrics.find(({ name }) => name === "TaskDuration").value;
}

/**
 * Runs in the page before anything else: nothing is drawn, and all else that the page does is timed, from picture to
 * picture: messages, their decoding, refined nets, uploads, the traversal of the scene, React.
 */
function withoutDrawing() {
  for (const name of [
    "clear",
    "drawArrays",
    "drawElements",
    "drawRangeElements",
    "drawArraysInstanced",
    "drawElementsInstanced",
  ]) {
    WebGL2RenderingContext.prototype[name] = () => {};
  }
  let depth = 0;
  let spent = 0;
  /** `deed`, timed; what it calls is not counted twice. */
  const timed = (deed) =>
    function (...given) {
      const began = performance.now();
      depth += 1;
      try {
        return deed.apply(this, given);
      } finally {
        depth -= 1;
        if (depth === 0) {
          spent += performance.now() - began;
        }
      }
    };
  for (const { prototype } of [WebSocket, MessagePort]) {
    const { get, set } = Object.getOwnPropertyDescriptor(prototype, "onmessage");
    Object.defineProperty(prototype, "onmessage", {
      get,
      set(deed) {
        set.call(this, deed && timed(deed));
      },
    });
  }
  const listen = EventTarget.prototype.addEventListener;
  EventTarget.prototype.addEventListener = function (kind, deed, ...rest) {
    // Pointer and keys: the desk, and whatever React hears.
    const wrapped = typeof deed === "function" && /^(pointer|key|wheel)/.test(kind) ? timed(deed) : deed;
    return listen.call(this, kind, wrapped, ...rest);
  };
  const next = window.requestAnimationFrame.bind(window);
  window.requestAnimationFrame = (deed) => next(timed(deed));
  const costs = {
    pictures: [],
    begin() {
      const { frames } = window.trocar;
      const began = performance.now();
      spent = 0;
      const count = () => {
        costs.pictures.push(spent);
        spent = 0;
        next(count);
      };
      next(count);
      costs.end = () => ({
        pictures: costs.pictures,
        seconds: (performance.now() - began) / 1000,
        frames: window.trocar.frames - frames,
      });
    },
  };
  window.costs = costs;
}
