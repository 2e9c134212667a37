import { Euler, Quaternion, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { Handle, Limits } from "../wire";
import { Hand } from "./hand";
import { type Eye, type Place, placeOf, type Vector } from "./space";

const HOME: Handle = { yaw: 0, pitch: 0, depth: 0.1, roll: 0, jaw: 0.6 };
const LIMITS: Limits = { yaw: [-0.8, 0.8], pitch: [-0.8, 0.8], depth: [0.02, 0.2], jaw: [0, 0.9] };
const TROCAR: Vector = [0.05, 0.08, 0.08];
/** Looks along -z from 0.2 m away. */
const EYE: Eye = { position: [0, 0, 0.2], right: [1, 0, 0], up: [0, 1, 0], forward: [0, 0, -1], scale: 2.5 };

type Mount = (handle: Handle) => Quaternion;
const down = new Quaternion().setFromUnitVectors(
  new Vector3(0, 0, 1),
  new Vector3(-0.05, -0.08, -0.08).normalize(),
);

/** The hand knows none of these. */
const MOUNTS: Record<string, Mount> = {
  "yaw about y, then pitch about x": ({ yaw, pitch }) =>
    new Quaternion().setFromEuler(new Euler(pitch, yaw, 0, "YXZ")),
  "signs the other way": ({ yaw, pitch }) => new Quaternion().setFromEuler(new Euler(-pitch, -yaw, 0, "YXZ")),
  "pitch first, axes swapped": ({ yaw, pitch }) =>
    new Quaternion().setFromEuler(new Euler(yaw, pitch, 0, "XYZ")),
};

function tipOf(handle: Handle, mount: Mount): Vector {
  const axis = new Vector3(0, 0, handle.depth).applyQuaternion(down.clone().multiply(mount(handle)));
  return axis.add(new Vector3(...TROCAR)).toArray() as Vector;
}

/** Runs the loop of the page: the simulation answers three pictures late. */
function operate(hand: Hand, mount: Mount, goal: Place, pictures: number): Place {
  const late: Handle[] = [];
  let reached = { ...hand.handle };
  for (let i = 0; i < pictures; i += 1) {
    hand.see({ handle: { ...reached }, tip: tipOf(reached, mount), trocar: TROCAR }, EYE);
    hand.aim(goal, EYE);
    hand.follow(1 / 60);
    late.push({ ...hand.handle });
    reached = late[Math.max(0, i - 3)];
  }
  return placeOf(tipOf(reached, mount), EYE) as Place;
}

describe("placeOf", () => {
  it("is the pinhole camera", () => {
    expect(placeOf([0.02, -0.04, 0], EYE)).toEqual([0.25, -0.5]);
    expect(placeOf([0, 0, 0.3], EYE)).toBeNull();
  });
});

describe("Hand", () => {
  it("keeps the tip under the pointer while it is pushed, however late the picture", () => {
    const mount = MOUNTS["yaw about y, then pitch about x"];
    const [hand, goal] = [new Hand(HOME, LIMITS), [0.1, 0.1] as Place];
    operate(hand, mount, goal, 120);
    const reached = { ...hand.handle };
    // One picture after a long while: what was pushed is made up for in the same message.
    hand.see({ handle: reached, tip: tipOf(reached, mount), trocar: TROCAR }, EYE);
    hand.push(0.01);
    hand.aim(goal, EYE, 0.1);
    hand.follow(0.1);
    const place = placeOf(tipOf(hand.handle, mount), EYE) as Place;
    const thrown = placeOf(tipOf({ ...reached, depth: hand.handle.depth }, mount), EYE) as Place;
    const off = ([x, y]: Place) => Math.hypot(x - goal[0], y - goal[1]);
    expect(hand.handle.depth - reached.depth).toBeGreaterThan(0.007);
    expect(off(place)).toBeLessThan(0.2 * off(thrown));
  });

  for (const [name, mount] of Object.entries(MOUNTS)) {
    it(`brings the tip under the pointer: ${name}`, () => {
      const hand = new Hand(HOME, LIMITS);
      for (const goal of [
        [0.1, 0.1],
        [-0.2, 0.05],
        [0.25, 0.2],
      ] as Place[]) {
        const place = operate(hand, mount, goal, 240);
        expect(Math.hypot(place[0] - goal[0], place[1] - goal[1])).toBeLessThan(0.01);
      }
    });
  }

  it("comes to rest where it can't reach, and then says nothing more", () => {
    const hand = new Hand(HOME, LIMITS);
    operate(hand, MOUNTS["signs the other way"], [3, -2], 400);
    expect(hand.follow(1 / 60)).toBe(false);
  });

  it("never leaves its limits nor moves faster than a hand", () => {
    const hand = new Hand(HOME, LIMITS);
    let before = { ...hand.handle };
    for (let i = 0; i < 300; i += 1) {
      const tip = tipOf(hand.handle, MOUNTS["signs the other way"]);
      hand.see({ handle: { ...hand.handle }, tip, trocar: TROCAR }, EYE);
      hand.aim([50 * Math.sin(i), -90 * Math.cos(i)], EYE);
      hand.push(i % 7 === 0 ? 1 : -0.3);
      hand.squeeze(i % 3 === 0 ? 1.5 : -1);
      hand.follow(1 / 60);
      const { yaw, pitch, depth, jaw } = hand.handle;
      for (const [value, [low, high]] of [
        [yaw, LIMITS.yaw],
        [pitch, LIMITS.pitch],
        [depth, LIMITS.depth],
        [jaw, LIMITS.jaw],
      ] as const) {
        expect(value).toBeGreaterThanOrEqual(low);
        expect(value).toBeLessThanOrEqual(high);
      }
      expect(Math.hypot(yaw - before.yaw, pitch - before.pitch)).toBeLessThan(2.5 / 60 + 1e-9);
      before = { ...hand.handle };
    }
  });

  it("stays still until told otherwise", () => {
    const hand = new Hand(HOME, LIMITS);
    expect(hand.follow(1)).toBe(false);
    expect(hand.handle).toEqual(HOME);
  });

  it("closes the jaws while squeezed, and opens them after", () => {
    const hand = new Hand(HOME, LIMITS);
    hand.squeeze(1);
    hand.follow(1);
    expect(hand.handle.jaw).toBe(0);
    hand.squeeze(0);
    hand.follow(1);
    expect(hand.handle.jaw).toBe(0.9);
    hand.squeeze(0.5);
    hand.follow(1);
    expect(hand.handle.jaw).toBeCloseTo(0.45);
  });

  it("knows from the shaft how it is mounted, and goes the right way at once", () => {
    const mount: Mount = ({ yaw, pitch, roll }) =>
      new Quaternion()
        .setFromEuler(new Euler(-pitch, yaw, 0, "YXZ"))
        .multiply(new Quaternion().setFromAxisAngle(new Vector3(0, 0, 1), roll));
    const handle = { ...HOME, yaw: 0.2, pitch: -0.3, roll: 1.1 };
    const hand = new Hand(handle, LIMITS);
    const shaft = down.clone().multiply(mount(handle)).toArray();
    hand.see({ handle, tip: tipOf(handle, mount), trocar: TROCAR, shaft }, EYE);
    const before = placeOf(tipOf(handle, mount), EYE) as Place;
    hand.aim([before[0] + 0.05, before[1]], EYE);
    hand.follow(1);
    const after = placeOf(tipOf(hand.handle, mount), EYE) as Place;
    expect(after[0] - before[0]).toBeGreaterThan(0.03);
    expect(Math.abs(after[1] - before[1])).toBeLessThan(0.01);
  });

  it("rests when told: an old goal counts no more", () => {
    const hand = new Hand(HOME, LIMITS);
    hand.see({ handle: HOME, tip: tipOf(HOME, MOUNTS["signs the other way"]), trocar: TROCAR }, EYE);
    hand.aim([0.5, 0.5], EYE);
    hand.rest();
    expect(hand.follow(1)).toBe(false);
  });

  it("pushes and rolls", () => {
    const hand = new Hand(HOME, LIMITS);
    hand.push(0.01);
    hand.roll(-0.5);
    hand.follow(1);
    expect(hand.handle.depth).toBeCloseTo(0.11);
    expect(hand.handle.roll).toBe(-0.5);
  });
});
