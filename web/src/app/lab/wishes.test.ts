import { describe, expect, it } from "vitest";
import type { Notice } from "../operate/useTheatre";
import { isSame, reasonFor } from "./wishes";

const notice = (id: number, kind: Notice["kind"], text: string): Notice => ({ id, kind, text, time: 0 });

describe("a wish", () => {
  it("has come true when the value is there, rounded as it may be", () => {
    expect(isSame(0.1, Math.fround(0.1))).toBe(true);
    expect(isSame(0, 0)).toBe(true);
    expect(isSame(100, 101)).toBe(false);
    expect(isSame(0, 1e-3)).toBe(false);
  });

  it("was refused for the reason said last", () => {
    const notices = [
      notice(1, "error", "spring_stiffness of liver: would be unstable"),
      notice(2, "info", "spring_stiffness of liver is 20"),
      notice(3, "error", "spring_stiffness of liver: out of range"),
    ];
    expect(reasonFor("spring_stiffness", notices, 0)).toBe("spring_stiffness of liver: out of range");
    expect(reasonFor("spring_stiffness", notices, 3)).toBeNull();
    expect(reasonFor("density", notices, 0)).toBeNull();
  });
});
