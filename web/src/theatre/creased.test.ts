import { BoxGeometry, SphereGeometry, Vector3 } from "three";
import { describe, expect, it } from "vitest";
import { creased } from "./creased";

const CREASE = 0.6;

describe("normals", () => {
  it.each([0.001, 0.01, 1, 100])("are those of a ball of %d m", (radius) => {
    const ball = creased(new SphereGeometry(radius, 20, 10), CREASE);
    const at = ball.getAttribute("position");
    const normal = ball.getAttribute("normal");
    for (let i = 0; i < at.count; i += 1) {
      const out = new Vector3().fromBufferAttribute(at, i);
      expect(out.length()).toBeCloseTo(radius, 4 - Math.log10(radius));
      const angle = out.angleTo(new Vector3().fromBufferAttribute(normal, i));
      expect(angle).toBeLessThan(0.12);
    }
  });

  it("stay sharp at the edges of a small box", () => {
    const box = creased(new BoxGeometry(0.002, 0.003, 0.004), CREASE);
    const normal = box.getAttribute("normal");
    for (let i = 0; i < normal.count; i += 1) {
      const n = new Vector3().fromBufferAttribute(normal, i);
      expect(Math.max(Math.abs(n.x), Math.abs(n.y), Math.abs(n.z))).toBeCloseTo(1, 6);
    }
  });
});
