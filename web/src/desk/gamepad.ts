// A gamepad in the standard mapping of the W3C, as motions of the hands.

/** What counts of a gamepad; tests bring their own. */
export interface Pad {
  axes: readonly number[];
  buttons: readonly { pressed: boolean; value: number }[];
}

/** Where sticks, triggers and buttons are. All from -1 to 1 or 0 to 1. */
export interface PadState {
  /** The stick that swings; y upwards. */
  swing: [number, number];
  /** The other stick. */
  push: number;
  roll: number;
  squeeze: number;
  /** The bumper that gives the sticks to the camera. */
  camera: boolean;
  zoom: number;
  horizon: number;
  /** Buttons that act once. */
  lock: boolean;
  next: boolean;
  home: boolean;
  pause: boolean;
}

/** Sticks don't come to rest in their middle; what is nearer to it counts as nothing. */
const DEAD = 0.14;
/** Triggers neither. */
const DEAD_TRIGGER = 0.05;

const [A, Y] = [0, 3];
const [LEFT_BUMPER, RIGHT_BUMPER, LEFT_TRIGGER, RIGHT_TRIGGER] = [4, 5, 6, 7];
const [BACK, START] = [8, 9];
const [UP, DOWN, LEFT, RIGHT] = [12, 13, 14, 15];

/** The sticks, triggers and buttons of a gamepad. Buttons it lacks are not pressed. */
export function readPad({ axes, buttons }: Pad, leftHanded: boolean): PadState {
  const pressed = (button: number) => buttons[button]?.pressed ?? false;
  const both = (less: number, more: number) => Number(pressed(more)) - Number(pressed(less));
  const sticks = [stick(axes[0], axes[1]), stick(axes[2], axes[3])];
  const [swing, other] = leftHanded ? [sticks[1], sticks[0]] : sticks;
  return {
    swing: [swing[0], swing[1]],
    push: other[1],
    roll: other[0],
    squeeze: Math.max(trigger(buttons[LEFT_TRIGGER]?.value), trigger(buttons[RIGHT_TRIGGER]?.value)),
    camera: pressed(leftHanded ? RIGHT_BUMPER : LEFT_BUMPER),
    zoom: both(DOWN, UP),
    horizon: both(LEFT, RIGHT),
    lock: pressed(leftHanded ? LEFT_BUMPER : RIGHT_BUMPER),
    next: pressed(Y) || pressed(BACK),
    home: pressed(A),
    pause: pressed(START),
  };
}

/** A round dead zone: nothing within, then from 0 on without a step, finer near the middle. y is turned upwards. */
function stick(x = 0, y = 0): [number, number] {
  const far = Math.hypot(x, y);
  if (!(far > DEAD)) {
    return [0, 0];
  }
  const beyond = Math.min(1, (far - DEAD) / (1 - DEAD));
  const speed = (beyond * (0.4 + 0.6 * beyond)) / far;
  return [x * speed, -y * speed];
}

function trigger(value = 0): number {
  return value > DEAD_TRIGGER ? Math.min(1, (value - DEAD_TRIGGER) / (1 - DEAD_TRIGGER)) : 0;
}
