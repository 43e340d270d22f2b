/**
 * Series by number and by the hash of their identity: what is known of each in columns. A series takes 16 bytes of hash, 6 to 12 of the table by hashes, 4 a label, and
 * 14 besides.
 */

const FIRST_CAPACITY = 256;
const HASH_UINTS = 4;
const GROWTH = 1.5;
/** Labels of a series, for the first capacity. */
const LABELS_EXPECTED = 8;

/** In an engine's memory. */
export const SERIES_HOT = 1;
/** Left memory: the store has its last values. */
export const SERIES_COLD = 2;
/** In neither any more, or known by another number. */
export const SERIES_GONE = 3;

const UNKNOWN_LAST = 0xffffffff;

/** Times of a series in ms; null where they are not known. */
export interface SeriesTimes {
  readonly firstTimeMs: number | null;
  readonly lastTimeMs: number | null;
}

/** Columns of series; numbers are given in order and never again. */
export class SeriesTable {
  #capacity = FIRST_CAPACITY;
  #hashes = new Uint32Array(HASH_UINTS * FIRST_CAPACITY);
  #states = new Uint8Array(FIRST_CAPACITY);
  #partitions = new Uint8Array(FIRST_CAPACITY);
  /** Seconds since 1970, downwards and upwards: lists look at them, values do not. */
  #firstSeconds = new Uint32Array(FIRST_CAPACITY);
  #lastSeconds = new Uint32Array(FIRST_CAPACITY);
  /** Where the pairs of a series end; those of the next follow. */
  #ends = new Uint32Array(FIRST_CAPACITY);
  #pairs = new Uint32Array(LABELS_EXPECTED * FIRST_CAPACITY);
  /** Open addressing by the first word of the hash: number + 1. At most three quarters full. */
  #byHash = new Uint32Array(2 * FIRST_CAPACITY);
  #size = 0;

  /** How many numbers have been given. */
  get size(): number {
    return this.#size;
  }

  /** What the columns take of memory, with room that is not used yet. */
  get bytes(): number {
    const columns = [this.#hashes, this.#states, this.#partitions, this.#firstSeconds, this.#lastSeconds, this.#ends, this.#pairs];
    return columns.reduce((sum, { byteLength }) => sum + byteLength, this.#byHash.byteLength);
  }

  /** Adds a series under its hash, under which `find` knows it from now on. */
  add(hash: Uint8Array, partition: number, pairs: readonly number[]): number {
    if (this.#size === this.#capacity) this.#grow();
    const series = this.#size++;
    const start = this.start(series);
    if (start + pairs.length > this.#pairs.length) this.#pairs = larger(this.#pairs, Math.ceil(GROWTH * (start + pairs.length)));
    this.#pairs.set(pairs, start);
    this.#ends[series] = start + pairs.length;
    this.#hashes.set(hashOf(hash), HASH_UINTS * series);
    this.#partitions[series] = partition;
    this.#enter(series);
    return series;
  }

  /** The number of the series with a hash, or -1. */
  find(hash: Uint8Array): number {
    return (this.#byHash[this.#bucket(hashOf(hash))] as number) - 1;
  }

  state(series: number): number {
    return this.#states[series] as number;
  }

  setState(series: number, state: number): void {
    this.#states[series] = state;
  }

  partition(series: number): number {
    return this.#partitions[series] as number;
  }

  /** The 16 bytes of a series' hash; valid until the next is added. */
  hash(series: number): Uint8Array {
    return new Uint8Array(this.#hashes.buffer, HASH_UINTS * 4 * series, HASH_UINTS * 4);
  }

  /** Numbers of a series' pairs, in the order of their names; valid until the next is added. */
  pairs(series: number): Uint32Array {
    return this.#pairs.subarray(this.start(series), this.#ends[series]);
  }

  /** The number of a series' pair; they stand from `start` up to before `end`. */
  pair(at: number): number {
    return this.#pairs[at] as number;
  }

  start(series: number): number {
    return series === 0 ? 0 : (this.#ends[series - 1] as number);
  }

  end(series: number): number {
    return this.#ends[series] as number;
  }

  setTimes(series: number, { firstTimeMs, lastTimeMs }: SeriesTimes): void {
    this.#firstSeconds[series] = firstTimeMs === null ? 0 : Math.max(0, Math.floor(firstTimeMs / 1_000));
    this.#lastSeconds[series] = lastTimeMs === null ? UNKNOWN_LAST : Math.max(0, Math.ceil(lastTimeMs / 1_000));
  }

  /** Whether a series has samples up to `toMs` and from `fromMs` on, as far as its times are known. */
  isWithin(series: number, fromMs: number, toMs: number): boolean {
    const last = this.#lastSeconds[series] as number;
    return (this.#firstSeconds[series] as number) * 1_000 <= toMs && (last === UNKNOWN_LAST || last * 1_000 >= fromMs);
  }

  /** A series of the same hash that was there before is found no more. */
  #enter(series: number): void {
    this.#byHash[this.#bucket(this.#hashes.subarray(HASH_UINTS * series, HASH_UINTS * (series + 1)))] = series + 1;
  }

  #bucket(hash: Uint32Array): number {
    const mask = this.#byHash.length - 1;
    for (let at = (hash[0] as number) & mask; ; at = (at + 1) & mask) {
      const series = (this.#byHash[at] as number) - 1;
      if (series < 0 || this.#hasHash(series, hash)) return at;
    }
  }

  #hasHash(series: number, hash: Uint32Array): boolean {
    const start = HASH_UINTS * series;
    for (let at = 0; at < HASH_UINTS; at++) if (this.#hashes[start + at] !== hash[at]) return false;
    return true;
  }

  #grow(): void {
    const capacity = Math.ceil(GROWTH * this.#capacity);
    this.#hashes = larger(this.#hashes, HASH_UINTS * capacity);
    this.#states = larger(this.#states, capacity);
    this.#partitions = larger(this.#partitions, capacity);
    this.#firstSeconds = larger(this.#firstSeconds, capacity);
    this.#lastSeconds = larger(this.#lastSeconds, capacity);
    this.#ends = larger(this.#ends, capacity);
    this.#capacity = capacity;
    if (4 * capacity <= 3 * this.#byHash.length) return;
    this.#byHash = new Uint32Array(2 * this.#byHash.length);
    for (let series = 0; series < this.#size; series++) this.#enter(series);
  }
}

function larger<Column extends Uint8Array | Uint32Array>(column: Column, length: number): Column {
  const grown = new (column.constructor as new (length: number) => Column)(length);
  grown.set(column);
  return grown;
}

function hashOf(hash: Uint8Array): Uint32Array {
  return new Uint32Array(hash.slice().buffer);
}
