// The shapes the view draws: surfaces that deform, and the parts of an instrument.

import {
  BufferAttribute,
  BufferGeometry,
  CylinderGeometry,
  DynamicDrawUsage,
  LatheGeometry,
  TorusGeometry,
  Vector2,
} from "three";

/** A surface whose vertices move every frame. */
export function surface(positions: ArrayLike<number>, triangles: ArrayLike<number>): BufferGeometry {
  const geometry = new BufferGeometry();
  const position = new BufferAttribute(new Float32Array(positions), 3).setUsage(DynamicDrawUsage);
  geometry.setAttribute("position", position);
  geometry.setAttribute(
    "normal",
    new BufferAttribute(new Float32Array(positions.length), 3).setUsage(DynamicDrawUsage),
  );
  // Where the vertex was at rest: the grain of the tissue clings to it.
  geometry.setAttribute("rest", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setIndex(new BufferAttribute(new Uint32Array(triangles), 1));
  shade(geometry);
  return geometry;
}

/** Moves the vertices of a {@link surface}. */
export function deform(geometry: BufferGeometry, positions: Float32Array): void {
  const position = geometry.getAttribute("position") as BufferAttribute;
  (position.array as Float32Array).set(positions);
  position.needsUpdate = true;
  shade(geometry);
}

/** Smooth vertex normals weighted by triangle area, in place: this runs every frame and allocates nothing. */
function shade(geometry: BufferGeometry): void {
  const attribute = geometry.getAttribute("normal") as BufferAttribute;
  smoothNormals(
    geometry.getAttribute("position").array as Float32Array,
    geometry.getIndex()?.array as Uint32Array,
    attribute.array as Float32Array,
  );
  attribute.needsUpdate = true;
}

export function smoothNormals(p: Float32Array, triangles: Uint32Array, n: Float32Array): void {
  n.fill(0);
  for (let t = 0; t < triangles.length; t += 3) {
    const a = 3 * triangles[t];
    const b = 3 * triangles[t + 1];
    const c = 3 * triangles[t + 2];
    const ux = p[b] - p[a];
    const uy = p[b + 1] - p[a + 1];
    const uz = p[b + 2] - p[a + 2];
    const vx = p[c] - p[a];
    const vy = p[c + 1] - p[a + 1];
    const vz = p[c + 2] - p[a + 2];
    const x = uy * vz - uz * vy;
    const y = uz * vx - ux * vz;
    const z = ux * vy - uy * vx;
    n[a] += x;
    n[a + 1] += y;
    n[a + 2] += z;
    n[b] += x;
    n[b + 1] += y;
    n[b + 2] += z;
    n[c] += x;
    n[c + 1] += y;
    n[c + 2] += z;
  }
  for (let i = 0; i < n.length; i += 3) {
    const length = Math.sqrt(n[i] * n[i] + n[i + 1] * n[i + 1] + n[i + 2] * n[i + 2]);
    // A vertex of no triangle keeps a zero normal; nobody sees it.
    const scale = length > 0 ? 1 / length : 0;
    n[i] *= scale;
    n[i + 1] *= scale;
    n[i + 2] *= scale;
  }
}

/** A straight tube along z from `from` to `to`, m. */
export function tube(radius: number, from: number, to: number): BufferGeometry {
  return new CylinderGeometry(radius, radius, to - from, 32)
    .rotateX(Math.PI / 2)
    .translate(0, 0, (from + to) / 2);
}

/** One jaw along +z: thick at the hinge, slim and toothed towards a rounded tip. */
export function jaw(length: number, radius: number): BufferGeometry {
  const profile: Vector2[] = [new Vector2(0, -radius)];
  const rings = 48;
  for (let i = 0; i <= rings; i += 1) {
    const along = i / rings;
    const body = radius * (1 - 0.35 * along);
    const tooth = along > 0.3 && along < 0.92 ? radius * 0.07 * (i % 2) : 0;
    const tip = Math.sqrt(Math.max(0, 1 - Math.max(0, (along - 0.88) / 0.12) ** 2));
    profile.push(new Vector2(Math.max(1e-6, (body - tooth) * tip), length * along));
  }
  return new LatheGeometry(profile, 24).rotateX(Math.PI / 2);
}

/** The rim of the port, about z. */
export function port(radius: number): BufferGeometry {
  return new TorusGeometry(radius * 1.7, radius * 0.5, 16, 40);
}
