// The registry of GET /metrics: prom-client's, with metrics of our own kind, because its counters and histograms cannot be set to what was counted
// elsewhere. Values are read when the page is asked for; nothing here is called by who counts. 16 engines: some 2,900 lines (ADR 94 has the time).
import { collectDefaultMetrics, type Metric as LibraryMetric, Registry } from "prom-client";
import type { Labels, Metric } from "../../core/telemetry/metric.ts";

/** One value of a counter or gauge: its labels, and where it is read; null while there is none. */
export interface Reading {
  readonly labels: Labels;
  readonly read: () => number | null;
}

/** A histogram as it was counted: one count per bound, one above all, then the sum. Not cumulative. */
export interface HistogramReading {
  readonly labels: Labels;
  readonly bounds: readonly number[];
  readonly slots: ArrayLike<number>;
}

/** A value as prom-client writes it: it keeps the text of `sharedLabels`, by the object. */
interface WrittenValue {
  readonly metricName?: string;
  readonly labels: Labels;
  readonly sharedLabels: Labels;
  value: number;
}

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;
/** Gauges of the library that say the same as others of it under a name that only a counter may have. */
const MISNAMED = ["nodejs_active_resources_total", "nodejs_active_handles_total", "nodejs_active_requests_total"];
const NO_LABELS: Labels = {};

/** Registry that a page of metrics is made of. */
export class MetricsRegistry {
  readonly #registry = new Registry();

  /** Takes prom-client's families of the process and of Node: `process_*`, `nodejs_*`. */
  addDefaults(): void {
    collectDefaultMetrics({ register: this.#registry });
    for (const name of MISNAMED) this.#registry.removeSingleMetric(name);
  }

  /** Adds a counter or gauge. Throws RangeError on names that the format does not take. */
  add(metric: Metric, readings: readonly Reading[]): void {
    for (const { labels } of readings) checkLabels(metric, labels);
    const values = readings.map(({ labels, read }) => ({ read, written: { labels: NO_LABELS, sharedLabels: labels, value: 0 } }));
    this.#register(metric, () => {
      const present: WrittenValue[] = [];
      for (const { read, written } of values) {
        const value = read();
        if (value === null) continue;
        written.value = value;
        present.push(written);
      }
      return present;
    });
  }

  /** Adds a histogram, whose label values may become more; each must come with the same object of labels every time. */
  addHistogram(metric: Metric, collect: () => Iterable<HistogramReading>): void {
    this.#register(metric, () => [...collect()].flatMap((reading) => bucketValues(metric, reading)));
  }

  /** The page. Metrics without a value are left out. */
  async page(): Promise<string> {
    const texts = await Promise.all(this.#registry.getMetricsAsArray().map(({ name }) => this.#registry.getSingleMetricAsString(name)));
    // Each is "# HELP", "# TYPE" and its values; the library's spelling of NaN is none that the format names.
    return texts.map((text) => (hasValue(text) ? `${text.replaceAll(/ Nan$/gm, " NaN")}\n` : "")).join("");
  }

  #register(metric: Metric, collect: () => WrittenValue[]): void {
    const { name, help, type } = metric;
    if (!METRIC_NAME.test(name)) throw new RangeError(`not a metric name: ${name}`);
    const own = {
      name,
      help,
      type,
      aggregator: "sum",
      get: () => Promise.resolve({ name, help, type, aggregator: "sum", values: collect() }),
    };
    this.#registry.registerMetric(own as unknown as LibraryMetric);
  }
}

function hasValue(text: string): boolean {
  return text.indexOf("\n", text.indexOf("\n") + 1) > 0;
}

function checkLabels(metric: Metric, labels: Labels): void {
  for (const label of Object.keys(labels)) {
    if (!LABEL_NAME.test(label) || !metric.labels.includes(label)) throw new RangeError(`${metric.name} has no label ${label}`);
  }
}

/** Cumulative buckets up to +Inf, sum and count. */
function bucketValues(metric: Metric, { labels, bounds, slots }: HistogramReading): WrittenValue[] {
  checkLabels(metric, labels);
  const { name } = metric;
  let below = 0;
  const values: WrittenValue[] = [];
  for (let bucket = 0; bucket <= bounds.length; bucket++) {
    below += slots[bucket] as number;
    const le = bucket < bounds.length ? String(bounds[bucket]) : "+Inf";
    values.push({ metricName: `${name}_bucket`, labels: { le }, sharedLabels: labels, value: below });
  }
  const sum = slots[bounds.length + 1] as number;
  values.push({ metricName: `${name}_sum`, labels: NO_LABELS, sharedLabels: labels, value: sum });
  values.push({ metricName: `${name}_count`, labels: NO_LABELS, sharedLabels: labels, value: below });
  return values;
}
