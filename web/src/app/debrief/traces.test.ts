import { describe, expect, it } from "vitest";
import type { Trace } from "../../wire";
import {
  boxOf,
  goalColour,
  greatest,
  lastEvent,
  legs,
  resample,
  scaleBar,
  spans,
  together,
  whole,
} from "./traces";

function trace(points: [number, number, number][], goal = points.map(() => 0)): Trace {
  const same = (value: number) => points.map(() => value);
  return {
    time: points.map((_, i) => i),
    x: points.map(([x]) => x),
    y: points.map(([, y]) => y),
    z: points.map(([, , z]) => z),
    speed: same(0),
    force: same(0),
    stretch: same(1),
    in_view: same(1),
    holding: same(0),
    goal,
  };
}

describe("curves of two runs", () => {
  it("are read between the samples, and end where the run ended", () => {
    expect(resample([0, 1, 2], [0, 10, 0], [-1, 0, 0.5, 1, 1.75, 2, 3])).toEqual([
      null,
      0,
      5,
      10,
      2.5,
      0,
      null,
    ]);
  });

  it("bear a run of one sample, of none, and gaps", () => {
    expect(resample([1], [7], [0, 1, 2])).toEqual([null, 7, null]);
    expect(resample([], [], [0])).toEqual([null]);
    expect(resample([0, 1], [Number.NaN, 1], [0, 0.5])).toEqual([null, null]);
  });

  it("share an axis as long as the longer one", () => {
    expect(together([0, 1], [0, 0.5, 1, 1.5, 2])).toEqual([0, 1, 1.5, 2]);
    expect(together([0, 1, 2], [0, 1])).toEqual([0, 1, 2]);
    expect(together([], [0, 1])).toEqual([0, 1]);
  });

  it("are cut to the shortest column", () => {
    const cut = whole({
      ...trace([
        [0, 0, 0],
        [1, 1, 1],
      ]),
      force: [3],
    });
    expect(Object.values(cut).map((column) => column.length)).toEqual(new Array(10).fill(1));
  });
});

describe("spans", () => {
  it("follow each other without a gap", () => {
    expect(spans([0, 1, 2, 3, 4], [0, 0, 1, 1, 0])).toEqual([
      { from: 0, to: 2, value: 0 },
      { from: 2, to: 4, value: 1 },
      { from: 4, to: 4, value: 0 },
    ]);
    expect(spans([], [])).toEqual([]);
  });
});

describe("the path", () => {
  it("is in millimetres, and changes its leg with the goal, without a gap", () => {
    const found = legs(
      trace(
        [
          [0, 0, 0],
          [0.01, 0, 0],
          [0.02, 0.005, 0],
        ],
        [0, 0, 1],
      ),
      "x",
      "y",
    );
    expect(found).toEqual([
      {
        goal: 0,
        points: [
          [0, 0],
          [10, 0],
          [20, 5],
        ],
      },
      { goal: 1, points: [[20, 5]] },
    ]);
  });

  it("turns what comes towards the reader downwards, seen from above", () => {
    expect(legs(trace([[0, 0, 0.01]]), "x", "z", true)[0].points[0][1]).toBe(-10);
  });

  it("leaves out what nobody could see, but never the last point", () => {
    const still = trace([
      [0, 0, 0],
      [0.0001, 0, 0],
      [0.0001, 0.0001, 0],
    ]);
    expect(legs(still, "x", "y")[0].points).toHaveLength(2);
  });

  it("lies in a box with a margin, also if it never moved", () => {
    const box = boxOf(
      legs(
        trace([
          [0, 0, 0],
          [0.1, 0, 0],
        ]),
        "x",
        "y",
      ),
    );
    expect(box.left).toBeCloseTo(-10);
    expect(box.right).toBeCloseTo(110);
    expect(box.top - box.bottom).toBe(10);
    expect(boxOf([])).toEqual({ left: -10, right: 10, bottom: -10, top: 10 });
  });

  it("has a scale bar of a round length", () => {
    expect([4, 37, 90, 160, 400].map(scaleBar)).toEqual([1, 10, 20, 50, 100]);
  });

  it("has a colour for any goal", () => {
    expect(goalColour(6)).toBe(goalColour(0));
    expect(goalColour(-1)).toMatch(/^#/);
  });
});

it("finds the greatest value and its time", () => {
  expect(greatest([0, 1, 2], [1, 5, null])).toEqual({ value: 5, time: 1 });
  expect(greatest([], [])).toBeNull();
});

it("finds what happened last", () => {
  const events = [1, 2, 3].map((time) => ({ time, kind: "info" as const, text: "" }));
  expect([0.5, 1, 2.9, 9].map((at) => lastEvent(events, at))).toEqual([-1, 0, 1, 2]);
});
