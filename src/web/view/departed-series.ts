// Which of several series of one metric is shown as evidence: the one that left its usual level farthest at an onset.

interface Values {
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly points: ReadonlyArray<{ readonly timestamp: string; readonly value: number | null }>;
}

/** The series that moved most between before and behind the onset, measured in what it moves by itself; of those of `instance` where one is named. */
export function mostDeparted<T extends Values>(all: readonly T[], onsetMs: number, instance: string | null): T | undefined {
  const own = instance === null ? [] : all.filter(({ attributes }) => Object.values(attributes).includes(instance));
  let [most, found]: [number, T | undefined] = [Number.NEGATIVE_INFINITY, undefined];
  for (const series of own.length > 0 ? own : all) {
    const departure = departureOf(series, onsetMs);
    if (departure > most) [most, found] = [departure, series];
  }
  return found;
}

function departureOf({ points }: Values, onsetMs: number): number {
  const values = points.flatMap(({ timestamp, value }) => (value === null ? [] : [{ atMs: Date.parse(timestamp), value }]));
  const before = values.filter(({ atMs }) => atMs < onsetMs).map(({ value }) => value);
  const behind = values.filter(({ atMs }) => atMs >= onsetMs).map(({ value }) => value);
  if (behind.length === 0) return -1;
  const usual = mean(before);
  const spread = Math.sqrt(mean(before.map((value) => (value - usual) ** 2)));
  const moved = Math.max(...behind.map((value) => Math.abs(value - usual)));
  return moved === 0 ? 0 : moved / Math.max(spread, 0.01 * Math.abs(usual), Number.MIN_VALUE);
}

function mean(values: readonly number[]): number {
  return values.length === 0 ? 0 : values.reduce((sum, value) => sum + value, 0) / values.length;
}
