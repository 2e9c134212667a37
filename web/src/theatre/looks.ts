// What things are made of: a material for each look, rich for a graphics card or plain for machines that draw in
// software, where every instruction for a pixel is paid for by the processor that also simulates.

import {
  Color,
  DoubleSide,
  type IUniform,
  Matrix3,
  Matrix4,
  ShaderMaterial,
  type Side,
  SRGBColorSpace,
  type Texture,
  Vector3,
  Vector4,
} from "three";
import type { Look, PathDescription } from "../wire";
import { type FloorOptions, floorMaterial } from "./floor";
import { block, clouds, pebbles } from "./noise";
import { PATH_POINTS, plainShader, richShader } from "./shader";
import { sheet } from "./vessels";

/** The usual colour of each look, sRGB. The scene's own colour tints it. */
const COLOURS: Record<Look, [number, number, number] | null> = {
  plain: null,
  liver: [0.43, 0.25, 0.21],
  gall_bladder: [0.4, 0.45, 0.36],
  duct: [0.66, 0.6, 0.42],
  vein: [0.32, 0.34, 0.5],
  artery: [0.68, 0.26, 0.22],
  fat: [0.84, 0.68, 0.44],
  bowel: [0.78, 0.5, 0.45],
  peritoneum: [0.68, 0.42, 0.37],
  membrane: [0.76, 0.62, 0.54],
  muscle: [0.6, 0.25, 0.21],
  steel: [0.8, 0.81, 0.83],
  plastic: null,
};

/** Share of the scene's colour in that of a look. */
const TINT = 0.4;

const SHEER: ReadonlySet<Look> = new Set<Look>(["membrane"]);

export interface Lamp {
  /** As seen from the eye, m. */
  place: Vector3;
  /** Distance at which it is as bright as `strength`, m. */
  reach: number;
  strength: number;
  /** Cosine of the angle at which the beam has faded. */
  edge: number;
  /** What the walls around throw back. */
  walls: Color;
}

/** Walls of flesh, and those of a workshop with a bright ceiling. Linear. */
export const CAVITY = new Color().setRGB(0.06, 0.036, 0.03);
export const CEILING = new Color().setRGB(0.2, 0.215, 0.235);

export interface MaterialOptions {
  look: Look;
  /** sRGB, 0 to 1. */
  colour: readonly [number, number, number];
  opacity?: number;
  /** The surface deforms: what is painted on it clings to the attribute `rest`. */
  clings?: boolean;
  /** Its colours come with its vertices, as the attribute `paint`. */
  painted?: boolean;
  /** A curve that is drawn on it where it lies at rest. */
  path?: PathDescription | null;
  /** Which side is seen; both if not told. */
  side?: Side;
}

/** Makes materials that share one lamp. */
export class Palette {
  readonly rich: boolean;
  private readonly shared: Record<string, IUniform>;
  private readonly textures: Texture[];

  constructor(rich: boolean) {
    this.rich = rich;
    // The blocks are for the rich looks alone.
    const blocks = rich ? [block(clouds), block(pebbles)] : [];
    const vessels = sheet();
    this.textures = [...blocks, vessels];
    this.shared = {
      cloudBlock: { value: blocks[0] ?? null },
      pebbleBlock: { value: blocks[1] ?? null },
      vesselSheet: { value: vessels },
      outlook: { value: new Matrix3() },
      lampPlace: { value: new Vector3() },
      lampReach: { value: 0.1 },
      lampStrength: { value: 1 },
      lampEdge: { value: -2 },
      walls: { value: CAVITY.clone() },
      shadowMap: { value: null },
      shadowView: { value: new Matrix4() },
      shadowTexel: { value: 1 / 1024 },
    };
  }

  material({
    look,
    colour,
    opacity = 1,
    clings = false,
    painted = false,
    path = null,
    side = DoubleSide,
  }: MaterialOptions): ShaderMaterial {
    const sheer = SHEER.has(look) || opacity < 1;
    const defines: Record<string, string> = {};
    if (clings) {
      defines.CLINGS = "";
    }
    if (look === "steel") {
      defines.METAL = "";
    }
    if (sheer) {
      defines.SHEER = "";
    }
    if (path) {
      defines.PATH = "";
    }
    if (painted) {
      defines.PAINTED = "";
    }
    const { vertex, fragment } = this.rich ? richShader(look) : plainShader(look);
    return new ShaderMaterial({
      vertexShader: vertex,
      fragmentShader: fragment,
      defines,
      uniforms: {
        ...this.shared,
        colour: { value: colourOf(look, colour) },
        opacity: { value: SHEER.has(look) && !this.rich ? 0.6 * opacity : opacity },
        ...(path ? pathUniforms(path) : {}),
      },
      toneMapped: false,
      side,
      transparent: sheer,
      depthWrite: !sheer,
    });
  }

  /** The floor of a workshop. */
  floor(options: Omit<FloorOptions, "shaded">): ShaderMaterial {
    return floorMaterial(this.shared, { ...options, shaded: this.rich });
  }

  /** Moves the lamp for everything. */
  light({ place, reach, strength, edge, walls }: Lamp): void {
    (this.shared.lampPlace.value as Vector3).copy(place);
    this.shared.lampReach.value = reach;
    this.shared.lampStrength.value = strength;
    this.shared.lampEdge.value = edge;
    (this.shared.walls.value as Color).copy(walls);
  }

  /** Plain looks see the sheet of vessels from one side only: from where the scene is seen. */
  face(forward: Vector3): void {
    const side = new Vector3(0, 1, 0.01).cross(forward).normalize();
    const up = new Vector3().crossVectors(forward, side);
    (this.shared.outlook.value as Matrix3).set(
      side.x,
      side.y,
      side.z,
      up.x,
      up.y,
      up.z,
      forward.x,
      forward.y,
      forward.z,
    );
  }

  /** What the lamp doesn't see. */
  shade(map: Texture, view: Matrix4, texel: number): void {
    this.shared.shadowMap.value = map;
    (this.shared.shadowView.value as Matrix4).copy(view);
    this.shared.shadowTexel.value = texel;
  }

  dispose(): void {
    for (const texture of this.textures) {
      texture.dispose();
    }
  }
}

/** What the shader knows of a curve: lengths in mm, as all that is painted. */
function pathUniforms({ circle, points, width, colour }: PathDescription): Record<string, IUniform> {
  const place = (i: number) => new Vector3(...(points[Math.min(i, points.length - 1)] ?? [0, 0, 0]));
  return {
    pathCircle: {
      value: circle
        ? new Vector4(...circle.centre, circle.radius).multiplyScalar(1000)
        : new Vector4(0, 0, 0, -1),
    },
    pathPoints: { value: Array.from({ length: PATH_POINTS }, (_, i) => place(i).multiplyScalar(1000)) },
    pathCount: { value: points.length },
    pathWidth: { value: 1000 * width },
    pathColour: { value: new Color().setRGB(...colour, SRGBColorSpace) },
  };
}

/** The colour of a look, tinted by the scene's; linear. */
export function colourOf(look: Look, colour: readonly [number, number, number]): Color {
  const own = new Color().setRGB(...colour, SRGBColorSpace);
  const usual = COLOURS[look];
  return usual === null ? own : new Color().setRGB(...usual, SRGBColorSpace).lerp(own, TINT);
}

/** The same colours as the rich looks have, for each vertex: what a plain picture shows of them. Linear, three a vertex. */
export function paintVertices(look: Look, colour: Color, rest: Float32Array): Float32Array {
  const painted = new Float32Array(rest.length);
  const grain = new Float32Array(4);
  const sample = (noise: typeof clouds, i: number, size: number) => {
    const scale = 1000 / size;
    noise(rest[i] * scale, rest[i + 1] * scale, rest[i + 2] * scale, grain);
    return grain[0];
  };
  const brush = BRUSHES[look] ?? BRUSHES.plain;
  for (let i = 0; i < rest.length; i += 3) {
    const [r, g, b] = brush(
      (size) => sample(clouds, i, size),
      (size) => sample(pebbles, i, size),
    );
    painted[i] = colour.r * r;
    painted[i + 1] = colour.g * g;
    painted[i + 2] = colour.b * b;
  }
  return painted;
}

type Grain = (size: number) => number;
type Brush = (clouds: Grain, pebbles: Grain) => [number, number, number];

const step = (low: number, high: number, value: number) => {
  const t = Math.min(1, Math.max(0, (value - low) / (high - low)));
  return t * t * (3 - 2 * t);
};
const mix = (
  a: [number, number, number],
  b: [number, number, number],
  t: number,
): [number, number, number] => [a[0] + (b[0] - a[0]) * t, a[1] + (b[1] - a[1]) * t, a[2] + (b[2] - a[2]) * t];
const even = (value: number): [number, number, number] => [value, value, value];

const BRUSHES: Partial<Record<Look, Brush>> & { plain: Brush } = {
  plain: (c) => even(0.86 + 0.28 * c(9)),
  liver: (c) => mix([0.78, 0.76, 0.76], [1.2, 1.28, 1.26], 0.3 + 0.25 * c(14) + 0.2 * c(5)),
  gall_bladder: (c) => mix([0.8, 0.9, 0.92], [1.12, 0.98, 0.72], step(0.2, 0.8, c(15))),
  duct: (c) => mix([0.82, 0.9, 0.85], [1.12, 1.06, 0.9], c(6)),
  vein: (c) => even(0.8 + 0.4 * c(5)),
  artery: (c) => mix([0.95, 0.95, 0.95], [1.0, 1.2, 1.2], c(2.1)),
  fat: (c, p) =>
    mix([1.06, 1.04, 0.98], [0.78, 0.6, 0.4], step(0.35, 0.95, p(3.2))).map(
      (value) => value * (0.86 + 0.28 * c(7)),
    ) as [number, number, number],
  bowel: (c) => mix([0.88, 0.78, 0.76], [1.06, 1.08, 1.06], c(11)),
  peritoneum: (c) => even(0.86 + 0.28 * c(14)),
  muscle: (c) => even(0.7 + 0.6 * c(2)),
};
