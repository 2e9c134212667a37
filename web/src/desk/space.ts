// Points, places and eyes: the little geometry that the hands need.

export type Vector = readonly [number, number, number];
/** A place in the picture: y from -1 (bottom) to 1 (top), x to the right in the same unit. */
export type Place = readonly [number, number];

/** What the picture is seen with: an orthonormal frame and 1 / tan(half the vertical field of view). */
export interface Eye {
  position: Vector;
  right: Vector;
  up: Vector;
  forward: Vector;
  scale: number;
}

/** Where a point appears in the picture; null behind the eye. */
export function placeOf(point: Vector, eye: Eye): Place | null {
  const ray = minus(point, eye.position);
  const away = dot(ray, eye.forward);
  if (away <= 0) {
    return null;
  }
  return [(eye.scale * dot(ray, eye.right)) / away, (eye.scale * dot(ray, eye.up)) / away];
}

/** The direction in which a place of the picture is seen; of unit length. */
export function rayTo([x, y]: Place, eye: Eye): Vector {
  return unit(plus(times(eye.forward, eye.scale), plus(times(eye.right, x), times(eye.up, y))));
}

/** Turns a vector by a quaternion x y z w. */
export function turn(vector: Vector, [x, y, z, w]: ArrayLike<number> & Iterable<number>): Vector {
  const axis: Vector = [x, y, z];
  const once = cross(axis, vector);
  return plus(vector, times(plus(times(once, w), cross(axis, once)), 2));
}

export function clamp(value: number, [low, high]: readonly [number, number]): number {
  return Math.min(high, Math.max(low, value));
}

export function plus(a: Vector, b: Vector): Vector {
  return [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
}

export function minus(a: Vector, b: Vector): Vector {
  return [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
}

export function times(a: Vector, factor: number): Vector {
  return [a[0] * factor, a[1] * factor, a[2] * factor];
}

export function dot(a: Vector, b: Vector): number {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

export function cross(a: Vector, b: Vector): Vector {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function unit(a: Vector): Vector {
  return times(a, 1 / Math.max(Math.hypot(...a), 1e-12));
}
