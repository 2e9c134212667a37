// From what was recorded to what is drawn.

import type { Marker, NoticeKind, Trace } from "../../wire";

/** One hue a goal, told apart on a dark ground. */
export const GOAL_COLOURS = ["#4fd1c5", "#7db8ff", "#b9a2fb", "#ff9ec4", "#a5e075", "#f2b84b"] as const;

export const EVENT_COLOURS: Record<NoticeKind, string> = {
  goal: "#4fd1c5",
  info: "#8b9ea9",
  hint: "#f2b84b",
  error: "#ff8a80",
};

export function goalColour(goal: number): string {
  const n = GOAL_COLOURS.length;
  return GOAL_COLOURS[((Math.trunc(goal) % n) + n) % n];
}

/** Every column cut to the shortest, so that no index points beyond one. */
export function whole(trace: Trace): Trace {
  const length = Math.min(...Object.values(trace).map((column) => column.length));
  return Object.fromEntries(
    Object.entries(trace).map(([name, column]) => [name, column.slice(0, length)]),
  ) as Trace;
}

/** The values of one run at the times of another: straight between samples, nothing outside. Both times rise. */
export function resample(
  time: readonly number[],
  values: readonly number[],
  at: readonly number[],
): (number | null)[] {
  const last = time.length - 1;
  let i = 0;
  return at.map((t) => {
    if (last < 0 || !(t >= time[0] && t <= time[last])) {
      return null;
    }
    while (i < last - 1 && time[i + 1] < t) {
      i += 1;
    }
    const span = time[i + 1] - time[i];
    const share = last > 0 && span > 0 ? (t - time[i]) / span : 0;
    const value = last > 0 ? values[i] + share * (values[i + 1] - values[i]) : values[0];
    return Number.isFinite(value) ? value : null;
  });
}

/** One axis for two runs: the times of the first, and those of the second beyond its end. */
export function together(mine: readonly number[], other: readonly number[]): number[] {
  const end = mine[mine.length - 1] ?? Number.NEGATIVE_INFINITY;
  return [...mine, ...other.filter((t) => t > end)];
}

export interface Span {
  from: number;
  to: number;
  value: number;
}

/** Where a column keeps its value: from its first sample to the first of the next. */
export function spans(time: readonly number[], column: readonly number[]): Span[] {
  const found: Span[] = [];
  for (let i = 0; i < time.length; i += 1) {
    const last = found[found.length - 1];
    if (last && last.value === column[i]) {
      last.to = time[i];
    } else {
      if (last) {
        last.to = time[i];
      }
      found.push({ from: time[i], to: time[i], value: column[i] });
    }
  }
  return found;
}

export type Axis = "x" | "y" | "z";

/** A stretch of the tip's path under one goal; mm, two numbers a point. */
export interface Leg {
  goal: number;
  points: [number, number][];
}

/** Closer than this to the last drawn point, nothing more is seen, mm. */
const FINE = 0.25;

/** The path projected along one axis, in mm, cut where the goal changes. `up` points up in the drawing. */
export function legs(trace: Trace, right: Axis, up: Axis, downwards = false): Leg[] {
  const found: Leg[] = [];
  const sign = downwards ? -1 : 1;
  for (let i = 0; i < trace.time.length; i += 1) {
    const point: [number, number] = [1000 * trace[right][i], sign * 1000 * trace[up][i]];
    if (!Number.isFinite(point[0]) || !Number.isFinite(point[1])) {
      continue;
    }
    const leg = found[found.length - 1];
    if (leg === undefined || leg.goal !== trace.goal[i]) {
      // The new leg begins where the old one ends: no gap is seen.
      leg?.points.push(point);
      found.push({ goal: trace.goal[i], points: [point] });
      continue;
    }
    const [x, y] = leg.points[leg.points.length - 1];
    if (Math.hypot(point[0] - x, point[1] - y) >= FINE || i === trace.time.length - 1) {
      leg.points.push(point);
    }
  }
  return found;
}

export interface Box {
  left: number;
  right: number;
  bottom: number;
  top: number;
}

/** What holds all legs, with a margin of a tenth and never flatter than 10 mm. */
export function boxOf(all: readonly Leg[]): Box {
  let [left, right, bottom, top] = [Infinity, -Infinity, Infinity, -Infinity];
  for (const { points } of all) {
    for (const [x, y] of points) {
      left = Math.min(left, x);
      right = Math.max(right, x);
      bottom = Math.min(bottom, y);
      top = Math.max(top, y);
    }
  }
  if (left > right) {
    return { left: -10, right: 10, bottom: -10, top: 10 };
  }
  const widen = (low: number, high: number): [number, number] => {
    const half = Math.max(0.6 * (high - low), 5);
    return [(low + high) / 2 - half, (low + high) / 2 + half];
  };
  [left, right] = widen(left, right);
  [bottom, top] = widen(bottom, top);
  return { left, right, bottom, top };
}

/** A round length for the scale bar: about a quarter of the width; 1, 2 or 5 times a power of ten. */
export function scaleBar(width: number): number {
  const wanted = width / 4;
  const power = 10 ** Math.floor(Math.log10(Math.max(wanted, 1e-9)));
  const steps = [1, 2, 5, 10].map((step) => step * power);
  return steps.reduce((best, step) => (Math.abs(step - wanted) < Math.abs(best - wanted) ? step : best));
}

/** The largest value and when it was reached; null for an empty column. */
export function greatest(
  time: readonly number[],
  values: readonly (number | null)[],
): { value: number; time: number } | null {
  let best: { value: number; time: number } | null = null;
  values.forEach((value, i) => {
    if (value !== null && Number.isFinite(value) && (best === null || value > best.value)) {
      best = { value, time: time[i] };
    }
  });
  return best;
}

/** The last event before (or at) a moment; −1 if there is none yet. */
export function lastEvent(events: readonly Marker[], at: number): number {
  let last = -1;
  events.forEach((event, i) => {
    if (event.time <= at + 1e-9) {
      last = i;
    }
  });
  return last;
}
