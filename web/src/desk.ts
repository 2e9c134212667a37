// The desk: mouse and keyboard, as events of the page.

import type { Place } from "./hand";

/** One notch of a usual wheel is 100 pixels; it pushes 3 mm. */
const METRES_PER_PIXEL = 3e-5;
/** While a key is held: */
const PUSH_SPEED = 0.04; // m/s
const ROLL_SPEED = 2; // rad/s
const SWING_SPEED = 0.6; // picture units per second

export interface DeskEvents {
  push(metres: number): void;
  roll(radians: number): void;
  turnCamera(right: number, down: number): void;
  zoomCamera(factor: number): void;
  resetCamera(): void;
  pause(): void;
  restart(): void;
}

export class Desk {
  /** Where the trainee points, once they have; arrow keys move it too. */
  pointer: Place | null = null;
  private readonly held = new Set<string>();
  private pressed = false;
  private turning = false;
  private readonly canvas: HTMLCanvasElement;
  private readonly events: DeskEvents;

  constructor(canvas: HTMLCanvasElement, events: DeskEvents) {
    this.canvas = canvas;
    this.events = events;
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerdown", (event) => this.press(event));
    canvas.addEventListener("pointerup", (event) => this.release(event));
    canvas.addEventListener("pointercancel", () => this.letGo());
    canvas.addEventListener("contextmenu", (event) => event.preventDefault());
    canvas.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    window.addEventListener("keydown", (event) => this.key(event));
    window.addEventListener("keyup", (event) => this.held.delete(event.code));
    window.addEventListener("blur", () => this.letGo());
    document.getElementById("pause")?.addEventListener("click", () => events.pause());
    document.getElementById("restart")?.addEventListener("click", () => events.restart());
  }

  /** True while the jaws are to be closed. */
  get squeezing(): boolean {
    return this.pressed || this.held.has("Space");
  }

  /** Applies the keys held for `seconds`. `tip` is where the tip is now: arrow keys start from there. */
  hold(seconds: number, tip: Place | null): void {
    const axis = (less: string, more: string) => Number(this.held.has(more)) - Number(this.held.has(less));
    const push = axis("KeyS", "KeyW");
    const roll = axis("KeyQ", "KeyE");
    const right = axis("ArrowLeft", "ArrowRight");
    const up = axis("ArrowDown", "ArrowUp");
    if (push !== 0) {
      this.events.push(push * PUSH_SPEED * seconds);
    }
    if (roll !== 0) {
      this.events.roll(roll * ROLL_SPEED * seconds);
    }
    const from = this.pointer ?? tip;
    if (from !== null && (right !== 0 || up !== 0)) {
      this.pointer = [
        from[0] + right * SWING_SPEED * seconds,
        Math.max(-1, Math.min(1, from[1] + up * SWING_SPEED * seconds)),
      ];
    }
  }

  /** The instrument was put back: it waits for the next motion. */
  rest(): void {
    this.pointer = null;
  }

  private move(event: PointerEvent): void {
    if (this.turning) {
      this.events.turnCamera(event.movementX, event.movementY);
      return;
    }
    const { clientWidth, clientHeight } = this.canvas;
    const half = clientHeight / 2;
    this.pointer = [(event.offsetX - clientWidth / 2) / half, (half - event.offsetY) / half];
  }

  private press(event: PointerEvent): void {
    this.canvas.setPointerCapture(event.pointerId);
    this.canvas.parentElement?.focus({ preventScroll: true });
    if (event.button === 0) {
      this.pressed = true;
    } else if (event.button === 2) {
      this.turning = true;
    }
  }

  /** Only when the last button is up: with two buttons held, the browser tells of the first by a move. */
  private release(event: PointerEvent): void {
    this.canvas.releasePointerCapture(event.pointerId);
    this.pressed = false;
    this.turning = false;
  }

  private letGo(): void {
    this.pressed = false;
    this.turning = false;
    this.held.clear();
  }

  private wheel(event: WheelEvent): void {
    event.preventDefault();
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 33 * event.deltaY : event.deltaY;
    if (event.shiftKey || event.ctrlKey) {
      this.events.zoomCamera(Math.exp((pixels || event.deltaX) * 0.001));
    } else {
      this.events.push(-pixels * METRES_PER_PIXEL);
    }
  }

  private key(event: KeyboardEvent): void {
    if (event.ctrlKey || event.metaKey || event.altKey) {
      return;
    }
    // On a button, Space is that button's.
    if (event.target instanceof HTMLButtonElement && (event.code === "Space" || event.code === "Enter")) {
      return;
    }
    if (event.code === "Space" || event.code.startsWith("Arrow")) {
      event.preventDefault();
    }
    this.held.add(event.code);
    if (event.repeat) {
      return;
    }
    if (event.code === "KeyP") {
      this.events.pause();
    } else if (event.code === "KeyR") {
      this.events.restart();
    } else if (event.code === "KeyC") {
      this.events.resetCamera();
    }
  }
}
