import { describe, expect, it } from "vitest";
import { bindingsFor } from "./bindings";
import { type Pad, readPad } from "./gamepad";
import { LEFT_HANDED, RIGHT_HANDED } from "./keys";

function pad(axes: number[], pressed: Record<number, number> = {}): Pad {
  return {
    axes,
    buttons: Array.from({ length: 17 }, (_, i) => ({
      pressed: (pressed[i] ?? 0) > 0.5,
      value: pressed[i] ?? 0,
    })),
  };
}

describe("readPad", () => {
  it("takes a stick near its middle for resting", () => {
    expect(readPad(pad([0.1, -0.08, -0.05, 0.12]), false)).toMatchObject({ swing: [0, 0], push: 0, roll: 0 });
  });

  it("begins without a step and ends at one", () => {
    expect(readPad(pad([0.15, 0, 0, 0]), false).swing[0]).toBeLessThan(0.02);
    expect(readPad(pad([1, 0, 0, 0]), false).swing[0]).toBeCloseTo(1);
    const [x, y] = readPad(pad([Math.SQRT1_2, -Math.SQRT1_2, 0, 0]), false).swing;
    expect(Math.hypot(x, y)).toBeCloseTo(1);
    expect(y).toBeGreaterThan(0);
  });

  it("pushes with the right stick, squeezes with either trigger", () => {
    const state = readPad(pad([0, 0, 0, -1], { 7: 0.5 }), false);
    expect(state.push).toBeCloseTo(1);
    expect(state.squeeze).toBeCloseTo(0.47, 1);
    expect(readPad(pad([0, 0, 0, 0], { 6: 1 }), false).squeeze).toBe(1);
  });

  it("swaps sticks and bumpers for the left hand", () => {
    const state = readPad(pad([0, 0, 1, 0], { 5: 1 }), true);
    expect(state.swing[0]).toBeCloseTo(1);
    expect(state).toMatchObject({ camera: true, lock: false, roll: 0 });
    expect(readPad(pad([0, 0, 1, 0], { 5: 1 }), false)).toMatchObject({
      camera: false,
      lock: true,
      swing: [0, 0],
    });
  });

  it("takes a poor pad without sticks or triggers", () => {
    expect(readPad({ axes: [], buttons: [] }, false)).toMatchObject({
      swing: [0, 0],
      squeeze: 0,
      pause: false,
    });
    expect(readPad({ axes: [Number.NaN, 0], buttons: [] }, false).swing).toEqual([0, 0]);
  });
});

describe("bindingsFor", () => {
  const options = {
    fulcrum: true,
    leftHanded: false,
    tool: "operate",
    endoscope: true,
    camera: true,
    instruments: 2,
    jaws: true,
    pauses: true,
  } as const;

  it("tells of every key that is bound", () => {
    for (const leftHanded of [false, true]) {
      const told = bindingsFor({ ...options, leftHanded })
        .filter(({ device }) => device === "keyboard")
        .flatMap(({ input }) => input.split(/[ :]+/));
      const names: Record<string, string> = { Comma: ",", Period: ".", Equal: "+", Minus: "−" };
      for (const code of Object.keys(leftHanded ? LEFT_HANDED : RIGHT_HANDED)) {
        if (/^(Key|Comma|Period|Equal|Minus|Space|Home)/.test(code)) {
          expect(told, code).toContain(names[code] ?? code.replace("Key", ""));
        }
      }
    }
  });

  it("is true to the options", () => {
    const words = (change: object) => JSON.stringify(bindingsFor({ ...options, ...change }));
    expect(words({})).toContain("the other way");
    expect(words({ fulcrum: false })).not.toContain("the other way");
    expect(words({ tool: "pull" })).toContain("Pull on what is under the pointer");
    expect(words({ endoscope: false })).not.toContain("light cable");
    expect(words({ instruments: 1 })).not.toContain("another instrument");
    expect(words({ instruments: 0 })).not.toContain("jaws");
    expect(words({ camera: false })).not.toContain("Zoom");
    expect(words({ pauses: false })).not.toContain("Pause");
    expect(words({ leftHanded: true })).toContain("RB: Right stick");
  });
});
