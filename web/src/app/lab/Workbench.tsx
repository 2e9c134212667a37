// One running scene: the picture in the middle, its numbers on the right, its knobs on the left.

import { type ReactNode, useEffect, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { api } from "../../api";
import { NO_VIEWS, type Views } from "../../theatre";
import { Badge, Button, Segmented } from "../../ui";
import { Connection } from "../operate/Connection";
import { HelpDialog, type Shortcut } from "../operate/HelpDialog";
import { OutOfView } from "../operate/Hud";
import { Notices } from "../operate/Notices";
import { SettingsDialog } from "../operate/SettingsDialog";
import { useTheatre } from "../operate/useTheatre";
import { type Camera, ViewTools } from "../operate/ViewTools";
import { clock } from "../operate/words";
import { copyText, valuesAsText } from "./copy";
import { EnergyPanel } from "./EnergyPanel";
import { Flags } from "./Flags";
import { Parameters } from "./Parameters";
import { SearchPanel, SolverPanel, StagePanel } from "./Readings";
import { ViewSwitches } from "./ViewSwitches";
import "../operate/operate.css";
import "./lab.css";

const SPEEDS = ["0.1", "0.25", "0.5", "1", "2"] as const;
type Speed = (typeof SPEEDS)[number];

const SHORTCUTS: readonly Shortcut[] = [{ input: "?", action: "This help" }];

/** Runs one scene of the Lab. */
export function Workbench({ operation }: { operation: string }) {
  const watchOnly = new URLSearchParams(useSearch()).get("watch") === "1";
  const stage = useTheatre(operation, watchOnly);
  const { theatre, hello, status, parameters } = stage;
  const [, navigate] = useLocation();
  const [views, setViews] = useState<Views>(NO_VIEWS);
  const [level, setLevel] = useState(0);
  const [tool, setTool] = useState<"operate" | "pull">("operate");
  const [speed, setSpeed] = useState<Speed>("1");
  const [camera, setCamera] = useState<Camera>("endoscope");
  const [sheet, setSheet] = useState<"help" | "settings" | null>(null);
  const [copied, setCopied] = useState<"yes" | "no" | null>(null);

  const scene = hello?.scene ?? null;
  const controls = hello?.role === "controller";
  const canFly = scene?.endoscope != null;
  const hasTools = (scene?.instruments.length ?? 0) > 0;

  useEffect(() => theatre?.setActive(sheet === null), [theatre, sheet]);
  useEffect(() => theatre?.setCamera(camera), [theatre, camera]);
  // Again after a lost connection: the server has forgotten what this page wanted to see.
  useEffect(() => {
    if (hello) {
      theatre?.watch(views);
    }
  }, [theatre, views, hello]);
  useEffect(() => theatre?.lookAtLevel(level), [theatre, level]);
  useEffect(() => {
    if (hello && !hasTools) {
      setTool("pull");
    }
  }, [hello, hasTools]);
  useEffect(() => theatre?.setTool(tool), [theatre, tool]);
  useEffect(() => {
    document.title = `${scene?.name ?? "Lab"} · Trocar`;
  }, [scene?.name]);
  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const typing = event.target instanceof HTMLInputElement && event.target.type !== "range";
      if (event.key === "?" && sheet === null && !typing) {
        event.preventDefault();
        setSheet("help");
      }
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [sheet]);
  useEffect(() => {
    if (copied !== null) {
      const timer = setTimeout(() => setCopied(null), 3000);
      return () => clearTimeout(timer);
    }
  }, [copied]);

  const copy = async () => {
    const text = valuesAsText(scene?.name ?? "", status, parameters);
    setCopied((await copyText(text)) ? "yes" : "no");
  };
  const leave = () => {
    if (controls) {
      api.endOperation(operation).catch(() => {});
    }
    navigate("/lab");
  };

  return (
    <main className="operate lab">
      <header className="lab-head">
        <div className="name">
          <h1>{scene?.name ?? "Lab"}</h1>
          {hello && !controls && <Badge icon="eye">You are watching</Badge>}
        </div>
        <div className="tools" role="toolbar" aria-label="Scene">
          {controls && (
            <>
              <Button
                size="small"
                icon={status?.paused ? "play" : "pause"}
                onClick={() => (status?.paused ? theatre?.resume() : theatre?.pause())}
              >
                {status?.paused ? "Go on" : "Pause"}
              </Button>
              <Button size="small" icon="repeat" onClick={() => theatre?.restart()}>
                Restart
              </Button>
            </>
          )}
          <ViewTools
            camera={camera}
            onCamera={canFly ? setCamera : undefined}
            onHelp={() => setSheet("help")}
            onSettings={() => setSheet("settings")}
          />
          <Button size="small" bare icon="close" onClick={leave}>
            Leave
          </Button>
        </div>
      </header>

      <aside className="side left" aria-label="Knobs">
        {controls && (
          <Fold title="Hand and time">
            <Segmented<"operate" | "pull">
              label="The left mouse button"
              options={[
                { value: "operate", label: "Operates", disabled: !hasTools },
                { value: "pull", label: "Pulls" },
              ]}
              value={tool}
              onChange={setTool}
            />
            {tool === "pull" && (
              <p className="small soft" role="status">
                {pulling(stage.picked)}
              </p>
            )}
            <Segmented<Speed>
              label="Speed of time, × real time"
              options={SPEEDS.map((value) => ({ value, label: value }))}
              value={speed}
              onChange={(wanted) => {
                setSpeed(wanted);
                theatre?.speed(Number(wanted));
              }}
            />
          </Fold>
        )}
        <Fold title="Debug views">
          <ViewSwitches views={views} onChange={setViews} />
          {views.boxes && status?.search && status.search.levels > 1 && (
            <Segmented<string>
              label="Level of boxes, from fine to coarse"
              options={Array.from({ length: status.search.levels }, (_, k) => ({
                value: `${k}`,
                label: `${k + 1}`,
              }))}
              value={`${Math.min(level, status.search.levels - 1)}`}
              onChange={(wanted) => setLevel(Number(wanted))}
            />
          )}
        </Fold>
        <Fold title="Parameters">
          <Parameters
            parameters={parameters}
            notices={stage.notices}
            disabled={!controls}
            paused={status?.paused ?? false}
            onChange={(index, value) => theatre?.change(index, value)}
          />
        </Fold>
        <Fold title="Attribute bits">
          <Flags
            flags={stage.flags}
            disabled={!controls}
            onChange={(tissue, word) => theatre?.flags(tissue, word)}
          />
        </Fold>
      </aside>

      <div className="screen">
        <div
          ref={stage.host}
          id="content"
          className="operating-field"
          tabIndex={0}
          role="application"
          aria-label="The scene. Press the question mark for all controls."
        />
        <div className="over">
          <div className="banners">
            <Connection stage={stage} home="/lab" />
            {status?.paused && <Badge tone="warn">Paused</Badge>}
          </div>
          <div className="spring" />
          {status && canFly && camera === "endoscope" && hasTools && <OutOfView status={status} />}
          <Notices all={stage.notices} />
        </div>
      </div>

      <aside className="side right" aria-label="Readings">
        {status && (
          <>
            <Fold title="Step" note={clock(status.time, true)}>
              <StagePanel status={status} />
            </Fold>
            <Fold title="Solver">
              <SolverPanel status={status} bounds={stage.bounds} />
            </Fold>
            {status.search && (
              <Fold title="Search for contacts">
                <SearchPanel search={status.search} />
              </Fold>
            )}
            <Fold title="Energy">
              <EnergyPanel time={status.time} energy={status.energy} />
            </Fold>
            <Button size="small" variant="secondary" icon="download" onClick={copy}>
              Copy the values as text
            </Button>
            <p className="small soft" role="status">
              {copied === "yes" && "Copied."}
              {copied === "no" && "The browser does not allow copying here."}
            </p>
          </>
        )}
      </aside>

      <HelpDialog
        open={sheet === "help"}
        onClose={() => setSheet(null)}
        bindings={theatre?.bindings ?? []}
        shortcuts={SHORTCUTS}
      />
      <SettingsDialog open={sheet === "settings"} onClose={() => setSheet(null)} />
    </main>
  );
}

function pulling(picked: string | null | undefined): string {
  if (picked === undefined) {
    return "Press on something in the picture and pull.";
  }
  return picked === null ? "Nothing is there to pull on." : `Pulling on ${picked}.`;
}

/** A panel that can be folded away. */
function Fold({ title, note, children }: { title: string; note?: string; children: ReactNode }) {
  return (
    <details className="fold" open>
      <summary>
        <h2>{title}</h2>
        {note && <span className="soft small">{note}</span>}
      </summary>
      <div className="inside">{children}</div>
    </details>
  );
}
