// Everything that stands in the picture: tissue, scenery, bodies, instruments.

import {
  BackSide,
  Box3,
  BufferAttribute,
  BufferGeometry,
  DoubleSide,
  DynamicDrawUsage,
  FrontSide,
  Group,
  type Material,
  Matrix4,
  Mesh,
  type Object3D,
  Quaternion,
  type ShaderMaterial,
  type Side,
  Vector3,
} from "three";
import type { EyeFrame, Frame, SurfaceFrame } from "../frame";
import type { EndoscopeDescription, InstrumentDescription, SceneDescription } from "../wire";
import { creased } from "./creased";
import { colourOf, type MaterialOptions, type Palette, paintVertices } from "./looks";
import { Seams, Skin } from "./refine";
import { blade, cannula, endoscope, forcepsJaw, fork, jaw, needleTip, sleeve, taper } from "./shapes";

/** Scenery of more triangles is fine as it is. */
const FINE = 1500;
/** Points by which the distance of what is seen is judged. */
const SAMPLES = 500;

/** What neither casts a shadow nor takes one is on this layer. */
export const UNSHADED = 1;

const STEEL = [0.8, 0.81, 0.83] as const;
const SLEEVE = [0.075, 0.08, 0.095] as const;
const CANNULA = [0.62, 0.72, 0.76] as const;

/** Indices of the two triangles that stand for a half space. */
const HALF_SPACE = 6;

const BACKGROUND = 0x070405;
/** Behind bodies without tissue: a workshop, where edges are seen against grey. */
const WORKSHOP = 0x39434f;

/** True if nothing of a scene is alive: then it stands in a workshop. */
export function isWorkshop(scene: SceneDescription): boolean {
  return scene.tissues.length === 0 && scene.scenery.length === 0;
}

/** The colour behind everything. */
export function backgroundOf(scene: SceneDescription): number {
  return isWorkshop(scene) ? WORKSHOP : BACKGROUND;
}

/** Faces that meet at a smaller angle, in rad, are shown as one round surface. */
const CREASE = 0.6;

const Z = new Vector3(0, 0, 1);
const turn = new Quaternion();
const basis = new Matrix4();

interface Tissue {
  skin: Skin;
  /** As the scene describes it: a restart shows it again. */
  readonly whole: Skin;
  readonly geometry: BufferGeometry;
  /** Of the surface that is shown. */
  edits: number;
  readonly look: MaterialOptions["look"];
  readonly colour: MaterialOptions["colour"];
}

interface Instrument {
  shaft: Group;
  jawA: Group;
  jawB: Group;
  port: Group;
  trocar: Vector3;
}

export class Stage extends Group {
  private readonly palette: Palette;
  private readonly tissues: Tissue[] = [];
  private seams: Seams;
  private readonly refine: number;
  private readonly bodies: Mesh[];
  private readonly instruments: Instrument[];
  private readonly scope: Group | null;
  private readonly scopeTrocar = new Vector3();
  private readonly samples: number[] = [];

  constructor(scene: SceneDescription, palette: Palette, refine: number) {
    super();
    this.palette = palette;
    this.refine = refine;
    const skins = scene.tissues.map(({ positions, triangles }) => new Skin(positions, triangles, refine));
    this.seams = new Seams(skins);
    scene.tissues.forEach(({ look, colour, path }, i) => {
      const geometry = geometryOf(skins[i], true);
      this.cover(geometry, { look, colour, path });
      this.tissues.push({ skin: skins[i], whole: skins[i], geometry, edits: 0, look, colour });
    });
    for (const { positions, triangles, look, colour, opacity } of scene.scenery) {
      const skin = new Skin(positions, triangles, triangles.length / 3 > FINE ? 0 : refine);
      const side = sideWithin(skin, scene.camera.target);
      this.cover(geometryOf(skin, false), { look, colour, opacity, side });
      this.sample(skin.positions);
    }
    const solids = new Map<string, BufferGeometry>();
    const paints = new Map<string, ShaderMaterial>();
    const { eye, target } = scene.camera;
    const distance = new Vector3(...eye).distanceTo(new Vector3(...target));
    this.bodies = scene.bodies.map(({ colour, positions, triangles }) => {
      if (triangles.length === HALF_SPACE) {
        return this.put(
          solid(positions, triangles),
          palette.floor({ colour, behind: backgroundOf(scene), distance }),
        );
      }
      // A pile is a thousand bodies of one form and one colour.
      const geometry = kept(solids, positions.join(), () => solid(positions, triangles));
      const paint = () => palette.material({ look: "plastic", colour, side: FrontSide });
      return this.put(geometry, kept(paints, colour.join(), paint));
    });
    this.instruments = scene.instruments.map((build) => this.build(build));
    this.scope = scene.endoscope && this.buildScope(scene.endoscope);
    this.sort(new Vector3(...scene.camera.eye));
  }

  /** Moves everything to where a frame has it. */
  pose(frame: Frame): void {
    // Seams are found at rest, so that all are mended before any takes its place.
    for (let i = 0; i < this.tissues.length; i += 1) {
      this.mend(this.tissues[i], frame.surfaces[i]);
    }
    for (let i = 0; i < this.tissues.length; i += 1) {
      this.tissues[i].skin.take(frame.tissues[i]);
    }
    this.seams.shape();
    for (const { skin, edits } of this.tissues) {
      if (edits > 0) {
        skin.refinement.apply(skin.positions, skin.normals);
      }
    }
    for (const { geometry } of this.tissues) {
      geometry.getAttribute("position").needsUpdate = true;
      geometry.getAttribute("normal").needsUpdate = true;
    }
    for (let i = 0; i < this.bodies.length; i += 1) {
      place(this.bodies[i], frame.bodies[i]);
    }
    for (let i = 0; i < this.instruments.length; i += 1) {
      const { shaft, jawA, jawB, port } = this.instruments[i];
      const seen = frame.instruments[i];
      place(shaft, seen.shaft);
      place(jawA, seen.jawA);
      place(jawB, seen.jawB);
      // The cannula gives way to the shaft that swings in it.
      port.quaternion.copy(shaft.quaternion);
    }
    if (frame.eye) {
      this.poseScope(frame.eye);
    }
  }

  /** Gives a tissue the surface it has by now. */
  private mend(tissue: Tissue, surface: SurfaceFrame | null): void {
    const edits = surface?.edits ?? 0;
    if (edits === tissue.edits) {
      return;
    }
    const joined = tissue.edits === 0 || edits === 0;
    tissue.edits = edits;
    if (surface === null) {
      tissue.skin = tissue.whole;
    } else {
      const times = surface.triangles.length / 3 > FINE ? 0 : this.refine;
      tissue.skin = new Skin(surface.rest, surface.triangles, times);
    }
    fill(tissue.geometry, tissue.skin, true);
    this.paint(tissue.geometry, tissue);
    if (joined) {
      // The two sides of a tear lie at one place at rest: sewn together they would be shaded as if whole.
      this.seams = new Seams(this.tissues.filter((t) => t.edits === 0).map(({ skin }) => skin));
    }
  }

  /** Where instruments stand at the start isn't told before the first frame: towards `target`, jaws ajar. */
  guess(scene: SceneDescription, target: Vector3): void {
    scene.instruments.forEach(({ handle, kind, bend }, i) => {
      const { shaft, jawA, jawB, port, trocar } = this.instruments[i];
      const towards = new Vector3().subVectors(target, trocar).normalize();
      shaft.position.copy(trocar).addScaledVector(towards, handle.depth);
      shaft.quaternion.setFromUnitVectors(Z, towards);
      for (const [jaw, side] of [
        [jawA, -1],
        [jawB, 1],
      ] as const) {
        jaw.position.copy(shaft.position);
        jaw.quaternion.copy(shaft.quaternion);
        jaw.rotateX(kind === "needle" ? bend : side * 0.5 * handle.jaw);
      }
      port.quaternion.copy(shaft.quaternion);
    });
    if (this.scope) {
      this.scope.visible = false;
    }
  }

  /** The endoscope itself can't be in its own picture. */
  showScope(shown: boolean): void {
    if (this.scope) {
      this.scope.visible = shown;
    }
  }

  /** How far away what is seen is, m: the lower quartile of points within the view; null if there are none. */
  distanceFrom(eye: Vector3, forward: Vector3, cosine: number): number | null {
    const found: number[] = [];
    const look = (p: ArrayLike<number>, i: number) => {
      const [x, y, z] = [p[i] - eye.x, p[i + 1] - eye.y, p[i + 2] - eye.z];
      const far = Math.sqrt(x * x + y * y + z * z);
      if (x * forward.x + y * forward.y + z * forward.z > cosine * far) {
        found.push(far);
      }
    };
    for (let i = 0; i < this.samples.length; i += 3) {
      look(this.samples, i);
    }
    for (const { skin } of this.tissues) {
      const step = 3 * Math.max(1, Math.floor(skin.positions.length / (3 * SAMPLES)));
      for (let i = 0; i < skin.positions.length; i += step) {
        look(skin.positions, i);
      }
    }
    if (found.length < 8) {
      return null;
    }
    found.sort((a, b) => a - b);
    return found[Math.floor(found.length / 4)];
  }

  dispose(): void {
    this.traverse((part) => {
      if (part instanceof Mesh) {
        part.geometry.dispose();
        (part.material as Material).dispose();
      }
    });
    this.removeFromParent();
  }

  /** Near things are drawn first, so that no light is computed for what they hide. */
  private sort(eye: Vector3): void {
    const centre = new Vector3();
    for (const thing of this.children) {
      if (!(thing instanceof Mesh)) {
        continue;
      }
      thing.geometry.computeBoundingSphere();
      const { radius = 0, center = centre } = thing.geometry.boundingSphere ?? {};
      // What stands still can be left out when it is out of view.
      thing.frustumCulled = !this.tissues.some(({ geometry }) => geometry === thing.geometry);
      // What is large reaches far behind its middle; the wall encloses everything and comes last.
      thing.renderOrder = 1 + center.distanceTo(eye) + radius;
    }
  }

  /** Something made of tissue. */
  private cover(geometry: BufferGeometry, options: MaterialOptions): void {
    this.paint(geometry, options);
    this.put(geometry, this.palette.material({ ...options, clings: true, painted: !this.palette.rich }));
  }

  /** Where the palette is plain, colours come with the vertices. */
  private paint(geometry: BufferGeometry, { look, colour }: Pick<MaterialOptions, "look" | "colour">): void {
    if (!this.palette.rich) {
      const rest = geometry.getAttribute("rest").array as Float32Array;
      const paint = paintVertices(look, colourOf(look, colour), rest);
      geometry.setAttribute("paint", new BufferAttribute(paint, 3));
    }
  }

  private put(geometry: BufferGeometry, material: ShaderMaterial, parent: Object3D = this): Mesh {
    const mesh = new Mesh(geometry, material);
    // Bounds change every frame, and nearly everything is always in view anyhow.
    mesh.frustumCulled = false;
    if (material.transparent) {
      mesh.layers.set(UNSHADED);
    }
    parent.add(mesh);
    return mesh;
  }

  private sample(positions: Float32Array): void {
    const step = 3 * Math.max(1, Math.floor(positions.length / (3 * SAMPLES)));
    for (let i = 0; i < positions.length; i += step) {
      this.samples.push(positions[i], positions[i + 1], positions[i + 2]);
    }
  }

  private build(build: InstrumentDescription): Instrument {
    const { shaft_radius: radius, shaft_length, jaw_length, jaw_radius, trocar } = build;
    const steel = () => this.palette.material({ look: "steel", colour: STEEL, side: FrontSide });
    const bare = Math.min(shaft_length, 6 * radius);
    const shaft = new Group();
    this.put(
      sleeve(radius, shaft_length, bare),
      this.palette.material({ look: "plastic", colour: SLEEVE }),
      shaft,
    );
    const jawA = new Group();
    const jawB = new Group();
    if (build.kind === "needle") {
      this.put(taper(radius, bare, jaw_radius), steel(), shaft);
      this.put(needleTip(jaw_length, jaw_radius), steel(), jawA);
    } else {
      const make = { grasper: jaw, forceps: forcepsJaw, scissors: blade }[build.kind];
      const jaws = make(jaw_length, jaw_radius);
      this.put(fork(radius, bare), steel(), shaft);
      this.put(jaws, steel(), jawA);
      this.put(jaws.clone().rotateZ(Math.PI), steel(), jawB);
    }
    const port = new Group();
    this.put(cannula(radius), this.palette.material({ look: "plastic", colour: CANNULA }), port);
    port.position.fromArray(trocar);
    this.add(shaft, jawA, jawB, port);
    return { shaft, jawA, jawB, port, trocar: new Vector3(...trocar) };
  }

  private buildScope({ radius, optics, trocar }: EndoscopeDescription): Group {
    const scope = new Group();
    this.put(
      endoscope(radius, 0.28, optics),
      this.palette.material({ look: "steel", colour: STEEL, side: FrontSide }),
      scope,
    );
    const port = new Group();
    this.put(cannula(radius), this.palette.material({ look: "plastic", colour: CANNULA }), port);
    port.name = "port";
    scope.add(port);
    this.scopeTrocar.fromArray(trocar);
    this.add(scope);
    return scope;
  }

  private poseScope({ pose }: EyeFrame): void {
    if (!this.scope) {
      return;
    }
    this.scope.position.fromArray(pose, 0);
    const shaft = new Vector3().subVectors(this.scope.position, this.scopeTrocar);
    const depth = shaft.length();
    if (depth < 1e-6) {
      return;
    }
    // The slant of the lens faces the line of sight, which is the eye's -z.
    const z = shaft.divideScalar(depth);
    const ahead = new Vector3(0, 0, -1).applyQuaternion(turn.fromArray(pose, 3));
    const aside = ahead.addScaledVector(z, -ahead.dot(z));
    const y =
      aside.lengthSq() > 1e-8 ? aside.normalize().negate() : new Vector3(0, 1, 0).cross(z).normalize();
    const x = new Vector3().crossVectors(y, z);
    this.scope.quaternion.setFromRotationMatrix(basis.makeBasis(x, y, z));
    this.scope.getObjectByName("port")?.position.set(0, 0, -depth);
  }
}

function geometryOf(skin: Skin, moves: boolean): BufferGeometry {
  const geometry = new BufferGeometry();
  fill(geometry, skin, moves);
  return geometry;
}

/** Gives a geometry the vertices and triangles of a skin. */
function fill(geometry: BufferGeometry, skin: Skin, moves: boolean): void {
  // What the graphics card holds of the old ones is given back; attributes of another length need room of their own.
  geometry.dispose();
  for (const [name, array] of [
    ["position", skin.positions],
    ["normal", skin.normals],
  ] as const) {
    const attribute = new BufferAttribute(array, 3);
    geometry.setAttribute(name, moves ? attribute.setUsage(DynamicDrawUsage) : attribute);
  }
  geometry.setAttribute("rest", new BufferAttribute(skin.rest, 3));
  geometry.setAttribute("restNormal", new BufferAttribute(skin.normals.slice(), 3));
  geometry.setIndex(new BufferAttribute(skin.refinement.triangles, 1));
}

/**
 * Which side of a surface is seen. What closes the picture on all sides, such as the wall of the abdomen, is seen from
 * within only, so that a free camera outside of it looks through.
 */
function sideWithin({ positions, refinement: { triangles } }: Skin, target: readonly number[]): Side {
  const box = new Box3().setFromArray(positions);
  const size = box.getSize(new Vector3());
  if (!box.containsPoint(new Vector3(...target)) || Math.min(size.x, size.y, size.z) < 0.1) {
    return DoubleSide;
  }
  // Solid angle of the surface, roughly: how much of the view from the target it covers, and which way it faces.
  const [a, b, c] = [new Vector3(), new Vector3(), new Vector3()];
  const middle = new Vector3();
  let outwards = 0;
  for (let t = 0; t < triangles.length; t += 3) {
    const [p, q, r] = [a, b, c].map((corner, k) =>
      corner.fromArray(positions, 3 * triangles[t + k]).sub(middle.fromArray(target)),
    );
    middle.addVectors(p, q).add(r).divideScalar(3);
    const far = middle.length();
    const normal = q.sub(p).cross(r.sub(p)).multiplyScalar(0.5);
    outwards += normal.dot(middle) / Math.max(far ** 3, 1e-12);
  }
  if (Math.abs(outwards) < 0.5 * 4 * Math.PI) {
    return DoubleSide;
  }
  return outwards > 0 ? BackSide : FrontSide;
}

function place(thing: { position: Vector3; quaternion: Quaternion }, pose: Float32Array): void {
  thing.position.fromArray(pose, 0);
  thing.quaternion.fromArray(pose, 3);
}

/** What `map` holds under a key; made now if it holds nothing. */
function kept<T>(map: Map<string, T>, key: string, make: () => T): T {
  const found = map.get(key) ?? make();
  map.set(key, found);
  return found;
}

/** A rigid body's surface: round where it is round, sharp at its edges. */
function solid(positions: number[], triangles: number[]): BufferGeometry {
  const geometry = new BufferGeometry();
  geometry.setAttribute("position", new BufferAttribute(new Float32Array(positions), 3));
  geometry.setIndex(triangles);
  return creased(geometry, CREASE);
}
