// Vectors, turns (quaternions x y z w) and the meshes of the stand-in's scene.

export const add = (a, b) => a.map((value, i) => value + b[i]);
export const subtract = (a, b) => a.map((value, i) => value - b[i]);
export const scale = (a, factor) => a.map((value) => value * factor);

export function about(axis, angle) {
  const turn = [0, 0, 0, Math.cos(angle / 2)];
  turn[axis] = Math.sin(angle / 2);
  return turn;
}

/** The shortest turn of +z to a direction. */
export function towards(direction) {
  const [x, y, z] = scale(direction, 1 / Math.hypot(...direction));
  const turn = [-y, x, 0, 1 + z];
  return scale(turn, 1 / Math.hypot(...turn));
}

export function times(...turns) {
  return turns.reduce(([ax, ay, az, aw], [bx, by, bz, bw]) => [
    aw * bx + ax * bw + ay * bz - az * by,
    aw * by - ax * bz + ay * bw + az * bx,
    aw * bz + ax * by - ay * bx + az * bw,
    aw * bw - ax * bx - ay * by - az * bz,
  ]);
}

export function rotate(turn, [x, y, z]) {
  const [qx, qy, qz] = times(turn, [x, y, z, 0], [-turn[0], -turn[1], -turn[2], turn[3]]);
  return [qx, qy, qz];
}

export function ellipsoid([a, b, c], rings, segments) {
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

export function floor(size, height, cells) {
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

/** Builds a binary message, little endian. */
export class Writer {
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
