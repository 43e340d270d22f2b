// What a scan over a store finds in order LMDB reads as it was written, and writes on; whatever bit is wrong.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { StoreOperation } from "../../../../src/adapters/storage/key-value-store.ts";
import { openLmdbStore, type SealedStore } from "../../../../src/adapters/storage/lmdb-store.ts";
import { scanStore } from "../../../../src/adapters/storage/store-scan.ts";
import { generator } from "../../../support/generator.ts";
import { STORE_TABLES, storeContents } from "../../../support/store-contents.ts";
import { extent } from "../../../support/test-extent.ts";

const ROWS = 400;
const DAMAGES = extent(200, 80);
/** Where the last two transactions stand, and what was flushed last. */
const HEADS = [0, 2048, 4096];
const HEAD_BYTES = 170;
let folder: string;
let original: string;

const open = (path: string) => openLmdbStore({ path, tables: STORE_TABLES });
const scan = (path: string) => scanStore(join(path, "data.mdb"), { tables: STORE_TABLES });
const keyOf = (n: number) => Uint8Array.of(n >> 8, n & 255, 7, 7, 7, 7);

/** Rows of both sizes, put over one another and deleted in part, so that the file has free pages, pages of branches and large values. */
async function fill(store: SealedStore): Promise<void> {
  const random = generator(11);
  const byte = () => Math.floor(random.uniform() * 256);
  for (let round = 0; round < 4; round++) {
    for (let n = 0; n < ROWS; n += 20) {
      const operations: StoreOperation[] = [];
      for (let i = n; i < n + 20; i++) {
        operations.push({ table: "small", key: keyOf(i), value: Uint8Array.from({ length: 60 }, byte) });
        const deleted = (i + round) % 3 === 0;
        if (i % 40 === 0)
          operations.push({ table: "large", key: keyOf(i), value: deleted ? undefined : new Uint8Array(9000).fill(byte()) });
      }
      await store.commit(operations);
    }
  }
}

/** LMDB on files that may be damaged after all must not take this process with it. */
function use(contentsFile: string, folders: readonly string[]) {
  const script = ["--import", "./scripts/typescript-loader.mjs", "test/support/store-use.ts"];
  const { status, signal, stderr } = spawnSync(process.execPath, [...script, contentsFile, ...folders], { encoding: "utf8" });
  return { status, signal, stderr };
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-walk-"));
  original = join(folder, "original");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe("a scan over a store", () => {
  it("finds nothing in one that is whole, after a kill between two commits too", async () => {
    const store = open(original);
    await fill(store);
    const copy = join(folder, "copy");
    mkdirSync(copy);
    copyFileSync(join(original, "data.mdb"), join(copy, "data.mdb"));
    await store.close();
    for (const path of [original, copy]) {
      const { findings, isSealed, tables } = scan(path);
      expect(findings).toEqual([]);
      expect(isSealed).toBe(true);
      expect(tables.get("small")).toEqual({ rows: ROWS, damaged: 0 });
    }
  });

  it("finds nothing in a value that was put over a longer one in one transaction, whose pages LMDB keeps", async () => {
    const store = open(original);
    const put = (bytes: number): StoreOperation => ({ table: "large", key: keyOf(1), value: new Uint8Array(bytes).fill(7) });
    await store.commit([put(9000), put(60)]);
    await store.close();
    expect(scan(original).findings).toEqual([]);
  });

  it("finds each wrong bit, zeroed page and cut, or the store reads and writes as if there were none", async () => {
    const store = open(original);
    await fill(store);
    const contentsFile = join(folder, "contents");
    writeFileSync(contentsFile, storeContents(store));
    await store.close();
    const bytes = readFileSync(join(original, "data.mdb"));
    const random = generator(12);
    const below = (count: number) => Math.floor(random.uniform() * count);
    const harmless: string[] = [];
    let found = 0;
    for (let damage = 0; damage < DAMAGES; damage++) {
      const path = join(folder, `damaged-${damage}`);
      mkdirSync(path);
      const file = join(path, "data.mdb");
      const kind = damage % 10;
      const damaged = Buffer.from(bytes);
      // Every second one lies where the file's first pages say what there is: a random place seldom does.
      const at = kind % 2 === 0 ? (HEADS[below(HEADS.length)] as number) + below(HEAD_BYTES) : below(bytes.length);
      if (kind === 8) damaged.fill(0, at, at + 512);
      else if (kind < 8) damaged[at] = (damaged[at] as number) ^ (1 << below(8));
      writeFileSync(file, damaged);
      if (kind === 9) truncateSync(file, at);
      if (scan(path).findingCount === 0) harmless.push(path);
      else {
        found++;
        rmSync(path, { recursive: true });
      }
    }
    expect(use(contentsFile, harmless)).toEqual({ status: 0, signal: null, stderr: "" });
    for (const path of harmless) expect(scan(path).findings, path).toEqual([]);
    expect(found).toBeGreaterThan(DAMAGES / 4);
    expect(found).toBeLessThan(DAMAGES);
  });
});
