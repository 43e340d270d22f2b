// A packed store reads as the store beside it that is not packed, whatever is put, deleted, packed and begun anew, and so it does when a commit fails or the process ends in the middle of one.
import { randomBytes } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { StoreEntry, StoreOperation } from "../../../../src/adapters/storage/key-value-store.ts";
import { packRows, readPackHead, unpackRows } from "../../../../src/adapters/storage/packed-rows.ts";
import { PackedStore } from "../../../../src/adapters/storage/packed-store.ts";
import { PACK_BYTES_MAX, PACK_DUE_ROWS, PACK_RUN_ROWS_MIN } from "../../../../src/core/config/pack-limits.ts";
import { MemoryStore, type MemoryStoreContents } from "../../../support/memory-store.ts";

const TABLES = ["rows", "packs", "others"];
const END = new Uint8Array(8).fill(0xff);
const ALL = { from: new Uint8Array(0), to: END };
const SETTLED = 1;

function packedOver(store: MemoryStore): PackedStore {
  return new PackedStore(store, [{ table: "rows", packs: "packs", isSettled: (value) => value[0] === SETTLED }]);
}

function keyOf(number: number): Uint8Array {
  return Uint8Array.of(number % 3, number >> 8, number & 0xff, ...Array.from({ length: number % 5 }, () => 7));
}

function bytesOf(seed: number, isSettled = true): Uint8Array {
  return Uint8Array.from({ length: 2 + ((seed * 31) % 200) }, (_, at) => (at === 0 ? Number(isSettled) : (seed + at) & 0xff));
}

const put = (number: number, value: Uint8Array | undefined): StoreOperation => ({ table: "rows", key: keyOf(number), value });
/** Rows as text, a line each: two texts are compared at once, two lists entry by entry. */
const shown = (entries: readonly StoreEntry[]) =>
  entries.map(({ key, value }) => `${Buffer.from(key).toString("hex")} ${Buffer.from(value).toString("hex")}`).join("\n");

/** Steps until nothing is due, or so many. */
async function pack(store: PackedStore, most = 10_000): Promise<void> {
  for (let steps = 0; steps < most && (await store.trim()); steps++);
}

const NUMBER = fc.integer({ min: 0, max: 1_499 });
const ACTION = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("put" as const),
      from: NUMBER,
      count: fc.integer({ min: 1, max: 400 }),
      seed: NUMBER,
      settled: fc.boolean(),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("delete" as const),
      from: NUMBER,
      count: fc.integer({ min: 1, max: 120 }),
      step: fc.integer({ min: 1, max: 7 }),
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("pack" as const), steps: fc.integer({ min: 1, max: 20 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("fail" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("kill" as const) }) },
);

/** One whose commits take a while, as a disk's do. */
class SlowStore extends MemoryStore {
  override async commit(...given: Parameters<MemoryStore["commit"]>): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    return super.commit(...given);
  }
}

describe("packed store", () => {
  it("lets go each row that is deleted while another of its pack is", async () => {
    const store = packedOver(new SlowStore({ tables: TABLES }));
    await store.commit(Array.from({ length: 2 * PACK_DUE_ROWS }, (_, number) => put(number, bytesOf(number))));
    await pack(store);
    const rows = store.range("rows", ALL);
    const deleted = rows.slice(0, 4).map(({ key }) => store.commit([{ table: "rows", key, value: undefined }]));
    await Promise.all(deleted);
    expect(shown(store.range("rows", ALL))).toBe(shown(rows.slice(4)));
  });

  it("reads as one that is not packed", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(ACTION, { minLength: 3, maxLength: 25 }),
        fc.array(fc.tuple(NUMBER, NUMBER, fc.boolean(), fc.integer({ min: 1, max: 600 })), { maxLength: 8 }),
        async (actions, ranges) => {
          const plain = new MemoryStore({ tables: ["rows"] });
          let contents: MemoryStoreContents = new Map();
          let memory = new MemoryStore({ tables: TABLES, contents, seed: 3 });
          let store = packedOver(memory);
          for (const action of actions) {
            if (action.kind === "pack") await pack(store, action.steps);
            else if (action.kind === "fail") {
              memory.failNext("ENOSPC");
              await store.commit([put(1, bytesOf(1))]).catch(() => undefined);
            } else if (action.kind === "kill") {
              // A step may be under way, of which nothing or all is there afterwards.
              const step = store.trim();
              step.catch(() => undefined);
              await Promise.resolve();
              memory.kill();
              contents = memory.contents;
              memory = new MemoryStore({ tables: TABLES, contents, seed: 5 });
              store = packedOver(memory);
            } else {
              const operations =
                action.kind === "put"
                  ? Array.from({ length: action.count }, (_, at) =>
                      put((action.from + at) % 1_500, bytesOf(action.seed + at, action.settled || at % 3 > 0)),
                    )
                  : Array.from({ length: action.count }, (_, at) => put((action.from + at * action.step) % 1_500, undefined));
              await plain.commit(operations);
              await store.commit(operations);
            }
            expect(shown(store.range("rows", ALL))).toBe(shown(plain.range("rows", ALL)));
          }
          for (const [a, b, reverse, limit] of ranges) {
            const [from, to] = [keyOf(a), keyOf(b)];
            const range = Buffer.compare(from, to) < 0 ? { from, to, reverse, limit } : { from: to, to: from, reverse, limit };
            expect(shown(store.range("rows", range))).toBe(shown(plain.range("rows", range)));
            expect(store.get("rows", from)).toEqual(plain.get("rows", from));
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  it("shows every row once while a step is under way", async () => {
    const store = packedOver(new MemoryStore({ tables: TABLES, seed: 1, delayTurnsMax: 3 }));
    const rows = Array.from({ length: 300 }, (_, at) => put(at, bytesOf(at)));
    await store.commit(rows);
    const before = shown(store.range("rows", ALL));
    let isDone = false;
    const packing = pack(store).then(() => {
      isDone = true;
    });
    while (!isDone) {
      expect(shown(store.range("rows", ALL))).toBe(before);
      await Promise.resolve();
    }
    await packing;
    expect(store.range("packs", ALL).length).toBeGreaterThan(0);
  });

  it("takes a commit that comes during a step behind it", async () => {
    const store = packedOver(new MemoryStore({ tables: TABLES, seed: 1, delayTurnsMax: 3 }));
    await store.commit(Array.from({ length: 200 }, (_, at) => put(at, bytesOf(at))));
    const step = store.trim();
    await Promise.all([store.commit([put(5, bytesOf(900))]), store.commit([put(6, undefined)]), step]);
    await pack(store);
    expect([store.get("rows", keyOf(5)), store.get("rows", keyOf(6))]).toEqual([bytesOf(900), undefined]);
  });

  it("packs many rows, or some that no more have joined, and leaves a few and those that may change", async () => {
    const memory = new MemoryStore({ tables: TABLES });
    const store = packedOver(memory);
    const left = () => memory.range("rows", ALL).length;
    await store.commit(Array.from({ length: PACK_RUN_ROWS_MIN - 1 }, (_, at) => put(3 * at, bytesOf(at))));
    await pack(store);
    expect(left()).toBe(PACK_RUN_ROWS_MIN - 1);
    await store.commit(Array.from({ length: PACK_DUE_ROWS }, (_, at) => put(3 * (200 + at), bytesOf(at))));
    await pack(store);
    expect(left()).toBeLessThan(PACK_RUN_ROWS_MIN);
    const before = left();
    await store.commit(Array.from({ length: PACK_RUN_ROWS_MIN }, (_, at) => put(3 * (60 + at), bytesOf(at, false))));
    await store.trim();
    expect(left()).toBe(before + PACK_RUN_ROWS_MIN);
    // Those too once nothing has come for a while.
    for (let looks = 0; looks < 3; looks++) await pack(store);
    expect(left()).toBeLessThan(PACK_RUN_ROWS_MIN);
    expect(store.range("rows", ALL)).toHaveLength(PACK_DUE_ROWS + 2 * PACK_RUN_ROWS_MIN - 1);
  });
});

describe("pack", () => {
  it("gives its rows back, and says how many and how large they are", () => {
    const rows = Array.from({ length: 500 }, (_, at) => ({
      key: Uint8Array.of(at >> 8, at & 0xff),
      value: new Uint8Array(randomBytes(at % 90)),
    }));
    const bytes = packRows(rows);
    expect(shown(unpackRows(bytes))).toBe(shown(rows));
    expect(readPackHead(bytes)).toMatchObject({ rows: 500, last: Uint8Array.of(1, 243) });
    expect(readPackHead(bytes).bytes).toBeLessThan(PACK_BYTES_MAX);
  });

  it("of another version is refused", () => {
    const bytes = packRows([{ key: Uint8Array.of(1), value: Uint8Array.of(2) }]);
    bytes[0] = 2;
    expect(() => unpackRows(bytes)).toThrow("version 2");
  });
});
