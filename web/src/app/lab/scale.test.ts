import { describe, expect, it } from "vitest";
import { scaleOf, tidy } from "./scale";

describe("a slider's scale", () => {
  it("is straight where the range is short", () => {
    const scale = scaleOf(-20, 20, -9.81);
    expect(scale.logarithmic).toBe(false);
    expect(scale.value(0)).toBe(-20);
    expect(scale.value(0.5)).toBe(0);
    expect(scale.value(1)).toBe(20);
    expect(scale.place(-9.81)).toBeCloseTo(10.19 / 40);
  });

  it("goes by decades where the range spans them", () => {
    const scale = scaleOf(1, 10_000, 100);
    expect(scale.logarithmic).toBe(true);
    expect(scale.value(0)).toBe(1);
    expect(scale.value(0.5)).toBeCloseTo(100);
    expect(scale.value(1)).toBe(10_000);
    expect(scale.place(100)).toBeCloseTo(0.5);
  });

  it("reaches zero where zero is allowed", () => {
    const scale = scaleOf(0, 1000, 2);
    expect(scale.logarithmic).toBe(true);
    expect(scale.value(0)).toBe(0);
    expect(scale.place(0)).toBe(0);
    expect(scale.value(scale.place(2))).toBeCloseTo(2);
    expect(scale.value(1)).toBe(1000);
  });

  it("goes there and back everywhere", () => {
    for (const scale of [scaleOf(0, 5, 1), scaleOf(0.01, 50, 1), scaleOf(0, 500, 1)]) {
      for (let place = 0.05; place <= 1; place += 0.05) {
        expect(scale.place(scale.value(place))).toBeCloseTo(place);
      }
    }
  });

  it("stays inside the range, whatever is asked", () => {
    const scale = scaleOf(1, 1000, 10);
    expect(scale.value(-3)).toBe(1);
    expect(scale.value(7)).toBe(1000);
    expect(scale.place(-5)).toBe(0);
    expect(scale.place(1e9)).toBe(1);
    const still = scaleOf(3, 3, 3);
    expect(still.place(3)).toBe(0);
    expect(still.value(0.7)).toBe(3);
  });

  it("gives tidy numbers", () => {
    expect(tidy(0.123456)).toBe(0.1235);
    expect(tidy(98_765.4)).toBe(98_770);
  });
});
