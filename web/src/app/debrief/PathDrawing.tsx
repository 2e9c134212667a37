// The way of the tip, from above and from the front, both to the same scale.

import { useMemo } from "react";
import type { Trace } from "../../wire";
import { type Axis, type Box, boxOf, goalColour, type Leg, legs, scaleBar } from "./traces";

const VIEWS: { title: string; right: Axis; up: Axis; downwards: boolean }[] = [
  // z comes towards the one who looks from the front: from above, it points down in the drawing.
  { title: "From above", right: "x", up: "z", downwards: true },
  { title: "From the front", right: "x", up: "y", downwards: false },
];

export function PathDrawing({
  trace,
  other,
  index,
  goals,
}: {
  trace: Trace;
  other: Trace | null;
  /** The sample that the shared cursor stands at. */
  index: number | null;
  goals: readonly string[];
}) {
  const drawings = useMemo(
    () =>
      VIEWS.map((view) => {
        const mine = legs(trace, view.right, view.up, view.downwards);
        const theirs = other ? legs(other, view.right, view.up, view.downwards) : [];
        return { view, mine, theirs, box: boxOf([...mine, ...theirs]) };
      }),
    [trace, other],
  );
  const passed = useMemo(() => [...new Set(trace.goal)].sort((a, b) => a - b), [trace]);
  // One width for both: the same millimetre is equally long in each.
  const width = Math.max(...drawings.map(({ box }) => box.right - box.left));

  return (
    <>
      <div className="path-views">
        {drawings.map(({ view, mine, theirs, box }) => (
          <figure key={view.title}>
            <View
              title={view.title}
              mine={mine}
              theirs={theirs}
              box={widened(box, width)}
              at={
                index === null
                  ? null
                  : [1000 * trace[view.right][index], (view.downwards ? -1000 : 1000) * trace[view.up][index]]
              }
            />
            <figcaption className="faint small">{view.title}</figcaption>
          </figure>
        ))}
      </div>
      <ul className="goal-legend small">
        {passed.map((goal) => (
          <li key={goal}>
            <span className="goal-swatch" style={{ background: goalColour(goal) }} />
            {goals[goal] ?? (goals.length > 0 ? "After the last goal" : `Goal ${goal + 1}`)}
          </li>
        ))}
        {other && (
          <li>
            <span className="goal-swatch other" />
            Compared run
          </li>
        )}
      </ul>
    </>
  );
}

function widened(box: Box, width: number): Box {
  const middle = (box.left + box.right) / 2;
  return { ...box, left: middle - width / 2, right: middle + width / 2 };
}

function View({
  title,
  mine,
  theirs,
  box,
  at,
}: {
  title: string;
  mine: Leg[];
  theirs: Leg[];
  box: Box;
  at: [number, number] | null;
}) {
  const width = box.right - box.left;
  const height = box.top - box.bottom;
  // About one pixel: a view is some 220 pixels wide.
  const thin = width / 200;
  const bar = scaleBar(width);
  const first = mine[0]?.points[0];
  const final = mine[mine.length - 1]?.points.at(-1);
  // y points down in a drawing.
  const path = ({ points }: Leg) =>
    `M${points.map(([x, y]) => `${x.toFixed(2)} ${(-y).toFixed(2)}`).join("L")}`;
  return (
    <svg
      viewBox={`${box.left} ${-box.top} ${width} ${height}`}
      role="img"
      aria-label={`Path of the tip ${title.toLowerCase()}, ${Math.round(width)} by ${Math.round(height)} mm`}
    >
      {theirs.map((leg, i) => (
        <path
          key={i}
          d={path(leg)}
          fill="none"
          stroke="#74858f"
          strokeWidth={thin}
          strokeDasharray={`${3 * thin} ${2 * thin}`}
        />
      ))}
      {mine.map((leg, i) => (
        <path
          key={i}
          d={path(leg)}
          fill="none"
          stroke={goalColour(leg.goal)}
          strokeWidth={1.6 * thin}
          strokeLinejoin="round"
          strokeLinecap="round"
        />
      ))}
      {first && (
        <circle
          cx={first[0]}
          cy={-first[1]}
          r={2.6 * thin}
          fill="var(--panel)"
          stroke="var(--ink)"
          strokeWidth={thin}
        />
      )}
      {final && <circle cx={final[0]} cy={-final[1]} r={2.6 * thin} fill="var(--ink)" />}
      {at && (
        <circle
          cx={at[0]}
          cy={-at[1]}
          r={4 * thin}
          fill="none"
          stroke="var(--ink)"
          strokeWidth={1.6 * thin}
        />
      )}
      <g transform={`translate(${box.left + 0.04 * width} ${-box.bottom - 0.04 * width})`}>
        <path
          d={`M0 ${-3 * thin}V0H${bar}V${-3 * thin}`}
          fill="none"
          stroke="var(--faint)"
          strokeWidth={thin}
        />
        <text x={bar / 2} y={-4 * thin} textAnchor="middle" fontSize={11 * thin} fill="var(--faint)">
          {bar} mm
        </text>
      </g>
    </svg>
  );
}
