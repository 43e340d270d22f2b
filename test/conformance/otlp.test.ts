/** What senders of OTLP see of the real server, over both HTTP adapters: answers as https://opentelemetry.io/docs/specs/otlp/ has them. */
import { readFileSync } from "node:fs";
import { createServer } from "node:net";
import * as zlib from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINES } from "../support/http-exchanges.ts";
import { decodeResponse, decodeStatus, encodeRequest } from "../support/otlp-schema.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const { gzipSync } = zlib;
/** Of Node 22.15 and newer. */
const { zstdCompressSync: zstdSync } = zlib as unknown as { zstdCompressSync?: (bytes: Uint8Array) => Buffer };
const SIGNALS = ["metrics", "traces", "logs"] as const;
type Signal = (typeof SIGNALS)[number];
const JSON_TYPE = "application/json";
const PROTOBUF_TYPE = "application/x-protobuf";
/** google.rpc.Code. */
const INVALID_ARGUMENT = 3;

/** A request of one item of now, in the form of JSON. */
function requestOf(signal: Signal, service: string): object {
  const now = `${Date.now()}000000`;
  const resource = { attributes: [{ key: "service.name", value: { stringValue: service } }] };
  if (signal === "metrics") {
    const metric = { name: "depth", gauge: { dataPoints: [{ timeUnixNano: now, asDouble: 7.5 }] } };
    return { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [metric] }] }] };
  }
  if (signal === "traces") {
    const span = {
      traceId: "0af7651916cd43dd8448eb211c80319c",
      spanId: "b7ad6b7169203331",
      name: "GET /",
      startTimeUnixNano: now,
      endTimeUnixNano: now,
    };
    return { resourceSpans: [{ resource, scopeSpans: [{ spans: [span] }] }] };
  }
  return { resourceLogs: [{ resource, scopeLogs: [{ logRecords: [{ timeUnixNano: now, body: { stringValue: "started" } }] }] }] };
}

function bodyOf(signal: Signal, type: string, request: object): Uint8Array {
  if (type === JSON_TYPE) return Buffer.from(JSON.stringify(request));
  return encodeRequest(
    signal,
    JSON.parse(JSON.stringify(request), (name, value) => (/Id$/.test(name) ? Buffer.from(value, "hex") : value)),
  );
}

interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly bytes: Buffer;
}

describe.each(ENGINES)("OTLP over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let server: ServerProcess;
  let otlpPort = 0;
  beforeAll(async () => {
    if (skipped) return;
    otlpPort = await freePort();
    server = await bench.start({ HTTP_ENGINE: kind, OTLP_PORT: String(otlpPort) });
  });
  afterAll(() => bench.close());
  const check = it.skipIf(skipped);

  async function post(
    path: string,
    type: string | null,
    body: Uint8Array | string,
    headers: Record<string, string> = {},
    origin = server.origin,
  ): Promise<Answer> {
    const own: Record<string, string> = type === null ? {} : { "Content-Type": type };
    const response = await fetch(`${origin}${path}`, {
      method: "POST",
      headers: { ...own, ...headers },
      body: body as NonNullable<RequestInit["body"]>,
    });
    return { status: response.status, headers: response.headers, bytes: Buffer.from(await response.arrayBuffer()) };
  }

  /** Status, type, and the body decoded in the encoding that the type names. */
  function read({ status, headers, bytes }: Answer, decode: (bytes: Buffer) => unknown): [number, string | null, unknown] {
    const type = headers.get("content-type");
    return [status, type, type === PROTOBUF_TYPE ? decode(bytes) : JSON.parse(bytes.toString())];
  }

  check("answers in the request's encoding, on both paths and both ports, plain, gzip and, where Node has it, zstd", async () => {
    for (const type of [JSON_TYPE, PROTOBUF_TYPE]) {
      for (const signal of SIGNALS) {
        const body = bodyOf(signal, type, requestOf(signal, "shop"));
        const origins = [server.origin, `http://127.0.0.1:${otlpPort}`];
        for (const origin of origins) {
          for (const path of [`/v1/${signal}`, `/api/v1/otlp/v1/${signal}`]) {
            const answer = await post(path, type, body, {}, origin);
            expect([answer.status, answer.headers.get("content-type"), answer.bytes.toString()]).toEqual([
              200,
              type,
              type === JSON_TYPE ? "{}" : "",
            ]);
          }
        }
        const zipped = await post(`/v1/${signal}`, `${type}; charset=utf-8`, gzipSync(body), { "Content-Encoding": "gzip" });
        expect([zipped.status, zipped.headers.get("content-type")]).toEqual([200, type]);
        const squeezed = zstdSync && (await post(`/v1/${signal}`, type, zstdSync(body), { "Content-Encoding": "zstd" }));
        expect(squeezed?.status ?? 200).toBe(200);
      }
    }
    const { series } = await server.get<{ series: object[] }>("/api/v1/series", { service_id: "shop" });
    expect(series).toMatchObject([{ metric_name: "depth", last_value: 7.5 }]);
    for (const type of ["log", "trace"]) {
      const { records } = await server.get<{ records: object[] }>("/api/v1/records", { service_id: "shop", type });
      expect(records.length).toBeGreaterThan(0);
    }
  });

  check("tells what was rejected and stores the rest", async () => {
    const request = requestOf("metrics", "partial") as { resourceMetrics: [{ scopeMetrics: [{ metrics: object[] }] }] };
    request.resourceMetrics[0].scopeMetrics[0].metrics.push({
      name: "old",
      gauge: { dataPoints: [{ timeUnixNano: "1000000000", asDouble: 1 }] },
    });
    const message = expect.stringMatching(/^1 of 2 data points were refused, the others are stored; the first: timestamp_too_old: 1970/);
    const json = await post("/v1/metrics", JSON_TYPE, bodyOf("metrics", JSON_TYPE, request));
    const decode = (bytes: Uint8Array) => decodeResponse("metrics", bytes);
    expect(read(json, decode)).toEqual([200, JSON_TYPE, { partialSuccess: { rejectedDataPoints: "1", errorMessage: message } }]);
    const protobuf = await post("/v1/metrics", PROTOBUF_TYPE, bodyOf("metrics", PROTOBUF_TYPE, request));
    expect(read(protobuf, decode)).toEqual([200, PROTOBUF_TYPE, { partialSuccess: { rejectedDataPoints: 1, errorMessage: message } }]);
    const { series } = await server.get<{ series: object[] }>("/api/v1/series", { service_id: "partial" });
    expect(series).toMatchObject([{ metric_name: "depth" }]);
  });

  check("shows the types and units of metrics in the list of series, those derived of a histogram too", async () => {
    const now = `${Date.now()}000000`;
    const metrics = [
      { name: "depth", unit: "{items}", gauge: { dataPoints: [{ timeUnixNano: now, asDouble: 1 }] } },
      { name: "sent", unit: "By", sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ timeUnixNano: now, asInt: "5" }] } },
      {
        name: "took",
        unit: "ms",
        histogram: {
          aggregationTemporality: 1,
          dataPoints: [
            { timeUnixNano: now, startTimeUnixNano: now, count: "2", sum: 3, explicitBounds: [1, 5], bucketCounts: ["1", "1", "0"] },
          ],
        },
      },
    ];
    for (const [service, type] of [
      ["units-json", JSON_TYPE],
      ["units-protobuf", PROTOBUF_TYPE],
    ] as const) {
      const resource = { attributes: [{ key: "service.name", value: { stringValue: service } }] };
      const request = { resourceMetrics: [{ resource, scopeMetrics: [{ metrics }] }] };
      expect((await post("/v1/metrics", type, bodyOf("metrics", type, request))).status).toBe(200);
      const series = async () => {
        const answer = await server.get<{ series: ReadonlyArray<{ metric_name: string; type: string; unit: string }> }>("/api/v1/series", {
          service_id: service,
        });
        return answer.series.map(({ metric_name, type: reported, unit }) => `${metric_name} ${reported} ${unit}`);
      };
      await expect.poll(series).toEqual(expect.arrayContaining(["depth gauge {items}", "sent counter By", "took.p95 histogram ms"]));
    }
  });

  check("refuses with google.rpc.Status in the request's encoding", async () => {
    const good = bodyOf("metrics", PROTOBUF_TYPE, requestOf("metrics", "refused"));
    const bomb = gzipSync(Buffer.alloc(64 * 1024 * 1024 + 1));
    const gzip = { "Content-Encoding": "gzip" };
    const cases: ReadonlyArray<
      readonly [
        what: string,
        type: string,
        body: Uint8Array | string,
        headers: Record<string, string>,
        status: number,
        code: number,
        said: RegExp,
      ]
    > = [
      ["a body that is none", PROTOBUF_TYPE, "\n\x05", {}, 400, INVALID_ARGUMENT, /ExportMetricsServiceRequest in protobuf/],
      ["a body that is no JSON", JSON_TYPE, "xx", {}, 400, INVALID_ARGUMENT, /not JSON/],
      ["a body that is no gzip", PROTOBUF_TYPE, good, gzip, 400, INVALID_ARGUMENT, /not gzip/],
      ["gzip beyond 64 MiB", PROTOBUF_TYPE, bomb, gzip, 413, INVALID_ARGUMENT, /inflates to more than/],
      ["gzip beyond 64 MiB as JSON", JSON_TYPE, bomb, gzip, 413, INVALID_ARGUMENT, /inflates to more than/],
      ["a body beyond 16 MiB", PROTOBUF_TYPE, Buffer.alloc(16 * 1024 * 1024 + 1), {}, 413, INVALID_ARGUMENT, /longer than/],
      ["another encoding", PROTOBUF_TYPE, good, { "Content-Encoding": "br" }, 415, INVALID_ARGUMENT, /gzip(?:, zstd)? or identity/],
      zstdSync === undefined
        ? ["zstd", PROTOBUF_TYPE, good, { "Content-Encoding": "zstd" }, 415, INVALID_ARGUMENT, /Node 22\.15 or newer/]
        : ["a body that is no zstd", PROTOBUF_TYPE, good, { "Content-Encoding": "zstd" }, 400, INVALID_ARGUMENT, /not zstd/],
      ["a wrong credential", PROTOBUF_TYPE, good, { Authorization: "Bearer wrong" }, 401, 16, /credential|key|token/i],
      ["a wrong credential in JSON", JSON_TYPE, "{}", { "X-API-Key": "wrong" }, 401, 16, /credential|key|token/i],
    ];
    for (const [what, type, body, headers, status, code, said] of cases) {
      const answer = await post("/v1/metrics", type, body, headers);
      expect(read(answer, decodeStatus), what).toEqual([status, type, { code, message: expect.stringMatching(said) }]);
    }
    const { series } = await server.get<{ series: object[] }>("/api/v1/series", { service_id: "refused" });
    expect(series).toEqual([]);
  });

  check("refuses gRPC with advice, other types and other methods in JSON", async () => {
    const grpc = await post("/v1/traces", "application/grpc+proto", "x");
    expect(read(grpc, decodeStatus)).toEqual([
      415,
      JSON_TYPE,
      { code: INVALID_ARGUMENT, message: expect.stringMatching(/http\/protobuf.*otlphttp.*4318/) },
    ]);
    // D12: on the path of gRPC too.
    const call = await post("/opentelemetry.proto.collector.trace.v1.TraceService/Export", "application/grpc", "x");
    expect([call.status, call.bytes.toString()]).toEqual([415, expect.stringMatching(/OTLP_GRPC_PORT \(4317\)/)]);
    const plain = await post("/v1/logs", "text/plain", "x");
    expect(read(plain, decodeStatus)).toEqual([
      415,
      JSON_TYPE,
      { code: INVALID_ARGUMENT, message: expect.stringContaining('"text/plain"') },
    ]);
    const get = await fetch(`${server.origin}/v1/logs`);
    expect([get.status, get.headers.get("allow"), await get.json()]).toEqual([405, "POST", { code: 12, message: expect.any(String) }]);
  });

  check("serves nothing else on OTLP_PORT, shows it in the status, and starts without it where it is taken", async () => {
    const other = await fetch(`http://127.0.0.1:${otlpPort}/api/v1/status`);
    expect([other.status, await other.json()]).toMatchObject([404, { error: "not_found" }]);
    expect(await server.get("/api/v1/status")).toMatchObject({ listeners: { otlp: { state: "listening", port: otlpPort } } });
    const second = await bench.start({ HTTP_ENGINE: kind, OTLP_PORT: String(otlpPort) });
    expect(await second.get("/api/v1/status")).toMatchObject({ listeners: { otlp: { state: "unavailable", port: otlpPort } } });
    expect(second.output.split("\n").filter((line) => line.includes("OTLP_PORT"))).toHaveLength(1);
    const answer = await post("/v1/logs", JSON_TYPE, "{}", {}, second.origin);
    expect(answer.status).toBe(200);
    await second.stop();
    const closed = await bench.start({ HTTP_ENGINE: kind, OTLP_PORT: "0" });
    expect(await closed.get("/api/v1/status")).toMatchObject({ listeners: { otlp: { state: "closed", port: 0 } } });
    await closed.stop();
  });

  check("counts requests, items and rejected ones by signal", async () => {
    const count = async (name: string, signal: Signal) => {
      const text = await (await fetch(`${server.origin}/metrics`)).text();
      return Number(new RegExp(`^vedette_otlp_${name}_total\\{signal="${signal}"\\} (\\d+)$`, "m").exec(text)?.[1]);
    };
    const [requests, items, rejected] = [
      await count("requests", "logs"),
      await count("items", "logs"),
      await count("rejected_items", "logs"),
    ];
    const logRecords = [{ timeUnixNano: "1" }, { body: { stringValue: "now" } }, { timeUnixNano: "1000000000000" }];
    await post("/v1/logs", JSON_TYPE, JSON.stringify({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }));
    expect(await count("requests", "logs")).toBe(requests + 1);
    expect(await count("items", "logs")).toBe(items + 3);
    expect(await count("rejected_items", "logs")).toBe(rejected + 1);
  });

  check("keeps raw values where OTEL_TEMPORALITY_NORMALIZE is false, of every way in", async () => {
    const raw = await bench.start({ HTTP_ENGINE: kind, OTEL_TEMPORALITY_NORMALIZE: "false" });
    const now = Date.now();
    const sum = (timeMs: number, asInt: string) => ({
      name: "orders",
      sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ timeUnixNano: `${timeMs}000000`, asInt }] },
    });
    const resourceMetrics = [{ resource: { attributes: [] }, scopeMetrics: [{ metrics: [sum(now - 1000, "10"), sum(now, "4")] }] }];
    await post("/v1/metrics", PROTOBUF_TYPE, bodyOf("metrics", PROTOBUF_TYPE, { resourceMetrics }), {}, raw.origin);
    const record = {
      service_id: "json",
      metric_name: "orders",
      value: 5,
      timestamp: new Date(now).toISOString(),
      attributes: { metric_type: "counter" },
    };
    await post("/api/v1/telemetry", JSON_TYPE, JSON.stringify(record), {}, raw.origin);
    const { series } = await raw.get<{ series: object[] }>("/api/v1/series");
    expect(series).toMatchObject([
      { service_id: "json", kind: "gauge", samples: 1, last_value: 5 },
      { service_id: "unknown_service", kind: "gauge", samples: 2, last_value: 4 },
    ]);
    await raw.stop();
  });

  check("finds the restart of a counter that only its start time shows", async () => {
    const now = Math.floor(Date.now() / 1000) * 1000;
    const hour = now - 3_600_000;
    const sums = [
      [now - 30_000, hour, "100"],
      [now - 20_000, hour, "110"],
      [now - 10_000, now - 15_000, "115"],
      [now, now - 15_000, "121"],
    ] as const;
    for (const [type, service] of [
      [PROTOBUF_TYPE, "restarted"],
      [JSON_TYPE, "restarted-json"],
    ] as const) {
      for (const [timeMs, startMs, asInt] of sums) {
        const dataPoints = [{ startTimeUnixNano: `${startMs}000000`, timeUnixNano: `${timeMs}000000`, asInt }];
        const sum = { aggregationTemporality: 2, isMonotonic: true, dataPoints };
        const resource = { attributes: [{ key: "service.name", value: { stringValue: service } }] };
        const request = { resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: "orders", sum }] }] }] };
        expect((await post("/v1/metrics", type, bodyOf("metrics", type, request))).status).toBe(200);
      }
      const { points } = await server.get<{ points: Array<{ value: number }> }>("/api/v1/series/data", {
        service_id: service,
        metric_name: "orders",
      });
      expect(
        points.map(({ value }) => value),
        service,
      ).toEqual([10, 115, 6]);
    }
  });

  check("takes what the OpenTelemetry JavaScript SDK sends", async () => {
    for (const signal of SIGNALS) {
      const moved = movedToNow(readFileSync(`test/golden/otlp-${signal}-proto.bin`));
      const answer = await post(`/v1/${signal}`, PROTOBUF_TYPE, moved);
      expect(answer.status, signal).toBe(200);
    }
    const { series } = await server.get<{ series: Array<{ metric_name: string; environment: string }> }>("/api/v1/series", {
      service_id: "checkout",
    });
    const names = new Set(series.map(({ metric_name }) => metric_name));
    for (const name of ["orders.placed", "http.server.request.duration.p95", "http.server.request.duration.exp.count"])
      expect(names).toContain(name);
    expect(new Set(series.map(({ environment }) => environment))).toEqual(new Set(["production"]));
  });
});

/** The captured body with its times, all of two seconds, moved to now. Throws where it has none: it would be refused a day after it was captured. */
function movedToNow(body: Buffer): Buffer {
  const moved = Buffer.from(body);
  const second = 1_795_220_409n * 1_000_000_000n;
  const shift = BigInt(Date.now() - 3_000) * 1_000_000n - second;
  for (let at = 0; at + 8 <= moved.length; at++) {
    const value = moved.readBigUInt64LE(at);
    if (value < second || value >= second + 2_000_000_000n) continue;
    moved.writeBigUInt64LE(value + shift, at);
    at += 7;
  }
  if (moved.equals(body)) throw new Error("the body has no time of those seconds");
  return moved;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const { port } = probe.address() as { port: number };
  await new Promise<void>((resolve) => probe.close(() => resolve()));
  return port;
}
