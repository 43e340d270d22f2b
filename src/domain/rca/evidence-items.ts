// What speaks for a candidate, in words and in numbers. Texts hold masked templates and names, never a line of a log as it came.
import type { SeriesEvidence } from "./evidence.ts";
import { type MetricKind, RESOURCE_KINDS } from "./metric-kind.ts";
import type { RankedService, Ranking } from "./ranking.ts";

/** One piece. */
export interface EvidenceItem {
  readonly source: "metric" | "log" | "span" | "call" | "change" | "silence" | "saturation" | "load";
  readonly text: string;
  /** In spreads above, or standard deviations from, what is usual. */
  readonly strength: number;
}

/** Kinds below this say nothing. */
const NOVELTY_MIN = 1.5;
const ITEMS_MAX = 8;
const TEXT_CHARACTERS = 200;

/** The series that stands for a candidate: of its strongest resource, else of its strongest symptom. */
export function leadingSeries({ metrics }: Ranking, { serviceId, metrics: own }: RankedService): SeriesEvidence | undefined {
  const number = metrics.table.numberOf(serviceId);
  if (number === undefined || own === undefined) return undefined;
  const symptoms: MetricKind[] = ["latency", "errors", "dependency", "rate", "other"];
  const kinds = own.resource >= NOVELTY_MIN ? [own.resourceKind] : [...symptoms, ...RESOURCE_KINDS];
  let best: SeriesEvidence | undefined;
  for (const kind of kinds) {
    const series = metrics.table.leading(number, kind);
    if (series !== undefined && series.departure.novelty > (best?.departure.novelty ?? 0)) best = series;
  }
  return best;
}

/** Pieces, strongest first; of those that metrics say, first that of the series which stands for the candidate: what is said of a cause is of what it names. */
export function evidenceItems(ranking: Ranking, service: RankedService): EvidenceItem[] {
  const leading = leadingSeries(ranking, service);
  const items = [...metricItems(ranking, service), ...otherItems(ranking, service)];
  return leadFirst(items, leading === undefined ? null : seriesText(leading)).slice(0, ITEMS_MAX);
}

/** The items by their strength, that of this text by the strongest that metrics say. */
export function leadFirst(items: readonly EvidenceItem[], leading: string | null): EvidenceItem[] {
  const most = Math.max(0, ...items.flatMap(({ source, strength }) => (source === "metric" ? strength : [])));
  const isLeading = ({ source, text }: EvidenceItem) => source === "metric" && text === leading;
  const rankOf = (item: EvidenceItem) => (isLeading(item) ? most : item.strength);
  return [...items].sort((a, b) => rankOf(b) - rankOf(a) || Number(isLeading(b)) - Number(isLeading(a)));
}

function metricItems(ranking: Ranking, { serviceId, metrics: own }: RankedService): EvidenceItem[] {
  const { metrics } = ranking;
  const number = metrics.table.numberOf(serviceId);
  if (number === undefined || own === undefined) return [];
  const kinds: MetricKind[] = [...RESOURCE_KINDS, "latency", "errors", "dependency", "rate"];
  const items = kinds.flatMap((kind): EvidenceItem[] => {
    const series = metrics.table.leading(number, kind);
    const strength = metrics.table.novelty(number, kind, 0);
    return series === undefined || strength < NOVELTY_MIN ? [] : [{ source: "metric", text: seriesText(series), strength }];
  });
  const tie = ranking.tied.get(serviceId);
  if (tie !== undefined) {
    const others = tie.neighbours.slice(0, 3).join(", ");
    items.push({
      source: "metric",
      text: `shares ${tie.node} with ${others}, which it does not call and which suffer there`,
      strength: tie.strength,
    });
  }
  if (own.feltByCallers >= NOVELTY_MIN) {
    items.push({ source: "call", text: "all services that call it wait longer for what they call", strength: own.feltByCallers });
  }
  return items;
}

function seriesText({ metricName, instance, departure }: SeriesEvidence): string {
  const of = instance === null ? "" : ` of ${instance}`;
  return `${metricName}${of} went from ${shortNumber(departure.mean)} to ${shortNumber(departure.peak)}`;
}

function otherItems({ lines, spans, surge }: Ranking, { serviceId, silent, saturated, change }: RankedService): EvidenceItem[] {
  const items: EvidenceItem[] = [];
  for (const line of lines.filter((each) => each.serviceId === serviceId && each.strength >= NOVELTY_MIN).slice(0, 3)) {
    const of = line.writer === null ? "" : ` of ${line.writer}`;
    const text = `line${of} ${line.change}: ${line.template.slice(0, TEXT_CHARACTERS)} (${line.count}, expected ${shortNumber(line.expected)})`;
    items.push({ source: "log", text, strength: line.strength });
  }
  for (const span of spans.filter((each) => each.serviceId === serviceId && each.strength >= NOVELTY_MIN).slice(0, 3)) {
    const subject = span.subject === "" ? "" : ` ${span.subject}`;
    const text = `${SPAN_TEXTS[span.kind]}${subject}: ${shortNumber(span.before)} to ${shortNumber(span.now)}`;
    items.push({ source: span.kind === "call_gap" ? "call" : "span", text, strength: span.strength });
  }
  if (silent) items.push({ source: "silence", text: "sends nothing since the onset", strength: 10 });
  if (saturated) items.push({ source: "saturation", text: "a resource is near its end", strength: 5 });
  if (change !== undefined) items.push({ source: "change", text: `${change.text} before the onset`, strength: 3 });
  if (surge?.serviceId === serviceId)
    items.push({ source: "load", text: `${surge.metricName} rose at the front door, and most services with it`, strength: surge.strength });
  return items;
}

const SPAN_TEXTS = {
  self_time: "ms of its own in",
  origin_errors: "share of errors of its own",
  call_gap: "ms between it and",
  peer: "ms that callers wait for it from",
  peer_errors: "share of its callers' calls that fail",
  refused_calls: "share of its callers' calls that fail before they reach it",
} as const;

/** Named numbers, as the contract's evidence map. */
export function evidenceNumbers(
  { metrics }: Ranking,
  { serviceId, score, metrics: own, line, span, change }: RankedService,
): Record<string, number> {
  const number = metrics.table.numberOf(serviceId);
  const numbers: Record<string, number> = { score };
  if (own !== undefined && number !== undefined) {
    numbers.resource_novelty = own.resource;
    numbers.symptom_novelty = own.symptom;
    numbers.felt_by_callers = own.feltByCallers;
    numbers.explained_symptoms = own.explained;
    numbers.usual_day_share = metrics.tailShare;
  }
  if (line !== undefined) numbers.log_strength = line.strength;
  if (span !== undefined) numbers[`${span.kind}_strength`] = span.strength;
  if (change !== undefined) numbers.change_at_ms = change.atMs;
  return Object.fromEntries(Object.entries(numbers).map(([name, value]) => [name, Number(value.toPrecision(6))]));
}

function shortNumber(value: number): string {
  return String(Number(value.toPrecision(4)));
}
