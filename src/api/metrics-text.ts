// Writes the Prometheus text exposition format 0.0.4 from plain values.

/** Media type of the text. */
export const METRICS_CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8";

/** Label names and values; names must match [a-zA-Z_][a-zA-Z0-9_]* and not begin with two underscores. */
export type MetricLabels = Readonly<Record<string, string>>;

/** One value of a counter or gauge. */
export interface MetricSample {
  readonly labels?: MetricLabels;
  readonly value: number;
}

/** One histogram: `counts` are per bucket (not cumulative), one more than `bounds`: the last is above all bounds. */
export interface HistogramSample {
  readonly labels?: MetricLabels;
  readonly bounds: readonly number[];
  readonly counts: ArrayLike<number>;
  readonly sum: number;
}

/** A metric with all its values. */
export type MetricFamily =
  | { readonly name: string; readonly help: string; readonly type: "counter" | "gauge"; readonly samples: readonly MetricSample[] }
  | { readonly name: string; readonly help: string; readonly type: "histogram"; readonly samples: readonly HistogramSample[] };

const METRIC_NAME = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/;
const LABEL_NAME = /^(?!__)[a-zA-Z_][a-zA-Z0-9_]*$/;

/** Writes the families in order; a family without values is left out. Throws RangeError on a name that the format does not take. */
export function writeMetrics(families: Iterable<MetricFamily>): string {
  let text = "";
  for (const family of families) {
    if (!METRIC_NAME.test(family.name)) throw new RangeError(`not a metric name: ${family.name}`);
    if (family.samples.length === 0) continue;
    text += `# HELP ${family.name} ${escapeHelp(family.help)}\n# TYPE ${family.name} ${family.type}\n`;
    if (family.type === "histogram") for (const sample of family.samples) text += histogramLines(family.name, sample);
    else for (const sample of family.samples) text += line(family.name, labelPairs(sample.labels), sample.value);
  }
  return text;
}

function histogramLines(name: string, sample: HistogramSample): string {
  const { bounds, counts, sum } = sample;
  if (counts.length !== bounds.length + 1) throw new RangeError(`${name} has ${bounds.length} bounds and ${counts.length} counts`);
  const pairs = labelPairs(sample.labels);
  let text = "";
  let below = 0;
  for (let bucket = 0; bucket < counts.length; bucket++) {
    below += counts[bucket] as number;
    text += line(`${name}_bucket`, [...pairs, `le="${formatNumber(bounds[bucket] ?? Number.POSITIVE_INFINITY)}"`], below);
  }
  return text + line(`${name}_sum`, pairs, sum) + line(`${name}_count`, pairs, below);
}

function labelPairs(labels: MetricLabels = {}): string[] {
  return Object.entries(labels).map(([name, value]) => {
    if (!LABEL_NAME.test(name)) throw new RangeError(`not a label name: ${name}`);
    return `${name}="${escapeLabel(value)}"`;
  });
}

function line(name: string, pairs: readonly string[], value: number): string {
  return `${name}${pairs.length === 0 ? "" : `{${pairs.join(",")}}`} ${formatNumber(value)}\n`;
}

function formatNumber(value: number): string {
  if (value === Number.POSITIVE_INFINITY) return "+Inf";
  if (value === Number.NEGATIVE_INFINITY) return "-Inf";
  return String(value);
}

function escapeHelp(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
}

function escapeLabel(text: string): string {
  return escapeHelp(text).replaceAll('"', '\\"');
}
