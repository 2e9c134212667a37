// How somebody gets better at one level of one exercise.

import { useEffect, useMemo, useState } from "react";
import { useLocation } from "wouter";
import { api, isAborted } from "../../api";
import { Card, Empty, Segmented, Skeleton } from "../../ui";
import { type Line, Plot } from "../../ui/Plot";
import type { LevelInfo, Measured, ResultRow } from "../../wire";
import { count, number, points, quantity, seconds } from "../words";
import { counted, movingMedian, progress, reachedAt } from "./curve";

type What = "score" | "time" | "path" | "force";

/** Measures beyond score and time are in the details of each run; so many are fetched at most. */
const MOST_DETAILS = 60;
/** Requests at once. */
const AT_ONCE = 4;

const WHATS: { value: What; label: string }[] = [
  { value: "score", label: "Score" },
  { value: "time", label: "Time" },
  { value: "path", label: "Path length" },
  { value: "force", label: "Greatest force" },
];

const WORDS: Record<What, (value: number) => string> = {
  score: points,
  time: seconds,
  path: (value) => quantity(value, "mm", 0),
  force: (value) => `${number(value)} N`,
};

export function LearningCurve({
  rows,
  exercise,
  level,
  info,
}: {
  rows: readonly ResultRow[];
  exercise: string;
  level: string;
  info: LevelInfo | undefined;
}) {
  const [what, setWhat] = useState<What>("score");
  const [at, setAt] = useState<number | null>(null);
  const [, go] = useLocation();
  const runs = useMemo(() => counted(rows, exercise, level), [rows, exercise, level]);
  const details = useDetails(runs, what === "path" || what === "force");
  const values = useMemo(
    () =>
      runs.map((run): number | null => {
        switch (what) {
          case "score":
            return run.score;
          case "time":
            return run.seconds;
          default:
            return measureOf(details.get(run.id), what);
        }
      }),
    [runs, what, details],
  );
  const along = useMemo(() => runs.map((_, i) => i + 1), [runs]);
  const lines = useMemo<Line[]>(
    () => [
      { label: "median of five", values: movingMedian(values), colour: "#4fd1c5", width: 2 },
      { label: "each run", values, colour: "#b4c2ca", dots: true },
    ],
    [values],
  );
  const levels = useMemo(
    () =>
      what === "score" && info
        ? [{ value: info.pass_mark, colour: "#f2b84b", label: `pass: ${points(info.pass_mark)}` }]
        : [],
    [what, info],
  );

  const left = rows.filter((row) => row.exercise === exercise && row.level === level).length - runs.length;
  const title = WHATS.find((one) => one.value === what)?.label ?? "";
  const known = values.filter((value) => value !== null);
  return (
    <Card className="curve-card" aria-labelledby="curve-title">
      <div className="card-head">
        <h2 id="curve-title">Learning curve</h2>
        <Segmented label="What is drawn" labelHidden options={WHATS} value={what} onChange={setWhat} />
      </div>
      {runs.length === 0 ? (
        <Empty icon="chart" title="No finished run at this level yet">
          <p>Your curve begins with the first one.</p>
        </Empty>
      ) : details.loading && known.length === 0 ? (
        <Skeleton height="16rem" />
      ) : (
        <Plot
          title={`${title} per run`}
          summary={`${title} of ${count(runs.length, "run")}: ${known.map((value) => WORDS[what](value)).join(", ")}.`}
          along={along}
          lines={lines}
          levels={levels}
          at={at}
          onAt={setAt}
          onChoose={(index) => go(`/result/${runs[index].id}`)}
          words={WORDS[what]}
          alongWords={(value) => (Number.isInteger(value) ? `run ${value}` : "")}
          range={what === "score" ? [0, 100] : [0, 0]}
          height={16}
          whole
        />
      )}
      <Verdict runs={runs} values={known} what={what} left={left} />
    </Card>
  );
}

function Verdict({
  runs,
  values,
  what,
  left,
}: {
  runs: readonly ResultRow[];
  values: readonly number[];
  what: What;
  left: number;
}) {
  const change = progress(values);
  const steady = reachedAt(runs);
  const words = WORDS[what];
  return (
    <p className="soft small">
      {change &&
        `Median of the first ${change.runs} runs: ${words(change.first)}; of the last ${change.runs}: ${words(change.last)}. `}
      {what === "score" && steady !== null && `Passed three times in a row from run ${steady} on. `}
      {left > 0 &&
        `${count(left, "run")} given up, broken off or still going on ${left === 1 ? "is" : "are"} left out. `}
      {runs.length > 0 && "A click on the plot opens the run."}
    </p>
  );
}

/** The measure that is drawn for what is not in the rows. */
const MEASURES = { path: "path", force: "greatest_force" } as const;

function measureOf(detail: Measures | undefined, what: "path" | "force"): number | null {
  return detail?.find((one) => one.id === MEASURES[what])?.value ?? null;
}

type Measures = readonly Measured[];
type Details = Map<number, Measures> & { loading?: boolean };

/** The details of the last runs, fetched when they are wanted, a few at a time. */
function useDetails(runs: readonly ResultRow[], wanted: boolean): Details {
  const [details, setDetails] = useState<Details>(() => new Map());
  useEffect(() => {
    if (!wanted) {
      return;
    }
    const giveUp = new AbortController();
    const queue = runs.slice(-MOST_DETAILS).map((run) => run.id);
    const found: Details = new Map();
    found.loading = true;
    setDetails(found);
    const work = async () => {
      for (let id = queue.pop(); id !== undefined && !giveUp.signal.aborted; id = queue.pop()) {
        try {
          const detail = await api.result(id, giveUp.signal);
          found.set(id, detail.measures);
        } catch (problem) {
          if (isAborted(problem)) {
            return;
          }
          // A run that can't be read leaves a gap in the curve.
        }
      }
    };
    Promise.all(Array.from({ length: AT_ONCE }, work)).then(() => {
      if (!giveUp.signal.aborted) {
        setDetails(new Map(found));
      }
    });
    return () => giveUp.abort();
  }, [runs, wanted]);
  return details;
}
