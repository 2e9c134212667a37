// The settings, on any page.

import { type HudSize, resetSettings, SENSITIVITY, useSettings } from "../../settings";
import type { TheatreOptions } from "../../theatre";
import { Button, Dialog, Segmented, Slider, Switch } from "../../ui";
import { percent } from "./words";
import "./dialogs.css";

/** Shows and changes what this browser remembers. */
export function SettingsDialog({ open, onClose }: { open: boolean; onClose(): void }) {
  const [settings, change] = useSettings();
  return (
    <Dialog
      open={open}
      onClose={onClose}
      title="Settings"
      wide
      actions={
        <>
          <Button variant="quiet" icon="repeat" onClick={resetSettings}>
            Reset to defaults
          </Button>
          <Button variant="primary" onClick={onClose} autoFocus>
            Done
          </Button>
        </>
      }
    >
      <div className="settings">
        <section aria-labelledby="settings-hand">
          <h3 id="settings-hand">Hand</h3>
          <Switch
            label="Lever at the port"
            hint="The hand moves right, the tip moves left, as through a real port."
            checked={settings.fulcrum}
            onChange={(fulcrum) => change({ fulcrum })}
          />
          <Switch
            label="Left-handed"
            hint="Mouse buttons and keys change sides."
            checked={settings.leftHanded}
            onChange={(leftHanded) => change({ leftHanded })}
          />
          <Slider
            label="Sensitivity"
            value={settings.sensitivity}
            least={SENSITIVITY.least}
            greatest={SENSITIVITY.greatest}
            step={SENSITIVITY.step}
            words={percent}
            onChange={(sensitivity) => change({ sensitivity })}
          />
        </section>
        <section aria-labelledby="settings-picture">
          <h3 id="settings-picture">Picture</h3>
          <Segmented<TheatreOptions["quality"]>
            label="Quality"
            options={[
              { value: "auto", label: "Automatic" },
              { value: "rich", label: "Rich" },
              { value: "plain", label: "Plain" },
            ]}
            value={settings.quality}
            onChange={(quality) => change({ quality })}
          />
          <Segmented<"0" | "1" | "2">
            label="Smoothness of surfaces"
            options={[
              { value: "0", label: "As computed" },
              { value: "1", label: "Smooth" },
              { value: "2", label: "Smoothest" },
            ]}
            value={String(settings.refine) as "0" | "1" | "2"}
            onChange={(refine) => change({ refine: Number(refine) as TheatreOptions["refine"] })}
          />
          <Switch
            label="Round field of view"
            hint="As the optics show it, darker towards the rim."
            checked={settings.vignette}
            onChange={(vignette) => change({ vignette })}
          />
          <Switch
            label="Show the task’s marks"
            hint="Balls, rings and arrows that say where to go."
            checked={settings.showMarks}
            onChange={(showMarks) => change({ showMarks })}
          />
        </section>
        <section aria-labelledby="settings-words">
          <h3 id="settings-words">Reading</h3>
          <Segmented<HudSize>
            label="Words over the picture"
            options={[
              { value: "small", label: "Small" },
              { value: "medium", label: "Medium" },
              { value: "large", label: "Large" },
            ]}
            value={settings.hudSize}
            onChange={(hudSize) => change({ hudSize })}
          />
          <Switch
            label="High contrast"
            hint="Solid grounds and brighter words over the picture."
            checked={settings.highContrast}
            onChange={(highContrast) => change({ highContrast })}
          />
          <Switch
            label="Reduced motion"
            hint="No movement that nobody made."
            checked={settings.reducedMotion}
            onChange={(reducedMotion) => change({ reducedMotion })}
          />
        </section>
      </div>
    </Dialog>
  );
}
