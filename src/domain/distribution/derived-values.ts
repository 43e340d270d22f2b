// What a histogram or a summary becomes: series named after it, with a value for each interval.
import type { Distribution } from "./distribution.ts";
import { quantileOf, widthOf } from "./quantile.ts";

/** Quantiles that every histogram gives, and what the names of their series end with. */
export const QUANTILES = [
  { quantile: 0.5, suffix: ".p50" },
  { quantile: 0.95, suffix: ".p95" },
  { quantile: 0.99, suffix: ".p99" },
] as const;
const SUFFIX_BEGINS = ".".charCodeAt(0);
export const COUNT_SUFFIX = ".count";
export const SUM_SUFFIX = ".sum";
/** Bytes that a suffix adds to a name at most. */
export const SUFFIX_BYTES_MAX = 24;

/** Takes one value of the series with that suffix; `width` is that of the bucket it was estimated in, 0 for a value that is no estimate. */
export type DerivedConsumer = (suffix: string, value: number, width: number) => void;

/** Suffix of a quantile's series: ".p99.9" for 0.999. */
export function suffixOf(quantile: number): string {
  return `.p${Number((quantile * 100).toPrecision(12))}`;
}

/** The histogram's name in that of a series of one of its QUANTILES, whose suffixes are of one length; every other name as it is. */
export function baseNameOf(metricName: string): string {
  const end = metricName.length - QUANTILES[0].suffix.length;
  if (metricName.charCodeAt(end) !== SUFFIX_BEGINS) return metricName;
  return QUANTILES.some(({ suffix }) => metricName.endsWith(suffix)) ? metricName.slice(0, end) : metricName;
}

/** The values of what was added in an interval; none of one that is empty. */
export function deriveValues(added: Distribution, consume: DerivedConsumer): void {
  if (added.count === 0) return;
  if (added.kind === "summary") deriveQuantiles(added, consume);
  else for (const { quantile, suffix } of QUANTILES) deriveQuantile(added, quantile, suffix, consume);
  consume(COUNT_SUFFIX, added.count, 0);
  if (added.sum !== null) consume(SUM_SUFFIX, added.sum, 0);
}

function deriveQuantile(added: Distribution, quantile: number, suffix: string, consume: DerivedConsumer): void {
  const estimate = quantileOf(added, quantile);
  consume(suffix, estimate, widthOf(added, estimate));
}

/** The quantiles that a summary says of itself. */
export function deriveQuantiles({ quantiles }: Distribution, consume: DerivedConsumer): void {
  for (const { quantile, value } of quantiles) consume(suffixOf(quantile), value, 0);
}
