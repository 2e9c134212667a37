// What a reader must know to take a result for what it is.

import type { ResultDetail } from "../../wire";

/** Below this, simulated time ran noticeably slower than the clock. */
export const HONEST_RATE = 0.97;

export interface Note {
  tone: "plain" | "warn";
  text: string;
}

export function notesOf(
  result: Pick<ResultDetail, "ending" | "realtime" | "has_recording" | "same_build" | "score">,
): Note[] {
  const notes: Note[] = [];
  switch (result.ending) {
    case "broken_off":
      notes.push({
        tone: "warn",
        text: "This run was broken off before its end (the page was closed, or the server stopped). What was recorded until then is shown.",
      });
      break;
    case "given_up":
      notes.push({
        tone: "plain",
        text: "You ended this run yourself. Goals that were not reached give no points.",
      });
      break;
    case "time_up":
      notes.push({ tone: "plain", text: "The time was up before the last goal was reached." });
      break;
    case "running":
      notes.push({ tone: "plain", text: "This run is still going on: it is scored when it ends." });
      break;
    case "completed":
      break;
  }
  if (Number.isFinite(result.realtime) && result.realtime > 0 && result.realtime < HONEST_RATE) {
    notes.push({
      tone: "warn",
      text: `The machine was too slow: time in the simulation ran at ${Math.round(100 * result.realtime)} % of the clock. Times here are simulated; you had longer to react than they say, so compare them with care.`,
    });
  }
  if (!result.has_recording) {
    notes.push({ tone: "plain", text: "The recording of this run is missing, so it can't be replayed." });
  } else if (!result.same_build) {
    notes.push({
      tone: "plain",
      text: "This run was recorded by another build of Trocar. A replay may come out a little different; the score stays as it was.",
    });
  }
  return notes;
}
