// How commands ask a running server: address and credential of options, environment or data folder; answers as JSON; failures in one line with their exit code.
import { serverFetch } from "../../adapters/http/server-fetch.ts";
import { CommandError, UnreachableError } from "../../server/exit-code.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { askedServer, askingHeaders } from "./asked-server.ts";

const REQUEST_MS_MAX = 30_000;
/** A drill answers at its end, within 160 s. */
export const DRILL_MS_MAX = 180_000;
const MESSAGE_CHARACTERS_MAX = 500;

export type Environment = Readonly<Record<string, string | undefined>>;

/** Where a server is and with what it is asked. */
export interface ServerConnection {
  /** Without a slash at the end. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Request to one server and its answer; `status` is that of HTTP. */
export interface ServerAnswer<T> {
  readonly status: number;
  readonly body: T;
}

/** Reads --url, --token, --token-file and --tenant, and what stands for them in the environment. Throws UsageError. */
export function connectTo(input: CommandArguments, environment: Environment): ServerConnection {
  const options = { url: input.text("url"), token: input.text("token"), tokenFile: input.text("token-file"), tenant: input.text("tenant") };
  const server = askedServer(options, environment);
  return { url: server.url, headers: askingHeaders(server) };
}

/** Asks for JSON whatever the status is. Throws UnreachableError. */
export async function tryAsking<T>(
  { url, headers }: ServerConnection,
  path: string,
  body?: unknown,
  method?: string,
  msMax = REQUEST_MS_MAX,
): Promise<ServerAnswer<T>> {
  const request = {
    method: method ?? (body === undefined ? "GET" : "POST"),
    headers: { ...headers, Accept: "application/json", ...(body !== undefined && { "Content-Type": "application/json" }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(msMax),
  };
  const answer = await serverFetch(url, path, request).catch((error: unknown) => error);
  if (!(answer instanceof Response)) throw unreachable(url, answer);
  const text = await answer.text().catch((error: unknown) => {
    throw unreachable(url, error);
  });
  return { status: answer.status, body: parseAnswer(text) as T };
}

/** Asks for JSON. Throws UnreachableError; CommandError with the server's message on any status but 2xx. */
export async function ask<T>(connection: ServerConnection, path: string, body?: unknown, method?: string, msMax?: number): Promise<T> {
  const answer = await tryAsking<T & { readonly message?: string }>(connection, path, body, method, msMax);
  if (answer.status >= 200 && answer.status < 300) return answer.body;
  const message = String(answer.body?.message ?? JSON.stringify(answer.body)).slice(0, MESSAGE_CHARACTERS_MAX);
  throw new CommandError(`the server answered ${answer.status}: ${message}`);
}

/** The error of a server that does not answer, with why. */
export function unreachable(url: string, error: unknown): UnreachableError {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const reason = cause instanceof Error ? cause.message || String((cause as { code?: unknown }).code ?? cause.name) : String(cause);
  return new UnreachableError(`no server answers at ${url} (${reason}); start it with vedette serve, or name it with --url`);
}

function parseAnswer(text: string): unknown {
  if (text === "") return null;
  try {
    return JSON.parse(text);
  } catch {
    return { message: text };
  }
}
