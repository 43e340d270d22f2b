// What a client of gRPC, or of HTTP/2, is told on a port of HTTP/1.1: its connection begins with a preface that no such request has (RFC 9113, 3.4).

/** Where gRPC is served, and what to set to send OTLP over HTTP instead. */
export const GRPC_ADVICE =
  "gRPC is served on a port of its own, OTLP_GRPC_PORT (4317); here send OTLP over HTTP: set OTEL_EXPORTER_OTLP_PROTOCOL=http/protobuf, or in a collector use the otlphttp exporter, with port 4318";

const PREFACE = Buffer.from("PRI * HTTP/2.0\r\n");
const SETTINGS = 4;
const GOAWAY = 7;
/** The client is asked for HTTP/1.1. */
const HTTP_1_1_REQUIRED = 13;
const FRAME_HEAD_BYTES = 9;

/** Whether a connection began as one of HTTP/2. */
export function isHttp2Preface(bytes: Uint8Array | undefined): boolean {
  return bytes !== undefined && bytes.length >= PREFACE.length && PREFACE.equals(bytes.subarray(0, PREFACE.length));
}

/** The end of that connection in its own protocol: empty settings, and a GOAWAY whose debug data is the advice, which clients show. */
export function http2Refusal(): Buffer {
  const advice = Buffer.from(GRPC_ADVICE);
  const goaway = Buffer.alloc(8 + advice.length);
  goaway.writeUInt32BE(HTTP_1_1_REQUIRED, 4);
  advice.copy(goaway, 8);
  return Buffer.concat([frame(SETTINGS, Buffer.alloc(0)), frame(GOAWAY, goaway)]);
}

function frame(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(FRAME_HEAD_BYTES);
  head.writeUIntBE(payload.length, 0, 3);
  head.writeUInt8(type, 3);
  return Buffer.concat([head, payload]);
}
