// The buckets of one classic histogram, which come as streams of their own, put together by time. A time is evaluated once all known buckets have it, a later
// time has come, or 30 seconds have passed; a bucket that comes after that corrects what was said. The newest few times are kept.

import { FAMILY_BUCKETS_MAX, FAMILY_ROWS_MAX, POINTS_RETAINED_MAX } from "../../../core/config/limits.ts";
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { countedAfterFall } from "../../../domain/distribution/counting-start.ts";
import { QUANTILES } from "../../../domain/distribution/derived-values.ts";
import { SETTLED_INTERVALS_MIN } from "../../../domain/distribution/interval.ts";
import { classicQuantile, classicWidth } from "../../../domain/distribution/quantile.ts";
import type { DerivedQuantiles } from "./derived-quantiles.ts";

/** A known bucket that is missing so many times in a row is not waited for any more. */
const MISSED_MAX = 3;

/** Buckets that there is room for at first. */
const FIRST_BUCKETS = 16;

/** The evaluation at hand, by rising bound: bounds, what was added up to each, and the counts as they stand. */
const bounds = new Float64Array(FAMILY_BUCKETS_MAX);
const rises = new Float64Array(FAMILY_BUCKETS_MAX);
const counts = new Float64Array(FAMILY_BUCKETS_MAX);

/** Buckets known of one time. */
export interface FamilyRow {
  readonly timeMs: number;
  /** Cumulative counts by bucket; NaN, or beyond the end, for one that has not come. */
  values: Float64Array;
  seen: number;
  /** Something came that no evaluation has seen. */
  isNew: boolean;
  /** It is not waited for any more. */
  isClosed: boolean;
  /** Its counts are whole: counting began since the time before, as start times of the buckets tell. */
  began: boolean;
}

export class BucketFamily {
  readonly identity: string;
  readonly name: StreamName;
  readonly partition: number;
  readonly derived: DerivedQuantiles;
  /** Upper bounds of the buckets, in the order in which they came. */
  readonly bounds: number[] = [];
  /** By time, oldest first. */
  readonly rows: FamilyRow[] = [];
  /** Times have been dropped: what is older than the oldest may have been evaluated. */
  isTrimmed = false;
  /** Is to be settled. */
  isDirty = false;
  /** It is known no more: its streams look for another. */
  isForgotten = false;
  /** Wall clock of the tick before its last sample. */
  touchedMs = 0;
  /** Monotonic milliseconds of the bytes that the newest sample came with. */
  arrivalMs = 0;
  /** When all buckets had ended; 0 for no such time. */
  #endedMs = 0;
  #reportsEnd = false;
  #active = 0;
  /** By bucket: whether it is waited for, and how often in a row it was missing. */
  #isActive = new Uint8Array(FIRST_BUCKETS);
  #missed = new Uint8Array(FIRST_BUCKETS);
  /** Numbers of the buckets by rising bound, and the bounds; emptied when a bucket comes. */
  #rising = new Uint16Array(0);
  #bounds = new Float64Array(0);
  /** Counts of a time that was dropped, to be used for the next. */
  #spare: Float64Array | undefined;

  constructor(identity: string, name: StreamName, partition: number, derived: DerivedQuantiles) {
    this.identity = identity;
    this.name = name;
    this.partition = partition;
    this.derived = derived;
  }

  get newestMs(): number {
    return this.rows.at(-1)?.timeMs ?? 0;
  }

  /** Number of the bucket with a bound, which is entered at first sight. */
  bucket(bound: number): number {
    const known = this.bounds.indexOf(bound);
    if (known >= 0) return known;
    this.#rising = this.#rising.subarray(0, 0);
    const index = this.bounds.push(bound) - 1;
    if (index < this.#isActive.length) return index;
    this.#isActive = doubled(this.#isActive);
    this.#missed = doubled(this.#missed);
    return index;
  }

  /** Enters a bucket as a checkpoint kept it. */
  restoreBucket(bound: number, isActive: boolean): void {
    const index = this.bucket(bound);
    if (isActive) this.#activate(index);
  }

  /** Takes a bucket's cumulative count, which is whole where counting `began` since the time before; false when it is too late. */
  take(index: number, timeMs: number, value: number, began = false): boolean {
    const row = this.#row(timeMs);
    if (row === undefined) return false;
    row.began ||= began;
    if (this.#isActive[index] === 0 && timeMs > this.#endedMs) this.#activate(index);
    if (index >= row.values.length) row.values = longer(row.values, this.bounds.length);
    const known = row.values[index] as number;
    if (known === value) return true;
    if (Number.isNaN(known)) row.seen++;
    row.values[index] = value;
    row.isNew = true;
    return true;
  }

  /** A bucket's stream ends. */
  end(index: number, timeMs: number): void {
    if (this.#isActive[index] === 0 || timeMs < this.newestMs) return;
    this.#deactivate(index);
    if (this.#active > 0) return;
    this.#endedMs = timeMs;
    this.#reportsEnd = true;
  }

  /** Whether a bucket is waited for. */
  isActive(index: number): boolean {
    return this.#isActive[index] === 1;
  }

  #activate(index: number): void {
    this.#isActive[index] = 1;
    this.#missed[index] = 0;
    this.#active++;
  }

  #deactivate(index: number): void {
    this.#isActive[index] = 0;
    this.#active--;
  }

  #row(timeMs: number): FamilyRow | undefined {
    const { rows } = this;
    let at = rows.length;
    const newest = rows[at - 1];
    if (newest !== undefined && newest.timeMs === timeMs) return newest;
    while (at > 0 && (rows[at - 1] as FamilyRow).timeMs > timeMs) at--;
    const known = rows[at - 1];
    if (known?.timeMs === timeMs) return known;
    if (at === 0 && this.isTrimmed) return undefined;
    if (rows.length >= FAMILY_ROWS_MAX) {
      this.#drop();
      at--;
      if (at < 0) return undefined;
    }
    const row = { timeMs, values: this.#emptyValues(), seen: 0, isNew: false, isClosed: false, began: false };
    rows.splice(at, 0, row);
    return row;
  }

  #emptyValues(): Float64Array {
    const spare = this.#spare;
    if (spare?.length !== this.bounds.length) return new Float64Array(this.bounds.length).fill(Number.NaN);
    this.#spare = undefined;
    return spare.fill(Number.NaN);
  }

  #drop(): void {
    this.#spare = this.rows.shift()?.values;
    this.isTrimmed = true;
  }

  /** Whether the newest time waits for buckets. */
  get waits(): boolean {
    const newest = this.rows.at(-1);
    return newest?.isNew === true && !newest.isClosed;
  }

  /** No bucket of the newest time is waited for any more. */
  close(): void {
    const newest = this.rows.at(-1);
    if (newest !== undefined) newest.isClosed = true;
  }

  /** Writes what can be said now, oldest first. */
  settle(): void {
    const { rows } = this;
    for (let i = 0; i < rows.length; i++) {
      const row = rows[i] as FamilyRow;
      const isLast = i === rows.length - 1;
      if (!row.isNew || (isLast && !row.isClosed && row.seen < this.#active)) continue;
      if (!isLast && !row.isClosed && row.seen < this.bounds.length) this.#countMissing(row);
      row.isNew = false;
      row.isClosed = true;
      this.#evaluate(i);
      // What was added by the next time counts from this one.
      const next = rows[i + 1];
      if (next?.isClosed === true) next.isNew = true;
    }
    while (rows.length > POINTS_RETAINED_MAX) this.#drop();
    if (this.#reportsEnd) this.#reportEnd();
  }

  #reportEnd(): void {
    const suffixes = QUANTILES.map(({ suffix }) => suffix);
    this.derived.end(suffixes, this.#endedMs, this.arrivalMs);
    this.#reportsEnd = false;
  }

  #countMissing(row: FamilyRow): void {
    for (let index = 0; index < this.bounds.length; index++) {
      const isMissing = !isThere(row.values[index]);
      this.#missed[index] = isMissing ? (this.#missed[index] as number) + 1 : 0;
      if (isMissing && this.isActive(index) && (this.#missed[index] as number) >= MISSED_MAX) this.#deactivate(index);
    }
  }

  /** Puts the buckets in the order of their bounds. */
  #order(): void {
    const known = this.bounds;
    const byBound = known.map((_, index) => index).sort((a, b) => (known[a] as number) - (known[b] as number));
    this.#rising = Uint16Array.from(byBound);
    this.#bounds = Float64Array.from(byBound, (index) => known[index] as number);
  }

  #evaluate(at: number): void {
    if (this.#rising.length === 0) this.#order();
    const rising = this.#rising;
    const places = rising.length;
    const top = rising[places - 1] as number;
    const { values, timeMs, began } = this.rows[at] as FamilyRow;
    let before = at - 1;
    while (before >= 0 && !isThere((this.rows[before] as FamilyRow).values[top])) before--;
    if (before < 0 && !began) return;
    const previous = before < 0 ? values : (this.rows[before] as FamilyRow).values;
    let count = 0;
    let fell = false;
    for (let position = 0; position < places; position++) {
      const index = rising[position] as number;
      if (index >= values.length || index >= previous.length) continue;
      const rise = (values[index] as number) - (previous[index] as number);
      if (Number.isNaN(rise)) continue;
      if (rise < 0) fell = true;
      bounds[count] = this.#bounds[position] as number;
      rises[count] = rise;
      counts[count] = values[index] as number;
      count++;
    }
    if (count === 0 || bounds[count - 1] !== Number.POSITIVE_INFINITY) return;
    if (fell && !began && this.#isImplausible(counts[count - 1] as number, before, top)) return;
    this.#write(timeMs, count, { isWhole: fell || began, isRestart: before >= 0 && (fell || began) });
  }

  /** Writes the quantiles of the evaluation at hand: of the counts as they stand, or of what was added. */
  #write(timeMs: number, count: number, { isWhole, isRestart }: { readonly isWhole: boolean; readonly isRestart: boolean }): void {
    const { arrivalMs } = this;
    const added = isWhole ? counts : rises;
    makeMonotonic(added, count);
    if (added[count - 1] === 0) return;
    for (const { quantile, suffix } of QUANTILES) {
      const value = classicQuantile(quantile, bounds, added, count);
      this.derived.write(suffix, { timeMs, value, width: classicWidth(value, bounds, count), arrivalMs, isRestart });
    }
  }

  /** After a fall: so many that they cannot be of one interval; see PointHistory. */
  #isImplausible(newest: number, before: number, top: number): boolean {
    let largest = 0;
    let intervals = 0;
    for (let i = 1; i <= before; i++) {
      const added = ((this.rows[i] as FamilyRow).values[top] as number) - ((this.rows[i - 1] as FamilyRow).values[top] as number);
      if (!(added >= 0)) continue;
      largest = Math.max(largest, added);
      intervals++;
    }
    return intervals >= SETTLED_INTERVALS_MIN && countedAfterFall(newest, largest, true) === 0;
  }
}

function isThere(value: number | undefined): boolean {
  return value !== undefined && !Number.isNaN(value);
}

function doubled(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
  const result = new Uint8Array(2 * bytes.length);
  result.set(bytes);
  return result;
}

function longer(values: Float64Array, length: number): Float64Array {
  const result = new Float64Array(length).fill(Number.NaN);
  result.set(values);
  return result;
}

/** Counts up to a bound may fall by rounding (Prometheus' ensureMonotonicAndIgnoreSmallDeltas). */
function makeMonotonic(cumulative: Float64Array, count: number): void {
  for (let i = 1; i < count; i++) cumulative[i] = Math.max(cumulative[i] as number, cumulative[i - 1] as number);
}
