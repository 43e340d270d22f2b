// What the vectors of a training were like, column by column, for what comes in later to be held against: each column without its hours of the day, since a
// morning is no drift of a day, and how many of its values are worth one that is independent of its neighbours.
import { HOUR_MS } from "../../../core/time/durations.ts";
import { median } from "../robust.ts";
import { HOURS } from "../seasonal/hour-profile.ts";
import type { TimedRows } from "./service-model.ts";

/** Values of an hour of the day from which it has a middle of its own. */
const HOUR_VALUES_MIN = 10;
/** Number of bins, so that each holds about as much. */
const BINS = 10;
const CORRELATION_MAX = 0.98;

/** One column; 3 KB as JSON. */
export interface ColumnReference {
  /** Median of each hour of the day, UTC; null of one that was not seen. */
  readonly hours: readonly (number | null)[];
  /** Inner edges of the bins of what is left. */
  readonly edges: readonly number[];
  /** In each bin, independent values. */
  readonly counts: readonly number[];
}

/** All columns, in the order of the vector. */
export interface VectorReference {
  readonly columns: readonly ColumnReference[];
}

export function referenceOf(rows: TimedRows): VectorReference {
  return { columns: Array.from({ length: rows.width }, (_, column) => columnReference(rows, column)) };
}

/** The counts of a column's values, without those of hours that the reference does not know. */
export function countsAgainst(rows: TimedRows, column: number, { hours, edges }: Pick<ColumnReference, "hours" | "edges">): number[] {
  const rests: number[] = [];
  for (let row = 0; row < rows.times.length; row++) {
    const middle = hours[hourOf(rows.times[row] as number)];
    if (middle != null) rests.push((rows.values[row * rows.width + column] as number) - middle);
  }
  return countsOf(rests, edges, independentShare(rests));
}

function columnReference(rows: TimedRows, column: number): ColumnReference {
  const byHour = Array.from({ length: HOURS }, (): number[] => []);
  const values = Array.from(rows.times, (timeMs, row) => {
    const value = rows.values[row * rows.width + column] as number;
    (byHour[hourOf(timeMs)] as number[]).push(value);
    return value;
  });
  const hours = byHour.map((own) => (own.length < HOUR_VALUES_MIN ? null : median(own)));
  const rests = values.flatMap((value, row) => {
    const middle = hours[hourOf(rows.times[row] as number)];
    return middle == null ? [] : [value - middle];
  });
  const edges = edgesOf(rests);
  return { hours, edges, counts: countsOf(rests, edges, independentShare(rests)) };
}

function hourOf(timeMs: number): number {
  return Math.floor(timeMs / HOUR_MS) % HOURS;
}

function edgesOf(values: readonly number[]): number[] {
  const sorted = Float64Array.from(values).sort();
  const edges = new Set<number>();
  for (let i = 1; i < BINS; i++) {
    const edge = sorted[Math.floor((i * sorted.length) / BINS)];
    if (edge !== undefined && edge > (sorted[0] as number)) edges.add(edge);
  }
  return [...edges];
}

function countsOf(values: readonly number[], edges: readonly number[], share: number): number[] {
  const counts = new Array<number>(edges.length + 1).fill(0);
  for (const value of values) {
    let bin = 0;
    while (bin < edges.length && value >= (edges[bin] as number)) bin++;
    counts[bin] = (counts[bin] as number) + share;
  }
  return counts;
}

/** Share of independent values where each resembles the one before: (1 - r) / (1 + r) of them say something new (Bartlett 1946, first order). */
function independentShare(values: readonly number[]): number {
  const mean = values.reduce((sum, value) => sum + value, 0) / Math.max(1, values.length);
  let [own, with1] = [0, 0];
  for (let i = 0; i < values.length; i++) {
    const here = (values[i] as number) - mean;
    own += here * here;
    if (i > 0) with1 += here * ((values[i - 1] as number) - mean);
  }
  const r = own > 0 ? Math.min(CORRELATION_MAX, Math.max(0, with1 / own)) : 0;
  return (1 - r) / (1 + r);
}
