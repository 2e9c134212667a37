import { describe, expect, it } from "vitest";
import { clock, count, difference, moment, number, points, quantity, seconds, tick } from "./words";

describe("numbers", () => {
  it("have about three digits and no powers of ten", () => {
    expect([0, 3, 0.0214, 1.234, 12.34, 123.4, 12345.6].map(number)).toEqual([
      "0",
      "3",
      "0.021",
      "1.23",
      "12.3",
      "123",
      "12,346",
    ]);
    expect(number(-0.00001)).toBe("0.000");
    expect(number(-9.414)).toBe("−9.41");
    expect(number(Number.NaN)).toBe("–");
  });

  it("get the unit that suits them, the same for all that stand together", () => {
    expect(quantity(0.012, "m")).toBe("12 mm");
    expect(quantity(1.83, "m")).toBe("1.83 m");
    expect(quantity(0.012, "m", 1.83)).toBe("0.012 m");
    expect(quantity(0.02, "m/s")).toBe("20 mm/s");
    expect(quantity(2.5, "N")).toBe("2.50 N");
    expect(quantity(240, "mm")).toBe("240 mm");
    expect(quantity(1240, "mm")).toBe("1.24 m");
    expect(quantity(12.5, "°")).toBe("12.5°");
    expect(quantity(null, "N")).toBe("–");
    expect(quantity(3, "")).toBe("3");
    expect(quantity(75, "s")).toBe("1 min 15 s");
    expect(quantity(Number.POSITIVE_INFINITY, "N")).toBe("–");
  });

  it("show differences with their sign", () => {
    expect(difference(1.5)).toBe("+1.50");
    expect(difference(-1.5)).toBe("−1.50");
    expect(difference(0)).toBe("±0");
    expect(difference(3.2, (value) => value.toFixed(0))).toBe("+3");
  });

  it("round points, and have a sign for none", () => {
    expect([points(66.5), points(0), points(null)]).toEqual(["67", "0", "–"]);
  });
});

describe("times", () => {
  it("are seconds below a minute, then minutes", () => {
    expect([0, 40, 52.94, 59.94, 59.96, 120, 125.4].map(seconds)).toEqual([
      "0 s",
      "40 s",
      "52.9 s",
      "59.9 s",
      "1 min",
      "2 min",
      "2 min 05 s",
    ]);
  });

  it("are read on a clock", () => {
    expect([0, 9.96, 65.25, 600].map(clock)).toEqual(["0:00.0", "0:10.0", "1:05.3", "10:00.0"]);
    expect([0, 2.5, 40, 80].map(tick)).toEqual(["0 s", "2.5 s", "40 s", "1:20"]);
  });

  it("name the day only if it was not today", () => {
    const now = new Date(2026, 4, 20, 12, 0);
    const unix = (...at: [number, number, number, number, number]) => new Date(...at).getTime() / 1000;
    expect(moment(unix(2026, 4, 20, 0, 5), now)).toBe("today, 00:05");
    expect(moment(unix(2026, 4, 19, 23, 59), now)).toBe("yesterday, 23:59");
    expect(moment(unix(2026, 2, 3, 9, 0), now)).toBe("3 Mar, 09:00");
    expect(moment(unix(2025, 2, 3, 9, 0), now)).toBe("3 Mar 2025, 09:00");
  });
});

it("counts with the right word", () => {
  expect([count(1, "run"), count(2, "run"), count(2, "try", "tries")]).toEqual([
    "1 run",
    "2 runs",
    "2 tries",
  ]);
});
