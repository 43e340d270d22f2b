// Data folders with what an earlier version took by a request and no version can store: a start over each is ready, says what it has left out, and has all the rest; so is the next one.
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import { CONTROL_TABLES, SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import { openLmdbStore } from "../../src/adapters/storage/lmdb-store.ts";
import { SECTION_METADATA } from "../../src/core/layout/row-frame.ts";
import { NEEDED_TABLES, tenantTimeKey } from "../../src/modules/state/tables.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { appendBlock } from "../support/poisoned-log.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const bench = new ServerBench();
afterEach(() => bench.close());

const SETTINGS = { ENGINES: "1" };
/** Tables whose rows the first cycle of the Watchdog and the first accepted records read, and no start. */
const [MET_LATER, MET_AT_A_COMMIT] = ["slo_records", "usage"];
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
const cycles = async (server: ServerProcess) =>
  Number(/^vedette_watchdog_cycles_total (\d+)/m.exec(await (await fetch(`${server.origin}/metrics`)).text())?.[1] ?? 0);
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

/** The folder that format 1 left, in which the first row of each table that `counts` is changed. */
async function withBadRows(folder: string, counts: (table: string) => boolean): Promise<number> {
  execFileSync("tar", ["xzf", "test/fault/format/format-1.tar.gz", "--no-same-owner", "-C", folder]);
  let changed = 0;
  const stores = [
    ["control", CONTROL_TABLES],
    ["series", SERIES_TABLES],
  ] as const;
  for (const [name, tables] of stores) {
    const store = openLmdbStore({ path: join(folder, name), tables });
    for (const table of tables.filter((each) => !NEEDED_TABLES.has(each) && counts(each))) {
      const [row] = store.range(table, { from: new Uint8Array(0), to: new Uint8Array(8).fill(255), limit: 1 });
      if (row === undefined) continue;
      // Records of an SLO are read for three days, and the folder is older.
      const key = table === MET_LATER ? tenantTimeKey("default", Date.now(), "07".repeat(16)) : row.key;
      await store.commit([{ table, key, value: Uint8Array.of(row.value[0] as number, 0xff, 0xfe) }], { sync: true });
      changed++;
    }
    await store.close();
  }
  return changed;
}

describe("a folder in which a row of every noun cannot be read", () => {
  it("starts without those that a start reads, keeps their bytes, says each, and starts again with the rest", async () => {
    const folder = bench.dataFolder();
    const settings = { ...SETTINGS, DATA_DIR: folder, RETENTION_DAYS: "3650", RETENTION_RAW_DAYS: "3650" };
    expect(await withBadRows(folder, (table) => table !== MET_LATER && table !== MET_AT_A_COMMIT)).toBeGreaterThan(20);
    const first = await bench.start(settings);
    const { faults } = await first.get<{ faults: Array<{ id: string; kind: string; what: string }> }>("/api/v1/data-faults");
    expect(faults.length).toBeGreaterThan(10);
    for (const { kind, what } of faults) {
      expect([kind, what]).toEqual([
        "set_aside",
        expect.stringMatching(/^a stored row \(table \w+, key 0x[0-9a-f]+\) cannot be read: .*bytes are kept in /),
      ]);
      expect(first.output).toContain(what);
      const bytes = readFileSync(/kept in (\S+)$/.exec(what)?.[1] as string);
      expect([...bytes.subarray(1)]).toEqual([0xff, 0xfe]);
    }
    expect(await first.get("/healthz")).toMatchObject({ status: "degraded", data: "damaged" });
    await send(first, "orders");
    await first.stop();
    const second = await bench.start(settings);
    expect(second.output).not.toContain("set aside");
    expect(await samples(second, "orders")).toBe(1);
    await second.stop();
  });
});

describe("a folder with a row that cannot be read and that is met while the server serves", () => {
  it("ends the server once, and the next start leaves the row out", async () => {
    const folder = bench.dataFolder();
    const settings = { ...SETTINGS, DATA_DIR: folder, RETENTION_DAYS: "3650", RETENTION_RAW_DAYS: "3650" };
    await withBadRows(folder, (table) => table === MET_LATER);
    const first = bench.launch(settings);
    expect(await first.ended).not.toBe(0);
    expect(first.output).toContain(`a value of the table ${MET_LATER} has a format`);
    const second = await bench.start(settings);
    expect(second.output).toMatch(/a stored row \(table slo_records, key 0x[0-9a-f]+\) cannot be read: [^\n]* it was set aside/);
    await vi.waitFor(async () => expect(await cycles(second)).toBeGreaterThan(0), { timeout: PATIENCE_MS });
    await second.stop();
  });
});
