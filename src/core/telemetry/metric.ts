// Declaration of a metric of GET /metrics: its name, type, help, labels and, by its name, its unit, in one place. Who counts and who shows both take it from here.

/** Media type of the page: the Prometheus text format. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

export type MetricType = "counter" | "gauge" | "histogram";
/** Values of labels by the labels' names. */
export type Labels = Readonly<Record<string, string>>;

export interface Metric {
  readonly name: string;
  readonly type: MetricType;
  readonly help: string;
  /** Names of the labels that tell its values apart. */
  readonly labels: readonly string[];
}

/** Meaning of one counter slot: the value of a metric with these labels. */
export interface MetricPart {
  readonly metric: Metric;
  readonly labels: Labels;
}

/** Declares a metric that only grows; its name ends in `_total`. */
export function counter(name: `${string}_total`, help: string, labels: readonly string[] = []): Metric {
  return { name, type: "counter", help, labels };
}

/** Declares a metric that goes up and down. */
export function gauge(name: string, help: string, labels: readonly string[] = []): Metric {
  return { name, type: "gauge", help, labels };
}

/** Declares a metric of buckets. */
export function histogram(name: string, help: string, labels: readonly string[] = []): Metric {
  return { name, type: "histogram", help, labels };
}

/** The value of a metric that has these labels. */
export function part(metric: Metric, labels: Labels): MetricPart {
  return { metric, labels };
}

/** Declaration of a counter slot: a metric of its own, a value of one, or a value of several. */
export type SlotMetric = Metric | MetricPart | readonly MetricPart[];

/** The values that a slot is shown as. */
export function partsOf(slot: SlotMetric): readonly MetricPart[] {
  if ("name" in slot) return [{ metric: slot, labels: {} }];
  return "metric" in slot ? [slot] : slot;
}
