// Functions that Prometheus gives to the templates of rules (template/template.go).
import { compareTexts } from "../../../core/text/text-order.ts";
import { findPattern, PatternError, replacePattern } from "../../promql/labels/pattern.ts";
import { parseDurationMs } from "../../promql/parser/duration-text.ts";
import type { VectorSample } from "../../promql/query-engine.ts";
import { BUILTIN_FUNCTIONS } from "./builtin-functions.ts";
import { FunctionError } from "./go-comparison.ts";
import { GoDuration, GoStruct, type GoValue, goType, isGoList, isGoMap } from "./go-value.ts";
import { queryEscape, stripDomain, stripPort } from "./host-text.ts";
import { humanize, humanize1024, humanizeDuration, humanizePercentage, humanizeTimestamp, toFloat, toTime } from "./humanized.ts";
import type { TemplateFunction, TemplateWorld } from "./template-function.ts";

const SAMPLE_TYPE = "*template.sample";

function sampleOf({ labels, value }: VectorSample): GoStruct {
  return new GoStruct(
    SAMPLE_TYPE,
    new Map<string, GoValue>([
      ["Labels", new Map(labels.entries())],
      ["Value", value],
    ]),
  );
}

function asSample(value: GoValue): GoStruct {
  if (value instanceof GoStruct && value.type === SAMPLE_TYPE) return value;
  throw new FunctionError(`wrong type for value; expected ${SAMPLE_TYPE}; got ${goType(value)}`);
}

function labelOf(sample: GoStruct, name: string): string {
  const labels = sample.fields.get("Labels");
  return isGoMap(labels) ? ((labels.get(name) as string | undefined) ?? "") : "";
}

function samplesOf(value: GoValue): readonly GoStruct[] {
  if (!isGoList(value)) throw new FunctionError(`wrong type for value; expected template.queryResult; got ${goType(value)}`);
  return value.map(asSample);
}

function first(value: GoValue): GoStruct {
  const [sample] = samplesOf(value);
  if (sample === undefined) throw new FunctionError("first() called on vector with no elements");
  return sample;
}

/** Go's strings.Title: the first letter of each word. */
function title(text: string): string {
  return text.replace(/(?<![\p{L}\p{Nd}_'’.&/+-])[\p{Ll}]|(?<=[ -/:-@[-^`{-~])[\p{Ll}]/gu, (letter) => letter.toUpperCase());
}

function matched<Result>(run: () => Result): Result {
  try {
    return run();
  } catch (error) {
    throw error instanceof PatternError ? new FunctionError(error.message) : error;
  }
}

function durationSeconds(text: string): number {
  const ms = parseDurationMs(text);
  if (typeof ms === "string") throw new FunctionError(ms);
  return ms / 1_000;
}

function pathOf(url: string): string {
  return /^[^:/?#]+:\/\/[^/?#]*([^?#]*)/.exec(url)?.[1] ?? url;
}

function ofTexts(count: number, call: (texts: readonly string[], world: TemplateWorld) => GoValue): TemplateFunction {
  return { least: count, most: count, texts: count, call: (values, world) => call(values as readonly string[], world) };
}

function ofNumber(call: (value: number) => GoValue): TemplateFunction {
  return { least: 1, most: 1, call: ([value]) => call(toFloat(value)) };
}

function graphLink(text: string, tab: 0 | 1): string {
  return `/graph?g0.expr=${queryEscape(text)}&g0.tab=${tab}`;
}

const OWN_FUNCTIONS: Readonly<Record<string, TemplateFunction>> = {
  query: ofTexts(1, ([text = ""], world) => world.query(text).map(sampleOf)),
  first: { least: 1, most: 1, call: ([value]) => first(value) },
  label: { least: 2, most: 2, texts: 1, call: ([name, sample]) => labelOf(asSample(sample), name as string) },
  value: { least: 1, most: 1, call: ([sample]) => asSample(sample).fields.get("Value") },
  strvalue: { least: 1, most: 1, call: ([sample]) => labelOf(asSample(sample), "__value__") },
  args: {
    least: 0,
    most: Number.POSITIVE_INFINITY,
    call: (values) => new Map(values.map((value, index) => [`arg${index}`, value])),
  },
  reReplaceAll: ofTexts(3, ([pattern = "", replacement = "", text = ""]) => matched(() => replacePattern(pattern, replacement, text))),
  match: ofTexts(2, ([pattern = "", text = ""]) => matched(() => findPattern(pattern, text))),
  safeHtml: ofTexts(1, ([text]) => text),
  title: ofTexts(1, ([text = ""]) => title(text)),
  toUpper: ofTexts(1, ([text = ""]) => text.toUpperCase()),
  toLower: ofTexts(1, ([text = ""]) => text.toLowerCase()),
  graphLink: ofTexts(1, ([text = ""]) => graphLink(text, 0)),
  tableLink: ofTexts(1, ([text = ""]) => graphLink(text, 1)),
  sortByLabel: {
    least: 2,
    most: 2,
    texts: 1,
    call: ([name, value]) => [...samplesOf(value)].sort((a, b) => compareTexts(labelOf(a, name as string), labelOf(b, name as string))),
  },
  stripPort: ofTexts(1, ([text = ""]) => stripPort(text)),
  stripDomain: ofTexts(1, ([text = ""]) => stripDomain(text)),
  humanize: ofNumber(humanize),
  humanize1024: ofNumber(humanize1024),
  humanizeDuration: ofNumber(humanizeDuration),
  humanizePercentage: ofNumber(humanizePercentage),
  humanizeTimestamp: ofNumber(humanizeTimestamp),
  toTime: ofNumber(toTime),
  toDuration: ofNumber((seconds) => new GoDuration(seconds)),
  now: { least: 0, most: 0, call: (_values, { nowMs }) => nowMs / 1_000 },
  parseDuration: ofTexts(1, ([text = ""]) => durationSeconds(text)),
  urlQueryEscape: ofTexts(1, ([text = ""]) => queryEscape(text)),
  externalURL: { least: 0, most: 0, call: (_values, { externalUrl }) => externalUrl },
  pathPrefix: { least: 0, most: 0, call: (_values, { externalUrl }) => pathOf(externalUrl) },
};

/** Functions of the templates of rules, by name. */
export const RULE_FUNCTIONS: ReadonlyMap<string, TemplateFunction> = new Map([
  ...Object.entries(BUILTIN_FUNCTIONS),
  ...Object.entries(OWN_FUNCTIONS),
]);
/** Names that a template may call. */
export const RULE_FUNCTION_NAMES: ReadonlySet<string> = new Set([...RULE_FUNCTIONS.keys(), "and", "or"]);
