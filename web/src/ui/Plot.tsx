// Curves over time, or anything else that grows to the right. Drawn by uPlot; the cursor is shared by whoever asks.

import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

/** One curve. */
export interface Line {
  label: string;
  /** As long as the abscissae; null where there is nothing. */
  values: (number | null)[];
  colour: string;
  dashed?: boolean;
  /** Dots and no line. */
  dots?: boolean;
  width?: number;
  /** The ground below the line gets a little of its colour. */
  filled?: boolean;
}

/** Something at one place of the abscissa. */
export interface Upright {
  at: number;
  colour: string;
  /** One or two characters. */
  label: string;
}

/** From here to there. */
export interface Band {
  from: number;
  to: number;
  colour: string;
}

/** A height worth knowing. */
export interface Level {
  value: number;
  colour: string;
  label: string;
}

export interface PlotProps {
  title: string;
  /** Read to those who can't see it. */
  summary: string;
  /** Rising. */
  along: number[];
  lines: Line[];
  uprights?: Upright[];
  /** Thin stripe at the top. */
  ribbon?: Band[];
  /** Washes over the whole height. */
  bands?: Band[];
  levels?: Level[];
  /** Where the shared cursor stands. */
  at?: number | null;
  onAt?(at: number): void;
  onChoose?(index: number): void;
  alongWords(value: number): string;
  /** Along the axis; `alongWords` if it is not given. */
  tickWords?(value: number): string;
  words(value: number): string;
  /** Least and greatest of the ordinate; grows if the values go beyond. */
  range?: [number, number];
  /** In rem. */
  height?: number;
  /** Only whole steps along the abscissa. */
  whole?: boolean;
}

export function Plot(props: PlotProps) {
  const { title, summary, along, lines, at = null, height = 9, words, alongWords } = props;
  const surface = useRef<HTMLDivElement>(null);
  const chart = useRef<uPlot | null>(null);
  const cursor = useRef<HTMLDivElement | null>(null);
  const latest = useRef(props);
  latest.current = props;

  // Drawn anew when the curves are others (whoever gives them keeps them between drawings); what is called back
  // is looked up when it is needed.
  const range = props.range?.join();
  useEffect(() => {
    const element = surface.current;
    if (element === null) {
      return;
    }
    const rem = Number.parseFloat(getComputedStyle(document.documentElement).fontSize) || 16;
    const size = () => ({ width: Math.max(160, element.clientWidth), height: Math.round(height * rem) });
    const plot = new uPlot(
      options(latest, rem, size()),
      [along, ...lines.map((line) => line.values)],
      element,
    );
    const upright = document.createElement("div");
    upright.className = "plot-cursor";
    plot.over.append(upright);
    chart.current = plot;
    cursor.current = upright;
    place(plot, upright, latest.current.at ?? null);
    const watch = new ResizeObserver(() => {
      plot.setSize(size());
      place(plot, upright, latest.current.at ?? null);
    });
    watch.observe(element);
    return () => {
      watch.disconnect();
      plot.destroy();
      chart.current = null;
    };
  }, [along, lines, height, range, props.whole]);

  useEffect(() => {
    if (chart.current && cursor.current) {
      place(chart.current, cursor.current, at);
    }
  }, [at]);

  // Marks and washes change without new curves.
  useEffect(() => {
    chart.current?.redraw(false);
  }, [props.uprights, props.ribbon, props.bands, props.levels]);

  const index = at === null ? -1 : nearest(along, at);
  return (
    <figure className="plot" aria-label={title}>
      <figcaption className="plot-head">
        <h3>{title}</h3>
        <span className="readings">
          {lines.map((line) => {
            const value = line.values[index];
            if (value == null && line.label === "") {
              return null;
            }
            return (
              <span key={line.label} className="reading">
                <span
                  className={line.dashed ? "swatch dashed" : line.dots ? "swatch dot" : "swatch"}
                  style={{ color: line.colour }}
                />
                {line.label}
                {value != null && <strong>{words(value)}</strong>}
              </span>
            );
          })}
          {index >= 0 && <span className="reading faint">{alongWords(along[index])}</span>}
        </span>
      </figcaption>
      <div
        ref={surface}
        className={props.onChoose ? "surface choosable" : "surface"}
        role="img"
        aria-label={summary}
        style={{ minHeight: `${height}rem` }}
      />
    </figure>
  );
}

/** The index of the value nearest to `at` in a rising list; −1 if it is empty. */
export function nearest(along: readonly number[], at: number): number {
  let low = 0;
  let high = along.length - 1;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (along[middle] <= at) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return high >= 0 && Math.abs(along[high] - at) < Math.abs(along[low] - at)
    ? high
    : low < along.length
      ? low
      : -1;
}

function place(plot: uPlot, upright: HTMLElement, at: number | null): void {
  const left = at === null ? -1 : plot.valToPos(at, "x");
  upright.hidden = at === null || left < 0 || left > plot.over.clientWidth;
  upright.style.transform = `translateX(${left}px)`;
}

const INK = "#8b9ea9";
const GRID = "#1d272e";

function options(
  latest: { current: PlotProps },
  rem: number,
  size: { width: number; height: number },
): uPlot.Options {
  const { lines, range, whole } = latest.current;
  const font = `${0.75 * rem}px system-ui, "Segoe UI", Roboto, "Noto Sans", sans-serif`;
  return {
    ...size,
    legend: { show: false },
    padding: [0.9 * rem, 0.5 * rem, 0, 0],
    cursor: {
      x: false,
      y: false,
      drag: { x: false, y: false },
      points: { show: false },
    },
    scales: {
      x: { time: false, range: whole ? (_, least, most) => [least - 0.5, most + 0.5] : undefined },
      y: {
        range: (_, least, most) => {
          const [low, high] = [
            Math.min(range?.[0] ?? least ?? 0, least ?? 0),
            Math.max(range?.[1] ?? most ?? 1, most ?? 1),
          ];
          // A margin above, so that the highest point is not cut.
          return [low, high === low ? low + 1 : high + 0.06 * (high - low)];
        },
      },
    },
    axes: [
      {
        stroke: INK,
        font,
        size: 1.6 * rem,
        gap: 0.3 * rem,
        space: 4 * rem,
        grid: { stroke: GRID, width: 1 },
        ticks: { show: false },
        incrs: whole ? [1, 2, 5, 10, 20, 50, 100, 200, 500] : undefined,
        values: (_, values) =>
          values.map((value) => (latest.current.tickWords ?? latest.current.alongWords)(value)),
      },
      {
        stroke: INK,
        font,
        size: 4.6 * rem,
        gap: 0.4 * rem,
        space: 2.2 * rem,
        grid: { stroke: GRID, width: 1 },
        ticks: { show: false },
        values: (_, values) => values.map((value) => latest.current.words(value)),
      },
    ],
    series: [
      {},
      ...lines.map(
        (line): uPlot.Series => ({
          label: line.label,
          stroke: line.dots ? undefined : line.colour,
          width: line.dots ? 0 : (line.width ?? 1.5),
          dash: line.dashed ? [5, 4] : undefined,
          fill: line.filled ? `${line.colour}1f` : undefined,
          points: line.dots
            ? { show: true, size: 0.55 * rem, fill: line.colour, stroke: line.colour, width: 0 }
            : { show: false },
          paths: line.dots ? () => null : undefined,
          spanGaps: false,
        }),
      ),
    ],
    hooks: {
      drawClear: [(plot) => washes(plot, latest.current)],
      draw: [(plot) => marks(plot, latest.current, font)],
      setCursor: [
        (plot) => {
          const { idx, left } = plot.cursor;
          if (idx != null && left != null && left >= 0) {
            latest.current.onAt?.(plot.data[0][idx]);
          }
        },
      ],
      ready: [
        (plot) => {
          plot.over.addEventListener("click", () => {
            if (plot.cursor.idx != null) {
              latest.current.onChoose?.(plot.cursor.idx);
            }
          });
        },
      ],
    },
  };
}

function washes(plot: uPlot, { bands = [], ribbon = [] }: PlotProps): void {
  const { ctx, bbox } = plot;
  const stripe = Math.max(2, 3 * devicePixelRatio);
  const fill = (band: Band, top: number, height: number) => {
    const from = Math.max(bbox.left, plot.valToPos(band.from, "x", true));
    const to = Math.min(bbox.left + bbox.width, plot.valToPos(band.to, "x", true));
    if (to > from) {
      ctx.fillStyle = band.colour;
      ctx.fillRect(from, top, to - from, height);
    }
  };
  ctx.save();
  for (const band of bands) {
    fill(band, bbox.top, bbox.height);
  }
  for (const band of ribbon) {
    fill(band, bbox.top + bbox.height - stripe, stripe);
  }
  ctx.restore();
}

function marks(plot: uPlot, { uprights = [], levels = [] }: PlotProps, font: string): void {
  const { ctx, bbox } = plot;
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.font = font.replace(/^[\d.]+/, (size) => String(Number(size) * ratio));
  ctx.textBaseline = "bottom";
  ctx.lineWidth = ratio;
  for (const { value, colour, label } of levels) {
    const y = plot.valToPos(value, "y", true);
    if (y < bbox.top || y > bbox.top + bbox.height) {
      continue;
    }
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    ctx.setLineDash([6 * ratio, 4 * ratio]);
    stroke(ctx, bbox.left, y, bbox.left + bbox.width, y);
    ctx.textAlign = "right";
    ctx.fillText(label, bbox.left + bbox.width - 4 * ratio, y - 2 * ratio);
  }
  ctx.setLineDash([2 * ratio, 3 * ratio]);
  ctx.textAlign = "center";
  // Labels that would cover each other give way to the first.
  let free = Number.NEGATIVE_INFINITY;
  for (const { at, colour, label } of uprights) {
    const x = plot.valToPos(at, "x", true);
    if (x < bbox.left - 1 || x > bbox.left + bbox.width + 1) {
      continue;
    }
    ctx.strokeStyle = colour;
    ctx.fillStyle = colour;
    stroke(ctx, x, bbox.top, x, bbox.top + bbox.height);
    const half = ctx.measureText(label).width / 2 + 2 * ratio;
    if (x - half >= free) {
      ctx.fillText(label, x, bbox.top - 2 * ratio);
      free = x + half;
    }
  }
  ctx.restore();
}

function stroke(ctx: CanvasRenderingContext2D, x1: number, y1: number, x2: number, y2: number): void {
  ctx.beginPath();
  ctx.moveTo(x1, y1);
  ctx.lineTo(x2, y2);
  ctx.stroke();
}
