import { describe, expect, it } from "vitest";
import { row } from "../row.fixture";
import { counted, median, movingMedian, progress, reachedAt, sorted } from "./curve";

describe("the learning curve", () => {
  it("counts what was finished and scored, oldest first", () => {
    const rows = [
      row({ id: 3, started: 30 }),
      row({ id: 1, started: 10, ending: "time_up" }),
      row({ id: 2, started: 20, ending: "given_up" }),
      row({ id: 4, started: 40, score: null }),
      row({ id: 5, started: 50, level: "hard" }),
    ];
    expect(counted(rows, "lift", "easy").map(({ id }) => id)).toEqual([1, 3]);
  });

  it("takes the middle value", () => {
    expect(median([3, 1, 2])).toBe(2);
    expect(median([4, 1, 3, 2])).toBe(2.5);
    expect(median([])).toBeNaN();
  });

  it("is not bent by one lucky run", () => {
    expect(movingMedian([10, 10, 100, 10, 10], 3)).toEqual([10, 10, 10, 10, 10]);
    expect(movingMedian([1, 2, 3, 4, 5, 6], 5)).toEqual([1, 1.5, 2, 2.5, 3, 4]);
  });

  it("looks over gaps", () => {
    expect(movingMedian([null, 4, null, 8], 2)).toEqual([null, 4, 4, 8]);
  });

  it("compares first and last runs without counting one twice", () => {
    expect(progress([1, 2, 3])).toBeNull();
    expect(progress([10, 20, 30, 40])).toEqual({ runs: 2, first: 15, last: 35 });
    expect(progress([1, 2, 3, 50, 7, 8, 9])).toEqual({ runs: 3, first: 2, last: 8 });
  });

  it("says from when on the level was passed steadily", () => {
    const runs = (...passed: number[]) => passed.map((one) => ({ passed: one === 1 }));
    expect(reachedAt(runs(1, 1, 0, 1, 1, 1, 0))).toBe(4);
    expect(reachedAt(runs(1, 1))).toBeNull();
  });
});

describe("the table", () => {
  const rows = [
    row({ id: 1, score: 50, started: 1 }),
    row({ id: 2, score: null, started: 2 }),
    row({ id: 3, score: 70, started: 3 }),
    row({ id: 4, score: 50, started: 4 }),
  ];
  const ids = (by: "score" | "started" | "level_title", descending: boolean) =>
    sorted(rows, by, descending).map(({ id }) => id);

  it("sorts both ways; equal ones newest first; unscored ones last", () => {
    expect(ids("score", true)).toEqual([3, 4, 1, 2]);
    expect(ids("score", false)).toEqual([4, 1, 3, 2]);
    expect(ids("started", false)).toEqual([1, 2, 3, 4]);
    expect(ids("level_title", true)).toEqual([4, 3, 2, 1]);
  });

  it("leaves what it was given as it was", () => {
    expect(rows.map(({ id }) => id)).toEqual([1, 2, 3, 4]);
  });
});
