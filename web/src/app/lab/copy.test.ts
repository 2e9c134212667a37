import { describe, expect, it } from "vitest";
import type { Parameter } from "../../wire";
import { valuesAsText } from "./copy";

const parameter = (name: string, value: number, start: number, unit: string): Parameter => ({
  group: "liver",
  name,
  unit,
  about: "",
  least: 0,
  greatest: 1000,
  value,
  start,
  choices: [],
});

describe("the copied values", () => {
  it("name every parameter with its unit, and what was changed", () => {
    const text = valuesAsText("Pendulum", null, [
      parameter("stiffness", 250, 100, "N/m"),
      parameter("friction", 0.3, 0.3, ""),
    ]);
    expect(text.split("\n")).toEqual([
      "Pendulum",
      "",
      "liver / stiffness = 250 N/m   (at the start 100)",
      "liver / friction = 0.3",
      "",
    ]);
  });
});
