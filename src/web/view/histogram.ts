// Counts over time, as bars.

export interface Bar {
  readonly fromMs: number;
  readonly toMs: number;
  readonly low: number;
  readonly medium: number;
  readonly high: number;
}

interface Counted {
  readonly severity: "low" | "medium" | "high";
  readonly atMs: number;
}

/** Bars of equal width over a range; what lies outside is not counted. */
export function bars(counted: readonly Counted[], fromMs: number, toMs: number, count: number): Bar[] {
  const width = (toMs - fromMs) / count;
  const made = Array.from({ length: count }, (_, place) => ({
    fromMs: fromMs + place * width,
    toMs: fromMs + (place + 1) * width,
    low: 0,
    medium: 0,
    high: 0,
  }));
  for (const { severity, atMs } of counted) {
    const bar = made[Math.floor((atMs - fromMs) / width)];
    if (bar !== undefined) bar[severity]++;
  }
  return made;
}

/** All of a bar. */
export function barTotal({ low, medium, high }: Pick<Bar, "low" | "medium" | "high">): number {
  return low + medium + high;
}
