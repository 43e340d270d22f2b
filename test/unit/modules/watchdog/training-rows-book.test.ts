// The table of vectors that trainings keep: what is read is what was kept, whatever a crash has left half written; shares, and what goes.
import { describe, expect, it } from "vitest";
import { SERIES_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { StoreError } from "../../../../src/adapters/storage/key-value-store.ts";
import { TRAINING_ROWS_PART_BYTES } from "../../../../src/core/config/model-limits.ts";
import { PacedWork } from "../../../../src/core/fairness/paced-work.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { keepRows } from "../../../../src/modules/watchdog/training/training-past.ts";
import { type RowsOwner, TrainingRowsBook } from "../../../../src/modules/watchdog/training/training-rows-book.ts";
import { expireTrainingRows } from "../../../../src/modules/watchdog/watchdog-module.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const DAY_MS = 86_400_000;
const NOW_MS = Date.UTC(2026, 10, 26);
const COLUMNS = "ab".repeat(16);
const SHOP: RowsOwner = { tenant: "default", service: "0f".repeat(16) };
const OTHER: RowsOwner = { tenant: "other", service: "1f".repeat(16) };

const bytesOf = (length: number, seed: number) => Uint8Array.from({ length }, (_, i) => (i * 31 + seed) & 0xff);
/** Vitest compares element by element, which takes seconds of megabytes. */
const textOf = (bytes: Uint8Array | undefined) => bytes && Buffer.from(bytes).toString("latin1");
const paced = () => new PacedWork({ share: 1, pieceMs: 1 }, { monotonicMs: () => 0, sleep: () => Promise.resolve() });

function rig(store = new MemoryStore({ tables: SERIES_TABLES }), most = Number.MAX_SAFE_INTEGER) {
  const book = new TrainingRowsBook(new ShareLedger({ most, tenants: () => 2 }));
  book.load(store);
  // biome-ignore lint/suspicious/noExplicitAny: nothing else of the state is read
  const state = { series: store, trainingRows: book } as any;
  const keep = (owner: RowsOwner, bytes: Uint8Array, storedMs = NOW_MS, commitsMax = Number.POSITIVE_INFINITY) => {
    let left = commitsMax;
    const edit = <T>(work: () => Promise<T>) => (left-- > 0 ? work() : Promise.reject(new StoreError("write", "EIO")));
    return keepRows(owner, { rows: bytes.length, bytes, storedMs, columns: COLUMNS }, { state, edit, paced: paced() });
  };
  const read = (owner: RowsOwner) => {
    const kept = book.find(owner.tenant, owner.service);
    if (kept === undefined) return undefined;
    const parts = book.read(store, kept);
    for (;;) {
      const part = parts.next();
      if (part.done === true) return textOf(part.value);
    }
  };
  const expire = async (retentionMs: number, wallNowMs = NOW_MS) => {
    for (const { operations, apply } of expireTrainingRows({ state }, { retainedFromMs: wallNowMs - retentionMs, wallNowMs })) {
      await store.commit(operations);
      apply();
    }
  };
  return { store, book, keep, read, expire, size: () => store.contents.get("training_rows")?.size };
}

const LARGE = bytesOf(5 * TRAINING_ROWS_PART_BYTES + 7, 1);

describe("vectors that trainings keep", () => {
  it("are read as they were kept, after a restart too, and take the place of those before", async () => {
    const { store, keep, read, size } = rig();
    expect(await keep(SHOP, LARGE)).toBe(true);
    expect(read(SHOP)).toBe(textOf(LARGE));
    expect(size()).toBe(1 + 6);
    const again = rig(store);
    expect(again.read(SHOP)).toBe(textOf(LARGE));
    expect(again.book.find(SHOP.tenant, SHOP.service)).toMatchObject({ columns: COLUMNS, storedMs: NOW_MS, bytes: LARGE.length });
    const small = bytesOf(100, 2);
    await again.keep(SHOP, small);
    expect([again.read(SHOP), again.size(), again.book.size, again.book.shares.taken]).toEqual([textOf(small), 2, 1, 100]);
    expect(read(OTHER)).toBeUndefined();
  });

  it("are those before while new ones are half written, wherever it ends", async () => {
    const { store, keep } = rig();
    await keep(SHOP, LARGE);
    for (let commits = 0; commits < 4; commits++) {
      const next = bytesOf(6 * TRAINING_ROWS_PART_BYTES, 3);
      await expect(rig(store).keep(SHOP, next, NOW_MS, commits)).rejects.toThrow(StoreError);
      expect(rig(store).read(SHOP)).toBe(textOf(LARGE));
    }
    const next = bytesOf(3 * TRAINING_ROWS_PART_BYTES, 4);
    await rig(store).keep(SHOP, next);
    expect(rig(store).read(SHOP)).toBe(textOf(next));
  });

  it("of a first training that did not come to its end are none, and go", async () => {
    const { store, keep } = rig();
    await expect(keep(SHOP, LARGE, NOW_MS, 2)).rejects.toThrow(StoreError);
    const again = rig(store);
    expect(again.read(SHOP)).toBeUndefined();
    expect(again.book.shares.taken).toBe(0);
    await again.expire(30 * DAY_MS);
    expect([again.size(), again.book.size]).toEqual([0, 0]);
  });

  it("are none where a part is missing", async () => {
    const { store, keep } = rig();
    await keep(SHOP, LARGE);
    const [key] = [...(store.contents.get("training_rows") as Map<string, Uint8Array>).keys()].slice(3);
    store.contents.get("training_rows")?.delete(key as string);
    expect(rig(store).read(SHOP)).toBeUndefined();
  });

  it("find room up to the bytes of all, of which each tenant has a share", async () => {
    const { keep, read, book } = rig(undefined, 1_000);
    expect(await keep(SHOP, bytesOf(600, 1))).toBe(true);
    expect(await keep({ ...SHOP, service: "aa".repeat(16) }, bytesOf(600, 2))).toBe(false);
    // What others have not used of their shares is theirs.
    expect(await keep(OTHER, bytesOf(60, 3))).toBe(true);
    expect(await keep(SHOP, bytesOf(2_000, 4))).toBe(false);
    expect(read(SHOP)).toBe(textOf(bytesOf(600, 1)));
    expect(book.shares.refused("default")).toBeGreaterThan(0);
  });

  it("go with what is not trained any more, and no earlier than a service that is would be trained", async () => {
    const { keep, expire, book, size } = rig();
    await keep(SHOP, LARGE, NOW_MS - 31 * DAY_MS);
    await keep(OTHER, LARGE, NOW_MS - 3 * DAY_MS);
    await expire(1 * DAY_MS, NOW_MS);
    expect([book.find(SHOP.tenant, SHOP.service), book.find(OTHER.tenant, OTHER.service)?.storedMs]).toEqual([
      undefined,
      NOW_MS - 3 * DAY_MS,
    ]);
    expect(size()).toBe(1 + 6);
    expect(book.shares.taken).toBe(LARGE.length);
  });
});
