// Values with their checksums: whatever byte of one is wrong it is never given back, and a store of an earlier version, whose values have none, is told.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { open } from "lmdb";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { openLmdbStore } from "../../../../src/adapters/storage/lmdb-store.ts";
import { scanStore } from "../../../../src/adapters/storage/store-scan.ts";
import { TableSeal } from "../../../../src/adapters/storage/value-seal.ts";

const BINARY = { keyEncoding: "binary", encoding: "binary" } as const;
const key = (n: number) => Uint8Array.of(n >> 8, n & 255);
let path: string;
beforeEach(() => {
  path = mkdtempSync(join(tmpdir(), "vedette-seal-"));
});
afterEach(() => rmSync(path, { recursive: true, force: true }));

describe("a seal", () => {
  it("belongs to one table, one key and one value, bit by bit", () => {
    const seal = new TableSeal("a");
    const value = Uint8Array.from({ length: 40 }, (_, i) => i * 5);
    const stored = seal.close(key(1), value);
    expect(Buffer.compare(seal.open(key(1), stored) as Uint8Array, value)).toBe(0);
    expect(seal.open(key(2), stored)).toBeUndefined();
    expect(new TableSeal("b").open(key(1), stored)).toBeUndefined();
    for (let bit = 0; bit < 8 * stored.length; bit++) {
      const wrong = Uint8Array.from(stored);
      wrong[bit >> 3] = (wrong[bit >> 3] as number) ^ (1 << (bit & 7));
      expect(seal.open(key(1), wrong)).toBeUndefined();
    }
  });
});

/** A store as an earlier version left it: values without seals, rows of both sizes. */
async function unsealedStore(rows: number): Promise<void> {
  const root = open<Uint8Array, Uint8Array>({ ...BINARY, path, noSubdir: false, maxDbs: 3 });
  const table = root.openDB<Uint8Array, Uint8Array>({ ...BINARY, name: "a" });
  await root.batch(() => {
    for (let n = 0; n < rows; n++) void table.put(key(n), new Uint8Array(n % 50 === 0 ? 9000 : 30).fill(n));
  });
  await root.close();
}

describe("a store of an earlier version", () => {
  it("is told by its values, and none of them is given", async () => {
    await unsealedStore(3);
    const store = openLmdbStore({ path, tables: ["a"] });
    expect(store.isSealed).toBe(false);
    expect(() => store.get("a", key(1))).toThrow(/data\.mdb: the value of table a, key 0x0001, is damaged/);
    await store.close();
  });

  it("that has no value is a new one, and says so from its first commit on", async () => {
    await unsealedStore(0);
    const store = openLmdbStore({ path, tables: ["a"] });
    expect(store.isSealed).toBe(true);
    await store.commit([{ table: "a", key: key(1), value: Uint8Array.of(1) }]);
    await store.close();
    expect(scanStore(join(path, "data.mdb"), { tables: ["a"] })).toMatchObject({ isSealed: true, findings: [] });
  });
});
