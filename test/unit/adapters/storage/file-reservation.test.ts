// Room behind the pages of a store: an idle store gives back what it does not need, goes on from there, and can delete when the disk has filled up.
import { execFileSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { KeyValueStore, StoreOperation } from "../../../../src/adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../../../src/adapters/storage/lmdb-store.ts";
import { FULL_DISK_ROWS_PER_STEP } from "../../../../src/core/config/limits.ts";
import { canMountHere } from "../../../support/small-disk.ts";

const KIB = 1024;
/** What an idle store keeps behind its pages. */
const KEPT_BYTES = 512 * KIB;
const TABLES = ["times", "rows", "large"];
const EVERY_KEY = { from: Uint8Array.of(0), to: Uint8Array.of(255) };

let folder: string;
let store: KeyValueStore;
const openStore = (path = join(folder, "lmdb")) => {
  store = openLmdbStore({ path, tables: TABLES });
};
const fileBytes = (path = join(folder, "lmdb")) => statSync(join(path, "data.mdb")).size;
const keyOf = (n: number) => Uint8Array.of(1, n >> 16, n >> 8, n);
/** Neighbours in time lie far apart. */
const scattered = (n: number) => Uint8Array.of(1, Math.imul(n, 0x9e3779b1) >>> 24, Math.imul(n, 0x9e3779b1) >>> 16, n >> 16, n >> 8, n);
const large = (n: number, bytes: number): StoreOperation => ({ table: "large", key: keyOf(n), value: new Uint8Array(bytes).fill(n) });
const rows = (from: number, to: number): StoreOperation[] =>
  Array.from({ length: to - from }, (_, i) => from + i).flatMap((n) => [
    { table: "times", key: keyOf(n), value: scattered(n) },
    { table: "rows", key: scattered(n), value: new Uint8Array(600).fill(n) },
  ]);
const deleted = (operations: readonly StoreOperation[]) => operations.map(({ table, key }) => ({ table, key, value: undefined }));
const sum = (table: string) => store.range(table, EVERY_KEY).reduce((total, { value }) => total + value.length, 0);

async function trimIdle(): Promise<void> {
  await store.trim();
  await store.trim();
}

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-room-"));
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

describe("the room of an idle store", () => {
  it("is given back once nothing was committed between two calls, and taken again by commits", async () => {
    openStore();
    for (let n = 0; n < 20; n++) await store.commit([large(n, 100_000)], { flushLater: n % 2 === 0 });
    const busyBytes = fileBytes();
    await store.trim();
    expect(fileBytes()).toBe(busyBytes);
    await store.trim();
    const idleBytes = fileBytes();
    expect(idleBytes).toBeLessThan(busyBytes - 1024 * KIB);
    expect(idleBytes - KEPT_BYTES).toBeGreaterThanOrEqual(store.stats().usedBytes);
    await store.trim();
    expect([fileBytes(), sum("large")]).toEqual([idleBytes, 2_000_000]);

    // One commit takes some room, the next ones more, until there is as much as before.
    await store.commit([large(20, 10)]);
    const wokenBytes = fileBytes();
    expect([wokenBytes > idleBytes, wokenBytes < idleBytes + 1024 * KIB]).toEqual([true, true]);
    await store.trim();
    expect(fileBytes()).toBe(wokenBytes);
    for (let n = 21; n < 30; n++) await store.commit([large(n, 100_000)]);
    expect(fileBytes() - busyBytes).toBeGreaterThan(9 * 100_000 - 512 * KIB);
    expect(sum("large")).toBe(2_900_010);
  });

  it("is given back between commits and flushes, in the order of the calls, and the file opens again", async () => {
    openStore();
    await store.commit(rows(0, 500));
    const calls: Promise<unknown>[] = [];
    for (let n = 0; n < 40; n++) {
      // Between the two calls of trim comes nothing that changes the file.
      calls.push(
        store.commit([large(n, 50_000)], { flushLater: n % 3 !== 0 }),
        store.trim(),
        store.commit([], { sync: true }),
        store.trim(),
      );
      calls.push(store.commit([], { sync: true }));
      if (n % 8 === 7) await Promise.all(calls.splice(0));
    }
    await Promise.all(calls);
    expect([sum("large"), sum("rows")]).toEqual([2_000_000, 300_000]);
    await store.close();
    openStore();
    expect(store.range("large", EVERY_KEY).map(({ value }) => value[49_999])).toEqual(Array.from({ length: 40 }, (_, n) => n));
    const last = store.trim();
    const closed = store.close();
    await expect(store.trim()).rejects.toMatchObject({ name: "StoreError", code: "CLOSED" });
    await Promise.all([last, closed]);
  });
});

describe.runIf(canMountHere())("an idle store whose disk fills up", () => {
  let mount: string;
  beforeEach(() => {
    mount = join(folder, "small");
    mkdirSync(mount);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=24m", "tmpfs", mount]);
    openStore(join(mount, "lmdb"));
  });
  afterEach(async () => {
    await store.close();
    execFileSync("umount", [mount]);
  });

  function fillDisk(): void {
    const descriptor = openSync(join(mount, "filler"), "w");
    for (const step of [64 * KIB, 4 * KIB]) {
      try {
        while (writeSync(descriptor, new Uint8Array(step)) > 0);
      } catch (error) {
        expect(error).toMatchObject({ code: "ENOSPC" });
      }
    }
    closeSync(descriptor);
  }

  /** Rows, with no page free in the file that they have left. */
  async function fillFile(count: number): Promise<void> {
    for (let n = 0; n < count; n += 250) await store.commit(rows(n, n + 250));
    const pageBytes = 4 * KIB;
    const usedBefore = fileBytes(join(mount, "lmdb"));
    for (let n = 1000; fileBytes(join(mount, "lmdb")) === usedBefore && n < 3000; n++) await store.commit([large(n, pageBytes - 200)]);
    await trimIdle();
    fillDisk();
  }

  it("refuses what comes, deletes a few rows at a time, and goes on when there is room", async () => {
    await fillFile(5000);
    await expect(store.commit([large(1, 400_000)])).rejects.toMatchObject({ name: "StoreError", code: "ENOSPC", retryable: true });
    await expect(store.commit(deleted(rows(0, 250)))).rejects.toMatchObject({ code: "ENOSPC", isFullDisk: true });
    expect([sum("rows"), store.range("times", EVERY_KEY).length]).toEqual([3_000_000, 5000]);
    const step = FULL_DISK_ROWS_PER_STEP;
    for (let n = 0; n < 4000; n += step) await store.commit(deleted(rows(n, n + step)));
    expect([sum("rows"), store.range("times", EVERY_KEY).length]).toEqual([600_000, 1000]);
    await store.commit([large(2, 3000)]); // in the pages that are free now

    rmSync(join(mount, "filler"));
    await store.commit([large(3, 4_000_000)], { sync: true });
    expect(store.get("large", keyOf(3))?.length).toBe(4_000_000);
  });

  it("deletes a range in steps as small as it takes", async () => {
    await fillFile(5000);
    expect(await store.deleteRange("rows", EVERY_KEY.from, EVERY_KEY.to, 500)).toBe(5000);
    expect(sum("rows")).toBe(0);
  });
});
