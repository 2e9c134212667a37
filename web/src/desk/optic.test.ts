import { Euler, Matrix4, Quaternion, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import type { EndoscopeDescription, EndoscopeHandle } from "../wire";
import { Optic } from "./optic";
import { type Eye, type Place, placeOf, type Vector } from "./space";

const HOME: EndoscopeHandle = { yaw: 0, pitch: 0, depth: 0.1, roll: 0.4, horizon: 0, zoom: 1 };
const TROCAR: Vector = [0.02, 0.12, 0.14];
const BUILD: EndoscopeDescription = {
  trocar: [...TROCAR],
  radius: 0.005,
  optics: 0.52,
  field_of_view: 1.2,
  limits: { yaw: [-0.7, 0.7], pitch: [-0.7, 0.7], depth: [0.02, 0.16], zoom: [1, 3] },
  handle: HOME,
};
const Y = new Vector3(0, 1, 0);
const z = new Vector3(0, 0, 1);

/** The endoscope as the simulation builds it. */
function eyeOf({ yaw, pitch, depth, roll, horizon, zoom }: EndoscopeHandle): Eye {
  const axis = new Vector3(0.01, -0.01, 0).sub(new Vector3(...TROCAR)).normalize();
  const side = Y.clone().cross(axis).normalize();
  const trocar = new Quaternion().setFromRotationMatrix(
    new Matrix4().makeBasis(side, axis.clone().cross(side), axis),
  );
  const shaft = trocar.clone().multiply(new Quaternion().setFromEuler(new Euler(-pitch, yaw, 0, "YXZ")));
  const rolled = shaft.clone().multiply(new Quaternion().setFromAxisAngle(z, roll));
  const ahead = new Vector3(0, -Math.sin(BUILD.optics), Math.cos(BUILD.optics)).applyQuaternion(rolled);
  const up = Y.clone().addScaledVector(ahead, -Y.dot(ahead)).normalize().applyAxisAngle(ahead, -horizon);
  const right = ahead.clone().cross(up);
  const lens = z
    .clone()
    .multiplyScalar(depth)
    .applyQuaternion(shaft)
    .add(new Vector3(...TROCAR));
  return {
    position: lens.toArray() as Vector,
    right: right.toArray() as Vector,
    up: up.toArray() as Vector,
    forward: ahead.toArray() as Vector,
    scale: zoom / Math.tan(BUILD.field_of_view / 2),
  };
}

function far(eye: Eye, distance: number): Vector {
  return eye.position.map((value, k) => value + distance * eye.forward[k]) as unknown as Vector;
}

describe("Optic", () => {
  for (const shift of [
    [0.1, 0],
    [0, 0.1],
    [-0.07, 0.05],
  ] as Place[]) {
    it(`drags the picture by ${shift}`, () => {
      const optic = new Optic(HOME, BUILD);
      const before = eyeOf(HOME);
      const target = far(before, 0.08);
      optic.see(HOME, before.position);
      optic.drag(shift, before, 0.08);
      for (let i = 0; i < 60; i += 1) {
        optic.follow(1 / 60);
      }
      const place = placeOf(target, eyeOf(optic.handle)) as Place;
      expect(Math.hypot(place[0] - shift[0], place[1] - shift[1])).toBeLessThan(0.02);
    });
  }

  it("stays within its limits, and comes back", () => {
    const optic = new Optic(HOME, BUILD);
    optic.see(HOME, eyeOf(HOME).position);
    for (let i = 0; i < 50; i += 1) {
      optic.drag([5, -3], eyeOf(HOME), 0.08);
      optic.push(1);
      optic.zoom(3);
      optic.follow(0.1);
    }
    const { yaw, pitch, depth, zoom } = optic.handle;
    expect(Math.abs(yaw)).toBeLessThanOrEqual(0.7);
    expect(Math.abs(pitch)).toBeLessThanOrEqual(0.7);
    expect(depth).toBeCloseTo(0.16, 5);
    expect(zoom).toBeCloseTo(3, 5);
    optic.reset();
    for (let i = 0; i < 200; i += 1) {
      optic.follow(1 / 60);
    }
    expect(optic.handle).toEqual(HOME);
    expect(optic.follow(1)).toBe(false);
  });

  it("turns cable and horizon apart", () => {
    const optic = new Optic(HOME, BUILD);
    optic.cable(0.3);
    optic.horizon(-0.2);
    optic.follow(5);
    expect(optic.handle.roll).toBeCloseTo(0.7);
    expect(optic.handle.horizon).toBeCloseTo(-0.2);
  });
});
