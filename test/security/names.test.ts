// S1 of the security test: one metric's name ended the server for good. Names that no key can hold, by every way in of a real server: each is refused where it
// comes in, its neighbours are kept, queries with it are answered 400, and the next start on the same folder is as good as the first.
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { BODY_JSON_BATCH, BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../src/core/protocol/body-kind.ts";
import { OTLP_SIGNALS, otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { NAME_PLACES, NEIGHBOUR, namedBody, WAYS_IN } from "../support/named-bodies.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { type Answer, REMOTE_WRITE_HEADERS, ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { authorization, JWT_SECRET } from "../support/tokens.ts";

const NUL = "\0".repeat(1024);
const TEXTS = ["m\ud800", NUL, "a\r\nb", "\u0085", "\u2028", "\u007f"];
const IMPORT_PATH = "/api/v1/import";
const NAMED = encodeURIComponent(NUL);

/** Where a body of each kind goes. */
function targetOf(kind: number): { path: string; headers: Record<string, string> } {
  if (kind === BODY_JSON_BATCH) return { path: "/api/v1/telemetry/batch", headers: { "Content-Type": "application/json" } };
  if (kind === BODY_REMOTE_WRITE_1) return { path: "/api/v1/rwmetrics/write", headers: REMOTE_WRITE_HEADERS };
  if (kind === BODY_REMOTE_WRITE_2) {
    const type = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
    return { path: "/api/v1/rwmetrics/write", headers: { "Content-Type": type, "Content-Encoding": "snappy" } };
  }
  for (const signal of OTLP_SIGNALS) {
    for (const encoding of ["json", "protobuf"] as const) {
      const type = encoding === "json" ? "application/json" : "application/x-protobuf";
      if (kind === otlpBodyKind(signal, encoding)) return { path: `/v1/${signal}`, headers: { "Content-Type": type } };
    }
  }
  return { path: IMPORT_PATH, headers: { "Content-Type": "application/json" } };
}

describe.each(ENGINES.filter(({ skipped }) => !skipped))("names on $kind", ({ kind }) => {
  const bench = new ServerBench();
  let server: ServerProcess;
  let client: ServerClient;
  let admin: Record<string, string>;

  beforeAll(async () => {
    server = await bench.start({ HTTP_ENGINE: kind, ENGINES: "1", JWT_SECRET });
    client = new ServerClient(server.origin);
    admin = await authorization("default", "admin");
  });

  afterAll(async () => {
    client.close();
    await bench.close();
  });

  function send(way: string, place: (typeof NAME_PLACES)[number], text: string): Promise<Answer> {
    const { kind: body, bytes } = namedBody(way, place, text, Date.now());
    const { path, headers } = targetOf(body);
    return client.ask({ method: "POST", path, headers: path === IMPORT_PATH ? { ...headers, ...admin } : headers, body: bytes });
  }

  it.each(WAYS_IN)("by %s end nothing, and the neighbour is kept", async (way) => {
    for (const place of NAME_PLACES) {
      for (const text of TEXTS) {
        const { status } = await send(way, place, text);
        expect([200, 204, 400], `${place} ${JSON.stringify(text.slice(0, 8))}`).toContain(status);
      }
    }
    expect((await client.get("/healthz")).status).toBe(200);
  });

  it("are counted for their sender and stand among the dead letters", async () => {
    const otlp = await send("otlp metrics json", "metric", "m\ud800");
    expect([otlp.status, otlp.json().partialSuccess]).toMatchObject([200, { rejectedDataPoints: "1" }]);
    const remote = await send("remote-write 1.0", "service", NUL);
    expect([remote.status, remote.json().error]).toEqual([400, "invalid_attributes"]);
    expect(remote.json().message).toContain("1 of 2 samples");
    const metadata = await send("remote-write metadata", "metric", NUL);
    expect([metadata.status, metadata.json().error]).toEqual([400, "invalid_attributes"]);
    const record = { service_id: NUL, metric_name: "m", value: 1, timestamp: new Date().toISOString() };
    expect((await client.postJson("/api/v1/telemetry", record)).json()).toMatchObject({ error: "invalid_record", field: "service_id" });
    const kept = async () => {
      const { entries } = (await client.get("/api/v1/dlq?limit=1000", admin)).json() as { entries: Array<{ reason: string }> };
      const reasons = entries.map(({ reason }) => reason);
      expect(reasons).toContain("invalid_attributes");
      expect(reasons).toContain("invalid_record");
    };
    await vi.waitFor(kept, { timeout: PATIENCE_MS });
  });

  it.each([
    ["service_id", `/api/v1/series?service_id=${NAMED}`],
    ["metric_name", `/api/v1/series/data?service_id=a&metric_name=${NAMED}`],
    ["service_id", `/api/v1/ml/forecast?service_id=${NAMED}&metric=a`],
    ["service_id", `/api/v1/service-labels?service_id=${NAMED}`],
    ["environment", "/api/v1/series?environment=%00"],
    ["id", `/api/v1/runbooks/${NAMED}`],
  ])("are refused as %s of a question", async (field, path) => {
    const answer = await client.get(path, admin);
    expect([answer.status, answer.json().field]).toEqual([400, field]);
  });

  it("are refused in ids of paths and in bodies of the configuration", async () => {
    const put = (path: string, body: object) =>
      client.ask({ method: "PUT", path, headers: { "Content-Type": "application/json", ...admin }, body: JSON.stringify(body) });
    const user = await put("/api/v1/users/alice%00", { role: "viewer" });
    expect([user.status, user.json().field]).toEqual([400, "user_id"]);
    expect((await put("/api/v1/users/alice%E2%80%8B", { role: "viewer" })).status).toBe(400);
    const budget = await put("/api/v1/routing/budgets/a%0Ab", { pages_per_week: 1 });
    expect([budget.status, budget.json().field]).toEqual([400, "team"]);
    const anomaly = await client.postJson("/api/v1/anomalies", { service_id: "a\nb", severity: "high", explanation: "x" }, admin);
    expect([anomaly.status, anomaly.json().field]).toEqual([400, "service_id"]);
  });

  it("are mended in alerts of an Alertmanager, whose pages are not lost, and take feedback", async () => {
    const labels = { alertname: "a\ud800", service: NUL, environment: "b\0", "c\n": "\udfff", long: "x".repeat(20_000) };
    const annotations = { summary: "it fires", description: "x".repeat(20_000) };
    const alert = { status: "firing", labels, annotations, startsAt: new Date().toISOString() };
    const taken = await client.postJson("/api/v1/alerts/webhook", [alert], admin);
    expect(taken.status).toBe(200);
    const path = `/api/v1/anomalies/${taken.json().anomaly_id}`;
    const service = "\ufffd".repeat(341);
    expect((await client.get(path, admin)).json()).toMatchObject({ service_id: service, metric_name: "a\ufffd", environment: "b\ufffd" });
    const feedback = {
      method: "PATCH",
      path,
      headers: { "Content-Type": "application/json", ...admin },
      body: '{"feedback":"false_positive"}',
    };
    expect((await client.ask(feedback)).status).toBe(200);
  });

  it("leave nothing behind that a start cannot read", async () => {
    await server.kill();
    server = await bench.start({ HTTP_ENGINE: kind, ENGINES: "1", JWT_SECRET, DATA_DIR: server.dataDir });
    client = new ServerClient(server.origin);
    const { series } = (await client.get("/api/v1/series?limit=1000", admin)).json() as { series: Array<{ service_id: string }> };
    expect(series.map(({ service_id }) => service_id)).toContain(NEIGHBOUR);
  });
});
