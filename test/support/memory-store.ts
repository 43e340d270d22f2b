/**
 * The key-value store in memory with the behaviour of the real one, for simulations: commits become visible later, in order, after a number
 * of microtask turns that a seed decides; they can be made to fail; `kill` loses what was not yet committed and keeps the rest.
 */

import type {
  CommitOptions,
  KeyValueStore,
  StoreEntry,
  StoreOperation,
  StoreRange,
  StoreStats,
} from "../../src/adapters/storage/key-value-store.ts";
import { StoreError } from "../../src/adapters/storage/key-value-store.ts";
import { firstIndex } from "../../src/core/collections/sorted-search.ts";
import { KEY_BYTES_MAX } from "../../src/core/config/key-limits.ts";

/** A commit of more has the keys sorted anew: each that is put between others moves those behind it. */
const OPERATIONS_SORTED_MAX = 100;

export interface MemoryStoreOptions {
  readonly tables: ReadonlyArray<string>;
  /** Seed of the delays; without one every commit takes one turn. */
  readonly seed?: number;
  /** Most turns that a commit takes beyond one. */
  readonly delayTurnsMax?: number;
  /** Waits one turn; a simulation passes its own clock's. */
  readonly turn?: () => Promise<void>;
  /** What the previous store of this disk left: its `contents`. */
  readonly contents?: MemoryStoreContents;
}

/** Tables of entries by key in Latin-1, which sorts as its bytes do. */
export type MemoryStoreContents = Map<string, Map<string, Uint8Array>>;

export class MemoryStore implements KeyValueStore {
  /** What is committed; hand it to the next store to simulate a restart. */
  readonly contents: MemoryStoreContents;
  /** Commits that succeeded so far. */
  commits = 0;
  /** Calls of trim so far. */
  trims = 0;
  readonly #options: MemoryStoreOptions;
  readonly #failures: string[] = [];
  readonly #failed = new Set<string>();
  /** Keys of tables that were read, in order, while nothing else changes them. */
  readonly #sorted = new Map<string, string[]>();
  #trimFailure: string | undefined;
  #operationsMax = Number.POSITIVE_INFINITY;
  #random: number;
  #last: Promise<unknown> = Promise.resolve();
  #state: "open" | "closed" | "killed" = "open";

  constructor(options: MemoryStoreOptions) {
    this.#options = options;
    this.#random = options.seed ?? 1;
    this.contents = options.contents ?? new Map();
    for (const table of options.tables) if (!this.contents.has(table)) this.contents.set(table, new Map());
  }

  /** Lets the next commit fail with a code such as "ENOSPC"; calls queue up. */
  failNext(code: string): void {
    this.#failures.push(code);
  }

  /** Lets every commit fail with the code until it is called with undefined. */
  failAll(code: string | undefined): void {
    this.#failed.clear();
    if (code !== undefined) this.#failed.add(code);
  }

  /** Lets the next call of trim fail. */
  failTrim(code: string): void {
    this.#trimFailure = code;
  }

  /** The disk is full, but for commits of so many operations. */
  limitCommits(operationsMax: number): void {
    this.#operationsMax = operationsMax;
  }

  /** The process is gone: commits under way neither apply nor resolve. */
  kill(): void {
    this.#state = "killed";
  }

  get(table: string, key: Uint8Array): Uint8Array | undefined {
    assertKey(key);
    return this.#table(table).get(text(key))?.slice();
  }

  range(table: string, { from, to, reverse = false, limit }: StoreRange): StoreEntry[] {
    if (from.length > 0) assertKey(from);
    assertKey(to);
    const rows = this.#table(table);
    const keys = this.#keys(table);
    const [first, end] = [placeOf(keys, text(from)), placeOf(keys, text(to))];
    const count = Math.max(0, Math.min(end - first, limit ?? Number.POSITIVE_INFINITY));
    const inside = reverse ? keys.slice(end - count, end).reverse() : keys.slice(first, first + count);
    return inside.map((key) => ({ key: bytes(key), value: (rows.get(key) as Uint8Array).slice() }));
  }

  async commit(operations: ReadonlyArray<StoreOperation>, _options?: CommitOptions): Promise<void> {
    for (const { table, key } of operations) {
      assertKey(key);
      this.#table(table);
    }
    const own = this.#last.then(() => this.#delay()).then(() => this.#apply(operations));
    this.#last = own.catch(() => undefined);
    return own;
  }

  async deleteRange(table: string, from: Uint8Array, to: Uint8Array, limitPerStep: number): Promise<number> {
    if (!(limitPerStep >= 1)) throw new RangeError("a step deletes at least one key");
    let deleted = 0;
    for (;;) {
      const entries = this.range(table, { from, to, limit: limitPerStep });
      await this.commit(entries.map(({ key }) => ({ table, key, value: undefined })));
      deleted += entries.length;
      if (entries.length < limitPerStep) return deleted;
    }
  }

  stats(): StoreStats {
    let usedBytes = 0;
    for (const table of this.#options.tables) for (const [key, value] of this.#table(table)) usedBytes += key.length + value.length;
    return { mapBytes: 1024 ** 3, usedBytes, diskBytes: usedBytes };
  }

  async trim(): Promise<boolean> {
    this.trims += 1;
    const code = this.#trimFailure;
    this.#trimFailure = undefined;
    if (code !== undefined) throw new StoreError("give room back", code);
    return false;
  }

  async close(): Promise<void> {
    if (this.#state === "open") this.#state = "closed";
    await this.#last;
  }

  #table(name: string): Map<string, Uint8Array> {
    if (this.#state !== "open") throw new StoreError("use the store", "CLOSED");
    const table = this.#options.tables.includes(name) ? this.contents.get(name) : undefined;
    if (table === undefined) throw new RangeError(`the store has no table ${name}`);
    return table;
  }

  /** Keys of a table in order. */
  #keys(table: string): string[] {
    const rows = this.#table(table);
    const known = this.#sorted.get(table);
    if (known?.length === rows.size) return known;
    const keys = [...rows.keys()].sort();
    this.#sorted.set(table, keys);
    return keys;
  }

  /** Puts a row, or deletes it where there is no value. */
  #write(table: string, key: string, value: Uint8Array | undefined): void {
    const rows = this.contents.get(table);
    const keys = this.#sorted.get(table);
    const isChange = rows?.has(key) === (value === undefined);
    if (value === undefined) rows?.delete(key);
    else rows?.set(key, Uint8Array.from(value));
    if (keys !== undefined && isChange) keys.splice(placeOf(keys, key), value === undefined ? 1 : 0, ...(value === undefined ? [] : [key]));
  }

  async #delay(): Promise<void> {
    const turn = this.#options.turn ?? (() => Promise.resolve());
    const turns = 1 + (this.#options.seed === undefined ? 0 : this.#nextRandom() % ((this.#options.delayTurnsMax ?? 8) + 1));
    for (let index = 0; index < turns; index++) await turn();
  }

  #apply(operations: ReadonlyArray<StoreOperation>): Promise<void> | void {
    if (this.#state === "killed") return new Promise(() => undefined);
    const [always] = this.#failed;
    const code = this.#failures.shift() ?? always;
    if (code !== undefined) throw new StoreError("commit", code);
    if (operations.length > this.#operationsMax) throw new StoreError("commit", "ENOSPC");
    if (operations.length > OPERATIONS_SORTED_MAX) this.#sorted.clear();
    for (const { table, key, value } of operations) this.#write(table, text(key), value);
    this.commits += 1;
  }

  /** A linear congruential sequence (Numerical Recipes); its upper bits. */
  #nextRandom(): number {
    this.#random = (Math.imul(this.#random, 1_664_525) + 1_013_904_223) >>> 0;
    return this.#random >>> 16;
  }
}

/** The place of the first key that is not below `key`. */
function placeOf(keys: readonly string[], key: string): number {
  return firstIndex(0, keys.length, (place) => (keys[place] as string) < key);
}

function assertKey(key: Uint8Array): void {
  if (key.length === 0 || key.length > KEY_BYTES_MAX) throw new RangeError(`a key has 1 to ${KEY_BYTES_MAX} bytes, not ${key.length}`);
}

function text(key: Uint8Array): string {
  return Buffer.from(key.buffer, key.byteOffset, key.byteLength).toString("latin1");
}

function bytes(key: string): Uint8Array {
  return Uint8Array.from(Buffer.from(key, "latin1"));
}
