// All results of one person: how the learning goes, and every run in a table.

import { useMemo, useState } from "react";
import { Link, useSearch } from "wouter";
import { api, files } from "../api";
import {
  Button,
  Card,
  Confirm,
  DownloadButton,
  Empty,
  LinkButton,
  type Order,
  Select,
  Skeleton,
  SortHeader,
  useToast,
} from "../ui";
import type { ExerciseInfo, Profile, ResultRow } from "../wire";
import { Loaded, useLoad } from "./load";
import { Page } from "./Page";
import { ProfileList } from "./Profiles";
import { ResultBadge } from "./RecentResults";
import { type Key, sorted } from "./results/curve";
import { LearningCurve } from "./results/LearningCurve";
import { useSession } from "./session";
import { count, moment, points, seconds } from "./words";
import "./results.css";

export function Results() {
  const { profile, profiles } = useSession();
  return (
    <Page
      title={profile ? `Results of ${profile.name}` : "Results"}
      actions={
        profile &&
        profile.results > 0 && (
          <DownloadButton href={files.allResults(profile.id)}>All results as CSV</DownloadButton>
        )
      }
    >
      {profile ? (
        <Mine key={profile.id} profile={profile} />
      ) : (
        <Loaded from={profiles} waiting={<Skeleton height="12rem" />}>
          {() => (
            <Card className="stack" aria-labelledby="whose">
              <h2 id="whose">Whose results?</h2>
              <ProfileList />
            </Card>
          )}
        </Loaded>
      )}
    </Page>
  );
}

function Mine({ profile }: { profile: Profile }) {
  const results = useLoad((signal) => api.results({ profile: profile.id }, signal), [profile.id]);
  const exercises = useLoad((signal) => api.exercises(signal), []);
  return (
    <Loaded from={results} waiting={<Skeleton height="30rem" />}>
      {(rows) =>
        rows.length === 0 ? (
          <Card>
            <Empty icon="chart" title="No results yet">
              <p>
                Every operation you finish appears here, and after a few you can see yourself getting better.
              </p>
              <LinkButton href="/" variant="primary" icon="arrow">
                Choose an exercise
              </LinkButton>
            </Empty>
          </Card>
        ) : (
          <All
            rows={rows}
            exercises={exercises.state === "ready" ? exercises.value : []}
            onDeleted={results.reload}
          />
        )
      }
    </Loaded>
  );
}

/** What the rows hold, in the order in which it was last practised: exercises that are gone are still there. */
function choices(rows: readonly ResultRow[], of: "exercise" | "level"): { value: string; label: string }[] {
  const found = new Map<string, string>();
  for (const row of rows) {
    if (!found.has(row[of])) {
      found.set(row[of], of === "exercise" ? row.exercise_title : row.level_title);
    }
  }
  return [...found].map(([value, label]) => ({ value, label }));
}

function All({
  rows,
  exercises,
  onDeleted,
}: {
  rows: ResultRow[];
  exercises: ExerciseInfo[];
  onDeleted(): void;
}) {
  const asked = new URLSearchParams(useSearch());
  const [exercise, setExercise] = useState(() => asked.get("exercise") ?? rows[0].exercise);
  const [level, setLevel] = useState(() => asked.get("level") ?? rows[0].level);
  const ofExercise = useMemo(() => rows.filter((row) => row.exercise === exercise), [rows, exercise]);
  const info = exercises.find((one) => one.id === exercise);
  // The levels in the order of the exercise, so that easy comes before hard.
  const levels = useMemo(() => {
    const known = choices(ofExercise, "level");
    const place = (id: string) => info?.levels.findIndex((one) => one.id === id) ?? 0;
    return known.sort((a, b) => place(a.value) - place(b.value));
  }, [ofExercise, info]);
  const drawn = levels.some((one) => one.value === level) ? level : (levels[0]?.value ?? "");
  const [only, setOnly] = useState<"level" | "exercise" | "all">("all");
  const shown =
    only === "all"
      ? rows
      : only === "exercise"
        ? ofExercise
        : ofExercise.filter((row) => row.level === drawn);

  return (
    <div className="stack wide-gaps">
      <div className="row filters">
        <Select
          label="Exercise"
          options={choices(rows, "exercise")}
          value={exercise}
          onChange={(next) => setExercise(next)}
        />
        <Select label="Level" options={levels} value={drawn} onChange={setLevel} />
      </div>
      <LearningCurve
        rows={rows}
        exercise={exercise}
        level={drawn}
        info={info?.levels.find((one) => one.id === drawn)}
      />
      <section aria-labelledby="runs" className="stack">
        <div className="section-head">
          <h2 id="runs">{count(shown.length, "run")}</h2>
          <div className="inline-field">
            <Select
              label="Show"
              options={[
                { value: "all", label: "everything" },
                { value: "exercise", label: "the chosen exercise" },
                { value: "level", label: "the chosen level" },
              ]}
              value={only}
              onChange={setOnly}
            />
          </div>
        </div>
        <RunTable rows={shown} onDeleted={onDeleted} />
      </section>
    </div>
  );
}

function RunTable({ rows, onDeleted }: { rows: readonly ResultRow[]; onDeleted(): void }) {
  const [order, setOrder] = useState<Order<Key>>({ by: "started", descending: true });
  const [deleting, setDeleting] = useState<ResultRow | null>(null);
  const ordered = useMemo(() => sorted(rows, order.by, order.descending), [rows, order]);
  const head = (column: Key, label: string, numeric = false) => (
    <SortHeader column={column} order={order} onOrder={setOrder} numeric={numeric}>
      {label}
    </SortHeader>
  );
  return (
    <Card padded={false}>
      <div className="table-scroll">
        <table className="table runs">
          <caption className="quietly">Runs; the heads of the columns sort them</caption>
          <thead>
            <tr>
              {head("started", "When")}
              {head("exercise_title", "Exercise")}
              {head("level_title", "Level")}
              {head("score", "Score", true)}
              {head("seconds", "Time", true)}
              {head("ending", "Outcome")}
              <th scope="col">
                <span className="quietly">Delete</span>
              </th>
            </tr>
          </thead>
          <tbody>
            {ordered.map((row) => (
              <tr key={row.id}>
                <th scope="row">
                  <Link href={`/result/${row.id}`}>{moment(row.started)}</Link>
                </th>
                <td>{row.exercise_title}</td>
                <td>{row.level_title}</td>
                <td className="numeric">
                  <strong>{points(row.score)}</strong>
                </td>
                <td className="numeric">{seconds(row.seconds)}</td>
                <td>
                  <ResultBadge row={row} />
                </td>
                <td className="numeric">
                  <Button variant="quiet" size="small" bare icon="trash" onClick={() => setDeleting(row)}>
                    {`Delete the run of ${moment(row.started)}`}
                  </Button>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <DeleteRun row={deleting} onClose={() => setDeleting(null)} onDeleted={onDeleted} />
    </Card>
  );
}

function DeleteRun({
  row,
  onClose,
  onDeleted,
}: {
  row: ResultRow | null;
  onClose(): void;
  onDeleted(): void;
}) {
  const { profiles } = useSession();
  const [busy, setBusy] = useState(false);
  const tell = useToast();
  async function remove() {
    if (row === null) {
      return;
    }
    setBusy(true);
    try {
      await api.deleteResult(row.id);
      tell("The run was deleted.");
      onDeleted();
      profiles.reload();
    } catch (problem) {
      tell.error(problem);
    } finally {
      setBusy(false);
      onClose();
    }
  }
  return (
    <Confirm
      open={row !== null}
      title="Delete this run?"
      action="Delete the run"
      busy={busy}
      onConfirm={remove}
      onClose={onClose}
    >
      {row && (
        <p>
          This deletes the result of {row.exercise_title}, {row.level_title.toLowerCase()},{" "}
          {moment(row.started)} ({points(row.score)} points){row.has_recording ? " and its recording" : ""}.
          It can't be undone.
        </p>
      )}
    </Confirm>
  );
}
