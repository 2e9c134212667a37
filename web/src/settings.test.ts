import { describe, expect, it } from "vitest";
import { defaultSettings, readSettings, theatreOptions, writeSettings } from "./settings";

const defaults = defaultSettings(false);

describe("settings", () => {
  it("come back as they were written", () => {
    const mine = {
      ...defaults,
      fulcrum: false,
      sensitivity: 1.25,
      refine: 2 as const,
      hudSize: "large" as const,
    };
    expect(readSettings(writeSettings(mine, defaults), defaults)).toEqual(mine);
  });

  it("keep only what differs, so that a system that reduces motion later is heard", () => {
    const stored = writeSettings({ ...defaults, leftHanded: true }, defaults);
    expect(JSON.parse(stored)).toEqual({ leftHanded: true });
    expect(readSettings(stored, defaultSettings(true)).reducedMotion).toBe(true);
  });

  it("invert the motion at the trocar unless told otherwise", () => {
    expect(defaults.fulcrum).toBe(true);
  });

  it.each([
    ["nothing", null],
    ["no JSON", "{"],
    ["a number", "7"],
    ["null", "null"],
    ["foreign values", '{"sensitivity":1e9,"quality":"best","refine":7,"fulcrum":"yes","hudSize":3}'],
    ["not a number", '{"sensitivity":null}'],
  ])("fall back to the defaults on %s", (_, stored) => {
    expect(readSettings(stored, defaults)).toEqual(defaults);
  });

  it("give the theatre its part only", () => {
    expect(Object.keys(theatreOptions(defaults)).sort()).toEqual(
      [
        "fulcrum",
        "leftHanded",
        "quality",
        "reducedMotion",
        "refine",
        "sensitivity",
        "showMarks",
        "vignette",
      ].sort(),
    );
  });
});
