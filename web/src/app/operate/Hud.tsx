// What is read at a glance while operating, at the rim of the picture.

import { useEffect, useRef, useState } from "react";
import type { Status } from "../../theatre";
import type { SceneDescription, Task } from "../../wire";
import { useCalm } from "./useCalm";
import { clock, degrees, percent } from "./words";

/** A warning waits this long, ms: the tip may brush the rim without a word. */
const WARN_AFTER = 400;
/** The force bar ends at this multiple of the limit, so that the limit is seen to be passed. */
const BEYOND_LIMIT = 1.5;
/** Without a limit the force bar ends here, N. */
const FULL_FORCE = 10;
/** Share of the limit from which on the bar warns. */
const NEAR_LIMIT = 0.8;

/** Time that runs at this share of its speed or more feels true. */
const NOTICEABLE = 0.95;

/** Which goal, what to do, how far. */
export function TaskPanel({ task, title }: { task: Task; title: string }) {
  const whole = useHoldLength(task);
  return (
    <section className="hud-panel task" aria-label="Task">
      <p className="eyebrow">
        {title}
        <span>
          Goal {Math.min(task.goal + 1, task.goals)} of {task.goals}
        </span>
      </p>
      <h2>{task.title}</h2>
      <p className="instruction">{task.instruction}</p>
      {task.hold_left !== null && whole > 0 ? (
        <HoldRing left={task.hold_left} whole={whole} />
      ) : (
        <div
          className="meter"
          role="progressbar"
          aria-label="Progress through the exercise"
          aria-valuemin={0}
          aria-valuemax={100}
          aria-valuenow={Math.round(100 * task.progress)}
        >
          <div style={{ transform: `scaleX(${clamp(task.progress)})` }} />
        </div>
      )}
    </section>
  );
}

/** The longest `hold_left` seen for this goal is how long it has to be held, s. */
function useHoldLength(task: Task): number {
  const longest = useRef({ goal: -1, seconds: 0 });
  if (longest.current.goal !== task.goal) {
    longest.current = { goal: task.goal, seconds: 0 };
  }
  longest.current.seconds = Math.max(longest.current.seconds, task.hold_left ?? 0);
  return longest.current.seconds;
}

const RING = 2 * Math.PI * 20;

function HoldRing({ left, whole }: { left: number; whole: number }) {
  const done = clamp(1 - left / whole);
  return (
    <div className="hold">
      <svg viewBox="0 0 48 48" aria-hidden="true">
        <circle className="track" cx="24" cy="24" r="20" />
        <circle className="arc" cx="24" cy="24" r="20" strokeDasharray={`${done * RING} ${RING}`} />
      </svg>
      <p>
        <strong>{left.toFixed(1)} s</strong> Hold still
      </p>
    </div>
  );
}

/** Time spent, and time left. */
export function ClockPanel({ task, time }: { task: Task | null; time: number }) {
  const left = task?.time_left ?? null;
  return (
    <section className="hud-panel clock" aria-label="Time">
      <p className="figure">{clock(task?.elapsed ?? time)}</p>
      {left !== null && <p className={left < 30 ? "warn" : undefined}>{clock(left)} left</p>}
    </section>
  );
}

/** Force at the tip, and whether the jaws hold something. */
export function ForcePanel({
  status,
  limit,
  calibrated,
}: {
  status: Status;
  limit: number | null;
  calibrated: boolean;
}) {
  const full = limit === null ? FULL_FORCE : BEYOND_LIMIT * limit;
  const state =
    limit === null ? "" : status.force > limit ? "bad" : status.force > NEAR_LIMIT * limit ? "warn" : "";
  return (
    <section className="hud-panel force" aria-label="Instrument">
      <p className="line">
        <span>Force at the tip</span>
        <span className={`figure ${state}`}>{status.force.toFixed(1)} N</span>
      </p>
      <div className="force-bar">
        <div className={`meter ${state}`} aria-hidden="true">
          <div style={{ transform: `scaleX(${clamp(status.force / full)})` }} />
        </div>
        {limit !== null && (
          <span className="limit" style={{ left: percentPlace(limit / full) }} aria-hidden="true" />
        )}
      </div>
      <p className="line small">
        <span>{limit === null ? "No limit set" : `Limit ${limit.toFixed(1)} N`}</span>
        {!calibrated && (
          <span
            className="tag"
            title="The tissue's constants are not taken from measurements: compare forces with each other, not with reality."
          >
            uncalibrated
          </span>
        )}
      </p>
      {status.holds && (
        <p className={`grip ${status.holding ? "holding" : ""}`}>
          <span className="dot" aria-hidden="true" />
          {status.holding ? "Holding tissue" : "Jaws empty"}
        </p>
      )}
    </section>
  );
}

/** What the camera and the machine do. */
export function MachinePanel({
  status,
  scene,
  camera,
}: {
  status: Status;
  scene: SceneDescription;
  camera: "endoscope" | "free";
}) {
  const [pictures, cost] = useCalm([status.framesPerSecond, status.stepCost]);
  const used = cost / status.stepBudget;
  const eye = status.endoscope;
  return (
    <section className="hud-panel machine" aria-label="Camera and machine">
      <dl>
        {scene.endoscope && eye && camera === "endoscope" ? (
          <>
            <Row name="Optics" value={degrees(status.optics ?? scene.endoscope.optics)} />
            <Row name="Zoom" value={`${eye.zoom.toFixed(1)} ×`} />
            <Row name="Horizon" value={degrees(eye.horizon)} />
          </>
        ) : (
          <Row name="Camera" value="free" />
        )}
        <Row name="Pictures" value={`${pictures.toFixed(0)} /s`} />
        <Row name="Step budget" value={percent(used)} state={used > 1 ? "warn" : undefined} />
      </dl>
    </section>
  );
}

function Row({ name, value, state }: { name: string; value: string; state?: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className={state}>{value}</dd>
    </div>
  );
}

/** Says that the machine is too slow for real time, and what takes the time. */
export function SlowBanner({ status }: { status: Status }) {
  const slow = useSteady(status.slow && status.rate < NOTICEABLE, 1000);
  if (!slow) {
    return null;
  }
  return (
    <p className="banner warn" role="status">
      This computer can’t keep up: time runs at {status.rate.toFixed(2)} × its true speed.
      {status.dearest && ` Most of the work is in “${status.dearest}”.`}
    </p>
  );
}

/** Says that the tip has left the picture. */
export function OutOfView({ status }: { status: Status }) {
  const away = useSteady(!status.tipInView, WARN_AFTER);
  return (
    <p className="away" role="status" hidden={!away}>
      {away && "The tip is out of view"}
    </p>
  );
}

/** True once `now` has been true for `wait` ms. */
function useSteady(now: boolean, wait: number): boolean {
  const [steady, setSteady] = useState(false);
  useEffect(() => {
    if (!now) {
      setSteady(false);
      return;
    }
    const timer = setTimeout(() => setSteady(true), wait);
    return () => clearTimeout(timer);
  }, [now, wait]);
  return steady && now;
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, Number.isFinite(share) ? share : 0));
}

function percentPlace(share: number): string {
  return `${(100 * clamp(share)).toFixed(1)}%`;
}
