// What every picture of an operation has at hand: the camera, the help, the settings.

import { Button } from "../../ui";

export type Camera = "endoscope" | "free";

/** `onCamera` is left out where there is no endoscope to look through. */
export function ViewTools({
  camera,
  onCamera,
  onHelp,
  onSettings,
  bare = false,
}: {
  camera: Camera;
  onCamera?: ((camera: Camera) => void) | undefined;
  onHelp(): void;
  onSettings(): void;
  /** The camera too is a mere icon. */
  bare?: boolean;
}) {
  return (
    <>
      {onCamera && (
        <Button
          size="small"
          bare={bare}
          icon="eye"
          aria-pressed={camera === "free"}
          onClick={() => onCamera(camera === "free" ? "endoscope" : "free")}
        >
          {camera === "free" ? "Back to the endoscope" : "Free camera"}
        </Button>
      )}
      <Button size="small" bare icon="help" onClick={onHelp} aria-keyshortcuts="?">
        Help
      </Button>
      <Button size="small" bare icon="gear" onClick={onSettings}>
        Settings
      </Button>
    </>
  );
}
