import { describe, expect, it } from "vitest";
import { isInsight, NODE_STATES, parseInsight } from "./insight";
import { FrameError } from "./reader";

/** Two nodes, one element, one torsion element, one contact, one force, no anchor, one frame, one normal, one box, one triangle in false colours, one point of a grid. */
function message(state = 3): ArrayBuffer {
  const words: ["u" | "f", number][] = [];
  const u = (...values: number[]) => values.forEach((value) => void words.push(["u", value]));
  const f = (...values: number[]) => values.forEach((value) => void words.push(["f", value]));
  u(0x37495254, 5, 2);
  f(1, 2, 3);
  u(0);
  f(4, 5, 6);
  u(state, 1);
  f(0, 0, 0, 1, 0, 0, -2.5);
  u(1);
  f(1, 0, 0, 0, 0, 2);
  u(1);
  f(0, 1, 0, 0, 1, 0, 0.5, 0.25);
  u(1);
  f(1, 1, 1, 0, -9, 0);
  u(0, 1);
  f(0, 0, 0, 0, 0, 0, 1);
  u(1);
  f(1, 0, 0, 0, 0, 1);
  u(1);
  f(0, 0, 0, 1, 2, 3, 1, 2);
  u(1);
  f(0, 0, 0, 0, 1, 0, 0, 0.5, 0, 1, 0, 1);
  u(1);
  f(0, 0, 0, 0, 0.5, 0);
  u(6, 7, 8, 9, 10, 11, 12, 13, 14);
  f(0.25);
  const view = new DataView(new ArrayBuffer(4 * words.length));
  words.forEach(([kind, value], i) => {
    if (kind === "u") view.setUint32(4 * i, value, true);
    else view.setFloat32(4 * i, value, true);
  });
  return view.buffer;
}

describe("parseInsight", () => {
  it("reads every field", () => {
    expect(isInsight(message())).toBe(true);
    const insight = parseInsight(message());
    expect(insight.number).toBe(5);
    expect([...insight.nodes.subarray(0, 3), ...insight.nodes.subarray(4, 7)]).toEqual([1, 2, 3, 4, 5, 6]);
    expect([insight.states[3], insight.states[7]]).toEqual([0, 3]);
    expect([...insight.elements]).toEqual([0, 0, 0, 1, 0, 0, -2.5]);
    expect([...insight.torques]).toEqual([1, 0, 0, 0, 0, 2]);
    expect([...insight.contacts]).toEqual([0, 1, 0, 0, 1, 0, 0.5, 0.25]);
    expect([...insight.forces]).toEqual([1, 1, 1, 0, -9, 0]);
    expect(insight.anchors).toHaveLength(0);
    expect([...insight.frames]).toEqual([0, 0, 0, 0, 0, 0, 1]);
    expect([...insight.normals]).toEqual([1, 0, 0, 0, 0, 1]);
    expect([...insight.boxes]).toEqual([0, 0, 0, 1, 2, 3, 1, 2]);
    expect([...insight.colours]).toEqual([0, 0, 0, 0, 1, 0, 0, 0.5, 0, 1, 0, 1]);
    expect([...insight.grids]).toEqual([0, 0, 0, 0, 0.5, 0]);
    expect(insight.search).toEqual({
      probes: 6,
      boxes: 7,
      pairs: 8,
      bodyPairs: 9,
      contacts: 10,
      foldPairs: 11,
      folds: 12,
      crossings: 13,
      overlaps: 14,
      deepest: 0.25,
      levels: 3,
    });
  });

  it("refuses a message cut off at any byte, and bytes too many", () => {
    const whole = message();
    for (let length = 0; length < whole.byteLength; length += 1) {
      expect(() => parseInsight(whole.slice(0, length)), `${length} bytes`).toThrow(FrameError);
    }
    const longer = new Uint8Array(whole.byteLength + 4);
    longer.set(new Uint8Array(whole));
    expect(() => parseInsight(longer.buffer)).toThrow("4 bytes too many");
  });

  it("refuses an unknown state and another magic", () => {
    const unknown = NODE_STATES.length;
    expect(() => parseInsight(message(unknown - 1))).not.toThrow();
    expect(() => parseInsight(message(unknown))).toThrow(`state ${unknown}`);
    const other = message();
    new DataView(other).setUint32(0, 1, true);
    expect(isInsight(other)).toBe(false);
    expect(() => parseInsight(other)).toThrow("no insight");
  });
});
