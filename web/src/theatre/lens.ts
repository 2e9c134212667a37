// The lens of an endoscope: a round picture, sharp at its stop and dimmer towards the rim.

import {
  AlwaysDepth,
  BufferAttribute,
  BufferGeometry,
  Group,
  Mesh,
  type PerspectiveCamera,
  ShaderMaterial,
  Vector2,
} from "three";
import type { EyeFrame } from "../frame";

/** The round picture is a little larger than the smaller side of the screen: a sliver is cut off, as on a monitor. */
export const OVERLAP = 1.04;
/** Where the dimming begins and how dark the rim is. */
const [DIM_FROM, DIM] = [0.55, 0.42];
/** Width of the stop's soft edge. */
const EDGE = 0.014;
const SEGMENTS = 128;

/** Tangent of half the vertical field of view for a round picture of `angle` (rad) on a screen of this aspect. */
export function halfHeight(angle: number, aspect: number): number {
  return Math.tan(angle / 2) / (OVERLAP * Math.min(1, aspect));
}

/** Radius of the round picture in units of half the screen's height. */
export function radiusOf(aspect: number): number {
  return OVERLAP * Math.min(1, aspect);
}

/** Puts the camera where the endoscope's eye is. */
export function lookThrough(camera: PerspectiveCamera, { pose, fieldOfView }: EyeFrame): void {
  camera.position.fromArray(pose, 0);
  camera.quaternion.fromArray(pose, 3).normalize();
  camera.fov = (360 / Math.PI) * Math.atan(halfHeight(fieldOfView, camera.aspect));
  // Tissue that touches the lens is still seen.
  camera.near = 0.001;
  camera.far = 2;
  camera.updateProjectionMatrix();
  camera.updateMatrixWorld();
}

/**
 * The field stop, in two parts. What lies beyond it is drawn first and nearest of all, so that no light is computed
 * for what nobody sees; the soft edge and the dimming come last.
 */
export class FieldStop extends Group {
  private readonly radius = { value: new Vector2(1, 1) };

  constructor() {
    super();
    const beyond = this.ring([1, 4], [1, 1], -1000);
    const rim = this.ring(
      [DIM_FROM, 0.8, 1 - EDGE, 1 - 0.4 * EDGE, 1.001],
      [0, 0.3 * DIM, DIM, 0.8, 1],
      1000,
    );
    this.add(beyond, rim);
  }

  /** Fits it to a screen. */
  fit(aspect: number): void {
    const radius = radiusOf(aspect);
    this.radius.value.set(radius / aspect, radius);
  }

  private ring(radii: number[], darkness: number[], order: number): Mesh {
    const first = order < 0;
    const places: number[] = [];
    const shades: number[] = [];
    const triangles: number[] = [];
    for (let i = 0; i <= SEGMENTS; i += 1) {
      const angle = (2 * Math.PI * i) / SEGMENTS;
      radii.forEach((radius, r) => {
        places.push(radius * Math.cos(angle), radius * Math.sin(angle), 0);
        shades.push(darkness[r]);
        if (i < SEGMENTS && r + 1 < radii.length) {
          const at = i * radii.length + r;
          triangles.push(at, at + 1, at + radii.length, at + 1, at + radii.length + 1, at + radii.length);
        }
      });
    }
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(places), 3));
    geometry.setAttribute("darkness", new BufferAttribute(new Float32Array(shades), 1));
    geometry.setIndex(triangles);
    const material = new ShaderMaterial({
      uniforms: { radius: this.radius },
      vertexShader: /* glsl */ `
        uniform vec2 radius;
        attribute float darkness;
        varying float vDarkness;
        void main() {
          vDarkness = darkness;
          gl_Position = vec4(position.xy * radius, -0.99999, 1.0);
        }`,
      fragmentShader: /* glsl */ `
        varying float vDarkness;
        void main() { gl_FragColor = vec4(0.0, 0.0, 0.0, vDarkness); }`,
      transparent: !first,
      // Whatever is there, this is nearer. (Without any test, no depth would be written either.)
      depthFunc: AlwaysDepth,
      depthWrite: first,
      toneMapped: false,
    });
    const mesh = new Mesh(geometry, material);
    mesh.frustumCulled = false;
    mesh.renderOrder = order;
    return mesh;
  }
}
