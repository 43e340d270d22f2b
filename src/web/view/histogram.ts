// Counts over time, as bars.

/** One bar. */
export interface Bar {
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

/** All of a bar. */
export function barTotal({ low, medium, high }: Bar): number {
  return low + medium + high;
}
