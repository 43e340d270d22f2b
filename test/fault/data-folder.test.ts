// What a data folder goes through besides a kill: a torn end of the log, a second server, syncs before every answer.
import { appendFileSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { listSegments } from "../../src/adapters/log/log-segment.ts";
import { logDirectory } from "../../src/adapters/log/meta-file.ts";
import { parseExposition } from "../support/exposition.ts";
import { generator } from "../support/generator.ts";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript } from "../support/load-sender-script.ts";
import { ServerBench } from "../support/server-process.ts";
import { extent, firstOf } from "../support/test-extent.ts";
import { differencesToScripts, readHoldings } from "./holdings.ts";

const HOUR_MS = 3600 * 1000;
/** Moments of a start at which it is stopped: every 100 ms, or a twelfth (a fourth in `make test`) of what a start takes here, behind Node's own. */
const FIRST_MOMENT_MS = 300;
const MOMENT_STEP_MS = 100;
const MOMENTS = extent(12, 4);
const bench = new ServerBench();
afterEach(() => bench.close());

function makeScript(seed: number, requests: number): LoadScript {
  const startMs = Math.floor(Date.now() / 1000) * 1000 - HOUR_MS;
  return new LoadScript({ seed, serviceId: `service-${seed}`, startMs, requests });
}

const randomBytes = generator(5);
const TAILS: ReadonlyArray<[name: string, tail: (segment: Buffer) => Uint8Array]> = [
  ["a block with one bit wrong", (segment) => flipped(firstBlock(segment))],
  ["a few zero bytes", () => new Uint8Array(11)],
  ["random bytes", () => Uint8Array.from({ length: 1000 }, () => Math.floor(randomBytes.uniform() * 256))],
  ["the beginning of a block", (segment) => segment.subarray(0, Math.min(segment.length - 8, 200))],
  [
    "a header that claims 80 MiB",
    (segment) => Buffer.concat([segment.subarray(0, 8), Buffer.from([0, 0, 0, 5]), segment.subarray(12, 64)]),
  ],
];

/** Magic u32, checksum u32, payload bytes u32 at 8; 32 bytes of header (adapters/log/block-format.ts). */
function firstBlock(segment: Buffer): Buffer {
  return segment.subarray(0, 32 + Math.ceil(segment.readUInt32LE(8) / 8) * 8);
}

function flipped(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  copy[copy.length >> 1] = (copy[copy.length >> 1] as number) ^ 1;
  return copy;
}

describe("a log whose last write was cut off", () => {
  it("is read up to there, whatever lies behind, and again at later starts", async () => {
    const folder = bench.dataFolder();
    const tails = firstOf(TAILS, 2);
    const script = makeScript(1, 8 * tails.length);
    const sender = new LoadSender(script.requests);
    for (const [index, [, tail]] of tails.entries()) {
      const server = await bench.start({ DATA_DIR: folder, ENGINES: String(1 + (index % 2)) });
      const end = 8 * (index + 1);
      await sender.run(server.origin, () => sender.next < end);
      await server.kill();
      for (const { path } of listSegments(logDirectory(folder))) {
        const segment = readFileSync(path);
        if (segment.length > 64) appendFileSync(path, tail(segment));
      }
    }
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "1" });
    expect(sender.isDone).toBe(true);
    expect(differencesToScripts([script], await readHoldings(server))).toEqual([]);
    await server.stop();
  });
});

describe("a stop while the server starts", () => {
  it("is orderly whenever it comes, and leaves everything to the next start", async () => {
    const folder = bench.dataFolder();
    const script = makeScript(3, 40);
    const sender = new LoadSender(script.requests);
    const beganMs = performance.now();
    const first = await bench.start({ DATA_DIR: folder, ENGINES: "3" });
    const stepMs = Math.max(MOMENT_STEP_MS, (performance.now() - beganMs) / MOMENTS);
    await sender.run(first.origin);
    await first.kill();
    for (let ms = FIRST_MOMENT_MS; ; ms += stepMs) {
      const server = bench.launch({ DATA_DIR: folder, ENGINES: "3" });
      await new Promise((resolve) => setTimeout(resolve, ms));
      server.signal("SIGINT");
      // Node itself ends by the signal where the program has not said yet what it does with it.
      expect([0, "SIGINT"]).toContain(await server.ended);
      if (server.output.includes(" listens on ")) break;
    }
    const last = await bench.start({ DATA_DIR: folder, ENGINES: "2" });
    expect(differencesToScripts([script], await readHoldings(last))).toEqual([]);
    await last.stop();
  });
});

describe("a second server over one data folder", () => {
  it("is refused in one line while the first lives, and starts once it was killed", async () => {
    const folder = bench.dataFolder();
    const first = await bench.start({ DATA_DIR: folder });
    const second = bench.launch({ DATA_DIR: folder });
    expect(await second.ended).toBe(1);
    expect(second.output).toMatch(/^vedette: [^\n]* is in use by process \d+[^\n]*\n$/);
    expect((await fetch(`${first.origin}/readyz`)).status).toBe(200);
    await first.kill();
    const third = await bench.start({ DATA_DIR: folder });
    await third.stop();
  });

  it("is refused as well where its process cannot be seen, as from another container", async () => {
    const folder = bench.dataFolder();
    const first = await bench.start({ DATA_DIR: folder });
    for (const name of readdirSync(folder)) if (name.startsWith("lock.")) rmSync(join(folder, name));
    const second = bench.launch({ DATA_DIR: folder });
    expect(await second.ended).toBe(1);
    expect(second.output).toMatch(/^vedette: [^\n]* is in use by another server, process \d+ on [^\n]*\n$/);
    await first.stop();
    expect(readdirSync(folder).filter((name) => name.startsWith("owner."))).toEqual([]);
  });
});

describe("a folder that cannot be used", () => {
  it("is refused in one line", async () => {
    const folder = bench.dataFolder();
    writeFileSync(join(folder, "meta.json"), "{");
    const server = bench.launch({ DATA_DIR: folder });
    expect(await server.ended).toBe(1);
    expect(server.output).toMatch(/^vedette: [^\n]+\n$/);
  });
});

/** What bodies leave behind them: in memory, in the log, in the store. */
const LEFT_BY_BODIES =
  /^vedette_(samples|rows_placed|streams|stream_refs|stream_samples|bodies|body_bytes|log_bytes|log_commits|chunks|episodes_opened|excursions|lane_table_entries|anomalies_stored|alerts_opened|ledger_rows|metadata_stored|coordinator_frames|services|dead_letters)(_total)?(\{|$)/;

describe("an empty folder", () => {
  it("is served without a trace of what the start has rehearsed", async () => {
    const server = await bench.start({ DATA_DIR: bench.dataFolder(), ENGINES: "2" });
    const families = parseExposition(await (await fetch(`${server.origin}/metrics`)).text());
    const left = [...families.values()].flatMap(({ samples }) => samples).filter(({ name }) => LEFT_BY_BODIES.test(name));
    expect(left.length).toBeGreaterThan(20);
    expect(left.filter(({ value }) => value !== 0)).toEqual([]);
    expect(listSegments(logDirectory(server.dataDir)).map(({ path }) => statSync(path).size)).toEqual([0, 0]);
    await server.stop();
  });
});

describe("a folder of a newer version", () => {
  it("is refused in one line that says so, and left as it is", async () => {
    const folder = bench.dataFolder();
    const written = JSON.stringify({ version: 2, epoch: 3, hasStores: true, seed: "0".repeat(64) });
    writeFileSync(join(folder, "meta.json"), written);
    const server = bench.launch({ DATA_DIR: folder });
    expect(await server.ended).not.toBe(0);
    expect(server.output).toMatch(/^vedette: [^\n]*meta\.json has version 2, this server knows 1: a newer one wrote it[^\n]*\n$/);
    expect(readFileSync(join(folder, "meta.json"), "utf8")).toBe(written);
  });
});

describe("DURABILITY=power", () => {
  it("answers, and holds everything after a kill", async () => {
    const folder = bench.dataFolder();
    const settings = { DATA_DIR: folder, DURABILITY: "power", ENGINES: "2" };
    const server = await bench.start(settings);
    const scripts = [makeScript(2, 15), makeScript(3, 15)];
    await Promise.all(scripts.map(({ requests }) => new LoadSender(requests).run(server.origin)));
    await server.kill();
    const again = await bench.start(settings);
    expect(differencesToScripts(scripts, await readHoldings(again))).toEqual([]);
    await again.stop();
  });
});
