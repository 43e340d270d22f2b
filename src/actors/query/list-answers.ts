// Answers to labels, label values, series and metadata.
import { invalid, type SelectedRange } from "../../api/prometheus/form-parameters.ts";
import { unescapeLabelName } from "../../api/prometheus/label-names.ts";
import { PrometheusError, type Remarks } from "../../api/prometheus/prometheus-envelope.ts";
import { successBody } from "../../api/prometheus/query-result.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { Labels } from "../../domain/promql/labels/labels.ts";
import { quote } from "../../domain/promql/parser/quoted-text.ts";
import { StreamSelection } from "../../domain/promql/stored-labels.ts";
import type { CallAnswer, CallContext } from "./query-call.ts";
import type { SelectedStream } from "./stream-selector.ts";

/** Answers with the names that labels of series have. */
export async function answerLabels(context: CallContext): Promise<CallAnswer> {
  const names = new Set<string>();
  for (const labels of await selectedLabels(context)) for (const [name] of labels.entries()) names.add(name);
  return listAnswer([...names].sort(compareTexts), context.parameters.limit);
}

/** Answers with the values that one label has. */
export async function answerLabelValues(context: CallContext): Promise<CallAnswer> {
  const name = unescapeLabelName(context.call.label ?? "");
  if (name === undefined) throw new PrometheusError("bad_data", `invalid label name: ${quote(context.call.label ?? "")}`);
  const values = new Set<string>();
  for (const labels of await selectedLabels(context)) values.add(labels.get(name));
  values.delete("");
  return listAnswer([...values].sort(compareTexts), context.parameters.limit);
}

/** Answers with the series that selectors mean, by their labels. */
export async function answerSeries(context: CallContext): Promise<CallAnswer> {
  if (context.parameters.selectors.length === 0) throw new PrometheusError("bad_data", "no match[] parameter provided");
  const series = await selectedLabels(context);
  return listAnswer(
    series.map((labels) => labels.toObject()),
    context.parameters.limit,
  );
}

/** Types, units and helps of metrics. */
export async function answerMetadata({ call, parameters, metadata }: CallContext): Promise<CallAnswer> {
  const { limit } = parameters;
  const metric = parameters.text("metric");
  const perMetric = wholeNumber(parameters.text("limit_per_metric"));
  const byName = new Map<string, Array<{ type: string; help: string; unit: string }>>();
  for (const { name, type, help, unit } of await metadata(call.tenant)) {
    if (metric !== "" && name !== metric) continue;
    const known = byName.get(name) ?? [];
    if (known.length === 0 && byName.size >= limit) continue;
    byName.set(name, known);
    const isKnown = known.some((one) => one.type === type && one.help === help && one.unit === unit);
    if (!isKnown && known.length < perMetric) known.push({ type, help, unit });
  }
  return { status: 200, body: successBody(Object.fromEntries(byName), { warnings: [], infos: [] }) };
}

function wholeNumber(text: string): number {
  if (text === "") return Number.POSITIVE_INFINITY;
  if (!/^[+-]?\d+$/.test(text)) throw invalid("limit_per_metric", `strconv.Atoi: parsing ${quote(text)}: invalid syntax`);
  const number = Number(text);
  return number > 0 ? number : Number.POSITIVE_INFINITY;
}

/** The labels of series that have samples of the asked time, each once, in their order. */
async function selectedLabels({ selector, call, parameters, budget }: CallContext): Promise<Labels[]> {
  const { range, selectors } = parameters;
  const selections = selectors.length === 0 ? [new StreamSelection([])] : selectors.map((matchers) => new StreamSelection(matchers));
  const found = await selector.select({ tenant: call.tenant, selections, withValues: false, budget });
  const byKey = new Map<string, Labels>();
  for (const stream of found.flat()) if (isWithin(stream, range)) byKey.set(stream.labels.key, stream.labels);
  const labels = [...byKey.values()];
  return selections.length === 1 ? labels : labels.sort((a, b) => Labels.compare(a, b));
}

function isWithin({ firstTimeMs, lastTimeMs }: SelectedStream, { fromMs, toMs }: SelectedRange): boolean {
  return (firstTimeMs ?? fromMs) <= toMs && (lastTimeMs ?? toMs) >= fromMs;
}

function listAnswer(rows: readonly unknown[], limit: number): CallAnswer {
  const remarks: Remarks = { warnings: rows.length > limit ? ["results truncated due to limit"] : [], infos: [] };
  return { status: 200, body: successBody(rows.slice(0, limit), remarks) };
}
