// One wrong bit in a stored value: the start refuses in one line that names it, `vedette doctor` finds it and saves the rest, and a store that is looked through later says so.
import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CONTROL_TABLES, SERIES_TABLES } from "../../src/actors/coordinator/nouns/modules.ts";
import { type RowTaker, scanStore } from "../../src/adapters/storage/store-scan.ts";
import { decodeCheckpointRow } from "../../src/modules/state/checkpoint-row.ts";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript } from "../support/load-sender-script.ts";
import { PATIENCE_MS } from "../support/patience.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";
import { QUIET_SETTINGS } from "./damage/folder-contents.ts";
import { differences, type Holdings, readHoldings } from "./holdings.ts";

const TABLES = [...CONTROL_TABLES, ...SERIES_TABLES];
const bench = new ServerBench();
let root: string;
let whole: string;
let held: Holdings;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "vedette-doctor-"));
  whole = join(root, "whole");
  const startMs = Math.floor(Date.now() / 1000) * 1000 - 3600 * 1000;
  const server = await bench.start({ ...QUIET_SETTINGS, DATA_DIR: whole });
  await new LoadSender(new LoadScript({ seed: 9, serviceId: "doctored", startMs, requests: 30 }).requests).run(server.origin);
  held = await readHoldings(server);
  await server.stop();
}, 3 * PATIENCE_MS);
afterEach(() => bench.close());
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A copy of the folder with one bit wrong in the last value of a table of `series` that `choose` takes. */
function damagedCopy(name: string, table: string, choose: (value: Uint8Array) => boolean): string {
  const folder = join(root, name);
  cpSync(whole, folder, { recursive: true });
  const file = join(folder, "series", "data.mdb");
  let chosen: Buffer | undefined;
  const takeRow: RowTaker = (of, _key, value) => {
    if (of === table && choose(value)) chosen = Buffer.from(value);
  };
  scanStore(file, { tables: TABLES, takeRow });
  if (chosen === undefined) throw new Error(`no such row in ${table}`);
  const bytes = readFileSync(file);
  // Older copies may lie in pages that are free.
  for (let at = bytes.indexOf(chosen); at >= 0; at = bytes.indexOf(chosen, at + 1)) {
    bytes[at + chosen.length - 1] = (bytes[at + chosen.length - 1] as number) ^ 1;
    writeFileSync(file, bytes);
    if (scanStore(file, { tables: TABLES }).findingCount > 0) return folder;
  }
  throw new Error("no copy of the value is in use");
}

const hasStreams = (row: Uint8Array) => decodeCheckpointRow(row).header.streams > 0;

/** Exit code and output of `vedette doctor`. */
function doctor(...args: string[]): Promise<{ code: number; output: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["dist/main.js", "doctor", ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : (error.code as number), output: stdout + stderr });
    });
  });
}

describe("a value with one wrong bit", () => {
  it("stops the start in one line that names its file, table and key", async () => {
    const folder = damagedCopy("refused", "checkpoints", hasStreams);
    const server = bench.launch({ ...QUIET_SETTINGS, DATA_DIR: folder });
    expect(await server.ended).toBe(1);
    expect(server.errors).toMatch(
      /^vedette: [^\n]*series\/data\.mdb is damaged: checkpoints: the value of key 0x[0-9a-f]{4} [^\n]*vedette doctor[^\n]*\n$/,
    );
  });

  it("is found by the doctor, who writes everything else into a new folder that a server starts over", async () => {
    const folder = damagedCopy("doctored", "checkpoints", hasStreams);
    const found = await doctor("--data", folder);
    expect(found.code).toBe(1);
    expect(found.output).toMatch(/checkpoints +255 rows, 1 damaged/);
    const rescued = join(root, "rescued");
    const saved = await doctor("--data", folder, "--rescue", rescued);
    expect(saved.output).toMatch(/series: \d+ rows written; the baselines of partitions \d+ are lost/);
    const server = await bench.start({ ...QUIET_SETTINGS, DATA_DIR: rescued });
    const again = await readHoldings(server);
    expect(again.records).toEqual(held.records);
    expect(again.anomalies).toEqual(held.anomalies);
    // What waited in the lost checkpoint for a block is lost with it; nothing else may be there.
    expect(differences(held, again).filter((line) => line.includes("too many"))).toEqual([]);
    await server.stop();
    expect((await doctor("--data", rescued)).code).toBe(0);
    const asJson = await doctor("--data", folder, "--json");
    expect(asJson.code).toBe(1);
    const report = JSON.parse(asJson.output.slice(asJson.output.indexOf("{"), asJson.output.lastIndexOf("}") + 1));
    expect(report).toMatchObject({
      is_whole: false,
      stores: [
        { name: "control", damage: 0 },
        { name: "series", damage: 1 },
      ],
    });
  });

  it("is told by a server that did not wait for the check, and only then is it no longer unchecked", async () => {
    const folder = damagedCopy("later", "records", () => true);
    const server = await bench.start({ ...QUIET_SETTINGS, DATA_DIR: folder, STORE_CHECK_WAIT_GIB: "0" });
    const health = () => server.get<{ status: string; data: string }>("/healthz");
    const look = async () => {
      const answer = await health();
      expect(answer.status).toMatch(/degraded/);
      return answer;
    };
    const checked = await until("the check of the stores", look, ({ data }) => data !== "unchecked", { patienceMs: PATIENCE_MS });
    expect(checked).toMatchObject({ status: "degraded", data: "damaged" });
    expect(server.output).toMatch(/ error +store: [^\n]*series\/data\.mdb is damaged: records: the value of key 0x/);
  });

  it("is no finding in a folder that is whole, also while its server writes", async () => {
    expect((await doctor("--data", whole)).code).toBe(0);
    const folder = join(root, "served");
    cpSync(whole, folder, { recursive: true });
    const server = await bench.start({ ...QUIET_SETTINGS, DATA_DIR: folder, STORE_CHECK_WAIT_GIB: "0" });
    const script = new LoadScript({
      seed: 10,
      serviceId: "served",
      startMs: Math.floor(Date.now() / 1000) * 1000 - 1800 * 1000,
      requests: 12,
    });
    await new LoadSender(script.requests).run(server.origin);
    const health = () => server.get<{ status: string; data: string }>("/healthz");
    const checked = await until("the check of the stores", health, ({ data }) => data !== "unchecked", { patienceMs: PATIENCE_MS });
    expect(checked).toMatchObject({ status: "ok", data: "ok" });
    expect((await doctor("--data", folder)).output).toContain("in use by process");
    await server.stop();
  });
});
