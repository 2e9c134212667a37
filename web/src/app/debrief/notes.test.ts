import { expect, it } from "vitest";
import { notesOf } from "./notes";

const fine = { ending: "completed", realtime: 1, has_recording: true, same_build: true, score: 80 } as const;

it("says nothing if there is nothing to say", () => {
  expect(notesOf(fine)).toEqual([]);
  expect(notesOf({ ...fine, realtime: 0.98 })).toEqual([]);
});

it("says that the machine was too slow, and by how much", () => {
  const [note] = notesOf({ ...fine, realtime: 0.81 });
  expect(note.tone).toBe("warn");
  expect(note.text).toContain("81 %");
});

it("says that a run was broken off, given up, or out of time", () => {
  expect(notesOf({ ...fine, ending: "broken_off" })[0].text).toContain("broken off");
  expect(notesOf({ ...fine, ending: "given_up" })[0].text).toContain("yourself");
  expect(notesOf({ ...fine, ending: "time_up" })[0].text).toContain("time was up");
  expect(notesOf({ ...fine, ending: "running" })[0].text).toContain("still going on");
});

it("says once why a replay may fail", () => {
  expect(notesOf({ ...fine, has_recording: false, same_build: false })).toHaveLength(1);
  expect(notesOf({ ...fine, same_build: false })[0].text).toContain("another build");
});
