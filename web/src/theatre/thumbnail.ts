// Pictures of scenes at rest, for cards. One renderer for all of them: browsers allow only a few.

import type { SceneDescription } from "../wire";
import { View } from "./view";

let view: { canvas: HTMLCanvasElement; view: View } | null = null;
const made = new Map<string, Promise<string>>();
let queue: Promise<unknown> = Promise.resolve();

/** A picture of a scene at rest, as a data URL. Remembered by the hash of the scene. */
export function picture(scene: SceneDescription, width: number, height: number): Promise<string> {
  const key = `${scene.hash} ${width} ${height}`;
  let wanted = made.get(key);
  if (wanted === undefined) {
    // One after the other, and never two in one go: the page stays alive meanwhile.
    wanted = queue.then(() => pause()).then(() => draw(scene, width, height));
    queue = wanted.catch(() => undefined);
    made.set(key, wanted);
    wanted.catch(() => made.delete(key));
  }
  return wanted;
}

function pause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

function draw(scene: SceneDescription, width: number, height: number): string {
  if (view === null) {
    const canvas = document.createElement("canvas");
    view = {
      canvas,
      view: new View(canvas, {
        quality: "auto",
        refine: 1,
        vignette: false,
        reducedMotion: true,
        showMarks: false,
      }),
    };
  }
  return view.view.portrait(scene, width, height);
}
