// What a page says to the theatre and hears from it.

import type { Search } from "../insight";
import type { EndoscopeHandle, FlagWord, Marker, Parameter, ServerMessage, StepBound, Task } from "../wire";

export interface TheatreOptions {
  /** The hand's motion is inverted at the trocar, as in reality. */
  fulcrum: boolean;
  leftHanded: boolean;
  /** 0.4 to 1.5; 1 is usual. */
  sensitivity: number;
  quality: "auto" | "rich" | "plain";
  /** How often each triangle is divided by four. */
  refine: 0 | 1 | 2;
  /** The round field of an endoscope, dark towards its rim. */
  vignette: boolean;
  reducedMotion: boolean;
  showMarks: boolean;
}

export const USUAL_OPTIONS: TheatreOptions = {
  fulcrum: true,
  leftHanded: false,
  sensitivity: 1,
  quality: "auto",
  refine: 1,
  vignette: true,
  reducedMotion: false,
  showMarks: true,
};

export interface TheatreEvents {
  hello(hello: Extract<ServerMessage, { type: "hello" }>): void;
  event(marker: Marker): void;
  task(task: Task): void;
  finished(message: Extract<ServerMessage, { type: "finished" }>): void;
  parameters(parameters: Parameter[], bounds: StepBound[], flags: FlagWord[]): void;
  picked(name: string | null): void;
  /** The connection is gone; the next attempt comes in `delay` ms. `reason` is the server's, if it gave one. */
  lost(delay: number, reason: string | null): void;
  /** Something that can't be mended by waiting. */
  fail(sentence: string): void;
  /** About 8 times a second. */
  status(status: Status): void;
}

export interface Status {
  time: number;
  paused: boolean;
  slow: boolean;
  atEnd: boolean;
  rate: number;
  framesPerSecond: number;
  /** From the hand to a frame that knows of it, ms; NaN unknown. */
  response: number;
  /** µs */
  stepCost: number;
  /** µs: the length of a step. */
  stepBudget: number;
  stages: { name: string; cost: number }[];
  dearest: string | null;
  /** At the tip of the held instrument, N. */
  force: number;
  holding: boolean;
  /** The instrument is one that holds tissue. */
  holds: boolean;
  /** Which instrument is held. */
  instrument: number;
  aimError: number;
  aimIterations: number;
  correctError: number;
  contacts: number;
  substeps: number;
  energy: { kinetic: number; gravity: number; elastic: number };
  endoscope: EndoscopeHandle | null;
  /** Angle between shaft and line of sight, rad. */
  optics: number | null;
  tipInView: boolean;
  /** What the search for contacts did; null unless boxes or depths are shown. */
  search: Search | null;
}
