// The page: one running simulation, and a hand on its instrument.

import { Desk } from "./desk";
import { checkFrame, type Frame } from "./frame";
import { Hand, type Place, placeOf, type Vector } from "./hand";
import { Link } from "./link";
import { Panel } from "./panel";
import { View } from "./view";
import type { Handle, Role, SceneDescription } from "./wire";

/** The instrument this page holds. */
const INSTRUMENT = 0;

const canvas = document.getElementById("view") as HTMLCanvasElement;
const panel = new Panel();

function start(): void {
  const view = new View(canvas);
  let role: Role | null = null;
  let scene: SceneDescription | null = null;
  let hand: Hand | null = null;
  let frame: Frame | null = null;
  let fresh = false;
  let moved = true; // the camera or the window
  let frames = 0;
  let response = Number.NaN; // from the hand to a frame that knows of it, ms
  let last = performance.now();

  const link = new Link(() => new WebSocket(new URL("/ws", location.href.replace(/^http/, "ws"))), {
    hello(as, described) {
      role = as;
      scene = described;
      frame = null;
      view.show(described);
      panel.hello(as, described);
      moved = true;
    },
    frame(received) {
      if (scene === null) {
        return;
      }
      checkFrame(received, scene);
      if (frame === null) {
        // Where it is now, which after a lost connection is not where the scene has it.
        takeHold(received.instruments[INSTRUMENT]?.handle);
      }
      if (frame?.inputSequence !== received.inputSequence) {
        response = link.age(received.inputSequence);
      }
      frame = received;
      fresh = true;
      frames += 1;
      const instrument = received.instruments[INSTRUMENT];
      if (hand && instrument) {
        hand.see(instrument.handle, tipOf(received, scene), scene.instruments[INSTRUMENT].trocar, view.eye);
      }
    },
    event: (time, text) => panel.event(time, text),
    lost(delay, reason) {
      role = null;
      hand = null;
      panel.lost(delay, reason);
    },
  });

  const desk = new Desk(canvas, {
    push: (metres) => hand?.push(metres),
    roll: (radians) => hand?.roll(radians),
    turnCamera(right, down) {
      view.orbit.turn(right, down);
      moved = true;
    },
    zoomCamera(factor) {
      view.orbit.zoom(factor);
      moved = true;
    },
    resetCamera() {
      view.orbit.reset();
      moved = true;
    },
    pause: () => link.command(frame?.paused ? "resume" : "pause"),
    restart() {
      link.command("restart");
      takeHold(scene?.instruments[INSTRUMENT]?.handle);
    },
  });

  /** The hand takes the instrument as it stands. */
  function takeHold(handle: Handle | undefined): void {
    const limits = scene?.instruments[INSTRUMENT]?.limits;
    hand = role === "controller" && handle && limits ? new Hand(handle, limits) : null;
    desk.rest();
  }

  function tick(now: number): void {
    const sinceLast = now - last;
    last = now;
    if (hand) {
      steer(hand, Math.min(sinceLast / 1000, 0.1));
    }
    if (frame && (fresh || moved)) {
      if (fresh) {
        view.pose(frame);
      }
      view.draw(sinceLast);
      panel.update(frame, INSTRUMENT, response);
      fresh = false;
      moved = false;
    }
    requestAnimationFrame(tick);
  }

  function steer(hand: Hand, seconds: number): void {
    const { eye } = view;
    desk.hold(seconds, frame && scene?.instruments[INSTRUMENT] ? placeOf(tipOf(frame, scene), eye) : null);
    if (desk.pointer) {
      hand.aim(desk.pointer, eye);
    }
    hand.squeeze(desk.squeezing);
    if (hand.follow(seconds)) {
      link.steer(INSTRUMENT, hand.handle);
    }
  }

  window.addEventListener("resize", () => {
    moved = true;
  });
  requestAnimationFrame(tick);

  window.trocar = {
    get role() {
      return role;
    },
    get scene() {
      return scene;
    },
    get frames() {
      return frames;
    },
    get lastFrame() {
      return frame;
    },
    get handle() {
      return hand?.handle ?? null;
    },
    pixelsOf(point) {
      const place = placeOf(point, view.eye);
      const half = canvas.clientHeight / 2;
      return place && [canvas.clientWidth / 2 + half * place[0], half - half * place[1]];
    },
  };
}

/** Where the closed jaws end. */
function tipOf(frame: Frame, scene: SceneDescription): Vector {
  const [px, py, pz, x, y, z, w] = frame.instruments[INSTRUMENT].shaft;
  const length = scene.instruments[INSTRUMENT].jaw_length;
  // The third column of the rotation matrix: the shaft's +z.
  return [
    px + length * 2 * (x * z + w * y),
    py + length * 2 * (y * z - w * x),
    pz + length * (1 - 2 * (x * x + y * y)),
  ];
}

declare global {
  interface Window {
    /** For the browser test only: what the page has received and sends. Reads; never steers. */
    trocar?: {
      readonly role: Role | null;
      readonly scene: SceneDescription | null;
      /** Frames received since the page was opened. */
      readonly frames: number;
      readonly lastFrame: Frame | null;
      /** The handle as last wanted; null for a viewer. */
      readonly handle: Readonly<Handle> | null;
      /** Where a point, m, appears on the page, CSS pixels. */
      pixelsOf(point: Vector): Place | null;
    };
  }
}

try {
  start();
} catch (error) {
  const cause = error instanceof Error ? error.message : String(error);
  panel.fail(`Trocar can't draw here: ${cause} Please use a browser with WebGL 2.`);
}
