// An hour of a real Prometheus 2.42 and node_exporter, scraped each 15 s on a two-core machine on which builds and servers came and went, and nothing happened that
// anybody should be woken for. Line 1 of the file has the types of its metrics as remote-write numbers them, and the times of its scrapes as steps; each line behind it a
// series: labels, which scrapes it is of, and values, as one where it stays, as steps where all are numbers, or as they are.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

/** Digits to which sums of steps are what was recorded. */
const DIGITS = 15;

export interface RecordedSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly times: readonly number[];
  readonly values: readonly number[];
}

export interface RecordedHour {
  readonly types: Readonly<Record<string, number>>;
  readonly series: readonly RecordedSeries[];
}

export function prometheusHour(): RecordedHour {
  const path = new URL("prometheus-hour.jsonl.gz", import.meta.url);
  const [head, ...lines] = gunzipSync(readFileSync(path)).toString().trim().split("\n") as [string, ...string[]];
  const { types, times: steps } = JSON.parse(head) as { types: Record<string, number>; times: number[][] };
  const times = steps.map(summed);
  const series = lines.map((line) => {
    const { labels, times: at, values } = JSON.parse(line) as { labels: Record<string, string>; times: number; values: unknown[] };
    return { labels, times: times[at] as number[], values: valuesOf(values, (times[at] as number[]).length) };
  });
  return { types, series };
}

function valuesOf(values: readonly unknown[], count: number): number[] {
  if (values.length === 1) return Array.from({ length: count }, () => Number(values[0]));
  return values.some((value) => typeof value === "string") ? values.map(Number) : summed(values as number[]);
}

function summed(steps: readonly number[]): number[] {
  let sum = 0;
  return steps.map((step) => {
    sum = Number((sum + step).toPrecision(DIGITS));
    return sum;
  });
}
