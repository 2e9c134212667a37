// Numbers as people read them.

/** Minutes and seconds, `1:05`; tenths on request, `1:05.3`. */
export function clock(seconds: number, tenths = false): string {
  if (!Number.isFinite(seconds)) {
    return "–";
  }
  const whole = tenths ? Math.floor(Math.max(0, seconds) * 10) / 10 : Math.floor(Math.max(0, seconds));
  const minutes = Math.floor(whole / 60);
  const rest = whole - 60 * minutes;
  return `${minutes}:${tenths ? rest.toFixed(1).padStart(4, "0") : rest.toFixed(0).padStart(2, "0")}`;
}

/** A length of time in words, `2 minutes`, `90 seconds`. */
export function minutes(seconds: number): string {
  const whole = Math.round(seconds);
  if (whole % 60 !== 0) {
    return whole < 120 ? `${whole} seconds` : `${clock(whole)} minutes`;
  }
  return whole === 60 ? "one minute" : `${whole / 60} minutes`;
}

/** Microseconds as µs or ms. */
export function duration(microseconds: number): string {
  if (!Number.isFinite(microseconds)) {
    return "–";
  }
  if (microseconds >= 1000) {
    return `${(microseconds / 1000).toFixed(microseconds >= 10_000 ? 1 : 2)} ms`;
  }
  return `${microseconds.toFixed(microseconds < 10 ? 1 : 0)} µs`;
}

/** Radians as whole degrees. */
export function degrees(radians: number): string {
  const rounded = Math.round((radians * 180) / Math.PI);
  return `${rounded === 0 ? 0 : rounded}°`;
}

/** A share of one as whole per cent. */
export function percent(share: number): string {
  return Number.isFinite(share) ? `${Math.round(100 * share)} %` : "–";
}

/** A number with a few figures that count, without needless zeros. */
export function figure(value: number, figures = 4): string {
  if (!Number.isFinite(value)) {
    return "–";
  }
  const size = Math.abs(value);
  if (size !== 0 && (size >= 1e5 || size < 1e-3)) {
    return value
      .toExponential(2)
      .replace(/\.?0+e/, "e")
      .replace("e+", "e");
  }
  return String(Number(value.toPrecision(figures)));
}
