// A start that writes a store anew without its free pages, and is killed at any moment of it, or finds the disk full: what the store held is there, and the next start gives the pages back.
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, existsSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { scanStore } from "../../src/adapters/storage/store-scan.ts";
import { canMount, SmallDisks } from "../support/small-disk.ts";

const MIB = 1024 * 1024;
const SCRIPT = ["--import", "./scripts/typescript-loader.mjs", "test/support/store-compacting.ts"];
/** Size of the new file at which the start is killed, and last once it has taken the old one's place. */
const KILLED_AT_BYTES = [1, MIB / 2, MIB, 2 * MIB, 3 * MIB, Number.POSITIVE_INFINITY];
const GIVEN_BACK = ["info", "a store has given free pages back"];

let whole: string;
beforeAll(() => {
  whole = mkdtempSync(join(tmpdir(), "vedette-compacted-"));
  execFileSync(process.execPath, [...SCRIPT, "make", join(whole, "store")]);
});
afterAll(() => rmSync(whole, { recursive: true, force: true }));

/** What a start over a store says: lines of its log, and the digest of the rows. */
function start(folder: string, prefix: readonly string[] = []) {
  const [command = "", ...rest] = [...prefix, process.execPath, ...SCRIPT, "open", folder];
  const lines = execFileSync(command, rest, { encoding: "utf8" }).trim().split("\n");
  return { log: lines.slice(1, -1).map((line) => JSON.parse(line) as unknown), rows: lines.at(-1) };
}

/** Kills a start once the new file has so many bytes, or is where the old one was. */
async function killedStart(folder: string, bytes: number): Promise<void> {
  const sizeOf = (file: string) => statSync(join(folder, file), { throwIfNoEntry: false })?.size ?? 0;
  const before = sizeOf("data.mdb");
  const child = spawn(process.execPath, [...SCRIPT, "open", folder], { stdio: ["ignore", "ignore", "inherit"] });
  const looks = setInterval(() => {
    if (sizeOf("compacted/data.mdb") >= bytes || sizeOf("data.mdb") < before / 2) child.kill("SIGKILL");
  }, 1);
  await once(child, "close");
  clearInterval(looks);
}

describe("a start that gives free pages back", () => {
  it("loses nothing where it is killed, and what it leaves is gone after the next", async () => {
    const folder = join(whole, "killed");
    const copy = join(folder, "compacted");
    cpSync(join(whole, "store"), folder, { recursive: true });
    const before = statSync(join(folder, "data.mdb")).size;
    const { rows } = start(join(whole, "store"));
    for (const bytes of KILLED_AT_BYTES) {
      await killedStart(folder, bytes);
      expect(scanStore(join(folder, "data.mdb"), { tables: ["rows", "few"] }).findings, `${bytes}`).toEqual([]);
    }
    expect(start(folder).rows).toBe(rows);
    expect(statSync(join(folder, "data.mdb")).size).toBeLessThan(before / 2);
    expect([existsSync(copy), start(folder)]).toEqual([false, { log: [], rows }]);
  });

  it.skipIf(!canMount)("serves the store as it is where the disk has no room for what it holds once more", async () => {
    const disk = await SmallDisks.mount({ "": 64 * MIB });
    try {
      const folder = join(disk.folder, "store");
      const [command = "", ...rest] = [...disk.prefix, process.execPath, ...SCRIPT, "make", folder];
      execFileSync(command, rest);
      disk.fill("");
      const full = start(folder, disk.prefix);
      expect(full.log).toEqual([["warn", "a store keeps its free pages: the disk has no room for what it holds once more"]]);
      disk.empty("");
      expect(start(folder, disk.prefix)).toEqual({ log: [GIVEN_BACK], rows: full.rows });
    } finally {
      disk.close();
    }
  });
});
