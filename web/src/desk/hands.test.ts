import { describe, expect, it, vi } from "vitest";
import type { Frame } from "../frame";
import type { Handle, SceneDescription } from "../wire";
import type { Motion } from "./desk";
import { Hands, tipOf } from "./hands";
import type { Eye } from "./space";

const HOME: Handle = { yaw: 0, pitch: 0, depth: 0.1, roll: 0, jaw: 0.5 };
const LIMITS = { yaw: [-1, 1], pitch: [-1, 1], depth: [0.02, 0.2], jaw: [0, 0.9] };
const instrument = {
  trocar: [0, 0, 0.1],
  shaft_radius: 0.0025,
  jaw_length: 0.02,
  limits: LIMITS,
  handle: HOME,
};
const SCENE = { instruments: [instrument, instrument], endoscope: null } as unknown as SceneDescription;
const EYE: Eye = { position: [0, 0, 0.2], right: [1, 0, 0], up: [0, 1, 0], forward: [0, 0, -1], scale: 2 };
const STILL: Motion = {
  swing: [0, 0],
  push: 0,
  roll: 0,
  squeeze: 0,
  drag: [0, 0],
  reach: 0,
  cable: 0,
  horizon: 0,
  zoom: 1,
};

/** Shafts that come from the side, along +x. */
function frame(): Frame {
  const quarter = Math.SQRT1_2;
  const pose = new Float32Array([0.03, 0, 0.05, 0, quarter, 0, quarter]);
  const seen = { shaft: pose, jawA: pose, jawB: pose, handle: HOME, force: new Float32Array(3), grasped: 0 };
  return { instruments: [seen, seen], eye: null } as unknown as Frame;
}

function ready() {
  const hands = new Hands();
  hands.take(SCENE, null);
  hands.see(frame(), SCENE, EYE);
  const to = { steer: vi.fn(), look: vi.fn() };
  return { hands, to };
}

describe("tipOf", () => {
  it("is where the jaws end", () => {
    const tip = tipOf(frame(), SCENE, 0);
    expect(tip?.[0]).toBeCloseTo(0.05);
    expect(tip?.[2]).toBeCloseTo(0.05);
    expect(tipOf(frame(), SCENE, 7)).toBeNull();
  });
});

describe("Hands", () => {
  it("send nothing until something is done", () => {
    const { hands, to } = ready();
    hands.operate(STILL, null, 0.1, EYE, to);
    expect(to.steer).not.toHaveBeenCalled();
  });

  it("leave the jaws as the scene has them until they are squeezed, then open them wide", () => {
    const { hands, to } = ready();
    hands.operate({ ...STILL, push: 0.01 }, null, 0.5, EYE, to);
    expect(to.steer.mock.lastCall?.[1].jaw).toBe(0.5);
    hands.operate({ ...STILL, squeeze: 1 }, null, 0.5, EYE, to);
    expect(hands.handle?.jaw).toBe(0);
    hands.operate(STILL, null, 0.5, EYE, to);
    expect(hands.handle?.jaw).toBe(0.9);
  });

  it("keep a locked instrument shut while another is held", () => {
    const { hands, to } = ready();
    hands.lock();
    hands.operate(STILL, null, 0.5, EYE, to);
    hands.next();
    expect(hands.instrument).toBe(1);
    to.steer.mockClear();
    hands.operate({ ...STILL, squeeze: 1, push: 0.01 }, null, 0.5, EYE, to);
    expect(to.steer.mock.calls.map(([which]) => which)).toEqual([1]);
    hands.hold(0);
    expect(hands.handle?.jaw).toBe(0);
    hands.hold(9);
    expect(hands.instrument).toBe(0);
  });

  it("let the instrument be when the picture moves under the pointer", () => {
    const { hands, to } = ready();
    hands.operate(STILL, [0, 0], 0.05, EYE, to);
    for (let i = 1; i < 20; i += 1) {
      hands.operate(STILL, [0.02 * i, 0], 0.05, EYE, to);
    }
    expect(to.steer).toHaveBeenCalled();
    to.steer.mockClear();
    for (let i = 1; i < 10; i += 1) {
      const moved = { ...EYE, position: [0.01 * i, 0, 0.2] as const };
      hands.operate(STILL, null, 0.05, moved, to);
    }
    expect(to.steer).not.toHaveBeenCalled();
  });

  it("hold nothing once released", () => {
    const { hands, to } = ready();
    hands.release();
    hands.operate({ ...STILL, push: 0.01 }, [0, 0], 0.1, EYE, to);
    expect(to.steer).not.toHaveBeenCalled();
    expect(hands.handle).toBeNull();
  });
});
