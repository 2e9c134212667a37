// The parts of a score, and all measures, alone or beside another run.

import { Card } from "../../ui";
import type { Measured, Part, ResultDetail } from "../../wire";
import { difference, number, quantity } from "../words";
import { costOf } from "./cost";

/** Points of a part; never more digits than it takes. */
function points(value: number): string {
  const size = Math.abs(value);
  const digits = Number.isInteger(value) ? String(size) : size.toFixed(1);
  return value < 0 && Number(digits) > 0 ? `−${digits}` : digits;
}

export function Parts({ result, other }: { result: ResultDetail; other: ResultDetail | null }) {
  const line = (part: Part) => (
    <PartLine key={part.id} part={part} other={other?.parts.find((one) => one.id === part.id) ?? null} />
  );
  const errors = result.parts.filter((part) => costOf(part) > 0);
  return (
    <>
      <ul className="parts">{result.parts.filter((part) => costOf(part) === 0).map(line)}</ul>
      {errors.length > 0 && (
        <>
          <h3 className="errors-title">Errors, which cost a share of the points</h3>
          <ul className="parts">{errors.map(line)}</ul>
        </>
      )}
    </>
  );
}

function PartLine({ part, other }: { part: Part; other: Part | null }) {
  const cost = costOf(part);
  const like = Math.max(Math.abs(part.value), Math.abs(part.best), Math.abs(part.worst));
  const gained = other ? part.points - other.points : 0;
  const written = cost > 0 ? lost(part.points) : `${points(part.points)} of ${points(part.most)} points`;
  return (
    <li className="part">
      <div className="part-head">
        <h3>{part.title}</h3>
        <span>
          {other && (
            <span className={gained > 0.05 ? "better" : gained < -0.05 ? "worse" : "faint"}>
              {difference(gained, (value) => value.toFixed(1))}{" "}
            </span>
          )}
          <strong>{points(part.points)}</strong>
          <span className="faint">{cost > 0 ? ` (to −${points(cost)} %)` : ` / ${points(part.most)}`}</span>
        </span>
      </div>
      <div
        className={cost > 0 ? "part-bar cost" : "part-bar"}
        role="img"
        aria-label={`${written}${other ? `; ${points(other.points)} in the compared run` : ""}`}
      >
        <div
          style={{ width: `${100 * shareOf(part)}%` }}
          data-low={(cost === 0 && shareOf(part) < 0.5) || undefined}
        />
        {other && <span style={{ left: `${100 * shareOf(other)}%` }} />}
      </div>
      <p className="small soft">
        <strong>{quantity(part.value, part.unit, like)}</strong>
        {other && <span className="faint"> (compared: {quantity(other.value, other.unit, like)})</span>}
        <span className="faint">
          {cost > 0
            ? ` · costs nothing at ${quantity(part.best, part.unit, like)}, all at ${quantity(part.worst, part.unit, like)}`
            : ` · all points at ${quantity(part.best, part.unit, like)}, none at ${quantity(part.worst, part.unit, like)}`}
        </span>
      </p>
    </li>
  );
}

/** Of the points it can give; or how bad an error was, from its best value to its worst. */
function shareOf(part: Part): number {
  if (costOf(part) > 0) {
    return clamp((part.value - part.best) / (part.worst - part.best || 1));
  }
  return part.most > 0 ? clamp(part.points / part.most) : 0;
}

function lost(value: number): string {
  return value < 0 ? `${points(-value)} points lost` : "no points lost";
}

function clamp(share: number): number {
  return Math.min(1, Math.max(0, share));
}

export function Measures({ result, other }: { result: ResultDetail; other: ResultDetail | null }) {
  return (
    <Card padded={false}>
      <div className="table-scroll">
        <table className="table">
          <thead>
            <tr>
              <th scope="col">Measure</th>
              <th scope="col" className="numeric">
                {other ? "This run" : "Value"}
              </th>
              {other && (
                <>
                  <th scope="col" className="numeric">
                    Compared
                  </th>
                  <th scope="col" className="numeric">
                    Difference
                  </th>
                </>
              )}
              <th scope="col">Formula</th>
            </tr>
          </thead>
          <tbody>
            {result.measures.map((measure) => (
              <MeasureLine
                key={measure.id}
                measure={measure}
                other={other ? (other.measures.find((one) => one.id === measure.id) ?? null) : undefined}
              />
            ))}
          </tbody>
        </table>
      </div>
    </Card>
  );
}

/** `other` is undefined if nothing is compared, null if the other run lacks this measure. */
function MeasureLine({ measure, other }: { measure: Measured; other: Measured | null | undefined }) {
  const like = Math.max(Math.abs(measure.value), Math.abs(other?.value ?? 0));
  const change = other ? measure.value - other.value : 0;
  const better = (measure.better === "less" ? -change : change) > 0;
  const same = number(Math.abs(change)) === number(0);
  return (
    <tr>
      <th scope="row">{measure.title}</th>
      <td className="numeric">{quantity(measure.value, measure.unit, like)}</td>
      {other !== undefined && (
        <>
          <td className="numeric soft">{other ? quantity(other.value, other.unit, like) : "–"}</td>
          <td className={`numeric ${other === null || same ? "faint" : better ? "better" : "worse"}`}>
            {other ? difference(change, (value) => quantity(value, measure.unit, like)) : "–"}
            {other && !same && <span className="quietly">{better ? " (better)" : " (worse)"}</span>}
          </td>
        </>
      )}
      <td className="formula">{measure.formula}</td>
    </tr>
  );
}
