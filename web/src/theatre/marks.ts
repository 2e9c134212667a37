// What the task wants, shown in the scene: readable in front of tissue and, dimmed, behind it.

import {
  type BufferGeometry,
  CanvasTexture,
  Color,
  ConeGeometry,
  CylinderGeometry,
  GreaterDepth,
  Group,
  LessEqualDepth,
  Mesh,
  RingGeometry,
  ShaderMaterial,
  SphereGeometry,
  Sprite,
  SpriteMaterial,
  TorusGeometry,
  Vector3,
} from "three";
import { mergeGeometries } from "three/addons/utils/BufferGeometryUtils.js";
import type { Mark, MarkKind, MarkState } from "../wire";

/** sRGB. Nothing in a body has these colours. */
export const MARK_COLOURS: Record<MarkState, string> = {
  now: "#46f0e0",
  next: "#e8eef2",
  reached: "#7dff9a",
};

const STRENGTH: Record<MarkState, number> = { now: 1, next: 0.5, reached: 0.6 };
/** Of what lies behind tissue. */
const BEHIND = 0.26;

/** Height of a label, in half heights of the picture at 1 m. */
const LABEL = 0.05;

/** Turns of the rings about a ball, per second, and the breath of what is to be reached now. */
const [TURN, BREATH, BREATHS] = [0.12, 0.05, 0.8];

const Z = new Vector3(0, 0, 1);

export class Marks extends Group {
  private readonly shapes = new Map<MarkKind, BufferGeometry>();
  private shown: { mark: Mark; group: Group; glass: ShaderMaterial[]; rings: Group | null }[] = [];

  /** Shows these marks and no others. */
  show(marks: readonly Mark[]): void {
    marks.forEach((mark, i) => {
      const old = this.shown[i];
      if (old && (old.mark.kind !== mark.kind || labelOf(old.mark) !== labelOf(mark))) {
        this.drop(i);
      }
      this.shown[i] ??= this.make(mark);
      this.pose(this.shown[i], mark);
    });
    while (this.shown.length > marks.length) {
      this.drop(this.shown.length - 1);
      this.shown.length -= 1;
    }
  }

  /** Lets them breathe; `seconds` is any clock. Returns whether anything moved. */
  animate(seconds: number): boolean {
    let moved = false;
    for (const { mark, group, rings } of this.shown) {
      if (mark.state !== "now") {
        continue;
      }
      const breath = 1 + BREATH * Math.sin(2 * Math.PI * BREATHS * seconds);
      group.scale.setScalar(mark.radius * (mark.kind === "ball" ? 1 : breath));
      rings?.rotation.set(0, 2 * Math.PI * TURN * seconds, 0);
      moved = true;
    }
    return moved;
  }

  dispose(): void {
    this.show([]);
    for (const shape of this.shapes.values()) {
      shape.dispose();
    }
  }

  private pose(shown: (typeof this.shown)[number], mark: Mark): void {
    shown.mark = mark;
    const { group, glass } = shown;
    const normal = new Vector3(...mark.normal);
    group.position.fromArray(mark.position);
    group.scale.setScalar(mark.radius);
    for (const part of group.children) {
      if (part instanceof Sprite) {
        // Its size in the picture is fixed, whatever the mark's is.
        const height = LABEL / Math.max(mark.radius, 1e-6);
        part.scale.set(height * part.userData.aspect, height, 1);
      }
    }
    if (normal.lengthSq() > 1e-12) {
      group.quaternion.setFromUnitVectors(Z, normal.normalize());
    }
    const colour = new Color(MARK_COLOURS[mark.state]);
    for (const material of glass) {
      (material.uniforms.colour.value as Color).copy(colour);
      material.uniforms.strength.value =
        STRENGTH[mark.state] * (material.depthFunc === GreaterDepth ? BEHIND : 1);
    }
  }

  private make(mark: Mark): (typeof this.shown)[number] {
    const group = new Group();
    const glass: ShaderMaterial[] = [];
    const add = (to: Group, shape: BufferGeometry, solid: boolean) => {
      for (const behind of [true, false]) {
        const material = glassMaterial(solid, behind);
        const mesh = new Mesh(shape, material);
        mesh.renderOrder = behind ? 500 : 510;
        glass.push(material);
        to.add(mesh);
      }
    };
    let rings: Group | null = null;
    add(group, this.shape(mark.kind), mark.kind !== "ball");
    if (mark.kind === "ball") {
      // Three great circles: how they cross tells how the ball stands and how far away it is.
      rings = new Group();
      add(rings, this.circles(), true);
      group.add(rings);
    }
    if (labelOf(mark) !== "") {
      group.add(label(mark));
    }
    this.add(group);
    return { mark, group, glass, rings };
  }

  private drop(index: number): void {
    const { group, glass } = this.shown[index];
    group.removeFromParent();
    for (const material of glass) {
      material.dispose();
    }
    group.traverse((part) => {
      if (part instanceof Sprite) {
        part.material.map?.dispose();
        part.material.dispose();
      }
    });
    delete this.shown[index];
  }

  private circles(): BufferGeometry {
    const ring = () => new TorusGeometry(1, 0.018, 6, 64);
    const made = mergeGeometries([ring(), ring().rotateX(Math.PI / 2), ring().rotateY(Math.PI / 2)]);
    return made ?? ring();
  }

  /** Of radius 1, about +z. */
  private shape(kind: MarkKind): BufferGeometry {
    let shape = this.shapes.get(kind);
    if (shape === undefined) {
      shape = SHAPES[kind]();
      this.shapes.set(kind, shape);
    }
    return shape;
  }
}

const SHAPES: Record<MarkKind, () => BufferGeometry> = {
  ball: () => new SphereGeometry(1, 40, 28),
  ring: () => new TorusGeometry(1, 0.09, 14, 64),
  // From the place along the normal: where to go.
  arrow: () => {
    const shaft = new CylinderGeometry(0.16, 0.16, 1.5, 20).rotateX(Math.PI / 2).translate(0, 0, 0.8);
    const head = new ConeGeometry(0.45, 0.9, 28).rotateX(Math.PI / 2).translate(0, 0, 2);
    return mergeGeometries([head, shaft]) ?? head;
  },
  spot: () => {
    const ring = new RingGeometry(0.86, 1, 64).translate(0, 0, 0.06);
    const middle = new RingGeometry(0, 0.12, 24).translate(0, 0, 0.06);
    return mergeGeometries([ring, middle]) ?? ring;
  },
};

function glassMaterial(solid: boolean, behind: boolean): ShaderMaterial {
  return new ShaderMaterial({
    uniforms: { colour: { value: new Color() }, strength: { value: 1 } },
    defines: solid ? { SOLID: "" } : {},
    vertexShader: /* glsl */ `
      varying vec3 vNormal;
      varying vec3 vPlace;
      void main() {
        vec4 place = modelViewMatrix * vec4(position, 1.0);
        vPlace = place.xyz;
        vNormal = normalMatrix * normal;
        gl_Position = projectionMatrix * place;
      }`,
    fragmentShader: /* glsl */ `
      uniform vec3 colour;
      uniform float strength;
      varying vec3 vNormal;
      varying vec3 vPlace;
      void main() {
        float facing = abs(dot(normalize(vNormal), normalize(vPlace)));
      #ifdef SOLID
        float seen = 0.95;
        vec3 shown = colour * (0.62 + 0.38 * facing);
      #else
        float rim = pow(1.0 - facing, 2.2);
        float seen = 0.10 + 0.75 * rim;
        vec3 shown = colour;
      #endif
        gl_FragColor = vec4(shown, seen * strength);
        #include <colorspace_fragment>
      }`,
    transparent: true,
    depthWrite: false,
    depthFunc: behind ? GreaterDepth : LessEqualDepth,
    toneMapped: false,
    // A spot lies on the very tissue that would hide it.
    polygonOffset: true,
    polygonOffsetFactor: -2,
    polygonOffsetUnits: -2,
  });
}

/** Only what is to be done now is named: marks often lie close together. */
function labelOf(mark: Mark): string {
  return mark.state === "now" ? mark.label : "";
}

function label({ label: text, kind }: Mark): Sprite {
  const canvas = document.createElement("canvas");
  const pen = canvas.getContext("2d");
  const font = "600 44px system-ui, sans-serif";
  if (pen) {
    pen.font = font;
    canvas.width = Math.ceil(pen.measureText(text).width) + 24;
    canvas.height = 64;
    pen.font = font;
    pen.textBaseline = "middle";
    pen.lineWidth = 8;
    pen.strokeStyle = "rgba(5, 8, 10, 0.85)";
    pen.strokeText(text, 12, 34);
    pen.fillStyle = "#eafdfb";
    pen.fillText(text, 12, 34);
  }
  const sprite = new Sprite(
    new SpriteMaterial({
      map: new CanvasTexture(canvas),
      depthTest: false,
      depthWrite: false,
      toneMapped: false,
      sizeAttenuation: false,
    }),
  );
  // A fixed size in the picture, above the mark.
  sprite.userData.aspect = canvas.width / Math.max(canvas.height, 1);
  sprite.center.set(0.5, -0.4);
  sprite.position.set(0, 0, kind === "arrow" ? 2.5 : 1.1);
  sprite.renderOrder = 600;
  return sprite;
}
