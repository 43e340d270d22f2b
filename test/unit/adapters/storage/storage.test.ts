import { execFileSync, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import type { KeyValueStore, StoreOperation } from "../../../../src/adapters/storage/key-value-store.ts";
import { StoreError } from "../../../../src/adapters/storage/key-value-store.ts";
import { openLmdbStore } from "../../../../src/adapters/storage/lmdb-store.ts";
import { PackedStore } from "../../../../src/adapters/storage/packed-store.ts";
import { KEY_BYTES_MAX } from "../../../../src/core/config/key-limits.ts";
import { KeyBuilder } from "../../../../src/domain/codec/key.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { canMountHere } from "../../../support/small-disk.ts";

const TABLES = ["a", "b"];
const key = (...parts: number[]) => Uint8Array.from(parts);
const put = (table: string, at: Uint8Array, value: Uint8Array): StoreOperation => ({ table, key: at, value });
const plain = (value: Uint8Array | undefined) => value && [...value];

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "vedette-store-"));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe.each<[string, () => KeyValueStore]>([
  ["lmdb", () => openLmdbStore({ path: join(folder, "lmdb"), tables: TABLES })],
  ["memory", () => new MemoryStore({ tables: TABLES, seed: 7 })],
  ["packed", () => new PackedStore(new MemoryStore({ tables: [...TABLES, "a_packs"], seed: 7 }), [{ table: "a", packs: "a_packs" }])],
])("%s store", (_, open) => {
  let store: KeyValueStore;
  beforeEach(() => {
    store = open();
  });
  afterEach(() => store.close());

  it("puts, reads and deletes copies, table by table", async () => {
    const value = key(1, 2, 3);
    await store.commit([put("a", key(1), value), put("a", key(2), new Uint8Array(0))]);
    value.fill(9);
    expect(plain(store.get("a", key(1)))).toEqual([1, 2, 3]);
    store.get("a", key(1))!.fill(7);
    expect(plain(store.get("a", key(1)))).toEqual([1, 2, 3]);
    expect(plain(store.get("a", key(2)))).toEqual([]);
    expect(store.get("b", key(1))).toBeUndefined();
    await store.commit([
      put("b", key(1), key(4)),
      { table: "a", key: key(1), value: undefined },
      { table: "a", key: key(99), value: undefined },
    ]);
    expect([store.get("a", key(1)), plain(store.get("b", key(1)))]).toEqual([undefined, [4]]);
  });

  it("applies the operations of a commit in order, and commits in the order of the calls", async () => {
    await store.commit([put("a", key(1), key(1)), { table: "a", key: key(1), value: undefined }, put("a", key(1), key(2))], { sync: true });
    expect(plain(store.get("a", key(1)))).toEqual([2]);
    await Promise.all([3, 4, 5].map((n) => store.commit([put("a", key(1), key(n)), put("b", key(n), key(n))])));
    expect(plain(store.get("a", key(1)))).toEqual([5]);
    expect(store.range("b", { from: key(), to: key(255) })).toHaveLength(3);
    await store.commit([]);
    await store.commit([], { sync: true });
  });

  it("shows what is flushed later at once, in the order of the calls", async () => {
    for (let n = 0; n < 60; n++) {
      const before = plain(store.get("a", key(1)));
      await store.commit([put("a", key(1), key(n)), put("b", key(n), key(n))], { flushLater: n % 3 !== 2, sync: n % 20 === 19 });
      expect([before, plain(store.get("a", key(1)))]).toEqual([n === 0 ? undefined : [n - 1], [n]]);
      expect(store.range("b", { from: key(), to: key(255) })).toHaveLength(n + 1);
    }
    const several = [60, 61, 62].map((n) => store.commit([put("a", key(1), key(n))], { flushLater: true }));
    await several[2];
    expect(plain(store.get("a", key(1)))).toEqual([62]);
    await Promise.all(several);
    const synced = [63, 64].map((n) => [store.commit([], { sync: true }), store.commit([put("a", key(1), key(n))], { flushLater: true })]);
    await Promise.all(synced.flat());
    expect(plain(store.get("a", key(1)))).toEqual([64]);
    await expect(store.commit([put("a", new Uint8Array(0), key(1))], { flushLater: true })).rejects.toThrow(RangeError);
  });

  it("keeps large values apart and takes views of shared memory", async () => {
    const shared = new Uint8Array(new SharedArrayBuffer(70_000), 5, 65_536).fill(5);
    const large = new Uint8Array(300_000).fill(3);
    await store.commit([put("a", key(1), shared), put("a", key(2), large.subarray(1)), put("a", key(3), key(6))]);
    const [first, second] = [store.get("a", key(1))!, store.get("a", key(2))!];
    const entries = store.range("a", { from: key(1), to: key(4) });
    await store.commit([put("a", key(1), new Uint8Array(65_536).fill(8)), { table: "a", key: key(2), value: undefined }]);
    expect([first.length, first.every((byte) => byte === 5)]).toEqual([65_536, true]);
    expect([second.length, second.every((byte) => byte === 3)]).toEqual([299_999, true]);
    expect(entries.map(({ key: [at], value }) => [at, value.length, value[0], value.at(-1)])).toEqual([
      [1, 65_536, 5, 5],
      [2, 299_999, 3, 3],
      [3, 1, 6, 6],
    ]);
  });

  it("reads any range in both directions like a sorted list", async () => {
    const bytes = fc
      .uint8Array({ minLength: 1, maxLength: 3, max: 3 })
      .map((list) => Uint8Array.from(list, (byte) => (byte === 3 ? 255 : byte)));
    const keys = Array.from({ length: 64 }, (_, n) =>
      new KeyBuilder()
        .u16(n % 3)
        .text("x".repeat(n % 4))
        .u32(n)
        .finish(),
    );
    const short = fc.sample(bytes, { numRuns: 40, seed: 3 });
    await store.commit([...keys, ...short].map((at) => put("a", at, at)));
    const sorted = [...new Map([...keys, ...short].map((at) => [Buffer.from(at).toString("hex"), at])).values()].sort(Buffer.compare);
    const query = fc.record({
      from: fc.oneof(bytes, fc.constant(key()), fc.constantFrom(...keys)),
      to: fc.oneof(bytes, fc.constantFrom(...keys)),
      reverse: fc.boolean(),
      limit: fc.integer({ min: 0, max: 70 }),
    });
    fc.assert(
      fc.property(query, ({ from, to, reverse, limit }) => {
        const inside = sorted.filter((at) => Buffer.compare(at, from) >= 0 && Buffer.compare(at, to) < 0);
        if (reverse) inside.reverse();
        const found = store.range("a", { from, to, reverse, limit });
        expect(found.map((entry) => plain(entry.key))).toEqual(inside.slice(0, limit).map(plain));
        expect(found.every((entry) => Buffer.compare(entry.key, entry.value) === 0)).toBe(true);
      }),
      { numRuns: 300 },
    );
  });

  it("deletes a range in steps and reuses the room", async () => {
    await store.commit(
      Array.from({ length: 100 }, (_, n) => put("a", key(n), randomBytes(5000))),
      { sync: true },
    ); // a file system may take room only then
    const before = store.stats();
    expect(await store.deleteRange("a", key(10), key(95), 7)).toBe(85);
    expect(await store.deleteRange("a", key(10), key(95), 7)).toBe(0);
    expect(store.range("a", { from: key(), to: key(255) }).map((entry) => entry.key[0])).toEqual([...Array(10).keys(), 95, 96, 97, 98, 99]);
    expect(store.stats().usedBytes).toBeLessThan(before.usedBytes / 2);
    expect(before.usedBytes).toBeGreaterThanOrEqual(500_000);
    expect(before.mapBytes).toBeGreaterThanOrEqual(before.usedBytes);
    expect(before.diskBytes).toBeGreaterThanOrEqual(500_000);
  });

  it("refuses wrong keys, tables and steps, and everything once closed", async () => {
    const longest = new Uint8Array(KEY_BYTES_MAX).fill(1);
    await store.commit([put("a", longest, key(1))]);
    expect(plain(store.get("a", longest))).toEqual([1]);
    for (const bad of [key(), new Uint8Array(KEY_BYTES_MAX + 1)]) {
      await expect(store.commit([put("a", bad, key(1))])).rejects.toThrow(RangeError);
      expect(() => store.get("a", bad)).toThrow(RangeError);
      expect(() => store.range("a", { from: key(), to: bad })).toThrow(RangeError);
    }
    await expect(store.commit([put("a", key(1), key(1)), put("none", key(1), key(1))])).rejects.toThrow(RangeError);
    expect(() => store.get("none", key(1))).toThrow(RangeError);
    await expect(store.deleteRange("a", key(1), key(2), 0)).rejects.toThrow(RangeError);
    expect(store.get("a", key(1))).toBeUndefined();
    const last = store.commit([put("a", key(1), key(1))]);
    const closed = store.close();
    await expect(store.commit([put("a", key(1), key(1))])).rejects.toThrow(
      expect.objectContaining({ name: "StoreError", code: "CLOSED", retryable: false }),
    );
    expect(() => store.get("a", key(1))).toThrow(StoreError);
    await Promise.all([last, closed, store.close()]);
  });
});

describe("lmdb store", () => {
  const openAt = (path: string) => openLmdbStore({ path, tables: TABLES, mapSizeBytes: 1024 * 1024 });

  it("has everything again after closing, beyond its first map too", async () => {
    const first = openAt(folder);
    for (let n = 0; n < 20; n++) await first.commit([put("a", key(n), new Uint8Array(200_000).fill(n))]);
    expect(first.stats().mapBytes).toBeGreaterThan(4_000_000);
    await first.close();
    const second = openAt(folder);
    expect(second.range("a", { from: key(), to: key(255) }).map(({ key: [at], value }) => [at, value[199_999]])).toEqual(
      Array.from({ length: 20 }, (_, n) => [n, n]),
    );
    await second.close();
  });

  it("says that it cannot be opened", () => {
    writeFileSync(join(folder, "file"), "");
    expect(() => openAt(join(folder, "file", "below"))).toThrow(expect.objectContaining({ name: "StoreError", code: "ENOTDIR" }));
  });

  it("keeps every commit that resolved when the process is killed", async () => {
    const source = new URL("../../../../src/adapters/storage/lmdb-store.ts", import.meta.url).href;
    const script = `import { writeSync } from "node:fs";
      import { openLmdbStore } from ${JSON.stringify(source)};
      const store = openLmdbStore({ path: ${JSON.stringify(folder)}, tables: ["a"] });
      for (let n = 0; n < 256; n++) {
        await store.commit([{ table: "a", key: Uint8Array.of(n), value: new Uint8Array(3000).fill(n) }]);
        writeSync(1, Buffer.of(n));
      }`;
    const child = spawn(process.execPath, ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", script], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let acknowledged = 0;
    await new Promise((resolve) => {
      child.stdout.on("data", (data: Buffer) => {
        acknowledged += data.length;
        if (acknowledged > 40) child.kill("SIGKILL");
      });
      child.once("close", resolve);
    });
    const store = openAt(folder);
    const found = store.range("a", { from: key(), to: key(255) });
    expect(found.length).toBeGreaterThanOrEqual(Math.min(acknowledged, 255));
    expect(found.every(({ key: [at], value }, index) => at === index && value[2999] === at)).toBe(true);
    await store.close();
  });

  it("keeps what was flushed later when the process is killed, and what was synced after a loss of power", async () => {
    const source = new URL("../../../../src/adapters/storage/lmdb-store.ts", import.meta.url).href;
    const script = `import { openLmdbStore } from ${JSON.stringify(source)};
      const store = openLmdbStore({ path: ${JSON.stringify(folder)}, tables: ["a"] });
      for (let n = 0; n < 120; n++)
        await store.commit([{ table: "a", key: Uint8Array.of(n), value: new Uint8Array(3000).fill(n) }], { flushLater: true, sync: n === 79 });
      process.kill(process.pid, "SIGKILL");`;
    const child = spawn(process.execPath, ["--import", "./scripts/typescript-loader.mjs", "--input-type=module", "-e", script], {
      stdio: ["ignore", "inherit", "inherit"],
    });
    expect(await new Promise((resolve) => child.once("close", (_, signal) => resolve(signal)))).toBe("SIGKILL");
    const readAll = async () => {
      const store = openAt(folder);
      const found = store.range("a", { from: key(), to: key(255) });
      await store.close();
      expect(found.every(({ key: [at], value }, index) => at === index && value[2999] === at)).toBe(true);
      return found.length;
    };
    cpSync(folder, `${folder}-power`, { recursive: true });
    expect(await readAll()).toBe(120);
    rmSync(folder, { recursive: true });
    cpSync(`${folder}-power`, folder, { recursive: true });
    rmSync(`${folder}-power`, { recursive: true });
    // With this the library takes the newest transaction whose flush it knows of, as it does after the machine was started anew.
    vi.stubEnv("LMDB_RESTORE", "safe");
    const flushed = await readAll().finally(() => vi.unstubAllEnvs());
    expect(flushed).toBeGreaterThanOrEqual(80);
  });

  it.runIf(canMountHere())("refuses commits on a full disk whole, and works again when there is room", async () => {
    const mount = join(folder, "small");
    mkdirSync(mount);
    execFileSync("mount", ["-t", "tmpfs", "-o", "size=12m", "tmpfs", mount]);
    const store = openAt(join(mount, "lmdb"));
    const fill = async (from: number, to: number) => {
      const refused: unknown[] = [];
      for (let n = from; n < to; n++)
        await store
          .commit([put("a", key(n), new Uint8Array(200_000).fill(n)), put("b", key(n), key(n))])
          .catch((error: unknown) => refused.push(error));
      for (const error of refused) expect(error).toMatchObject({ name: "StoreError", code: "ENOSPC", retryable: true });
      return refused.length;
    };
    const stored = (table: string) => store.range(table, { from: key(), to: key(255) }).map((entry) => entry.key[0]);
    try {
      expect(await fill(0, 60)).toBeGreaterThan(10);
      expect(stored("a").length).toBeGreaterThan(10);
      expect(stored("b")).toEqual(stored("a"));
      await expect(store.commit([put("a", key(250), new Uint8Array(4_000_000))])).rejects.toThrow(
        expect.objectContaining({ code: "ENOSPC", retryable: true }),
      );

      await store.deleteRange("a", key(0), key(20), 5); // what makes room needs some itself
      expect(await fill(60, 62)).toBe(0);
      execFileSync("mount", ["-o", "remount,size=24m", mount]);
      expect(await fill(62, 70)).toBe(0);
      await store.commit([put("a", key(250), new Uint8Array(4_000_000))], { sync: true });
    } finally {
      await store.close();
      execFileSync("umount", [mount]);
    }
  });
});

describe("memory store", () => {
  it("fails whole commits on demand and loses those under way when killed", async () => {
    const store = new MemoryStore({ tables: TABLES, seed: 1, delayTurnsMax: 3 });
    store.failNext("ENOSPC");
    await expect(store.commit([put("a", key(1), key(1))])).rejects.toThrow(expect.objectContaining({ code: "ENOSPC", retryable: true }));
    store.failAll("EIO");
    await expect(store.commit([put("a", key(1), key(1))])).rejects.toThrow(StoreError);
    store.failAll(undefined);
    await store.commit([put("a", key(2), key(2))]);
    void store.commit([put("a", key(3), key(3))]);
    store.kill();
    await new Promise((resolve) => setImmediate(resolve));
    const next = new MemoryStore({ tables: TABLES, contents: store.contents });
    expect(next.range("a", { from: key(), to: key(255) }).map((entry) => entry.key[0])).toEqual([2]);
  });
});
