// Answers of the OTLP endpoints, in the encoding of the request: Export*ServiceResponse with what was rejected, google.rpc.Status on errors.
// https://opentelemetry.io/docs/specs/otlp/#otlphttp-response
// A call of gRPC that reaches a port of HTTP/1.1.
// GET /api/v1/telemetry-types: the same for everybody and for ever, so the body is made once.
import { GRPC_ADVICE } from "../adapters/http/grpc/grpc-advice.ts";
import { RECORD_TYPES } from "../core/layout/counters.ts";
import { OTLP_SIGNALS, type OtlpEncoding, type OtlpSignal } from "../core/protocol/otlp-kind.ts";
import { google, otlp } from "./generated/otlp-answers.ts";
import { ERROR_STATUS, type ErrorCode, type Refusal } from "./refusal.ts";

/** The answer's body. */
export const TELEMETRY_TYPES_BODY = JSON.stringify({ types: RECORD_TYPES, default: RECORD_TYPES[0] });

/** Which signal a request has, and how its answer is to be written. */
export interface OtlpDialect {
  readonly signal: OtlpSignal;
  readonly encoding: OtlpEncoding;
}

/** A finished answer. */
export interface OtlpAnswer {
  readonly status: number;
  readonly contentType: string;
  readonly body: string | Uint8Array;
}

/** Items of a request that were refused; the others are stored. */
export interface PartialSuccess {
  readonly rejected: number;
  readonly message: string;
}

const PATHS: ReadonlyMap<string, OtlpSignal> = new Map(
  OTLP_SIGNALS.flatMap((signal) => [`/v1/${signal}`, `/api/v1/otlp/v1/${signal}`].map((path) => [path, signal] as const)),
);
const CONTENT_TYPES: Readonly<Record<OtlpEncoding, string>> = { protobuf: "application/x-protobuf", json: "application/json" };

/** Result of protobufjs for a message of schemas/. */
interface MessageEncoder {
  encode(message: object): { finish(): Uint8Array };
}

const REJECTED: Readonly<Record<OtlpSignal, string>> = {
  metrics: "rejectedDataPoints",
  traces: "rejectedSpans",
  logs: "rejectedLogRecords",
};
const RESPONSES: Readonly<Record<OtlpSignal, MessageEncoder>> = {
  metrics: otlp.ExportMetricsServiceResponse,
  traces: otlp.ExportTraceServiceResponse,
  logs: otlp.ExportLogsServiceResponse,
};
const STATUS: MessageEncoder = google.rpc.Status;
const NO_BYTES = new Uint8Array(0);

/** The media type without its parameters, in lower case. */
function mediaType(contentType: string | undefined): string {
  return (contentType?.split(";", 1)[0] ?? "").trim().toLowerCase();
}

/** The dialect of a request to an OTLP path, undefined for another path. What is not protobuf is answered in JSON. */
export function otlpDialect(path: string, contentType: string | undefined): OtlpDialect | undefined {
  const signal = PATHS.get(path);
  if (signal === undefined) return undefined;
  return { signal, encoding: mediaType(contentType) === CONTENT_TYPES.protobuf ? "protobuf" : "json" };
}

/** Why a request's Content-Type cannot be taken, or undefined. */
export function refuseOtlpType(contentType: string | undefined): Refusal | undefined {
  const type = mediaType(contentType);
  if (type === CONTENT_TYPES.json || type === CONTENT_TYPES.protobuf) return undefined;
  const grpc = refuseGrpc({ header: () => contentType });
  if (grpc !== undefined) return grpc;
  const got = contentType === undefined ? "none" : JSON.stringify(contentType.slice(0, 80));
  return { code: "unsupported_media_type", message: `Content-Type must be application/x-protobuf or application/json, got ${got}` };
}

/** The answer to a request that was decoded; `partial` null when nothing was refused. */
export function otlpSuccess({ signal, encoding }: OtlpDialect, partial: PartialSuccess | null): OtlpAnswer {
  const contentType = CONTENT_TYPES[encoding];
  if (partial === null) return { status: 200, contentType, body: encoding === "json" ? "{}" : NO_BYTES };
  const { rejected, message } = partial;
  if (encoding === "json") {
    const body = JSON.stringify({ partialSuccess: { [REJECTED[signal]]: String(rejected), errorMessage: message } });
    return { status: 200, contentType, body };
  }
  const partialSuccess = { [REJECTED[signal]]: rejected, errorMessage: message };
  return { status: 200, contentType, body: RESPONSES[signal].encode({ partialSuccess }).finish() };
}

/** The answer to a request that is refused. */
export function otlpError({ encoding }: OtlpDialect, { code, message }: Refusal): OtlpAnswer {
  const status = ERROR_STATUS[code];
  const number = rpcCode(code);
  const contentType = CONTENT_TYPES[encoding];
  if (encoding === "json") return { status, contentType, body: JSON.stringify({ code: number, message }) };
  return { status, contentType, body: STATUS.encode({ code: number, message }).finish() };
}

/** google.rpc.Code by HTTP status; what is not here is INVALID_ARGUMENT. https://github.com/googleapis/googleapis/blob/master/google/rpc/code.proto */
const RPC_CODES: Readonly<Record<number, number>> = {
  401: 16,
  403: 7,
  404: 5,
  405: 12,
  408: 4,
  409: 10,
  429: 8,
  500: 13,
  501: 12,
  503: 14,
};
const INVALID_ARGUMENT = 3;

function rpcCode(code: ErrorCode): number {
  return RPC_CODES[ERROR_STATUS[code]] ?? INVALID_ARGUMENT;
}

/** The refusal of a request by its Content-Type, with where to send it; undefined for what is no gRPC. */
export function refuseGrpc(request: { header(name: "content-type"): string | undefined }): Refusal | undefined {
  if (request.header("content-type")?.trim().toLowerCase().startsWith("application/grpc") !== true) return undefined;
  return { code: "unsupported_media_type", message: GRPC_ADVICE };
}
