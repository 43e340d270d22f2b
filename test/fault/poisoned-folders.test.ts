// Data folders with what an earlier version took by a request and no version can store: a start over each is ready, says what it has left out, and has all the rest; so is the next one.
import { afterEach, describe, expect, it, vi } from "vitest";
import { SECTION_METADATA } from "../../src/core/layout/row-frame.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { appendBlock } from "../support/poisoned-log.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const bench = new ServerBench();
afterEach(() => bench.close());

const SETTINGS = { ENGINES: "1" };
const NAMES = ["m\ud800", "\0".repeat(1024)];
const metadata = (metricName: string) => ({ tenant: "default", metricName, type: "gauge", unit: "By", help: "" });

async function send(server: ServerProcess, metricName: string): Promise<void> {
  const body = JSON.stringify({ service_id: "shop", metric_name: metricName, value: 1, timestamp: new Date().toISOString() });
  const answer = await fetch(`${server.origin}/api/v1/telemetry`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  expect(answer.status).toBe(200);
}

const letters = (server: ServerProcess) =>
  server.get<{ entries: Array<{ payload: { metricName: string } }> }>("/api/v1/dlq?reason=unstorable");
const samples = async (server: ServerProcess, metric: string) =>
  (await server.get<{ points: unknown[] }>(`/api/v1/series/data?service_id=shop&metric_name=${metric}`)).points.length;

describe("a folder whose log holds metadata with names that no key can hold", () => {
  it("starts, has a dead letter for each and all samples, and starts again without a word", async () => {
    const folder = bench.dataFolder();
    const settings = { ...SETTINGS, DATA_DIR: folder };
    const first = await bench.start(settings);
    await send(first, "orders");
    await first.kill();
    appendBlock(
      folder,
      [...NAMES, "fine"].map((name) => ({ kind: SECTION_METADATA, payload: metadata(name) })),
    );

    const second = await bench.start(settings);
    await second.says(/set aside/);
    await vi.waitFor(async () => expect((await letters(second)).entries).toHaveLength(2), { timeout: PATIENCE_MS });
    expect((await letters(second)).entries.map(({ payload }) => payload.metricName).sort()).toEqual([...NAMES].sort());
    expect(second.output).toMatch(
      /set aside 2 things that engines have sent and that cannot be stored \(first: metric metadata: [^\n]*dlq\?reason=unstorable/,
    );
    expect(await samples(second, "orders")).toBe(1);
    await send(second, "later");
    await second.kill();

    const third = await bench.start(settings);
    expect([await samples(third, "orders"), await samples(third, "later")]).toEqual([1, 1]);
    await third.stop();
    const fourth = await bench.start(settings);
    expect((await letters(fourth)).entries).toHaveLength(2);
    expect(fourth.output).not.toContain("set aside");
    await fourth.stop();
  });
});
