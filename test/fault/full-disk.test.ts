// A disk that fills up under the running server: every write is answered 503 with Retry-After, nothing acknowledged is lost, reads go on, and when
// there is room again the server goes on by itself; then kill -9, a restart, and everything is there that was acknowledged. For a log folder that
// is full, stores that are full, and both at once.
import { afterEach, describe, expect, it } from "vitest";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript } from "../support/load-sender-script.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { canMount, SmallDisks } from "../support/small-disk.ts";
import { differences, differencesToScripts, type Holdings, readHoldings } from "./holdings.ts";

const MIB = 1024 * 1024;
const HOUR_MS = 3600 * 1000;
const REQUESTS = 90;
/** A store takes small writes for a while when the disk is full: in its free pages. */
const PROBE_BYTES = 8_000;
/** How long the server may take to notice what has changed: retries of the store are at most 5 s apart. */
const NOTICE_MS_MAX = 20_000;

if (!canMount)
  process.stderr.write("full-disk.test.ts is skipped: no small file system can be mounted here (needs root or user namespaces)\n");

const bench = new ServerBench();
const disks: SmallDisks[] = [];
afterEach(async () => {
  await bench.close();
  for (const one of disks.splice(0)) one.close();
});

/** A log record and a dead letter of a service of their own: they need the log and, soon after, both stores. */
async function writeProbe(server: ServerProcess, body: string): Promise<Response> {
  const record = { service_id: "probe", type: "log", body: body.padEnd(PROBE_BYTES), timestamp: new Date().toISOString() };
  return fetch(`${server.origin}/api/v1/telemetry/batch`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify([record, { ...record, timestamp: "yesterday" }]),
  });
}

/** Writes until the answer has the status; the bodies that were acknowledged on the way are added to `acknowledged`. */
async function writeUntil(server: ServerProcess, status: number, acknowledged: string[]): Promise<Response> {
  const deadlineMs = performance.now() + NOTICE_MS_MAX;
  for (let probe = 0; ; probe++) {
    const body = `${status} ${probe}`;
    const response = await writeProbe(server, body).catch((cause: unknown) => {
      throw new Error(`a write was not answered; the server wrote: ${server.output.slice(-2_000)}`, { cause });
    });
    if (response.status < 300) acknowledged.push(body);
    else expect(response.status).toBe(503);
    if (response.status === status) return response;
    if (performance.now() > deadlineMs) throw new Error(`writes are answered ${response.status}, not ${status}, after ${NOTICE_MS_MAX} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

async function probesOf(server: ServerProcess): Promise<string[]> {
  const query = { service_id: "probe", type: "log", limit: "1000" };
  const { records } = await server.get<{ records: ReadonlyArray<{ body: string }> }>("/api/v1/records", query);
  return records.map(({ body }) => body.trimEnd());
}

const READ_ONLY = "read_only";
const EITHER = expect.stringMatching(/^(?:ok|read_only)$/);
/** Sizes of the disks, the one that fills up, and what /healthz then says of the store. */
const PLACES: ReadonlyArray<[what: string, bytes: Readonly<Record<string, number>>, full: string, health: unknown]> = [
  ["the log", { "": 64 * MIB, log: 16 * MIB }, "log", "ok"],
  ["both stores", { "": 16 * MIB, log: 64 * MIB }, "", READ_ONLY],
  ["the store of series", { "": 64 * MIB, series: 16 * MIB }, "series", READ_ONLY],
  ["the store of anomalies", { "": 64 * MIB, control: 16 * MIB }, "control", READ_ONLY],
  ["the whole data folder", { "": 32 * MIB }, "", EITHER],
];

describe.skipIf(!canMount)("a full disk", () => {
  for (const [what, bytes, full, health] of PLACES) {
    it(`under ${what} refuses writes, loses nothing and goes on when there is room`, { timeout: 120_000 }, async () => {
      const disk = await SmallDisks.mount(bytes);
      disks.push(disk);
      const settings = { DATA_DIR: disk.folder, ENGINES: "2" };
      const startMs = Math.floor(Date.now() / 1000) * 1000 - 6 * HOUR_MS;
      const script = new LoadScript({ seed: 11, serviceId: "load", startMs, requests: REQUESTS });
      const sender = new LoadSender(script.requests);
      const probes: string[] = [];
      const server = await bench.start(settings, disk.prefix);

      for (const round of [1, 2]) {
        await sender.run(server.origin, () => sender.next < (REQUESTS / 3) * round);
        const before = await holdings(server);
        disk.fill(full);
        const refused = await writeUntil(server, 503, probes);
        expect(refused.headers.get("retry-after")).toMatch(/^\d+$/);
        expect(await refused.json()).toMatchObject({ status: "error", error: "store_unavailable", request_id: expect.any(String) });
        expect(await server.get("/healthz")).toMatchObject({ status: "ok", store: health });
        expect(differences(before, await holdings(server))).toEqual([]);
        for (const other of [1, 2, 3]) expect((await writeProbe(server, `while full ${other}`)).status).toBe(503);

        disk.empty(full);
        await writeUntil(server, 200, probes);
      }
      await sender.run(server.origin);
      expect(sender.isDone).toBe(true);

      const check = async (one: ServerProcess) => {
        expect(differencesToScripts([script], await holdings(one))).toEqual([]);
        expect((await probesOf(one)).sort()).toEqual([...probes].sort());
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
