import { describe, expect, it } from "vitest";
import { clock, degrees, duration, figure, minutes, percent } from "./words";

describe("words", () => {
  it("tell the time", () => {
    expect(clock(0)).toBe("0:00");
    expect(clock(65.9)).toBe("1:05");
    expect(clock(59.97, true)).toBe("0:59.9");
    expect(clock(3599.999)).toBe("59:59");
    expect(clock(-1)).toBe("0:00");
    expect(clock(Number.NaN)).toBe("–");
  });

  it("tell how long one has", () => {
    expect(minutes(60)).toBe("one minute");
    expect(minutes(240)).toBe("4 minutes");
    expect(minutes(90)).toBe("90 seconds");
    expect(minutes(239)).toBe("3:59 minutes");
  });

  it("tell costs", () => {
    expect(duration(4.25)).toBe("4.3 µs");
    expect(duration(999)).toBe("999 µs");
    expect(duration(1530)).toBe("1.53 ms");
    expect(duration(12_340)).toBe("12.3 ms");
  });

  it("tell angles and shares", () => {
    expect(degrees(Math.PI / 6)).toBe("30°");
    expect(degrees(-0.001)).toBe("0°");
    expect(percent(0.345)).toBe("35 %");
    expect(percent(Number.NaN)).toBe("–");
  });

  it("tell any number shortly", () => {
    expect(figure(0)).toBe("0");
    expect(figure(9.81)).toBe("9.81");
    expect(figure(1234.56)).toBe("1235");
    expect(figure(200_000)).toBe("2e5");
    expect(figure(0.00012)).toBe("1.2e-4");
    expect(figure(Number.POSITIVE_INFINITY)).toBe("–");
  });
});
