// What a step costs and how well it is solved.

import type { Search, Status } from "../../theatre";
import { Meter } from "../../ui";
import type { StepBound } from "../../wire";
import { useCalm } from "../operate/useCalm";
import { duration, figure, percent } from "../operate/words";

/** Cost of every stage, and of all of them against the length of a step. */
export function StagePanel({ status }: { status: Status }) {
  const costs = useCalm(status.stages.map(({ cost }) => cost));
  const [total, pictures] = useCalm([status.stepCost, status.framesPerSecond]);
  const most = Math.max(...costs, 1e-9);
  const used = total / status.stepBudget;
  return (
    <div className="stages">
      <p className="line">
        <span>One step</span>
        <span className={used > 1 ? "warn" : undefined}>
          {duration(total)} of {duration(status.stepBudget)}
        </span>
      </p>
      <Meter
        label="Share of the step budget that is used"
        value={100 * used}
        most={100}
        tone={used > 1 ? "warn" : "good"}
        words={percent(used)}
      />
      <ol>
        {status.stages.map(({ name }, i) => (
          <li key={name} className={name === status.dearest ? "dearest" : undefined}>
            <span>{name}</span>
            <span className="bar" aria-hidden="true">
              <span style={{ transform: `scaleX(${costs[i] / most})` }} />
            </span>
            <span className="cost">{duration(costs[i])}</span>
          </li>
        ))}
      </ol>
      <Pairs
        rows={[
          ["Rate", `${status.rate.toFixed(2)} × real time`],
          ["Pictures", `${pictures.toFixed(0)} /s`],
          ["Response", Number.isFinite(status.response) ? `${status.response.toFixed(0)} ms` : "–"],
        ]}
      />
      {status.slow && (
        <p className="small warn" role="status">
          This computer can’t keep up. Most of the work is in “{status.dearest}”.
        </p>
      )}
    </div>
  );
}

/** What is left of the constraints when the solver stops. */
export function SolverPanel({ status, bounds }: { status: Status; bounds: readonly StepBound[] }) {
  return (
    <>
      <Pairs
        rows={[
          ["Aim: error left", `${figure(1e6 * status.aimError, 3)} µm`],
          ["Aim: iterations", String(status.aimIterations)],
          ["Correct: error left", `${figure(1000 * status.correctError, 3)} mm/s`],
          ["Contacts", String(status.contacts)],
          ["Substeps", String(status.substeps)],
          // Of fine instruments it is some hundredths.
          ["Force at the tip", `${figure(status.force, 2)} N`],
          ...(status.holds ? [["Jaws", status.holding ? "hold tissue" : "empty"] as [string, string]] : []),
        ]}
      />
      {bounds.map((bound) => (
        <section key={bound.tissues} aria-label={`Stable substeps of ${bound.tissues}`}>
          <p className="small soft">Stable substeps: {bound.tissues}</p>
          <Pairs
            rows={[
              ["In any shape", milliseconds(bound.safe)],
              ["Near rest, exact", milliseconds(bound.exact)],
              ["Kuhn’s estimate", milliseconds(bound.kuhn)],
              ["Time constant ÷ 10", milliseconds(bound.time_constant, 0.1)],
            ]}
          />
        </section>
      ))}
    </>
  );
}

/** A time in s, or a part of it. */
function milliseconds(seconds: number | null, part = 1): string {
  return seconds === null ? "any" : `${figure(1000 * part * seconds, 3)} ms`;
}

/** What the search for contacts did in the last step. */
export function SearchPanel({ search }: { search: Search }) {
  return (
    <Pairs
      rows={[
        ["Hulls that may touch", String(search.probes)],
        ["Boxes over triangles", `${search.boxes}${search.levels > 0 ? ` in ${search.levels} levels` : ""}`],
        ["Hull and triangle", `${search.pairs} pairs`],
        ["Bodies", `${search.bodyPairs} pairs`],
        ["Tissue and tissue", `${search.foldPairs} pairs, ${search.folds} near`],
        ["Intersecting triangles", `${search.crossings} pairs`],
        ["Contacts", `${search.contacts}, ${search.overlaps} overlap`],
        ["Deepest overlap", `${figure(1000 * search.deepest, 3)} mm`],
      ]}
    />
  );
}

function Pairs({ rows }: { rows: [string, string][] }) {
  return (
    <dl className="pairs">
      {rows.map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}
