// A stand-in for the real server: speaks the whole protocol, simulates nothing. A wobbling ellipsoid
// gives way under the tip of one instrument. For work on the page, and for the test of reconnecting.
//
//   npm run build && npm run fake [-- PORT]

import { createReadStream, existsSync } from "node:fs";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";
import { fileURLToPath } from "node:url";
import { WebSocketServer } from "ws";

const DIST = fileURLToPath(new URL("../dist/", import.meta.url));
const FRAMES_PER_SECOND = 60;

// As the real server must send it: what the page does beyond it shows as a console error.
const POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self'; connect-src 'self' ws:; img-src 'self' data:; " +
  "object-src 'none'; base-uri 'none'; frame-ancestors 'none'";

const TYPES = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript",
  ".css": "text/css",
  ".svg": "image/svg+xml",
};

const STAGES = ["input", "broad", "detect", "force", "aim", "advance", "correct", "edit", "observe"];
const HOME = { yaw: 0, pitch: 0, depth: 0.09, roll: 0, jaw: 0.6 };
const TROCAR = [0.09, 0.11, 0.05];
const AIM_AT = [0, 0.005, 0];
const SHAFT_LENGTH = 0.3;
const JAW_LENGTH = 0.018;

/** Starts the server on a free port of the loopback, or the one given. */
export async function startFakeServer({ port = 0 } = {}) {
  const organ = ellipsoid([0.045, 0.026, 0.034], 40, 64);
  const field = floor(0.3, -0.03, 48);
  const scene = {
    name: "Wobbling ellipsoid",
    step: 0.001,
    tissues: [
      {
        name: "organ",
        colour: [0.66, 0.23, 0.2],
        vertices: organ.positions.length / 3,
        positions: organ.positions,
        triangles: organ.triangles,
      },
    ],
    scenery: [{ name: "field", colour: [0.55, 0.3, 0.26], opacity: 1, ...field }],
    bodies: [{ name: "gallstone", colour: [0.78, 0.66, 0.35], half_extents: [0.005, 0.005, 0.005] }],
    instruments: [
      {
        name: "grasper",
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
    stages: STAGES,
  };

  const http = createServer((request, response) => {
    const path = normalize(new URL(request.url, "http://localhost").pathname);
    const file = join(DIST, path === "/" ? "index.html" : path);
    if (!file.startsWith(DIST) || !existsSync(file)) {
      response.writeHead(404).end();
      return;
    }
    response.writeHead(200, {
      "content-type": TYPES[extname(file)] ?? "application/octet-stream",
      "content-security-policy": POLICY,
    });
    createReadStream(file).pipe(response);
  });
  const sockets = new WebSocketServer({ server: http, path: "/ws" });
  const world = {
    time: 0,
    frame: 0,
    paused: false,
    sequence: 0,
    handle: { ...HOME },
    controller: null,
    downUntil: 0,
  };
  const received = [];

  sockets.on("connection", (socket) => {
    if (Date.now() < world.downUntil) {
      socket.terminate();
      return;
    }
    const role = world.controller === null ? "controller" : "viewer";
    if (role === "controller") {
      world.controller = socket;
      world.sequence = 0;
      world.handle = { ...HOME };
    }
    socket.send(JSON.stringify({ type: "hello", protocol: 1, role, scene }));
    socket.on("close", () => {
      if (world.controller === socket) {
        world.controller = null;
      }
    });
    socket.on("message", (data) => {
      const message = JSON.parse(data.toString());
      received.push({ role, message });
      if (role === "viewer") {
        return;
      }
      if (message.type === "handle") {
        const { yaw, pitch, depth, roll, jaw } = message;
        world.sequence = message.sequence;
        world.handle = { yaw, pitch, depth, roll, jaw };
      } else if (message.type === "restart") {
        Object.assign(world, { time: 0, paused: false, handle: { ...HOME } });
        socket.send(JSON.stringify({ type: "event", time: 0, text: "restarted" }));
      } else {
        world.paused = message.type === "pause";
      }
    });
  });

  const timer = setInterval(() => {
    if (!world.paused) {
      world.time += 1 / FRAMES_PER_SECOND;
    }
    world.frame += 1;
    const message = frameOf(world, organ.positions);
    for (const socket of sockets.clients) {
      if (socket.bufferedAmount < 1e6) {
        socket.send(message);
      }
    }
  }, 1000 / FRAMES_PER_SECOND);

  await new Promise((resolve) => http.listen(port, "127.0.0.1", resolve));
  const address = http.address();
  return {
    url: `http://127.0.0.1:${address.port}/`,
    received,
    /** Cuts every connection and takes no other for a while, as a fallen network would. */
    drop(milliseconds = 0) {
      world.downUntil = Date.now() + milliseconds;
      for (const socket of sockets.clients) {
        socket.terminate();
      }
    },
    async close() {
      clearInterval(timer);
      for (const socket of sockets.clients) {
        socket.terminate();
      }
      http.closeAllConnections();
      await new Promise((resolve) => http.close(resolve));
    },
  };
}

function frameOf(world, rest) {
  const { handle } = world;
  // The shaft at rest points from the trocar to the organ; yaw turns it about its y, pitch about its x.
  const turned = times(
    times(times(towards(subtract(AIM_AT, TROCAR)), about(1, handle.yaw)), about(0, handle.pitch)),
    about(2, handle.roll),
  );
  const axis = rotate(turned, [0, 0, 1]);
  const hinge = add(TROCAR, scale(axis, handle.depth));
  const tip = add(hinge, scale(axis, JAW_LENGTH));
  const { positions, depth } = dent(rest, tip, axis, world.time);
  const force = scale(axis, -60 * depth);

  const out = new Writer();
  out.u32(0x31465254, world.frame, world.sequence, world.paused ? 1 : 0);
  out.f64(world.time);
  out.f32(1, 412);
  const shares = [0.01, 0.05, 0.21, 0.16, 0.38, 0.09, 0.06, 0.01, 0.03];
  out.u32(shares.length);
  out.f32(...shares.map((share, i) => 412 * share * (1 + 0.05 * Math.sin(world.time + i))));
  out.u32(1, positions.length / 3);
  out.f32(...positions);
  out.u32(1);
  out.f32(-0.055, -0.022, 0.03, ...about(1, 0.3));
  out.u32(1);
  out.f32(...hinge, ...turned);
  out.f32(...hinge, ...times(turned, about(0, handle.jaw / 2)));
  out.f32(...hinge, ...times(turned, about(0, -handle.jaw / 2)));
  out.f32(handle.yaw, handle.pitch, handle.depth, handle.roll, handle.jaw, ...force);
  out.u32(handle.jaw < 0.1 && depth > 0 ? 3 : 0);
  return out.end();
}

/** The organ breathes, and gives way to a tip that is inside it. */
function dent(rest, tip, axis, time) {
  const [a, b, c] = [0.045, 0.026, 0.034];
  const inside = 1 - Math.hypot(tip[0] / a, tip[1] / b, tip[2] / c);
  const depth = Math.max(0, inside) * b;
  const positions = new Array(rest.length);
  for (let i = 0; i < rest.length; i += 3) {
    const p = [rest[i], rest[i + 1], rest[i + 2]];
    const breath = 1 + 0.015 * Math.sin(2 * time + 40 * p[0]);
    const far = Math.hypot(p[0] - tip[0], p[1] - tip[1], p[2] - tip[2]);
    const give = 1.5 * depth * Math.exp(-((far / 0.014) ** 2));
    for (let k = 0; k < 3; k += 1) {
      positions[i + k] = p[k] * breath + axis[k] * give;
    }
  }
  return { positions, depth };
}

function ellipsoid([a, b, c], rings, segments) {
  const positions = [];
  const triangles = [];
  for (let i = 0; i <= rings; i += 1) {
    const v = (Math.PI * i) / rings;
    for (let j = 0; j < segments; j += 1) {
      const u = (2 * Math.PI * j) / segments;
      positions.push(a * Math.sin(v) * Math.cos(u), b * Math.cos(v), c * Math.sin(v) * Math.sin(u));
      if (i < rings) {
        const next = (j + 1) % segments;
        const [p, q, r, s] = [
          i * segments + j,
          i * segments + next,
          (i + 1) * segments + j,
          (i + 1) * segments + next,
        ];
        triangles.push(p, q, r, q, s, r);
      }
    }
  }
  return { positions, triangles };
}

function floor(size, height, cells) {
  const positions = [];
  const triangles = [];
  for (let i = 0; i <= cells; i += 1) {
    for (let j = 0; j <= cells; j += 1) {
      const [x, z] = [size * (i / cells - 0.5), size * (j / cells - 0.5)];
      positions.push(x, height + 0.006 * Math.sin(40 * x + 1) * Math.cos(31 * z) + 1.2 * (x * x + z * z), z);
      if (i < cells && j < cells) {
        const p = i * (cells + 1) + j;
        triangles.push(p, p + 1, p + cells + 1, p + 1, p + cells + 2, p + cells + 1);
      }
    }
  }
  return { positions, triangles };
}

class Writer {
  buffer = Buffer.alloc(1 << 20);
  at = 0;
  u32(...values) {
    for (const value of values) {
      this.at = this.buffer.writeUInt32LE(value, this.at);
    }
  }
  f32(...values) {
    for (const value of values) {
      this.at = this.buffer.writeFloatLE(value, this.at);
    }
  }
  f64(value) {
    this.at = this.buffer.writeDoubleLE(value, this.at);
  }
  end() {
    return this.buffer.subarray(0, this.at);
  }
}

const add = (a, b) => a.map((value, i) => value + b[i]);
const subtract = (a, b) => a.map((value, i) => value - b[i]);
const scale = (a, factor) => a.map((value) => value * factor);

function about(axis, angle) {
  const turn = [0, 0, 0, Math.cos(angle / 2)];
  turn[axis] = Math.sin(angle / 2);
  return turn;
}

/** The shortest turn of +z to a direction. */
function towards(direction) {
  const [x, y, z] = scale(direction, 1 / Math.hypot(...direction));
  const turn = [-y, x, 0, 1 + z];
  return scale(turn, 1 / Math.hypot(...turn));
}

function times([ax, ay, az, aw], [bx, by, bz, bw]) {
  return [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ];
}

function rotate(turn, [x, y, z]) {
  const [qx, qy, qz] = times(times(turn, [x, y, z, 0]), [-turn[0], -turn[1], -turn[2], turn[3]]);
  return [qx, qy, qz];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { url } = await startFakeServer({ port: Number(process.argv[2] ?? 8787) });
  console.log(`listening on ${url}`);
}
