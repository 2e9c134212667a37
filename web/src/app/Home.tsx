// The first page: who operates, what to practise, what is going on.

import { useLocation } from "wouter";
import { api } from "../api";
import { Badge, Card, Empty, Icon, LinkButton, Notice, ScoreRing, Skeleton } from "../ui";
import type { ExerciseInfo, ResultRow } from "../wire";
import { Loaded, useLoad } from "./load";
import { DISCLAIMER, More, Page } from "./Page";
import { Picture } from "./Picture";
import { NewProfile, ProfileList } from "./Profiles";
import { RecentResults } from "./RecentResults";
import { useSession } from "./session";
import { nextLevel, standing } from "./standing";
import { OperationList } from "./Watch";
import { count, points } from "./words";

export function Home() {
  const { profiles, profile } = useSession();
  const exercises = useLoad((signal) => api.exercises(signal), []);
  const results = useLoad<ResultRow[]>(
    (signal) => (profile ? api.results({ profile: profile.id }, signal) : Promise.resolve([])),
    [profile?.id],
  );
  const rows = results.state === "ready" ? results.value : [];
  const known = profiles.state === "ready" ? profiles.value.length : null;
  const first = exercises.state === "ready" ? exercises.value[0] : undefined;

  return (
    <Page
      title={profile ? `What would you like to practise, ${profile.name}?` : "Practise keyhole surgery"}
      tab="Trocar"
      lead={
        profile
          ? DISCLAIMER
          : "Trocar simulates soft organs and the instruments that touch them. Practise here, see honestly how it went, and try again."
      }
    >
      <div className="stack wide-gaps">
        <Kept />
        {profiles.state === "failed" && <Loaded from={profiles}>{() => null}</Loaded>}
        {known === 0 && <Welcome first={first} />}
        {known !== null && known > 0 && !profile && (
          <Card className="choose" aria-labelledby="who">
            <h2 id="who">Who operates?</h2>
            <p className="soft">
              Results are kept under a name, so that you can see yourself getting better.
            </p>
            <ProfileList />
          </Card>
        )}

        <section aria-labelledby="exercises" className="stack">
          <h2 id="exercises" className={profile ? "quietly" : undefined}>
            Exercises
          </h2>
          <Loaded from={exercises} waiting={<CardsWaiting />}>
            {(all) => (
              <div className="cards" data-few={all.length === 1 || undefined}>
                {all.map((exercise, i) => (
                  <ExerciseCard
                    key={exercise.id}
                    exercise={exercise}
                    rows={rows}
                    mine={profile !== null}
                    first={i === 0}
                  />
                ))}
                <LabCard />
              </div>
            )}
          </Loaded>
        </section>

        <div className="columns">
          {profile && (
            <section aria-labelledby="recent" className="stack">
              <div className="section-head">
                <h2 id="recent">Your latest results</h2>
                {rows.length > 0 && (
                  <LinkButton href="/results" variant="quiet" size="small" icon="chart">
                    All results and your progress
                  </LinkButton>
                )}
              </div>
              <Loaded from={results} waiting={<Skeleton height="8rem" />}>
                {(all) =>
                  all.length === 0 ? (
                    <Card>
                      <Empty icon="flag" title="No results yet">
                        <p>Your first operation will appear here, with its score and its replay.</p>
                      </Empty>
                    </Card>
                  ) : (
                    <RecentResults rows={all.slice(0, 5)} />
                  )
                }
              </Loaded>
            </section>
          )}
          <OperationList quietIfNone />
        </div>
      </div>
    </Page>
  );
}

/** Says so if the server keeps nothing. */
function Kept() {
  const health = useLoad((signal) => api.health(signal), []);
  if (health.state !== "ready" || health.value.keeps) {
    return null;
  }
  return (
    <Notice tone="warn">
      <p>
        This server was started without a place to keep results: you can practise, but scores and recordings
        are lost when it stops.
      </p>
    </Notice>
  );
}

function Welcome({ first }: { first: ExerciseInfo | undefined }) {
  const [, go] = useLocation();
  return (
    <Card className="welcome" aria-labelledby="welcome">
      <div className="stack">
        <h2 id="welcome">Welcome. Two minutes to your first operation:</h2>
        <ol className="steps">
          <li>Tell Trocar what to call you.</li>
          <li>Read what to do{first ? ` in “${first.title}”` : ""}.</li>
          <li>Operate with mouse, keyboard or gamepad. Nobody can get hurt.</li>
        </ol>
        <p className="faint small">{DISCLAIMER}</p>
      </div>
      <NewProfile
        action="Begin"
        large
        onMade={() => first && go(`/exercise/${encodeURIComponent(first.id)}`)}
      />
    </Card>
  );
}

function ExerciseCard({
  exercise,
  rows,
  mine,
  first,
}: {
  exercise: ExerciseInfo;
  rows: readonly ResultRow[];
  mine: boolean;
  /** The one to begin with. */
  first: boolean;
}) {
  const suggested = nextLevel(rows, exercise.id, exercise.levels);
  const address = `/exercise/${encodeURIComponent(exercise.id)}`;
  const begun = rows.some((row) => row.exercise === exercise.id);
  return (
    <article className="card exercise-card">
      <Picture scene={exercise.levels[0]?.scene ?? ""} />
      <div className="card-body">
        <div className="stack tight">
          <h3 className="card-title">{exercise.title}</h3>
          <p className="soft">{exercise.about}</p>
        </div>
        <ul className="levels" aria-label="Levels">
          {exercise.levels.map((level) => {
            const { best, passed, attempts, last } = standing(rows, exercise.id, level.id);
            return (
              <li key={level.id}>
                <LinkButton
                  href={`${address}?level=${encodeURIComponent(level.id)}`}
                  variant="quiet"
                  className="level"
                >
                  <ScoreRing
                    score={best}
                    passed={passed}
                    passMark={level.pass_mark}
                    size="2.75rem"
                    thick={7}
                  />
                  <span className="level-words">
                    <span>{level.title}</span>
                    <span className="faint small">
                      {attempts === 0
                        ? mine
                          ? "not tried yet"
                          : `pass: ${points(level.pass_mark)}`
                        : best === null
                          ? count(attempts, "try", "tries")
                          : `best ${points(best)}, last ${points(last?.score ?? null)}`}
                    </span>
                  </span>
                  {passed && (
                    <Badge tone="good" icon="check">
                      passed
                    </Badge>
                  )}
                </LinkButton>
              </li>
            );
          })}
        </ul>
        <LinkButton
          href={`${address}?level=${encodeURIComponent(suggested)}`}
          variant={first ? "primary" : "secondary"}
          icon="arrow"
          className="card-go"
        >
          {begun ? "Practise" : first ? "Start here" : "Have a look"}
          <span className="quietly">: {exercise.title}</span>
        </LinkButton>
      </div>
    </article>
  );
}

function LabCard() {
  return (
    <article className="card lab-card">
      <div className="card-body">
        <div className="lab-drawing" aria-hidden="true">
          <Net />
        </div>
        <div className="stack tight">
          <h3 className="card-title">
            <Icon name="flask" /> The Lab
          </h3>
          <p className="soft">
            No task, no score: run any scene, pull on things with the mouse, change gravity and stiffness
            while it runs, and look inside the tissue.
          </p>
        </div>
        <LinkButton href="/lab" variant="secondary" className="card-go">
          <More>Go to the Lab</More>
        </LinkButton>
      </div>
    </article>
  );
}

/** A net of springs, pulled at one node. */
function Net() {
  const columns = 9;
  const rows = 5;
  const at = (i: number, j: number): [number, number] => {
    const [x, y] = [20 + i * 35, 26 + j * 27];
    const near = Math.exp(-(((x - 195) / 70) ** 2) - ((y - 80) / 50) ** 2);
    return [x + 16 * near, y - 30 * near];
  };
  const lines: string[] = [];
  for (let i = 0; i < columns; i += 1) {
    for (let j = 0; j < rows; j += 1) {
      const [x, y] = at(i, j);
      if (i + 1 < columns) {
        lines.push(`M${x} ${y}L${at(i + 1, j).join(" ")}`);
      }
      if (j + 1 < rows) {
        lines.push(`M${x} ${y}L${at(i, j + 1).join(" ")}`);
        const k = (i + j) % 2 === 0 ? 1 : -1;
        if (i + k >= 0 && i + k < columns) {
          lines.push(`M${x} ${y}L${at(i + k, j + 1).join(" ")}`);
        }
      }
    }
  }
  const [px, py] = at(5, 2);
  return (
    <svg viewBox="0 0 320 160" preserveAspectRatio="xMidYMid slice" aria-hidden="true">
      <path d={lines.join("")} fill="none" stroke="currentColor" strokeWidth="1.2" opacity="0.5" />
      <path
        d={`M${px} ${py}L${px + 26} ${py - 34}`}
        stroke="var(--amber)"
        strokeWidth="2.2"
        strokeLinecap="round"
      />
      <circle cx={px} cy={py} r="4.5" fill="var(--amber)" />
    </svg>
  );
}

function CardsWaiting() {
  return (
    <div className="cards" data-few="true">
      <Skeleton height="22rem" />
      <Skeleton height="22rem" />
    </div>
  );
}
