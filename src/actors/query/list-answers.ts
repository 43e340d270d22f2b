// Answers to labels, label values, series and metadata.
import type { FormParameters } from "../../api/prometheus/form-parameters.ts";
import { unescapeLabelName } from "../../api/prometheus/label-names.ts";
import { PrometheusError, type Remarks } from "../../api/prometheus/prometheus-envelope.ts";
import { successBody } from "../../api/prometheus/query-result.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { quote } from "../../domain/promql/parser/quoted-text.ts";
import { parseQuery } from "../../domain/promql/query-engine.ts";
import type { CallAnswer, CallContext } from "./query-call.ts";
import type { SelectedSeries } from "./stream-selector.ts";

/** Of a series in a list, as an object and as text. */
const ROW_BYTES = 600;

/** Answers with the names that labels of series have. */
export async function answerLabels(context: CallContext): Promise<CallAnswer> {
  const { index, series } = await selectedSeries(context);
  return listAnswer([...index.names(series)].sort(compareTexts), context.parameters.limit);
}

/** Answers with the values that one label has. */
export async function answerLabelValues(context: CallContext): Promise<CallAnswer> {
  const name = unescapeLabelName(context.call.label ?? "");
  if (name === undefined) throw new PrometheusError("bad_data", `invalid label name: ${quote(context.call.label ?? "")}`);
  const { index, series } = await selectedSeries(context);
  return listAnswer([...index.values(name, series)].sort(compareTexts), context.parameters.limit);
}

/** Answers with the series that selectors mean, by their labels. */
export async function answerSeries(context: CallContext): Promise<CallAnswer> {
  if (context.parameters.selectors.length === 0) throw new PrometheusError("bad_data", "no match[] parameter provided");
  const { limit } = context.parameters;
  const { index, series } = await selectedSeries(context);
  context.budget.reserve(Math.min(series.length, limit + 1) * ROW_BYTES);
  const rows: Array<Record<string, string>> = [];
  let last: number | undefined;
  for (const one of index.sorted(series)) {
    if (last !== undefined && index.compare(one, last) === 0) continue; // attributes may differ in what labels do not say
    if (rows.length > limit) break;
    rows.push(index.labels(one).toObject());
    last = one;
  }
  return listAnswer(rows, limit);
}

/** Types, units and helps of metrics. */
export async function answerMetadata({ call, parameters, metadata }: CallContext): Promise<CallAnswer> {
  const limit = boundOf(parameters, "limit");
  const metric = parameters.text("metric");
  const perMetric = boundOf(parameters, "limit_per_metric");
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

/** Answers that no exemplars are kept, where they are asked for as they should. */
export async function answerExemplars({ parameters }: CallContext): Promise<CallAnswer> {
  void parameters.range; // refused where it is none
  parseQuery(parameters.text("query"));
  return listAnswer([], 0);
}

function boundOf(parameters: FormParameters, name: string): number {
  const text = parameters.text(name);
  if (text === "") return Number.POSITIVE_INFINITY;
  if (!/^[+-]?\d+$/.test(text)) throw new PrometheusError("bad_data", `${name} must be a number`);
  const number = Number(text);
  return number > 0 ? number : Number.POSITIVE_INFINITY;
}

/** The series that are meant and have samples of the asked time. */
function selectedSeries({ selector, call, parameters, budget }: CallContext): Promise<SelectedSeries> {
  const { range, selectors } = parameters;
  const selections = selectors.length === 0 ? [[]] : selectors;
  return selector.list({ tenant: call.tenant, selections, budget }, range);
}

function listAnswer(rows: readonly unknown[], limit: number): CallAnswer {
  const remarks: Remarks = { warnings: rows.length > limit ? ["results truncated due to limit"] : [], infos: [] };
  return { status: 200, body: successBody(rows.slice(0, limit), remarks) };
}
