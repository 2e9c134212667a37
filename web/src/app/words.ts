// Numbers, times and states as people read them.

import type { Ending } from "../wire";

/** Points of 100, whole. */
export function points(score: number | null): string {
  return score === null || !Number.isFinite(score) ? "–" : String(Math.round(score));
}

/** A number with three significant digits, never in powers of ten. */
export function number(value: number): string {
  if (!Number.isFinite(value)) {
    return "–";
  }
  const size = Math.abs(value);
  const digits = size === 0 || size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 ? 2 : 3;
  // Minus zero is nobody's result.
  return (Number(value.toFixed(digits)) || 0)
    .toLocaleString("en-GB", {
      minimumFractionDigits: Number.isInteger(value) ? 0 : digits,
      maximumFractionDigits: digits,
    })
    .replace("-", "−");
}

/**
 * A value with its unit; small lengths and speeds in millimetres. Values that stand beside each other are given the
 * same `like` (the largest of them), so that they get the same unit.
 */
export function quantity(value: number | null, unit: string, like = value ?? 0): string {
  if (value === null || !Number.isFinite(value)) {
    return "–";
  }
  if (unit === "s") {
    return seconds(value);
  }
  if ((unit === "m" || unit === "m/s") && Math.abs(like) < 0.5) {
    return `${number(1000 * value)} m${unit}`;
  }
  if (unit === "mm" && Math.abs(like) >= 1000) {
    return `${number(value / 1000)} m`;
  }
  if (unit === "°") {
    return `${number(value)}°`;
  }
  return unit === "" || unit === "1" ? number(value) : `${number(value)} ${unit}`;
}

/** A duration. */
export function seconds(value: number): string {
  if (!Number.isFinite(value)) {
    return "–";
  }
  if (value < 59.95) {
    return Number.isInteger(value) ? `${value} s` : `${value.toFixed(1)} s`;
  }
  const whole = Math.round(value);
  const rest = whole % 60;
  return `${Math.floor(whole / 60)} min${rest === 0 ? "" : ` ${String(rest).padStart(2, "0")} s`}`;
}

/** A time on the axis of a plot, as short as it can be: 40 s, 1:20. */
export function tick(value: number): string {
  const short = Number(value.toFixed(2));
  return value < 60 ? `${short} s` : clock(value).replace(/\.0$/, "");
}

/** A moment of a run: 1:05.2. */
export function clock(value: number): string {
  const tenths = Math.max(0, Math.round(10 * value));
  const minutes = Math.floor(tenths / 600);
  return `${minutes}:${((tenths % 600) / 10).toFixed(1).padStart(4, "0")}`;
}

/** A difference, with its sign. */
export function difference(value: number, words: (value: number) => string = number): string {
  const size = words(Math.abs(value));
  if (size === words(0)) {
    return "±0";
  }
  return value > 0 ? `+${size}` : `−${size}`;
}

/** A moment, Unix time in s: with the clock, and the date if it was not today. */
export function moment(unix: number, now = new Date()): string {
  const then = new Date(1000 * unix);
  const time = then.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit" });
  const days = Math.round((midnight(now) - midnight(then)) / 86_400_000);
  if (days === 0) {
    return `today, ${time}`;
  }
  if (days === 1) {
    return `yesterday, ${time}`;
  }
  const date = then.toLocaleDateString("en-GB", {
    day: "numeric",
    month: "short",
    year: then.getFullYear() === now.getFullYear() ? undefined : "numeric",
  });
  return `${date}, ${time}`;
}

function midnight(date: Date): number {
  return new Date(date.getFullYear(), date.getMonth(), date.getDate()).getTime();
}

/** "1 result", "2 results". */
export function count(n: number, one: string, many = `${one}s`): string {
  return `${n.toLocaleString("en-GB")} ${n === 1 ? one : many}`;
}

export const ENDINGS: Record<Ending, string> = {
  completed: "Completed",
  time_up: "Time was up",
  given_up: "Given up",
  broken_off: "Broken off",
  running: "Still running",
};
