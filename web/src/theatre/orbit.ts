// The free camera on its arm: turns about what it looks at.

import { MathUtils, type PerspectiveCamera, Quaternion, Spherical, Vector3 } from "three";
import type { CameraDescription } from "../wire";

/** One picture height of dragging turns by this, rad. */
const RADIANS = 1.4;
/** The arm never goes through the pole, where left and right would swap. */
const POLE = 0.12;

export class Orbit {
  private readonly target = new Vector3();
  private readonly up = new Vector3(0, 1, 0);
  private readonly home = new Spherical();
  private readonly arm = new Spherical();
  /** Turns the camera's `up` to y, where spherical coordinates live. */
  private readonly upright = new Quaternion();
  private readonly level = new Quaternion();
  private fieldOfView = 50;

  /**
   * Stands the camera where the scene says. `beside` an endoscope it stands farther away and to the side, so that the
   * endoscope is seen too.
   */
  place({ eye, target, up, field_of_view }: CameraDescription, beside = false): void {
    this.target.fromArray(target);
    this.up.fromArray(up).normalize();
    this.upright.setFromUnitVectors(this.up, new Vector3(0, 1, 0));
    this.level.copy(this.upright).invert();
    this.home.setFromVector3(new Vector3().fromArray(eye).sub(this.target).applyQuaternion(this.upright));
    this.home.radius = Math.max(this.home.radius, 1e-3);
    if (beside) {
      this.home.radius *= 2;
      this.home.theta += 0.55;
      this.home.phi -= 0.3;
    }
    this.home.phi = MathUtils.clamp(this.home.phi, POLE, Math.PI - POLE);
    this.arm.copy(this.home);
    this.fieldOfView = MathUtils.clamp(field_of_view, 5, 120);
  }

  /** Distance from the eye to the target, m. */
  get distance(): number {
    return this.arm.radius;
  }

  /** Drags the picture, in picture units. */
  turn(right: number, up: number): void {
    this.arm.theta -= right * RADIANS;
    this.arm.phi = MathUtils.clamp(this.arm.phi + up * RADIANS, POLE, Math.PI - POLE);
  }

  /** Moves nearer (below 1) or away. */
  zoom(factor: number): void {
    this.arm.radius = MathUtils.clamp(this.arm.radius * factor, this.home.radius / 8, this.home.radius * 4);
  }

  reset(): void {
    this.arm.copy(this.home);
  }

  /** Puts the camera where the arm has it. */
  apply(camera: PerspectiveCamera): void {
    camera.position.setFromSpherical(this.arm).applyQuaternion(this.level).add(this.target);
    camera.up.copy(this.up);
    camera.lookAt(this.target);
    camera.fov = this.fieldOfView;
    camera.near = this.arm.radius / 50;
    camera.far = this.home.radius * 60;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
  }
}
