// `vedette anomalies`: anomalies of a running server in a table.
import type { CommandArguments } from "../command-arguments.ts";
import { EXIT } from "../exit-code.ts";
import { writeLine } from "../terminal.ts";
import { readCount } from "./label-operand.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, tableLines, writeJson } from "./table-text.ts";

const LIMIT_MAX = 1000;
const LIMIT = 50;
const FILTERS = [
  ["severity", "severity"],
  ["service", "service_id"],
  ["environment", "environment"],
  ["metric", "metric_name"],
  ["sort", "sort"],
] as const;

interface ListedAnomaly {
  readonly anomaly_id: string;
  readonly resolved: boolean;
  readonly severity: string;
  readonly service_id: string;
  readonly environment: string;
  readonly metric_name: string;
  readonly detected_at: string;
  readonly explanation: string;
}

interface AnomalyPage {
  readonly anomalies: readonly ListedAnomaly[];
  readonly total: number;
}

/** Asks and shows; resolves with the exit code. */
export async function runAnomalies(given: CommandArguments, environment: Environment): Promise<number> {
  const page = await ask<AnomalyPage>(connectTo(given, environment), `/api/v1/anomalies?${query(given)}`);
  if (given.has("json")) writeJson(page);
  else for (const line of anomalyLines(page)) writeLine(line);
  return EXIT.ok;
}

function query(given: CommandArguments): URLSearchParams {
  const limit = given.text("limit");
  const search = new URLSearchParams({
    view: "list",
    limit: String(limit === undefined ? LIMIT : readCount("limit", limit, LIMIT_MAX)),
  });
  const state = given.text("state") ?? "open";
  if (state !== "all") search.set("state", state);
  for (const [option, name] of FILTERS) {
    const value = given.text(option);
    if (value !== undefined) search.set(name, value);
  }
  return search;
}

function anomalyLines({ anomalies, total }: AnomalyPage): string[] {
  if (anomalies.length === 0) return ["no anomalies"];
  const rows = anomalies.map((one) => [
    one.anomaly_id,
    one.resolved ? "resolved" : "open",
    one.severity,
    plain(one.environment === "" ? one.service_id : `${one.service_id} (${one.environment})`),
    plain(one.metric_name),
    one.detected_at,
    plain(one.explanation),
  ]);
  const more = total > anomalies.length ? [`${anomalies.length} of ${total}; --limit shows more`] : [];
  return [...tableLines(["ID", "STATE", "SEVERITY", "SERVICE", "METRIC", "DETECTED", "EXPLANATION"], rows), ...more];
}
