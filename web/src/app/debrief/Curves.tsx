// Force, speed and stretch over time, the events among them, and the path of the tip: one moment for all.

import { useMemo, useState } from "react";
import { Card, Icon, type IconName, Slider } from "../../ui";
import { type Line, nearest, Plot, type Upright } from "../../ui/Plot";
import type { Marker, NoticeKind, ResultDetail, Trace } from "../../wire";
import { clock, number, quantity, seconds, tick } from "../words";
import { PathDrawing } from "./PathDrawing";
import { EVENT_COLOURS, goalColour, greatest, lastEvent, resample, spans, together, whole } from "./traces";

const MINE = { force: "#7db8ff", speed: "#4fd1c5", stretch: "#b9a2fb" } as const;
const OTHER = "#8b9ea9";
const UNSEEN = "rgb(242 184 75 / 14%)";

type Column = keyof typeof MINE;

const COLUMNS: { column: Column; title: string; words(value: number): string }[] = [
  { column: "force", title: "Force at the tip", words: (value) => `${number(value)} N` },
  { column: "speed", title: "Speed of the tip", words: (value) => quantity(value, "m/s") },
  { column: "stretch", title: "Greatest stretch of the tissue", words: percent },
];

/** Of the length at rest. */
function percent(value: number): string {
  return `${(100 * value).toFixed(value < 0.1 ? 1 : 0)} %`;
}

const EVENT_ICONS: Record<NoticeKind, IconName> = {
  goal: "flag",
  info: "info",
  hint: "bulb",
  error: "warning",
};

export function Curves({
  result,
  other,
  goals,
}: {
  result: ResultDetail;
  other: ResultDetail | null;
  /** Titles of the goals, as far as they are known. */
  goals: readonly string[];
}) {
  const [at, setAt] = useState<number | null>(null);
  const trace = useMemo(() => whole(result.trace), [result]);
  const theirs = useMemo(() => (other ? whole(other.trace) : null), [other]);
  const along = useMemo(() => (theirs ? together(trace.time, theirs.time) : trace.time), [trace, theirs]);
  const end = along[along.length - 1] ?? 0;
  const events = result.events;
  const uprights = useMemo<Upright[]>(
    () =>
      events.map((event, i) => ({ at: event.time, colour: EVENT_COLOURS[event.kind], label: String(i + 1) })),
    [events],
  );
  const ribbon = useMemo(
    () =>
      spans(trace.time, trace.goal).map(({ from, to, value }) => ({ from, to, colour: goalColour(value) })),
    [trace],
  );
  const bands = useMemo(
    () =>
      spans(trace.time, trace.in_view)
        .filter(({ value }) => value === 0)
        .map(({ from, to }) => ({ from, to, colour: UNSEEN })),
    [trace],
  );
  const lines = useMemo(() => linesOf(trace, theirs, along), [trace, theirs, along]);

  if (trace.time.length < 2) {
    return (
      <Card>
        <p className="soft">This run was too short to draw its curves.</p>
      </Card>
    );
  }
  const moment = at ?? 0;
  return (
    <div className="curves">
      <Card className="curves-plots">
        {COLUMNS.map(({ column, title, words }) => (
          <Plot
            key={column}
            title={title}
            summary={summaryOf(title, trace, column, words)}
            along={along}
            lines={lines[column]}
            uprights={uprights}
            ribbon={ribbon}
            bands={bands}
            at={at}
            onAt={setAt}
            words={words}
            alongWords={clock}
            tickWords={tick}
            range={column === "stretch" ? [0, 0.05] : [0, 0]}
            height={10}
          />
        ))}
        <Slider
          label="Moment"
          value={moment}
          least={0}
          greatest={Math.max(end, 0.02)}
          step={0.02}
          words={clock}
          onChange={setAt}
        />
        <p className="faint small legend">
          The stripe below each curve shows the goal, in the colours of the path.
          {bands.length > 0 && (
            <>
              {" "}
              <span className="unseen-swatch" /> The tip was out of view.
            </>
          )}
        </p>
      </Card>
      <div className="stack">
        <Card className="path-card" aria-labelledby="path-title">
          <div className="card-head">
            <h3 id="path-title">Path of the tip</h3>
            <span className="faint small">{at === null ? "to scale" : `at ${clock(moment)}`}</span>
          </div>
          <PathDrawing
            trace={trace}
            other={theirs}
            index={at === null ? null : nearest(trace.time, moment)}
            goals={goals}
          />
        </Card>
        <Events events={events} at={at} onAt={setAt} />
      </div>
    </div>
  );
}

function linesOf(trace: Trace, other: Trace | null, along: number[]): Record<Column, Line[]> {
  const of = (column: Column): Line[] => {
    const mine: Line = {
      label: other ? "this run" : "",
      values: other ? resample(trace.time, trace[column], along) : trace[column],
      colour: MINE[column],
      filled: other === null,
    };
    if (other === null) {
      return [mine];
    }
    const theirs = resample(other.time, other[column], along);
    return [{ label: "compared", values: theirs, colour: OTHER, dashed: true, width: 1.25 }, mine];
  };
  return { force: of("force"), speed: of("speed"), stretch: of("stretch") };
}

function summaryOf(title: string, trace: Trace, column: Column, words: (value: number) => string): string {
  const most = greatest(trace.time, trace[column]);
  const lasts = seconds(trace.time[trace.time.length - 1] ?? 0);
  return most === null
    ? `${title}: nothing was measured.`
    : `${title} over ${lasts}: at most ${words(most.value)}, after ${seconds(most.time)}.`;
}

function Events({
  events,
  at,
  onAt,
}: {
  events: readonly Marker[];
  at: number | null;
  onAt(at: number): void;
}) {
  const now = at === null ? -1 : lastEvent(events, at);
  if (events.length === 0) {
    return null;
  }
  return (
    <Card aria-labelledby="events-title" className="events-card">
      <h3 id="events-title">What happened</h3>
      <ol className="events">
        {events.map((event, i) => (
          <li key={`${event.time}-${event.text}`}>
            <button
              type="button"
              className={`event ${event.kind}`}
              aria-current={i === now ? "step" : undefined}
              onClick={() => onAt(event.time)}
            >
              <span className="event-number">{i + 1}</span>
              <span className="event-time">{clock(event.time)}</span>
              <Icon name={EVENT_ICONS[event.kind]} />
              <span>{event.text}</span>
            </button>
          </li>
        ))}
      </ol>
    </Card>
  );
}
