// Attribute bits as people write them.

/** As the source writes them. */
export function asHex(word: number): string {
  return `0x${word.toString(16)}`;
}

/** What was typed, in hexadecimal (0x2050) or decimal; null if it is no word of 32 bits. */
export function readWord(typed: string): number | null {
  const text = typed.trim().toLowerCase();
  if (!/^(0x[0-9a-f]+|[0-9]+)$/.test(text)) {
    return null;
  }
  const word = Number(text);
  return word <= 0xffffffff ? word : null;
}

/** The bits that the engine knows, by the names of the source. */
const TOKENS: readonly [number, string][] = [
  [0x10, "MOVE"],
  [0x40, "GRAV"],
  [0x80, "GROUND"],
  [0x100, "QDYN"],
  [0x200, "CALC_TIME"],
  [0x400, "INTER"],
  [0x1000, "SLOWMOT"],
  [0x2000, "CALC_NORM"],
  [0x4000, "CALC_KUHN"],
  [0x10000, "NOBEND"],
  [0x100000, "CALC_I"],
  [0x200000, "CALC_II"],
  [0x400000, "CALC_III"],
];

/** Which of them are set. */
export function tokensOf(word: number): string {
  const set = TOKENS.filter(([bit]) => (word & bit) !== 0).map(([, token]) => token);
  return set.length > 0 ? set.join(", ") : "none";
}
