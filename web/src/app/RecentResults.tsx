import { Link } from "wouter";
import { Badge, ScoreRing } from "../ui";
import type { ResultRow } from "../wire";
import { ENDINGS, moment, seconds } from "./words";

/** A few results, each leading to its debrief. */
export function RecentResults({
  rows,
  passMark,
  brief = false,
}: {
  rows: readonly ResultRow[];
  passMark?: number;
  /** All of one exercise and level: its name is not said again. */
  brief?: boolean;
}) {
  return (
    <ul className="results-list card">
      {rows.map((row) => (
        <li key={row.id}>
          <Link href={`/result/${row.id}`} className="result-line">
            <ScoreRing score={row.score} passed={row.passed} passMark={passMark} size="2.75rem" thick={7} />
            <span className="result-words">
              {brief ? (
                <span>{moment(row.started)}</span>
              ) : (
                <span>
                  {row.exercise_title} <span className="faint">· {row.level_title}</span>
                </span>
              )}
              <span className="faint small">
                {brief ? "" : `${moment(row.started)} · `}
                {seconds(row.seconds)}
              </span>
            </span>
            <ResultBadge row={row} />
          </Link>
        </li>
      ))}
    </ul>
  );
}

/** How it ended, if that is worth a word. */
export function ResultBadge({ row }: { row: Pick<ResultRow, "ending" | "passed"> }) {
  if (row.ending !== "completed" && row.ending !== "time_up") {
    return (
      <Badge tone={row.ending === "running" ? "plain" : "warn"}>{ENDINGS[row.ending].toLowerCase()}</Badge>
    );
  }
  return row.passed ? (
    <Badge tone="good" icon="check">
      passed
    </Badge>
  ) : (
    <Badge>{row.ending === "time_up" ? "time was up" : "not passed"}</Badge>
  );
}
