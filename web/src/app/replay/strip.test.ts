import { describe, expect, it } from "vitest";
import type { Marker } from "../../wire";
import { greatestOf, lastEvent, stripPath } from "./strip";

const BOX = { width: 10, height: 4 };

describe("the strip under the slider", () => {
  it("runs from left to right and upside up", () => {
    expect(stripPath([0, 5, 10], [0, 2, 1], 10, 2, BOX)).toBe("M0 4.0L5 0.0L10 2.0");
  });

  it("keeps every peak when there are more samples than pixels", () => {
    const times = Array.from({ length: 1000 }, (_, i) => i / 100);
    const values = times.map((_, i) => (i === 503 ? 9 : 1));
    expect(stripPath(times, values, 10, 9, BOX)).toContain("L5 0.0");
  });

  it("draws nothing of nothing", () => {
    expect(stripPath([], [], 10, 1, BOX)).toBe("");
    expect(stripPath([0], [1], 0, 1, BOX)).toBe("");
    expect(stripPath([0], [Number.NaN], 10, 1, BOX)).toBe("");
  });

  it("knows its greatest value", () => {
    expect(greatestOf([0.1, 3, 2], 1)).toBe(3);
    expect(greatestOf([], 1)).toBe(1);
  });
});

describe("the events", () => {
  const events = [1, 4, 9].map((time): Marker => ({ time, kind: "info", text: "" }));

  it("are told apart by time", () => {
    expect(lastEvent(events, 0)).toBe(-1);
    expect(lastEvent(events, 1)).toBe(0);
    expect(lastEvent(events, 8.5)).toBe(1);
    expect(lastEvent(events, 8.99)).toBe(2);
    expect(lastEvent([], 3)).toBe(-1);
  });
});
