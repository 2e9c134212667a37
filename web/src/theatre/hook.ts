// What the browser test may read of a theatre. It never steers.

import type { Place, Vector } from "../desk/space";
import type { Frame } from "../frame";
import type { Handle, Role, SceneDescription, ServerMessage, Task } from "../wire";

/** Of a running theatre. */
export interface Hook {
  readonly role: Role | null;
  readonly scene: SceneDescription | null;
  /** Frames received since the theatre was opened. */
  readonly frames: number;
  readonly lastFrame: Frame | null;
  /** The handle as last wanted; null for a viewer. */
  readonly handle: Readonly<Handle> | null;
  readonly task: Task | null;
  readonly finished: Extract<ServerMessage, { type: "finished" }> | null;
  /** Where the tip of the held instrument is, m. */
  readonly tip: Vector | null;
  /** Where a point, m, appears on the page, CSS pixels. */
  pixelsOf(point: Vector): Place | null;
  /** Where the pointer has to be for the tip to go to where that point appears, CSS pixels. */
  pointerFor(point: Vector): Place | null;
}

declare global {
  interface Window {
    trocar?: Hook;
  }
}

/** A place of the picture on the page, CSS pixels. */
export function onPage(canvas: HTMLCanvasElement, [x, y]: Place): Place {
  const { left, top, width, height } = canvas.getBoundingClientRect();
  const half = height / 2;
  return [left + width / 2 + half * x, top + half - half * y];
}
