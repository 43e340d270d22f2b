/** What senders and readers of telemetry see of the real server, over both HTTP adapters. */
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { compressSync, uncompressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { parseExposition } from "../support/exposition.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { decodeBody, encodeBody, type Series } from "../support/remote-write-body.ts";
import { type Answer, ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const SINGLE = "/api/v1/telemetry";
const BATCH = "/api/v1/telemetry/batch";
const WRITE = "/api/v1/rwmetrics/write";
const TYPES = ["metric", "log", "trace", "event", "profile", "slo"] as const;
/** Reasons for which a whole body is refused; it is counted and not kept. */
const WHOLE_BODY: ReadonlySet<string> = new Set(["invalid_json", "invalid_protobuf", "batch_too_large", "payload_too_large"]);
const HOUR_MS = 3600 * 1000;
const captured = readFileSync("test/golden/prometheus-remote-write.bin");
const capturedSeries = decodeBody(uncompressSync(captured) as Uint8Array);
const capturedMetadata = readFileSync("test/golden/prometheus-remote-write-metadata.bin");

const iso = (offsetMs = 0) => new Date(Date.now() + offsetMs).toISOString();
const metric = (fields: object = {}) => ({
  service_id: "shop",
  metric_name: "latency_ms",
  value: 12.5,
  timestamp: iso(),
  ...fields,
});
const log = (fields: object = {}) => ({
  service_id: "shop",
  type: "log",
  body: "started",
  timestamp: iso(),
  ...fields,
});
const without = (record: object, field: string) => Object.fromEntries(Object.entries(record).filter(([name]) => name !== field));

/** The same series as if they had been sampled now. */
function moved(series: readonly Series[], byMs: number): Series[] {
  const newest = Math.max(...series.flatMap(({ samples }) => samples.map(({ time }) => time)));
  const shift = Date.now() - newest + byMs;
  return series.map(({ labels, samples }) => ({
    labels,
    samples: samples.map(({ value, time }) => ({ value, time: time + shift })),
  }));
}

function expectError(answer: Answer, status: number, code: string): void {
  expect([answer.status, answer.json().error]).toEqual([status, code]);
  expect(answer.json()).toMatchObject({
    status: "error",
    message: expect.stringMatching(/\S{3}/),
    request_id: expect.stringMatching(/^[\da-f]+-f?[\da-f]+$/),
  });
}

/** A record that is refused, the code, the field that is named. */
const REFUSED: ReadonlyArray<readonly [what: string, record: unknown, code: string, field: string | undefined]> = [
  ["a record that is no object", 7, "invalid_record", undefined],
  ["null", null, "invalid_record", undefined],
  ["no service_id", without(metric(), "service_id"), "missing_service_id", "service_id"],
  ["an empty service_id", metric({ service_id: "" }), "missing_service_id", "service_id"],
  ["a service_id of 1,025 bytes", metric({ service_id: "x".repeat(1025) }), "field_too_long", "service_id"],
  ["no metric_name", without(metric(), "metric_name"), "missing_metric_name", "metric_name"],
  ["no value", without(metric(), "value"), "missing_value", "value"],
  ["a value that is text", metric({ value: "12" }), "invalid_value", "value"],
  ["a value that is null", metric({ value: null }), "invalid_value", "value"],
  ["a log without body", without(log(), "body"), "missing_body", "body"],
  ["an event without body", { ...without(log(), "body"), type: "event" }, "missing_body", "body"],
  ["a trace without metric_name", without(metric({ type: "trace" }), "metric_name"), "missing_metric_name", "metric_name"],
  ["an slo without value", without(metric({ type: "slo" }), "value"), "missing_value", "value"],
  ["a profile without value", without(metric({ type: "profile" }), "value"), "missing_value", "value"],
  ["no timestamp", without(metric(), "timestamp"), "missing_timestamp", "timestamp"],
  ["a timestamp that is a number", metric({ timestamp: 1_700_000_000 }), "invalid_timestamp", "timestamp"],
  ["30 February", metric({ timestamp: "2026-02-30T00:00:00Z" }), "invalid_timestamp", "timestamp"],
  ["a timestamp without zone", metric({ timestamp: iso().slice(0, -1) }), "invalid_timestamp", "timestamp"],
  ["25 hours ago", metric({ timestamp: iso(-25 * HOUR_MS) }), "timestamp_too_old", "timestamp"],
  ["in 11 minutes", metric({ timestamp: iso(11 * 60_000) }), "timestamp_in_future", "timestamp"],
  ["an unknown type", metric({ type: "span" }), "invalid_type", "type"],
  ["attributes that are an array", metric({ attributes: [] }), "invalid_attributes", "attributes"],
  [
    "129 attributes",
    metric({ attributes: Object.fromEntries(Array.from({ length: 129 }, (_, i) => [`a${i}`, i])) }),
    "invalid_attributes",
    "attributes",
  ],
];

describe.each(ENGINES)("ingestion over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let client: ServerClient;
  beforeAll(async () => {
    if (skipped) return;
    client = new ServerClient((await bench.start({ HTTP_ENGINE: kind })).origin);
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });
  const check = it.skipIf(skipped);
  const records = async (query: string) => (await client.get(`/api/v1/records?${query}`)).json();
  const series = async (service: string) => (await client.get(`/api/v1/series?limit=1000&service_id=${service}`)).json();

  check("a single record is answered as the contract says, in every spelling of JSON", async () => {
    const answer = await client.postJson(SINGLE, metric());
    expect([answer.status, answer.headers["content-type"], answer.json()]).toEqual([200, "application/json", { status: "ok", queued: 1 }]);
    for (const type of ["application/json; charset=utf-8", "Application/JSON;charset=UTF-8", "application/json ; x=y"]) {
      expect((await client.postJson(SINGLE, metric(), { "Content-Type": type })).json()).toEqual({
        status: "ok",
        queued: 1,
      });
    }
    const gzip = await client.postJson(SINGLE, gzipSync(JSON.stringify(metric())), { "Content-Encoding": "gzip" });
    expect(gzip.json()).toEqual({ status: "ok", queued: 1 });
  });

  check("a batch keeps the valid records and names each other one by index, code and field", async () => {
    expect((await client.postJson(BATCH, [metric(), log()])).json()).toEqual({
      status: "ok",
      queued: 2,
      failed: 0,
      failures: [],
    });
    expect((await client.postJson(BATCH, [])).json()).toEqual({ status: "ok", queued: 0, failed: 0, failures: [] });
    const answer = await client.postJson(BATCH, [metric(), ...REFUSED.map(([, record]) => record), log()]);
    expect(answer.status).toBe(200);
    const { failures, ...counts } = answer.json();
    expect(counts).toEqual({ status: "partial", queued: 2, failed: REFUSED.length });
    for (const [at, [what, , code, field]] of REFUSED.entries()) {
      const { message, ...rest } = failures[at];
      expect(rest, what).toEqual({ index: at + 1, error: code, ...(field === undefined ? {} : { field }) });
      expect(message.length, what).toBeGreaterThan(10);
    }
  });

  check("each refused record alone is a 400 with its code and field", async () => {
    for (const [what, record, code, field] of REFUSED) {
      const answer = await client.postJson(SINGLE, record);
      expect([what, answer.status, answer.json().error, answer.json().field]).toEqual([what, 400, code, field]);
    }
  });

  check("bodies of logs and events beyond 8 KiB are cut, and say so", async () => {
    const body = `${"x".repeat(9_000)}é`;
    const records = ["log", "event"].map((type) => log({ service_id: "cut", type, body }));
    expect((await client.postJson(BATCH, records)).json()).toMatchObject({ queued: 2, failed: 0 });
    await expect.poll(async () => (await client.get("/api/v1/records?service_id=cut")).json().total).toBe(2);
    for (const record of (await client.get("/api/v1/records?service_id=cut")).json().records) {
      expect(record.body).toMatch(/^x+… \[cut: 9002 bytes came\]$/);
      expect(Buffer.byteLength(record.body)).toBe(8192);
    }
  });

  check("10,000 records are taken, 10,001 are not", async () => {
    const many = Array.from({ length: 10_001 }, (_, i) => metric({ service_id: "bulk", metric_name: `m${i % 50}`, timestamp: iso(-i) }));
    expectError(await client.postJson(BATCH, many), 400, "batch_too_large");
    expect((await series("bulk")).total).toBe(0);
    expect((await client.postJson(BATCH, many.slice(1))).json()).toMatchObject({ queued: 10_000, failed: 0 });
  });

  check("all six types are found again by service, type and time, page by page", async () => {
    const at = Date.now() - 60_000;
    const time = (i: number) => new Date(at + i * 1000).toISOString();
    const content = { log: { body: "b" }, event: { body: "b" } } as Record<string, object>;
    const sent = TYPES.map((type, i) => ({
      service_id: "six",
      type,
      timestamp: time(i),
      attributes: { zone: "a" },
      ...(content[type] ?? { metric_name: `six.${type}`, value: i }),
    }));
    expect((await client.postJson(BATCH, sent)).json()).toMatchObject({ queued: 6, failed: 0 });
    for (const [i, type] of TYPES.entries()) {
      // What is counted of the log comes as metrics of the service, without its attributes, when the window closes.
      const isSent = ({ attributes }: { attributes: Record<string, unknown> }) => attributes.zone === "a";
      const found = async () => (await records(`service_id=six&type=${type}`)).records.filter(isSent);
      await expect.poll(found, { message: type }).toEqual([expect.objectContaining({ ...sent[i], timestamp: time(i) })]);
    }
    const range = await records(`service_id=six&type=log&since=${time(1)}&until=${time(2)}`);
    expect(range.total).toBe(1);
    expect((await records(`service_id=six&type=log&until=${time(1)}`)).total).toBe(0);
    expect((await records("service_id=nobody")).total).toBe(0);
    expect((await records("type=slo")).records[0]).toMatchObject({ service_id: "six", type: "slo" });
  });

  check("pages hold every record once, and a token of other filters is refused", async () => {
    const sent = Array.from({ length: 25 }, (_, i) => log({ service_id: "paged", body: `line ${i}`, timestamp: iso(-i * 1000) }));
    await client.postJson(BATCH, sent);
    // Of the logs alone: what is counted of them comes as metrics of the service, at the end of each ten seconds.
    await expect.poll(async () => (await records("service_id=paged&type=log")).total).toBe(25);
    const seen: string[] = [];
    let token = "";
    do {
      const page = await records(`service_id=paged&type=log&limit=10&page_token=${token}`);
      expect(page.total).toBe(25);
      seen.push(...page.records.map(({ body }: { body: string }) => body));
      token = page.page_token;
      if (seen.length === 10)
        expectError(await client.get(`/api/v1/records?service_id=other&type=log&page_token=${token}`), 400, "invalid_page_token");
    } while (token !== "");
    expect(seen).toEqual(sent.map(({ body }) => body));
  });

  check("a repeated Idempotency-Key stores nothing twice, another key does", async () => {
    const body = log({ service_id: "once" });
    for (const key of ["k1", "k1", "k2"]) {
      expect((await client.postJson(SINGLE, body, { "Idempotency-Key": key })).status).toBe(200);
    }
    await expect.poll(async () => (await records("service_id=once&type=log")).total).toBe(2);
    expectError(await client.postJson(SINGLE, body, { "Idempotency-Key": "k".repeat(256) }), 400, "bad_request");
  });

  check("Prometheus' captured bodies: 204 when fresh, the 400 form when old, both spellings, metadata", async () => {
    for (const [age, path] of [
      [0, WRITE],
      [-1000, "/api/v1/rwmetrics/remote_write"],
    ] as const) {
      const answer = await client.postRemoteWrite(compressSync(Buffer.from(encodeBody(moved(capturedSeries, age)))), path);
      expect([answer.status, answer.text]).toEqual([204, ""]);
    }
    const found = await client.get("/api/v1/series?service_id=node&limit=1000");
    expect(found.json().total).toBe(capturedSeries.length);
    const kinds = found
      .json()
      .series.map(({ metric_name, kind: seriesKind }: Record<string, string>) => [
        /_(total|count|sum|bucket)$/.test(metric_name as string),
        seriesKind,
      ]);
    expect(kinds.every(([counter, seriesKind]: [boolean, string]) => seriesKind === (counter ? "counter" : "gauge"))).toBe(true);
    const old = await client.postRemoteWrite(compressSync(Buffer.from(encodeBody(moved(capturedSeries, -25 * HOUR_MS)))));
    expectError(old, 400, "timestamp_too_old");
    expect(old.json().message).toMatch(/^500 of 500 samples were refused/);
    const asCaptured = await client.postRemoteWrite(captured);
    expect([204, 400]).toContain(asCaptured.status); // by the age of the capture
    if (asCaptured.status === 400) expect(asCaptured.json().error).toMatch(/^timestamp_(too_old|in_future)$/);
    expect((await client.postRemoteWrite(capturedMetadata)).status).toBe(204);
  });

  check("remote-write keeps the valid samples of a request and counts the others", async () => {
    const good = {
      labels: [
        ["__name__", "kept"],
        ["job", "partly"],
      ] as const,
      samples: [{ value: 1, time: Date.now() }],
    };
    const bad = {
      ...good,
      labels: [
        ["__name__", "infinite"],
        ["job", "partly"],
      ] as const,
      samples: [{ value: Number.POSITIVE_INFINITY, time: Date.now() }],
    };
    const nameless = { labels: [["job", "partly"]] as const, samples: good.samples };
    const answer = await client.postRemoteWrite(compressSync(Buffer.from(encodeBody([bad, good, nameless]))));
    expect(answer.status).toBe(400);
    expect(answer.json().message).toMatch(/^1 of 3 samples were refused, the others are stored/);
    const stored = (await series("partly")).series.filter(({ samples }: { samples: number }) => samples > 0);
    expect(stored).toMatchObject([{ metric_name: "kept", last_value: 1 }]);
  });

  check("headers of write requests: media types and encodings that are not read", async () => {
    const send = (path: string, headers: Record<string, string>) => client.ask({ method: "POST", path, headers, body: "{}" });
    expectError(await send(SINGLE, {}), 415, "unsupported_media_type");
    expectError(await send(SINGLE, { "Content-Type": "text/plain" }), 415, "unsupported_media_type");
    expectError(await send(SINGLE, { "Content-Type": "application/json", "Content-Encoding": "br" }), 415, "unsupported_media_type");
    expectError(await send(WRITE, { "Content-Type": "application/json" }), 415, "unsupported_media_type");
    expectError(
      await send(WRITE, { "Content-Type": "application/x-protobuf;proto=io.prometheus.write.v3.Request" }),
      415,
      "unsupported_media_type",
    );
    expectError(await send(WRITE, { "Content-Type": "application/x-protobuf", "Content-Encoding": "gzip" }), 415, "unsupported_media_type");
  });

  check("errors take the form of RFC 9457 where Accept asks for it", async () => {
    const answer = await client.postJson(SINGLE, metric({ value: "x" }), { Accept: "application/problem+json" });
    expect([answer.status, answer.headers["content-type"]]).toEqual([400, "application/problem+json"]);
    expect(answer.json()).toMatchObject({
      type: "about:blank",
      title: "Bad Request",
      status: 400,
      error: "invalid_value",
      field: "value",
      detail: expect.any(String),
    });
    const lesser = await client.get("/nowhere", { Accept: "application/json, application/problem+json;q=0.5" });
    expect([lesser.status, lesser.headers["content-type"]]).toEqual([404, "application/json"]);
  });

  check("credentials that nobody issued are 401, never the default tenant; so are rebound hosts and foreign origins", async () => {
    for (const credential of [{ Authorization: "Bearer x" }, { "X-API-Key": "x" }, { Authorization: "Basic eDp5" }, { "X-API-Key": "" }]) {
      const written = await client.postJson(SINGLE, metric({ service_id: "intruder" }), credential);
      expectError(written, 401, "unauthorized");
      expect(written.headers["www-authenticate"]).toMatch(/^Bearer/);
      expectError(await client.get("/api/v1/anomalies", credential), 401, "unauthorized");
    }
    expect((await series("intruder")).total).toBe(0);
    const foreign: Record<string, string>[] = [
      { Host: "evil.example" },
      { Host: `evil.example:${client.port}` },
      { Origin: "http://evil.example" },
      { Origin: "null" },
      { Origin: `http://localhost:${client.port + 1}` },
      { "X-Forwarded-For": "10.0.0.1" },
      { Forwarded: "for=10.0.0.1" },
    ];
    for (const headers of foreign) expectError(await client.get("/api/v1/status", headers), 401, "unauthorized");
    const own = `localhost:${client.port}`;
    expect((await client.get("/api/v1/status", { Host: own, Origin: `http://${own}` })).status).toBe(200);
    expect((await client.get("/healthz", { Host: "evil.example" })).status).toBe(200);
  });

  check("methods and paths: 405 names those allowed, HEAD has no body, paths are exact", async () => {
    const refused = await client.get(SINGLE);
    expectError(refused, 405, "method_not_allowed");
    expect(refused.headers.allow).toBe("POST");
    const post = await client.ask({ method: "POST", path: "/healthz" });
    expect([post.status, post.headers.allow]).toEqual([405, "GET, HEAD"]);
    const head = await client.ask({ method: "HEAD", path: "/healthz" });
    expect([head.status, head.text, head.headers["content-type"]]).toEqual([200, "", "application/json"]);
    expect((await client.ask({ method: "HEAD", path: SINGLE })).status).toBe(405);
    for (const path of ["/api/v1/telemetry/", "/API/v1/telemetry", "/nowhere", "/api/v1/%74elemetry"]) {
      expectError(await client.postJson(path, metric()), 404, "not_found");
    }
  });

  check("dlq-stats counts what was refused, by reason", async () => {
    const read = async () => (await client.get("/api/v1/debug/dlq-stats")).json();
    const refused = parseExposition((await client.get("/metrics")).text).get("svc_validation_failures_total")?.samples ?? [];
    const ofRecords = refused.filter(({ labels }) => !WHOLE_BODY.has(labels.reason as string)).reduce((sum, { value }) => sum + value, 0);
    await expect.poll(async () => (await read()).total_failed).toBe(ofRecords); // they are written shortly after the answer
    const before = await read();
    await client.postJson(BATCH, [metric({ value: "x" }), metric({ value: "y" }), metric({ timestamp: "soon" })]);
    await expect.poll(async () => (await read()).total_failed).toBe(before.total_failed + 3);
    const after = await read();
    expect(after.by_reason.invalid_value).toBe(before.by_reason.invalid_value + 2);
    expect(after.by_reason.invalid_timestamp).toBe(before.by_reason.invalid_timestamp + 1);
    expect(Object.values(after.by_reason as Record<string, number>).reduce((sum, count) => sum + count, 0)).toBe(after.total_failed);
    for (const edge of [after.oldest_entry, after.newest_entry]) expect(new Date(edge).toISOString()).toBe(edge);
  });

  check("/metrics parses and has the contract's five names with their labels", async () => {
    const page = await client.get("/metrics");
    expect(page.headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
    const families = parseExposition(page.text);
    const shape = (name: string) => [
      families.get(name)?.type,
      Object.keys(families.get(name)?.samples[0]?.labels ?? {})
        .sort()
        .join(),
    ];
    expect(shape("svc_ingestion_events_total")).toEqual(["counter", "status,type"]);
    expect(shape("svc_ingestion_batch_size")).toEqual(["histogram", "le"]);
    expect(shape("svc_http_request_duration_seconds")).toEqual(["histogram", "endpoint,le"]);
    const endpoints = families.get("svc_http_request_duration_seconds")?.samples.map(({ labels }) => labels.endpoint);
    expect(endpoints).toContain("/api/v1/telemetry/batch");
    for (const endpoint of endpoints ?? []) expect(["unmatched", ...ENDPOINTS.map(({ path }) => path)]).toContain(endpoint);
    expect(shape("vedette_build_info")).toEqual(["gauge", "node_version,version"]);
    expect(shape("process_cpu_seconds_total")).toEqual(["counter", ""]);
    expect(shape("svc_dlq_depth")).toEqual(["gauge", ""]);
    expect(shape("svc_validation_failures_total")).toEqual(["counter", "reason"]);
    const { total_failed } = (await client.get("/api/v1/debug/dlq-stats")).json();
    expect(families.get("svc_dlq_depth")?.samples[0]?.value).toBe(total_failed);
  });

  check("system endpoints have the contract's fields", async () => {
    expect((await client.get("/api/v1/telemetry-types")).json()).toEqual({ types: TYPES, default: "metric" });
    const text = expect.any(String);
    const count = expect.any(Number);
    const version = expect.stringMatching(/^\d+\.\d+\.\d+$/);
    expect((await client.get("/healthz")).json()).toEqual({
      status: "ok",
      version,
      uptime_seconds: count,
      store: "ok",
      log: "ok",
      queue: "ok",
      data: "ok",
    });
    expect((await client.get("/api/v1/status")).json()).toMatchObject({
      status: "ok",
      version,
      components: { watchdog: text, vectorizer: text, rca: text, llm: text, store: text },
      watchdog: {
        last_run: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        metrics_monitored: count,
        anomalies_last_hour: count,
      },
    });
  });

  check("an anomaly reaches the event stream, the list and its own address", async () => {
    const stream = await client.open({ path: "/api/v1/stream" });
    expect(stream.headers["content-type"]).toBe("text/event-stream");
    let events = "";
    stream.on("data", (chunk: Buffer) => (events += chunk.toString()));
    const sample = (i: number, value: number) =>
      metric({ service_id: "spiky", metric_name: "queue_depth", value, timestamp: iso((i - 40) * 1000) });
    await client.postJson(
      BATCH,
      Array.from({ length: 40 }, (_, i) => sample(i, 100 + ((i * 7) % 5))),
    );
    await client.postJson(SINGLE, sample(40, 400));
    await expect.poll(() => /event: anomaly\nid: .*\ndata: (.*)\n\n/.exec(events)?.[1]).toBeDefined();
    stream.destroy();
    const reported = JSON.parse(/event: anomaly\nid: .*\ndata: (.*)\n\n/.exec(events)?.[1] as string);
    expect(reported).toMatchObject({
      service_id: "spiky",
      metric_name: "queue_depth",
      resolved: false,
      rca_triggered: true,
      severity: "high",
      verdict: { observed: 400, suppressed_by: null },
    });
    const list = (await client.get("/api/v1/anomalies?service_id=spiky&min_score=0.5")).json();
    expect(list).toEqual({ anomalies: [reported], total: 1, page_token: "" });
    expect((await client.get(`/api/v1/anomalies/${reported.anomaly_id}`)).json()).toMatchObject(reported);
    expectError(await client.get("/api/v1/anomalies/unknown"), 404, "not_found");
    expectError(await client.get("/api/v1/anomalies?limit=1001"), 400, "invalid_limit");
    expectError(await client.get("/api/v1/anomalies?min_score=2"), 400, "invalid_parameter");
  });
});
