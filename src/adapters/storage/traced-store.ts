// A store that remembers which row was looked at last: what a start throws over is that row's fault.
import type { CommitOptions, KeyValueStore, StoreEntry, StoreOperation, StoreRange, StoreStats } from "./key-value-store.ts";

/** A row and where it is. */
export interface TracedRow extends StoreEntry {
  readonly store: KeyValueStore;
  readonly table: string;
}

/** The row that was looked at last, of all stores that share it. */
export class RowTrace {
  #store: KeyValueStore | undefined;
  #table = "";
  #key: Uint8Array = new Uint8Array(0);
  #value: Uint8Array = new Uint8Array(0);

  get row(): TracedRow | undefined {
    return this.#store && { store: this.#store, table: this.#table, key: this.#key, value: this.#value };
  }

  /** Nothing is made for it: some thousand rows are looked at for each commit. */
  note(store: KeyValueStore, table: string, key: Uint8Array, value: Uint8Array): void {
    this.#store = store;
    this.#table = table;
    this.#key = key;
    this.#value = value;
  }

  clear(): void {
    this.#store = undefined;
  }
}

/** Passes everything on to `store`. */
export class TracedStore implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #trace: RowTrace;

  constructor(store: KeyValueStore, trace: RowTrace) {
    this.#store = store;
    this.#trace = trace;
  }

  get(table: string, key: Uint8Array): Uint8Array | undefined {
    const value = this.#store.get(table, key);
    if (value !== undefined) this.#trace.note(this.#store, table, key, value);
    return value;
  }

  range(table: string, range: StoreRange): StoreEntry[] {
    const entries = this.#store.range(table, range);
    const [first] = entries;
    if (first !== undefined) this.noteRow(table, first);
    return entries;
  }

  noteRow(table: string, { key, value }: StoreEntry): void {
    this.#trace.note(this.#store, table, key, value);
  }

  commit(operations: ReadonlyArray<StoreOperation>, options?: CommitOptions): Promise<void> {
    return this.#store.commit(operations, options);
  }

  deleteRange(table: string, from: Uint8Array, to: Uint8Array, limitPerStep: number): Promise<number> {
    return this.#store.deleteRange(table, from, to, limitPerStep);
  }

  stats(): StoreStats {
    return this.#store.stats();
  }

  trim(): Promise<boolean> {
    return this.#store.trim();
  }

  close(): Promise<void> {
    return this.#store.close();
  }
}
