// The line of force and speed under the slider, and which event one is at.

import type { Marker } from "../../wire";

/**
 * An SVG path of `values` over `times` in a box of `width` × `height`; time 0 to `duration` fills the width,
 * `greatest` the height. No more points than `width`: the highest of what falls on one is drawn, so no peak is lost.
 */
export function stripPath(
  times: readonly number[],
  values: readonly number[],
  duration: number,
  greatest: number,
  { width, height }: { width: number; height: number },
): string {
  if (!(duration > 0) || !(greatest > 0)) {
    return "";
  }
  const peaks = new Map<number, number>();
  for (let i = 0; i < Math.min(times.length, values.length); i += 1) {
    const value = values[i];
    const column = Math.round((times[i] / duration) * width);
    if (Number.isFinite(value) && column >= 0 && column <= width) {
      peaks.set(column, Math.max(peaks.get(column) ?? 0, value));
    }
  }
  return [...peaks]
    .sort(([a], [b]) => a - b)
    .map(
      ([x, value], i) =>
        `${i === 0 ? "M" : "L"}${x} ${(height * (1 - Math.min(1, value / greatest))).toFixed(1)}`,
    )
    .join("");
}

/** The greatest of some numbers; not below `least`. */
export function greatestOf(values: readonly number[], least: number): number {
  return values.reduce((most, value) => (value > most ? value : most), least);
}

/** Which of the events, sorted by time, has happened last at `time`; -1 before the first. */
export function lastEvent(events: readonly Marker[], time: number): number {
  let found = -1;
  for (let i = 0; i < events.length; i += 1) {
    // A seek lands on the step next to what was asked.
    if (events[i].time <= time + 0.02) {
      found = i;
    }
  }
  return found;
}
