// The words and numbers around the picture. Reads only; nothing here steers.

import type { Frame } from "./frame";
import type { Role, SceneDescription } from "./wire";

/** Numbers change this often, ms: faster can't be read. */
const REFRESH = 200;
/** How long an event stays on the screen, ms. */
const EVENT_STAYS = 5000;

export class Panel {
  private readonly words = {
    scene: element("scene"),
    role: element("role"),
    paused: element("paused"),
    time: element("time"),
    frames: element("frames"),
    rate: element("rate"),
    response: element("response"),
    force: element("force"),
    grasped: element("grasped"),
    cost: element("cost"),
    slow: element("slow"),
    event: element("event"),
    banner: element("banner"),
  };
  private readonly stageList = element("stages");
  private readonly pauseButton = element("pause") as HTMLButtonElement;
  private readonly restartButton = element("restart") as HTMLButtonElement;
  private stages: { name: string; bar: HTMLElement; cost: HTMLElement }[] = [];
  private refreshed = Number.NEGATIVE_INFINITY;
  private drawn = 0;
  private framesPerSecond = 0;
  private eventTimer: ReturnType<typeof setTimeout> | undefined;

  /** A connection begins. */
  hello(role: Role, scene: SceneDescription): void {
    const viewer = role === "viewer";
    document.title = `${scene.name} · Trocar`;
    this.words.scene.textContent = scene.name;
    this.words.role.textContent = viewer ? "You are watching: somebody else holds the instrument" : "";
    this.words.role.hidden = !viewer;
    this.words.banner.hidden = true;
    this.pauseButton.disabled = viewer;
    this.restartButton.disabled = viewer;
    this.stageList.replaceChildren();
    this.stages = scene.stages.map((name) => {
      const bar = make("div", "bar");
      const cost = make("span", "microseconds");
      const track = make("div", "track");
      const row = make("li");
      track.append(bar);
      row.append(make("span", "", name), track, cost);
      this.stageList.append(row);
      return { name, bar, cost };
    });
  }

  /** The connection is gone. */
  lost(delay: number, reason: string | null): void {
    const seconds = Math.max(1, Math.round(delay / 1000));
    const cause = reason === null ? "" : ` (${reason})`;
    this.words.banner.textContent = `Connection lost${cause}. Trying again in ${seconds} s …`;
    this.words.banner.hidden = false;
  }

  /** Something that can't be mended by waiting. */
  fail(sentence: string): void {
    this.words.banner.textContent = sentence;
    this.words.banner.hidden = false;
  }

  /** Something happened in the simulation. */
  event(time: number, text: string): void {
    this.words.event.textContent = `${time.toFixed(1)} s: ${text}`;
    clearTimeout(this.eventTimer);
    this.eventTimer = setTimeout(() => {
      this.words.event.textContent = "";
    }, EVENT_STAYS);
  }

  /** A picture was drawn of this frame. `response` is the time from the hand to the frame, ms. */
  update(frame: Frame, instrument: number, response: number): void {
    this.drawn += 1;
    const now = performance.now();
    const since = now - this.refreshed;
    if (since < REFRESH) {
      return;
    }
    this.framesPerSecond = Number.isFinite(since) ? (1000 * this.drawn) / since : 0;
    this.drawn = 0;
    this.refreshed = now;
    this.write(frame, instrument, response);
  }

  private write(frame: Frame, instrument: number, response: number): void {
    const { words } = this;
    words.time.textContent = `${frame.time.toFixed(2)} s`;
    words.frames.textContent = `${this.framesPerSecond.toFixed(0)} /s`;
    words.rate.textContent = `${frame.rate.toFixed(2)} × real time`;
    words.response.textContent = Number.isNaN(response) ? "–" : `${response.toFixed(0)} ms`;
    words.cost.textContent = microseconds(frame.stepCost);
    words.paused.hidden = !frame.paused;
    this.pauseButton.setAttribute("aria-pressed", String(frame.paused));
    const held = frame.instruments[instrument];
    words.force.textContent = held ? `${Math.hypot(...held.force).toFixed(2)} N` : "–";
    words.grasped.textContent = held ? (held.grasped > 0 ? "holding tissue" : "empty") : "–";

    let dearest = 0;
    for (let i = 0; i < this.stages.length; i += 1) {
      const cost = frame.stageCosts[i];
      // CSSOM, not a style attribute: the content policy forbids those.
      this.stages[i].bar.style.transform =
        `scaleX(${Math.min(1, cost / Math.max(frame.stepCost, 1e-9)).toFixed(3)})`;
      this.stages[i].cost.textContent = microseconds(cost);
      dearest = cost > frame.stageCosts[dearest] ? i : dearest;
    }
    words.slow.hidden = !frame.slow;
    if (frame.slow) {
      words.slow.textContent = `This machine can't keep up: time runs slower. Most of it goes into “${this.stages[dearest]?.name}”.`;
    }
  }
}

function microseconds(value: number): string {
  return `${value < 10 ? value.toFixed(1) : value.toFixed(0)} µs`;
}

function element(id: string): HTMLElement {
  const found = document.getElementById(id);
  if (found === null) {
    throw new Error(`the page has no element “${id}”`);
  }
  return found;
}

function make(tag: string, name = "", text = ""): HTMLElement {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
}
