// Connections that end in the middle: whole requests of each way in, as their clients write them, of which the first bytes are sent and then nothing more, closed
// one way or another. In the course of a run each is cut behind each of its bytes.
import { readFileSync } from "node:fs";
import { Random } from "../fuzz/input/random.ts";
import { CONNECTION_ENDS, CUT_MOMENTS, cutConnection, recordGrpcCall } from "../support/cut-connections.ts";
import { bodyOf, gauge, metricsOf, point } from "../support/otlp-requests.ts";
import type { Disturbance, DisturbanceTarget } from "./disturbance.ts";

const METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
const STREAM = 1;
/** Prime to any number of cuts that there may be: the order looks random and repeats none. */
const STRIDE = 1_000_003;

/** The bytes of a request to a port. */
interface Conversation {
  readonly port: number;
  readonly bytes: Buffer;
}

function post(port: number, path: string, type: string, body: Buffer, more = ""): Conversation {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: ${type}\r\n${more}Content-Length: ${body.length}\r\n\r\n`;
  return { port, bytes: Buffer.concat([Buffer.from(head), body]) };
}

function get(port: number, path: string): Conversation {
  return { port, bytes: Buffer.from(`GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAccept: */*\r\n\r\n`) };
}

function chunked(port: number, path: string, body: Buffer): Conversation {
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`;
  const piece = (part: Buffer) => [Buffer.from(`${part.length.toString(16)}\r\n`), part, Buffer.from("\r\n")];
  return {
    port,
    bytes: Buffer.concat([Buffer.from(head), ...piece(body.subarray(0, 40)), ...piece(body.subarray(40)), Buffer.from("0\r\n\r\n")]),
  };
}

/** Whole requests over HTTP/1.1. */
function httpConversations({ http, otlp, alerts }: DisturbanceTarget["ports"]): Conversation[] {
  const record = Buffer.from(JSON.stringify({ service_id: "cut", metric_name: "m", value: 1, timestamp: new Date().toISOString() }));
  const write = readFileSync("test/golden/prometheus-remote-write.bin");
  const protobuf = readFileSync("test/golden/otlp-metrics-proto.bin");
  const alert = Buffer.from(
    JSON.stringify({ alerts: [{ status: "firing", labels: { alertname: "Cut", service: "cut" }, annotations: {} }] }),
  );
  return [
    post(http, "/api/v1/telemetry", "application/json", record),
    chunked(http, "/api/v1/telemetry/batch", Buffer.from(`[${record}]`)),
    post(http, "/api/v1/rwmetrics/write", "application/x-protobuf", write.subarray(0, 600), "Content-Encoding: snappy\r\n"),
    post(otlp, "/v1/metrics", "application/x-protobuf", protobuf.subarray(0, 600)),
    post(alerts, "/api/v1/alerts/webhook", "application/json", alert),
    get(http, "/api/v1/series?limit=100"),
    get(http, "/api/v1/stream"),
    get(http, "/metrics"),
  ];
}

/** A call of gRPC, recorded. */
async function grpcConversation(grpc: number): Promise<Conversation> {
  const message = bodyOf("metrics", "protobuf", metricsOf([gauge([point({ timeUnixNano: `${Date.now()}000000` })], "cut")]));
  return { port: grpc, bytes: await recordGrpcCall(grpc, { path: METRICS, message }) };
}

/** Makes the disturbance; the server must run, as a call of gRPC is recorded. */
export async function cutConnections({ ports, seed }: DisturbanceTarget): Promise<Disturbance> {
  const conversations = [...httpConversations(ports), await grpcConversation(ports.grpc)];
  const cuts = conversations.flatMap(({ port, bytes }) =>
    Array.from({ length: bytes.length + 1 }, (_, length) => ({ port, bytes, length })),
  );
  return {
    name: `cut connections (${cuts.length} cuts)`,
    perSecond: 40,
    once: async (number) => {
      const { port, bytes, length } = cuts[(number * STRIDE + seed) % cuts.length] as (typeof cuts)[number];
      const random = new Random();
      random.start(seed, STREAM, number);
      await cutConnection(port, bytes.subarray(0, length), random.pick(CONNECTION_ENDS), random.pick(CUT_MOMENTS));
      return 0;
    },
    close: () => undefined,
  };
}
