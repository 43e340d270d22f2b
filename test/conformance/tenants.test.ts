// Tenants on the real server, over both HTTP adapters: plans and their rates, rates of keys, and what billing counts.
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINES } from "../support/http-exchanges.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { type Answer, type Question, REMOTE_WRITE_HEADERS, ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { authorization, JWT_SECRET } from "../support/tokens.ts";

const JSON_TYPE = { "Content-Type": "application/json" };
/** More at once than any plan of these tests allows in the time that they take. */
const BURST = 300;

const record = (service: string) =>
  JSON.stringify({ service_id: service, metric_name: "m", value: 1, timestamp: new Date().toISOString() });

describe.each(ENGINES)("tenants over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  const test = it.skipIf(skipped);
  let client: ServerClient;
  let operator: Record<string, string>;
  beforeAll(async () => {
    if (skipped) return;
    client = new ServerClient(
      (await bench.start({ HTTP_ENGINE: kind, ENGINES: "2", JWT_SECRET, PLAN_LIMITS: "free=5,starter=20" })).origin,
    );
    operator = await authorization("default", "super_admin");
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  const create = (content: object) => client.postJson("/api/v1/tenants", content, operator);
  const usageOf = async (tenant: string): Promise<{ events: number; by_type: Record<string, number> }> => {
    const { tenants } = (await client.get("/api/v1/billing/usage", operator)).json();
    return tenants.find(({ tenant_id }: { tenant_id: string }) => tenant_id === tenant);
  };
  const listed = async (tenant: string) =>
    (await client.get("/api/v1/tenants", operator)).json().tenants.find(({ tenant_id }: { tenant_id: string }) => tenant_id === tenant);
  /** A burst of one request; statuses with how often each came. */
  const burst = async (question: Question, times = BURST) => {
    const answers = await Promise.all(Array.from({ length: times }, () => client.ask(question)));
    const refused = answers.filter(({ status }) => status === 429);
    return { taken: answers.filter(({ status }) => status < 300).length, refused };
  };
  const expectRetry = ({ headers }: Answer) => expect(headers["retry-after"]).toBe("1");

  test("limits ingestion to the plan, in the form of each way in, stores nothing of what it refuses, and counts the rest", async () => {
    expect((await create({ tenant_id: "small", name: "Small", plan: "free" })).status).toBe(201);
    const headers = await authorization("small", "operator");
    const samples = encodeBody([
      {
        labels: [
          ["__name__", "m"],
          ["job", "rw"],
        ],
        samples: [{ value: 1, time: Date.now() }],
      },
    ]);
    const message = expect.stringMatching(/tenant small .*plan free.* 5 requests per second/);
    let taken = 0;

    const single: Question = { method: "POST", path: "/api/v1/telemetry", headers: { ...headers, ...JSON_TYPE }, body: record("json") };
    const json = await burst(single);
    taken += json.taken;
    const [refusal] = json.refused as [Answer];
    expect(refusal.json()).toMatchObject({ status: "error", error: "rate_limit_exceeded", message, request_id: expect.any(String) });
    expectRetry(refusal);
    const problem = await burst({ ...single, headers: { ...single.headers, Accept: "application/problem+json" } });
    taken += problem.taken;
    expect((problem.refused[0] as Answer).json()).toMatchObject({ status: 429, detail: message });

    const write = await burst({
      method: "POST",
      path: "/api/v1/rwmetrics/write",
      headers: { ...headers, ...REMOTE_WRITE_HEADERS },
      body: compressSync(Buffer.from(samples)),
    });
    taken += write.taken;
    expect((write.refused[0] as Answer).json()).toMatchObject({ error: "rate_limit_exceeded", message });
    expectRetry(write.refused[0] as Answer);

    const point = { timeUnixNano: `${Date.now()}000000`, asDouble: 1 };
    const resource = { attributes: [{ key: "service.name", value: { stringValue: "otlp" } }] };
    const metrics = JSON.stringify({
      resourceMetrics: [{ resource, scopeMetrics: [{ metrics: [{ name: "m", gauge: { dataPoints: [point] } }] }] }],
    });
    const otlp = await burst({ method: "POST", path: "/v1/metrics", headers: { ...headers, ...JSON_TYPE }, body: metrics });
    taken += otlp.taken;
    expect((otlp.refused[0] as Answer).json()).toEqual({ code: 8, message }); // RESOURCE_EXHAUSTED
    expectRetry(otlp.refused[0] as Answer);
    const protobuf = await burst({
      method: "POST",
      path: "/v1/metrics",
      headers: { ...headers, "Content-Type": "application/x-protobuf" },
      body: "",
    });
    expect((protobuf.refused[0] as Answer).headers["content-type"]).toBe("application/x-protobuf");
    expect((protobuf.refused[0] as Answer).text).toContain("5 requests per second");

    expect(await usageOf("small")).toMatchObject({ events: taken, by_type: { metric: taken, log: 0 } });
    expect((await listed("small")).events_this_month).toBe(taken);
    expect(await client.metric('vedette_rate_limited_total{by="free"}')).toBeGreaterThan(4 * (BURST - 100));
    // Questions are not limited, and others are not: not the default tenant, which has no limit.
    expect((await burst({ path: "/api/v1/series", headers })).taken).toBe(BURST);
    expect((await burst({ ...single, headers: JSON_TYPE })).taken).toBe(BURST);
    expect((await usageOf("default")).events).toBe(BURST);
  });

  test("has a change of plan in force with the next request", async () => {
    expect((await create({ tenant_id: "grows", name: "Grows" })).json().plan).toBe("free");
    const headers = { ...(await authorization("grows", "operator")), ...JSON_TYPE };
    const single: Question = { method: "POST", path: "/api/v1/telemetry", headers, body: record("s") };
    expect((await burst(single)).refused.length).toBeGreaterThan(0);
    const change = (plan: string) =>
      client.ask({
        method: "PATCH",
        path: "/api/v1/tenants/grows",
        headers: { ...operator, ...JSON_TYPE },
        body: JSON.stringify({ plan }),
      });
    expect((await change("enterprise")).json()).toMatchObject({ tenant_id: "grows", plan: "enterprise" });
    expect((await burst(single)).taken).toBe(BURST);
    await change("starter");
    expect(((await burst(single)).refused[0] as Answer).json().message).toMatch(/plan starter.* 20 requests per second/);
  });

  test("limits a key to its own rate, whatever it asks", async () => {
    await create({ tenant_id: "keyed", name: "Keyed", plan: "enterprise" });
    const admin = await authorization("keyed", "admin");
    const key = async (content: object) => {
      const answer = await client.postJson("/api/v1/apikeys", { name: "k", scope: "readwrite", ...content }, admin);
      return { "X-API-Key": answer.json().api_key as string };
    };
    const [slow, free] = [await key({ rate_limit_rps: 3 }), await key({})];
    const asked = await burst({ path: "/api/v1/series", headers: slow });
    expect((asked.refused[0] as Answer).json()).toMatchObject({
      error: "rate_limit_exceeded",
      message: expect.stringContaining("3 requests per second"),
    });
    const written: Question = { method: "POST", path: "/api/v1/telemetry", headers: { ...slow, ...JSON_TYPE }, body: record("s") };
    expect((await burst(written)).refused.length).toBeGreaterThan(0);
    expect((await burst({ ...written, headers: { ...free, ...JSON_TYPE } })).taken).toBe(BURST);
  });

  test("refuses a plan and a rate that are none at the start, and names the setting", async () => {
    for (const PLAN_LIMITS of ["gold=5", "free=0", "free=5,free=6"]) {
      const server = bench.launch({ PLAN_LIMITS });
      expect(await server.ended).toBe(78);
      expect(server.output).toMatch(/^vedette: PLAN_LIMITS: /m);
    }
  });
});
