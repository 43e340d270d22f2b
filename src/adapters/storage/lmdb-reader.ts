/**
 * A store of this process as another of its threads reads it: lmdb-js shares one environment among threads, each with read transactions of its own. A transaction
 * holds the pages that it sees, and the file grows by what is written meanwhile: it is renewed before a read that comes later than READ_TRANSACTION_MS after the
 * last renewal, and by whoever is about to look for what was committed just now.
 */
import { join } from "node:path";
import type { Database, RootDatabase } from "lmdb";
import { open } from "lmdb";
import { READ_TRANSACTION_MS } from "../../core/config/promql-limits.ts";
import { type StoreEntry, StoreError, type StoreRange, type StoreReader } from "./key-value-store.ts";
import { DATA_FILE } from "./lmdb-file.ts";
import { DamagedValueError, TableSeal } from "./value-seal.ts";

const BINARY = { keyEncoding: "binary", encoding: "binary" } as const;

export interface LmdbReaderOptions {
  /** Folder of the environment, which another thread has opened. */
  readonly path: string;
  readonly tables: readonly string[];
  monotonicMs(): number;
}

interface Table {
  readonly rows: Database<Uint8Array, Uint8Array>;
  readonly seal: TableSeal;
}

/** One thread's reader of a store. */
export class LmdbReader implements StoreReader {
  readonly #options: LmdbReaderOptions;
  readonly #root: RootDatabase<Uint8Array, Uint8Array>;
  readonly #tables: ReadonlyMap<string, Table>;
  #renewedMs: number;

  /** Throws StoreError where the environment cannot be opened. */
  constructor(options: LmdbReaderOptions) {
    const { path, tables } = options;
    this.#options = options;
    try {
      const root = open<Uint8Array, Uint8Array>({ ...BINARY, path, noSubdir: false, maxDbs: tables.length + 2, readOnly: true });
      this.#root = root;
      this.#tables = new Map(tables.map((name) => [name, { rows: root.openDB({ ...BINARY, name }), seal: new TableSeal(name) }]));
    } catch (error) {
      throw new StoreError("open the store for reading", "UNREADABLE", error);
    }
    this.#renewedMs = options.monotonicMs();
  }

  /** From the next read on what has been committed is seen, and pages that only the last transaction saw may be used again. */
  renew(): void {
    this.#renewedMs = this.#options.monotonicMs();
    (this.#root as unknown as { resetReadTxn(): void }).resetReadTxn();
  }

  get(table: string, key: Uint8Array): Uint8Array | undefined {
    this.#renewInTime();
    const stored = this.#table(table).rows.getBinary(key);
    return stored && this.#open(table, key, stored);
  }

  range(table: string, { from, to, reverse = false, limit }: StoreRange): StoreEntry[] {
    this.#renewInTime();
    const first = from.length === 0 ? Uint8Array.of(0) : from;
    const bounds = reverse ? { start: to, end: first, exclusiveStart: true, inclusiveEnd: true, reverse } : { start: first, end: to };
    const entries = this.#table(table).rows.getRange({ ...bounds, ...(limit !== undefined && { limit }) });
    return Array.from(entries, ({ key, value }) => ({ key, value: this.#open(table, key, value) }));
  }

  async close(): Promise<void> {
    await this.#root.close();
  }

  #renewInTime(): void {
    if (this.#options.monotonicMs() - this.#renewedMs >= READ_TRANSACTION_MS) this.renew();
  }

  #table(name: string): Table {
    const table = this.#tables.get(name);
    if (table === undefined) throw new RangeError(`the reader has no table ${name}`);
    return table;
  }

  #open(table: string, key: Uint8Array, stored: Uint8Array): Uint8Array {
    const value = this.#table(table).seal.open(key, stored);
    if (value !== undefined) return value;
    throw new DamagedValueError(join(this.#options.path, DATA_FILE), table, key, "it is not what was written");
  }
}
