// Rows of the ledger gather, are stored once each, and are read while they wait.
import { describe, expect, it } from "vitest";
import { SERIES_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { LEDGER_GATHER_MS_MAX, LEDGER_ROWS_GATHERED_MAX } from "../../../../src/core/config/limits.ts";
import { LedgerBook, ledgerRowId } from "../../../../src/modules/alerts/ledger-book.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const ID = "ab".repeat(16);
const decision = new PagingRig().fire({ anomalyId: ID });
const rows = (count: number, from = 0) => Array.from({ length: count }, (_, i) => ({ id: ledgerRowId(ID, from + i), decision }));

function makeBook() {
  const store = new MemoryStore({ tables: SERIES_TABLES });
  return { store, book: new LedgerBook(store) };
}

describe("rows of the ledger", () => {
  it("are due when there are many, or the first has waited for long", () => {
    const { book } = makeBook();
    expect(book.isDue(START + 1e6)).toBe(false);
    book.add(rows(LEDGER_ROWS_GATHERED_MAX - 1));
    expect(book.isDue(START + LEDGER_GATHER_MS_MAX - 1)).toBe(false);
    expect(book.isDue(START + LEDGER_GATHER_MS_MAX)).toBe(true);
    book.add(rows(1, LEDGER_ROWS_GATHERED_MAX));
    expect(book.isDue(START)).toBe(true);
  });

  it("are found while they wait and once they are stored, and counted then", async () => {
    const { store, book } = makeBook();
    book.add(rows(3));
    expect([book.isWaiting, book.counts.size]).toEqual([true, 0]);
    expect(book.find("default", START, ledgerRowId(ID, 1))).toEqual(decision);
    await book.store();
    expect([book.isWaiting, book.counts.size, store.commits]).toEqual([false, 3, 1]);
    expect(book.find("default", START, ledgerRowId(ID, 1))).toEqual(decision);
    await book.store();
    expect(store.commits).toBe(1);
  });

  it("that came while others were stored wait on, and are stored once", async () => {
    const { store, book } = makeBook();
    book.add(rows(2));
    const operations = book.operations();
    book.add(rows(1, 2));
    await store.commit(operations);
    book.stored();
    expect([book.isWaiting, book.counts.size]).toEqual([true, 2]);
    book.stored();
    expect(book.counts.size).toBe(2);
    await book.store();
    expect([book.isWaiting, book.counts.size]).toEqual([false, 3]);
  });

  it("wait on where the store refuses them", async () => {
    const { store, book } = makeBook();
    book.add(rows(1));
    store.failNext("ENOSPC");
    await expect(book.store()).rejects.toThrow("ENOSPC");
    expect([book.isWaiting, book.counts.size]).toEqual([true, 0]);
    await book.store();
    expect([book.isWaiting, book.counts.size]).toEqual([false, 1]);
  });
});
