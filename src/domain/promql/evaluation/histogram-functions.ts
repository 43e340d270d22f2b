// Functions over classic histograms: series that differ in `le` alone are the buckets of one (funcHistogramQuantile and resetHistograms in promql/functions.go of Prometheus).
// Native histograms are not stored here: functions over them alone have no result.
import type { Annotations } from "../annotations.ts";
import type { Labels } from "../labels/labels.ts";
import { parseFloat64 } from "../parser/number-text.ts";
import type { QueryBudget } from "../query-budget.ts";
import { type Buckets, bucketFraction, bucketQuantile } from "./quantile.ts";
import { makeSeries, merge, type StepSeries } from "./step-series.ts";
import type { Steps } from "./steps.ts";

const BUCKET_LABEL: ReadonlySet<string> = new Set(["le"]);

/** A histogram's buckets, ascending by bound. */
interface Histogram {
  readonly labels: Labels;
  readonly buckets: Array<{ readonly bound: number; readonly series: StepSeries }>;
}

/** What all of these functions need. */
export interface HistogramInput {
  readonly series: readonly StepSeries[];
  readonly steps: Steps;
  readonly budget: QueryBudget;
  readonly annotations: Annotations;
  /** Where the argument with the histograms stands in the query. */
  readonly start: number;
}

function histogramsOf({ series, annotations, start }: HistogramInput): Histogram[] {
  const histograms = new Map<string, Histogram>();
  for (const one of series) {
    const le = one.labels.get("le");
    const bound = parseFloat64(le);
    if (bound === undefined) {
      annotations.badBucketLabel(one.labels.metricName, le, start);
      continue;
    }
    const labels = one.labels.without(BUCKET_LABEL);
    const histogram = histograms.get(labels.key);
    if (histogram === undefined) histograms.set(labels.key, { labels: labels.withoutMetricName(), buckets: [{ bound, series: one }] });
    else histogram.buckets.push({ bound, series: one });
  }
  for (const { buckets } of histograms.values()) buckets.sort((a, b) => a.bound - b.bound || 0);
  return [...histograms.values()];
}

/** Buckets that have a count at a step. */
function bucketsAt({ buckets }: Histogram, step: number): Buckets {
  const there = buckets.filter(({ series }) => series.present[step] === 1);
  return { bounds: there.map(({ bound }) => bound), counts: there.map(({ series }) => series.values[step] as number) };
}

function overHistograms(input: HistogramInput, compute: (buckets: Buckets, step: number) => number): StepSeries[] {
  const results = histogramsOf(input).map((histogram) => {
    const result = makeSeries(histogram.labels, input.steps.count, input.budget);
    for (let step = 0; step < input.steps.count; step++) {
      input.budget.check();
      const buckets = bucketsAt(histogram, step);
      if (buckets.bounds.length === 0) continue;
      result.present[step] = 1;
      result.values[step] = compute(buckets, step);
    }
    return result;
  });
  return merge(results);
}

/** histogram_quantile. */
export function histogramQuantiles(quantiles: Float64Array, input: HistogramInput): StepSeries[] {
  return overHistograms(input, (buckets, step) => {
    const { value, raise } = bucketQuantile(quantiles[step] as number, buckets);
    if (raise !== undefined) input.annotations.raisedBuckets(raise, input.steps.timeMs(step), input.start);
    return value;
  });
}

/** histogram_fraction. */
export function histogramFractions(lower: Float64Array, upper: Float64Array, input: HistogramInput): StepSeries[] {
  return overHistograms(input, (buckets, step) => bucketFraction(lower[step] as number, upper[step] as number, buckets));
}
