// A disk that fills up under the running server: every write is answered 503 with Retry-After, nothing acknowledged is lost, reads go on, and when
// there is room again the server goes on by itself; then kill -9, a restart, and everything is there that was acknowledged. For a log folder that
// is full, stores that are full, and both at once.
import { randomBytes } from "node:crypto";
import { afterEach, describe, expect, it } from "vitest";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript } from "../support/load-sender-script.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { canMount, SmallDisks } from "../support/small-disk.ts";
import { firstOf } from "../support/test-extent.ts";
import { until } from "../support/until.ts";
import { differences, differencesToScripts, type Holdings, readHoldings, readPages } from "./holdings.ts";

const MIB = 1024 * 1024;
const HOUR_MS = 3600 * 1000;
const REQUESTS = 90;
/**
 * A store takes writes for a while when the disk is full: in its free pages, and in the room that it has taken for commits before, which is 8 KiB a row of the largest
 * one. So a probe takes 64 KB of both stores with what does not compress: 250 fill any of the disks.
 */
const PROBE_RECORDS = 8;
const PROBE_BYTES = 6_000;

if (!canMount)
  process.stderr.write("full-disk.test.ts is skipped: no small file system can be mounted here (needs root or user namespaces)\n");

const bench = new ServerBench();
const disks: SmallDisks[] = [];
afterEach(async () => {
  await bench.close();
  for (const one of disks.splice(0)) one.close();
});

/** A request of log records and dead letters of a service of their own: they need the log and, soon after, both stores. */
interface Probe {
  /** Of its log records. */
  readonly bodies: readonly string[];
  readonly request: string;
}

interface Probes {
  /** Bodies of the log records that were acknowledged. */
  readonly acknowledged: string[];
  readonly refused: Probe[];
}

function makeProbe(): Probe {
  const timestamp = new Date().toISOString();
  const bodies = Array.from({ length: PROBE_RECORDS }, () => randomBytes(PROBE_BYTES).toString("base64"));
  const records = bodies.map((body) => ({ service_id: "probe", type: "log", body, timestamp }));
  return { bodies, request: JSON.stringify([...records, ...records.map((record) => ({ ...record, timestamp: "yesterday" }))]) };
}

async function write(server: ServerProcess, probe: Probe, probes: Probes): Promise<Response> {
  const response = await fetch(`${server.origin}/api/v1/telemetry/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: probe.request,
  }).catch((cause: unknown) => {
    throw new Error(`a write was not answered; the server wrote: ${server.output.slice(-2_000)}`, { cause });
  });
  if (response.status < 300) probes.acknowledged.push(...probe.bodies);
  else {
    expect(response.status).toBe(503);
    probes.refused.push(probe);
  }
  return response;
}

/** Writes probes until the answer has the status. */
async function writeUntil(server: ServerProcess, status: number, probes: Probes): Promise<Response> {
  const answer = () => write(server, makeProbe(), probes);
  return until(`writes are answered ${status}`, answer, (response) => response.status === status, { patienceMs: PATIENCE_MS });
}

/** Sends again what was refused, as a sender does: a request of two units may be stored in part, and that is not stored twice. */
async function writeRefused(server: ServerProcess, probes: Probes): Promise<void> {
  const deadlineMs = performance.now() + PATIENCE_MS;
  for (let probe = probes.refused.shift(); probe !== undefined; probe = probes.refused.shift()) {
    await write(server, probe, probes);
    if (performance.now() > deadlineMs) throw new Error(`${probes.refused.length} writes are refused after ${PATIENCE_MS} ms`);
  }
}

async function probesOf(server: ServerProcess): Promise<string[]> {
  const records = await readPages<{ body: string }>(server, "/api/v1/records", "records", { service_id: "probe", type: "log" });
  return records.map(({ body }) => body);
}

const READ_ONLY = "read_only";
const EITHER = expect.stringMatching(/^(?:ok|read_only)$/);
/** Sizes of the disks, the one that fills up, and what /healthz then says of store and log. */
const PLACES: ReadonlyArray<[what: string, bytes: Readonly<Record<string, number>>, full: string, store: unknown, log: unknown]> = [
  ["the whole data folder", { "": 32 * MIB }, "", EITHER, EITHER],
  ["the log", { "": 64 * MIB, log: 16 * MIB }, "log", "ok", READ_ONLY],
  ["both stores", { "": 16 * MIB, log: 64 * MIB }, "", READ_ONLY, "ok"],
  ["the store of series", { "": 64 * MIB, series: 16 * MIB }, "series", READ_ONLY, "ok"],
  ["the store of anomalies", { "": 64 * MIB, control: 16 * MIB }, "control", READ_ONLY, "ok"],
];

/** Once there is room /readyz says so by itself, without a write. */
async function waitUntilReady(server: ServerProcess): Promise<void> {
  const answer = async () => {
    const response = await fetch(`${server.origin}/readyz`);
    return { status: response.status, text: await response.text() };
  };
  await until("it is ready", answer, ({ status }) => status === 200, { patienceMs: PATIENCE_MS });
}

describe.skipIf(!canMount)("a full disk", () => {
  for (const [what, bytes, full, store, log] of firstOf(PLACES, 2)) {
    it(`under ${what} refuses writes, loses nothing and goes on when there is room`, async () => {
      const disk = await SmallDisks.mount(bytes);
      disks.push(disk);
      const settings = { DATA_DIR: disk.folder, ENGINES: "2" };
      const startMs = Math.floor(Date.now() / 1000) * 1000 - 6 * HOUR_MS;
      const script = new LoadScript({ seed: 11, serviceId: "load", startMs, requests: REQUESTS });
      const sender = new LoadSender(script.requests);
      const probes: Probes = { acknowledged: [], refused: [] };
      const server = await bench.start(settings, disk.prefix);

      for (const round of [1, 2]) {
        await sender.run(server.origin, () => sender.next < (REQUESTS / 3) * round);
        const before = await holdings(server);
        disk.fill(full);
        const refused = await writeUntil(server, 503, probes);
        expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
        expect(await refused.json()).toMatchObject({ status: "error", error: "store_unavailable", request_id: expect.any(String) });
        expect(await server.get("/healthz")).toMatchObject({ status: "degraded", store, log, data: "ok" });
        const ready = await fetch(`${server.origin}/readyz`);
        expect([ready.status, await ready.json()]).toMatchObject([503, { status: "refusing_writes" }]);
        expect(differences(before, await holdings(server))).toEqual([]);
        // Once a checkpoint covers a part of the log it is deleted, and some writes find room again, however full the disk was.
        for (let other = 0; other < 3; other++) await writeUntil(server, 503, probes);

        disk.empty(full);
        await waitUntilReady(server);
        expect(await server.get("/healthz")).toMatchObject({ status: "ok", store: "ok", log: "ok" });
        await writeUntil(server, 200, probes);
        await writeRefused(server, probes);
      }
      await sender.run(server.origin);
      expect(sender.isDone).toBe(true);

      const check = async (one: ServerProcess) => {
        expect(differencesToScripts([script], await holdings(one))).toEqual([]);
        expect((await probesOf(one)).sort()).toEqual([...probes.acknowledged].sort());
      };
      await check(server);
      expect(server.output).not.toContain("Write error"); // LMDB found the disk full itself, which damages its heap
      await server.kill();
      await check(await bench.start(settings, disk.prefix));
    });
  }
});

/** What the server holds besides the probes. */
async function holdings(server: ServerProcess): Promise<Holdings> {
  const found = await readHoldings(server);
  return { ...found, deadLetters: {}, records: found.records.filter((record) => !record.includes('"probe"')) };
}
