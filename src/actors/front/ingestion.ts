// Takes the body of a write request: checks what its headers say, collects it, inflates it, hands it to the least busy engine.
// Who sends a body, as a number that is the same after a restart: metadata of remote-write 1.0 name no series, so all that ties them to series is who sent both.

import { createHash } from "node:crypto";
import type { BodyReceiver, HttpExchange } from "../../adapters/http/http-server.ts";
import type { Clock } from "../../adapters/platform/clock.ts";
import { type OtlpDialect, otlpDialect, refuseOtlpType } from "../../api/otlp-answer.ts";
import type { Refusal } from "../../api/refusal.ts";
import { BoundedMap } from "../../core/collections/bounded-map.ts";
import {
  BODY_BYTES_MAX,
  CREDENTIALS_CACHED_MAX,
  DECOMPRESSED_BYTES_MAX,
  IDEMPOTENCY_KEY_BYTES_MAX,
  IMPORT_BODIES_WAITING_MAX,
  IMPORT_BODY_BYTES_MAX,
} from "../../core/config/limits.ts";
import { run } from "../../core/faults/guard.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import {
  BODY_IMPORT_CSV,
  BODY_IMPORT_JSON,
  BODY_IMPORT_REMOTE_WRITE_1,
  BODY_IMPORT_REMOTE_WRITE_2,
  BODY_JSON_BATCH,
  BODY_JSON_SINGLE,
  BODY_OTLP,
  BODY_REMOTE_WRITE_1,
  BODY_REMOTE_WRITE_2,
  isHistoryBody,
} from "../../core/protocol/body-kind.ts";
import { otlpBodyKind, otlpOfBodyKind } from "../../core/protocol/otlp-kind.ts";
import { isLongerThan } from "../../core/text/utf8.ts";
import type { AnswerReceiver, BodyPort, OutgoingBody } from "./body-port.ts";
import { type Coding, HAS_ZSTD, Inflations } from "./inflation.ts";
import { remoteWriteKind } from "./remote-write-headers.ts";

const NUMBER_DIGITS = 8;

/** Body kind of each ingestion endpoint, by its name in the endpoint table. */
const BODY_KINDS: ReadonlyMap<string, number> = new Map([
  ["telemetry", BODY_JSON_SINGLE],
  ["telemetryBatch", BODY_JSON_BATCH],
  ["remoteWrite", BODY_REMOTE_WRITE_1],
  ["remoteWriteOtherSpelling", BODY_REMOTE_WRITE_1],
]);

/** Compression of bodies by the names of Content-Encoding, in lower case; undefined for none. */
const CODINGS: ReadonlyMap<string, Coding | undefined> = new Map([
  ["identity", undefined],
  ["gzip", "gzip"],
  ["x-gzip", "gzip"],
  ...(HAS_ZSTD ? [["zstd", "zstd"] as const] : []),
]);
const ENCODING_NAMES = HAS_ZSTD ? "gzip, zstd or identity" : "gzip or identity";
const ZSTD_ADVICE = "; zstd is taken by a server on Node 22.15 or newer";

/** Callback with the outcome, called once. */
export interface OutcomeReceiver extends AnswerReceiver {
  refuse(refusal: Refusal): void;
}

/** Whose a body is. */
export interface Sender {
  readonly tenant: number;
  /** The request had no credential. */
  readonly isAnonymous: boolean;
  /** Whom the request acts as. */
  readonly subject: string;
}

/** A body on its way, and how it is collected. */
export interface SentBody {
  readonly exchange: HttpExchange;
  /** Collects the body as its admission has it (access/authorizer.ts). */
  collect(bytesMax: number, onBody: BodyReceiver): void;
}

export interface IngestionDependencies {
  readonly clock: Clock;
  readonly ports: readonly BodyPort[];
  /** Publishes what was submitted, once per turn of the event loop. */
  readonly schedulePublish: () => void;
}

/** The write side of the front. */
export class Ingestion {
  readonly #dependencies: IngestionDependencies;
  readonly #inflations = new Inflations();
  overloaded = 0;

  constructor(dependencies: IngestionDependencies) {
    this.#dependencies = dependencies;
  }

  get inflating(): number {
    return this.#inflations.count;
  }

  /** Takes a request; must be called in the handler's turn or on a held exchange, because the body begins to flow then. */
  take(endpoint: string, sender: Sender, sent: SentBody, receiver: OutcomeReceiver): void {
    if (endpoint === "importHistory") {
      this.#import(sender, sent, receiver);
      return;
    }
    const { exchange } = sent;
    const usual = BODY_KINDS.get(endpoint) ?? otlpKind(exchange);
    const reported = usual === BODY_REMOTE_WRITE_1 ? remoteWriteKind(exchange.request) : undefined;
    const kind = reported?.ok === true ? reported.value : usual;
    const refusal = reported === undefined ? refuseHeaders(usual, exchange) : reported.ok ? undefined : reported.refusal;
    const idempotencyKey = exchange.request.header("idempotency-key") ?? "";
    if (refusal !== undefined) receiver.refuse(refusal);
    else if (isLongerThan(idempotencyKey, IDEMPOTENCY_KEY_BYTES_MAX)) {
      receiver.refuse({
        code: "bad_request",
        message: `Idempotency-Key may have ${IDEMPOTENCY_KEY_BYTES_MAX} bytes, got ${idempotencyKey.length} characters`,
      });
    } else this.#collect(kind, sender, idempotencyKey, sent, receiver);
  }

  /** History waits while many bodies of live telemetry do, and comes in small pieces. */
  #import(sender: Sender, sent: SentBody, receiver: OutcomeReceiver): void {
    const kind = importKind(sent.exchange);
    if (typeof kind !== "number") receiver.refuse(kind);
    else if (this.#dependencies.ports.every(({ waiting }) => waiting >= IMPORT_BODIES_WAITING_MAX)) this.#refuseOverload(receiver);
    else this.#collect(kind, sender, "", sent, receiver);
  }

  #collect(kind: number, sender: Sender, idempotencyKey: string, sent: SentBody, receiver: OutcomeReceiver): void {
    const { exchange } = sent;
    const isSnappy = SNAPPY_KINDS.has(kind);
    const encoding = isSnappy ? undefined : exchange.request.header("content-encoding");
    const coding = encoding === undefined ? undefined : CODINGS.get(codingName(encoding));
    const { tenant, isAnonymous, subject } = sender;
    const number = kind === BODY_REMOTE_WRITE_1 ? senderNumber(subject, isAnonymous, () => exchange.request.remoteAddress) : 0;
    sent.collect(isHistoryBody(kind) ? IMPORT_BODY_BYTES_MAX : BODY_BYTES_MAX, (body) => {
      const { clock } = this.#dependencies;
      const [arrivalMs, wallMs] = [clock.monotonicMs(), clock.wallMs()];
      const arrived = { bytes: body, kind, tenant, isAnonymous, sender: number, idempotencyKey, arrivalMs, wallMs };
      if (coding !== undefined) this.#inflate(arrived, coding, exchange, receiver);
      else this.#submit(arrived, receiver);
    });
  }

  #inflate(body: OutgoingBody, coding: Coding, { home }: HttpExchange, receiver: OutcomeReceiver): void {
    const { bytes, tenant, kind } = body;
    const bytesMax = isHistoryBody(kind) ? IMPORT_BODY_BYTES_MAX : DECOMPRESSED_BYTES_MAX;
    const taken = this.#inflations.take({ bytes, coding, tenant, bytesMax }, (result) =>
      run(home, () => {
        if (result.ok) this.#submit({ ...body, bytes: result.pieces[0] as Uint8Array, rest: result.pieces.slice(1) }, receiver);
        else if (result.reason === "too_large") receiver.refuse({ code: "payload_too_large", message: result.message });
        else {
          const code = kind >= BODY_OTLP && otlpOfBodyKind(kind).encoding === "protobuf" ? "invalid_protobuf" : "invalid_json";
          receiver.refuse({ code, message: result.message });
        }
      }),
    );
    if (!taken) this.#refuseOverload(receiver);
  }

  #submit(body: OutgoingBody, receiver: OutcomeReceiver): void {
    const port = this.#choosePort(body.idempotencyKey);
    if (!port.submit(body, receiver)) {
      this.#refuseOverload(receiver);
      return;
    }
    this.#dependencies.schedulePublish();
  }

  /** The engine with the fewest bodies waiting; requests with an Idempotency-Key go by its hash, so that a repeat meets the first. */
  #choosePort(idempotencyKey: string): BodyPort {
    const { ports } = this.#dependencies;
    if (idempotencyKey !== "") return ports[createHash("sha1").update(idempotencyKey).digest().readUInt32LE(0) % ports.length] as BodyPort;
    let best = ports[0] as BodyPort;
    for (let i = 1; i < ports.length; i++) if ((ports[i] as BodyPort).waiting < best.waiting) best = ports[i] as BodyPort;
    return best;
  }

  #refuseOverload(receiver: OutcomeReceiver): void {
    this.overloaded++;
    receiver.refuse({
      code: "overloaded",
      message: "the engines have as much waiting as they may; nothing of this request was stored, send it again shortly",
    });
  }
}

/** Bodies that are compressed as their format says, whatever their headers do. */
const SNAPPY_KINDS = new Set([BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2, BODY_IMPORT_REMOTE_WRITE_1, BODY_IMPORT_REMOTE_WRITE_2]);

/** Kind of the body by its headers, or why it is not read. */
function importKind(exchange: HttpExchange): number | Refusal {
  const type = exchange.request.header("content-type") ?? "";
  if (/^\s*application\/x-protobuf\s*(?:;|$)/i.test(type)) {
    const written = remoteWriteKind(exchange.request);
    if (!written.ok) return written.refusal;
    return written.value === BODY_REMOTE_WRITE_1 ? BODY_IMPORT_REMOTE_WRITE_1 : BODY_IMPORT_REMOTE_WRITE_2;
  }
  const kind = /^text\/csv\s*(?:;|$)/i.test(type)
    ? BODY_IMPORT_CSV
    : /^application\/json\s*(?:;|$)/i.test(type)
      ? BODY_IMPORT_JSON
      : undefined;
  if (kind !== undefined) return refuseEncoding(exchange) ?? kind;
  const got = type === "" ? "none" : JSON.stringify(type.slice(0, 80));
  return {
    code: "unsupported_media_type",
    message: `Content-Type must be text/csv, application/json or application/x-protobuf, got ${got}`,
  };
}

function refuseJsonHeaders(exchange: HttpExchange): Refusal | undefined {
  const type = exchange.request.header("content-type");
  if (type !== "application/json" && (type === undefined || !/^application\/json\s*(?:;|$)/i.test(type))) {
    return {
      code: "unsupported_media_type",
      message: `Content-Type must be application/json, got ${type === undefined ? "none" : JSON.stringify(type.slice(0, 80))}`,
    };
  }
  return refuseEncoding(exchange);
}

function refuseHeaders(kind: number, exchange: HttpExchange): Refusal | undefined {
  return kind >= BODY_OTLP ? refuseOtlpHeaders(exchange) : refuseJsonHeaders(exchange);
}

/** Kind of an OTLP body: the endpoint's path says the signal. */
function otlpKind({ request }: HttpExchange): number {
  const { signal, encoding } = otlpDialect(request.path, request.header("content-type")) as OtlpDialect;
  return otlpBodyKind(signal, encoding);
}

function refuseOtlpHeaders(exchange: HttpExchange): Refusal | undefined {
  return refuseOtlpType(exchange.request.header("content-type")) ?? refuseEncoding(exchange);
}

function refuseEncoding(exchange: HttpExchange): Refusal | undefined {
  const encoding = exchange.request.header("content-encoding");
  if (encoding === undefined || CODINGS.has(codingName(encoding))) return undefined;
  const advice = codingName(encoding) === "zstd" ? ZSTD_ADVICE : "";
  const message = `Content-Encoding must be ${ENCODING_NAMES}, got ${JSON.stringify(encoding.slice(0, 80))}${advice}`;
  return { code: "unsupported_media_type", message };
}

function codingName(encoding: string): string {
  return encoding.trim().toLowerCase();
}

/** Numbers that were asked for before: a hash takes up to 1 us (core/hashing/hash128.ts). */
const SENDER_NUMBERS = new BoundedMap<string, number>(CREDENTIALS_CACHED_MAX);

/** The credential's number, and that of the address where there is no credential; never 0. */
export function senderNumber(subject: string, isAnonymous: boolean, remoteAddress: () => string): number {
  const name = isAnonymous ? `address ${remoteAddress()}` : `subject ${subject}`;
  return SENDER_NUMBERS.obtain(name, () => Number.parseInt(hash128(name).slice(0, NUMBER_DIGITS), 16) || 1);
}
