// Every control there is, and the lever explained.

import { useSettings } from "../../settings";
import type { Binding } from "../../theatre";
import { Dialog } from "../../ui";
import { FulcrumDrawing } from "./FulcrumDrawing";
import "./dialogs.css";

const DEVICES: { device: Binding["device"]; title: string }[] = [
  { device: "mouse", title: "Mouse" },
  { device: "keyboard", title: "Keyboard" },
  { device: "gamepad", title: "Gamepad" },
];

/** The pages' own keys; those of the theatre come from it. */
export type Shortcut = Omit<Binding, "device">;

/** Help for whatever page has a theatre. */
export function HelpDialog({
  open,
  onClose,
  bindings,
  shortcuts = [],
}: {
  open: boolean;
  onClose(): void;
  bindings: readonly Binding[];
  shortcuts?: readonly Shortcut[];
}) {
  const [{ fulcrum }] = useSettings();
  const all: readonly Binding[] = [
    ...bindings,
    ...shortcuts.map((shortcut) => ({ ...shortcut, device: "keyboard" as const })),
  ];
  const actions = [...new Set(all.map(({ action }) => action))];
  const devices = DEVICES.filter(({ device }) => all.some((binding) => binding.device === device));
  return (
    <Dialog open={open} onClose={onClose} title="How to operate" wide>
      <FulcrumDrawing inverted={fulcrum} />
      <table className="table controls">
        <thead>
          <tr>
            <th scope="col">What</th>
            {devices.map(({ device, title }) => (
              <th key={device} scope="col">
                {title}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {actions.map((action) => (
            <tr key={action}>
              <th scope="row">{action}</th>
              {devices.map(({ device }) => (
                <td key={device}>
                  {all
                    .filter((binding) => binding.device === device && binding.action === action)
                    .map(({ input }) => (
                      <kbd key={input}>{input}</kbd>
                    ))}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Dialog>
  );
}
