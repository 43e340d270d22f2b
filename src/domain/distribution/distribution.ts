// A point of a histogram or a summary without its names, and the checks that it must pass.
import type { ValidationReason } from "../../core/layout/counters.ts";
import type { DistributionPoint } from "../otlp/otlp-items.ts";

/** A point without its names. */
export type Distribution = Omit<DistributionPoint, "serviceId" | "environment" | "metricName" | "attributes">;
/** Exponential buckets of one sign. */
export type ExponentialBuckets = DistributionPoint["positive"];

/** Buckets of a point: OpenTelemetry SDKs make at most 160, Prometheus as many as its scrape limit says. */
export const BUCKETS_MAX = 1024;
/** Quantiles of a summary. */
export const QUANTILES_MAX = 32;
/** OpenTelemetry SDKs take scales from -10 to 20, Prometheus from -4 to 8. */
const SCALE_LEAST = -11;
const SCALE_MOST = 20;
/** Indexes of buckets that hold a double at the finest scale: 2^20 x 1,075. */
const INDEX_MOST = 2 ** 31;

/** Nothing of any kind: to be completed. */
export const EMPTY_DISTRIBUTION: Distribution = {
  temporality: "cumulative",
  timeMs: 0,
  startMs: 0,
  kind: "explicit",
  count: 0,
  sum: null,
  min: null,
  max: null,
  bounds: [],
  bucketCounts: [],
  scale: 0,
  zeroCount: 0,
  zeroThreshold: 0,
  positive: { offset: 0, counts: [] },
  negative: { offset: 0, counts: [] },
  quantiles: [],
  isStale: false,
};

/** Why a point is refused. */
export interface DistributionProblem {
  readonly reason: ValidationReason;
  readonly message: string;
}

/** As far as unsigned integers of the protocols count; a sum of all buckets stays finite. */
const COUNT_MAX = 2 ** 64;

const isCount = (value: number) => value >= 0 && value <= COUNT_MAX;

/** Error of a point's numbers; undefined for none. Its times are the caller's to check. */
export function distributionProblem(point: Distribution): DistributionProblem | undefined {
  if (point.isStale) return undefined;
  if (!isCount(point.count)) return invalid(`its count is ${point.count}, which is no count`);
  if (point.kind === "summary") return summaryProblem(point);
  return point.kind === "explicit" ? explicitProblem(point) : exponentialProblem(point);
}

function invalid(message: string): DistributionProblem {
  return { reason: "invalid_value", message };
}

function explicitProblem({ bounds, bucketCounts }: Distribution): DistributionProblem | undefined {
  if (bucketCounts.length > BUCKETS_MAX) return invalid(`it has ${bucketCounts.length} buckets; ${BUCKETS_MAX} are possible`);
  if (bucketCounts.length !== bounds.length + 1 && (bucketCounts.length > 0 || bounds.length > 0))
    return invalid(`it has ${bucketCounts.length} buckets and ${bounds.length} bounds; there must be one bucket more than bounds`);
  if (!bucketCounts.every(isCount)) return invalid("one of its buckets holds no count");
  const rise = bounds.every((bound, i) => Number.isFinite(bound) && (i === 0 || bound > (bounds[i - 1] as number)));
  return rise ? undefined : invalid("its bounds do not rise, or are not finite");
}

function exponentialProblem({ positive, negative, scale, zeroCount, zeroThreshold }: Distribution): DistributionProblem | undefined {
  const buckets = positive.counts.length + negative.counts.length;
  if (buckets > BUCKETS_MAX) return invalid(`it has ${buckets} buckets; ${BUCKETS_MAX} are possible`);
  if (!Number.isInteger(scale) || scale < SCALE_LEAST || scale > SCALE_MOST)
    return invalid(`its scale is ${scale}; it must be a whole number from ${SCALE_LEAST} to ${SCALE_MOST}`);
  if (!isCount(zeroCount) || !isCount(zeroThreshold)) return invalid("its zero bucket holds no count, or its width is no width");
  for (const { offset, counts } of [positive, negative]) {
    if (!Number.isInteger(offset) || Math.abs(offset) > INDEX_MOST) return invalid(`an offset of its buckets is ${offset}`);
    if (!counts.every(isCount)) return invalid("one of its buckets holds no count");
  }
  return undefined;
}

function summaryProblem({ quantiles }: Distribution): DistributionProblem | undefined {
  if (quantiles.length > QUANTILES_MAX) return invalid(`it has ${quantiles.length} quantiles; ${QUANTILES_MAX} are possible`);
  if (!quantiles.every(({ quantile }) => quantile >= 0 && quantile <= 1)) return invalid("one of its quantiles is not from 0 to 1");
  return undefined;
}
