/** What an operator sees of dead letters on the real server, over both HTTP adapters. */
import { gzipSync } from "node:zlib";
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { beginReplay, finishedReplay, readDeadLetters } from "../support/dead-letter-client.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const BATCH = "/api/v1/telemetry/batch";
const HOUR_MS = 3600 * 1000;
const iso = (offsetMs = 0) => new Date(Date.now() + offsetMs).toISOString();

describe.each(ENGINES)("dead letters over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let client: ServerClient;
  beforeAll(async () => {
    if (skipped) return;
    client = new ServerClient((await bench.start({ HTTP_ENGINE: kind, ENGINES: "2" })).origin);
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  const put = (id: string, content: unknown) =>
    client.ask({
      method: "PUT",
      path: `/api/v1/dlq/${id}`,
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(content),
    });
  const points = async (service: string, metric: string) => {
    const answer = await client.get(`/api/v1/series/data?service_id=${service}&metric_name=${metric}`);
    return answer.status === 200 ? (answer.json().points as Array<{ value: number }>).map(({ value }) => value) : [];
  };

  it.skipIf(skipped)("are corrected and replayed, once, with logs and samples of remote-write among them", async () => {
    const record = { service_id: "fix", metric_name: "m", value: "7", timestamp: iso(-1000) };
    const log = { service_id: "fix", type: "log", body: 5, timestamp: iso(-1000) };
    expect((await client.postJson(BATCH, [record, log])).json()).toMatchObject({ queued: 0, failed: 2 });
    const labels = { __name__: "up", job: "fix" };
    const late = encodeBody([{ labels: Object.entries(labels), samples: [{ value: 1, time: Date.now() + HOUR_MS }] }]);
    expect((await client.postRemoteWrite(compressSync(Buffer.from(late)))).status).toBe(400);
    const letters = await readDeadLetters(client, "&service_id=fix");
    expect(letters.map(({ reason }) => reason).sort()).toEqual(["invalid_value", "missing_body", "timestamp_in_future"]);
    const idOf = (reason: string) => letters.find((letter) => letter.reason === reason)?.dlq_id as string;
    expect((await put(idOf("invalid_value"), { ...record, value: null })).json()).toMatchObject({
      replayable: false,
      problem: { field: "value" },
    });
    expect((await put(idOf("invalid_value"), { payload: { ...record, value: 7 } })).json()).toMatchObject({
      replayable: true,
      problem: null,
    });
    expect((await put(idOf("missing_body"), { ...log, body: "five" })).json()).toMatchObject({ replayable: true });
    expect((await put(idOf("timestamp_in_future"), { labels, value: 1, timestamp: Date.now() - 500 })).json()).toMatchObject({
      replayable: true,
    });
    const rehearsal = (await client.postJson("/api/v1/dlq/replay", { filter: { service_id: "fix" }, dry_run: true })).json();
    expect(rehearsal).toMatchObject({ accepted: 3, refused: 0, selected: 3 });
    const job = await finishedReplay(client, await beginReplay(client, { filter: { service_id: "fix" } }));
    expect(job).toMatchObject({ replayed: 3, failed: 0, progress: 1 });
    const again = await finishedReplay(client, await beginReplay(client, { ids: letters.map(({ dlq_id }) => dlq_id) }));
    expect(again).toMatchObject({ replayed: 0, already_replayed: 3 });
    expect(await points("fix", "m")).toEqual([7]);
    expect(await points("fix", "up")).toEqual([1]);
    expect((await client.get("/api/v1/records?service_id=fix&type=log")).json()).toMatchObject({ total: 1, records: [{ body: "five" }] });
    expect(await readDeadLetters(client, "&service_id=fix")).toEqual([]);
  });

  it.skipIf(skipped)("are counted by reason and source, with their depth and bytes in /metrics", async () => {
    await client.postJson(BATCH, [{ service_id: "count" }, { metric_name: "m" }]);
    await client.postRemoteWrite(
      compressSync(Buffer.from(encodeBody([{ labels: [["job", "count"]], samples: [{ value: 1, time: Date.now() }] }]))),
    );
    const stats = (await client.get("/api/v1/debug/dlq-stats")).json();
    expect(stats).toMatchObject({
      by_reason: { missing_service_id: 1 },
      by_topic: { remote_write: 1 },
      dropped: { by_age: 0, by_size: 0 },
    });
    expect(stats.by_topic.json).toBe(stats.total_failed - 1);
    expect(Date.parse(stats.oldest_entry)).toBeLessThanOrEqual(Date.parse(stats.newest_entry));
    expect(await client.metric("svc_dlq_depth")).toBe(stats.total_failed);
    expect(await client.metric("vedette_dead_letter_bytes")).toBe(stats.bytes);
    for (const bound of ["size", "age"]) expect(await client.metric(`vedette_dead_letters_dropped_total{bound="${bound}"}`)).toBe(0);
  });

  it.skipIf(skipped)("10,000 equal records in 71 bytes of gzip are one letter, and 10,000 failures", async () => {
    const before = await client.metric("vedette_dead_letter_bytes");
    const depth = await client.metric("svc_dlq_depth");
    const body = gzipSync(JSON.stringify(Array.from({ length: 10_000 }, () => ({}))));
    const headers = { "Content-Type": "application/json", "Content-Encoding": "gzip" };
    const answer = (await client.ask({ method: "POST", path: BATCH, headers, body })).json();
    expect([answer.failed, answer.failures.length, answer.failures.at(-1).index]).toEqual([10_000, 10_000, 9_999]);
    await expect.poll(() => client.metric("svc_dlq_depth")).toBe(depth + 1);
    expect((await client.metric("vedette_dead_letter_bytes")) - before).toBeLessThan(1_000);
    const { entries } = (await client.get("/api/v1/dlq?limit=1")).json();
    expect(entries[0]).toMatchObject({ payload: {}, count: 10_000, places: [[0, 9_999]] });
  });

  it.skipIf(skipped)("are deleted one by one; requests that cannot be read say why", async () => {
    await client.postJson(BATCH, [{ service_id: "gone" }]);
    const [letter] = await readDeadLetters(client, "&service_id=gone");
    const path = `/api/v1/dlq/${letter?.dlq_id}`;
    expect((await client.get(path)).json()).toMatchObject({ payload: { service_id: "gone" }, replayable: false });
    expect(await client.ask({ method: "DELETE", path })).toMatchObject({ status: 204, text: "" });
    expect((await client.get(path)).status).toBe(404);
    const json = { "Content-Type": "application/json" };
    const bad: Array<[status: number, headers: Record<string, string>, body: string | Uint8Array]> = [
      [415, { "Content-Type": "text/plain" }, "{}"],
      [415, { ...json, "Content-Encoding": "gzip" }, "{}"],
      [400, json, ""],
      [400, json, Uint8Array.of(0x7b, 0xff)],
      [400, json, '{"filter":{"reason":""}}'],
      [413, json, " ".repeat(300 * 1024)],
    ];
    for (const [status, headers, body] of bad) {
      const answer = await client.ask({ method: "POST", path: "/api/v1/dlq/replay", headers, body });
      expect([answer.status, answer.json().status]).toEqual([status, "error"]);
    }
    expect((await client.get("/api/v1/dlq/replay")).status).toBe(405);
    expect((await client.get("/api/v1/dlq?reason=zzz")).json()).toMatchObject({ error: "invalid_parameter", field: "reason" });
    expect((await client.get("/api/v1/dlq", { "X-Forwarded-For": "10.0.0.1" })).status).toBe(401);
  });
});
