// Play, scrub, step, speed.

import { useMemo } from "react";
import { Button, Segmented } from "../../ui";
import type { Marker, Trace } from "../../wire";
import { NOTICE_WORD } from "../operate/Notices";
import { clock } from "../operate/words";
import { greatestOf, stripPath } from "./strip";

/** How fast a replay may run. */
export const SPEEDS = ["0.25", "0.5", "1", "2", "4", "8"] as const;
export type Speed = (typeof SPEEDS)[number];

const BOX = { width: 1000, height: 40 };

/** The bar below the picture. */
export function Transport({
  time,
  duration,
  playing,
  speed,
  events,
  trace,
  onPlay,
  onSeek,
  onSpeed,
}: {
  time: number;
  duration: number;
  playing: boolean;
  speed: Speed;
  events: readonly Marker[];
  trace: Trace | null;
  onPlay(playing: boolean): void;
  onSeek(time: number): void;
  onSpeed(speed: Speed): void;
}) {
  return (
    <section className="transport" aria-label="Playback">
      <div className="track">
        <div className="scrub">
          <input
            type="range"
            aria-label="Time"
            min={0}
            max={duration}
            step={0.01}
            value={Math.min(time, duration)}
            aria-valuetext={`${clock(time, true)} of ${clock(duration, true)}`}
            onChange={(event) => onSeek(event.target.valueAsNumber)}
            onKeyDown={(event) => {
              // The page's own keys step by a second; the slider's would step by a hundredth.
              if (/^Arrow|^ $/.test(event.key)) {
                event.preventDefault();
              }
            }}
          />
          <div className="ticks" aria-hidden="true">
            {events.map((event) => (
              <span
                key={`${event.time} ${event.text}`}
                className={event.kind}
                style={{ left: `${(100 * event.time) / Math.max(duration, 1e-9)}%` }}
                title={`${clock(event.time, true)} ${NOTICE_WORD[event.kind]}: ${event.text}`}
              />
            ))}
          </div>
        </div>
        {trace && trace.time.length > 1 && <Strip trace={trace} duration={duration} time={time} />}
      </div>
      <div className="keys-row">
        <Button
          variant="primary"
          icon={playing ? "pause" : "play"}
          onClick={() => onPlay(!playing)}
          aria-keyshortcuts="Space"
        >
          {playing ? "Pause" : "Play"}
        </Button>
        <Button variant="quiet" onClick={() => onSeek(time - 1)} aria-keyshortcuts="ArrowLeft">
          − 1 s
        </Button>
        <Button variant="quiet" onClick={() => onSeek(time + 1)} aria-keyshortcuts="ArrowRight">
          + 1 s
        </Button>
        <p className="now">
          <strong>{clock(time, true)}</strong> of {clock(duration, true)}
        </p>
        <Segmented<Speed>
          label="Speed"
          labelHidden
          options={SPEEDS.map((value) => ({ value, label: `${value} ×` }))}
          value={speed}
          onChange={onSpeed}
        />
      </div>
    </section>
  );
}

/** Force and speed over the whole recording. */
function Strip({ trace, duration, time }: { trace: Trace; duration: number; time: number }) {
  const most = useMemo(
    () => ({ force: greatestOf(trace.force, 0.1), speed: greatestOf(trace.speed, 0.01) }),
    [trace],
  );
  const force = useMemo(
    () => stripPath(trace.time, trace.force, duration, most.force, BOX),
    [trace, duration, most],
  );
  const speed = useMemo(
    () => stripPath(trace.time, trace.speed, duration, most.speed, BOX),
    [trace, duration, most],
  );
  const now = (BOX.width * Math.min(time, duration)) / Math.max(duration, 1e-9);
  return (
    <figure className="strip">
      <svg
        viewBox={`0 0 ${BOX.width} ${BOX.height}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Force up to ${most.force.toFixed(1)} N and speed up to ${Math.round(1000 * most.speed)} mm/s over time`}
      >
        <path className="speed" d={speed} />
        <path className="force" d={force} />
        <line className="now" x1={now} x2={now} y1="0" y2={BOX.height} />
      </svg>
      <figcaption>
        <span className="force">Force, up to {most.force.toFixed(1)} N</span>
        <span className="speed">Speed, up to {Math.round(1000 * most.speed)} mm/s</span>
      </figcaption>
    </figure>
  );
}
