import { describe, expect, it } from "vitest";
import { checkFrame, parseFrame } from "./frame";
import { FrameError } from "./reader";
import type { SceneDescription } from "./wire";

/** Byte at which the stages begin. */
const STAGES = 64;

/** A frame with two stages, three tissues (one without vertices, one torn), one body, one instrument. */
function message(): ArrayBuffer {
  const words: ["u" | "f" | "d", number][] = [];
  const u = (...values: number[]) => values.forEach((value) => void words.push(["u", value]));
  const f = (...values: number[]) => values.forEach((value) => void words.push(["f", value]));
  u(0x33465254, 7, 41, 0b111);
  words.push(["d", 12.5]);
  f(0.75, 400, 0.5);
  u(12);
  f(0.25);
  u(9, 2);
  f(1, -2, 3);
  u(2);
  f(100, 300);
  u(1);
  f(0.5, 0.5, 0.5, 0, 0, 0, 1, 1.25, 0.5, -0.5, 0.125, 0.25, -0.25, 1.5);
  u(3, 2, 0);
  f(1, 2, 3, 4, 5, 6);
  u(0, 0);
  u(3, 4, 1, 2, 0, 1);
  f(0, 0, 0, 1, 0, 0, 0, 1, 0);
  f(0, 0, 2, 1, 0, 2, 0, 1, 2);
  u(1);
  f(0.5, 0.25, 0.125, 0, 0, 0, 1);
  u(1);
  f(1, 0, 0, 0, 0, 0, 1);
  f(2, 0, 0, 0, 0, 0, 1);
  f(3, 0, 0, 0, 0, 0, 1);
  f(0.5, -0.5, 0.125, 0.25, 0.75);
  f(0, 0, -2);
  u(3);
  const bytes = words.reduce((sum, [kind]) => sum + (kind === "d" ? 8 : 4), 0);
  const view = new DataView(new ArrayBuffer(bytes));
  let at = 0;
  for (const [kind, value] of words) {
    if (kind === "u") view.setUint32(at, value, true);
    if (kind === "f") view.setFloat32(at, value, true);
    if (kind === "d") view.setFloat64(at, value, true);
    at += kind === "d" ? 8 : 4;
  }
  return view.buffer;
}

describe("parseFrame", () => {
  it("reads every field", () => {
    const frame = parseFrame(message());
    expect(frame).toMatchObject({ number: 7, inputSequence: 41, paused: true, slow: true, time: 12.5 });
    expect(frame).toMatchObject({ rate: 0.75, stepCost: 400, atEnd: true });
    expect(frame).toMatchObject({
      aimError: 0.5,
      aimIterations: 12,
      correctError: 0.25,
      contacts: 9,
      substeps: 2,
    });
    expect(frame.energy).toEqual({ kinetic: 1, gravity: -2, elastic: 3 });
    expect(frame.eye?.fieldOfView).toBe(1.25);
    expect([...(frame.eye?.pose ?? [])]).toEqual([0.5, 0.5, 0.5, 0, 0, 0, 1]);
    expect(frame.eye?.handle).toEqual({
      yaw: 0.5,
      pitch: -0.5,
      depth: 0.125,
      roll: 0.25,
      horizon: -0.25,
      zoom: 1.5,
    });
    expect([...frame.stageCosts]).toEqual([100, 300]);
    expect(frame.tissues.map((tissue) => [...tissue])).toEqual([
      [1, 2, 3, 4, 5, 6],
      [],
      [0, 0, 2, 1, 0, 2, 0, 1, 2],
    ]);
    const [whole, , torn] = frame.surfaces;
    expect(whole).toBeNull();
    expect(torn?.edits).toBe(4);
    expect([...(torn?.triangles ?? [])]).toEqual([2, 0, 1]);
    expect([...(torn?.rest ?? [])]).toEqual([0, 0, 0, 1, 0, 0, 0, 1, 0]);
    expect([...frame.bodies[0]]).toEqual([0.5, 0.25, 0.125, 0, 0, 0, 1]);
    const [instrument] = frame.instruments;
    expect([instrument.shaft[0], instrument.jawA[0], instrument.jawB[0]]).toEqual([1, 2, 3]);
    expect(instrument.handle).toEqual({ yaw: 0.5, pitch: -0.5, depth: 0.125, roll: 0.25, jaw: 0.75 });
    expect([...instrument.force]).toEqual([0, 0, -2]);
    expect(instrument.grasped).toBe(3);
  });

  it("refuses a message cut off at any byte", () => {
    const whole = message();
    for (let length = 0; length < whole.byteLength; length += 1) {
      expect(() => parseFrame(whole.slice(0, length)), `${length} bytes`).toThrow(FrameError);
    }
  });

  it("refuses bytes too many", () => {
    const longer = new Uint8Array(message().byteLength + 4);
    longer.set(new Uint8Array(message()));
    expect(() => parseFrame(longer.buffer)).toThrow("4 bytes too many");
  });

  it("refuses another magic", () => {
    const other = message();
    new DataView(other).setUint32(0, 0xdeadbeef, true);
    expect(() => parseFrame(other)).toThrow("no frame");
  });

  it("refuses counts that the message can't hold, without allocating for them", () => {
    const greedy = message();
    new DataView(greedy).setUint32(STAGES, 0xffffffff, true);
    expect(() => parseFrame(greedy)).toThrow("before its 4294967295 stages");
  });

  it("refuses numbers that are not finite", () => {
    const bad = message();
    new DataView(bad).setFloat32(STAGES + 12 + 4 + 56 + 12, Number.NaN, true);
    expect(() => parseFrame(bad)).toThrow("vertex positions is not a finite number");
  });

  it("refuses a torn surface with a corner that is no vertex", () => {
    const bad = message();
    new DataView(bad).setUint32(STAGES + 12 + 4 + 56 + 12 + 24 + 8 + 12, 3, true);
    expect(() => parseFrame(bad)).toThrow("outside its 3 vertices");
  });

  it("refuses two eyes and lenses that can't be", () => {
    const eye = STAGES + 12;
    const two = message();
    new DataView(two).setUint32(eye, 2, true);
    expect(() => parseFrame(two)).toThrow("2 eyes");
    const flat = message();
    new DataView(flat).setFloat32(eye + 32, 3.2, true);
    expect(() => parseFrame(flat)).toThrow("field of view");
  });

  it("gives nothing but a frame or a FrameError for garbage", () => {
    let seed = 1;
    const random = () => {
      seed = (Math.imul(seed, 1664525) + 1013904223) >>> 0;
      return seed;
    };
    for (let round = 0; round < 2000; round += 1) {
      const garbled = message();
      const view = new DataView(garbled);
      for (let hit = 0; hit < 1 + (random() % 4); hit += 1) {
        view.setUint8(random() % garbled.byteLength, random() >>> 24);
      }
      try {
        parseFrame(garbled);
      } catch (error) {
        expect(error).toBeInstanceOf(FrameError);
      }
    }
  });
});

describe("checkFrame", () => {
  const scene = (vertices: number) =>
    ({
      tissues: [
        { name: "liver", vertices },
        { name: "film", vertices: 0 },
        { name: "capsule", vertices: 7 },
      ],
      bodies: [{}],
      instruments: [{}],
      stages: ["force", "aim"],
      endoscope: {},
    }) as unknown as SceneDescription;

  it("takes a frame of the scene", () => {
    checkFrame(parseFrame(message()), scene(2));
  });

  it("refuses a frame of another scene", () => {
    expect(() => checkFrame(parseFrame(message()), scene(3))).toThrow(
      "the frame has 2 vertices of liver, the scene has 3",
    );
  });
});
