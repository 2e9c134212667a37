// The picture: tissue, scenery and instruments under a warm light beside the camera.

import {
  ACESFilmicToneMapping,
  AmbientLight,
  BackSide,
  BasicShadowMap,
  BoxGeometry,
  type BufferGeometry,
  Color,
  Fog,
  Group,
  HemisphereLight,
  type Material,
  Mesh,
  MeshBasicMaterial,
  PCFShadowMap,
  PerspectiveCamera,
  PMREMGenerator,
  Quaternion,
  Scene,
  SpotLight,
  SRGBColorSpace,
  Vector3,
  WebGLRenderer,
} from "three";
import type { Frame } from "./frame";
import type { Eye, Vector } from "./hand";
import { type Palette, PLAIN, RICH } from "./materials";
import { Orbit } from "./orbit";
import { deform, jaw, port, surface, tube } from "./shapes";
import type { SceneDescription } from "./wire";

/** More pixels than this per CSS pixel cost time and show nothing. */
const MOST_PIXELS = 2;
const SOFTWARE_PIXELS = 0.8;
const FEWEST_PIXELS = 0.5;
/** Pictures that take longer than this, ms, want fewer pixels. */
const TOO_LONG = 45;
/** A longer gap is a hidden tab, not a slow picture. */
const HIDDEN = 3000;

const BACKGROUND = 0x0a0607;

interface Instrument {
  shaft: Group;
  jawA: Group;
  jawB: Group;
  port: Mesh;
}

export class View {
  readonly orbit: Orbit;
  private readonly renderer: WebGLRenderer;
  private readonly camera = new PerspectiveCamera();
  private readonly stage = new Scene();
  private readonly lamp = new SpotLight(0xfff0dd);
  private content = new Group();
  private tissues: BufferGeometry[] = [];
  private bodies: Mesh[] = [];
  private instruments: Instrument[] = [];
  private portsStand = false;
  private readonly palette: Palette;
  private pixels: number;
  /** Of the lamp: without tone mapping less is enough. */
  private readonly brightness: number;
  private size = "";
  private longPictures = 0;

  constructor(canvas: HTMLCanvasElement) {
    const software = drawsInSoftware();
    this.palette = software ? PLAIN : RICH;
    this.brightness = software ? 4.4 : 5.5;
    this.pixels = software ? SOFTWARE_PIXELS : Math.min(window.devicePixelRatio, MOST_PIXELS);
    this.renderer = new WebGLRenderer({ canvas, antialias: !software, powerPreference: "high-performance" });
    this.renderer.toneMapping = ACESFilmicToneMapping;
    this.renderer.toneMappingExposure = 1.05;
    this.renderer.shadowMap.enabled = true;
    this.renderer.shadowMap.type = software ? BasicShadowMap : PCFShadowMap;
    this.orbit = new Orbit(this.camera);
    this.stage.background = new Color(BACKGROUND);
    if (!software) {
      this.stage.environment = theatre(this.renderer);
    }
    this.stage.environmentIntensity = 0.55;
    this.stage.add(
      software ? new AmbientLight(0xd8c8c4, 0.3) : new HemisphereLight(0xbfd4ff, 0x2a0d0a, 0.25),
    );
    this.lamp.castShadow = true;
    this.lamp.shadow.mapSize.setScalar(1024);
    this.lamp.shadow.radius = 4;
    this.lamp.angle = 0.75;
    this.lamp.penumbra = 0.7;
    this.stage.add(this.lamp, this.lamp.target, this.content);
  }

  /** Replaces what is shown by the things of a scene, at rest. */
  show(scene: SceneDescription): void {
    dispose(this.content);
    this.content.removeFromParent();
    this.content = new Group();
    this.stage.add(this.content);
    this.portsStand = false;

    this.tissues = scene.tissues.map((tissue) => {
      const geometry = surface(tissue.positions, tissue.triangles);
      const mesh = new Mesh(geometry, this.palette.tissue(colour(tissue.colour), sizeOf(geometry)));
      mesh.frustumCulled = false; // its bounds change every frame; it is always in view anyhow
      this.add(mesh);
      return geometry;
    });
    for (const { positions, triangles, colour: paint, opacity } of scene.scenery) {
      const mesh = new Mesh(surface(positions, triangles), this.palette.scenery(colour(paint), opacity));
      this.add(mesh);
      mesh.castShadow = opacity >= 1;
    }
    this.bodies = scene.bodies.map(({ colour: paint, half_extents: [x, y, z] }) => {
      const mesh = new Mesh(new BoxGeometry(2 * x, 2 * y, 2 * z), this.palette.body(colour(paint)));
      this.add(mesh);
      return mesh;
    });
    this.instruments = scene.instruments.map((instrument) => this.build(instrument));

    this.orbit.place(scene.camera);
    this.light();
    this.stage.fog = new Fog(BACKGROUND, 1.5 * this.orbit.distance, 5 * this.orbit.distance);
  }

  /** Moves everything to where a frame has it. */
  pose(frame: Frame): void {
    for (let i = 0; i < this.tissues.length; i += 1) {
      deform(this.tissues[i], frame.tissues[i]);
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
      if (!this.portsStand) {
        port.quaternion.copy(shaft.quaternion);
      }
    }
    this.portsStand = true;
  }

  /** Draws. Fits the canvas to its box first, and takes fewer pixels on a machine that is too slow for them. */
  draw(sinceLast: number): void {
    this.spare(sinceLast);
    const { clientWidth, clientHeight } = this.renderer.domElement;
    const size = `${clientWidth} ${clientHeight} ${this.pixels}`;
    if (size !== this.size) {
      // Only when it changed: setting the size, even to the same, makes a new drawing buffer.
      this.size = size;
      this.renderer.setPixelRatio(this.pixels);
      this.renderer.setSize(clientWidth, clientHeight, false);
      this.camera.aspect = clientWidth / Math.max(clientHeight, 1);
      this.camera.updateProjectionMatrix();
    }
    this.light();
    this.renderer.render(this.stage, this.camera);
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

  private build({
    shaft_radius,
    shaft_length,
    jaw_length,
    jaw_radius,
    trocar,
  }: SceneDescription["instruments"][number]): Instrument {
    const steel = this.palette.steel();
    // The end of the shaft is bare metal, the rest is insulated.
    const bare = Math.min(shaft_length, 6 * shaft_radius);
    const shaft = new Group().add(
      new Mesh(tube(shaft_radius, -shaft_length, -bare), this.palette.sleeve()),
      new Mesh(tube(shaft_radius * 0.94, -bare, 0), steel),
    );
    const jaws = jaw(jaw_length, jaw_radius);
    const jawA = new Group().add(new Mesh(jaws, steel));
    const jawB = new Group().add(new Mesh(jaws, steel));
    const rim = new Mesh(port(shaft_radius), this.palette.plastic());
    rim.position.fromArray(trocar);
    this.add(shaft, jawA, jawB, rim);
    return { shaft, jawA, jawB, port: rim };
  }

  private add(...things: (Mesh | Group)[]): void {
    for (const thing of things) {
      thing.traverse((part) => {
        part.castShadow = true;
        part.receiveShadow = true;
      });
      this.content.add(thing);
    }
  }

  /** The lamp rides beside the camera: far enough off the axis that the instrument's shadow shows how deep the tip is. */
  private light(): void {
    const distance = this.orbit.distance;
    this.lamp.position.set(0.35, 0.5, 0).multiplyScalar(distance).applyMatrix4(this.camera.matrixWorld);
    this.camera.getWorldDirection(this.lamp.target.position);
    this.lamp.target.position.multiplyScalar(distance).add(this.camera.position);
    this.lamp.intensity = this.brightness * distance * distance;
    this.lamp.shadow.camera.near = distance / 10;
    this.lamp.shadow.camera.far = distance * 4;
    this.lamp.shadow.normalBias = distance / 200;
    this.lamp.shadow.bias = -0.002;
  }

  private spare(sinceLast: number): void {
    this.longPictures = sinceLast > TOO_LONG && sinceLast < HIDDEN ? this.longPictures + 1 : 0;
    if (this.longPictures > 5 && this.pixels > FEWEST_PIXELS) {
      this.pixels = Math.max(FEWEST_PIXELS, this.pixels * 0.8);
      this.longPictures = 0;
    }
  }
}

/**
 * Whether the processor draws for want of a graphics card. A browser that won't tell is taken at its best;
 * `?quality=rich` or `?quality=plain` in the address decides for it.
 */
function drawsInSoftware(): boolean {
  const wish = new URLSearchParams(location.search).get("quality");
  if (wish !== null) {
    return wish === "plain";
  }
  const context = document.createElement("canvas").getContext("webgl2");
  const names = context?.getExtension("WEBGL_debug_renderer_info");
  const name = context && names ? String(context.getParameter(names.UNMASKED_RENDERER_WEBGL)) : "";
  context?.getExtension("WEBGL_lose_context")?.loseContext();
  return /swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

function colour([red, green, blue]: [number, number, number]): Color {
  return new Color().setRGB(red, green, blue, SRGBColorSpace);
}

function sizeOf(geometry: BufferGeometry): number {
  geometry.computeBoundingSphere();
  return geometry.boundingSphere?.radius || 1;
}

const turn = new Quaternion();

function place(thing: Mesh | Group, pose: Float32Array): void {
  thing.position.fromArray(pose, 0);
  thing.quaternion.copy(turn.fromArray(pose, 3));
}

/** What metal and wet tissue mirror: a dark room with two lamps. Made here, so that no picture has to be loaded. */
function theatre(renderer: WebGLRenderer) {
  const room = new Scene();
  room.add(new Mesh(new BoxGeometry(10, 10, 10), new MeshBasicMaterial({ color: 0x3d434c, side: BackSide })));
  const lamps: [Vector, Vector, number, number][] = [
    [[2, 4.6, 1], [3, 0.1, 3], 0xfff4e6, 9],
    [[-4.8, 1.5, -1], [0.1, 3, 2], 0xa9c8ff, 3],
    [[0, 0.5, 4.8], [4, 0.6, 0.1], 0xffe2c4, 2.5],
  ];
  for (const [position, size, paint, brightness] of lamps) {
    const lamp = new Mesh(
      new BoxGeometry(...size),
      new MeshBasicMaterial({ color: new Color(paint).multiplyScalar(brightness) }),
    );
    lamp.position.set(...position);
    room.add(lamp);
  }
  const generator = new PMREMGenerator(renderer);
  const { texture } = generator.fromScene(room, 0.03);
  generator.dispose();
  dispose(room);
  return texture;
}

function dispose(group: Group | Scene): void {
  group.traverse((part) => {
    if (part instanceof Mesh) {
      part.geometry.dispose();
      (part.material as Material).dispose();
    }
  });
}
