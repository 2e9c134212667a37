import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Desk, type DeskEvents } from "./desk";
import type { Pad } from "./gamepad";

/** As much of a browser as the desk needs. */
class FakeElement extends EventTarget {
  style: Record<string, string> = {};
  captured = false;
  kind = "";
  closest(selector: string) {
    return this.kind !== "" && selector.includes(this.kind) ? this : null;
  }
  getBoundingClientRect() {
    return { left: 100, top: 50, width: 800, height: 400 };
  }
  setPointerCapture() {
    this.captured = true;
  }
  releasePointerCapture() {
    this.captured = false;
  }
  hasPointerCapture() {
    return this.captured;
  }
}

let canvas: FakeElement;
let page: EventTarget;
let desk: Desk;
let events: { [K in keyof DeskEvents]: ReturnType<typeof vi.fn> };

function send(target: EventTarget, type: string, fields: object): Event {
  const event = Object.assign(new Event(type, { cancelable: true }), fields);
  target.dispatchEvent(event);
  return event;
}

/** The pointer at a place of the picture. */
function point(x: number, y: number, buttons = 0, type = "pointermove", more: object = {}): void {
  send(canvas, type, {
    clientX: 500 + 200 * x,
    clientY: 250 - 200 * y,
    buttons,
    pointerId: 1,
    altKey: false,
    ...more,
  });
}

const wheel = (deltaY: number, more: object = {}) =>
  send(canvas, "wheel", { deltaY, deltaX: 0, deltaMode: 0, shiftKey: false, ctrlKey: false, ...more });

const key = (code: string, type = "keydown", more: object = {}) =>
  send(page, type, {
    code,
    key: code,
    ctrlKey: false,
    metaKey: false,
    altKey: false,
    repeat: false,
    ...more,
  });

const take = (seconds = 0.1, pads: Pad[] = []) => desk.take(seconds, pads);

beforeEach(() => {
  page = new EventTarget();
  canvas = new FakeElement();
  vi.stubGlobal("window", page);
  vi.stubGlobal("document", { activeElement: null });
  vi.stubGlobal("HTMLElement", FakeElement);
  vi.stubGlobal("WheelEvent", { DOM_DELTA_LINE: 1 });
  events = { struck: vi.fn(), choose: vi.fn(), grab: vi.fn(), dragged: vi.fn(), drop: vi.fn() };
  desk = new Desk(canvas as unknown as HTMLCanvasElement, events as unknown as DeskEvents, {
    fulcrum: true,
    leftHanded: false,
    sensitivity: 1,
  });
});

afterEach(() => {
  desk.dispose();
  vi.unstubAllGlobals();
});

describe("Desk", () => {
  it("tells where the pointer is, in the picture's own unit", () => {
    point(0.5, -0.25);
    expect(desk.pointer).toEqual([0.5, -0.25]);
  });

  it("squeezes with the first button and Space, and lets go", () => {
    point(0, 0, 1, "pointerdown");
    expect(take().squeeze).toBe(1);
    point(0, 0, 0, "pointerup");
    expect(take().squeeze).toBe(0);
    key("Space");
    expect(take().squeeze).toBe(1);
    key("Space", "keyup");
    expect(take().squeeze).toBe(0);
  });

  it("drags the picture with the second button, and the instrument stays", () => {
    point(0, 0, 2, "pointerdown");
    point(0.1, 0.2, 2);
    expect(desk.pointer).toBeNull();
    const { drag, squeeze } = take();
    expect(drag[0]).toBeCloseTo(0.1);
    expect(drag[1]).toBeCloseTo(0.2);
    expect(squeeze).toBe(0);
    expect(take().drag).toEqual([0, 0]);
    wheel(-100);
    expect(take()).toMatchObject({ push: 0, reach: 0.003 });
  });

  it("still squeezes when both buttons are down", () => {
    point(0, 0, 1, "pointerdown");
    point(0, 0, 3);
    expect(take().squeeze).toBe(1);
    expect(desk.onCamera).toBe(true);
    point(0, 0, 1);
    expect(desk.onCamera).toBe(false);
    expect(take().squeeze).toBe(1);
  });

  it("swaps the buttons for the left hand", () => {
    desk.options = { ...desk.options, leftHanded: true };
    point(0, 0, 2, "pointerdown");
    expect(take().squeeze).toBe(1);
    point(0, 0, 1);
    expect(take().squeeze).toBe(0);
    expect(desk.onCamera).toBe(true);
  });

  it("pushes with the wheel and zooms with Shift", () => {
    wheel(-100);
    expect(take().push).toBeCloseTo(0.003);
    wheel(3, { deltaMode: 1 });
    expect(take().push).toBeLessThan(-0.002);
    wheel(0, { deltaX: -100, shiftKey: true });
    expect(take()).toMatchObject({ push: 0 });
    wheel(-100, { shiftKey: true });
    expect(take().zoom).toBeCloseTo(Math.exp(0.1));
  });

  it("moves the hand by the arrows, and the camera with C", () => {
    key("ArrowRight");
    expect(take(0.5).swing[0]).toBeCloseTo(0.3);
    key("KeyC");
    const motion = take(0.5);
    expect(motion.swing).toEqual([0, 0]);
    expect(motion.drag[0]).toBeGreaterThan(0.3);
    desk.options = { ...desk.options, fulcrum: false };
    expect(take(0.5).drag[0]).toBeLessThan(-0.3);
  });

  it("leaves keys to fields and buttons that have the focus, and to the browser's own commands", () => {
    const field = new FakeElement();
    field.kind = "input";
    key("KeyW", "keydown", { ctrlKey: true });
    const event = Object.assign(new Event("keydown", { cancelable: true }), {
      code: "ArrowRight",
      key: "ArrowRight",
    });
    Object.defineProperty(event, "target", { value: field });
    page.dispatchEvent(event);
    expect(take(1)).toMatchObject({ push: 0 });
    expect(event.defaultPrevented).toBe(false);
  });

  it("strikes once, however long a key is held", () => {
    key("KeyL");
    key("KeyL", "keydown", { repeat: true });
    key("Digit2");
    expect(events.struck.mock.calls).toEqual([["lock"]]);
    expect(events.choose.mock.calls).toEqual([[1]]);
  });

  it("pulls with the tool for it, and drops when it is over", () => {
    desk.tool = "pull";
    point(0.1, 0, 1, "pointerdown");
    point(0.2, 0, 1);
    expect(take().squeeze).toBe(0);
    expect(desk.pointer).toBeNull();
    point(0.3, 0, 0, "pointerup");
    expect(events.grab.mock.calls).toEqual([[[0.1, 0]]]);
    expect(events.dragged).toHaveBeenCalledOnce();
    expect(events.drop).toHaveBeenCalledOnce();
    point(0.1, 0, 1, "pointerdown");
    desk.setActive(false);
    expect(events.drop).toHaveBeenCalledTimes(2);
  });

  it("does nothing while it is not active, and forgets what was held", () => {
    key("Space");
    key("ArrowUp");
    desk.setActive(false);
    expect(take()).toMatchObject({ squeeze: 0, swing: [0, 0] });
    point(0.4, 0.4, 1);
    key("KeyW");
    wheel(-100);
    expect(take(1)).toMatchObject({ squeeze: 0, push: 0 });
    expect(desk.pointer).toBeNull();
    desk.setActive(true);
    expect(take(1)).toMatchObject({ squeeze: 0, push: 0 });
  });

  it("takes a gamepad that is plugged in and pulled out", () => {
    const pad = (lock: number): Pad => ({
      axes: [1, 0, 0, 0],
      buttons: Array.from({ length: 16 }, (_, i) => ({
        pressed: i === 5 && lock > 0,
        value: i === 5 ? lock : 0,
      })),
    });
    expect(take(0.1, [pad(1)]).swing[0]).toBeGreaterThan(0);
    expect(events.struck).not.toHaveBeenCalled();
    take(0.1, [pad(0)]);
    take(0.1, [pad(1)]);
    expect(events.struck.mock.calls).toEqual([["lock"]]);
    expect(take(0.1, []).swing).toEqual([0, 0]);
  });
});
