// The picture: draws a stage through the endoscope or a free camera, as well as the machine can.

import {
  DepthTexture,
  DoubleSide,
  FloatType,
  Matrix4,
  MeshBasicMaterial,
  NearestFilter,
  PerspectiveCamera,
  Scene,
  Vector3,
  WebGLRenderer,
  WebGLRenderTarget,
} from "three";
import type { Eye, Vector } from "../desk/space";
import type { Frame } from "../frame";
import { type Insight, NO_VIEWS, type Views } from "../insight";
import type { Mark, SceneDescription } from "../wire";
import { Inside } from "./inside";
import { FieldStop, lookThrough, radiusOf } from "./lens";
import { CAVITY, CEILING, Palette } from "./looks";
import { Marks } from "./marks";
import { Orbit } from "./orbit";
import { backgroundOf, isWorkshop, Stage, UNSHADED } from "./stage";

/** More pixels than this per CSS pixel cost time and show nothing. */
const MOST_PIXELS = 2;
const SOFTWARE_PIXELS = 0.8;
const FEWEST_PIXELS = 0.5;
/** Pictures that take longer than this, ms, want fewer pixels. */
const TOO_LONG = 45;
/** So many of them in a row. */
const PATIENCE = 5;
/** A longer gap is a hidden tab, not a slow picture. */
const HIDDEN = 3000;

const SHADOW_TEXELS = 1024;

/** The lamp sits beside the lens, far enough that the shadow of a tip shows how deep it is, m. */
const LAMP = new Vector3(-0.0055, 0.0075, 0.001);
const BRIGHTNESS = 1.35;
/** Towards the lamp of a workshop, and how many times as far as the eye it is away: far enough to shine evenly. */
const CEILING_LAMP = new Vector3(-0.45, 1, 0.5).normalize();
const FAR_AWAY = 12;
/** How quickly the camera's gain follows, s. */
const GAIN_TIME = 0.5;

export interface ViewOptions {
  quality: "auto" | "rich" | "plain";
  refine: 0 | 1 | 2;
  vignette: boolean;
  reducedMotion: boolean;
  showMarks: boolean;
}

export class View {
  readonly orbit = new Orbit();
  /** Which camera is looked through. Without an endoscope it is always the free one. */
  mode: "endoscope" | "free" = "endoscope";
  private options: ViewOptions;
  private readonly renderer: WebGLRenderer;
  private readonly camera = new PerspectiveCamera();
  private readonly world = new Scene();
  private readonly marks = new Marks();
  private readonly inside = new Inside();
  private readonly stop = new FieldStop();
  private readonly software: boolean;
  private palette: Palette;
  private scene: SceneDescription | null = null;
  /** True if the scene stands in a workshop: then its lamp hangs from the ceiling. */
  private workshop = false;
  private stage: Stage | null = null;
  private frame: Frame | null = null;
  private shadow: {
    target: WebGLRenderTarget;
    camera: PerspectiveCamera;
    material: MeshBasicMaterial;
  } | null = null;
  private pixels: number;
  private size = "";
  private longPictures = 0;
  /** The rich looks were too much for this machine. */
  private tired = false;
  private reach = 0.1;
  /** Of a picture on no page. */
  private box: [number, number] | null = null;
  private judged = Number.NEGATIVE_INFINITY;
  private judgedReach = 0.1;

  constructor(canvas: HTMLCanvasElement, options: ViewOptions) {
    this.options = options;
    this.software = drawsInSoftware();
    this.pixels = this.software ? SOFTWARE_PIXELS : Math.min(window.devicePixelRatio, MOST_PIXELS);
    this.renderer = new WebGLRenderer({
      canvas,
      antialias: !this.software,
      powerPreference: "high-performance",
    });
    this.renderer.setClearColor(0);
    this.camera.layers.enable(UNSHADED);
    this.palette = new Palette(this.rich);
    for (const thing of [this.marks, this.inside, this.stop]) {
      thing.traverse((part) => part.layers.set(UNSHADED));
      this.world.add(thing);
    }
  }

  /** Width and height of the picture, CSS pixels. */
  private get extent(): [number, number] {
    const { clientWidth, clientHeight } = this.renderer.domElement;
    return this.box ?? [clientWidth, clientHeight];
  }

  private get rich(): boolean {
    const { quality } = this.options;
    const wish = new URLSearchParams(location.search).get("quality");
    if (wish === "rich" || wish === "plain") {
      return wish === "rich";
    }
    return quality === "auto" ? !this.software && !this.tired : quality === "rich";
  }

  /** True if the picture is that of the endoscope. */
  get throughEndoscope(): boolean {
    return this.mode === "endoscope" && this.scene?.endoscope != null;
  }

  /** Replaces what is shown by the things of a scene, at rest. */
  show(scene: SceneDescription): void {
    this.scene = scene;
    this.frame = null;
    this.inside.show(null, NO_VIEWS, 0);
    this.workshop = isWorkshop(scene);
    this.renderer.setClearColor(backgroundOf(scene));
    this.orbit.place(scene.camera, scene.endoscope !== null);
    this.build();
  }

  setOptions(options: ViewOptions): void {
    const before = this.rich;
    const { refine } = this.options;
    this.options = options;
    if (before !== this.rich) {
      this.palette.dispose();
      this.palette = new Palette(this.rich);
    }
    if (before !== this.rich || refine !== options.refine) {
      this.build();
    }
  }

  /** Moves everything to where a frame has it. */
  pose(frame: Frame): void {
    this.frame = frame;
    this.stage?.pose(frame);
    this.aim();
  }

  mark(marks: readonly Mark[]): void {
    this.marks.show(marks);
    this.marks.traverse((part) => part.layers.set(UNSHADED));
  }

  reveal(insight: Insight | null, views: Views, level: number): void {
    this.inside.show(insight, views, level);
  }

  /** Stands the camera where it belongs now: for {@link eye} before the next picture. */
  aim(): void {
    const [width, height] = this.extent;
    this.camera.aspect = Math.max(width, 1) / Math.max(height, 1);
    if (this.throughEndoscope && this.frame?.eye) {
      lookThrough(this.camera, this.frame.eye);
    } else {
      this.orbit.apply(this.camera);
    }
  }

  /** Draws. Fits the canvas to its box first, and takes fewer pixels on a machine that is too slow for them. */
  draw(sinceLast: number): void {
    this.spare(sinceLast);
    const [width, height] = this.extent;
    const size = `${width} ${height} ${this.pixels}`;
    if (size !== this.size) {
      // Only when it changed: setting the size, even to the same, makes a new drawing buffer.
      this.size = size;
      this.renderer.setPixelRatio(this.pixels);
      this.renderer.setSize(width, height, false);
    }
    this.aim();
    this.marks.visible = this.options.showMarks;
    if (!this.options.reducedMotion) {
      this.marks.animate(performance.now() / 1000);
    }
    this.stop.visible = this.throughEndoscope && this.options.vignette;
    this.stop.fit(this.camera.aspect);
    this.stage?.showScope(!this.throughEndoscope && this.frame?.eye != null);
    this.light(sinceLast);
    this.renderer.render(this.world, this.camera);
  }

  /** A picture of a scene at rest, for a canvas that stands on no page. */
  portrait(scene: SceneDescription, width: number, height: number): string {
    this.box = [width, height];
    this.pixels = 1;
    this.mode = "free";
    this.show(scene);
    this.orbit.place(scene.camera);
    this.draw(0);
    const url = this.renderer.domElement.toDataURL("image/jpeg", 0.9);
    this.stage?.dispose();
    this.stage = null;
    return url;
  }

  /** The picture as it is, as a data URL. */
  snapshot(): string {
    this.draw(0);
    return this.renderer.domElement.toDataURL("image/png");
  }

  /** What the picture is seen with. */
  get eye(): Eye {
    const [right, up, back] = [new Vector3(), new Vector3(), new Vector3()];
    this.camera.matrixWorld.extractBasis(right, up, back);
    return {
      position: this.camera.position.toArray() as Vector,
      right: right.toArray() as Vector,
      up: up.toArray() as Vector,
      forward: back.negate().toArray() as Vector,
      scale: 1 / Math.tan((this.camera.fov * Math.PI) / 360),
    };
  }

  /** How far away what is seen is, m. */
  get distance(): number {
    return this.reach;
  }

  /** Radius of the round picture in units of half the height; without a stop, as far as the corners. */
  get radius(): number {
    return this.throughEndoscope ? radiusOf(this.camera.aspect) : Math.hypot(1, this.camera.aspect);
  }

  dispose(): void {
    this.stage?.dispose();
    this.marks.dispose();
    this.inside.dispose();
    this.palette.dispose();
    this.shadow?.target.dispose();
    this.shadow?.material.dispose();
    this.renderer.dispose();
    // Browsers allow only a few contexts: give this one back at once.
    this.renderer.forceContextLoss();
  }

  private build(): void {
    if (!this.scene) {
      return;
    }
    this.stage?.dispose();
    const { eye, target } = this.scene.camera;
    this.palette.face(new Vector3(...target).sub(new Vector3(...eye)).normalize());
    this.stage = new Stage(this.scene, this.palette, this.options.refine);
    this.world.add(this.stage);
    if (this.frame) {
      this.stage.pose(this.frame);
    } else {
      this.stage.guess(this.scene, new Vector3(...this.scene.camera.target));
    }
    this.judged = Number.NEGATIVE_INFINITY;
    this.aim();
  }

  private light(sinceLast: number): void {
    this.judge(sinceLast);
    if (this.workshop) {
      this.lightWorkshop();
      return;
    }
    const through = this.throughEndoscope;
    const place = through ? LAMP.clone() : new Vector3(-0.14, 0.22, 0).multiplyScalar(this.reach);
    // The beam fills the round picture and fades beyond it.
    const edge =
      through && this.frame?.eye ? Math.cos(Math.min(1.5, 0.5 * this.frame.eye.fieldOfView + 0.42)) : -2;
    this.palette.light({ place, reach: this.reach, strength: BRIGHTNESS, edge, walls: CAVITY });
    if (this.palette.rich) {
      this.shade(place);
    }
  }

  /** An even light from above, whichever way one looks. */
  private lightWorkshop(): void {
    const { eye, target } = this.scene?.camera ?? { eye: [0, 0, 1], target: [0, 0, 0] };
    const middle = new Vector3(...target);
    const reach = new Vector3(...eye).distanceTo(middle);
    const lamp = middle.clone().addScaledVector(CEILING_LAMP, FAR_AWAY * reach);
    this.camera.updateMatrixWorld();
    const place = lamp.clone().applyMatrix4(this.camera.matrixWorldInverse);
    const even = { reach: FAR_AWAY * reach, strength: 0.8, edge: -20 };
    this.palette.light({ place, walls: CEILING, ...even });
    if (this.palette.rich) {
      this.shadow ??= shadowCaster();
      const { camera } = this.shadow;
      camera.position.copy(lamp);
      camera.lookAt(middle);
      camera.fov = 2 * (180 / Math.PI) * Math.atan(1 / FAR_AWAY);
      camera.near = (FAR_AWAY - 2) * reach;
      camera.far = (FAR_AWAY + 2) * reach;
      this.castShadows();
    }
  }

  /** The camera's gain: what lies where one looks is neither dark nor burnt out. */
  private judge(sinceLast: number): void {
    const now = performance.now();
    if (now - this.judged > 120) {
      const forward = new Vector3();
      this.camera.getWorldDirection(forward);
      const { eye } = this.frame ?? {};
      const half = this.throughEndoscope && eye ? 0.4 * eye.fieldOfView : 0.5;
      const found = this.stage?.distanceFrom(this.camera.position, forward, Math.cos(half)) ?? null;
      this.judgedReach = found ?? (this.throughEndoscope ? this.judgedReach : this.orbit.distance);
      if (!Number.isFinite(this.judged)) {
        this.reach = this.judgedReach;
      }
      this.judged = now;
    }
    this.reach += (this.judgedReach - this.reach) * (1 - Math.exp(-sinceLast / 1000 / GAIN_TIME));
  }

  /** What the lamp does not see. */
  private shade(place: Vector3): void {
    this.shadow ??= shadowCaster();
    const { camera } = this.shadow;
    camera.position.copy(place).applyMatrix4(this.camera.matrixWorld);
    camera.quaternion.copy(this.camera.quaternion);
    camera.fov =
      2 *
      (180 / Math.PI) *
      Math.atan(
        1.25 *
          Math.tan((this.camera.fov * Math.PI) / 360) *
          Math.max(1, this.throughEndoscope ? 1 : this.camera.aspect),
      );
    camera.near = 0.15 * this.reach;
    camera.far = 4 * this.reach;
    this.castShadows();
  }

  /** Draws what the lamp sees from where the shadow caster stands. */
  private castShadows(): void {
    if (!this.shadow) {
      return;
    }
    const { target, camera, material } = this.shadow;
    camera.updateProjectionMatrix();
    camera.updateMatrixWorld();
    const view = new Matrix4().multiplyMatrices(camera.projectionMatrix, camera.matrixWorldInverse);
    this.world.overrideMaterial = material;
    this.renderer.setRenderTarget(target);
    this.renderer.clear();
    this.renderer.render(this.world, camera);
    this.renderer.setRenderTarget(null);
    this.world.overrideMaterial = null;
    if (target.depthTexture) {
      this.palette.shade(target.depthTexture, view, 1 / SHADOW_TEXELS);
    }
  }

  /** On a machine that is too slow: fewer pixels first, then the plain looks. */
  private spare(sinceLast: number): void {
    this.longPictures = sinceLast > TOO_LONG && sinceLast < HIDDEN ? this.longPictures + 1 : 0;
    if (this.longPictures <= PATIENCE) {
      return;
    }
    this.longPictures = 0;
    if (this.pixels > FEWEST_PIXELS) {
      this.pixels = Math.max(FEWEST_PIXELS, this.pixels * 0.8);
    } else if (this.rich && this.options.quality === "auto") {
      this.tired = true;
      this.palette.dispose();
      this.palette = new Palette(this.rich);
      this.build();
    }
  }
}

function shadowCaster() {
  const target = new WebGLRenderTarget(SHADOW_TEXELS, SHADOW_TEXELS, {
    minFilter: NearestFilter,
    magFilter: NearestFilter,
    depthTexture: new DepthTexture(SHADOW_TEXELS, SHADOW_TEXELS, FloatType),
  });
  const material = new MeshBasicMaterial({ colorWrite: false, side: DoubleSide });
  return { target, camera: new PerspectiveCamera(60, 1), material };
}

/** Whether the processor draws for want of a graphics card. A browser that won't tell is taken at its best. */
export function drawsInSoftware(): boolean {
  const context = document.createElement("canvas").getContext("webgl2");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && names ? String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}
