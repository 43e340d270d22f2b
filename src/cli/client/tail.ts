// `vedette tail`: anomalies and alerts as they come, one a line, from the server's event stream.
import { serverStream } from "../../adapters/http/server-fetch.ts";
import { CommandError, EXIT } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { type ListedAlert, notificationText, serviceText } from "./alerts.ts";
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
export async function runTail(input: CommandArguments, environment: Environment): Promise<number> {
  const { url, headers } = connectTo(input, environment);
  const count = input.text("count");
  let left = count === undefined ? Number.POSITIVE_INFINITY : readCount("count", count, COUNT_MAX);
  const isWanted = filterOf(input);
  const lines = new EventLines();
  const abort = new AbortController();
  try {
    for await (const piece of await openStream(url, headers, abort.signal)) {
      for (const { event, data } of lines.push(piece)) {
        if (!isWanted(event, data)) continue;
        writeLine(input.has("json") ? JSON.stringify({ event, data }) : eventLine(event, data));
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

function filterOf(input: CommandArguments): (event: string, data: unknown) => boolean {
  const [only, service, environment] = [input.text("only"), input.text("service"), input.text("environment")];
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
    const anomaly = data as StreamedAnomaly;
    const { detected_at, severity, metric_name, resolved, explanation } = anomaly;
    return plain(`${detected_at} anomaly ${resolved ? "resolved" : severity} ${serviceText(anomaly)} ${metric_name}: ${explanation}`);
  }
  if (event === "alert") {
    const alert = data as ListedAlert;
    const { started_at, severity, state, family, explanation, notification } = alert;
    return plain(
      `${started_at} alert ${state} ${severity} ${serviceText(alert)} ${family}: ${explanation} (${notificationText(notification)})`,
    );
  }
  return plain(`${event} ${JSON.stringify(data)}`);
}

// Server-sent events (WHATWG HTML 9.2.6) out of pieces of bytes: names and JSON data; comments, ids and retry times are left out.

interface ServerEvent {
  readonly event: string;
  readonly data: unknown;
}

/** Keeps what a piece leaves unfinished: at most one event. */
class EventLines {
  readonly #decoder = new TextDecoder();
  #rest = "";

  /** The events that a piece completes; one whose data is no JSON is left out. */
  push(piece: Uint8Array): ServerEvent[] {
    const parts = (this.#rest + this.#decoder.decode(piece, { stream: true })).split(/\r?\n\r?\n/);
    this.#rest = parts.pop() ?? "";
    return parts.flatMap(parseEvent);
  }
}

function parseEvent(text: string): ServerEvent[] {
  const lines = text.split(/\r?\n/);
  const values = (field: string) =>
    lines.filter((line) => line.startsWith(`${field}:`)).map((line) => line.slice(field.length + 1).replace(/^ /, ""));
  const data = values("data").join("\n");
  if (data === "") return [];
  try {
    return [{ event: values("event").at(-1) ?? "message", data: JSON.parse(data) as unknown }];
  } catch {
    return [];
  }
}
