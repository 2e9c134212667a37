/** What an error can cost, % of the points got; 0 for parts that give points. */
export function costOf(part: { most: number; cost?: number }): number {
  return part.cost ?? 0;
}
