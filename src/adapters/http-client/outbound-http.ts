/**
 * Requests to other servers: kept connections, no redirects, an answer of at most ANSWER_BYTES_MAX, one deadline for all of it. A guarded client connects only to
 * addresses that the guard lets through, asked three times: of the URL's own host, of each address its name resolves to, and of the socket's other end before a byte
 * is written. undici's `connect.lookup` is never asked about address literals, and a name may resolve to another address the next time.
 *
 * Retry-After (RFC 9110, section 10.2.3): seconds, or a date.
 */
import { type LookupAddress, lookup } from "node:dns";
import { Agent, buildConnector, errors, request } from "undici";
import { connection, guarded } from "../../core/faults/guard.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { SECOND_MS } from "../../core/time/durations.ts";
import { forbiddenAddress, forbiddenUrl } from "./address-guard.ts";

const RETRY_AFTER_MS_MAX = 86_400 * SECOND_MS;

/** An HTTP date in any of its three forms: it begins with the day of the week. */
const HTTP_DATE = /^(mon|tue|wed|thu|fri|sat|sun)[a-z]*,? /i;

/** Size of an answer's body, for error messages: a line of text. What is longer is not read. */
const ANSWER_BYTES_MAX = 2_048;
export const ERROR_CHARACTERS_MAX = 300;
/** A connection without a request for so long is closed; a receiver that is told every minute keeps its own. */
const KEEP_ALIVE_MS = 75_000;

export interface OutboundRequest {
  readonly url: string;
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly timeoutMs: number;
}

/** `mayHaveArrived`: the request was sent, at least in part, and no answer came. */
export type OutboundAnswer =
  | {
      readonly kind: "answered";
      readonly status: number;
      readonly retryAfterMs: number | null;
      readonly text: string;
      readonly tookMs: number;
    }
  | {
      readonly kind: "failed";
      readonly error: string;
      readonly mayHaveArrived: boolean;
      readonly blocked: boolean;
      readonly tookMs: number;
    };

export interface OutboundOptions {
  /** Undefined for URLs that the operator has set in the environment. */
  readonly guard: { readonly allowPrivate: boolean } | undefined;
  readonly connectionsPerOrigin: number;
  readonly monotonicMs: () => number;
  readonly wallMs: () => number;
}

/** Why the guard has refused to connect. */
class BlockedAddress extends Error {
  readonly code = "BLOCKED";
}

export class OutboundHttp {
  readonly #options: OutboundOptions;
  readonly #agent: Agent;

  constructor(options: OutboundOptions) {
    this.#options = options;
    this.#agent = new Agent({
      connect: options.guard === undefined ? {} : guardedConnector(options.guard.allowPrivate),
      connections: options.connectionsPerOrigin,
      keepAliveTimeout: KEEP_ALIVE_MS,
      pipelining: 1,
    });
  }

  /** Never rejects. */
  async send({ url, method, headers, body, timeoutMs }: OutboundRequest): Promise<OutboundAnswer> {
    const startMs = this.#options.monotonicMs();
    const took = () => this.#options.monotonicMs() - startMs;
    const { guard } = this.#options;
    const problem = guard === undefined ? null : forbiddenUrl(url, guard.allowPrivate);
    if (problem !== null) return { kind: "failed", error: blockedText(problem), mayHaveArrived: false, blocked: true, tookMs: 0 };
    try {
      const answer = await request(url, {
        method,
        headers,
        body: body ?? null,
        dispatcher: this.#agent,
        signal: AbortSignal.timeout(timeoutMs),
      });
      const text = await beginning(answer.body);
      const asked = retryAfterMs(first(answer.headers["retry-after"]), first(answer.headers.date), this.#options.wallMs());
      return { kind: "answered", status: answer.statusCode, retryAfterMs: asked, text, tookMs: took() };
    } catch (error) {
      return { ...failureOf(error, timeoutMs), tookMs: took() };
    }
  }

  async close(): Promise<void> {
    await this.#agent.destroy();
  }
}

function blockedText(problem: string): string {
  return `blocked: the URL leads to ${problem}`;
}

/** undici's connector, with the guard before a name's addresses are tried and before anything is written. */
function guardedConnector(allowPrivate: boolean): buildConnector.connector {
  const connect = buildConnector({
    lookup: (hostname, options, callback) => {
      const home = connection("the look-up of a receiver's name", () => callback(new Error("its name could not be looked up"), "", 0));
      const found = guarded(home, (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => {
        if (error) return callback(error, "", 0);
        const allowed = addresses.filter(({ address }) => forbiddenAddress(address, allowPrivate) === null);
        const [first] = allowed;
        if (first === undefined) {
          const reason = forbiddenAddress(addresses[0]?.address ?? "", allowPrivate) ?? "no address";
          return callback(new BlockedAddress(reason), "", 0);
        }
        if (options.all) return (callback as unknown as (error: null, addresses: typeof allowed) => void)(null, allowed);
        return callback(null, first.address, first.family);
      });
      lookup(hostname, { ...options, all: true }, found);
    },
  });
  return (options, callback) => {
    const problem = forbiddenUrl(`${options.protocol}//${options.host ?? options.hostname}`, allowPrivate);
    if (problem !== null) return callback(new BlockedAddress(problem), null);
    return connect(options, (...result) => {
      const [error, socket] = result;
      if (error !== null) return callback(error, null);
      const peer = forbiddenAddress(socket.remoteAddress ?? "", allowPrivate);
      if (peer === null) return callback(null, socket);
      socket.destroy();
      return callback(new BlockedAddress(peer), null);
    });
  };
}

/** The first characters of a body; the rest is not read, and its connection is closed. */
async function beginning(body: AsyncIterable<Uint8Array> & { destroy(): unknown }): Promise<string> {
  const parts: Uint8Array[] = [];
  let bytes = 0;
  for await (const part of body) {
    parts.push(part);
    bytes += part.length;
    if (bytes >= ANSWER_BYTES_MAX) {
      body.destroy();
      break;
    }
  }
  return Buffer.concat(parts).toString("utf8", 0, ANSWER_BYTES_MAX);
}

function first(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function failureOf(error: unknown, timeoutMs: number): { kind: "failed"; error: string; mayHaveArrived: boolean; blocked: boolean } {
  const code = codeOf(error);
  if (error instanceof BlockedAddress) return { kind: "failed", error: blockedText(error.message), mayHaveArrived: false, blocked: true };
  const neverSent = NEVER_SENT.has(code) || code.startsWith("CERT_") || code.startsWith("ERR_TLS") || code.includes("_CERT");
  const text = isTimeout(error) ? `no answer in ${timeoutMs / 1_000} s` : messageOf(error);
  return { kind: "failed", error: text.slice(0, ERROR_CHARACTERS_MAX) || code, mayHaveArrived: !neverSent, blocked: false };
}

/** Errors of a connection that never was. */
const NEVER_SENT: ReadonlySet<string> = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
  "UND_ERR_INVALID_ARG",
  "ERR_INVALID_URL",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
]);

function isTimeout(error: unknown): boolean {
  return (error instanceof Error && error.name === "TimeoutError") || error instanceof errors.HeadersTimeoutError;
}

function codeOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0) return codeOf(error.errors[0]);
  const code = typeof error === "object" && error !== null && "code" in error ? error.code : "";
  return typeof code === "string" ? code : "";
}

/**
 * Milliseconds that a receiver asks for, a day at most; null where it says nothing that can be read. A date counts from the answer's own `Date`, where there is one:
 * clocks of receivers are off. `nowMs` is wall time.
 */
export function retryAfterMs(retryAfter: string | undefined, date: string | undefined, nowMs: number): number | null {
  const text = retryAfter?.trim() ?? "";
  if (/^\d{1,9}$/.test(text)) return Math.min(Number(text) * SECOND_MS, RETRY_AFTER_MS_MAX);
  const atMs = httpDateMs(text);
  if (atMs === null) return null;
  const sinceMs = (date === undefined ? null : httpDateMs(date.trim())) ?? nowMs;
  return Math.min(Math.max(0, atMs - sinceMs), RETRY_AFTER_MS_MAX);
}

function httpDateMs(text: string): number | null {
  if (!HTTP_DATE.test(text)) return null;
  const ms = Date.parse(/gmt$/i.test(text) ? text : `${text} GMT`);
  return Number.isNaN(ms) ? null : ms;
}
