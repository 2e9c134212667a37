// The shapes of instruments, in their own frames: origin at the hinge, +z towards the tip, m.

import { BufferAttribute, BufferGeometry, CylinderGeometry, LatheGeometry, Vector2 } from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import { creased } from "./creased";

/** Sharper edges than this, rad, stay edges. */
const CREASE = 0.7;

/** A solid through cross-sections of equally many points, each counter-clockwise as seen from +z; its ends are closed. */
export function loft(sections: (readonly [number, number, number])[][]): BufferGeometry {
  const positions: number[] = [];
  const triangles: number[] = [];
  const around = sections[0].length;
  for (const section of sections) {
    for (const point of section) {
      positions.push(...point);
    }
  }
  for (let s = 0; s + 1 < sections.length; s += 1) {
    for (let i = 0; i < around; i += 1) {
      const next = (i + 1) % around;
      const [a, b, c, d] = [s * around + i, s * around + next, (s + 1) * around + i, (s + 1) * around + next];
      triangles.push(a, b, c, b, d, c);
    }
  }
  const last = (sections.length - 1) * around;
  for (let i = 1; i + 1 < around; i += 1) {
    triangles.push(0, i + 1, i, last, last + i, last + i + 1);
  }
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setIndex(triangles);
  return creased(geometry, CREASE);
}

function merged(parts: BufferGeometry[]): BufferGeometry {
  const plain = parts.map((part) => {
    const loose = part.index ? part.toNonIndexed() : part;
    loose.deleteAttribute("uv");
    return loose;
  });
  const whole = mergeGeometries(plain);
  if (whole === null) {
    throw new Error("the parts of an instrument do not go together");
  }
  return whole;
}

/** A straight tube along z from `from` to `to`. */
export function tube(radius: number, from: number, to: number, open = false): BufferGeometry {
  return new CylinderGeometry(radius, radius, to - from, 40, 1, open)
    .rotateX(Math.PI / 2)
    .translate(0, 0, (from + to) / 2);
}

/**
 * One jaw along +z, the half with y > 0: a fenestrated grasper's, with teeth on its flat side. The other jaw is the
 * same, turned half about z.
 */
export function jaw(length: number, radius: number): BufferGeometry {
  const width = (z: number) => {
    const along = z / length;
    const tip = Math.sqrt(Math.max(0.0025, 1 - Math.max(0, (along - 0.86) / 0.14) ** 2));
    return radius * (1.12 - 0.22 * along) * tip;
  };
  const height = (z: number) => {
    const along = z / length;
    const tip = Math.sqrt(Math.max(0.04, 1 - Math.max(0, (along - 0.86) / 0.14) ** 2));
    return radius * (0.95 - 0.35 * along) * tip;
  };
  const pitch = length / 22;
  const tooth = (z: number, index: number) =>
    z > 0.2 * length && z < 0.95 * length ? radius * 0.13 * (index % 2) : 0;
  /** A slice of the half disc between two shares of its width, from -1 to 1. */
  const section = (z: number, index: number, left: number, right: number): [number, number, number][] => {
    const points: [number, number, number][] = [];
    const steps = 10;
    for (let i = 0; i <= steps; i += 1) {
      const share = right + ((left - right) * i) / steps;
      const bow = Math.sqrt(Math.max(0, 1 - share * share * 0.92));
      points.push([width(z) * share, height(z) * bow, z]);
    }
    const inner = tooth(z, index);
    points.push([width(z) * left, inner, z], [width(z) * right, inner, z]);
    return points;
  };
  const run = (from: number, to: number, left: number, right: number): BufferGeometry => {
    const steps = Math.max(2, Math.round((to - from) / (pitch / 2)));
    return loft(
      Array.from({ length: steps + 1 }, (_, i) => section(from + ((to - from) * i) / steps, i, left, right)),
    );
  };
  const [start, hole, end] = [-0.5 * radius, 0.34 * length, 0.8 * length];
  return merged([
    run(start, hole, -1, 1),
    run(hole, end, -1, -0.42),
    run(hole, end, 0.42, 1),
    run(end, length, -1, 1),
  ]);
}

/** A ring of points about z at height z. */
function ring(radius: number, z: number, around = 24): [number, number, number][] {
  return Array.from({ length: around }, (_, i) => {
    const angle = (2 * Math.PI * i) / around;
    return [radius * Math.cos(angle), radius * Math.sin(angle), z];
  });
}

/** The tip of a needle along +z: round, and rounded at its end, as the simulation has it. */
export function needleTip(length: number, radius: number): BufferGeometry {
  const caps = 8;
  const end = Array.from({ length: caps + 1 }, (_, i) => {
    const angle = (0.5 * Math.PI * i) / caps;
    return ring(Math.max(radius * Math.cos(angle), 1e-3 * radius), length - radius * (1 - Math.sin(angle)));
  });
  return loft([ring(radius, -0.2 * radius), ...end]);
}

/** One jaw of fine forceps along +z, the half with y > 0: slender, with a small platform at its end. The other is the same, turned half about z. */
export function forcepsJaw(length: number, radius: number): BufferGeometry {
  const section = (z: number, wide: number, high: number): [number, number, number][] => {
    const steps = 10;
    const points: [number, number, number][] = [];
    for (let i = 0; i <= steps; i += 1) {
      const angle = (Math.PI * i) / steps;
      points.push([wide * Math.cos(angle), high * Math.sin(angle), z]);
    }
    return points;
  };
  return loft([
    section(-0.5 * radius, 1.2 * radius, 1.1 * radius),
    section(0.3 * length, 0.9 * radius, 0.9 * radius),
    section(0.78 * length, 0.6 * radius, 0.7 * radius),
    section(0.84 * length, 0.95 * radius, 0.8 * radius),
    section(0.96 * length, 0.95 * radius, 0.8 * radius),
    section(length, 0.4 * radius, 0.3 * radius),
  ]);
}

/** One blade of scissors along +z, the half with y > 0: flat, thin at its edge, pointed. The other is the same, turned half about z. */
export function blade(length: number, radius: number): BufferGeometry {
  const section = (z: number, high: number): [number, number, number][] => [
    [0.5 * radius, 0, z],
    [0.45 * radius, high, z],
    [0.05 * radius, high, z],
    [0, 0, z],
  ];
  return loft([
    section(-0.6 * radius, 1.5 * radius),
    section(0.25 * length, 1.5 * radius),
    section(0.8 * length, 1.1 * radius),
    section(length, 0.15 * radius),
  ]);
}

/** The bare end of a shaft that carries a needle's tip: it tapers towards it. */
export function taper(radius: number, bare: number, end: number): BufferGeometry {
  return loft([
    ring(0.95 * radius, -bare),
    ring(0.95 * radius, -3 * radius),
    ring(end, 0),
    ring(0.8 * end, 0.3 * end),
  ]);
}

/** The bare end of a shaft: a collar, and the fork that carries the hinge. */
export function fork(radius: number, bare: number): BufferGeometry {
  const prong = (side: number) => {
    const [inner, outer] = [0.62 * radius, 0.95 * radius];
    const section = (z: number, high: number): [number, number, number][] => [
      [side > 0 ? outer : -inner, -high, z],
      [side > 0 ? outer : -inner, high, z],
      [side > 0 ? inner : -outer, high, z],
      [side > 0 ? inner : -outer, -high, z],
    ];
    return loft([
      section(-2.2 * radius, 0.55 * radius),
      section(-0.2 * radius, 0.62 * radius),
      section(0.5 * radius, 0.5 * radius),
      section(0.8 * radius, 0.2 * radius),
    ]);
  };
  const profile = [
    new Vector2(1e-5, -bare),
    new Vector2(0.9 * radius, -bare),
    new Vector2(0.9 * radius, -2.6 * radius),
    new Vector2(0.97 * radius, -2.5 * radius),
    new Vector2(0.97 * radius, -2.0 * radius),
    new Vector2(0.8 * radius, -1.8 * radius),
    new Vector2(1e-5, -1.75 * radius),
  ];
  const collar = creased(new LatheGeometry(profile, 40).rotateX(Math.PI / 2), CREASE);
  const pin = new CylinderGeometry(0.28 * radius, 0.28 * radius, 2.1 * radius, 20).rotateZ(Math.PI / 2);
  return merged([collar, prong(1), prong(-1), pin]);
}

/** The insulation of a shaft, from far out to where the metal begins. */
export function sleeve(radius: number, length: number, bare: number): BufferGeometry {
  const profile = [
    new Vector2(radius, -length),
    new Vector2(radius, -bare - 0.3 * radius),
    new Vector2(0.96 * radius, -bare),
    new Vector2(0.88 * radius, -bare),
  ];
  return creased(new LatheGeometry(profile, 40).rotateX(Math.PI / 2), CREASE);
}

/** A cannula: a tube with a slanted inner end and a head outside, about z; the wall of the body is at its origin. */
export function cannula(radius: number): BufferGeometry {
  const [inside, outside] = [6 * radius, 9 * radius];
  const ring = (r: number, z: number, slant: number): [number, number, number][] =>
    Array.from({ length: 40 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 40;
      return [r * Math.cos(angle), r * Math.sin(angle), z + slant * r * Math.sin(angle)];
    });
  const [outer, inner] = [1.55 * radius, 1.3 * radius];
  // Out along the inside, back along the outside: seen from within too.
  const wall = loft([
    ring(inner, -outside, 0),
    ring(inner, inside, 0.7),
    ring(outer, inside, 0.7),
    ring(outer, -outside, 0),
  ]);
  const head = tube(3.4 * radius, -outside - 7 * radius, -outside);
  return merged([wall, head]);
}

/** The shaft of an endoscope that ends in a slanted lens, about z; its end is at the origin. */
export function endoscope(radius: number, length: number, slant: number): BufferGeometry {
  const ring = (r: number, z: number, cut: number): [number, number, number][] =>
    Array.from({ length: 48 }, (_, i) => {
      const angle = (2 * Math.PI * i) / 48;
      return [r * Math.cos(angle), r * Math.sin(angle), z + cut * r * Math.sin(angle)];
    });
  const cut = Math.tan(Math.min(slant, 1.1));
  return merged([
    loft([
      ring(radius, -length, 0),
      ring(radius, -cut * radius, cut),
      ring(0.93 * radius, -cut * radius, cut),
    ]),
    tube(2.4 * radius, -length - 12 * radius, -length),
  ]);
}
