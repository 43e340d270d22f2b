// A data folder that lost something while nobody looked: a damaged log is read around its damage and says so until that is acknowledged, and a log or store that is gone ends the start.
import { appendFileSync, existsSync, readdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { readInventory } from "../../src/adapters/log/log-inventory.ts";
import { mergeBlocks } from "../../src/adapters/log/log-merge.ts";
import { type LogSegment, listSegments } from "../../src/adapters/log/log-segment.ts";
import { logDirectory } from "../../src/adapters/log/meta-file.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const REQUESTS = 60;
const ROWS = 20;
const bench = new ServerBench();
afterEach(() => bench.close());

/** Each request one block: it is answered before the next is sent. Of one series, so that its definition is in the first block. */
async function send(server: ServerProcess, requests = REQUESTS): Promise<void> {
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 3_000_000;
  for (let request = 0; request < requests; request++) {
    const records = Array.from({ length: ROWS }, (_, row) => {
      const timestamp = new Date(startMs + (request * ROWS + row) * 1000).toISOString();
      return { service_id: "shop", metric_name: "orders", value: 100 + (row % 3), timestamp };
    });
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${server.origin}/api/v1/telemetry/batch`, { method: "POST", headers, body: JSON.stringify(records) });
    expect(answer.status).toBe(200);
  }
}

async function samplesOf(server: ServerProcess): Promise<number> {
  const { points } = await server.get<{ points: unknown[] }>("/api/v1/series/data?service_id=shop&metric_name=orders&limit=10000");
  return points.length;
}

/** The segment that the requests went into, once it has been noted. */
async function filledSegment(folder: string): Promise<LogSegment> {
  const noted = () => {
    const segment = listSegments(logDirectory(folder)).find(({ path }) => readFileSync(path).length > 1000);
    return segment !== undefined && readInventory(folder)?.has(basename(segment.path)) && segment;
  };
  return (await until("the segment is noted", noted)) as LogSegment;
}

/** Flips a byte of the block in the middle; answers the rows of that block. */
function damage({ path }: LogSegment, folder: string): void {
  const bytes = readFileSync(path);
  const ends = Array.from(mergeBlocks(listSegments(logDirectory(folder)), new Map()), ({ end }) => end.offset);
  const at = (ends[ends.length >> 1] as number) + 60;
  bytes[at] = (bytes[at] as number) ^ 1;
  writeFileSync(path, bytes);
}

const acknowledge = (server: ServerProcess) => fetch(`${server.origin}/api/v1/data-faults/acknowledge`, { method: "POST" });

describe("a byte that flips in the middle of the log", () => {
  it("costs one block, which is counted, kept aside and told until it is acknowledged", async () => {
    const folder = bench.dataFolder();
    const settings = { DATA_DIR: folder, ENGINES: "2" };
    const first = await bench.start(settings);
    await send(first);
    const segment = await filledSegment(folder);
    await first.kill();
    damage(segment, folder);

    const second = await bench.start(settings);
    expect(second.output).toMatch(/the log is damaged: 20 rows in 1 blocks cannot be read;[^\n]*acknowledge\n/);
    expect(second.output.match(/damaged:/g)).toHaveLength(1);
    expect(second.output).not.toContain("torn end");
    expect(await samplesOf(second)).toBe((REQUESTS - 1) * ROWS);
    expect(await second.get("/healthz")).toMatchObject({ status: "degraded", data: "damaged", store: "ok" });
    expect((await fetch(`${second.origin}/readyz`)).status).toBe(200);
    expect(readdirSync(join(folder, "damaged"))).toEqual([expect.stringMatching(/^e\d+-\d+-\d+-\d+\.bytes$/)]);
    await second.stop();

    const third = await bench.start(settings);
    expect(await third.get("/healthz")).toMatchObject({ status: "degraded", data: "damaged" });
    expect((await acknowledge(third)).status).toBe(200);
    expect(await third.get("/healthz")).toMatchObject({ status: "ok", data: "ok" });
    await third.stop();

    const fourth = await bench.start(settings);
    expect(await fourth.get("/healthz")).toMatchObject({ status: "ok", data: "ok" });
    expect(await samplesOf(fourth)).toBe((REQUESTS - 1) * ROWS);
    await fourth.stop();
  });
});

describe("a write that a kill cut off", () => {
  it("is no damage to the starts behind it either, whatever was flushed meanwhile", async () => {
    const folder = bench.dataFolder();
    const settings = { DATA_DIR: folder, ENGINES: "1" };
    const first = await bench.start(settings);
    await send(first, 20);
    const { path } = await filledSegment(folder);
    await first.kill();
    const whole = readFileSync(path);
    appendFileSync(path, whole.subarray(0, 60));
    for (let start = 2; start <= 4; start++) {
      const before = new Map(readInventory(folder));
      const again = await bench.start(settings);
      expect(again.output).toContain("60 bytes that end a log are no whole block");
      await send(again, 1);
      await until("a flush is noted", () => [...(readInventory(folder) ?? [])].some(([name]) => !before.has(name)));
      expect(readInventory(folder)?.get(basename(path))).toBe(whole.length);
      await again.kill();
      expect(again.output).not.toContain("is damaged");
    }
  });
});

describe("a log that is cut below what was flushed", () => {
  it("is damage, not a torn end", async () => {
    const folder = bench.dataFolder();
    const settings = { DATA_DIR: folder, ENGINES: "1" };
    const first = await bench.start(settings);
    await send(first, 20);
    const segment = await filledSegment(folder);
    const name = basename(segment.path);
    await until(
      "the growth of the log is noted",
      () => readInventory(folder)?.get(name) ?? 0,
      (bytes) => bytes >= readFileSync(segment.path).length,
    );
    await first.kill();
    truncateSync(segment.path, readFileSync(segment.path).length >> 1);
    const second = await bench.start(settings);
    expect(second.output).toContain("the log is damaged");
    expect(await second.get("/healthz")).toMatchObject({ status: "degraded", data: "damaged" });
    expect(readdirSync(join(folder, "damaged"))).toEqual([expect.stringMatching(/^e\d+-\d+-\d+-\d+\.bytes$/)]);
    await second.stop();
  });
});

describe("what is gone", () => {
  it("ends the start in one line that says what to do, until the operator accepts the loss", async () => {
    const folder = bench.dataFolder();
    const settings = { DATA_DIR: folder, ENGINES: "2" };
    const first = await bench.start(settings);
    await send(first, 20);
    await filledSegment(folder);
    await first.kill();
    const refused = async (what: RegExp) => {
      const server = bench.launch(settings);
      expect(await server.ended).toBe(78);
      expect(server.errors).toMatch(what);
      expect(server.errors.trimEnd().split("\n")).toHaveLength(1);
      expect(server.errors).toContain("ACCEPT_DATA_LOSS=true");
    };
    for (const [part, what] of [
      ["log", /^vedette: the log segment e\d[^\n]* is missing/],
      ["control", /^vedette: [^\n]*control\/data\.mdb is missing[^\n]*API keys, users, tenants, silences/],
      ["series", /^vedette: [^\n]*series\/data\.mdb is missing/],
    ] as const) {
      renameSync(join(folder, part), `${folder}-away`);
      await refused(what);
      rmSync(join(folder, part), { recursive: true, force: true });
      renameSync(`${folder}-away`, join(folder, part));
    }
    for (const part of ["log", "control", "series"]) rmSync(join(folder, part), { recursive: true });
    await refused(/^vedette: [^\n]*control\/data\.mdb and [^\n]*series\/data\.mdb is missing/);

    const accepting = await bench.start({ ...settings, ACCEPT_DATA_LOSS: "true" });
    expect(await accepting.get("/healthz")).toMatchObject({ status: "degraded", data: "damaged" });
    const { faults } = await accepting.get<{ faults: Array<{ kind: string }> }>("/api/v1/data-faults");
    expect(faults.map(({ kind }) => kind)).toEqual(["data_missing", "data_missing", "data_missing"]);
    expect((await acknowledge(accepting)).status).toBe(200);
    await accepting.stop();
    const after = await bench.start(settings);
    expect(await after.get("/healthz")).toMatchObject({ status: "ok" });
    await after.stop();
  });

  it("is missed at every start, even if the server was killed behind its first answer", async () => {
    const folder = bench.dataFolder();
    const settings = { DATA_DIR: folder, ENGINES: "1" };
    const first = await bench.start(settings);
    await send(first, 1);
    await first.kill();
    for (const segment of listSegments(logDirectory(folder))) rmSync(segment.path);
    for (let start = 1; start <= 2; start++) {
      const again = bench.launch(settings);
      expect(await again.ended).toBe(78);
      expect(again.errors).toMatch(/^vedette: the log segment e\d[^\n]* is missing[^\n]*\n$/);
    }
  });

  it("meta.json with it, is refused", async () => {
    const folder = bench.dataFolder();
    const server = await bench.start({ DATA_DIR: folder });
    await server.stop();
    rmSync(join(folder, "meta.json"));
    rmSync(join(folder, "log"), { recursive: true });
    const again = bench.launch({ DATA_DIR: folder });
    expect(await again.ended).toBe(1);
    expect(again.output).toMatch(/^vedette: [^\n]*meta\.json is missing, but the folder has stores[^\n]*\n$/);
    expect(existsSync(join(folder, "meta.json"))).toBe(false);
  });
});
