// The camera hand: holds the endoscope.

import type { EndoscopeDescription, EndoscopeHandle } from "../wire";
import { ease } from "./hand";
import { clamp, cross, dot, type Eye, minus, type Place, plus, times, unit, type Vector } from "./space";
import { Swing } from "./swing";

export class Optic {
  private readonly wanted: EndoscopeHandle;
  private readonly now: EndoscopeHandle;
  private readonly build: EndoscopeDescription;
  private swing: Swing | null = null;
  private shaft: Vector | null = null;
  private depth = 0;

  constructor(handle: EndoscopeHandle, build: EndoscopeDescription) {
    this.wanted = { ...handle };
    this.now = { ...handle };
    this.build = build;
  }

  get handle(): Readonly<EndoscopeHandle> {
    return this.now;
  }

  /** Takes in a frame: the handle as reached and where the lens is. */
  see(handle: EndoscopeHandle, lens: Vector): void {
    const arm = minus(lens, this.build.trocar);
    this.depth = Math.hypot(...arm);
    if (this.depth < 1e-4) {
      return; // still in the wall: it points nowhere
    }
    this.shaft = times(arm, 1 / this.depth);
    this.swing ??= new Swing(upright(this.shaft, handle.pitch));
    this.swing.see(handle, this.shaft);
  }

  /**
   * Swings so that what lies `distance` m before the lens moves by `shift` in the picture, as if one had taken
   * hold of the picture and dragged it.
   */
  drag(shift: Place, eye: Eye, distance: number): void {
    if (this.swing === null || this.shaft === null) {
      return;
    }
    // A turn of the shaft by the vector w turns the line of sight too, and moves the lens across it.
    const shaft = this.shaft;
    const slope = (change: Vector): Place => {
      const w = cross(shaft, change);
      const motion = plus(times(cross(w, eye.forward), distance), times(change, this.depth));
      const scale = -eye.scale / distance;
      return [scale * dot(motion, eye.right), scale * dot(motion, eye.up)];
    };
    const [a, c] = slope(this.swing.byYaw);
    const [b, d] = slope(this.swing.byPitch);
    const determinant = a * d - b * c;
    // Steep optics near a quarter turn could lose a direction.
    if (Math.abs(determinant) < 1e-3 * (a * a + b * b + c * c + d * d)) {
      return;
    }
    const { yaw, pitch } = this.build.limits;
    this.wanted.yaw = clamp(this.wanted.yaw + (d * shift[0] - b * shift[1]) / determinant, yaw);
    this.wanted.pitch = clamp(this.wanted.pitch + (a * shift[1] - c * shift[0]) / determinant, pitch);
  }

  /** Pushes it in (positive) or pulls it out, m. */
  push(distance: number): void {
    this.wanted.depth = clamp(this.wanted.depth + distance, this.build.limits.depth);
  }

  /** Turns the light cable: the direction in which tilted optics look, rad. */
  cable(angle: number): void {
    this.wanted.roll += angle;
  }

  /** Turns the camera head: the picture, rad. */
  horizon(angle: number): void {
    this.wanted.horizon += angle;
  }

  /** Enlarges (above 1) or lessens the picture. */
  zoom(factor: number): void {
    this.wanted.zoom = clamp(this.wanted.zoom * factor, this.build.limits.zoom);
  }

  /** Back to where the scene has it. */
  reset(): void {
    Object.assign(this.wanted, this.build.handle);
  }

  /** Moves towards where it is wanted, for `seconds`. Returns whether it moved. */
  follow(seconds: number): boolean {
    let moved = false;
    for (const key of Object.keys(this.now) as (keyof EndoscopeHandle)[]) {
      const next = ease(this.now[key], this.wanted[key], seconds);
      moved ||= next !== this.now[key];
      this.now[key] = next;
    }
    return moved;
  }
}

/** A trocar's y is as near to the world's y as can be; x = y × z. */
function upright(shaft: Vector, pitch: number): [Vector, Vector] {
  const world: Vector = Math.abs(shaft[1]) > 0.99 ? [0, 0, 1] : [0, 1, 0];
  const y = unit(minus(world, times(shaft, dot(world, shaft))));
  return [times(cross(y, shaft), Math.cos(pitch)), y];
}
