// What only shows something: cards, badges, bars, rings, waiting and emptiness.

import type { CSSProperties, HTMLAttributes, ReactNode } from "react";
import { Icon, type IconName } from "./Icon";

export function Card({
  padded = true,
  className = "",
  ...rest
}: { padded?: boolean } & HTMLAttributes<HTMLElement>) {
  return <section {...rest} className={`card ${padded ? "padded" : ""} ${className}`.trim()} />;
}

export type Tone = "plain" | "good" | "warn" | "bad";

export function Badge({
  tone = "plain",
  icon,
  children,
}: {
  tone?: Tone;
  icon?: IconName;
  children: ReactNode;
}) {
  return (
    <span className={`badge ${tone}`}>
      {icon && <Icon name={icon} />}
      {children}
    </span>
  );
}

const NOTICE_ICONS: Record<Tone, IconName> = {
  plain: "info",
  good: "check",
  warn: "warning",
  bad: "warning",
};

/** Something the reader should know. */
export function Notice({ tone = "plain", children }: { tone?: Tone; children: ReactNode }) {
  return (
    <div className={`notice ${tone}`} role={tone === "bad" ? "alert" : undefined}>
      <Icon name={NOTICE_ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}

/** A bar from nothing to the most. */
export function Meter({
  label,
  value,
  most,
  tone = "good",
  words,
}: {
  label: string;
  value: number;
  most: number;
  tone?: "good" | "warn" | "bad" | "soft";
  words?: string;
}) {
  const share = most > 0 ? Math.min(1, Math.max(0, value / most)) : 0;
  return (
    // biome-ignore lint/a11y/useSemanticElements: browsers draw their own <meter> in ways that can't be styled alike
    <div
      className={`meter ${tone}`}
      role="meter"
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={most}
      aria-valuenow={Math.min(most, Math.max(0, value))}
      aria-valuetext={words}
    >
      <div style={{ transform: `scaleX(${share})` }} />
    </div>
  );
}

const RADIUS = 44;
const ROUND = 2 * Math.PI * RADIUS;

/** A score of 100 as a ring, with the mark that is needed to pass. */
export function ScoreRing({
  score,
  passed,
  passMark,
  size = "8rem",
  thick = 8,
}: {
  score: number | null;
  passed: boolean;
  passMark?: number | null;
  /** Any CSS length. */
  size?: string;
  thick?: number;
}) {
  const share = Math.min(1, Math.max(0, (score ?? 0) / 100));
  const angle = ((passMark ?? 0) / 100) * 2 * Math.PI;
  const at = (radius: number) => [50 + radius * Math.sin(angle), 50 - radius * Math.cos(angle)];
  const [x1, y1] = at(RADIUS - thick / 2 - 1);
  const [x2, y2] = at(RADIUS + thick / 2 + 1);
  const label =
    score === null
      ? "Not scored"
      : `${Math.round(score)} of 100 points${passMark == null ? "" : `, ${Math.round(passMark)} needed to pass`}`;
  return (
    <div
      className={passed ? "ring" : "ring short"}
      style={{ "--ring": size } as CSSProperties}
      role="img"
      aria-label={label}
    >
      <svg viewBox="0 0 100 100" aria-hidden="true">
        <circle className="track" cx="50" cy="50" r={RADIUS} strokeWidth={thick} />
        {share > 0 && (
          <circle
            className="arc"
            cx="50"
            cy="50"
            r={RADIUS}
            strokeWidth={thick}
            strokeDasharray={`${share * ROUND} ${ROUND}`}
            transform="rotate(-90 50 50)"
          />
        )}
        {passMark != null && <line className="mark" x1={x1} y1={y1} x2={x2} y2={y2} strokeWidth="1.5" />}
      </svg>
      <span className="number" aria-hidden="true">
        {score === null ? "–" : Math.round(score)}
      </span>
    </div>
  );
}

/** The shape of something that is on its way. */
export function Skeleton({ width = "100%", height = "1rem" }: { width?: string; height?: string }) {
  return <span className="skeleton" style={{ width, height }} aria-hidden="true" />;
}

/** Nothing here yet, and how to change that. */
export function Empty({
  icon = "empty",
  title,
  children,
}: {
  icon?: IconName;
  title: string;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <Icon name={icon} />
      <h3>{title}</h3>
      {children}
    </div>
  );
}
