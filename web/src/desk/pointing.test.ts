import { describe, expect, it } from "vitest";
import { Pointing } from "./pointing";
import type { Place } from "./space";

function pointing(change: Partial<Pick<Pointing, "fulcrum" | "sensitivity">> = {}): Pointing {
  return Object.assign(new Pointing(), change);
}

describe("Pointing", () => {
  it("mirrors the hand through the middle of the picture", () => {
    const hand = pointing();
    expect(hand.through([0.4, -0.3])).toEqual([-0.4, 0.3]);
    hand.fulcrum = false;
    expect(hand.through([0.4, -0.3])).toEqual([0.4, -0.3]);
  });

  it("reaches the rim of the picture at any sensitivity, and always farther with the hand", () => {
    for (const sensitivity of [0.25, 0.5, 1, 2, 3]) {
      const hand = pointing({ sensitivity });
      let before = 0;
      for (let step = 1; step <= 20; step += 1) {
        const now = -hand.through([step / 20, 0])[0];
        expect(now).toBeGreaterThanOrEqual(Math.min(before, 2.2));
        before = now;
      }
      expect(before).toBeGreaterThan(0.99);
      expect(-hand.through([0.01, 0])[0]).toBeCloseTo(0.01 * sensitivity, 4);
    }
  });

  it("knows the way back", () => {
    for (const sensitivity of [0.25, 1, 2.5]) {
      for (const fulcrum of [true, false]) {
        const hand = pointing({ sensitivity, fulcrum });
        const tip: Place = [0.3, -0.6];
        const [x, y] = hand.through(hand.back(tip));
        expect(x).toBeCloseTo(tip[0], 6);
        expect(y).toBeCloseTo(tip[1], 6);
      }
    }
  });

  it("does not jump when the pointer is taken up, and has caught up soon", () => {
    const hand = pointing();
    const tip: Place = [0.5, 0.5];
    hand.moveTo([0.3, 0.1], tip);
    expect(hand.goal).toEqual([0.5, 0.5]);
    hand.moveTo([0.31, 0.1], tip);
    expect(Math.hypot((hand.goal?.[0] ?? 9) - 0.5, (hand.goal?.[1] ?? 9) - 0.5)).toBeLessThan(0.06);
    for (let i = 0; i < 100; i += 1) {
      hand.moveTo([0.1 * Math.cos(i), 0.1 * Math.sin(i)], tip);
    }
    hand.moveTo([0.2, -0.2], tip);
    expect(hand.goal?.[0]).toBeCloseTo(-0.2, 5);
    expect(hand.goal?.[1]).toBeCloseTo(0.2, 5);
  });

  it("lets keys take over from the pointer and back without a jump", () => {
    const hand = pointing();
    hand.moveTo([0.2, 0], [-0.2, 0]);
    hand.moveBy([0.1, 0], null);
    expect(hand.goal?.[0]).toBeCloseTo(-0.3);
    hand.moveTo([0.7, 0.1], null);
    expect(hand.goal?.[0]).toBeCloseTo(-0.3);
  });

  it("rests until the hand moves", () => {
    const hand = pointing();
    hand.moveTo([0.2, 0], [0, 0]);
    hand.rest();
    expect(hand.goal).toBeNull();
    hand.moveBy([0.1, 0], null);
    expect(hand.goal).toBeNull();
    hand.moveBy([0.1, 0], [0.4, 0]);
    expect(hand.goal?.[0]).toBeCloseTo(0.3);
  });
});
