// Where somebody stands in an exercise.

import type { ResultRow } from "../wire";

export interface Standing {
  attempts: number;
  /** The highest score; null if nothing was scored yet. */
  best: number | null;
  passed: boolean;
  last: ResultRow | null;
}

/** How one level of an exercise has gone so far. The rows may be in any order. */
export function standing(rows: readonly ResultRow[], exercise: string, level: string): Standing {
  const mine = rows.filter(
    (row) => row.exercise === exercise && row.level === level && row.ending !== "running",
  );
  let best: number | null = null;
  let last: ResultRow | null = null;
  for (const row of mine) {
    if (row.score !== null && (best === null || row.score > best)) {
      best = row.score;
    }
    if (last === null || row.started > last.started) {
      last = row;
    }
  }
  return { attempts: mine.length, best, passed: mine.some((row) => row.passed), last };
}

/** The level to offer: the one after the highest that was passed; the first for a beginner. */
export function nextLevel(
  rows: readonly ResultRow[],
  exercise: string,
  levels: readonly { id: string }[],
): string {
  let next = 0;
  levels.forEach((level, i) => {
    if (standing(rows, exercise, level.id).passed) {
      next = Math.min(i + 1, levels.length - 1);
    }
  });
  return levels[next]?.id ?? "";
}
