// Rows for tests.

import type { ResultRow } from "../wire";

export function row(given: Partial<ResultRow> = {}): ResultRow {
  return {
    id: 1,
    profile: 1,
    profile_name: "Anna",
    exercise: "lift",
    exercise_title: "Grasp and lift",
    level: "easy",
    level_title: "Easy",
    started: 1_700_000_000,
    ending: "completed",
    score: 50,
    passed: false,
    seconds: 40,
    has_recording: true,
    ...given,
  };
}
