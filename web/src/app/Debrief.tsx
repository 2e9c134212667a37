// After an operation: how it went, why, and what to try next.

import { useMemo, useState } from "react";
import { Link, useLocation } from "wouter";
import { api, files } from "../api";
import {
  Badge,
  Button,
  Card,
  DownloadButton,
  Icon,
  LinkButton,
  Notice,
  ScoreRing,
  Select,
  Skeleton,
  useToast,
} from "../ui";
import type { ExerciseInfo, LevelInfo, ResultDetail, ResultRow } from "../wire";
import { StartButton } from "./Brief";
import { Curves } from "./debrief/Curves";
import { notesOf } from "./debrief/notes";
import { Measures, Parts } from "./debrief/Parts";
import { Loaded, useLoad } from "./load";
import { Page } from "./Page";
import { useSession } from "./session";
import { difference, ENDINGS, moment, points, seconds } from "./words";
import "./debrief.css";

export function Debrief({ id }: { id: number }) {
  const result = useLoad((signal) => api.result(id, signal), [id]);
  const exercises = useLoad((signal) => api.exercises(signal), []);
  const found = result.state === "ready" ? result.value : null;
  const exercise =
    exercises.state === "ready" ? exercises.value.find((one) => one.id === found?.exercise) : undefined;
  const level = exercise?.levels.find((one) => one.id === found?.level);
  return (
    <Page
      title={found ? `${found.exercise_title}, ${found.level_title.toLowerCase()}` : "Result"}
      tab={found ? `${points(found.score)} points, ${found.exercise_title}` : "Result"}
      above={<Link href="/results">Results</Link>}
      lead={
        found
          ? `${found.profile_name}, ${moment(found.started)} · ${seconds(found.seconds)} · ${ENDINGS[found.ending].toLowerCase()}`
          : undefined
      }
      actions={
        found && (
          <>
            <ReplayButton result={found} />
            <Actions result={found} exercise={exercise} level={level} />
          </>
        )
      }
    >
      <Loaded from={result} waiting={<Skeleton height="28rem" />}>
        {(value) => <Told result={value} level={level} />}
      </Loaded>
    </Page>
  );
}

function Actions({
  result,
  exercise,
  level,
}: {
  result: ResultDetail;
  exercise: ExerciseInfo | undefined;
  level: LevelInfo | undefined;
}) {
  const { profile } = useSession();
  if (exercise === undefined || level === undefined) {
    return null;
  }
  const next = exercise.levels[exercise.levels.indexOf(level) + 1];
  const address = `/exercise/${encodeURIComponent(exercise.id)}`;
  return (
    <>
      {profile ? (
        <StartButton
          exercise={exercise}
          level={level}
          profile={profile}
          label="Again"
          size="medium"
          variant={result.passed && next ? "secondary" : "primary"}
        />
      ) : (
        <LinkButton href={`${address}?level=${encodeURIComponent(level.id)}`} variant="primary" icon="play">
          Again
        </LinkButton>
      )}
      {next && (
        <LinkButton
          href={`${address}?level=${encodeURIComponent(next.id)}`}
          variant={result.passed ? "primary" : "secondary"}
          icon="arrow"
        >
          {`Next level: ${next.title}`}
        </LinkButton>
      )}
    </>
  );
}

function Told({ result, level }: { result: ResultDetail; level: LevelInfo | undefined }) {
  const earlier = useLoad(
    (signal) => api.results({ profile: result.profile, exercise: result.exercise }, signal),
    [result.profile, result.exercise],
  );
  const [compared, setCompared] = useState("");
  const other = useLoad<ResultDetail | null>(
    (signal) => (compared === "" ? Promise.resolve(null) : api.result(Number(compared), signal)),
    [compared],
  );
  const against = other.state === "ready" ? other.value : null;
  const rows = earlier.state === "ready" ? earlier.value : [];
  return (
    <div className="stack wide-gaps">
      {notesOf(result).map((note) => (
        <Notice key={note.text} tone={note.tone}>
          <p>{note.text}</p>
        </Notice>
      ))}
      <Headline result={result} level={level} other={against} />
      <section aria-labelledby="curves" className="stack">
        <div className="section-head">
          <h2 id="curves">Moment by moment</h2>
          <Compare result={result} rows={rows} value={compared} onChange={setCompared} />
        </div>
        {other.state === "failed" && <Notice tone="warn">{other.problem.message}</Notice>}
        <Curves result={result} other={against} goals={level?.goals ?? []} />
      </section>
      <section aria-labelledby="measures" className="stack">
        <h2 id="measures">All measures</h2>
        <Measures result={result} other={against} />
      </section>
      <section aria-labelledby="take" className="stack">
        <h2 id="take">Take it with you</h2>
        <div className="row">
          <DownloadButton href={files.csv(result.id)}>Curves as CSV</DownloadButton>
          <DownloadButton href={files.json(result.id)}>Everything as JSON</DownloadButton>
          {result.has_recording && (
            <DownloadButton href={files.recording(result.id)}>Recording</DownloadButton>
          )}
        </div>
      </section>
    </div>
  );
}

function Headline({
  result,
  level,
  other,
}: {
  result: ResultDetail;
  level: LevelInfo | undefined;
  other: ResultDetail | null;
}) {
  const missing = level && result.score !== null ? level.pass_mark - result.score : null;
  return (
    <div className="headline">
      <Card className="verdict">
        <ScoreRing
          score={result.score}
          passed={result.passed}
          passMark={level?.pass_mark}
          size="10rem"
          thick={7}
        />
        {result.passed ? (
          <Badge tone="good" icon="check">
            passed
          </Badge>
        ) : (
          <Badge tone={result.score === null ? "plain" : "warn"}>
            {result.score === null ? "not scored" : "not passed"}
          </Badge>
        )}
        <p className="small soft">
          {result.score === null
            ? "Only runs that end are scored."
            : level
              ? missing !== null && missing > 0
                ? `${Math.ceil(missing)} more would have been a pass (${points(level.pass_mark)})`
                : `${points(level.pass_mark)} needed to pass`
              : "of 100 points"}
          {other?.score != null && result.score !== null && (
            <>
              <br />
              {difference(result.score - other.score, (value) => value.toFixed(0))} against the compared run (
              {points(other.score)})
            </>
          )}
        </p>
      </Card>
      <Card className="parts-card" aria-labelledby="parts">
        <h2 id="parts">Where the points come from</h2>
        {result.parts.length > 0 ? (
          <Parts result={result} other={other} />
        ) : (
          <p className="soft">There is nothing to add up for this run.</p>
        )}
      </Card>
      <div className="stack advice">
        {result.advice.length > 0 && (
          <Card aria-labelledby="advice">
            <h2 id="advice">What to do better</h2>
            <ol className="steps">
              {result.advice.map((line) => (
                <li key={line}>{line}</li>
              ))}
            </ol>
          </Card>
        )}
        {result.praise.length > 0 && (
          <Card aria-labelledby="praise">
            <h2 id="praise">What went well</h2>
            <ul className="praise">
              {result.praise.map((line) => (
                <li key={line}>
                  <Icon name="check" />
                  {line}
                </li>
              ))}
            </ul>
          </Card>
        )}
      </div>
    </div>
  );
}

function Compare({
  result,
  rows,
  value,
  onChange,
}: {
  result: ResultDetail;
  rows: readonly ResultRow[];
  value: string;
  onChange(value: string): void;
}) {
  const options = useMemo(() => {
    const others = rows.filter(
      (row) => row.id !== result.id && row.level === result.level && row.ending !== "running",
    );
    const best = others.reduce<ResultRow | null>(
      (top, row) => ((row.score ?? -1) > (top?.score ?? -1) ? row : top),
      null,
    );
    return [
      { value: "", label: others.length === 0 ? "no other run at this level yet" : "nothing" },
      ...others.map((row) => ({
        value: String(row.id),
        label: `${moment(row.started)}: ${row.score === null ? ENDINGS[row.ending].toLowerCase() : `${points(row.score)} points`}${row.id === best?.id ? " (best)" : ""}`,
      })),
    ];
  }, [rows, result]);
  return (
    <div className="inline-field">
      <Select label="Compare with" options={options} value={value} onChange={onChange} />
    </div>
  );
}

function ReplayButton({ result }: { result: ResultDetail }) {
  const [, go] = useLocation();
  const [busy, setBusy] = useState(false);
  const tell = useToast();
  async function replay() {
    setBusy(true);
    try {
      const operation = await api.startOperation({ kind: "replay", result: result.id });
      go(`/replay/${encodeURIComponent(operation.id)}?result=${result.id}`);
    } catch (problem) {
      tell.error(problem);
      setBusy(false);
    }
  }
  if (!result.has_recording) {
    return null;
  }
  return (
    <Button icon="play" disabled={busy} onClick={replay}>
      {busy ? "Preparing …" : "Replay"}
    </Button>
  );
}
