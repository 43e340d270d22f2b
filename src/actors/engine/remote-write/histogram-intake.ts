// Native histograms of a remote-write body, on their way to whoever makes series of them.
import { HISTOGRAMS_PER_BODY_MAX, TIMESTAMP_AGE_MS_MAX, TIMESTAMP_FUTURE_MS_MAX } from "../../../core/config/limits.ts";
import type { DistributionPoint, ItemRefusal } from "../../../domain/otlp/otlp-items.ts";
import { histogramSeries } from "../../../domain/remote-write/histogram-series.ts";
import { decodeNativeHistogram, NativeHistogramError, NotFiniteError } from "../../../domain/remote-write/native-histogram.ts";
import { LABELS_NOT_UTF8, type Labels, labelProblem, type SampleProblem } from "../../../domain/remote-write/sample-problems.ts";
import { type ReplicaSource, replicaSource } from "../../../domain/series/replica-labels.ts";
import { nameOfLabels } from "../../../domain/series/stream-identity.ts";
import type { WorkUnit } from "../unit/work-unit.ts";

/** Takes a point into a unit; undefined when it took it. */
export type DistributionTaker = (tenant: string, point: DistributionPoint, unit: WorkUnit) => ItemRefusal | undefined;

/** The body at hand, and what is done with what cannot be taken. */
export interface HistogramContext {
  readonly tenant: string;
  readonly unit: WorkUnit;
  readonly wallMs: number;
  readonly replicaLabels: ReadonlySet<string>;
  /** Histograms in the body. */
  readonly count: number;
  labelsOf(span: Uint8Array): Labels | undefined;
  isTaken(source: ReplicaSource): boolean;
  refuse(count: number, problem: SampleProblem, payload: unknown): void;
  /** One that is not finite, which is no failure. */
  keepOut(labels: Labels, message: string, payload: unknown): void;
}

/** Takes the histograms of one body after another. */
export class HistogramIntake {
  readonly #taker: DistributionTaker;

  constructor(taker: DistributionTaker) {
    this.#taker = taker;
  }

  /** Hands on the histograms of a body that the kernel has checked; answers how many were taken, or passed over for another replica's. */
  take(body: Uint8Array, version: 1 | 2, context: HistogramContext): number {
    const taker = this.#taker;
    let taken = 0;
    let seen = 0;
    for (const series of histogramSeries(body, version)) {
      if (seen >= HISTOGRAMS_PER_BODY_MAX) break;
      seen += series.histograms.length;
      const labels = context.labelsOf(series.content);
      const problem = labels === undefined ? LABELS_NOT_UTF8 : labelProblem(labels);
      if (labels === undefined || problem !== undefined) {
        context.refuse(series.histograms.length, problem as SampleProblem, { labels: Object.fromEntries(labels ?? []) });
        continue;
      }
      for (const histogram of series.histograms) if (takeOne(taker, histogram, series.createdMs, labels, context)) taken++;
    }
    if (seen < context.count) {
      const message = `a request may have ${HISTOGRAMS_PER_BODY_MAX} native histograms, got ${context.count}; those behind were refused`;
      context.refuse(context.count - seen, { reason: "batch_too_large", message }, { histograms: context.count - seen });
    }
    return taken;
  }
}

function takeOne(taker: DistributionTaker, content: Uint8Array, createdMs: number, labels: Labels, context: HistogramContext): boolean {
  const { tenant, unit, wallMs } = context;
  const { serviceId, environment, metricName, attributes } = nameOfLabels(tenant, labels, context.replicaLabels);
  const refuse = (problem: SampleProblem, timestamp?: number): false => {
    context.refuse(1, problem, { labels: Object.fromEntries(labels), timestamp });
    return false;
  };
  try {
    const histogram = decodeNativeHistogram(content, createdMs);
    const { timeMs } = histogram;
    if (timeMs < wallMs - TIMESTAMP_AGE_MS_MAX)
      return refuse({ reason: "timestamp_too_old", message: `a histogram of ${metricName} is more than 24 h in the past` }, timeMs);
    if (timeMs > wallMs + TIMESTAMP_FUTURE_MS_MAX)
      return refuse(
        { reason: "timestamp_in_future", message: `a histogram of ${metricName} is more than 10 minutes in the future` },
        timeMs,
      );
    const source = replicaSource(tenant, serviceId, labels, context.replicaLabels);
    if (source !== undefined && !context.isTaken(source)) return true;
    const refusal = taker(tenant, { serviceId, environment, metricName, attributes, ...histogram }, unit);
    return refusal === undefined ? true : refuse(refusal, timeMs);
  } catch (error) {
    if (!(error instanceof NativeHistogramError)) throw error;
    if (error instanceof NotFiniteError) {
      context.keepOut(labels, `a native histogram of ${metricName} is kept out: ${error.message}`, { labels: Object.fromEntries(labels) });
      return true;
    }
    return refuse({ reason: "invalid_value", message: `a native histogram of ${metricName} cannot be taken: ${error.message}` });
  }
}
