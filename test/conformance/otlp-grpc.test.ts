/** OTLP over gRPC against the whole server: the real exporters of OpenTelemetry, and calls of grpc-js with the bytes of a test where an exporter cannot be made to err. */
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { connect, type IncomingHttpHeaders } from "node:http2";
import { createServer } from "node:net";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { Client, credentials, Metadata, type ServiceError, status } from "@grpc/grpc-js";
import { OTLPLogExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPMetricExporter } from "@opentelemetry/exporter-metrics-otlp-grpc";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-grpc";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { MeterProvider, PeriodicExportingMetricReader } from "@opentelemetry/sdk-metrics";
import { NodeTracerProvider, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-node";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Certificates } from "../support/certificates.ts";
import { bodyOf, gauge, metricsOf, point, text } from "../support/otlp-requests.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const METRICS = "/opentelemetry.proto.collector.metrics.v1.MetricsService/Export";
const bench = new ServerBench();
const certificates = new Certificates();
let server: ServerProcess;
let port: number;
let client: Client;

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise((resolve) => probe.close(resolve));
  return port;
}

beforeAll(async () => {
  port = await freePort();
  server = await bench.start({ ENGINES: "1", OTLP_GRPC_PORT: String(port) });
  client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), { "grpc.max_send_message_length": -1 });
});
afterAll(async () => {
  client?.close();
  await bench.close();
  certificates.close();
});

interface Outcome {
  readonly code: number;
  readonly details: string;
  readonly answer: Buffer | undefined;
  readonly statusDetails: string;
}

/** Sends one message and tells how the call ended. */
function call(
  bytes: Uint8Array,
  path = METRICS,
  options: { deadline?: number; metadata?: Metadata; over?: Client } = {},
): Promise<Outcome> {
  const same = (value: Buffer) => value;
  return new Promise((resolve) => {
    const { deadline = Date.now() + 20_000, metadata = new Metadata(), over = client } = options;
    over.makeUnaryRequest(path, same, same, Buffer.from(bytes), metadata, { deadline }, (error: ServiceError | null, answer) => {
      const detail = error?.metadata?.get("grpc-status-details-bin")[0];
      const statusDetails = Buffer.isBuffer(detail) ? detail.toString("latin1") : "";
      resolve({ code: error?.code ?? status.OK, details: error?.details ?? "", answer, statusDetails });
    });
  });
}

const valid = (value: number, name = "depth") =>
  bodyOf("metrics", "protobuf", metricsOf([gauge([point({ asDouble: value, timeUnixNano: `${Date.now()}000000` })], name)]));

async function namesOf(service: string): Promise<string[]> {
  const { series } = await server.get<{ series: ReadonlyArray<{ metric_name: string }> }>("/api/v1/series", { service_id: service });
  return series.map(({ metric_name }) => metric_name);
}

describe("OTLP over gRPC", () => {
  it("the status names its port", async () => {
    const { listeners } = await server.get<{ listeners: object }>("/api/v1/status");
    expect(listeners).toMatchObject({ otlp_grpc: { state: "listening", port } });
  });

  it.each(["none", "gzip"] as const)("the exporters of the three signals, compression %s", async (compression) => {
    const service = `grpc-${compression}`;
    const resource = resourceFromAttributes({ "service.name": service });
    const options = { url: `http://127.0.0.1:${port}`, compression: compression as never };
    const reader = new PeriodicExportingMetricReader({ exporter: new OTLPMetricExporter(options), exportIntervalMillis: 3_600_000 });
    const meters = new MeterProvider({ resource, readers: [reader] });
    const spans = new NodeTracerProvider({ resource, spanProcessors: [new SimpleSpanProcessor(new OTLPTraceExporter(options))] });
    const logs = new LoggerProvider({ resource, processors: [new SimpleLogRecordProcessor({ exporter: new OTLPLogExporter(options) })] });
    meters.getMeter("m").createGauge("queue.depth").record(7);
    const boundaries = { advice: { explicitBucketBoundaries: [1, 2.5] } };
    for (const value of [1, 2, 3, 4]) meters.getMeter("m").createHistogram("wait", boundaries).record(value);
    spans.getTracer("t").startSpan("GET /").end();
    logs.getLogger("l").emit({ body: "a line", severityNumber: 17 });
    await Promise.all([meters.forceFlush(), spans.forceFlush(), logs.forceFlush()]);
    expect(await namesOf(service)).toContain("queue.depth");
    const expression = `sum by (le) (wait_bucket{service_id="${service}"})`;
    const { data } = await server.get<{ data: { result: unknown[] } }>("/prometheus/api/v1/query", { query: expression });
    expect(data.result).toMatchObject(
      [
        ["+Inf", "4"],
        ["1", "1"],
        ["2.5", "2"],
      ].map(([le, value]) => ({ metric: { le }, value: [expect.any(Number), value] })),
    );
    const page = await (await fetch(`${server.origin}/metrics`)).text();
    for (const signal of ["trace", "log"])
      expect(page).toMatch(new RegExp(`svc_ingestion_events_total\\{type="${signal}s?",status="accepted"\\} [1-9]`));
    await Promise.all([meters.shutdown(), spans.shutdown(), logs.shutdown()]);
  });

  it("a message that is whole has an empty answer, one that is partly refused says so", async () => {
    expect(await call(valid(1))).toMatchObject({ code: status.OK, answer: Buffer.alloc(0) });
    const { code, answer } = await call(
      bodyOf("metrics", "protobuf", metricsOf([gauge([point({ timeUnixNano: `${Date.now()}000000` })], "")])),
    );
    expect([code, answer?.toString("latin1")]).toEqual([status.OK, expect.stringContaining("\b\u0001\u0012")]);
  });

  it.each<[string, Uint8Array, string, number]>([
    ["bytes that are no protobuf", Buffer.from("nonsense"), METRICS, status.INVALID_ARGUMENT],
    ["another service", valid(1), "/grpc.health.v1.Health/Check", status.UNIMPLEMENTED],
    ["a message above the limit", Buffer.alloc(17 * 1024 * 1024), METRICS, status.RESOURCE_EXHAUSTED],
  ])("%s", async (_, bytes, path, code) => {
    const outcome = await call(bytes, path);
    expect(outcome.code, outcome.details).toBe(code);
    expect(outcome.details.length).toBeGreaterThan(10);
    expect(outcome.statusDetails).not.toContain("RetryInfo");
  });

  it("credentials are metadata: a wrong key is UNAUTHENTICATED", async () => {
    const metadata = new Metadata();
    metadata.set("x-api-key", "vdt_00000000_wrong");
    expect((await call(valid(1), METRICS, { metadata })).code).toBe(status.UNAUTHENTICATED);
    const good = new Metadata();
    good.set("authorization", `Bearer ${readFileSync(`${server.dataDir}/admin-token`, "utf8").trim()}`);
    expect((await call(valid(1), METRICS, { metadata: good })).code).toBe(status.OK);
  });

  it.each([
    ["a small message", 1],
    ["a large one", 20_000],
  ])("%s waits for the check of a token that is new here", async (_, count) => {
    const minted = await promisify(execFile)(process.execPath, ["dist/main.js", "token", "--role", "operator"], {
      env: { DATA_DIR: server.dataDir },
    });
    const metadata = new Metadata();
    metadata.set("authorization", `Bearer ${minted.stdout.trim()}`);
    const time = `${Date.now()}000000`;
    const points = Array.from({ length: count }, (_, i) => point({ timeUnixNano: time, attributes: [text("place", String(i % 10))] }));
    expect(await call(bodyOf("metrics", "protobuf", metricsOf([gauge(points)])), METRICS, { metadata })).toMatchObject({ code: status.OK });
  });

  it("gzip that is none, and a coding that is not known", async () => {
    const metadata = new Metadata();
    metadata.set("grpc-encoding", "snappy");
    expect((await call(gzipSync(valid(1)), METRICS, { metadata })).code).not.toBe(status.OK);
  });

  it("a deadline that passes before the message has come ends the call, and nothing of it is stored", async () => {
    const session = connect(`http://127.0.0.1:${port}`);
    const ended = new Promise<IncomingHttpHeaders>((resolve, reject) => {
      const head = { ":method": "POST", ":path": METRICS, "content-type": "application/grpc", te: "trailers", "grpc-timeout": "300m" };
      const stream = session.request(head).on("response", resolve).on("error", reject);
      const message = valid(1, "late");
      const prefixed = Buffer.concat([Buffer.alloc(5), message]);
      prefixed.writeUInt32BE(message.length, 1);
      stream.write(prefixed.subarray(0, prefixed.length - 1)); // the last byte never comes
    });
    expect(await ended).toMatchObject({
      "grpc-status": String(status.DEADLINE_EXCEEDED),
      "grpc-message": expect.stringContaining("deadline"),
    });
    // The connection goes on, and so does a call with a deadline that is kept.
    expect((await call(valid(1, "in-time"), METRICS, { deadline: Date.now() + 20_000 })).code).toBe(status.OK);
    session.close();
    const names = await namesOf("shop");
    expect(names).toContain("in-time");
    expect(names).not.toContain("late");
  });

  it("with TLS, and the sender's certificate where one is asked for", async () => {
    const own = certificates.signed("server");
    const sender = certificates.signed("sender");
    const tlsPort = await freePort();
    await bench.start({
      ENGINES: "1",
      OTLP_GRPC_PORT: String(tlsPort),
      TLS_CERT_FILE: own.certificate,
      TLS_KEY_FILE: own.key,
      TLS_CLIENT_CA_FILE: certificates.authority.certificate,
    });
    const ca = readFileSync(certificates.authority.certificate);
    const open = (...shown: Buffer[]) => new Client(`localhost:${tlsPort}`, credentials.createSsl(ca, ...shown));
    const [bare, good] = [open(), open(readFileSync(sender.key), readFileSync(sender.certificate))];
    const refused = await call(valid(1), METRICS, { over: bare });
    expect([refused.code, refused.details]).toEqual([status.UNAUTHENTICATED, expect.stringContaining("TLS_CLIENT_CA_FILE")]);
    expect((await call(valid(1), METRICS, { over: good })).code).toBe(status.OK);
    for (const one of [bare, good]) one.close();
  });

  it("beyond a rate the answer says when to come back", async () => {
    const limitedPort = await freePort();
    await bench.start({ ENGINES: "1", OTLP_GRPC_PORT: String(limitedPort), PLAN_LIMITS: "free=1,starter=1,pro=1,enterprise=1" });
    const limited = new Client(`127.0.0.1:${limitedPort}`, credentials.createInsecure());
    const outcomes = await Promise.all(Array.from({ length: 12 }, () => call(valid(1), METRICS, { over: limited })));
    const refused = outcomes.filter(({ code }) => code === status.RESOURCE_EXHAUSTED);
    expect(refused.length, JSON.stringify(outcomes.slice(0, 3))).toBeGreaterThan(0);
    for (const { statusDetails } of refused) expect(statusDetails).toContain("google.rpc.RetryInfo");
    limited.close();
  });

  it("a port that is taken is told, and the start goes on", async () => {
    const second = await bench.start({ ENGINES: "1", OTLP_GRPC_PORT: String(port) });
    expect(second.output).toMatch(/OTLP_GRPC_PORT is not served: cannot listen on/);
  });
});
