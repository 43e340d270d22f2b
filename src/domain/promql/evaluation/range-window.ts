// The samples of one series within a range, moved from step to step: functions over ranges read it, and write their result into it.

/** A range of one series' samples; open at its start, closed at its end. */
export class RangeWindow {
  timesMs: Float64Array = new Float64Array(0);
  values: Float64Array = new Float64Array(0);
  /** The samples within are from here up to before `to`; there is at least one. */
  from = 0;
  to = 0;
  startMs = 0;
  endMs = 0;
  /** The step's own moment. */
  evaluationMs = 0;
  readonly rangeSeconds: number;
  /** The function's other argument at this step. */
  parameter = Number.NaN;
  result = Number.NaN;

  constructor(rangeSeconds: number) {
    this.rangeSeconds = rangeSeconds;
  }

  /** How many samples there are. */
  get count(): number {
    return this.to - this.from;
  }
}

/** Computes the result of a window; false where there is none. Runs once a series and step. */
export type WindowFunction = (window: RangeWindow) => boolean;
