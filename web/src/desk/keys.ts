// Which key does what. Keys are named by their place on the keyboard, not by their letter.

/** Keys that act as long as they are held. */
export type Held =
  | "left"
  | "right"
  | "up"
  | "down"
  | "push"
  | "pull"
  | "rollLeft"
  | "rollRight"
  | "squeeze"
  | "camera"
  | "cableLeft"
  | "cableRight"
  | "horizonLeft"
  | "horizonRight"
  | "zoomIn"
  | "zoomOut";

/** Keys that act once. */
export type Struck = "lock" | "next" | "pause" | "home";

export type Layout = Readonly<Record<string, Held | Struck>>;

const BOTH: Layout = {
  Space: "squeeze",
  Comma: "horizonLeft",
  Period: "horizonRight",
  Equal: "zoomIn",
  NumpadAdd: "zoomIn",
  Minus: "zoomOut",
  NumpadSubtract: "zoomOut",
  KeyL: "lock",
  KeyT: "next",
  KeyP: "pause",
  Home: "home",
};

/** The right hand has the mouse or the arrows, the left one the letters. */
export const RIGHT_HANDED: Layout = {
  ...BOTH,
  ArrowLeft: "left",
  ArrowRight: "right",
  ArrowUp: "up",
  ArrowDown: "down",
  KeyW: "push",
  KeyS: "pull",
  KeyQ: "rollLeft",
  KeyE: "rollRight",
  KeyC: "camera",
  KeyZ: "cableLeft",
  KeyX: "cableRight",
};

/** The left hand has the mouse or the letters W A S D, the right one those under it. */
export const LEFT_HANDED: Layout = {
  ...BOTH,
  KeyA: "left",
  KeyD: "right",
  KeyW: "up",
  KeyS: "down",
  KeyI: "push",
  KeyK: "pull",
  KeyU: "rollLeft",
  KeyO: "rollRight",
  KeyM: "camera",
  BracketLeft: "cableLeft",
  BracketRight: "cableRight",
};

const STRUCK: ReadonlySet<string> = new Set<Struck>(["lock", "next", "pause", "home"]);

export function isStruck(action: Held | Struck): action is Struck {
  return STRUCK.has(action);
}

const NAMES: Record<string, string> = {
  ArrowLeft: "←",
  ArrowRight: "→",
  ArrowUp: "↑",
  ArrowDown: "↓",
  Comma: ",",
  Period: ".",
  Equal: "+",
  Minus: "−",
  BracketLeft: "[",
  BracketRight: "]",
};

/** The keys that do something, as one reads them on a keyboard. The number pad's doubles are not named. */
export function keysFor(layout: Layout, ...actions: (Held | Struck)[]): string {
  return actions
    .flatMap((wanted) =>
      Object.keys(layout).filter((code) => layout[code] === wanted && !code.startsWith("Numpad")),
    )
    .map((code) => NAMES[code] ?? code.replace(/^Key/, ""))
    .join(" ");
}
