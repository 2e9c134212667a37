import { useRef } from "react";

/** How much of a new reading is taken at once: less is calmer, more is quicker. */
const FRESH = 0.25;

/** Readings that can be read: they follow the true ones without flickering. */
export function useCalm(values: readonly number[]): number[] {
  const calm = useRef<number[]>([]);
  const before = calm.current;
  calm.current = values.map((value, i) =>
    before.length === values.length && Number.isFinite(before[i])
      ? before[i] + FRESH * (value - before[i])
      : value,
  );
  return calm.current;
}
