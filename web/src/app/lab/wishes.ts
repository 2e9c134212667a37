// Whether a change that was asked for has come true.

import type { Notice } from "../operate/useTheatre";

/** Equal but for what is lost on the way. */
export function isSame(a: number, b: number): boolean {
  return Math.abs(a - b) <= 1e-6 * Math.max(Math.abs(a), Math.abs(b), 1e-9);
}

/** The newest notice after `after` that speaks of the parameter `name`; null if none does. */
export function reasonFor(name: string, notices: readonly Notice[], after: number): string | null {
  const word = name.replaceAll("_", " ").toLowerCase();
  const found = notices.filter(
    ({ id, kind, text }) =>
      id > after && kind === "error" && text.replaceAll("_", " ").toLowerCase().includes(word),
  );
  return found.at(-1)?.text ?? null;
}
