// Odd names in each place of each way in: fields of JSON records, OTLP in its encodings and over gRPC, labels and metadata of remote-write, alerts, paths and query
// parameters. In protobuf the name is any bytes: it takes the place of as many bytes of a text that stands nowhere else.
import { Client, credentials, Metadata } from "@grpc/grpc-js";
import { compressSync } from "snappy";
import { Pool } from "undici";
import { Random } from "../fuzz/input/random.ts";
import { bodyOf, gauge, logsOf, metricsOf, point, span, spansOf, text } from "../support/otlp-requests.ts";
import { bytesField, encodeBody } from "../support/remote-write-body.ts";
import { REMOTE_WRITE_HEADERS } from "../support/server-client.ts";
import type { Disturbance, DisturbanceTarget } from "./disturbance.ts";
import { oddBytes, oddText } from "./odd-values.ts";

const STREAM = 2;
const TIMEOUT_MS = 20_000;
const JSON_TYPE = { "Content-Type": "application/json" };
const PROTOBUF_TYPE = { "Content-Type": "application/x-protobuf" };
const SERVICES = { metrics: "metrics.v1.MetricsService", traces: "trace.v1.TraceService", logs: "logs.v1.LogsService" } as const;
const SIGNALS = ["metrics", "traces", "logs"] as const;
type Signal = (typeof SIGNALS)[number];

interface Sent {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** A text of so many bytes that stands nowhere else in a body. */
const placeholder = (bytes: number): string => "\u007f~".repeat(bytes).slice(0, bytes);

/** The bytes with the name in the place of its placeholder. */
function withBytes(body: Uint8Array, name: Buffer): Buffer {
  const bytes = Buffer.from(body);
  if (name.length === 0) return bytes;
  for (let at = bytes.indexOf(placeholder(name.length)); at >= 0; at = bytes.indexOf(placeholder(name.length), at + name.length))
    name.copy(bytes, at);
  return bytes;
}

/** A request of a signal with the name in one of its places. */
function otlpOf(signal: Signal, name: string, random: Random): object {
  const nowNs = `${Date.now()}000000`;
  const place = random.below(5);
  const at = (index: number, otherwise: string) => (place === index ? name : otherwise);
  const attributes = [text("service.name", at(0, "odd")), text(at(1, "region"), "eu"), text("zone", at(2, "a"))];
  if (signal === "metrics") {
    const metric = { ...gauge([point({ timeUnixNano: nowNs, attributes: [text(at(4, "k"), "v")] })], at(3, "m")), unit: at(2, "s") };
    return metricsOf([metric], attributes);
  }
  if (signal === "traces") {
    const spans = spansOf([span({ name: at(3, "GET /"), startTimeUnixNano: nowNs, endTimeUnixNano: nowNs })]);
    return { resourceSpans: spans.resourceSpans.map((resource) => ({ ...resource, resource: { attributes } })) };
  }
  const logs = logsOf([{ timeUnixNano: nowNs, body: { stringValue: at(3, "line") }, severityText: at(4, "INFO") }]);
  return { resourceLogs: logs.resourceLogs.map((resource) => ({ ...resource, resource: { attributes } })) };
}

function jsonRecord(random: Random): Sent {
  const fields: Record<string, unknown> = {
    service_id: "odd",
    metric_name: "m",
    value: 1,
    timestamp: new Date().toISOString(),
    attributes: {},
  };
  const field = random.pick(["service_id", "metric_name", "type", "environment", "trace_id", "body", "attributes", "attribute"]);
  const odd = oddText(random);
  if (field === "attributes") fields.attributes = Object.fromEntries([[odd, odd]]);
  else if (field === "attribute") fields.attributes = { zone: odd };
  else fields[field] = odd;
  if (random.oneIn(3)) fields.type = random.pick(["log", "event", "trace", "slo"]);
  return { path: "/api/v1/telemetry/batch", headers: JSON_TYPE, body: JSON.stringify([fields]) };
}

function remoteWrite(random: Random): Sent {
  const name = oddBytes(random);
  const odd = placeholder(name.length);
  const place = random.below(5);
  const at = (index: number, otherwise: string) => (place === index ? odd : otherwise);
  const labels: Array<readonly [string, string]> = [
    ["__name__", at(0, "m")],
    [at(1, "instance"), at(2, "host")],
    ["job", at(3, "odd")],
  ];
  const series = encodeBody([{ labels, samples: [{ time: Date.now(), value: 1 }] }]);
  const metadata = bytesField(3, [0x08, 0x01, ...bytesField(2, Buffer.from(at(4, "m"))), ...bytesField(4, Buffer.from("help"))]);
  const body = withBytes(Buffer.concat([series, Buffer.from(metadata)]), name);
  return { path: "/api/v1/rwmetrics/write", headers: REMOTE_WRITE_HEADERS, body: compressSync(body) as Buffer };
}

function alert(random: Random): Sent {
  const odd = oddText(random);
  const labels: Record<string, string> = { alertname: "Odd", service: "odd", severity: "warning" };
  const name = random.pick(["alertname", "service", "severity", "environment", "other"]);
  const content = {
    status: "firing",
    labels: name === "other" ? Object.fromEntries([[odd, "v"], ...Object.entries(labels)]) : { ...labels, [name]: odd },
  };
  return {
    path: "/api/v1/alerts/webhook",
    headers: JSON_TYPE,
    body: JSON.stringify({ alerts: [{ ...content, annotations: { summary: odd } }] }),
  };
}

/** Percent-encodes each byte that is no letter or digit. */
function encoded(bytes: Buffer): string {
  return [...bytes]
    .map((byte) => (/\w/.test(String.fromCharCode(byte)) ? String.fromCharCode(byte) : `%${byte.toString(16).padStart(2, "0")}`))
    .join("");
}

const QUERIES = [
  "/api/v1/series?service_id=",
  "/api/v1/series?metric_name=",
  "/api/v1/series/data?metric_name=m&service_id=",
  "/api/v1/series/data?service_id=odd&metric_name=",
  "/api/v1/series/data?service_id=odd&metric_name=m&attributes=",
  "/api/v1/records?type=log&service_id=",
  "/api/v1/anomalies?service_id=",
  "/api/v1/alerts?service_id=",
  "/api/v1/anomalies?page_token=",
  "/api/v1/anomalies/",
  "/api/v1/service-labels?service_id=",
  "/api/v1/correlations?service_id=",
  "/api/v1/blast-radius?service_id=",
  "/api/v1/runbooks/",
  "/api/v1/webhooks/",
];

function query(random: Random): Sent {
  return { path: `${random.pick(QUERIES)}${encoded(oddBytes(random).subarray(0, 2_000))}`, headers: {} };
}

/** Makes the disturbance. */
export function oddNames({ ports, seed, admin }: DisturbanceTarget): Disturbance {
  const pool = new Pool(`http://127.0.0.1:${ports.http}`, { connections: 4, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS });
  const client = new Client(`127.0.0.1:${ports.grpc}`, credentials.createInsecure());
  const send = async ({ path, headers, body }: Sent): Promise<number> => {
    const method = body === undefined ? "GET" : "POST";
    const answer = await pool.request({ method, path, headers: { ...headers, ...admin }, ...(body === undefined ? {} : { body }) });
    await answer.body.dump();
    return answer.statusCode;
  };
  const otlp = (random: Random): Sent => {
    const signal = random.pick(SIGNALS);
    const path = `/v1/${signal}`;
    if (random.oneIn(2)) return { path, headers: JSON_TYPE, body: JSON.stringify(otlpOf(signal, oddText(random), random)) };
    const name = oddBytes(random);
    return {
      path,
      headers: PROTOBUF_TYPE,
      body: withBytes(bodyOf(signal, "protobuf", otlpOf(signal, placeholder(name.length), random)), name),
    };
  };
  const grpc = (random: Random): Promise<number> => {
    const signal = random.pick(SIGNALS);
    const name = oddBytes(random);
    const body = withBytes(bodyOf(signal, "protobuf", otlpOf(signal, placeholder(name.length), random)), name);
    const same = (value: Buffer) => value;
    const metadata = new Metadata();
    for (const [header, value] of Object.entries(admin)) metadata.set(header, value);
    const path = `/opentelemetry.proto.collector.${SERVICES[signal]}/Export`;
    return new Promise((resolve) => {
      const deadline = Date.now() + TIMEOUT_MS;
      // A code of gRPC is told as 200 where it is OK, and as 500 where it says that the server is at fault.
      client.makeUnaryRequest(path, same, same, body, metadata, { deadline }, (error) =>
        resolve(error === null ? 200 : error.code === 13 ? 500 : 400),
      );
    });
  };
  const ways = [jsonRecord, remoteWrite, alert, query, otlp];
  return {
    name: "odd names",
    perSecond: 20,
    once: (number) => {
      const random = new Random();
      random.start(seed, STREAM, number);
      const way = random.below(ways.length + 1);
      return way === ways.length ? grpc(random) : send((ways[way] as (typeof ways)[number])(random));
    },
    close: () => {
      client.close();
      void pool.destroy();
    },
  };
}
