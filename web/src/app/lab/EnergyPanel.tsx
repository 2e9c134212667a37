// The last seconds of the scene's energy.

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { Status } from "../../theatre";
import { figure } from "../operate/words";
import { History } from "./history";

/** How much is shown, s of simulated time. */
const SPAN = 20;
const HEIGHT = 150;

const LINES = [
  { name: "Kinetic", colour: "#7db8ff" },
  { name: "Gravity", colour: "#b9a2fb" },
  { name: "Elastic", colour: "#f2b84b" },
  { name: "Sum", colour: "#eef3f5" },
] as const;

/** Kinetic, gravity, elastic and their sum, J. */
export function EnergyPanel({ time, energy }: { time: number; energy: Status["energy"] }) {
  const surface = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const history = useRef(new History(LINES.length, SPAN));
  const values = [
    energy.kinetic,
    energy.gravity,
    energy.elastic,
    energy.kinetic + energy.gravity + energy.elastic,
  ];

  useEffect(() => {
    const host = surface.current;
    if (host === null) {
      return;
    }
    const axis = {
      stroke: "#b4c2ca",
      grid: { stroke: "#243038", width: 1 },
      ticks: { show: false },
      font: "11px system-ui",
    };
    const made = new uPlot(
      {
        width: host.clientWidth,
        height: HEIGHT,
        padding: [8, 4, 0, 0],
        legend: { show: false },
        cursor: { show: false },
        scales: { x: { time: false } },
        axes: [
          { ...axis, size: 24, space: 60, values: (_, splits) => splits.map((at) => `${figure(at)} s`) },
          { ...axis, size: 62, values: (_, splits) => splits.map((at) => `${figure(1000 * at)} mJ`) },
        ],
        series: [
          {},
          ...LINES.map(({ colour }, i) => ({
            stroke: colour,
            width: i === 3 ? 1 : 1.5,
            points: { show: false },
          })),
        ],
      },
      [[], [], [], [], []],
      host,
    );
    plot.current = made;
    const observer = new ResizeObserver(() => {
      if (host.clientWidth > 0) {
        made.setSize({ width: host.clientWidth, height: HEIGHT });
      }
    });
    observer.observe(host);
    return () => {
      observer.disconnect();
      made.destroy();
      plot.current = null;
    };
  }, []);

  useEffect(() => {
    history.current.add(time, values);
    plot.current?.setData([history.current.time, ...history.current.columns]);
  }, [time]);

  return (
    <div className="energy">
      <div ref={surface} aria-hidden="true" />
      <dl className="pairs">
        {LINES.map(({ name, colour }, i) => (
          <div key={name}>
            <dt>
              <span className="swatch" style={{ background: colour }} aria-hidden="true" />
              {name}
            </dt>
            <dd>{figure(1000 * values[i], 3)} mJ</dd>
          </div>
        ))}
      </dl>
    </div>
  );
}
