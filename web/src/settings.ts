// What a person likes: remembered in this browser, the same on every page.

import { useSyncExternalStore } from "react";
import type { TheatreOptions } from "./theatre";

/** How large the words over the picture are. */
export type HudSize = "small" | "medium" | "large";

/** Everything that can be set. */
export interface Settings extends TheatreOptions {
  hudSize: HudSize;
  /** Solid grounds and brighter words over the picture. */
  highContrast: boolean;
}

/** Where the settings are kept. Only what differs from the defaults is written, so that later defaults are met. */
export const STORE = "trocar.settings";

/** How much faster or slower than the hand the tip may be. */
export const SENSITIVITY = { least: 0.4, greatest: 1.5, step: 0.05 } as const;

const SIZES: readonly HudSize[] = ["small", "medium", "large"];
const QUALITIES: readonly TheatreOptions["quality"][] = ["auto", "rich", "plain"];
const REFINEMENTS: readonly TheatreOptions["refine"][] = [0, 1, 2];

/** What holds if nothing was ever chosen. `reducedMotion` is the system's wish. */
export function defaultSettings(reducedMotion = systemReducesMotion()): Settings {
  return {
    fulcrum: true,
    leftHanded: false,
    sensitivity: 1,
    quality: "auto",
    refine: 1,
    vignette: true,
    reducedMotion,
    showMarks: true,
    hudSize: "medium",
    highContrast: false,
  };
}

/** Settings out of what was stored, which may be old, foreign or damaged: what can't be used gives way to `defaults`. */
export function readSettings(stored: string | null, defaults: Settings): Settings {
  const found = parse(stored);
  const truth = (name: keyof Settings): boolean => {
    const value = found[name];
    return typeof value === "boolean" ? value : (defaults[name] as boolean);
  };
  return {
    fulcrum: truth("fulcrum"),
    leftHanded: truth("leftHanded"),
    sensitivity: within(found.sensitivity, defaults.sensitivity),
    quality: oneOf(QUALITIES, found.quality, defaults.quality),
    refine: oneOf(REFINEMENTS, found.refine, defaults.refine),
    vignette: truth("vignette"),
    reducedMotion: truth("reducedMotion"),
    showMarks: truth("showMarks"),
    hudSize: oneOf(SIZES, found.hudSize, defaults.hudSize),
    highContrast: truth("highContrast"),
  };
}

/** What to store: only what differs from `defaults`. */
export function writeSettings(settings: Settings, defaults: Settings): string {
  const differing = Object.entries(settings).filter(
    ([name, value]) => value !== defaults[name as keyof Settings],
  );
  return JSON.stringify(Object.fromEntries(differing));
}

/** The part the theatre wants to know. */
export function theatreOptions(settings: Settings): TheatreOptions {
  const { hudSize: _, highContrast: __, ...options } = settings;
  return options;
}

let current: Settings | null = null;
const listeners = new Set<() => void>();

/** As they are now. */
export function getSettings(): Settings {
  if (current === null) {
    current = readSettings(recall(), defaultSettings());
    dress(current);
  }
  return current;
}

/** Changes some of them, on every page at once. */
export function changeSettings(change: Partial<Settings>): void {
  const defaults = defaultSettings();
  // Through the reader, so that nothing out of range is ever kept.
  publish(readSettings(JSON.stringify({ ...getSettings(), ...change }), defaults));
  remember(writeSettings(getSettings(), defaults));
}

/** Forgets every choice. */
export function resetSettings(): void {
  publish(defaultSettings());
  remember(null);
}

/** The settings, and how to change some of them. */
export function useSettings(): [Settings, (change: Partial<Settings>) => void] {
  return [useSyncExternalStore(subscribe, getSettings), changeSettings];
}

function subscribe(listener: () => void): () => void {
  if (listeners.size === 0) {
    window.addEventListener("storage", onForeignChange);
  }
  listeners.add(listener);
  return () => {
    listeners.delete(listener);
    if (listeners.size === 0) {
      window.removeEventListener("storage", onForeignChange);
    }
  };
}

/** Another page of this browser changed them. */
function onForeignChange(event: StorageEvent): void {
  if (event.key === STORE || event.key === null) {
    publish(readSettings(event.key === null ? null : event.newValue, defaultSettings()));
  }
}

function publish(settings: Settings): void {
  current = settings;
  dress(settings);
  for (const listener of listeners) {
    listener();
  }
}

/** Style sheets read these. */
function dress(settings: Settings): void {
  if (typeof document !== "undefined") {
    const { dataset } = document.documentElement;
    dataset.motion = settings.reducedMotion ? "reduced" : "full";
    dataset.contrast = settings.highContrast ? "high" : "normal";
    dataset.hud = settings.hudSize;
  }
}

function recall(): string | null {
  try {
    return localStorage.getItem(STORE);
  } catch {
    return null; // storage is forbidden: the settings last as long as the page
  }
}

function remember(text: string | null): void {
  try {
    if (text === null) {
      localStorage.removeItem(STORE);
    } else {
      localStorage.setItem(STORE, text);
    }
  } catch {
    // As above.
  }
}

function systemReducesMotion(): boolean {
  return typeof matchMedia === "function" && matchMedia("(prefers-reduced-motion: reduce)").matches;
}

function parse(stored: string | null): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(stored ?? "{}");
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

function within(value: unknown, otherwise: number): number {
  return typeof value === "number" && value >= SENSITIVITY.least && value <= SENSITIVITY.greatest
    ? value
    : otherwise;
}

function oneOf<T>(choices: readonly T[], value: unknown, otherwise: T): T {
  return choices.includes(value as T) ? (value as T) : otherwise;
}
