// `vedette query`: an expression of PromQL asked of a running server, as a table, as a small chart of each series over a range, or as the server answered.
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import { Labels } from "../../domain/promql/labels/labels.ts";
import { parseDurationMs } from "../../domain/promql/parser/duration-text.ts";
import { CommandError, EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { connectTo, type Environment, tryAsking } from "../client/server-connection.ts";
import { plain, tableLines, writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";

/** Columns of a chart, each of so many steps. */
const CHART_COLUMNS = 60;
const BARS = "▁▂▃▄▅▆▇█";

type Point = readonly [seconds: number, value: string];

interface Series {
  readonly metric: Readonly<Record<string, string>>;
  readonly value?: Point;
  readonly values?: readonly Point[];
}

interface Answer {
  readonly status: "success" | "error";
  readonly error?: string;
  readonly data?: { readonly resultType: string; readonly result: Point | readonly Series[] };
  readonly warnings?: readonly string[];
  readonly infos?: readonly string[];
}

/** Asks and shows; exit code 1 where the server refuses the expression. */
export async function runQuery(command: CommandArguments, environment: Environment, nowMs: number): Promise<number> {
  const answer = await tryAsking<Answer>(connectTo(command, environment), pathOf(command, nowMs));
  const { status, body } = answer;
  if (status !== 400 && status !== 422 && status !== 200)
    throw new CommandError(`the server answered ${status}: ${body.error ?? "no reason"}`);
  if (command.has("json")) writeJson(body);
  else if (body.data === undefined) writeError(body.error ?? "the server gave no reason");
  else {
    for (const remark of [...(body.warnings ?? []), ...(body.infos ?? [])]) writeError(plain(remark));
    for (const line of queryLines(body.data)) writeLine(line);
  }
  return body.status === "success" ? EXIT.ok : EXIT.problems;
}

/** The request of a command: a moment, or a range up to one. */
function pathOf(command: CommandArguments, nowMs: number): string {
  const [query] = command.operands;
  if (query === undefined) throw new UsageError("vedette query needs an EXPR");
  const endMs = momentOf(command.text("time"), nowMs);
  const range = command.text("range");
  const parameters = new URLSearchParams({ query });
  if (range === undefined) {
    parameters.set("time", String(endMs / 1_000));
    return `/prometheus/api/v1/query?${parameters}`;
  }
  const rangeMs = durationOf("range", range);
  const step = command.text("step");
  const stepMs = step === undefined ? Math.max(1_000, Math.ceil(rangeMs / CHART_COLUMNS / 1_000) * 1_000) : durationOf("step", step);
  parameters.set("start", String((endMs - rangeMs) / 1_000));
  parameters.set("end", String(endMs / 1_000));
  parameters.set("step", String(stepMs / 1_000));
  return `/prometheus/api/v1/query_range?${parameters}`;
}

function momentOf(text: string | undefined, nowMs: number): number {
  if (text === undefined) return nowMs;
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  const ago = parseDurationMs(text);
  const moment = typeof ago === "number" ? nowMs - ago : parseRfc3339(text);
  if (moment === undefined)
    throw new UsageError(`--time takes seconds, 2026-01-31T12:00:00Z or how long ago such as 10m, got ${JSON.stringify(text)}`);
  return moment;
}

function durationOf(option: string, text: string): number {
  const ms = parseDurationMs(text);
  if (typeof ms === "number" && ms > 0) return ms;
  throw new UsageError(`--${option} takes a duration such as 1h, got ${JSON.stringify(text)}`);
}

export function queryLines({ resultType, result }: NonNullable<Answer["data"]>): string[] {
  if (resultType === "scalar" || resultType === "string") return [plain((result as Point)[1])];
  const series = result as readonly Series[];
  if (series.length === 0) return ["no series"];
  const name = ({ metric }: Series) => plain(Labels.of(Object.entries(metric)).metricText);
  if (resultType === "vector")
    return tableLines(
      ["VALUE", "SERIES"],
      series.map((one) => [one.value?.[1] ?? "", name(one)]),
    );
  return tableLines(
    ["LEAST", "GREATEST", "LAST", "CHART", "SERIES"],
    series.map((one) => [...extremes(one.values ?? []), chartOf(one.values ?? []), name(one)]),
  );
}

function extremes(points: readonly Point[]): string[] {
  const values = points.map(([, text]) => text).filter((text) => Number.isFinite(Number(text)));
  const sorted = [...values].sort((a, b) => Number(a) - Number(b));
  return [sorted[0] ?? "", sorted.at(-1) ?? "", points.at(-1)?.[1] ?? ""];
}

/** A bar for each of at most CHART_COLUMNS parts of the points: the greatest value of each, between the least and the greatest of all. */
function chartOf(points: readonly Point[]): string {
  const values = points.map(([, text]) => Number(text));
  const finite = values.filter(Number.isFinite);
  const [least, most] = [Math.min(...finite), Math.max(...finite)];
  const columns = Math.min(CHART_COLUMNS, values.length);
  return Array.from({ length: columns }, (_, column) => {
    const part = values.slice(Math.floor((column * values.length) / columns), Math.floor(((column + 1) * values.length) / columns));
    const highest = Math.max(...part.filter(Number.isFinite));
    if (!Number.isFinite(highest)) return " ";
    return BARS[most === least ? 0 : Math.round(((highest - least) / (most - least)) * (BARS.length - 1))] as string;
  }).join("");
}
