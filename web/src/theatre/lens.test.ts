import { PerspectiveCamera } from "three";
import { describe, expect, it } from "vitest";
import { halfHeight, lookThrough, OVERLAP, radiusOf } from "./lens";

const ANGLE = 1.2;

describe("the round picture", () => {
  it.each([16 / 9, 1, 9 / 16])("fits the smaller side of a screen of aspect %f", (aspect) => {
    // A ray at the rim of the round picture, in units of half the height of the screen.
    const rim = Math.tan(ANGLE / 2) / halfHeight(ANGLE, aspect);
    expect(rim).toBeCloseTo(radiusOf(aspect), 12);
    expect(rim / Math.min(1, aspect)).toBeCloseTo(OVERLAP, 12);
  });

  it("is seen from the eye, along -z", () => {
    const camera = new PerspectiveCamera();
    camera.aspect = 1.5;
    const quarter = Math.SQRT1_2;
    lookThrough(camera, {
      pose: new Float32Array([1, 2, 3, 0, quarter, 0, quarter]),
      fieldOfView: ANGLE,
      handle: { yaw: 0, pitch: 0, depth: 0, roll: 0, horizon: 0, zoom: 1 },
    });
    const ahead = camera.getWorldDirection(camera.position.clone());
    expect(camera.position.toArray()).toEqual([1, 2, 3]);
    expect(ahead.x).toBeCloseTo(-1, 6);
    expect(Math.tan((camera.fov * Math.PI) / 360)).toBeCloseTo(halfHeight(ANGLE, 1.5), 6);
  });
});
