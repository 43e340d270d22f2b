// Statuses of gRPC, and google.rpc.Status with RetryInfo in a trailer: what tells a sender of OTLP to come back, and when.
// https://opentelemetry.io/docs/specs/otlp/#failures, https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md
import { bytesField } from "../../../domain/codec/protobuf-field.ts";

export const GRPC_INVALID_ARGUMENT = 3;
export const GRPC_DEADLINE_EXCEEDED = 4;
export const GRPC_UNIMPLEMENTED = 12;
const GRPC_INTERNAL = 13;

/** By the HTTP status of the same answer; what is not here is the sender's fault. */
const CODES: Readonly<Record<number, number>> = {
  401: 16,
  403: 7,
  404: GRPC_UNIMPLEMENTED,
  405: GRPC_UNIMPLEMENTED,
  408: GRPC_DEADLINE_EXCEEDED,
  413: 8, // without RetryInfo: never sent again
  429: 8,
  500: GRPC_INTERNAL,
  501: GRPC_UNIMPLEMENTED,
  503: 14,
};
const RETRY_INFO = "type.googleapis.com/google.rpc.RetryInfo";
const MESSAGE_CHARACTERS_MAX = 1_000;

/** The status of an answer of HTTP. */
export function grpcCode(httpStatus: number): number {
  return CODES[httpStatus] ?? GRPC_INVALID_ARGUMENT;
}

/** Trailers of a failed call; `retrySeconds` where it may be sent again. */
export function failureTrailers(code: number, message: string, retrySeconds?: number): Record<string, string> {
  const shown = message.slice(0, MESSAGE_CHARACTERS_MAX);
  const trailers = { "grpc-status": String(code), "grpc-message": encodeURIComponent(shown).replaceAll("%20", " ") };
  if (retrySeconds === undefined) return trailers;
  const retryInfo = bytesField(1, [0x08, retrySeconds & 0x7f]);
  const detail = [...bytesField(1, Buffer.from(RETRY_INFO)), ...bytesField(2, retryInfo)];
  const status = Buffer.from([0x08, code, ...bytesField(2, Buffer.from(shown)), ...bytesField(3, detail)]);
  return { ...trailers, "grpc-status-details-bin": status.toString("base64").replace(/=+$/, "") };
}

/** The message of a google.rpc.Status as the front writes it: code, then message. */
export function statusMessage(body: Uint8Array): string {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
  const at = bytes[0] === 0x08 ? 2 : 0; // codes are below 128
  if (bytes[at] !== 0x12) return "";
  let length = 0;
  let from = at + 1;
  for (let shift = 0; shift < 28; shift += 7) {
    const byte = bytes[from++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) break;
  }
  return bytes.toString("utf8", from, from + length);
}
