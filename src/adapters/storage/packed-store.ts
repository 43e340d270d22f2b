/**
 * A store some of whose tables are packed: rows that have come to rest leave their table, some hundred at a time, for a pack (packed-rows.ts) in a table beside it, where they take a
 * quarter to two thirds of the bytes. Whoever reads sees one table.
 *
 *  - A row that is put stands in its own table, and hides what a pack holds under its key. One that is deleted leaves its pack in the same commit.
 *  - Packs do not overlap: a row belongs to the last pack that begins at or before it. Where fewer than PACK_RUN_ROWS_MIN rows would join a pack they stay as they are.
 *  - Rows move in one commit, which holds them in both forms or in neither, so that a crash at any time leaves each of them once. It is not flushed for its own sake.
 *
 * `trim` packs, a step a call; nothing else writes during a step. 64 KiB a step take some 3 ms.
 */
import { PACK_BYTES_MAX, PACK_DUE_ROWS, PACK_RUN_ROWS_MIN, PACK_STEP_ROWS_MAX } from "../../core/config/pack-limits.ts";
import { compareKeys } from "../../domain/codec/key.ts";
import type { CommitOptions, KeyValueStore, StoreEntry, StoreOperation, StoreRange, StoreStats } from "./key-value-store.ts";
import { firstFrom, packedRowBytes, packRows, readPackHead, unpackRows } from "./packed-rows.ts";

/** Names of a packed table and of the table that its packs lie in. */
export interface PackedTableOptions {
  readonly table: string;
  readonly packs: string;
  /** Whether a row will hardly change any more; absent where none does. */
  readonly isSettled?: (value: Uint8Array) => boolean;
}

/** A pack that was read. */
interface OpenPack {
  readonly key: Uint8Array;
  readonly rows: readonly StoreEntry[];
}

/** What a step has found. */
interface Run {
  /** Rows that may be packed together. */
  readonly rows: readonly StoreEntry[];
  readonly inspected: number;
  /** Where the next step begins; undefined behind the last row. */
  readonly next: Uint8Array | undefined;
}

const START = new Uint8Array(0);
const END = new Uint8Array(8).fill(0xff);

/** What is known of a packed table. */
class PackedTable {
  readonly table: string;
  readonly packs: string;
  readonly isSettled: (value: Uint8Array) => boolean;
  /** Rows put since the last pass; before the first one nobody knows. */
  put = Number.POSITIVE_INFINITY;
  /** `put` at the last call of `trim`. */
  seen = Number.NaN;
  /** Rows that the last pass has left as they are. */
  left = 0;
  /** Where the pass that is under way goes on; undefined between passes. */
  from: Uint8Array | undefined;
  /** Whether it packs rows too that may change: nothing was put for a while. */
  takesAll = false;
  /** The pack that was read last; none while one is written. */
  open: OpenPack | undefined;
  #writes = 0;

  constructor({ table, packs, isSettled = () => true }: PackedTableOptions) {
    this.table = table;
    this.packs = packs;
    this.isSettled = isSettled;
  }

  /** Has packs written, and what was read of them forgotten: from some moment of it on readers see the new ones. */
  async write(commit: () => Promise<void>): Promise<void> {
    this.#writes++;
    this.open = undefined;
    try {
      await commit();
    } finally {
      this.#writes--;
    }
  }

  /** A pack that was read, by its key. */
  opened({ key, value }: StoreEntry): OpenPack {
    if (this.open !== undefined && compareKeys(this.open.key, key) === 0) return this.open;
    const pack = { key, rows: unpackRows(value) };
    if (this.#writes === 0) this.open = pack;
    return pack;
  }

  /** Whether a pass goes on, or begins: it is worth its looks where many rows came, or some and then no more. */
  isSweepDue(): boolean {
    const isQuiet = this.put === this.seen;
    this.seen = this.put;
    const rested = this.takesAll ? this.put : this.put + this.left;
    const isDue = this.put >= Math.max(PACK_DUE_ROWS, this.left) || (isQuiet && rested >= PACK_RUN_ROWS_MIN);
    if (this.from !== undefined || !isDue) return this.from !== undefined;
    this.from = START;
    this.takesAll = isQuiet;
    this.put = 0;
    this.left = 0;
    return true;
  }
}

export class PackedStore implements KeyValueStore {
  readonly #store: KeyValueStore;
  readonly #tables: ReadonlyMap<string, PackedTable>;
  /** The tables in the order in which they have their turns. */
  readonly #rotation: PackedTable[];
  #committing = 0;
  #packing: Promise<unknown> | undefined;

  constructor(store: KeyValueStore, tables: readonly PackedTableOptions[]) {
    this.#store = store;
    this.#rotation = tables.map((table) => new PackedTable(table));
    this.#tables = new Map(this.#rotation.map((packed) => [packed.table, packed]));
  }

  get(table: string, key: Uint8Array): Uint8Array | undefined {
    const own = this.#store.get(table, key);
    const packed = this.#tables.get(table);
    if (own !== undefined || packed === undefined) return own;
    const rows = this.#packOf(packed, key)?.rows ?? [];
    const row = rows[firstFrom(rows, key)];
    return row !== undefined && compareKeys(row.key, key) === 0 ? Uint8Array.from(row.value) : undefined;
  }

  range(table: string, range: StoreRange): StoreEntry[] {
    const own = this.#store.range(table, range);
    const packed = this.#tables.get(table);
    if (packed === undefined || range.limit === 0) return own;
    const rows = range.reverse === true ? this.#newest(packed, range) : this.#oldest(packed, range);
    return rows.length === 0 ? own : merged(own, rows, range.reverse === true ? -1 : 1).slice(0, range.limit);
  }

  async commit(operations: ReadonlyArray<StoreOperation>, options?: CommitOptions): Promise<void> {
    while (this.#packing !== undefined) await this.#packing.catch(() => undefined);
    this.#committing++;
    try {
      await this.#commit(operations, options);
    } finally {
      this.#committing--;
    }
    for (const { table, value } of operations) {
      const packed = value === undefined ? undefined : this.#tables.get(table);
      if (packed !== undefined) packed.put++;
    }
  }

  #commit(operations: ReadonlyArray<StoreOperation>, options: CommitOptions | undefined): Promise<void> {
    const removals = this.#removals(operations);
    const all = removals.size === 0 ? operations : [...operations, ...[...removals.values()].flat()];
    const commit = () => this.#store.commit(all, options);
    if (removals.size === 0) return commit();
    return this.#writeAlone([...removals.keys()].reduce((inner, packed) => () => packed.write(inner), commit)());
  }

  /** Has all other commits wait for packs that are written by what was read of them before: of two that take a row out each, one would put the other's back. */
  async #writeAlone(packs: Promise<void>): Promise<void> {
    this.#packing = packs;
    try {
      await packs;
    } finally {
      this.#packing = undefined;
    }
  }

  async deleteRange(table: string, from: Uint8Array, to: Uint8Array, limitPerStep: number): Promise<number> {
    if (!this.#tables.has(table)) return this.#store.deleteRange(table, from, to, limitPerStep);
    if (!(limitPerStep >= 1)) throw new RangeError("a step deletes at least one key");
    for (let deleted = 0; ; ) {
      const entries = this.range(table, { from, to, limit: limitPerStep });
      if (entries.length > 0) await this.commit(entries.map(({ key }) => ({ table, key, value: undefined })));
      deleted += entries.length;
      if (entries.length < limitPerStep) return deleted;
    }
  }

  stats(): StoreStats {
    return this.#store.stats();
  }

  async trim(): Promise<boolean> {
    if (this.#committing > 0) return true;
    const due = this.#rotation.find((packed) => packed.isSweepDue());
    if (due === undefined) return this.#store.trim();
    this.#rotation.push(...this.#rotation.splice(this.#rotation.indexOf(due), 1));
    await this.#pack(due);
    return true;
  }

  close(): Promise<void> {
    return this.#store.close();
  }

  /** A step of a pass: the next rows that are worth it. */
  async #pack(packed: PackedTable): Promise<void> {
    for (let looks = 0; looks < PACK_STEP_ROWS_MAX && packed.from !== undefined; ) {
      const { rows, inspected, next } = this.#run(packed, packed.from);
      packed.from = next;
      looks += inspected;
      const isWorth = rows.length >= PACK_RUN_ROWS_MIN;
      packed.left += isWorth ? inspected - rows.length : inspected;
      if (isWorth) return this.#move(packed, rows);
    }
  }

  async #move(packed: PackedTable, rows: readonly StoreEntry[]): Promise<void> {
    const { table, packs } = packed;
    const base = this.#baseOf(packed, rows);
    const pieces = cut(base === undefined ? rows : merged(rows, base.rows, 1));
    const operations = [
      ...pieces.map((piece): StoreOperation => ({ table: packs, key: (piece[0] as StoreEntry).key, value: packRows(piece) })),
      ...rows.map(({ key }): StoreOperation => ({ table, key, value: undefined })),
    ];
    await this.#writeAlone(packed.write(() => this.#store.commit(operations, { flushLater: true })));
  }

  /** Rows from a key on. */
  #run(packed: PackedTable, from: Uint8Array): Run {
    const found = this.#store.range(packed.table, { from, to: END, limit: PACK_STEP_ROWS_MAX });
    const [first] = found;
    if (first === undefined) return { rows: [], inspected: 0, next: undefined };
    const [behind] = this.#store.range(packed.packs, { from: successor(first.key), to: END, limit: 1 });
    const rows: StoreEntry[] = [];
    let bytes = 0;
    let inspected = 0;
    for (const row of found) {
      if (bytes >= PACK_BYTES_MAX || (behind !== undefined && compareKeys(row.key, behind.key) >= 0)) break;
      inspected++;
      if (!packed.takesAll && !packed.isSettled(row.value)) continue;
      bytes += packedRowBytes(row);
      rows.push(row);
    }
    return { rows, inspected, next: successor((found[inspected - 1] as StoreEntry).key) };
  }

  /** The pack that the rows belong to, where it has room or they lie among its rows. */
  #baseOf(packed: PackedTable, rows: readonly StoreEntry[]): OpenPack | undefined {
    const { key } = rows[0] as StoreEntry;
    const [stored] = this.#store.range(packed.packs, { from: START, to: successor(key), reverse: true, limit: 1 });
    if (stored === undefined) return undefined;
    const { bytes, last } = readPackHead(stored.value);
    const isApart = compareKeys(last, key) < 0;
    return isApart && bytes > PACK_BYTES_MAX / 2 ? undefined : { key: stored.key, rows: unpackRows(stored.value) };
  }

  /** By their tables, operations that take deleted rows out of packs. */
  #removals(operations: ReadonlyArray<StoreOperation>): ReadonlyMap<PackedTable, readonly StoreOperation[]> {
    const changed = new Map<PackedTable, Map<string, OpenPack>>();
    for (const { table, key, value } of operations) {
      const packed = value === undefined ? this.#tables.get(table) : undefined;
      const stored = packed && this.#packOf(packed, key);
      if (packed === undefined || stored === undefined) continue;
      const packs = changed.get(packed) ?? new Map<string, OpenPack>();
      const name = Buffer.from(stored.key).toString("latin1");
      const { rows } = packs.get(name) ?? stored;
      const at = firstFrom(rows, key);
      const row = rows[at];
      if (row === undefined || compareKeys(row.key, key) !== 0) continue;
      changed.set(packed, packs.set(name, { key: stored.key, rows: rows.toSpliced(at, 1) }));
    }
    const written = (packed: PackedTable, packs: ReadonlyMap<string, OpenPack>) =>
      [...packs.values()].flatMap(({ key, rows }) => rewritten(packed.packs, key, rows));
    return new Map(Array.from(changed, ([packed, packs]) => [packed, written(packed, packs)]));
  }

  /** The pack that may hold a key. */
  #packOf(packed: PackedTable, key: Uint8Array): OpenPack | undefined {
    const { open } = packed;
    const last = open?.rows.at(-1);
    if (open !== undefined && last !== undefined && compareKeys(open.key, key) <= 0 && compareKeys(key, last.key) <= 0) return open;
    return this.#packBefore(packed, successor(key));
  }

  /** The last pack that begins before a key. */
  #packBefore(packed: PackedTable, key: Uint8Array): OpenPack | undefined {
    const [stored] = this.#store.range(packed.packs, { from: START, to: key, reverse: true, limit: 1 });
    return stored && packed.opened(stored);
  }

  /** Packed rows of a range, ascending. */
  #oldest(packed: PackedTable, { from, to, limit = Number.POSITIVE_INFINITY }: StoreRange): StoreEntry[] {
    const found: StoreEntry[] = [];
    for (let pack = from.length === 0 ? undefined : this.#packOf(packed, from), first = true; ; first = false) {
      if (pack === undefined && !first) return found;
      const rows = pack?.rows ?? [];
      for (let at = firstFrom(rows, from); at < firstFrom(rows, to) && found.length < limit; at++)
        found.push(copyOf(rows[at] as StoreEntry));
      if (found.length >= limit) return found;
      const [next] = this.#store.range(packed.packs, { from: pack === undefined ? from : successor(pack.key), to, limit: 1 });
      pack = next && packed.opened(next);
    }
  }

  /** Packed rows of a range, descending. */
  #newest(packed: PackedTable, { from, to, limit = Number.POSITIVE_INFINITY }: StoreRange): StoreEntry[] {
    const found: StoreEntry[] = [];
    for (let pack = this.#packBefore(packed, to); pack !== undefined; pack = this.#packBefore(packed, pack.key)) {
      const { rows } = pack;
      const first = firstFrom(rows, from);
      for (let at = firstFrom(rows, to) - 1; at >= first && found.length < limit; at--) found.push(copyOf(rows[at] as StoreEntry));
      if (found.length >= limit || first > 0) return found;
    }
    return found;
  }
}

/** Both in one order, 1 for ascending and -1 for descending; of two rows with one key that of `own`. */
function merged(own: readonly StoreEntry[], packed: readonly StoreEntry[], order: 1 | -1): StoreEntry[] {
  const all: StoreEntry[] = [];
  let at = 0;
  for (const row of own) {
    for (; at < packed.length; at++) {
      const next = packed[at] as StoreEntry;
      const difference = order * compareKeys(next.key, row.key);
      if (difference > 0) break;
      if (difference < 0) all.push(next);
    }
    all.push(row);
  }
  return [...all, ...packed.slice(at)];
}

/** Rows in pieces of the size of a pack. */
function cut(rows: readonly StoreEntry[]): StoreEntry[][] {
  const pieces: StoreEntry[][] = [[]];
  let bytes = 0;
  for (const row of rows) {
    if (bytes >= PACK_BYTES_MAX) {
      pieces.push([]);
      bytes = 0;
    }
    (pieces.at(-1) as StoreEntry[]).push(row);
    bytes += packedRowBytes(row);
  }
  return pieces;
}

/** Operations that put these rows in the place of a pack's. */
function rewritten(packs: string, key: Uint8Array, rows: readonly StoreEntry[]): StoreOperation[] {
  const [first] = rows;
  if (first === undefined) return [{ table: packs, key, value: undefined }];
  const put = { table: packs, key: first.key, value: packRows(rows) };
  return compareKeys(first.key, key) === 0 ? [put] : [{ table: packs, key, value: undefined }, put];
}

function copyOf({ key, value }: StoreEntry): StoreEntry {
  return { key: Uint8Array.from(key), value: Uint8Array.from(value) };
}

function successor(key: Uint8Array): Uint8Array {
  const next = new Uint8Array(key.length + 1);
  next.set(key);
  return next;
}
