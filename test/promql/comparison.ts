// Whether a query's result is what a promqltest script expects: relative errors of 1e-6, NaN equals NaN, the order of series where it is asked for.
import type { Labels } from "../../src/domain/promql/labels/labels.ts";
import type { QueryResult, QueryValue } from "../../src/domain/promql/query-engine.ts";
import type { StoredSeries } from "../../src/domain/promql/series-storage.ts";
import type { Evaluation, ExpectedText } from "./script.ts";

const RELATIVE_ERROR = 1e-6;

/** Whether two numbers are the same for a script. */
function isNear(a: number, b: number): boolean {
  if (Object.is(a, b) || a === b) return true;
  const sum = Math.abs(a) + Math.abs(b);
  const difference = Math.abs(a - b);
  if (a === 0 || b === 0) return difference < RELATIVE_ERROR * 2 ** -1022;
  return difference / Math.min(sum, Number.MAX_VALUE) < RELATIVE_ERROR;
}

/** What is wrong with a value; undefined where nothing is. */
export function valueProblem(evaluation: Evaluation, value: QueryValue): string | undefined {
  if (evaluation.text !== undefined) return value.type === "string" && value.value === evaluation.text ? undefined : describe(value);
  if (evaluation.scalar !== undefined) {
    return value.type === "scalar" && isNear(evaluation.scalar, value.value)
      ? undefined
      : `${describe(value)}, expected ${evaluation.scalar}`;
  }
  if (value.type === "vector") return vectorProblem(evaluation, value.samples);
  if (value.type === "matrix") return matrixProblem(evaluation, value.series);
  return describe(value);
}

function describe(value: QueryValue): string {
  return `a ${value.type}: ${JSON.stringify("value" in value ? value.value : value).slice(0, 200)}`;
}

function vectorProblem(
  evaluation: Evaluation,
  samples: ReadonlyArray<{ readonly labels: Labels; readonly value: number }>,
): string | undefined {
  const places = new Map(evaluation.series.map(({ labels }, place) => [labels.key, place]));
  for (const [place, { labels, value }] of samples.entries()) {
    const expected = places.get(labels.key);
    if (expected === undefined) return `not expected: ${labels} ${value}`;
    if (evaluation.isOrdered && expected !== place) return `${labels} at ${place}, expected at ${expected}`;
    const wanted = evaluation.series[expected]?.values[0];
    if (typeof wanted !== "number" || !isNear(wanted, value)) return `${labels} ${value}, expected ${wanted}`;
  }
  const wanted = evaluation.series.filter(({ values }) => values.some((one) => one !== "none")).length;
  return samples.length === wanted ? undefined : `${samples.length} series, expected ${wanted}`;
}

function matrixProblem(evaluation: Evaluation, series: readonly StoredSeries[]): string | undefined {
  const found = new Map(series.map((one) => [one.labels.key, one]));
  const { startMs, stepMs } = evaluation.vectorRange ?? evaluation.range ?? { startMs: evaluation.timeMs, stepMs: 1 };
  let wanted = 0;
  for (const { labels, values } of evaluation.series) {
    const points = new Map(
      values.map((value, index) => [startMs + index * stepMs, value] as const).filter(([, value]) => typeof value === "number"),
    );
    if (points.size === 0) continue;
    wanted++;
    const problem = pointsProblem(points as Map<number, number>, found.get(labels.key));
    if (problem !== undefined) return `${labels}: ${problem}`;
  }
  return series.length === wanted
    ? undefined
    : `${series.length} series, expected ${wanted}: ${series.map(({ labels }) => labels).join(" ")}`;
}

function pointsProblem(points: ReadonlyMap<number, number>, series: StoredSeries | undefined): string | undefined {
  if (series === undefined) return "missing";
  for (const [index, time] of series.timesMs.entries()) {
    const wanted = points.get(time);
    const value = series.values[index] as number;
    if (wanted === undefined || !isNear(wanted, value)) return `${value} at ${time / 1_000} s, expected ${wanted}`;
  }
  return series.timesMs.length === points.size ? undefined : `${series.timesMs.length} points, expected ${points.size}`;
}

/** Whether a text is the expected one. */
export function isExpectedText({ text, pattern }: ExpectedText, found: string): boolean {
  if (text !== undefined) return found === text;
  return pattern === undefined || new RegExp(pattern.replace("(?i)", ""), pattern.includes("(?i)") ? "i" : "").test(found);
}

/** What is wrong with warnings and infos; undefined where nothing is. */
export function annotationProblem(
  evaluation: Evaluation,
  { warnings, infos }: Pick<QueryResult, "warnings" | "infos">,
): string | undefined {
  for (const wanted of evaluation.warnings) {
    if (!warnings.some((found) => isExpectedText(wanted, found))) return `no warning like ${JSON.stringify(wanted)}: ${warnings[0]}`;
  }
  for (const wanted of evaluation.infos) {
    if (!infos.some((found) => isExpectedText(wanted, found))) return `no info like ${JSON.stringify(wanted)}: ${infos[0]}`;
  }
  if (evaluation.hasNoWarning && warnings.length > 0) return `unexpected warning: ${warnings[0]}`;
  return evaluation.hasNoInfo && infos.length > 0 ? `unexpected info: ${infos[0]}` : undefined;
}
