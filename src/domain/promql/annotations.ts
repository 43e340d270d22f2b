// Warnings and infos beside a query's result, each told once, in Prometheus' words and with its place in the query (util/annotations/annotations.go).
import { formatShortest } from "./parser/number-text.ts";
import { positionText } from "./parser/position.ts";
import { quote } from "./parser/quoted-text.ts";

const MONOTONICITY =
  "input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile)";

/** How far buckets had to be raised; `count` steps from `fromMs` to `toMs`. */
export interface RaisedBuckets {
  leastBound: number;
  greatestBound: number;
  differenceMax: number;
  count: number;
  fromMs: number;
  toMs: number;
}

/** What is to be told about one query. */
export class Annotations {
  /** Offsets in the query by text. */
  readonly #warnings = new Map<string, number>();
  readonly #infos = new Map<string, number>();
  readonly #raised = new Map<number, RaisedBuckets>();

  /** A quantile outside 0 to 1. */
  invalidQuantile(quantile: number, start: number): void {
    this.#warnings.set(`quantile value should be between 0 and 1, got ${formatShortest(quantile)}`, start);
  }

  /** A series of a classic histogram whose `le` is no number. */
  badBucketLabel(metricName: string, label: string, start: number): void {
    const ofMetric = metricName === "" ? "" : ` for metric name ${quote(metricName)}`;
    this.#warnings.set(`bucket label "le" is missing or has a malformed value of ${quote(label)}${ofMetric}`, start);
  }

  /** An order that nobody will see. */
  ineffectiveSort(start: number): void {
    this.#warnings.set("sort is ineffective for range queries since results are always ordered by labels", start);
  }

  /** A rate of what is no counter, by its name. */
  possibleNonCounter(metricName: string, start: number): void {
    this.#infos.set(`metric might not be a counter, name does not end in _total/_sum/_count/_bucket: ${quote(metricName)}`, start);
  }

  /** Buckets that decreased and were raised, at one step. */
  raisedBuckets(raised: Omit<RaisedBuckets, "count" | "fromMs" | "toMs">, timeMs: number, start: number): void {
    const known = this.#raised.get(start);
    if (known === undefined) {
      this.#raised.set(start, { ...raised, count: 1, fromMs: timeMs, toMs: timeMs });
      return;
    }
    known.leastBound = Math.min(known.leastBound, raised.leastBound);
    known.greatestBound = Math.max(known.greatestBound, raised.greatestBound);
    known.differenceMax = Math.max(known.differenceMax, raised.differenceMax);
    known.count++;
    known.fromMs = Math.min(known.fromMs, timeMs);
    known.toMs = Math.max(known.toMs, timeMs);
  }

  /** Warnings with line and column. */
  warnings(query: string): string[] {
    return [...this.#warnings].map(([text, start]) => `PromQL warning: ${text} (${positionText(query, start)})`);
  }

  /** Infos with line and column. */
  infos(query: string): string[] {
    const infos = [...this.#infos].map(([text, start]) => `PromQL info: ${text} (${positionText(query, start)})`);
    const raised = [...this.#raised].map(([start, buckets]) => `PromQL info: ${raisedText(buckets)} (${positionText(query, start)})`);
    return [...infos, ...raised];
  }
}

function raisedText({ leastBound, greatestBound, differenceMax, count, fromMs, toMs }: RaisedBuckets): string {
  const bounds = `from buckets ${formatShortest(leastBound)} to ${formatShortest(greatestBound)}`;
  const difference = `with a max diff of ${formatShortest(differenceMax, 2)}`;
  return `${MONOTONICITY}, ${bounds}, ${difference}, over ${count} samples from ${secondText(fromMs)} to ${secondText(toMs)}`;
}

function secondText(ms: number): string {
  return new Date(Math.trunc(ms / 1_000) * 1_000).toISOString().replace(".000Z", "Z");
}
