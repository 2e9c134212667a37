// Watching a recorded operation: any moment, any speed, any camera.

import { useCallback, useEffect, useRef, useState } from "react";
import { api } from "../../api";
import { Badge, Icon, LinkButton, Notice } from "../../ui";
import type { Marker, Replay as Recorded, ResultDetail } from "../../wire";
import { Connection } from "../operate/Connection";
import { HelpDialog, type Shortcut } from "../operate/HelpDialog";
import { NOTICE_ICON, NOTICE_WORD } from "../operate/Notices";
import { SettingsDialog } from "../operate/SettingsDialog";
import { useTheatre } from "../operate/useTheatre";
import { type Camera, ViewTools } from "../operate/ViewTools";
import { clock } from "../operate/words";
import { lastEvent } from "./strip";
import { type Speed, Transport } from "./Transport";
import "../operate/operate.css";
import "./replay.css";

/** No more seeks than this while the slider is dragged, ms: each one computes. */
const SEEK_EVERY = 120;
/** A place asked for is shown until the server is there, or for this long, ms. */
const SEEK_PATIENCE = 3000;

const SHORTCUTS: readonly Shortcut[] = [
  { input: "Space", action: "Play, pause" },
  { input: "← →", action: "A second back, a second on" },
  { input: "Home", action: "To the beginning" },
  { input: "?", action: "This help" },
];

/** Plays one recording. */
export default function Replay({ operation, result: asked }: { operation: string; result: number | null }) {
  const stage = useTheatre(operation);
  const { theatre, hello, status } = stage;
  const number = hello?.operation.result ?? asked;
  const result = useResult(number);
  const [speed, setSpeed] = useState<Speed>("1");
  const [camera, setCamera] = useState<Camera>("endoscope");
  const [sheet, setSheet] = useState<"help" | "settings" | null>(null);

  const replay = hello?.replay ?? null;
  const controls = hello?.role === "controller";
  const duration = replay?.duration ?? 0;
  const playing = status !== null && !status.paused && !status.atEnd;
  const [time, seek] = useSeek(status?.time ?? 0, duration, (wanted) => theatre?.seek(wanted));
  const canFly = hello?.scene.endoscope != null;
  const home = number === null ? "/results" : `/result/${number}`;

  const play = useCallback(
    (wanted: boolean) => {
      if (!wanted) {
        theatre?.pause();
        return;
      }
      if (status?.atEnd) {
        theatre?.seek(0);
      }
      theatre?.resume();
    },
    [theatre, status?.atEnd],
  );

  useEffect(() => theatre?.setActive(sheet === null), [theatre, sheet]);
  useEffect(() => theatre?.setCamera(camera), [theatre, camera]);
  useEffect(() => {
    document.title = `Replay: ${hello?.operation.title ?? "operation"} · Trocar`;
  }, [hello?.operation.title]);

  useEffect(() => {
    const onKey = (event: KeyboardEvent) => {
      const target = event.target instanceof Element ? event.target : null;
      const onButton = target?.closest("button, a, input[type=radio]") != null;
      if (sheet !== null || event.ctrlKey || event.metaKey || event.altKey) {
        return;
      }
      const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (event.key === " " && !onButton) {
        play(!playing);
      } else if (step !== undefined && !target?.matches("input[type=radio]")) {
        seek(time + step);
      } else if (event.key === "Home") {
        seek(0);
      } else if (event.key === "?") {
        setSheet("help");
      } else {
        return;
      }
      event.preventDefault();
    };
    window.addEventListener("keydown", onKey);
    return () => window.removeEventListener("keydown", onKey);
  }, [sheet, playing, time, play, seek]);

  return (
    <main className="operate replay">
      <header className="replay-head">
        <div>
          <h1>Replay · {hello?.operation.title ?? "…"}</h1>
          {result && (
            <p className="soft small">
              {result.profile_name}, {result.level_title},{" "}
              {new Date(1000 * result.started).toLocaleString("en-GB")}
            </p>
          )}
        </div>
        {hello && !controls && <Badge icon="eye">Somebody else steers this replay</Badge>}
        <div className="tools">
          <ViewTools
            camera={camera}
            onCamera={canFly ? setCamera : undefined}
            onHelp={() => setSheet("help")}
            onSettings={() => setSheet("settings")}
          />
          <LinkButton size="small" icon="back" href={home}>
            Debrief
          </LinkButton>
        </div>
      </header>
      <div className="replay-body">
        <div className="screen">
          <div
            ref={stage.host}
            id="content"
            className="operating-field"
            tabIndex={0}
            role="application"
            aria-label="Replay. Space plays and pauses, the arrow keys step by a second."
          />
          <div className="over">
            <Connection stage={stage} home={home} />
            {status?.atEnd && <Badge>The end</Badge>}
          </div>
        </div>
        <aside className="replay-events" aria-label="Events">
          {replay && <Caveats replay={replay} />}
          {stage.notices
            .filter(
              ({ kind, time }) => kind === "error" && !replay?.events.some((known) => known.time === time),
            )
            .map(({ id, text }) => (
              <Notice key={id} tone="warn">
                {text}
              </Notice>
            ))}
          <h2>Events</h2>
          <EventList events={replay?.events ?? []} time={time} onSeek={seek} />
        </aside>
      </div>
      <Transport
        time={time}
        duration={duration}
        playing={playing}
        speed={speed}
        events={replay?.events ?? []}
        trace={result?.trace ?? null}
        onPlay={play}
        onSeek={seek}
        onSpeed={(wanted) => {
          setSpeed(wanted);
          theatre?.speed(Number(wanted));
        }}
      />
      <HelpDialog
        open={sheet === "help"}
        onClose={() => setSheet(null)}
        bindings={theatre?.bindings.filter(({ action }) => /camera|zoom/i.test(action)) ?? []}
        shortcuts={SHORTCUTS}
      />
      <SettingsDialog open={sheet === "settings"} onClose={() => setSheet(null)} />
    </main>
  );
}

function Caveats({ replay }: { replay: Recorded }) {
  return (
    <>
      {!replay.same_build && (
        <Notice tone="warn">
          This was recorded by another build of Trocar. What you see may differ from what happened.
        </Notice>
      )}
      {replay.differs_at !== null && (
        <Notice tone="warn">
          From {clock(replay.differs_at, true)} on, the replay differs from the recording.
        </Notice>
      )}
      {!replay.complete && <Notice tone="warn">The recording breaks off before the operation’s end.</Notice>}
    </>
  );
}

function EventList({
  events,
  time,
  onSeek,
}: {
  events: readonly Marker[];
  time: number;
  onSeek(time: number): void;
}) {
  const now = lastEvent(events, time);
  if (events.length === 0) {
    return <p className="soft small">Nothing was noted.</p>;
  }
  return (
    <ol className="event-list">
      {events.map((event, i) => (
        <li key={`${event.time} ${event.text}`}>
          <button
            type="button"
            className={event.kind}
            aria-current={i === now ? "step" : undefined}
            onClick={() => onSeek(event.time)}
          >
            <span className="at">{clock(event.time, true)}</span>
            <Icon name={NOTICE_ICON[event.kind]} />
            <span>
              <span className="quietly">{NOTICE_WORD[event.kind]}: </span>
              {event.text}
            </span>
          </button>
        </li>
      ))}
    </ol>
  );
}

/**
 * The time to show, and how to ask for another. While the server is on its way the wish is shown, or the slider
 * would jump back under the finger; wishes go out only now and then, the last one always.
 */
function useSeek(
  time: number,
  duration: number,
  send: (time: number) => void,
): [number, (time: number) => void] {
  const [wish, setWish] = useState<{ time: number; until: number } | null>(null);
  const pending = useRef<ReturnType<typeof setTimeout> | null>(null);
  const last = useRef({ sent: Number.NEGATIVE_INFINITY, wish: 0 });
  const sender = useRef(send);
  sender.current = send;

  const seek = useCallback(
    (wanted: number) => {
      const place = Math.min(duration, Math.max(0, wanted));
      setWish({ time: place, until: performance.now() + SEEK_PATIENCE });
      last.current.wish = place;
      if (pending.current !== null) {
        return;
      }
      const wait = Math.max(0, last.current.sent + SEEK_EVERY - performance.now());
      pending.current = setTimeout(() => {
        pending.current = null;
        last.current.sent = performance.now();
        sender.current(last.current.wish);
      }, wait);
    },
    [duration],
  );

  useEffect(() => {
    if (
      wish &&
      (Math.abs(wish.time - time) < 0.3 || performance.now() > wish.until) &&
      pending.current === null
    ) {
      setWish(null);
    }
  }, [time, wish]);
  useEffect(
    () => () => {
      if (pending.current !== null) {
        clearTimeout(pending.current);
      }
    },
    [],
  );
  return [wish?.time ?? time, seek];
}

/** The result behind a replay; null until it has come. */
function useResult(id: number | null): ResultDetail | null {
  const [result, setResult] = useState<ResultDetail | null>(null);
  useEffect(() => {
    if (id === null) {
      return;
    }
    const request = new AbortController();
    // Without it the replay still plays: only the strip under the slider is missing.
    api.result(id, request.signal).then(setResult, () => {});
    return () => request.abort();
  }, [id]);
  return result;
}
