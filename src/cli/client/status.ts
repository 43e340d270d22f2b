// `vedette status`: how a running server is, in a few lines; exit code 1 where a part of it is not in order.

import { GIB } from "../../core/config/byte-units.ts";
import { EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { ask, connectTo, type Environment, type ServerConnection, tryAsking } from "./server-connection.ts";
import { writeJson } from "./table-text.ts";

interface Status {
  readonly status: string;
  readonly version: string;
  readonly components: Readonly<Record<string, string>>;
  readonly watchdog: { readonly metrics_monitored: number; readonly anomalies_last_hour: number; readonly last_run: string };
  readonly notifier: { readonly reasons: readonly string[] };
  readonly store: { readonly state: string; readonly reason: string | null; readonly used_bytes: number; readonly free_bytes: number };
  readonly listeners: Readonly<Record<string, { readonly state: string; readonly port: number }>>;
}

interface Readiness {
  readonly status: string;
  readonly message?: string;
}

const GOOD_STATES: ReadonlySet<string> = new Set(["ok", "idle", "disabled", "closed", "listening"]);

/** Asks and shows; resolves with the exit code. */
export async function runStatus(input: CommandArguments, environment: Environment): Promise<number> {
  const connection = connectTo(input, environment);
  const ready = (await tryAsking<Readiness>(connection, "/readyz")).body;
  if (ready.status === "starting") {
    if (input.has("json")) writeJson({ ready, status: null });
    else writeLine(`starting: ${ready.message ?? ""}`);
    return EXIT.problems;
  }
  const status = await ask<Status>(connection, "/api/v1/status");
  if (input.has("json")) writeJson({ ready, status });
  else for (const line of statusLines(connection, ready, status)) writeLine(line);
  return ready.status === "ready" && isGood(status) ? EXIT.ok : EXIT.problems;
}

function isGood({ status, listeners }: Status): boolean {
  return status === "ok" && Object.values(listeners).every(({ state }) => GOOD_STATES.has(state));
}

function statusLines({ url }: ServerConnection, ready: Readiness, status: Status): string[] {
  const { watchdog, store, notifier } = status;
  const gib = (bytes: number) => `${(bytes / GIB).toFixed(1)} GiB`;
  return [
    `${status.status}: vedette ${status.version} at ${url}, ${ready.status}${ready.message === undefined ? "" : `: ${ready.message}`}`,
    `  parts       ${Object.entries(status.components)
      .map(([name, state]) => `${name} ${state}`)
      .join(", ")}`,
    `  detection   ${watchdog.metrics_monitored} series, ${watchdog.anomalies_last_hour} anomalies in the last hour, last run ${watchdog.last_run}`,
    `  disk        ${gib(store.used_bytes)} used, ${gib(store.free_bytes)} free${store.reason === null ? "" : `; writes are refused: ${store.reason}`}`,
    ...notifier.reasons.map((reason) => `  notifier    ${reason}`),
    ...Object.entries(status.listeners).map(([name, { state, port }]) => `  port ${String(port).padEnd(6)} ${name} ${state}`),
  ];
}
