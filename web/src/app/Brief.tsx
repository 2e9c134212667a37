// Before an operation: what to do, at which level, and how it will be scored.

import { useState } from "react";
import { Link, useLocation, useSearch } from "wouter";
import { api } from "../api";
import { Badge, Button, Card, Empty, LinkButton, Skeleton, useToast } from "../ui";
import type { ExerciseInfo, LevelInfo, Profile, ResultRow } from "../wire";
import { costOf } from "./debrief/cost";
import { Loaded, useLoad } from "./load";
import { recall, remember } from "./memory";
import { Page } from "./Page";
import { Picture } from "./Picture";
import { NewProfile, ProfileList } from "./Profiles";
import { RecentResults } from "./RecentResults";
import { useSession } from "./session";
import { nextLevel, standing } from "./standing";
import { count, points, seconds } from "./words";

export function Brief({ id }: { id: string }) {
  const exercises = useLoad((signal) => api.exercises(signal), []);
  const { profile } = useSession();
  const results = useLoad<ResultRow[]>(
    (signal) => (profile ? api.results({ profile: profile.id, exercise: id }, signal) : Promise.resolve([])),
    [profile?.id, id],
  );
  const exercise = exercises.state === "ready" ? exercises.value.find((one) => one.id === id) : undefined;
  if (exercises.state === "ready" && exercise === undefined) {
    return (
      <Page
        title="This exercise is not here"
        lead="It may have been renamed, or the server was started without it."
      >
        <LinkButton href="/" variant="primary" icon="back">
          All exercises
        </LinkButton>
      </Page>
    );
  }
  return (
    <Page
      title={exercise?.title ?? "Exercise"}
      above={<Link href="/">Exercises</Link>}
      lead={exercise?.about}
    >
      <Loaded from={exercises} waiting={<Skeleton height="24rem" />}>
        {() =>
          exercise &&
          (results.state === "loading" ? (
            <Skeleton height="24rem" />
          ) : (
            <Ready
              exercise={exercise}
              rows={results.state === "ready" ? results.value : []}
              profile={profile}
            />
          ))
        }
      </Loaded>
    </Page>
  );
}

/** The level that the address, the memory of this browser, or the results so far suggest. */
export function firstLevel(
  exercise: ExerciseInfo,
  search: string,
  remembered: string | null,
  rows: readonly ResultRow[],
): string {
  const has = (level: string | null) => exercise.levels.some((one) => one.id === level);
  const asked = new URLSearchParams(search).get("level");
  if (asked !== null && has(asked)) {
    return asked;
  }
  if (remembered !== null && has(remembered)) {
    return remembered;
  }
  return nextLevel(rows, exercise.id, exercise.levels);
}

function Ready({
  exercise,
  rows,
  profile,
}: {
  exercise: ExerciseInfo;
  rows: ResultRow[];
  profile: Profile | null;
}) {
  const search = useSearch();
  const [chosen, setChosen] = useState(() =>
    firstLevel(exercise, search, recall(`level.${exercise.id}`), rows),
  );
  const level = exercise.levels.find((one) => one.id === chosen) ?? exercise.levels[0];
  const mine = rows.filter((row) => row.level === level?.id);
  if (level === undefined) {
    return <Empty title="This exercise has no levels">Its file needs at least one.</Empty>;
  }
  const choose = (next: string) => {
    setChosen(next);
    remember(`level.${exercise.id}`, next);
  };
  return (
    <div className="brief">
      <div className="stack wide-gaps">
        <div className="brief-picture">
          <Picture scene={level.scene} />
        </div>
        <section aria-labelledby="todo" className="stack">
          <h2 id="todo">What to do</h2>
          <ol className="steps">
            {exercise.instructions.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ol>
          {exercise.skills.length > 0 && (
            <ul className="chips" aria-label="What is practised">
              {exercise.skills.map((skill) => (
                <li key={skill}>
                  <Badge>{skill}</Badge>
                </li>
              ))}
            </ul>
          )}
        </section>
        <Scoring exercise={exercise} level={level} />
      </div>

      <aside className="stack wide-gaps brief-side" aria-label="Start">
        <Card>
          <fieldset className="level-choice">
            <legend>
              <h2>Level</h2>
            </legend>
            {exercise.levels.map((one) => (
              <LevelOption
                key={one.id}
                level={one}
                checked={one.id === level.id}
                best={standing(rows, exercise.id, one.id).best}
                onChoose={() => choose(one.id)}
              />
            ))}
          </fieldset>
          {profile ? <StartButton exercise={exercise} level={level} profile={profile} /> : <WhoFirst />}
        </Card>
        {profile && (
          <section aria-labelledby="earlier" className="stack">
            <h2 id="earlier">Your runs at “{level.title}”</h2>
            {mine.length === 0 ? (
              <p className="soft">None yet. The first one only shows you the way.</p>
            ) : (
              <>
                <RecentResults rows={mine.slice(0, 4)} passMark={level.pass_mark} brief />
                {mine.length > 4 && (
                  <Link
                    href={`/results?exercise=${encodeURIComponent(exercise.id)}&level=${encodeURIComponent(level.id)}`}
                  >
                    All {mine.length} runs and your learning curve
                  </Link>
                )}
              </>
            )}
          </section>
        )}
      </aside>
    </div>
  );
}

function LevelOption({
  level,
  checked,
  best,
  onChoose,
}: {
  level: LevelInfo;
  checked: boolean;
  best: number | null;
  onChoose(): void;
}) {
  return (
    <label className="level-option">
      <input type="radio" name="level" value={level.id} checked={checked} onChange={onChoose} />
      <span className="level-option-words">
        <span className="level-option-head">
          <strong>{level.title}</strong>
          {best !== null && <span className="small soft">best {points(best)}</span>}
        </span>
        <span className="soft small">{level.about}</span>
        <span className="faint small">
          {[
            `${points(level.pass_mark)} points to pass`,
            level.time_limit === null ? "no time limit" : `at most ${seconds(level.time_limit)}`,
            count(level.goals.length, "goal"),
          ].join(" · ")}
        </span>
      </span>
    </label>
  );
}

export function StartButton({
  exercise,
  level,
  profile,
  label = "Start",
  size = "large",
  variant = "primary",
}: {
  exercise: { id: string };
  level: { id: string };
  profile: { id: number };
  label?: string;
  size?: "medium" | "large";
  variant?: "primary" | "secondary";
}) {
  const [, go] = useLocation();
  const [busy, setBusy] = useState(false);
  const tell = useToast();
  async function start() {
    setBusy(true);
    try {
      const operation = await api.startOperation({
        kind: "exercise",
        exercise: exercise.id,
        level: level.id,
        profile: profile.id,
      });
      go(`/operate/${encodeURIComponent(operation.id)}`);
    } catch (problem) {
      tell.error(problem);
      setBusy(false);
    }
  }
  return (
    <Button
      variant={variant}
      size={size}
      icon={size === "large" ? "play" : "repeat"}
      className={size === "large" ? "start" : ""}
      disabled={busy}
      onClick={start}
    >
      {busy ? "Preparing …" : label}
    </Button>
  );
}

function WhoFirst() {
  const { profiles } = useSession();
  const none = profiles.state === "ready" && profiles.value.length === 0;
  return (
    <div className="stack who-first">
      <h3>{none ? "Before you start: what may Trocar call you?" : "Before you start: who operates?"}</h3>
      {none ? <NewProfile action="Go on" large /> : <ProfileList />}
    </div>
  );
}

function Scoring({ exercise, level }: { exercise: ExerciseInfo; level: LevelInfo }) {
  const gains = exercise.parts.filter((part) => costOf(part) === 0);
  const errors = exercise.parts.filter((part) => costOf(part) > 0);
  const most = gains.reduce((sum, part) => sum + part.most, 0);
  return (
    <section aria-labelledby="scoring" className="stack">
      <h2 id="scoring">How the score is made</h2>
      <p className="soft">
        {points(most)} points in {count(gains.length, "part")}; {points(level.pass_mark)} are needed to pass
        at “{level.title}”. A part gives all of its points at its best value, none at its worst, and in
        between evenly; goals that are not reached lower every part, so doing nothing brings nothing.
        {errors.length > 0 && " An error costs a share of the points got."}
      </p>
      <Card padded={false}>
        <div className="table-scroll">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Part</th>
                <th scope="col" className="numeric">
                  Points
                </th>
                <th scope="col">How it is measured</th>
              </tr>
            </thead>
            <tbody>
              {[...gains, ...errors].map((part) => (
                <tr key={part.title}>
                  <th scope="row">
                    {part.title}
                    {part.unit && <span className="faint"> ({part.unit})</span>}
                  </th>
                  <td className={costOf(part) > 0 ? "numeric costs" : "numeric"}>
                    {costOf(part) > 0 ? `to −${points(costOf(part))} %` : points(part.most)}
                  </td>
                  <td className="formula">{part.formula}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      </Card>
    </section>
  );
}
