// `vedette tail`: anomalies and alerts as they come, one a line, from the server's event stream.
import { serverStream } from "../../adapters/http/server-fetch.ts";
import { EventLines } from "../../core/text/event-lines.ts";
import { CommandError, EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import type { ListedAlert } from "./alerts.ts";
import { readCount } from "./label-operand.ts";
import { connectTo, type Environment, unreachable } from "./server-connection.ts";
import { plain } from "./table-text.ts";

const COUNT_MAX = 1_000_000_000;

interface StreamedAnomaly {
  readonly service_id: string;
  readonly environment: string;
  readonly metric_name: string;
  readonly severity: string;
  readonly resolved: boolean;
  readonly detected_at: string;
  readonly explanation: string;
}

/** Shows events until the stream ends or enough were shown. Throws UnreachableError where the server goes away. */
export async function runTail(given: CommandArguments, environment: Environment): Promise<number> {
  const { url, headers } = connectTo(given, environment);
  const count = given.text("count");
  let left = count === undefined ? Number.POSITIVE_INFINITY : readCount("count", count, COUNT_MAX);
  const isWanted = filterOf(given);
  const lines = new EventLines();
  const abort = new AbortController();
  try {
    for await (const piece of await openStream(url, headers, abort.signal)) {
      for (const { event, data } of lines.push(piece)) {
        if (!isWanted(event, data)) continue;
        writeLine(given.has("json") ? JSON.stringify({ event, data }) : eventLine(event, data));
        if (--left === 0) return EXIT.ok;
      }
    }
  } catch (error) {
    throw error instanceof CommandError ? error : unreachable(url, error);
  } finally {
    abort.abort();
  }
  throw unreachable(url, "it has ended the stream");
}

async function openStream(url: string, headers: Readonly<Record<string, string>>, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  const { status, body } = await serverStream(url, "/api/v1/stream", { headers, signal });
  if (status === 200) return body;
  let text = "";
  for await (const piece of body) text += Buffer.from(piece).toString();
  throw new CommandError(`the server answered ${status}: ${text.slice(0, 500)}`);
}

function filterOf(given: CommandArguments): (event: string, data: unknown) => boolean {
  const [only, service, environment] = [given.text("only"), given.text("service"), given.text("environment")];
  return (event, data) => {
    if (event === "missed") return true;
    const one = data as { readonly service_id?: string; readonly environment?: string };
    return (
      (only === undefined || only === event) &&
      (service === undefined || one.service_id === service) &&
      (environment === undefined || one.environment === environment)
    );
  };
}

function eventLine(event: string, data: unknown): string {
  if (event === "anomaly") {
    const { detected_at, severity, service_id, metric_name, resolved, explanation } = data as StreamedAnomaly;
    return plain(`${detected_at} anomaly ${resolved ? "resolved" : severity} ${service_id} ${metric_name}: ${explanation}`);
  }
  if (event === "alert") {
    const { started_at, severity, service_id, state, family, explanation } = data as ListedAlert;
    return plain(`${started_at} alert ${state} ${severity} ${service_id} ${family}: ${explanation}`);
  }
  return plain(`${event} ${JSON.stringify(data)}`);
}
