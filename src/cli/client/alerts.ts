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
  readonly acknowledged_by: string | null;
  readonly held_back_by: string | null;
  readonly notification: ListedNotification;
}

/** Whether anybody was told, as lists and the stream say it. */
export interface ListedNotification {
  readonly state: "to_be_told" | "told" | "not_told";
  readonly channel: string | null;
  readonly reason: string | null;
}

interface AlertPage {
  readonly alerts: readonly ListedAlert[];
  readonly total: number;
}

/** Asks and shows; resolves with the exit code. */
export async function runAlerts(input: CommandArguments, environment: Environment): Promise<number> {
  const page = await ask<AlertPage>(connectTo(input, environment), `/api/v1/alerts?${listQuery(input, ASKED)}`);
  if (input.has("json")) writeJson(page);
  else for (const line of alertLines(page)) writeLine(line);
  return EXIT.ok;
}

function alertLines({ alerts, total }: AlertPage): string[] {
  if (alerts.length === 0) return ["no alerts"];
  const rows = alerts.map((alert) => [
    alert.alert_id,
    alert.state,
    alert.severity,
    serviceText(alert),
    alert.started_at,
    takenText(alert),
    plain(alert.explanation),
  ]);
  return [
    ...tableLines(["ID", "STATE", "SEVERITY", "SERVICE", "STARTED", "TOLD", "EXPLANATION"], rows),
    ...moreLines(alerts.length, total),
  ];
}

/** Who has it, or whether anybody was told; what holds it in one word, since its reason is a sentence. */
function takenText({ acknowledged_by, held_back_by, notification }: ListedAlert): string {
  if (acknowledged_by !== null) return `acknowledged by ${plain(acknowledged_by)}`;
  if (notification.state === "to_be_told" && held_back_by !== null) return `held: ${held_back_by}`;
  return notificationText(notification);
}

/** Whether anybody was told, and by which channel or why not. */
export function notificationText({ state, channel, reason }: ListedNotification): string {
  if (state === "told") return plain(`told: ${channel}`);
  const why = reason === null ? "" : `: ${reason}`;
  return plain(state === "not_told" ? `nobody told${why}` : `to be told${why}`);
}

/** The service, and its environment where it has one. */
export function serviceText({ service_id, environment }: Pick<ListedAlert, "service_id" | "environment">): string {
  return plain(environment === "" ? service_id : `${service_id} (${environment})`);
}
