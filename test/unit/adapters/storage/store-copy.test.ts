// A copy of a store that goes on being written is the store of one moment, whole, and says that it is on the disk.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { LmdbFile } from "../../../../src/adapters/storage/lmdb-file.ts";
import { openLmdbStore } from "../../../../src/adapters/storage/lmdb-store.ts";
import { holdStore } from "../../../../src/adapters/storage/store-copy.ts";
import { scanStore } from "../../../../src/adapters/storage/store-scan.ts";

const TABLES = ["t"];
const ROUNDS = 60;
const ROWS = 40;

describe("the copy of a store", () => {
  let folder: string;
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "vedette-copy-"));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  const rounds = Array.from({ length: ROUNDS }, (_, round) => round);

  it("holds what was committed before it, and nothing of what is written over and over meanwhile", async () => {
    const store = openLmdbStore({ path: join(folder, "store"), tables: TABLES });
    /** Every row says its round: a mixture of rounds is no moment. */
    const commit = (round: number) =>
      store.commit(
        Array.from({ length: ROWS }, (_, row) => ({ table: "t", key: Uint8Array.of(1, row), value: new Uint8Array(4_000).fill(round) })),
        {
          flushLater: true,
        },
      );
    for (const round of rounds.slice(0, 3)) await commit(round);
    const held = holdStore(join(folder, "store", "data.mdb"));
    let copied = 0;
    const copying = held.copy(join(folder, "copy"), held.bytes / 100, (bytes) => (copied += bytes));
    for (const round of rounds.slice(3)) await commit(round);
    await copying;
    held.close();
    await store.close();

    const values = new Set<number>();
    const file = join(folder, "copy", "data.mdb");
    const scan = scanStore(file, {
      tables: TABLES,
      isThorough: true,
      takeRow: (table, _key, value) => void (table === "t" && values.add(value[0] as number)),
    });
    expect(scan.findings).toEqual([]);
    expect([...values]).toEqual([2]);
    expect(scan.tables.get("t")).toMatchObject({ rows: ROWS, damaged: 0 });
    expect(copied).toBeGreaterThan(ROWS * 4_000);
    const copy = new LmdbFile(file);
    expect(copy.snapshot().isFlushed).toBe(true);
    copy.close();
  });

  it("is refused where there is no store", () => {
    expect(() => holdStore(join(folder, "none", "data.mdb"))).toThrow(/ENOENT/);
  });
});
