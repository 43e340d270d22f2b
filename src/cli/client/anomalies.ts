// `vedette anomalies`: anomalies of a running server in a table.
import { EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { type ListedNotification, notificationText, serviceText } from "./alerts.ts";
import { listQuery, moreLines } from "./list-query.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, tableLines, writeJson } from "./table-text.ts";

const ASKED = {
  state: "open",
  filters: { severity: "severity", service: "service_id", environment: "environment", metric: "metric_name", sort: "sort" },
};

interface ListedAnomaly {
  readonly anomaly_id: string;
  readonly resolved: boolean;
  readonly severity: string;
  readonly service_id: string;
  readonly environment: string;
  readonly metric_name: string;
  readonly detected_at: string;
  readonly explanation: string;
  readonly suppressed_by: string | null;
  readonly notification: ListedNotification;
}

interface AnomalyPage {
  readonly anomalies: readonly ListedAnomaly[];
  readonly total: number;
}

/** Asks and shows; resolves with the exit code. */
export async function runAnomalies(input: CommandArguments, environment: Environment): Promise<number> {
  const page = await ask<AnomalyPage>(connectTo(input, environment), `/api/v1/anomalies?view=list&${listQuery(input, ASKED)}`);
  if (input.has("json")) writeJson(page);
  else for (const line of anomalyLines(page)) writeLine(line);
  return EXIT.ok;
}

function anomalyLines({ anomalies, total }: AnomalyPage): string[] {
  if (anomalies.length === 0) return ["no anomalies"];
  const rows = anomalies.map((one) => [
    one.anomaly_id,
    one.resolved ? "resolved" : "open",
    one.severity,
    serviceText(one),
    plain(one.metric_name),
    one.detected_at,
    one.notification.state === "to_be_told" && one.suppressed_by !== null
      ? `held: ${one.suppressed_by}`
      : notificationText(one.notification),
    plain(one.explanation),
  ]);
  return [
    ...tableLines(["ID", "STATE", "SEVERITY", "SERVICE", "METRIC", "DETECTED", "TOLD", "EXPLANATION"], rows),
    ...moreLines(anomalies.length, total),
  ];
}
