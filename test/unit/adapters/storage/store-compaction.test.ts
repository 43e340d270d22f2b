// A store of which a good part is free is written anew by the next start, with all its rows; one that cannot be is served as it is.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KeyValueStore } from "../../../../src/adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../../../src/adapters/storage/lmdb-store.ts";
import { openCompacted } from "../../../../src/adapters/storage/store-compaction.ts";
import { scanStore } from "../../../../src/adapters/storage/store-scan.ts";
import type { Log } from "../../../../src/core/telemetry/log-event.ts";

const TABLES = ["large", "small", "empty"];
const EVERY_KEY = { from: new Uint8Array(0), to: Uint8Array.of(0xff, 0xff) };

let folder: string;
let lines: Array<readonly [level: string, sentence: string, bytes: unknown]>;
const log: Log = (level, sentence, fields) => void lines.push([level, sentence, fields?.["bytes"]]);
beforeEach(() => {
  lines = [];
  folder = mkdtempSync(join(tmpdir(), "vedette-compaction-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const file = () => join(folder, "data.mdb");
const keyOf = (number: number) => Uint8Array.of(number >> 8, number & 0xff);
const contents = (store: KeyValueStore) =>
  TABLES.map((table) => store.range(table, EVERY_KEY).map(({ key, value }) => [[...key], Buffer.from(value).toString("hex")]));

/** Leaves a closed store of 3 MB of which rows with numbers from `firstGone` on were deleted; what it holds. */
async function leaveStore(firstGone: number): Promise<unknown> {
  const store = openLmdbStore({ path: folder, tables: TABLES });
  for (let number = 0; number < 300; number++) {
    const rows = [
      { table: "large", key: keyOf(number), value: new Uint8Array(9_000).fill(number) },
      { table: "small", key: keyOf(number), value: new Uint8Array(700).fill(number) },
    ];
    await store.commit(rows, { flushLater: true }); // 300 waits for the disk would take most of the time
  }
  const gone = Array.from({ length: 300 - firstGone }, (_, at) => keyOf(firstGone + at));
  await store.commit(["large", "small"].flatMap((table) => gone.map((key) => ({ table, key, value: undefined }))));
  const held = contents(store);
  await store.close();
  return held;
}

describe("a store that a start opens", () => {
  it("is written anew where much of it is free, and holds what it held", async () => {
    const held = await leaveStore(60);
    const before = statSync(file()).size;
    // A start that was killed in the middle has left something.
    mkdirSync(join(folder, "compacted"));
    writeFileSync(join(folder, "compacted", "data.mdb"), "half of a file");
    const store = await openCompacted({ path: folder, tables: TABLES }, log);
    expect([store.isSealed, contents(store)]).toEqual([true, held]);
    // In blocks of the disk, of which a file system takes more or fewer than the file is long.
    expect(lines).toEqual([
      ["info", "a store has given free pages back", expect.toSatisfy((bytes: number) => bytes > before / 2 && bytes < before)],
    ]);
    await store.commit([{ table: "empty", key: keyOf(1), value: Uint8Array.of(1) }], { sync: true });
    await store.close();
    expect(statSync(file()).size).toBeLessThan(before / 2);
    expect(existsSync(join(folder, "compacted"))).toBe(false);
    expect(scanStore(file(), { tables: TABLES }).findings).toEqual([]);
    const again = await openCompacted({ path: folder, tables: TABLES }, log);
    expect([...again.get("empty", keyOf(1))!]).toEqual([1]);
    await again.close();
  });

  it("stays as it is where little of it is free, and where it is new", async () => {
    const held = await leaveStore(280);
    const before = statSync(file()).ino;
    const store = await openCompacted({ path: folder, tables: TABLES }, log);
    expect([contents(store), statSync(file()).ino]).toEqual([held, before]);
    await store.close();
    const fresh = await openCompacted({ path: join(folder, "fresh"), tables: TABLES }, log);
    expect(contents(fresh)).toEqual([[], [], []]);
    await fresh.close();
  });

  it("stays as it is where a value is damaged", async () => {
    await leaveStore(60);
    const bytes = readFileSync(file());
    bytes[bytes.indexOf(new Uint8Array(5_000).fill(7)) + 100] = 8;
    writeFileSync(file(), bytes);
    const before = statSync(file()).ino;
    const store = await openCompacted({ path: folder, tables: TABLES }, log);
    expect([...store.get("large", keyOf(6))!]).toEqual(Array.from({ length: 9_000 }, () => 6));
    expect(() => store.get("large", keyOf(7))).toThrow("damaged");
    expect([statSync(file()).ino, existsSync(join(folder, "compacted"))]).toEqual([before, false]);
    await store.close();
  });
});
