// The help: what is bound, told from the same tables that bind it.

import { keysFor, LEFT_HANDED, RIGHT_HANDED } from "./keys";

/** One line of the help: what to do with which device. */
export interface Binding {
  device: "mouse" | "keyboard" | "gamepad";
  action: string;
  input: string;
}

export interface BindingOptions {
  fulcrum: boolean;
  leftHanded: boolean;
  /** What the first mouse button does. */
  tool: "operate" | "pull";
  /** There is an endoscope to move; otherwise the free camera is meant. */
  endoscope: boolean;
  /** The camera can be moved: a mere viewer can't move the endoscope. */
  camera: boolean;
  /** How many instruments one can hold. */
  instruments: number;
  /** The one that is held has jaws or blades to close. */
  jaws: boolean;
  /** Time can be stopped. */
  pauses: boolean;
}

export function bindingsFor(options: BindingOptions): Binding[] {
  const { fulcrum, leftHanded, tool, endoscope, instruments } = options;
  const layout = leftHanded ? LEFT_HANDED : RIGHT_HANDED;
  const keys = (...actions: Parameters<typeof keysFor>[1][]) => keysFor(layout, ...actions);
  const [first, second] = leftHanded ? ["Right button", "Left button"] : ["Left button", "Right button"];
  const [stick, other] = leftHanded ? ["Right stick", "Left stick"] : ["Left stick", "Right stick"];
  const [bumper, locker] = leftHanded ? ["RB", "LB"] : ["LB", "RB"];
  const swing = fulcrum ? "Move your hand: the tip goes the other way" : "Move the tip";
  const look = endoscope ? "Move the endoscope" : "Turn the camera";
  const reach = endoscope ? "Endoscope in and out" : "Camera nearer and farther";
  const holds = instruments > 0;

  /** Action, mouse, keyboard, gamepad; an empty word where a device has no part in it. */
  const rows: [action: string, mouse: string, keyboard: string, gamepad: string][] = [];
  if (tool === "pull") {
    rows.push(["Pull on what is under the pointer", `${first}, drag`, "", ""]);
  }
  if (holds) {
    const hand = tool === "operate";
    rows.push(
      [swing, hand ? "Move" : "", keys("left", "right", "up", "down"), stick],
      ["Push in, pull out", "Wheel", keys("push", "pull"), `${other} up and down`],
      ["Turn about the shaft", "", keys("rollLeft", "rollRight"), `${other} left and right`],
    );
    if (options.jaws) {
      rows.push(
        ["Close the jaws", hand ? first : "", keys("squeeze"), "LT or RT"],
        ["Lock the jaws, let them open", "", keys("lock"), locker],
      );
    }
  }
  if (instruments > 1) {
    rows.push(["Hold another instrument", "", `${keys("next")} or 1 to ${instruments}`, "Y"]);
  }
  if (options.camera) {
    const held = `hold ${keys("camera")}:`;
    const pad = `hold ${bumper}:`;
    rows.push(
      [look, `${second} or Alt, drag`, `${held} ${keys("left", "right", "up", "down")}`, `${pad} ${stick}`],
      [reach, `${second} and wheel`, `${held} ${keys("push", "pull")}`, `${pad} ${other} up and down`],
    );
    if (endoscope) {
      rows.push(
        [
          "Turn the light cable: look another way",
          "",
          keys("cableLeft", "cableRight"),
          `${pad} ${other} left and right`,
        ],
        ["Turn the picture", "", keys("horizonLeft", "horizonRight"), "Cross left and right"],
      );
    }
    rows.push(
      ["Zoom", "Shift and wheel", keys("zoomIn", "zoomOut"), "Cross up and down"],
      ["Camera back to its place", "", keys("home"), "A"],
    );
  }
  if (options.pauses) {
    rows.push(["Pause, go on", "", keys("pause"), "Start"]);
  }
  const devices = ["mouse", "keyboard", "gamepad"] as const;
  return devices.flatMap((device, i) =>
    rows.flatMap(([action, ...inputs]) => (inputs[i] === "" ? [] : [{ device, action, input: inputs[i] }])),
  );
}
