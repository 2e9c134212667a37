// The scene of the stand-in, and what its binary messages say: a small organ that breathes and gives way.

import {
  about,
  add,
  ellipsoid,
  floor,
  rotate,
  scale,
  subtract,
  times,
  towards,
  Writer,
} from "./geometry.mjs";

const STAGES = ["input", "broad", "detect", "force", "aim", "advance", "correct", "edit", "observe"];
const SHARES = [0.01, 0.05, 0.21, 0.16, 0.38, 0.09, 0.06, 0.01, 0.03];
const STEP_COST = 412;
const TROCAR = [0.1, 0.1, 0.04];
const AIM_AT = [0, 0.012, 0];
const SHAFT_LENGTH = 0.3;
const JAW_LENGTH = 0.018;
const RADII = [0.045, 0.026, 0.034];
const SCOPE_TROCAR = [0, 0.09, 0.2];
const SCOPE_AIM = [0, 0.065, 0];

export const HOME = { yaw: 0, pitch: 0, depth: 0.085, roll: 0, jaw: 0.6 };
export const SCOPE_HOME = { yaw: 0, pitch: 0, depth: 0.11, roll: 0, horizon: 0, zoom: 1 };

const organ = ellipsoid(RADII, 36, 56);
const vessel = ellipsoid([0.05, 0.004, 0.004], 12, 12);
for (let i = 0; i < vessel.positions.length; i += 3) {
  const x = vessel.positions[i];
  vessel.positions[i + 1] += 0.012 - 3 * x * x;
  vessel.positions[i + 2] -= 0.032;
}

/** `optics` in degrees; null: a scene with a free camera. */
export function sceneOf({ id, name, about: words, optics }) {
  return {
    name,
    about: words,
    step: 0.001,
    calibrated: false,
    hash: Buffer.from(id).toString("hex").padEnd(16, "0"),
    tissues: [
      {
        name: "organ",
        colour: [0.66, 0.23, 0.2],
        look: "gall_bladder",
        vertices: organ.positions.length / 3,
        positions: organ.positions,
        path: null,
        triangles: organ.triangles,
      },
      {
        name: "vessel",
        colour: [0.75, 0.2, 0.2],
        look: "artery",
        vertices: vessel.positions.length / 3,
        positions: vessel.positions,
        triangles: vessel.triangles,
      },
    ],
    scenery: [
      { name: "field", colour: [0.55, 0.3, 0.26], look: "liver", opacity: 1, ...floor(0.3, -0.03, 48) },
    ],
    bodies: [{ name: "gallstone", colour: [0.78, 0.66, 0.35], ...box(0.005) }],
    instruments: [
      {
        name: "grasper",
        kind: "grasper",
        bend: 0,
        trocar: TROCAR,
        shaft_radius: 0.0025,
        shaft_length: SHAFT_LENGTH,
        jaw_length: JAW_LENGTH,
        jaw_radius: 0.0018,
        limits: { yaw: [-0.8, 0.8], pitch: [-0.8, 0.8], depth: [0.03, 0.2], jaw: [0, 0.9] },
        handle: HOME,
      },
    ],
    camera: { eye: [0.02, 0.12, 0.17], target: [0, 0, 0], up: [0, 1, 0], field_of_view: 42 },
    endoscope:
      optics === null
        ? null
        : {
            trocar: SCOPE_TROCAR,
            radius: 0.005,
            optics: (optics * Math.PI) / 180,
            field_of_view: 1.22,
            limits: { yaw: [-0.6, 0.6], pitch: [-0.6, 0.6], depth: [0.04, 0.16], zoom: [1, 3] },
            handle: SCOPE_HOME,
          },
    stages: STAGES,
  };
}

/** The shaft's pose: origin at the hinge, +z to the tip. */
export function shaftOf(handle) {
  const turn = times(
    towards(subtract(AIM_AT, TROCAR)),
    about(1, handle.yaw),
    about(0, handle.pitch),
    about(2, handle.roll),
  );
  const axis = rotate(turn, [0, 0, 1]);
  const hinge = add(TROCAR, scale(axis, handle.depth));
  return { turn, axis, hinge, tip: add(hinge, scale(axis, JAW_LENGTH)) };
}

/** How deep a point is in the organ, m. */
export function depthOf(point) {
  const inside = 1 - Math.hypot(point[0] / RADII[0], point[1] / RADII[1], point[2] / RADII[2]);
  return Math.max(0, inside) * RADII[1];
}

function eyeOf(handle, optics) {
  const turn = times(
    towards(subtract(SCOPE_AIM, SCOPE_TROCAR)),
    about(1, handle.yaw),
    about(0, handle.pitch),
    // An eye looks along −z; the light cable turns the tilted optics, not the picture.
    about(0, Math.PI),
    about(2, -handle.roll),
    about(0, -optics),
    about(2, handle.roll + handle.horizon),
  );
  const shaft = times(
    towards(subtract(SCOPE_AIM, SCOPE_TROCAR)),
    about(1, handle.yaw),
    about(0, handle.pitch),
  );
  return [...add(SCOPE_TROCAR, scale(rotate(shaft, [0, 0, 1]), handle.depth)), ...turn];
}

/** One picture of `world`: { frame, sequence, paused, slow, atEnd, time, rate, handle, scope, grasped }. */
export function frameOf(world, scene) {
  const { handle, scope } = world;
  const { turn, axis, hinge, tip } = shaftOf(handle);
  const depth = depthOf(tip);
  const grasped = world.grasped ? 3 : 0;
  const positions = organAt(tip, axis, depth, world);
  const force = world.grasped ? [0, -2.2 * world.lift * 40, 0] : scale(axis, -60 * depth);

  const out = new Writer();
  const flags = (world.paused ? 1 : 0) | (world.slow ? 2 : 0) | (world.atEnd ? 4 : 0);
  out.u32(0x33465254, world.frame, world.sequence, flags);
  out.f64(world.time);
  out.f32(world.paused ? 0 : world.rate, STEP_COST);
  out.f32(2e-6 * (1 + 0.3 * Math.sin(world.time)));
  out.u32(7);
  out.f32(3e-7);
  out.u32(depth > 0 ? 12 : 2, 1);
  out.f32(0.0004 * (1 + Math.sin(2 * world.time)), 0.031, 0.0021 + 0.4 * depth);
  out.u32(SHARES.length);
  out.f32(...SHARES.map((share, i) => STEP_COST * share * (1 + 0.05 * Math.sin(world.time + i))));
  if (scene.endoscope) {
    out.u32(1);
    out.f32(...eyeOf(scope, scene.endoscope.optics), scene.endoscope.field_of_view / scope.zoom);
    out.f32(scope.yaw, scope.pitch, scope.depth, scope.roll, scope.horizon, scope.zoom);
  } else {
    out.u32(0);
  }
  out.u32(2, positions.length / 3, 0);
  out.f32(...positions);
  out.u32(vessel.positions.length / 3, 0);
  out.f32(...vessel.positions.map((value) => value * (1 + 0.004 * Math.sin(7 * world.time))));
  out.u32(1);
  out.f32(-0.055, -0.022, 0.03, ...about(1, 0.3));
  out.u32(1);
  out.f32(...hinge, ...turn);
  out.f32(...hinge, ...times(turn, about(0, handle.jaw / 2)));
  out.f32(...hinge, ...times(turn, about(0, -handle.jaw / 2)));
  out.f32(handle.yaw, handle.pitch, handle.depth, handle.roll, handle.jaw, ...force);
  out.u32(grasped);
  return out.end();
}

/** The organ breathes, gives way to a tip that is inside it, and follows one that holds it. */
function organAt(tip, axis, depth, world) {
  const rest = organ.positions;
  const positions = new Array(rest.length);
  for (let i = 0; i < rest.length; i += 3) {
    const p = [rest[i], rest[i + 1], rest[i + 2]];
    const breath = 1 + 0.015 * Math.sin(2 * world.time + 40 * p[0]);
    const from = world.grasped ?? tip;
    const far = Math.hypot(p[0] - from[0], p[1] - from[1], p[2] - from[2]);
    const near = Math.exp(-((far / (world.grasped ? 0.024 : 0.014)) ** 2));
    for (let k = 0; k < 3; k += 1) {
      const give = world.grasped ? tip[k] - from[k] : 1.5 * depth * axis[k];
      positions[i + k] = p[k] * breath + give * near;
    }
  }
  return positions;
}

/** What the inside looks like, for those who asked. */
export function insightOf(world, wanted) {
  const { tip, axis } = shaftOf(world.handle);
  const positions = organAt(tip, axis, depthOf(tip), world);
  const nodes = [];
  for (let i = 0; i < positions.length; i += 3 * 7) {
    nodes.push(positions.slice(i, i + 3));
  }
  const out = new Writer();
  out.u32(0x37495254, world.frame);
  list(out, wanted.nodes ? nodes : [], (node, i) => {
    out.f32(...node);
    out.u32(i % 29 === 0 ? 2 : 0);
  });
  list(out, wanted.elements ? nodes.slice(1) : [], (node, i) => {
    out.f32(...nodes[i], ...node, Math.sin(world.time + i));
  });
  list(out, wanted.elements ? [nodes[0]] : [], (node) => out.f32(...node, 0, 0.002, 0));
  list(out, (wanted.contacts || wanted.depths) && depthOf(tip) > 0 ? [tip] : [], (point) =>
    out.f32(...point, ...scale(axis, -1), 60 * depthOf(tip), depthOf(tip)),
  );
  list(out, wanted.forces ? nodes : [], (node, i) =>
    out.f32(...node, 0, -0.02 * (1 + Math.sin(world.time + i)), 0),
  );
  list(out, wanted.anchors && world.grasped ? [tip] : [], (point) => out.f32(...point, ...world.grasped));
  list(out, wanted.frames ? [0] : [], () => out.f32(-0.055, -0.022, 0.03, ...about(1, 0.3)));
  list(out, wanted.normals ? nodes : [], (node) => out.f32(...node, 0, 1, 0));
  const near = depthOf(tip) > 0 ? 1 : 0;
  // Two levels: a box around each node, and one around all of them.
  const around = [nodes, [nodes[0]]].flatMap((all, level) => all.map((node) => ({ node, level })));
  list(out, wanted.boxes ? around : [], ({ node, level }) => {
    const half = 0.003 * (1 + 9 * level);
    out.f32(...node.map((x) => x - half), ...node.map((x) => x + half), near, level);
  });
  // It has no membrane.
  list(out, [], () => {});
  // Its organ shows a grid.
  list(out, wanted.depths ? nodes : [], (node) => out.f32(...node, node[0], node[1] + 0.001, node[2]));
  out.u32(wanted.boxes ? 3 : 0, wanted.boxes ? around.length : 0, near, 0, near, 0, 0, 0, near);
  out.f32(Math.max(0, depthOf(tip)));
  return out.end();
}

function list(out, things, write) {
  out.u32(things.length);
  things.forEach(write);
}

/** The surface of a cube of this half edge. */
function box(half) {
  const positions = [0, 1, 2, 3, 4, 5, 6, 7].flatMap((k) =>
    [k & 1, k & 2, k & 4].map((bit) => (bit ? half : -half)),
  );
  const faces = [
    [0, 4, 6, 2],
    [1, 3, 7, 5],
    [0, 1, 5, 4],
    [2, 6, 7, 3],
    [0, 2, 3, 1],
    [4, 5, 7, 6],
  ];
  return { positions, triangles: faces.flatMap(([a, b, c, d]) => [a, b, c, a, c, d]) };
}
