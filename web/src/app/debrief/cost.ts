/** What a part of a score can cost; 0 for those that give points. */
export function costOf(part: { most: number; cost?: number }): number {
  return part.cost ?? 0;
}
