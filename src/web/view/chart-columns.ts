// What a chart is drawn from: columns of numbers, times in seconds.

/** What the chart of a finding shows before it and behind it, as the data of an alert does (modules/alerts/alert-chart.ts). */
export const LEAD_MS = 45 * 60_000;
export const TAIL_MS = 15 * 60_000;

export interface ChartPoint {
  readonly atMs: number;
  /** Null ahead of now. */
  readonly value: number | null;
  readonly expected: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
}

/** Something at a moment: an anomaly at its value, or a change without one. */
export interface ChartMark {
  readonly atMs: number;
  readonly value: number | null;
  readonly kind: "anomaly" | "change";
  /** What a change is, in the legend. */
  readonly text?: string;
}

/** What the legend says of changes, each once. */
export function changeTexts(marks: readonly ChartMark[]): string[] {
  return [...new Set(marks.flatMap(({ kind, text = "change" }) => (kind === "change" ? [text] : [])))];
}

type Column = Array<number | null>;

/** Time, upper and lower bound, expected, value. A gap of more than GAP_FACTOR usual steps between what was observed breaks the line; what is ahead of now has steps of its own. */
export function columnsOf(points: readonly ChartPoint[]): [number[], Column, Column, Column, Column] {
  const times: number[] = [];
  const columns: [Column, Column, Column, Column] = [[], [], [], []];
  const gapMs = GAP_FACTOR * usualStepMs(points.filter(({ value }) => value !== null));
  for (const [index, { atMs, value, expected, lower, upper }] of points.entries()) {
    const before = points[index - 1]?.atMs;
    if (before !== undefined && value !== null && gapMs > 0 && atMs - before > gapMs) {
      times.push((before + 1) / 1000);
      for (const column of columns) column.push(null);
    }
    times.push(atMs / 1000);
    for (const [at, number] of [upper, lower, expected, value].entries()) (columns[at] as Column).push(number);
  }
  return [times, ...columns];
}

/** The time axis: the range that was asked for, whatever part of it has values; that of the data where none was. */
export function timeScale(range: readonly [fromMs: number, toMs: number] | undefined): { x?: { range: [number, number] } } {
  return range === undefined ? {} : { x: { range: [range[0] / 1000, range[1] / 1000] } };
}

const GAP_FACTOR = 6;

/** The median step, 0 for less than three points. */
export function usualStepMs(points: ReadonlyArray<Pick<ChartPoint, "atMs">>): number {
  if (points.length < 3) return 0;
  const steps = points.slice(1).map(({ atMs }, index) => atMs - (points[index] as ChartPoint).atMs);
  return steps.sort((a, b) => a - b)[Math.floor(steps.length / 2)] as number;
}

interface AnsweredPoint {
  readonly timestamp: string;
  readonly value: number;
  readonly expected: number | null;
  readonly lower: number | null;
  readonly upper: number | null;
}

/** Points of the API, for a chart. */
export function chartPoints(points: readonly AnsweredPoint[]): ChartPoint[] {
  return points.map(({ timestamp, value, expected, lower, upper }) => ({ atMs: Date.parse(timestamp), value, expected, lower, upper }));
}

interface AnsweredForecast {
  readonly timestamp: string;
  readonly predicted_value: number;
  readonly lower_bound: number;
  readonly upper_bound: number;
}

/** Forecast ahead of now, with its band. */
export function forecastPoints(forecast: readonly AnsweredForecast[]): ChartPoint[] {
  return forecast.map(({ timestamp, predicted_value: expected, lower_bound: lower, upper_bound: upper }) => {
    return { atMs: Date.parse(timestamp), value: null, expected, lower, upper };
  });
}

interface JudgedEpisode {
  readonly startMs: number;
  /** Infinite while it lasts. */
  readonly endMs: number;
  readonly expected: number;
  readonly lower: number;
  readonly upper: number;
}

/** The band as it was judged by: while an anomaly lasts its own bounds hold, since what is out of the ordinary does not become the ordinary. */
export function withJudgedBounds(points: readonly ChartPoint[], episodes: readonly JudgedEpisode[]): ChartPoint[] {
  if (episodes.length === 0) return [...points];
  return points.map((point) => {
    const judged = episodes.find(({ startMs, endMs }) => point.atMs >= startMs && point.atMs <= endMs);
    return judged === undefined ? point : { ...point, expected: judged.expected, lower: judged.lower, upper: judged.upper };
  });
}
