// `vedette promql eval`: a query over series that a file says in promqltest's notation, as a table or as Prometheus' API answers.
import { readFileSync } from "node:fs";
import { messageOf } from "../../core/text/error-text.ts";
import { formatPlain } from "../../core/text/plain-number.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import { MemoryStorage } from "../../domain/promql/memory-storage.ts";
import { parseDurationMs } from "../../domain/promql/parser/duration-text.ts";
import { ParseError } from "../../domain/promql/parser/position.ts";
import { QueryBudget } from "../../domain/promql/query-budget.ts";
import { type QueryResult, type QueryValue, queryInstant } from "../../domain/promql/query-engine.ts";
import { QueryError } from "../../domain/promql/query-error.ts";
import { loadSeries, SeriesDescriptionError } from "../../domain/promql/series-description.ts";
import { CommandError, EXIT, UsageError } from "../../server/exit-code.ts";
import { writeError, writeLine } from "../../server/terminal.ts";
import { tableLines, writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";

/** Evaluates a query at one moment; exit code 1 where it cannot be. `nowMs` is the clock of its budget. */
export function runPromqlEval(input: CommandArguments, nowMs: () => number): number {
  const [query] = input.operands;
  const path = input.text("series");
  if (query === undefined) throw new UsageError("vedette promql eval needs an EXPR");
  if (path === undefined) throw new UsageError("vedette promql eval needs --series FILE");
  const storage = readSeries(path);
  const time = input.text("time");
  const timeMs = time === undefined ? storage.lastMs : parseTime(time);
  try {
    writeResult(queryInstant(query, timeMs, { storage, budget: new QueryBudget(nowMs) }), timeMs, input.has("json"));
    return EXIT.ok;
  } catch (error) {
    if (!(error instanceof ParseError || error instanceof QueryError)) throw error;
    writeError(error.message);
    return EXIT.problems;
  }
}

function readSeries(path: string): MemoryStorage {
  const storage = new MemoryStorage();
  try {
    loadSeries(readFileSync(path, "utf8"), storage);
  } catch (error) {
    if (error instanceof SeriesDescriptionError) throw new CommandError(`${path}: ${error.message}`);
    throw new CommandError(`${path} cannot be read: ${messageOf(error)}`);
  }
  return storage;
}

/** Seconds since 1970, a duration since then such as 10m, or a moment. */
function parseTime(text: string): number {
  if (/^-?\d+(?:\.\d+)?$/.test(text)) return Math.round(Number(text) * 1_000);
  const ms = parseDurationMs(text);
  const moment = typeof ms === "number" ? ms : parseRfc3339(text);
  if (moment === undefined) throw new UsageError(`--time must be seconds, a duration such as 10m or a moment, not ${JSON.stringify(text)}`);
  return moment;
}

function writeResult({ value, warnings, infos }: QueryResult, timeMs: number, isJson: boolean): void {
  if (isJson) {
    writeJson({ status: "success", data: { resultType: value.type, result: jsonOf(value, timeMs) }, warnings, infos });
    return;
  }
  for (const line of [...warnings, ...infos]) writeError(line);
  for (const line of linesOf(value)) writeLine(line);
}

/** Results as Prometheus' HTTP API has them. */
function jsonOf(value: QueryValue, timeMs: number): unknown {
  if (value.type === "string") return [timeMs / 1_000, value.value];
  if (value.type === "scalar") return [timeMs / 1_000, formatPlain(value.value)];
  if (value.type === "vector") {
    return value.samples.map((sample) => ({ metric: sample.labels.toObject(), value: [timeMs / 1_000, formatPlain(sample.value)] }));
  }
  return value.series.map(({ labels, timesMs, values }) => ({
    metric: labels.toObject(),
    values: Array.from(timesMs, (ms, index) => [ms / 1_000, formatPlain(values[index] as number)]),
  }));
}

function linesOf(value: QueryValue): string[] {
  if (value.type === "string") return [value.value];
  if (value.type === "scalar") return [formatPlain(value.value)];
  const isVector = value.type === "vector";
  const rows = isVector
    ? value.samples.map((sample) => [sample.labels.metricText, formatPlain(sample.value)])
    : value.series.map(({ labels, timesMs, values }) => [
        labels.metricText,
        Array.from(timesMs, (ms, index) => `${formatPlain(values[index] as number)} @${ms / 1_000}`).join(" "),
      ]);
  return rows.length === 0 ? ["no series"] : tableLines(["SERIES", isVector ? "VALUE" : "VALUES @SECONDS"], rows);
}
