// Backups of a server that takes telemetry all the time, then is killed: what a restored folder holds, alone and with the log that the old folder still has.
import { execFile } from "node:child_process";
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import type { BackupManifest } from "../../src/core/protocol/backup.ts";
import { LoadSender } from "../support/load-sender.ts";
import { LoadScript } from "../support/load-sender-script.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";
import { firstOf } from "../support/test-extent.ts";
import { until } from "../support/until.ts";
import { differencesToScripts, readHoldings } from "./holdings.ts";

const HOUR_MS = 3600 * 1000;
const REQUESTS = 90;
const bench = new ServerBench();
afterEach(() => bench.close());

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function vedette(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Promise<Ended> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["dist/main.js", ...args], { env: environment }, (error, stdout, stderr) => {
      resolve({ code: typeof error?.code === "number" ? error.code : error === null ? 0 : -1, stdout, stderr });
    });
  });
}

interface Made {
  readonly name: string;
  readonly error: string | null;
  readonly bytes: number;
  readonly backup: { readonly linked_bytes: number; readonly cut_admission: number };
}

async function makeBackup(server: ServerProcess, folder: string): Promise<Made> {
  const { code, stdout, stderr } = await vedette(["backup", "--json"], { DATA_DIR: folder, PORT: new URL(server.origin).port });
  if (code !== 0) throw new Error(`vedette backup ended with ${code}: ${stderr}${stdout}`);
  return JSON.parse(stdout) as Made;
}

function script(seed: number, requests: number, startMs: number): LoadScript {
  return new LoadScript({ seed, serviceId: `service-${seed}`, startMs, requests });
}

/** What of the script is not there. Further samples do not matter. */
function missing(expected: LoadScript, found: Awaited<ReturnType<typeof readHoldings>>): string[] {
  return differencesToScripts([expected], found).filter((line) => line.includes(" missing: "));
}

describe("a backup while telemetry comes in", () => {
  it("holds all that was acknowledged before it, and with the old folder's log all that was ever acknowledged", async () => {
    const [folder, backups] = [bench.dataFolder(), bench.dataFolder()];
    const startMs = Math.floor(Date.now() / 1000) * 1000 - HOUR_MS;
    const whole = script(11, REQUESTS, startMs);
    const sender = new LoadSender(whole.requests);
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "2", BACKUP_DIR: backups, BACKUP_LOG_GIB: "1" });
    await sender.run(server.origin, () => sender.next < 30);
    const acknowledged: number[] = [];
    const names: string[] = [];
    const sending = sender.run(server.origin);
    for (let round = 0; round < 2; round++) {
      acknowledged.push(sender.next);
      const made = await makeBackup(server, folder);
      expect(made.error).toBeNull();
      names.push(made.name);
      const second = () => Math.floor(Date.now() / 1_000);
      const madeAt = second();
      await until("the next second, as names count them", second, (now) => now > madeAt);
    }
    await sending;
    expect(sender.isDone).toBe(true);
    await server.kill();

    for (const [round, name] of names.entries()) {
      const restored = join(bench.dataFolder(), "data");
      const { code, stdout, stderr } = await vedette(["restore", join(backups, name), "--data", restored]);
      expect(code, stdout + stderr).toBe(0);
      const again = await bench.start({ DATA_DIR: restored, ENGINES: "1" });
      expect(missing(script(11, acknowledged[round] as number, startMs), await readHoldings(again))).toEqual([]);
      expect(await again.get("/api/v1/data-faults")).toMatchObject({ total: 0 });
      await again.stop();
    }

    const restored = join(bench.dataFolder(), "data");
    // The newest: what of the log it holds need not be kept any more.
    const newest = join(backups, names.at(-1) as string);
    const { code, stdout, stderr } = await vedette(["restore", newest, "--data", restored, "--log", folder, "--json"]);
    expect(code, stdout + stderr).toBe(0);
    const again = await bench.start({ DATA_DIR: restored, ENGINES: "3" });
    expect(differencesToScripts([whole], await readHoldings(again))).toEqual([]);
    expect(await again.get("/api/v1/data-faults")).toMatchObject({ total: 0 });
    await again.stop();
  });

  it("is restored up to a moment, and refuses what would leave a gap", async () => {
    const [folder, backups] = [bench.dataFolder(), bench.dataFolder()];
    const startMs = Math.floor(Date.now() / 1000) * 1000 - HOUR_MS;
    const whole = script(12, 60, startMs);
    const sender = new LoadSender(whole.requests);
    const server = await bench.start({ DATA_DIR: folder, ENGINES: "1", BACKUP_DIR: backups, BACKUP_LOG_GIB: "1" });
    await sender.run(server.origin, () => sender.next < 20);
    const { name } = await makeBackup(server, folder);
    await sender.run(server.origin, () => sender.next < 40);
    await new Promise((resolve) => setTimeout(resolve, 300));
    const moment = new Date().toISOString();
    await new Promise((resolve) => setTimeout(resolve, 300));
    await sender.run(server.origin);
    await server.kill();

    const restored = join(bench.dataFolder(), "data");
    const backup = join(backups, name);
    const { code, stdout } = await vedette(["restore", backup, "--data", restored, "--log", folder, "--until", moment, "--json"]);
    expect(code, stdout).toBe(0);
    const again = await bench.start({ DATA_DIR: restored, ENGINES: "1" });
    expect(differencesToScripts([script(12, 40, startMs)], await readHoldings(again))).toEqual([]);
    await again.stop();

    const early = await vedette(["restore", backup, "--data", join(restored, "x"), "--log", folder, "--until", "2020-01-01T00:00:00Z"]);
    expect(early).toMatchObject({ code: 2, stderr: expect.stringContaining("take an earlier backup") });
    const other = await bench.start();
    const otherFolder = bench.dataFolder();
    await other.stop();
    cpSync(folder, otherFolder, { recursive: true, filter: (path) => !/\/(lock|owner)[.]/.test(path) });
    const meta = JSON.parse(readFileSync(join(otherFolder, "meta.json"), "utf8")) as { seed: string };
    writeFileSync(join(otherFolder, "meta.json"), JSON.stringify({ ...meta, seed: "0".repeat(64) }));
    const strange = await vedette(["restore", backup, "--data", join(bench.dataFolder(), "x"), "--log", otherFolder]);
    expect(strange).toMatchObject({ code: 1, stderr: expect.stringContaining("another server") });
  });

  it("is refused with the file's name where a byte of it has changed, and nothing is restored", async () => {
    const [folder, backups] = [bench.dataFolder(), bench.dataFolder()];
    const server = await bench.start({ DATA_DIR: folder, BACKUP_DIR: backups });
    const { name } = await makeBackup(server, folder);
    await server.stop();
    const backup = join(backups, name);
    expect(await vedette(["restore", backup, "--check"])).toMatchObject({ code: 0, stdout: expect.stringContaining("is whole") });
    const manifest = JSON.parse(readFileSync(join(backup, "backup.json"), "utf8")) as BackupManifest;
    const written = manifest.files.filter(({ bytes }) => bytes > 0);
    for (const { path } of firstOf(written, 2)) {
      const file = join(backup, path);
      const bytes = readFileSync(file);
      const changed = Buffer.from(bytes);
      const at = bytes.length >> 1;
      changed[at] = (changed[at] as number) ^ 1;
      writeFileSync(file, changed);
      const into = join(bench.dataFolder(), "data");
      expect(await vedette(["restore", backup, "--data", into])).toMatchObject({ code: 1, stdout: expect.stringContaining(path) });
      expect(existsSync(into)).toBe(false);
      writeFileSync(file, bytes);
    }
    expect(readdirSync(backup)).not.toContain("lock.mdb");
  });

  it("is not made without BACKUP_DIR, nor by one who is no super-admin", async () => {
    const folder = bench.dataFolder();
    const server = await bench.start({ DATA_DIR: folder });
    const environment = { DATA_DIR: folder, PORT: new URL(server.origin).port };
    expect(await vedette(["backup"], environment)).toMatchObject({ code: 1, stderr: expect.stringContaining("BACKUP_DIR") });
    const answer = await fetch(`${server.origin}/api/v1/backup`, {
      method: "POST",
      headers: { authorization: `Bearer ${readFileSync(join(folder, "admin-token"), "utf8").trim()}`, "content-type": "application/json" },
      body: "{}",
    });
    expect(answer.status).toBe(403);
    await server.stop();
  });
});
