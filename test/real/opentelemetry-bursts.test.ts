/**
 * What OpenTelemetry's own senders do in a storm: the SDK sends a thousand equal log lines at once, and counters as a receiver of statsd flushes them, in deltas. Each first request
 * is answered 503 once the server has taken it, as by a proxy that has lost patience, so all of it is sent again: nothing is lost, nothing is there twice, no sender fails.
 */
import { createServer, type IncomingHttpHeaders, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { type DiagLogger, DiagLogLevel, diag } from "@opentelemetry/api";
import { OTLPLogExporter as GrpcExporter } from "@opentelemetry/exporter-logs-otlp-grpc";
import { OTLPLogExporter as JsonExporter } from "@opentelemetry/exporter-logs-otlp-http";
import { OTLPLogExporter as ProtobufExporter } from "@opentelemetry/exporter-logs-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { BatchLogRecordProcessor, LoggerProvider, type LogRecordExporter } from "@opentelemetry/sdk-logs";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { freePort } from "../support/alertmanager-peer.ts";
import { encodeRequest } from "../support/otlp-schema.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const LINES = 1000;
const FLUSHES = 30;
const COUNTERS = 40;
const FLUSH_MS = 1000;

/** Hands requests on and answers every `each`th of them 503 for the server, whatever that said. */
class LossyRelay {
  readonly statuses: number[] = [];
  readonly #server: Server;
  #requests = 0;

  constructor(target: () => string, each: number) {
    this.#server = createServer((request, response) => {
      const parts: Buffer[] = [];
      request.on("data", (part: Buffer) => parts.push(part));
      request.on("end", async () => {
        const answer = await fetch(`${target()}${request.url}`, {
          method: "POST",
          headers: headersOf(request.headers),
          body: Buffer.concat(parts),
        });
        const body = Buffer.from(await answer.arrayBuffer());
        const isLost = this.#requests++ % each === 0;
        this.statuses.push(answer.status);
        if (isLost) response.writeHead(503, { "Retry-After": "0" }).end();
        else response.writeHead(answer.status, { "Content-Type": answer.headers.get("content-type") ?? "" }).end(body);
      });
    });
  }

  async open(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, "127.0.0.1", resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

function headersOf(headers: IncomingHttpHeaders): Record<string, string> {
  const passed = ["content-type", "content-encoding"].flatMap((name) =>
    headers[name] === undefined ? [] : [[name, String(headers[name])]],
  );
  return Object.fromEntries(passed);
}

const bench = new ServerBench();
/** Every other request is sent a second time. */
const relay = new LossyRelay(() => server.origin, 2);
const failures: string[] = [];
let server: ServerProcess;
let relayOrigin = "";
let grpcPort = 0;

beforeAll(async () => {
  const note = (message: string, ...more: unknown[]) => failures.push([message, ...more.map(String)].join(" "));
  diag.setLogger({ error: note, warn: note, info: () => {}, debug: () => {}, verbose: () => {} } satisfies DiagLogger, DiagLogLevel.WARN);
  grpcPort = await freePort();
  server = await bench.start({ ENGINES: "2", OTLP_PORT: "0", ALERTS_PORT: "0", OTLP_GRPC_PORT: String(grpcPort) });
  relayOrigin = await relay.open();
});
afterAll(async () => {
  diag.disable();
  relay.close();
  await bench.close();
});

async function valuesOf(service: string, metric: string): Promise<number[]> {
  const query = { service_id: service, metric_name: metric, limit: "10000" };
  const { points } = await server.get<{ points: ReadonlyArray<{ value: number }> }>("/api/v1/series/data", query);
  return points.map(({ value }) => value);
}

const sumOf = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0);

describe("a thousand equal log lines in a burst", () => {
  const url = () => `${relayOrigin}/v1/logs`;
  const senders: ReadonlyArray<readonly [string, () => LogRecordExporter]> = [
    ["protobuf", () => new ProtobufExporter({ url: url() })],
    ["json", () => new JsonExporter({ url: url() })],
    ["grpc", () => new GrpcExporter({ url: `http://127.0.0.1:${grpcPort}` })],
  ];
  it.each(senders)("are as many records by %s", async (name, make) => {
    const service = `burst-${name}`;
    const processor = new BatchLogRecordProcessor({ exporter: make(), maxQueueSize: 2 * LINES });
    const loggers = new LoggerProvider({ resource: resourceFromAttributes({ "service.name": service }), processors: [processor] });
    const logger = loggers.getLogger("storm");
    for (let i = 0; i < LINES; i++) logger.emit({ severityNumber: 17, severityText: "ERROR", body: "connection to the database refused" });
    await loggers.shutdown();
    expect(failures).toEqual([]);
    expect(relay.statuses.every((status) => status === 200)).toBe(true);
    await vi.waitFor(
      async () => {
        const { total } = await server.get<{ total: number }>("/api/v1/records", { service_id: service, type: "log", limit: "1" });
        expect(total).toBe(LINES);
        expect(sumOf(await valuesOf(service, "log.records"))).toBe(LINES);
      },
      { timeout: PATIENCE_MS, interval: 500 },
    );
  });
});

describe("counters of a receiver of statsd", () => {
  it("are whole: many small deltas of one time, each from the end of the one before", async () => {
    const service = "statsd";
    const begin = Date.now() - FLUSHES * FLUSH_MS;
    for (let flush = 0; flush < FLUSHES; flush++) {
      const times = { startTimeUnixNano: `${begin + flush * FLUSH_MS}000000`, timeUnixNano: `${begin + (flush + 1) * FLUSH_MS}000000` };
      // As the collector's receiver does, a scope and a metric for each counter.
      const scopeMetrics = Array.from({ length: COUNTERS }, (_, i) => ({
        scope: { name: "otelcol/statsdreceiver" },
        metrics: [
          {
            name: `hits.${i % 4}`,
            sum: {
              aggregationTemporality: 1,
              isMonotonic: i % 2 === 0,
              dataPoints: [{ ...times, asInt: 1 + (flush % 3), attributes: [{ key: "page", value: { stringValue: `p${i}` } }] }],
            },
          },
        ],
      }));
      const resource = { attributes: [{ key: "service.name", value: { stringValue: service } }] };
      const body = encodeRequest("metrics", { resourceMetrics: [{ resource, scopeMetrics }] });
      const headers = { "Content-Type": "application/x-protobuf" };
      const send = async () => (await fetch(`${relayOrigin}/v1/metrics`, { method: "POST", headers, body: Buffer.from(body) })).status;
      if ((await send()) === 503) expect(await send()).toBe(200);
    }
    const deltas = Array.from({ length: FLUSHES }, (_, flush) => 1 + (flush % 3));
    const { series } = await server.get<{ series: ReadonlyArray<{ metric_name: string; attributes: object }> }>("/api/v1/series", {
      service_id: service,
      limit: "100",
    });
    expect(series).toHaveLength(COUNTERS);
    for (const { metric_name, attributes } of series) {
      const query = { service_id: service, metric_name, attributes: JSON.stringify(attributes), limit: "1000" };
      const { points } = await server.get<{ points: ReadonlyArray<{ value: number }> }>("/api/v1/series/data", query);
      expect(points.map(({ value }) => value)).toEqual(deltas);
    }
  });
});
