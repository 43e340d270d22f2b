/** Bodies that lie, break off or never end, at the real server over both HTTP adapters: a clear error, nothing stored, and the next request served. */
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type BadBody, badGiants, badJson, badRemoteWrite, badSizes, recordText, smallBody } from "../support/bad-bodies.ts";
import { ENGINES, MIB } from "../support/http-exchanges.ts";
import { RawHttpClient } from "../support/http-raw-client.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const BAD_REQUESTS = 2_000;
/** Measured: 40 to 100 MiB after 2,000, between 120 and 200 from 4,000 to 12,000: heaps of three threads that grow before they collect. */
const RESIDENT_GROWTH_BYTES_MAX = 256 * MIB;

/** What a field may hold beside what it should. */
const ODD_VALUES = [null, true, 0, -1, 1e308, "", "x", "\u0000", [], [[]], {}, { a: 1 }, ["metric"]] as const;
const FIELDS = ["service_id", "type", "metric_name", "value", "body", "trace_id", "timestamp", "attributes"] as const;

describe.each(ENGINES)("bad input over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let server: ServerProcess;
  let client: ServerClient;
  beforeAll(async () => {
    if (skipped) return;
    server = await bench.start({ HTTP_ENGINE: kind });
    client = new ServerClient(server.origin);
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });
  const check = it.skipIf(skipped);

  async function expectRefused({ what, question, status, code, says }: BadBody): Promise<void> {
    const answer = await client.ask(question);
    expect([what, answer.status, answer.json().error]).toEqual([what, status, code]);
    expect(answer.json(), what).toMatchObject({
      status: "error",
      message: expect.stringMatching(says),
      request_id: expect.any(String),
    });
    expect(answer.text.length, what).toBeLessThan(1_000);
  }

  const refusedBodies = (reason: string) => client.metric(`svc_validation_failures_total{reason="${reason}"}`);

  async function expectNothingStored(service = "bad"): Promise<void> {
    const { series } = (await client.get(`/api/v1/series?service_id=${service}`)).json();
    expect(series).toEqual([]);
    expect((await client.get(`/api/v1/records?service_id=${service}`)).json().total).toBe(0);
  }

  async function expectServing(): Promise<void> {
    const record = { service_id: "good", metric_name: "m", value: 1, timestamp: new Date().toISOString() };
    expect((await client.postJson("/api/v1/telemetry", record)).json()).toEqual({ status: "ok", queued: 1 });
    expect((await client.get("/healthz")).json()).toMatchObject({ status: "ok", store: "ok", queue: "ok" });
  }

  check("JSON that is none, or too much of it", async () => {
    for (const bad of badJson()) await expectRefused(bad);
    await expectNothingStored();
    await expectServing();
  });

  check("remote-write that is none, or too much of it", async () => {
    for (const bad of badRemoteWrite()) await expectRefused(bad);
    await expectNothingStored();
    await expectServing();
  });

  check("bodies of the largest size, and those that inflate beyond it", async () => {
    const before = await refusedBodies("payload_too_large");
    const sizes = badSizes();
    for (const bad of sizes) await expectRefused(bad);
    await expectNothingStored();
    await expectServing();
    expect((await refusedBodies("payload_too_large")) - before).toBe(sizes.filter(({ status }) => status === 413).length);
  });

  check("series that are refused with far more text than the ring to the coordinator holds do not hold up the next request", async () => {
    let isServedFirst = false;
    // Storing the letters takes a second: where the next request comes later, this process may have stood still, and it is tried again.
    for (let attempt = 0; attempt < 3 && !isServedFirst; attempt++) {
      const stored = (await client.metric("svc_dlq_depth")) + badGiants().length;
      for (const bad of badGiants()) await expectRefused(bad);
      await expectServing();
      isServedFirst = (await client.metric("svc_dlq_depth")) < stored;
      await expect.poll(() => client.metric("svc_dlq_depth")).toBe(stored);
    }
    expect(isServedFirst).toBe(true);
  });

  check("every prefix of a snappy block, and of the protobuf inside one", async () => {
    const body = smallBody();
    const block = compressSync(Buffer.from(body));
    for (let end = 0; end < block.length; end++) {
      const answer = await client.postRemoteWrite(block.subarray(0, end));
      expect([end, answer.status, answer.json().error]).toEqual([end, 400, "invalid_protobuf"]);
    }
    for (let end = 1; end < body.length; end++) {
      const answer = await client.postRemoteWrite(compressSync(Buffer.from(body.subarray(0, end))));
      expect([end, answer.status, answer.json().error]).toEqual([end, 400, "invalid_protobuf"]);
    }
    expect((await client.postRemoteWrite(compressSync(Buffer.alloc(0)))).status).toBe(204); // a request without series
    await expectNothingStored();
  });

  check("values of every wrong type in every field: taken or refused, never a fault", async () => {
    const base = { service_id: "typed", metric_name: "m", value: 1, body: "b", timestamp: new Date().toISOString() };
    for (const type of ["metric", "log"]) {
      const records = FIELDS.flatMap((field) => ODD_VALUES.map((value) => ({ ...base, type, [field]: value })));
      const batch = (await client.postJson("/api/v1/telemetry/batch", records)).json();
      expect(batch.queued + batch.failed).toBe(records.length);
      const refused = new Map<number, string>(batch.failures.map(({ index, error }: { index: number; error: string }) => [index, error]));
      for (const [index, record] of records.entries()) {
        const { status } = await client.postJson("/api/v1/telemetry", record);
        expect([record, status]).toEqual([record, refused.has(index) ? 400 : 200]);
      }
    }
    await expectServing();
  });

  check("names of JavaScript's own objects are ordinary names", async () => {
    const text = recordText(
      "1",
      ',"attributes":{"__proto__":"p","constructor":{"prototype":{"x":1}},"hasOwnProperty":"h","toString":"t"}',
    ).replaceAll("bad", "__proto__");
    for (const path of ["/api/v1/telemetry", "/api/v1/telemetry/batch"]) {
      const body = path.endsWith("batch") ? `[${text},${text.replace('"metric_name"', '"type":"log","body":"b","metric_name"')}]` : text;
      expect([path, (await client.postJson(path, body)).status]).toEqual([path, 200]);
    }
    const { series } = (await client.get("/api/v1/series?service_id=__proto__")).json();
    expect(series).toHaveLength(1);
    expect(Object.keys(series[0].attributes).sort()).toEqual(["__proto__", "constructor", "hasOwnProperty", "toString"]);
    const data = await client.get(
      `/api/v1/series/data?service_id=__proto__&metric_name=m&attributes=${encodeURIComponent(JSON.stringify(series[0].attributes))}`,
    );
    expect(data.json().points.length).toBeGreaterThan(0);
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      const answer = await client.get(`/api/v1/series?${name}=x`);
      expect([name, answer.status, answer.json().error, answer.json().field]).toEqual([name, 400, "unknown_parameter", name]);
    }
    expect((await client.get("/api/v1/series?service_id=constructor")).json().total).toBe(0);
    expect((await client.get("/api/v1/anomalies/__proto__")).status).toBe(404);
  });

  check("odd queries: clear errors", async () => {
    const asked: ReadonlyArray<readonly [query: string, code: string]> = [
      ["limit=0", "invalid_limit"],
      ["limit=1e3", "invalid_limit"],
      ["limit=1&limit=2", "repeated_parameter"],
      ["page_token=x", "invalid_page_token"],
      ["service_id=", "invalid_parameter"],
      [`service_id=${"x".repeat(1025)}`, "invalid_parameter"],
      [Array.from({ length: 65 }, (_, i) => `p${i}=1`).join("&"), "bad_request"],
      ["page_token=%00%ff", "invalid_page_token"],
    ];
    for (const [query, code] of asked) {
      const answer = await client.get(`/api/v1/series?${query}`);
      expect([query, answer.status, answer.json().error]).toEqual([query, 400, code]);
    }
    expect((await client.get("/api/v1/series?service_id=%ff%fe%")).json().total).toBe(0);
    const bad = await client.get(`/api/v1/series/data?service_id=a&metric_name=b&attributes=${"[".repeat(3_000)}`);
    expect([bad.status, bad.json().error]).toEqual([400, "invalid_attributes"]);
  });

  check("a body shorter or longer than its Content-Length", async () => {
    const head = `POST /api/v1/telemetry HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n`;
    const short = await RawHttpClient.open(client.port);
    await short.send(`${head}Content-Length: 1000\r\n\r\n${recordText("1")}`);
    short.reset();
    // What follows is no request. Its refusal may leave before the answer to the request in front, which then never comes.
    const long = await RawHttpClient.open(client.port);
    await long.send(`${head}Content-Length: 2\r\n\r\n{}${recordText("1")}`);
    await long.closed;
    const negative = await RawHttpClient.open(client.port);
    await negative.send(`${head}Content-Length: -1\r\n\r\n${recordText("1")}`);
    expect((await negative.response()).status).toBe(400);
    negative.reset();
    await expectNothingStored();
    await expectServing();
  });

  check(`memory stays bounded over ${BAD_REQUESTS} bad requests`, async () => {
    const bad = [...badJson(), ...badRemoteWrite()].filter(({ question }) => (question.body?.length ?? 0) < 100_000);
    const send = async (from: number, count: number) => {
      const lanes = Array.from({ length: 8 }, async (_, lane) => {
        for (let i = from + lane; i < from + count; i += 8) {
          const { question, status } = bad[i % bad.length] as BadBody;
          expect((await client.ask(question)).status).toBe(status);
        }
      });
      await Promise.all(lanes);
    };
    await send(0, 400); // buffers and code have found their size after these
    const before = await client.metric("vedette_resident_bytes");
    await send(0, BAD_REQUESTS);
    const grown = (await client.metric("vedette_resident_bytes")) - before;
    expect(grown).toBeLessThan(RESIDENT_GROWTH_BYTES_MAX);
    await expectNothingStored();
    await expectServing();
    expect(server.output).not.toMatch(/error|fatal/i);
  });
});
