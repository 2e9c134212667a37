// Operating: the picture, what is read beside it, and the dialogs around it.

import { useCallback, useEffect, useRef, useState } from "react";
import { useLocation, useSearch } from "wouter";
import { api } from "../../api";
import { Badge, Button } from "../../ui";
import type { ExerciseInfo } from "../../wire";
import { Briefing, levelOf } from "./Briefing";
import { Connection } from "./Connection";
import { FinishDialog, FinishedDialog, LeaveDialog, PauseDialog, RestartDialog } from "./dialogs";
import { HelpDialog, type Shortcut } from "./HelpDialog";
import { ClockPanel, ForcePanel, MachinePanel, OutOfView, SlowBanner, TaskPanel } from "./Hud";
import { Notices } from "./Notices";
import { SettingsDialog } from "./SettingsDialog";
import { useTheatre } from "./useTheatre";
import { type Camera, ViewTools } from "./ViewTools";
import "./operate.css";

type Sheet = "pause" | "help" | "settings" | "restart" | "finish" | "leave";

const SHORTCUTS: readonly Shortcut[] = [
  { input: "Esc", action: "Pause, go on" },
  { input: "?", action: "This help" },
];

/** Shows one operation, and lets whoever holds the instruments operate. */
export default function Operate({ operation }: { operation: string }) {
  const watchOnly = new URLSearchParams(useSearch()).get("watch") === "1";
  const stage = useTheatre(operation, watchOnly);
  const { theatre, hello, status, task, finished } = stage;
  const [, navigate] = useLocation();
  const [sheet, setSheet] = useState<Sheet | null>(null);
  const [briefing, setBriefing] = useState<"unknown" | "open" | "done">("unknown");
  const [camera, setCamera] = useState<Camera>("endoscope");
  // What was last asked for: on a slow machine the picture tells it a second later.
  const running = useRef(false);
  const resumes = useRef(false);
  const fromPause = useRef(false);

  const controls = hello?.role === "controller";
  const info = hello?.operation ?? null;
  const exercise = useExercise(info?.kind === "exercise" ? info.subject : null);
  const home = info?.kind === "exercise" ? `/exercise/${info.subject}` : "/";
  const paused = status?.paused;
  // Time stops with the last goal; the score comes a moment later.
  const over = finished !== null || (task !== null && (task.goal >= task.goals || task.time_left === 0));

  const open = useCallback(
    (next: Sheet) => {
      if (sheet === null && briefing !== "open") {
        resumes.current = controls && running.current;
        if (controls) {
          running.current = false;
          theatre?.pause();
        }
      }
      fromPause.current = sheet === "pause";
      setSheet(next);
    },
    [sheet, briefing, controls, theatre],
  );

  const close = useCallback(() => {
    if (fromPause.current) {
      fromPause.current = false;
      setSheet("pause");
      return;
    }
    setSheet(null);
    if (resumes.current && briefing !== "open") {
      resumes.current = false;
      running.current = true;
      theatre?.resume();
    }
  }, [theatre, briefing]);

  // An exercise nobody has begun waits for Start.
  useEffect(() => {
    if (briefing !== "unknown" || !info || paused === undefined) {
      return;
    }
    const fresh = controls && info.kind === "exercise" && (task?.elapsed ?? 0) < 0.5;
    setBriefing(fresh ? "open" : "done");
    if (fresh && !paused) {
      theatre?.pause();
    }
  }, [briefing, info, controls, paused, task, theatre]);

  // Paused by a key, a button of the gamepad, or before the page was loaded anew.
  const wasPaused = useRef<boolean | undefined>(undefined);
  useEffect(() => {
    const before = wasPaused.current;
    wasPaused.current = paused;
    if (paused !== undefined && paused !== before) {
      running.current = !paused;
    }
    if (!controls || over || briefing !== "done" || paused === before) {
      return;
    }
    if (paused && sheet === null) {
      resumes.current = true;
      setSheet("pause");
    } else if (!paused && sheet === "pause") {
      setSheet(null);
    }
  }, [paused, controls, over, briefing, sheet]);

  const busy = sheet !== null || briefing === "open" || finished !== null;
  useEffect(() => {
    theatre?.setActive(!busy);
    if (theatre && !busy) {
      // To the picture, not back to a button: Space closes the jaws now.
      stage.host.current?.focus({ preventScroll: true });
    }
  }, [theatre, busy, stage.host]);
  useEffect(() => theatre?.setCamera(camera), [theatre, camera]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      if (busy || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      if (event.key === "?") {
        open("help");
      } else if (event.key === "Escape" && controls) {
        open("pause");
      } else {
        return;
      }
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [busy, controls, open]);

  useEffect(() => {
    document.title = `${info?.title ?? "Operation"} · Trocar`;
  }, [info?.title]);

  const begin = () => {
    setBriefing("done");
    resumes.current = false;
    running.current = true;
    theatre?.resume();
  };
  const leave = () => {
    if (controls && info?.kind === "exercise") {
      // Nobody waits for a run that was left: the server would find out by itself, but later.
      api.endOperation(operation).catch(() => {});
    }
    navigate(home);
  };
  const again = () => {
    stage.forgetEnd();
    resumes.current = false;
    fromPause.current = false;
    running.current = true;
    setSheet(null);
    theatre?.restart();
    theatre?.resume();
  };
  const limit = task?.force_limit ?? null;
  const scene = hello?.scene ?? null;
  const canFly = scene?.endoscope != null;

  return (
    <main className="operate">
      <h1 className="quietly">{info?.title ?? "Operation"}</h1>
      <div
        ref={stage.host}
        id="content"
        className="operating-field"
        tabIndex={0}
        role="application"
        aria-label="Operating field. Press the question mark for all controls, Escape to pause."
      />
      <div className="hud">
        <div className="rim left">
          {task && <TaskPanel task={task} title={info?.title ?? ""} />}
          <div className="spring" />
          {status && scene && scene.instruments.length > 0 && (
            <ForcePanel status={status} limit={limit} calibrated={scene.calibrated} />
          )}
        </div>
        <div className="middle">
          <div className="banners">
            <Connection stage={stage} home={home} />
            {hello && !controls && (
              <Badge icon="eye">You are watching{info?.controlled ? ": somebody else operates" : ""}</Badge>
            )}
            {hello && !controls && status?.paused && <Badge tone="warn">Paused</Badge>}
            {status && <SlowBanner status={status} />}
          </div>
          <div className="spring" />
          {status && canFly && camera === "endoscope" && <OutOfView status={status} />}
          <Notices all={stage.notices} />
        </div>
        <div className="rim right">
          <div className="tools" role="toolbar" aria-label="Operation">
            {controls && (
              <>
                <Button size="small" icon="pause" onClick={() => open("pause")} aria-keyshortcuts="Escape">
                  Pause
                </Button>
                {info?.kind === "exercise" && (
                  <Button size="small" icon="flag" onClick={() => open("finish")}>
                    Finish
                  </Button>
                )}
                <Button size="small" bare icon="repeat" onClick={() => open("restart")}>
                  Restart
                </Button>
              </>
            )}
            <ViewTools
              camera={camera}
              onCamera={canFly ? setCamera : undefined}
              onHelp={() => open("help")}
              onSettings={() => open("settings")}
              bare
            />
            <Button
              size="small"
              bare
              icon="close"
              onClick={() => (controls && !finished ? open("leave") : leave())}
            >
              Leave
            </Button>
          </div>
          {status && <ClockPanel task={task} time={status.time} />}
          <div className="spring" />
          {status && scene && (
            <MachinePanel status={status} scene={scene} camera={canFly ? camera : "free"} />
          )}
        </div>
      </div>

      {info && (
        <Briefing
          open={briefing === "open" && sheet === null}
          operation={info}
          exercise={exercise}
          task={task}
          onStart={begin}
          onHelp={() => open("help")}
          onLeave={leave}
        />
      )}
      <PauseDialog
        open={sheet === "pause"}
        onClose={close}
        onOpen={open}
        exercise={info?.kind === "exercise"}
      />
      <HelpDialog
        open={sheet === "help"}
        onClose={close}
        bindings={theatre?.bindings ?? []}
        shortcuts={SHORTCUTS}
      />
      <SettingsDialog open={sheet === "settings"} onClose={close} />
      <RestartDialog
        open={sheet === "restart"}
        onClose={close}
        onConfirm={again}
        exercise={info?.kind === "exercise"}
      />
      <FinishDialog
        open={sheet === "finish"}
        onClose={close}
        onConfirm={() => {
          setSheet(null);
          theatre?.finish();
        }}
      />
      <LeaveDialog
        open={sheet === "leave"}
        onClose={close}
        onConfirm={leave}
        exercise={info?.kind === "exercise"}
      />
      <FinishedDialog
        finished={finished}
        passMark={levelOf(exercise, info)?.pass_mark ?? null}
        controls={controls}
        onAgain={again}
        onLeave={() => navigate(home)}
      />
    </main>
  );
}

/** What is written about an exercise; null until it has come, or if there is none. */
function useExercise(id: string | null): ExerciseInfo | null {
  const [exercise, setExercise] = useState<ExerciseInfo | null>(null);
  useEffect(() => {
    if (id === null) {
      return;
    }
    let wanted = true;
    api
      .exercises()
      .then((all) => wanted && setExercise(all.find((one) => one.id === id) ?? null))
      // The task in the first message says enough to begin.
      .catch(() => {});
    return () => {
      wanted = false;
    };
  }, [id]);
  return exercise;
}
