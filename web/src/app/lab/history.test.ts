import { describe, expect, it } from "vitest";
import { History } from "./history";

describe("a history", () => {
  it("keeps its span and no more", () => {
    const history = new History(2, 10);
    for (let t = 0; t <= 25; t += 1) {
      history.add(t, [t, -t]);
    }
    expect(history.time[0]).toBe(15);
    expect(history.time.at(-1)).toBe(25);
    expect(history.columns[1]).toEqual(history.time.map((t) => -t));
  });

  it("begins anew when time goes back", () => {
    const history = new History(1, 10);
    history.add(5, [1]);
    history.add(6, [2]);
    history.add(0.1, [3]);
    expect(history.time).toEqual([0.1]);
    expect(history.columns[0]).toEqual([3]);
  });

  it("does not grow while time stands still", () => {
    const history = new History(1, 10);
    history.add(5, [1]);
    history.add(5, [1]);
    expect(history.time).toHaveLength(1);
  });
});
