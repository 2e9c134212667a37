// The last seconds of some numbers, for a plot that rolls.

/** Columns of numbers over time; what is older than `span` falls out. */
export class History {
  readonly time: number[] = [];
  readonly columns: number[][];
  private readonly span: number;

  /** `span` in the unit of time given to `add`. */
  constructor(columns: number, span: number) {
    this.columns = Array.from({ length: columns }, () => []);
    this.span = span;
  }

  /** One more row. Time that goes back (a restart, a seek) begins anew; time that stands still adds nothing. */
  add(time: number, values: readonly number[]): void {
    const last = this.time.at(-1);
    if (last !== undefined) {
      if (time === last) {
        return;
      }
      if (time < last) {
        this.clear();
      }
    }
    this.time.push(time);
    this.columns.forEach((column, i) => {
      column.push(values[i]);
    });
    let old = 0;
    while (this.time[old] < time - this.span) {
      old += 1;
    }
    if (old > 0) {
      this.time.splice(0, old);
      for (const column of this.columns) {
        column.splice(0, old);
      }
    }
  }

  /** Forgets everything. */
  clear(): void {
    this.time.length = 0;
    for (const column of this.columns) {
      column.length = 0;
    }
  }
}
