// From the place of a slider to the value of a parameter and back.

/** A range that spans this factor is better felt in decades. */
const DECADES = 100;
/** Below this share of its starting value a parameter that may be zero is as good as zero. */
const NEARLY_NOTHING = 1e-3;

/** How a slider of places 0 to 1 covers a range. */
export interface Scale {
  readonly logarithmic: boolean;
  /** The value at a place. */
  value(place: number): number;
  /** The place of a value. */
  place(value: number): number;
}

/**
 * The scale for a range. Logarithmic if it spans decades; a range from zero is so too if it reaches far beyond
 * its starting value: its first hundredth is then zero itself.
 */
export function scaleOf(least: number, greatest: number, start: number): Scale {
  if (least > 0 && greatest / least >= DECADES) {
    return decades(least, least, greatest);
  }
  if (least === 0 && start > 0 && greatest / start >= DECADES) {
    return decades(0, NEARLY_NOTHING * start, greatest);
  }
  const span = greatest - least;
  return {
    logarithmic: false,
    value: (place) => least + clamp(place) * span,
    place: (value) => (span > 0 ? clamp((value - least) / span) : 0),
  };
}

/** Place 0 is `bottom`; from there on `first` to `greatest` in equal ratios. */
function decades(bottom: number, first: number, greatest: number): Scale {
  const ratio = Math.log(greatest / first);
  // A range from zero keeps a little room for zero.
  const room = bottom < first ? 0.01 : 0;
  return {
    logarithmic: true,
    value(place) {
      const along = (clamp(place) - room) / (1 - room);
      if (along < 0 || place <= 0) {
        return bottom;
      }
      return along >= 1 ? greatest : first * Math.exp(along * ratio);
    },
    place(value) {
      if (value < first) {
        return 0;
      }
      return clamp(room + (1 - room) * (Math.log(value / first) / ratio));
    },
  };
}

/** As many figures as a slider can choose: four. */
export function tidy(value: number): number {
  return Number(value.toPrecision(4));
}

function clamp(place: number): number {
  return Math.min(1, Math.max(0, place));
}
