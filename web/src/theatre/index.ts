// The operating theatre: one operation, its picture, and the hands in it.

import { type Binding, bindingsFor } from "../desk/bindings";
import { Desk, type Motion } from "../desk/desk";
import { Hands, tipOf } from "../desk/hands";
import type { Struck } from "../desk/keys";
import { type Place, placeOf, rayTo, type Vector } from "../desk/space";
import { checkFrame, type Frame } from "../frame";
import { type Insight, NO_VIEWS, type Search, type Views } from "../insight";
import { addressOf, Link } from "../link";
import type { InstrumentKind, OperationKind, Role, SceneDescription, ServerMessage, Task } from "../wire";
import { type Hook, onPage } from "./hook";
import type { Status, TheatreEvents, TheatreOptions } from "./options";
import { View } from "./view";

export type { Binding } from "../desk/bindings";
export { NO_VIEWS, NODE_STATES, type NodeState, type Search, type Views } from "../insight";
export { AXIS_COLOURS, arrowLength, ELEMENT_COLOURS, NODE_COLOURS, VIEW_COLOURS } from "./inside";
export { MARK_COLOURS } from "./marks";
export { type Status, type TheatreEvents, type TheatreOptions, USUAL_OPTIONS } from "./options";
export { picture } from "./thumbnail";

/** Instruments that hold tissue. */
const GRIPS = new Set<InstrumentKind | undefined>(["grasper", "forceps"]);
/** Between two calls of `status`, ms. */
const STATUS_INTERVAL = 125;
/** Longer than this the hands don't wait for the next picture, ms. */
const LONGEST_REST = 25;

type Hello = Extract<ServerMessage, { type: "hello" }>;

export class Theatre {
  private readonly canvas: HTMLCanvasElement;
  private readonly events: TheatreEvents;
  private options: TheatreOptions;
  /** Null where nothing can be drawn. */
  private readonly view: View | null;
  private readonly desk: Desk;
  private readonly hands = new Hands();
  private link: Link | null = null;
  private role: Role | null = null;
  private kind: OperationKind = "lab";
  private scene: SceneDescription | null = null;
  private task: Task | null = null;
  private finished: Extract<ServerMessage, { type: "finished" }> | null = null;
  private frame: Frame | null = null;
  private views = NO_VIEWS;
  /** Which level of boxes is drawn; 0 is the finest. */
  private level = 0;
  private search: Search | null = null;
  private fresh = false;
  private moved = true;
  private frames = 0;
  private response = Number.NaN;
  private last = performance.now();
  /** When the hands were last moved, ms. */
  private worked = performance.now();
  private told = Number.NEGATIVE_INFINITY;
  /** Pictures of the last second. */
  private readonly pace = { since: performance.now(), count: 0, perSecond: 0 };
  private request = 0;
  private readonly resized: ResizeObserver;

  constructor(canvas: HTMLCanvasElement, events: TheatreEvents, options: TheatreOptions) {
    this.canvas = canvas;
    this.events = events;
    this.options = { ...options };
    this.desk = new Desk(
      canvas,
      {
        struck: (action) => this.strike(action),
        choose: (instrument) => this.hands.hold(instrument),
        grab: (place) => this.grab(place),
        dragged: (place) => this.link?.drag(this.ray(place)),
        drop: () => this.link?.command({ type: "drop" }),
      },
      this.options,
    );
    this.view = this.open();
    this.setOptions({});
    this.resized = new ResizeObserver(() => {
      this.moved = true;
    });
    this.resized.observe(canvas);
    this.request = requestAnimationFrame((now) => this.tick(now));
    window.trocar = this.hook();
  }

  /** Takes part in an operation, or only watches it. */
  connect(operation: string, watchOnly = false): void {
    this.link?.close();
    this.forget();
    const address = addressOf(operation, watchOnly, location.href);
    this.link = new Link(() => new WebSocket(address), {
      frame: (frame) => this.receive(frame),
      insight: (insight) => this.reveal(insight),
      message: (message) => this.hear(message),
      lost: (delay, reason) => {
        this.forget();
        this.events.lost(delay, reason);
      },
    });
  }

  dispose(): void {
    cancelAnimationFrame(this.request);
    this.resized.disconnect();
    this.link?.close();
    this.link = null;
    this.desk.dispose();
    this.view?.dispose();
    window.trocar = undefined;
  }

  pause(): void {
    this.link?.command({ type: "pause" });
  }

  resume(): void {
    this.link?.command({ type: "resume" });
  }

  /** Back to the start. */
  restart(): void {
    this.link?.command({ type: "restart" });
    this.finished = null;
    this.takeHold(null);
  }

  /** Ends an exercise. */
  finish(): void {
    this.link?.command({ type: "finish" });
  }

  /** Of a replay, s. */
  seek(time: number): void {
    this.link?.command({ type: "seek", time });
  }

  /** Simulated seconds per second. */
  speed(factor: number): void {
    this.link?.command({ type: "speed", factor });
  }

  change(parameter: number, value: number): void {
    this.link?.command({ type: "change", parameter, value });
  }

  /** Attribute bits of a net, or of all of them. */
  flags(tissue: number | null, word: number): void {
    this.link?.command({ type: "flags", tissue, word });
  }

  /** Which debug views are drawn. */
  watch(views: Views): void {
    this.views = { ...views };
    this.reveal(null);
    this.link?.command({ type: "watch", ...views });
  }

  /** Which level of the trees of boxes is drawn: 0 is the finest. */
  lookAtLevel(level: number): void {
    this.level = level;
  }

  /** Scenes without an endoscope are always seen by the free camera. */
  setCamera(mode: "endoscope" | "free"): void {
    if (this.view) {
      this.view.mode = mode;
      this.moved = true;
    }
  }

  resetCamera(): void {
    if (this.view?.throughEndoscope) {
      this.hands.optic?.reset();
    } else {
      this.view?.orbit.reset();
    }
    this.moved = true;
  }

  /** What the first mouse button does. */
  setTool(tool: "operate" | "pull"): void {
    this.desk.tool = tool;
    this.hands.rest();
  }

  setOptions(options: Partial<TheatreOptions>): void {
    Object.assign(this.options, options);
    const { fulcrum, leftHanded, sensitivity } = this.options;
    this.desk.options = { fulcrum, leftHanded, sensitivity };
    Object.assign(this.hands.pointing, { fulcrum, sensitivity });
    this.hands.pointing.rest();
    this.view?.setOptions({ ...this.options });
    this.moved = true;
  }

  /** False: keys, mouse and gamepad are ignored, because a dialog is open. */
  setActive(active: boolean): void {
    this.desk.setActive(active);
    this.hands.rest();
  }

  /** The picture as it is, as a data URL. */
  snapshot(): string {
    return this.view?.snapshot() ?? "";
  }

  /** For the help: what does what, with the current options. */
  get bindings(): Binding[] {
    const { fulcrum, leftHanded } = this.options;
    return bindingsFor({
      fulcrum,
      leftHanded,
      tool: this.desk.tool,
      endoscope: this.view?.throughEndoscope ?? false,
      camera: this.role === null || this.hands.optic !== null || !this.view?.throughEndoscope,
      instruments: this.role === null ? (this.scene?.instruments.length ?? 1) : this.hands.count,
      jaws: this.scene?.instruments[this.hands.instrument]?.kind !== "needle",
      pauses: this.role !== "viewer",
    });
  }

  private open(): View | null {
    try {
      return new View(this.canvas, this.options);
    } catch (error) {
      const cause = error instanceof Error ? error.message : String(error);
      // After the constructor: who listens may not have the theatre yet.
      queueMicrotask(() =>
        this.events.fail(`Trocar can't draw here: ${cause} Please use a browser with WebGL 2.`),
      );
      return null;
    }
  }

  /** Nothing of an old connection counts for the next. */
  private forget(): void {
    this.role = null;
    this.frame = null;
    this.hands.release();
  }

  private hear(message: Exclude<ServerMessage, { type: "error" }>): void {
    switch (message.type) {
      case "hello":
        this.greet(message);
        break;
      case "event":
        this.events.event({ time: message.time, kind: message.kind, text: message.text });
        break;
      case "task":
        this.assign(message.task);
        this.events.task(message.task);
        break;
      case "parameters":
        this.events.parameters(message.parameters, message.bounds, message.flags);
        break;
      case "picked":
        this.events.picked(message.name);
        break;
      case "finished":
        this.finished = message;
        this.events.finished(message);
        break;
    }
  }

  private greet(hello: Hello): void {
    // After a lost connection the scene is the same, and needn't be built again.
    if (this.scene?.hash !== hello.scene.hash || hello.scene.hash === "") {
      this.view?.show(hello.scene);
      this.hands.instrument = 0;
    }
    this.role = hello.role;
    this.kind = hello.operation.kind;
    this.scene = hello.scene;
    this.frame = null;
    this.finished = null;
    this.assign(hello.task);
    this.moved = true;
    if (Object.values(this.views).some(Boolean)) {
      this.link?.command({ type: "watch", ...this.views });
    }
    this.events.hello(hello);
  }

  private assign(task: Task | null): void {
    this.task = task;
    this.view?.mark(task?.marks ?? []);
    this.moved = true;
  }

  private reveal(insight: Insight | null): void {
    this.search = insight?.search ?? null;
    this.view?.reveal(insight, this.views, this.level);
    this.moved = true;
  }

  private receive(frame: Frame): void {
    if (this.scene === null) {
      return;
    }
    checkFrame(frame, this.scene);
    const before = this.frame;
    this.frame = frame;
    if (before === null) {
      // Where they are now, which after a lost connection is not where the scene has them.
      this.takeHold(frame);
    } else if (frame.time < before.time) {
      this.takeHold(null); // back to the start
    }
    if (before?.inputSequence !== frame.inputSequence) {
      this.response = this.link?.age(frame.inputSequence) ?? Number.NaN;
    }
    this.frames += 1;
    this.fresh = true;
    if (this.view) {
      this.hands.see(frame, this.scene, this.view.eye);
      // Where pictures are slow the hands don't wait for them, or the tip would go by leaps.
      if (performance.now() - this.worked > LONGEST_REST) {
        this.work(this.view);
      }
    }
    if (before?.paused !== frame.paused) {
      // At once, not with the next picture: one that is slow would miss a short run between two pauses.
      this.told = Number.NEGATIVE_INFINITY;
      this.tell(performance.now());
    }
  }

  /** The hands take the instruments as they stand in a frame; without one, as the scene has them at the start. */
  private takeHold(frame: Frame | null): void {
    // In a replay the hands are those of the recording.
    if (this.role === "controller" && this.scene !== null && this.kind !== "replay") {
      this.hands.take(this.scene, frame);
    } else {
      this.hands.release();
    }
  }

  private strike(action: Struck): void {
    switch (action) {
      case "lock":
        this.hands.lock();
        break;
      case "next":
        this.hands.next();
        break;
      case "home":
        this.resetCamera();
        break;
      case "pause":
        this.link?.command({ type: this.frame?.paused ? "resume" : "pause" });
        break;
    }
  }

  private tick(now: number): void {
    this.request = requestAnimationFrame((next) => this.tick(next));
    const sinceLast = now - this.last;
    this.last = now;
    if (this.view === null) {
      return;
    }
    if (this.fresh && this.frame) {
      this.view.pose(this.frame);
    }
    this.work(this.view);
    if (this.fresh || this.moved) {
      this.view.draw(sinceLast);
      this.pace.count += 1;
      this.fresh = false;
      this.moved = false;
    }
    this.tell(now);
  }

  /** Moves what the hands hold, for the time since they were last moved. */
  private work(view: View): void {
    const now = performance.now();
    const seconds = Math.min((now - this.worked) / 1000, 0.1);
    this.worked = now;
    const pads = this.role === null ? [] : (navigator.getGamepads?.() ?? []);
    this.move(view, this.desk.take(seconds, pads), seconds);
  }

  private move(view: View, motion: Motion, seconds: number): void {
    const { pointer } = this.desk;
    this.desk.pointer = null;
    if (!view.throughEndoscope) {
      const { drag, reach, zoom } = motion;
      // A notch of the wheel, 3 mm for the endoscope, is a tenth of the way for the free camera.
      const nearer = zoom * Math.exp(reach / 0.03);
      if (drag[0] !== 0 || drag[1] !== 0 || nearer !== 1) {
        view.orbit.turn(drag[0], drag[1]);
        view.orbit.zoom(1 / nearer);
        view.aim();
        this.moved = true;
      }
    }
    if (this.link === null || this.frame === null) {
      return;
    }
    if (this.frame.paused) {
      // What the hands did meanwhile must not come as a jerk afterwards.
      this.hands.rest();
      return;
    }
    if (view.throughEndoscope) {
      this.hands.look(motion, seconds, view.eye, view.distance, this.link);
    }
    this.hands.operate(motion, pointer, seconds, view.eye, this.link);
  }

  private tell(now: number): void {
    const { frame, scene, pace } = this;
    if (frame === null || scene === null || now - this.told < STATUS_INTERVAL) {
      return;
    }
    // Over less than half a second a slow machine would seem to stand still now and then.
    if (now - pace.since > 500) {
      pace.perSecond = (1000 * pace.count) / (now - pace.since);
      Object.assign(pace, { since: now, count: 0 });
    }
    const held = frame.instruments[this.hands.instrument];
    const stages = scene.stages.map((name, i) => ({ name, cost: frame.stageCosts[i] }));
    const dearest = stages.reduce<(typeof stages)[number] | null>(
      (most, stage) => (most === null || stage.cost > most.cost ? stage : most),
      null,
    );
    const status: Status = {
      time: frame.time,
      paused: frame.paused,
      slow: frame.slow,
      atEnd: frame.atEnd,
      rate: frame.rate,
      framesPerSecond: this.pace.perSecond,
      response: this.response,
      stepCost: frame.stepCost,
      stepBudget: scene.step * 1e6,
      stages,
      dearest: dearest?.name ?? null,
      force: held ? Math.hypot(held.force[0], held.force[1], held.force[2]) : 0,
      holding: (held?.grasped ?? 0) > 0,
      holds: GRIPS.has(scene.instruments[this.hands.instrument]?.kind),
      instrument: this.hands.instrument,
      aimError: frame.aimError,
      aimIterations: frame.aimIterations,
      correctError: frame.correctError,
      contacts: frame.contacts,
      substeps: frame.substeps,
      energy: frame.energy,
      endoscope: frame.eye?.handle ?? null,
      optics: scene.endoscope?.optics ?? null,
      tipInView: this.tipInView,
      search: this.views.boxes || this.views.depths ? this.search : null,
    };
    this.told = now;
    this.events.status(status);
  }

  /** Where the tip of the held instrument is, m. */
  private get tip(): Vector | null {
    return this.frame && this.scene && tipOf(this.frame, this.scene, this.hands.instrument);
  }

  private get tipInView(): boolean {
    const place = this.tip && this.view && placeOf(this.tip, this.view.eye);
    return place !== null && Math.hypot(...place) <= (this.view?.radius ?? 0);
  }

  private grab(place: Place): void {
    this.link?.command({ type: "grab", ...this.ray(place) });
  }

  private ray(place: Place): { origin: [number, number, number]; direction: [number, number, number] } {
    const eye = this.view?.eye;
    return eye
      ? { origin: [...eye.position], direction: [...rayTo(place, eye)] }
      : { origin: [0, 0, 0], direction: [0, 0, -1] };
  }

  private hook(): Hook {
    const theatre = this;
    const placed = (point: Vector) => (theatre.view ? placeOf(point, theatre.view.eye) : null);
    return {
      get role() {
        return theatre.role;
      },
      get scene() {
        return theatre.scene;
      },
      get frames() {
        return theatre.frames;
      },
      get lastFrame() {
        return theatre.frame;
      },
      get handle() {
        return theatre.hands.handle;
      },
      get task() {
        return theatre.task;
      },
      get finished() {
        return theatre.finished;
      },
      get tip() {
        return theatre.tip;
      },
      pixelsOf(point) {
        const place = placed(point);
        return place && onPage(theatre.canvas, place);
      },
      pointerFor(point) {
        const place = placed(point);
        return place && onPage(theatre.canvas, theatre.hands.pointing.back(place));
      },
    };
  }
}
