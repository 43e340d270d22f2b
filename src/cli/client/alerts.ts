// `vedette alerts`: alerts of a running server in a table.
import { EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { listQuery, moreLines } from "./list-query.ts";
import { ask, connectTo, type Environment } from "./server-connection.ts";
import { plain, tableLines, writeJson } from "./table-text.ts";

const ASKED = {
  state: "firing",
  filters: { severity: "severity", service: "service_id", environment: "environment", sort: "sort" },
};

/** Alert as the lists and the stream show it. */
export interface ListedAlert {
  readonly alert_id: string;
  readonly state: string;
  readonly severity: string;
  readonly service_id: string;
  readonly environment: string;
  readonly family: string;
  readonly started_at: string;
  readonly explanation: string;
  readonly pages: number;
  readonly acknowledged_by: string | null;
  readonly held_back_by: string | null;
}

interface AlertPage {
  readonly alerts: readonly ListedAlert[];
  readonly total: number;
}

/** Asks and shows; resolves with the exit code. */
export async function runAlerts(given: CommandArguments, environment: Environment): Promise<number> {
  const page = await ask<AlertPage>(connectTo(given, environment), `/api/v1/alerts?${listQuery(given, ASKED)}`);
  if (given.has("json")) writeJson(page);
  else for (const line of alertLines(page)) writeLine(line);
  return EXIT.ok;
}

function alertLines({ alerts, total }: AlertPage): string[] {
  if (alerts.length === 0) return ["no alerts"];
  const rows = alerts.map((alert) => [
    alert.alert_id,
    alert.state,
    alert.severity,
    plain(alert.environment === "" ? alert.service_id : `${alert.service_id} (${alert.environment})`),
    alert.started_at,
    notified(alert),
    plain(alert.explanation),
  ]);
  return [
    ...tableLines(["ID", "STATE", "SEVERITY", "SERVICE", "STARTED", "TOLD", "EXPLANATION"], rows),
    ...moreLines(alerts.length, total),
  ];
}

/** Outcome of its page. */
function notified({ pages, acknowledged_by, held_back_by }: ListedAlert): string {
  if (acknowledged_by !== null) return `acknowledged by ${plain(acknowledged_by)}`;
  if (pages > 0) return pages === 1 ? "1 page" : `${pages} pages`;
  return held_back_by === null ? "not yet" : `held: ${held_back_by}`;
}
