/** Rows that wait until a time, the first due first: all wait equally long, so that they stand in the order in which they came. 100 B a row. */
export class DueRows {
  readonly #waitMs: number;
  readonly #rows = new Map<string, number>();

  /** `waitMs`: how long a row waits at most. */
  constructor(waitMs: number) {
    this.#waitMs = waitMs;
  }

  get size(): number {
    return this.#rows.size;
  }

  /** A row that is here keeps its place. */
  add(key: string, untilMs: number): void {
    if (!this.#rows.has(key)) this.#rows.set(key, untilMs);
  }

  remove(key: string): void {
    this.#rows.delete(key);
  }

  /** Rows whose time is over. One that would wait longer than any does stands behind a clock that was put back: it has waited. */
  due(nowMs: number): string[] {
    const due: string[] = [];
    for (const [key, untilMs] of this.#rows) {
      if (!this.#isOver(untilMs, nowMs)) break;
      due.push(key);
    }
    return due;
  }

  /** When the first is due; undefined where none waits. */
  nextAtMs(nowMs: number): number | undefined {
    for (const untilMs of this.#rows.values()) return this.#isOver(untilMs, nowMs) ? nowMs : untilMs;
    return undefined;
  }

  #isOver(untilMs: number, nowMs: number): boolean {
    return untilMs <= nowMs || untilMs > nowMs + this.#waitMs;
  }
}
