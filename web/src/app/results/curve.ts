// The mathematics of the learning curve.

import type { ResultRow } from "../../wire";

/** How many runs the moving median looks back on, the present one included. */
export const WINDOW = 5;

/** Runs that count: those that went to their end, oldest first. */
export function counted(rows: readonly ResultRow[], exercise: string, level: string): ResultRow[] {
  return rows
    .filter(
      (row) =>
        row.exercise === exercise &&
        row.level === level &&
        row.score !== null &&
        (row.ending === "completed" || row.ending === "time_up"),
    )
    .sort((a, b) => a.started - b.started || a.id - b.id);
}

/** The middle value; of an even number, the mean of the two in the middle. NaN for none. */
export function median(values: readonly number[]): number {
  const sorted = values.filter(Number.isFinite).sort((a, b) => a - b);
  if (sorted.length === 0) {
    return Number.NaN;
  }
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** At each run the median of it and the ones before, `window` in all: one lucky run does not bend it. */
export function movingMedian(values: readonly (number | null)[], window = WINDOW): (number | null)[] {
  return values.map((_, i) => {
    const seen = values.slice(Math.max(0, i + 1 - window), i + 1).filter((value) => value !== null);
    return seen.length === 0 ? null : median(seen);
  });
}

export interface Progress {
  runs: number;
  /** Median of the first runs. */
  first: number;
  /** Median of the last ones. */
  last: number;
}

/** First runs against last ones, as many of each as there are without overlap, at most three; null below four runs. */
export function progress(values: readonly number[]): Progress | null {
  const n = Math.min(3, values.length >> 1);
  if (values.length < 4) {
    return null;
  }
  return { runs: n, first: median(values.slice(0, n)), last: median(values.slice(-n)) };
}

/** The attempt (counted from 1) from which on every run of `streak` passed; null if never. */
export function reachedAt(rows: readonly { passed: boolean }[], streak = 3): number | null {
  let run = 0;
  for (let i = 0; i < rows.length; i += 1) {
    run = rows[i].passed ? run + 1 : 0;
    if (run === streak) {
      return i - streak + 2;
    }
  }
  return null;
}

export type Key = "started" | "exercise_title" | "level_title" | "score" | "seconds" | "ending";

/** Sorts rows for the table; what has no score comes last either way. */
export function sorted(rows: readonly ResultRow[], by: Key, descending: boolean): ResultRow[] {
  const sign = descending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [a[by], b[by]];
    if (x === null || y === null) {
      return x === y ? b.started - a.started : x === null ? 1 : -1;
    }
    const order = typeof x === "string" ? x.localeCompare(String(y), "en") : x - Number(y);
    return order !== 0 ? sign * order : b.started - a.started;
  });
}
