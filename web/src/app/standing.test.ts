import { expect, it } from "vitest";
import { row } from "./row.fixture";
import { nextLevel, standing } from "./standing";

const rows = [
  row({ id: 1, started: 10, score: 80, passed: true }),
  row({ id: 2, started: 30, score: 40 }),
  row({ id: 3, started: 20, score: null, ending: "broken_off" }),
  row({ id: 4, started: 40, level: "hard", score: 95 }),
  row({ id: 5, started: 50, score: null, ending: "running" }),
];

it("finds the best and the last run of a level, whatever the order", () => {
  const { attempts, best, passed, last } = standing(rows, "lift", "easy");
  expect({ attempts, best, passed, last: last?.id }).toEqual({
    attempts: 3,
    best: 80,
    passed: true,
    last: 2,
  });
  expect(standing([...rows].reverse(), "lift", "easy").last?.id).toBe(2);
});

it("knows that nothing was done yet", () => {
  expect(standing(rows, "other", "easy")).toEqual({ attempts: 0, best: null, passed: false, last: null });
});

it("offers the level after the highest that was passed", () => {
  const levels = [{ id: "easy" }, { id: "medium" }, { id: "hard" }];
  expect(nextLevel([], "lift", levels)).toBe("easy");
  expect(nextLevel(rows, "lift", levels)).toBe("medium");
  expect(nextLevel([row({ level: "hard", passed: true })], "lift", levels)).toBe("hard");
  expect(nextLevel(rows, "lift", [])).toBe("");
});
