// The desk: mouse, keyboard and gamepad, gathered into the motions of two hands.

import { type Pad, type PadState, readPad } from "./gamepad";
import { type Held, isStruck, LEFT_HANDED, RIGHT_HANDED, type Struck } from "./keys";
import type { Place } from "./space";

/** One notch of a usual wheel is 100 pixels; it pushes 3 mm. */
const METRES_PER_PIXEL = 3e-5;
const ZOOM_PER_PIXEL = 0.001;
/** While a key or a stick is held: */
const PUSH_SPEED = 0.04; // m/s
const ROLL_SPEED = 2; // rad/s
const SWING_SPEED = 0.6; // picture units per second
const LOOK_SPEED = 0.8; // picture units per second
const TURN_SPEED = 0.9; // rad/s, of the light cable and the horizon
const ZOOM_SPEED = 0.8; // e-folds per second

/** What both hands did since the last time. */
export interface Motion {
  /** Of the hand on the instrument, in picture units, by keys and sticks. */
  swing: Place;
  /** m */
  push: number;
  /** rad */
  roll: number;
  /** 0 open to 1 closed. */
  squeeze: number;
  /** By how much the picture is dragged, in picture units. */
  drag: Place;
  /** The camera, forward, m. */
  reach: number;
  /** Of the light cable, rad. */
  cable: number;
  /** Of the picture, rad. */
  horizon: number;
  /** Factor. */
  zoom: number;
}

export interface DeskEvents {
  struck(action: Struck): void;
  /** Hold this instrument, counted from 0. */
  choose(instrument: number): void;
  /** The first button, with the tool "pull". */
  grab(place: Place): void;
  dragged(place: Place): void;
  drop(): void;
}

export interface DeskOptions {
  fulcrum: boolean;
  leftHanded: boolean;
  sensitivity: number;
}

const [LEFT, RIGHT, MIDDLE] = [1, 2, 4];

export class Desk {
  /** Where the pointer is, if it moved since {@link take}. */
  pointer: Place | null = null;
  tool: "operate" | "pull" = "operate";
  options: DeskOptions;
  private active = true;
  private readonly held = new Set<Held>();
  private buttons = 0;
  private alt = false;
  private pulling = false;
  private pad: PadState | null = null;
  private drag: [number, number] = [0, 0];
  private wheeled = { push: 0, reach: 0, zoom: 0 };
  private last: Place | null = null;
  private cursor = "";
  private readonly canvas: HTMLCanvasElement;
  private readonly events: DeskEvents;
  private readonly ears = new AbortController();

  constructor(canvas: HTMLCanvasElement, events: DeskEvents, options: DeskOptions) {
    this.canvas = canvas;
    this.events = events;
    this.options = options;
    canvas.style.touchAction = "none";
    const { signal } = this.ears;
    canvas.addEventListener("pointermove", (event) => this.move(event), { signal });
    canvas.addEventListener("pointerdown", (event) => this.press(event), { signal });
    canvas.addEventListener("pointerup", (event) => this.move(event), { signal });
    canvas.addEventListener("pointercancel", () => this.letGo(), { signal });
    canvas.addEventListener("contextmenu", (event) => event.preventDefault(), { signal });
    canvas.addEventListener("wheel", (event) => this.wheel(event), { signal, passive: false });
    window.addEventListener("keydown", (event) => this.key(event), { signal });
    window.addEventListener("keyup", (event) => this.lift(event), { signal });
    window.addEventListener("blur", () => this.letGo(), { signal });
  }

  dispose(): void {
    this.ears.abort();
    this.letGo();
    this.canvas.style.cursor = "";
  }

  /** While not active, nothing that is done at the desk counts. */
  setActive(active: boolean): void {
    this.active = active;
    this.letGo();
  }

  /** True while the hand is on the camera. */
  get onCamera(): boolean {
    const button = this.options.leftHanded ? LEFT : RIGHT;
    return (
      (this.buttons & (button | MIDDLE)) !== 0 ||
      this.alt ||
      this.held.has("camera") ||
      (this.pad?.camera ?? false)
    );
  }

  /** Gives the motions of the last `seconds`, and forgets them. */
  take(seconds: number, pads: readonly (Pad | null)[]): Motion {
    this.readPads(pads);
    const axis = (less: Held, more: Held) => Number(this.held.has(more)) - Number(this.held.has(less));
    const arrows: Place = [axis("left", "right"), axis("down", "up")];
    const stick = this.pad?.swing ?? [0, 0];
    const swing: Place = [arrows[0] + stick[0], arrows[1] + stick[1]];
    const push = axis("pull", "push") + (this.pad?.push ?? 0);
    const roll = axis("rollLeft", "rollRight") + (this.pad?.roll ?? 0);
    const { sensitivity, fulcrum } = this.options;
    const travel = sensitivity * seconds;
    const motion: Motion = {
      swing: [0, 0],
      push: this.wheeled.push,
      roll: 0,
      squeeze: Math.max(Number(this.squeezing), this.pad?.squeeze ?? 0),
      drag: [this.drag[0], this.drag[1]],
      reach: this.wheeled.reach,
      cable: axis("cableLeft", "cableRight") * TURN_SPEED * seconds,
      horizon: (axis("horizonLeft", "horizonRight") + (this.pad?.horizon ?? 0)) * TURN_SPEED * seconds,
      zoom: Math.exp(
        this.wheeled.zoom + (axis("zoomOut", "zoomIn") + (this.pad?.zoom ?? 0)) * ZOOM_SPEED * seconds,
      ),
    };
    if (this.onCamera) {
      // A hand on the camera head moves the lens the other way, and with it the picture along with the hand.
      const way = (fulcrum ? 1 : -1) * LOOK_SPEED * travel;
      motion.drag = [motion.drag[0] + way * swing[0], motion.drag[1] + way * swing[1]];
      motion.reach += push * PUSH_SPEED * travel;
      motion.cable += roll * TURN_SPEED * seconds;
    } else {
      // The sensitivity of swinging is the pointing's business.
      motion.swing = [swing[0] * SWING_SPEED * seconds, swing[1] * SWING_SPEED * seconds];
      motion.push += push * PUSH_SPEED * travel;
      motion.roll = roll * ROLL_SPEED * seconds;
    }
    this.drag = [0, 0];
    this.wheeled = { push: 0, reach: 0, zoom: 0 };
    this.show();
    return motion;
  }

  private get squeezing(): boolean {
    const button = this.options.leftHanded ? RIGHT : LEFT;
    return (this.tool === "operate" && (this.buttons & button) !== 0) || this.held.has("squeeze");
  }

  private readPads(pads: readonly (Pad | null)[]): void {
    const found = pads.find((pad) => pad !== null && pad.axes.length >= 2);
    if (!found || !this.active) {
      this.pad = null;
      return;
    }
    const before = this.pad;
    this.pad = readPad(found, this.options.leftHanded);
    if (before === null) {
      return; // just plugged in: a button that is down already was not struck here
    }
    for (const button of ["lock", "next", "home", "pause"] as const) {
      if (this.pad[button] && !before[button]) {
        this.events.struck(button);
      }
    }
  }

  private place(event: PointerEvent | MouseEvent): Place {
    const { left, top, width, height } = this.canvas.getBoundingClientRect();
    const half = Math.max(height, 1) / 2;
    return [(event.clientX - left - width / 2) / half, (half - event.clientY + top) / half];
  }

  /** Any motion, press or release: with several buttons held, the browser tells of all but the first press by motions. */
  private move(event: PointerEvent): void {
    if (!this.active) {
      return;
    }
    this.alt = event.altKey;
    this.buttons = event.buttons;
    const place = this.place(event);
    const last = this.last ?? place;
    this.last = place;
    this.pull(place);
    if (this.onCamera) {
      this.drag[0] += place[0] - last[0];
      this.drag[1] += place[1] - last[1];
    } else if (this.tool === "operate") {
      this.pointer = place;
    }
    if (event.buttons === 0 && this.canvas.hasPointerCapture(event.pointerId)) {
      this.canvas.releasePointerCapture(event.pointerId);
    }
    this.show();
  }

  private press(event: PointerEvent): void {
    if (!this.active) {
      return;
    }
    // A press on the picture is meant for the picture: keys go there from now on.
    (document.activeElement as HTMLElement | null)?.blur?.();
    this.canvas.closest<HTMLElement>("[tabindex]")?.focus({ preventScroll: true });
    this.canvas.setPointerCapture(event.pointerId);
    event.preventDefault();
    this.move(event);
  }

  private pull(place: Place): void {
    const button = this.options.leftHanded ? RIGHT : LEFT;
    const wanted = this.tool === "pull" && (this.buttons & button) !== 0;
    if (wanted && !this.pulling) {
      this.events.grab(place);
    } else if (wanted) {
      this.events.dragged(place);
    } else if (this.pulling) {
      this.events.drop();
    }
    this.pulling = wanted;
  }

  private letGo(): void {
    this.held.clear();
    this.buttons = 0;
    this.alt = false;
    this.last = null;
    this.pointer = null;
    this.drag = [0, 0];
    if (this.pulling) {
      this.pulling = false;
      this.events.drop();
    }
  }

  private wheel(event: WheelEvent): void {
    if (!this.active) {
      return;
    }
    event.preventDefault();
    // With Shift some browsers turn the wheel sideways.
    const turned = event.deltaY || event.deltaX;
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 * turned : turned;
    if (event.shiftKey || event.ctrlKey) {
      this.wheeled.zoom -= pixels * ZOOM_PER_PIXEL;
    } else if (this.onCamera) {
      this.wheeled.reach -= pixels * METRES_PER_PIXEL * this.options.sensitivity;
    } else {
      this.wheeled.push -= pixels * METRES_PER_PIXEL * this.options.sensitivity;
    }
  }

  private key(event: KeyboardEvent): void {
    if (!this.active || event.ctrlKey || event.metaKey || belongsElsewhere(event)) {
      return;
    }
    if (event.key === "Alt") {
      // Otherwise the browser's menu takes the next key.
      event.preventDefault();
      this.alt = true;
      return;
    }
    const action = this.layout[event.code];
    if (action === undefined) {
      const digit = /^Digit([1-9])$/.exec(event.code);
      if (digit && !event.repeat) {
        this.events.choose(Number(digit[1]) - 1);
      }
      return;
    }
    event.preventDefault();
    if (!isStruck(action)) {
      this.held.add(action);
    } else if (!event.repeat) {
      this.events.struck(action);
    }
  }

  private lift(event: KeyboardEvent): void {
    this.alt = event.altKey;
    const action = this.layout[event.code];
    if (action !== undefined && !isStruck(action)) {
      this.held.delete(action);
    }
  }

  private get layout() {
    return this.options.leftHanded ? LEFT_HANDED : RIGHT_HANDED;
  }

  /** Shows by the pointer what it is now. */
  private show(): void {
    const cursor = this.onCamera
      ? "move"
      : this.tool === "pull"
        ? this.pulling
          ? "grabbing"
          : "grab"
        : this.options.fulcrum
          ? HAND
          : "crosshair";
    if (cursor !== this.cursor) {
      this.cursor = cursor;
      this.canvas.style.cursor = cursor;
    }
  }
}

/** Keys that a field, a list or a button of the page needs for itself. */
function belongsElsewhere({ target, code }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement)) {
    return false;
  }
  if (
    target.closest("input, textarea, select, dialog, [contenteditable], [role='listbox'], [role='menu']") !==
    null
  ) {
    return true;
  }
  return (
    target.closest("button, a, summary") !== null &&
    (code === "Space" || code === "Enter" || code.startsWith("Arrow"))
  );
}

/** The hand outside, as small as a pointer should be: the tip is elsewhere. */
const HAND = `url("data:image/svg+xml,${encodeURIComponent(
  `<svg xmlns="http://www.w3.org/2000/svg" width="32" height="32" viewBox="0 0 32 32"><g fill="none" stroke="#0b0f12" stroke-width="4"><circle cx="16" cy="16" r="7"/><path d="M16 3v6M16 23v6M3 16h6M23 16h6"/></g><g fill="none" stroke="#4fd1c5" stroke-width="1.6"><circle cx="16" cy="16" r="7"/><path d="M16 3v6M16 23v6M3 16h6M23 16h6"/></g></svg>`,
)}") 16 16, crosshair`;
