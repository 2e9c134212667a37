// Normals that are smooth where a surface is round and sharp at its edges.

import type { BufferGeometry } from "three";
import { toCreasedNormals } from "three/addons/utils/BufferGeometryUtils.js";

/**
 * Three takes vertices nearer than a hundredth for one. In metres that is a jaw, a needle or a lens as a whole, so surfaces are
 * enlarged for it and made small again; by a power of two, no bit is lost.
 */
const ENLARGED = 8192;

/** The geometry with a normal for every corner of every triangle; edges sharper than `crease`, rad, stay edges. */
export function creased(geometry: BufferGeometry, crease: number): BufferGeometry {
  const large = geometry.clone().scale(ENLARGED, ENLARGED, ENLARGED);
  const back = 1 / ENLARGED;
  return toCreasedNormals(large, crease).scale(back, back, back);
}
