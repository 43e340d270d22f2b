// Moments at which an expression is evaluated.

/** Evenly spaced moments; one alone for an instant query. */
export class Steps {
  readonly startMs: number;
  readonly stepMs: number;
  readonly count: number;

  constructor(startMs: number, endMs: number, stepMs: number) {
    this.startMs = startMs;
    this.stepMs = stepMs;
    this.count = endMs < startMs ? 0 : Math.floor((endMs - startMs) / stepMs) + 1;
  }

  /** The moment of a step. */
  timeMs(step: number): number {
    return this.startMs + step * this.stepMs;
  }

  /** The moment of the last step. */
  get endMs(): number {
    return this.timeMs(this.count - 1);
  }

  /** The first step alone. */
  first(): Steps {
    return new Steps(this.startMs, this.startMs, this.stepMs);
  }
}
