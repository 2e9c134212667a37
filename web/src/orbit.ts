// The camera on its arm: turns about what it looks at.

import { MathUtils, type PerspectiveCamera, Quaternion, Spherical, Vector3 } from "three";
import type { SceneDescription } from "./wire";

const RADIANS_PER_PIXEL = 0.005;
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
  private readonly camera: PerspectiveCamera;

  constructor(camera: PerspectiveCamera) {
    this.camera = camera;
  }

  /** Stands the camera where the scene says. */
  place({ eye, target, up, field_of_view }: SceneDescription["camera"]): void {
    this.target.fromArray(target);
    this.up.fromArray(up).normalize();
    this.upright.setFromUnitVectors(this.up, new Vector3(0, 1, 0));
    this.level.copy(this.upright).invert();
    this.home.setFromVector3(new Vector3().fromArray(eye).sub(this.target).applyQuaternion(this.upright));
    this.arm.copy(this.home);
    const distance = this.home.radius;
    this.camera.fov = field_of_view;
    this.camera.near = distance / 50;
    this.camera.far = distance * 50;
    this.camera.updateProjectionMatrix();
    this.apply();
  }

  /** Distance from the eye to the target as the scene has it, m. */
  get distance(): number {
    return this.home.radius;
  }

  turn(right: number, down: number): void {
    this.arm.theta -= right * RADIANS_PER_PIXEL;
    this.arm.phi = MathUtils.clamp(this.arm.phi - down * RADIANS_PER_PIXEL, POLE, Math.PI - POLE);
    this.apply();
  }

  /** Moves nearer (below 1) or away. */
  zoom(factor: number): void {
    this.arm.radius = MathUtils.clamp(this.arm.radius * factor, this.home.radius / 4, this.home.radius * 4);
    this.apply();
  }

  reset(): void {
    this.arm.copy(this.home);
    this.apply();
  }

  private apply(): void {
    this.camera.position.setFromSpherical(this.arm).applyQuaternion(this.level).add(this.target);
    this.camera.up.copy(this.up);
    this.camera.lookAt(this.target);
    this.camera.updateMatrixWorld();
  }
}
