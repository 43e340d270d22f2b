// Stream records as TypeScript reads and corrects them: rings in order of time, late and corrected values. The kernel does everything else.
// A correction reads and writes a whole ring, about 2 us; it is for the few samples that come out of order.
import { STREAM_RECORDS, STREAM_RINGS } from "../../core/layout/memory-map.ts";
import { DEFINE_SERVICE_LABEL_MASK, DEFINE_SERVICE_LABEL_SHIFT, DEFINE_STREAM_FLAGS } from "../../core/layout/row-frame.ts";
import { SERVICE_HOUR_MS, SERVICE_HOURS_MAX } from "../../core/layout/service-age.ts";
import {
  FIRST_MAX,
  FLAG_COUNTER,
  FLAG_HAS_PREVIOUS,
  FLAG_HAS_RAW,
  FLAG_PROFILE_MASK,
  FLAG_PROFILE_SHIFT,
  FLAG_SERVICE_HOURS_MASK,
  FLAG_SERVICE_HOURS_SHIFT,
  RING_INTERVALS,
  RING_VALUES,
  SR_ANCHOR,
  SR_BEHIND,
  SR_BLOCK,
  SR_CHUNK_AT,
  SR_COUNT,
  SR_FAMILY,
  SR_FIRST_INTERVALS,
  SR_FIRST_TIME,
  SR_FIRST_VALUES,
  SR_FLAGS,
  SR_HEAD,
  SR_IDENTITY,
  SR_IDENTITY_BYTES,
  SR_INTERVAL,
  SR_LAST_RAW,
  SR_LAST_TIME,
  SR_LAST_VALUE,
  SR_MASK,
  SR_OWED,
  SR_PARTITION,
  SR_PEAK_HIGH,
  SR_PREVIOUS_RAW,
  SR_RESOLUTION,
  SR_RESTARTED,
  SR_SAMPLES,
  SR_SERVICE_LABEL,
  SR_STATE,
  SR_TENANT,
  SR_UNCHUNKED,
  SR_UNJUDGED_MINUTES,
  SR_WIDTH,
  STATE_LOW_SHIFT,
  STATE_OPEN,
  STREAM_RECORD_BYTES,
  STREAM_RING_BYTES,
  WINDOW_MAX,
} from "../../core/layout/stream-record.ts";
import { KNOWN_KIND, keepsKind } from "./guessed-kind.ts";
import { newestTimeMs } from "./newest-time.ts";
import { mergeRing, type RingEntry, resolutionOf } from "./ring-entries.ts";
import { RingReader, type StreamRing } from "./ring-reader.ts";

const INTERVAL_MAX = 2 ** 32 - 1;
const PEAK_BYTES = 8;

/** Outcome of a value that came late or again. Where `chunked`, its place is in a chunk already: store it as a chunk of one value. */
export interface Correction {
  /** too-old-for-ring: before the ring's oldest value, or the ring has no place; the ring is as it was. ignored: a counter's older value. */
  readonly result: "stored" | "duplicate" | "too-old-for-ring" | "ignored";
  readonly chunked: boolean;
  /** The value as it stands in the ring: for counters the delta. */
  readonly value: number;
}

/** Rings and fields of all slots. */
export class StreamRecords {
  /** All of the memory; a record begins at address(slot). */
  readonly view: DataView;
  readonly #rings: RingReader;
  readonly #recompute: (slot: number) => void;
  // One ring in order of time, oldest first: filled and written back by a correction.
  readonly #times = new Float64Array(WINDOW_MAX + 1);
  readonly #values = new Float64Array(WINDOW_MAX + 1);
  readonly #masked = new Uint8Array(WINDOW_MAX + 1);

  constructor(buffer: ArrayBufferLike, kernel: { recompute(slot: number): void }) {
    this.view = new DataView(buffer);
    this.#rings = new RingReader(buffer);
    this.#recompute = (slot) => kernel.recompute(slot);
  }

  /** Where a slot's record begins. */
  address(slot: number): number {
    return STREAM_RECORDS + slot * STREAM_RECORD_BYTES;
  }

  /** Where the values of a slot's ring begin, while it holds as many as it does. */
  valuesAddress(slot: number): number {
    return this.count(slot) <= FIRST_MAX ? this.address(slot) + SR_FIRST_VALUES : STREAM_RINGS + slot * STREAM_RING_BYTES + RING_VALUES;
  }

  /** The same for their intervals. */
  intervalsAddress(slot: number): number {
    return this.count(slot) <= FIRST_MAX
      ? this.address(slot) + SR_FIRST_INTERVALS
      : STREAM_RINGS + slot * STREAM_RING_BYTES + RING_INTERVALS;
  }

  /** Values in the ring. */
  count(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_COUNT, true);
  }

  flags(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_FLAGS, true);
  }

  /** Threshold profile that the stream is judged by. */
  profile(slot: number): number {
    return (this.flags(slot) & FLAG_PROFILE_MASK) >>> FLAG_PROFILE_SHIFT;
  }

  setProfile(slot: number, profile: number): void {
    const flags = (this.flags(slot) & ~FLAG_PROFILE_MASK) | (profile << FLAG_PROFILE_SHIFT);
    this.view.setUint32(this.address(slot) + SR_FLAGS, flags, true);
  }

  clearFlags(slot: number, flags: number): void {
    this.view.setUint32(this.address(slot) + SR_FLAGS, this.flags(slot) & ~flags, true);
  }

  tenant(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_TENANT, true);
  }

  partition(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_PARTITION, true);
  }

  /** Whether an episode is open. */
  hasEpisode(slot: number): boolean {
    return (this.view.getUint32(this.address(slot) + SR_STATE, true) & (STATE_OPEN | (STATE_OPEN << STATE_LOW_SHIFT))) !== 0;
  }

  /** Newest values of the ring that enter no baseline: those of an open episode, at most as many as it holds. */
  aside(slot: number): number {
    return this.hasEpisode(slot) ? Math.min(this.count(slot), this.view.getUint8(this.address(slot) + SR_BEHIND)) : 0;
  }

  /** Values taken since the stream began. */
  samples(slot: number): number {
    return this.view.getFloat64(this.address(slot) + SR_SAMPLES, true);
  }

  /** Usual time between the stream's samples, ms; 0 while it is not known. */
  usualIntervalMs(slot: number): number {
    return this.view.getFloat64(this.address(slot) + SR_INTERVAL, true);
  }

  /** Time of the newest sample in ms, 0 before the first. */
  lastTimeMs(slot: number): number {
    return this.view.getFloat64(this.address(slot) + SR_LAST_TIME, true);
  }

  /** Time of the newest sample, of those that are kept for reading alone too, of these to the minute and no earlier; 0 before the first. */
  newestTimeMs(slot: number): number {
    return newestTimeMs(this.lastTimeMs(slot), this.flags(slot), this.view.getUint16(this.address(slot) + SR_UNJUDGED_MINUTES, true));
  }

  /** SR_WIDTH; 0 of a counter. */
  width(slot: number): number {
    if ((this.flags(slot) & FLAG_COUNTER) !== 0) return 0;
    return this.view.getFloat64(this.address(slot) + SR_WIDTH, true);
  }

  /** Writes a counter's newest cumulative value to the start of `into`; its time, 0 where there is none. */
  readRaw(slot: number, into: Float64Array): number {
    if ((this.flags(slot) & FLAG_HAS_RAW) === 0) return 0;
    into[0] = this.view.getFloat64(this.address(slot) + SR_LAST_RAW, true);
    return this.lastTimeMs(slot);
  }

  /** Writes the cumulative value that a counter's open deltas count from to the start of `into`; its time, 0 where it is none that was sent. */
  readAnchor(slot: number, into: Float64Array): number {
    const count = this.count(slot);
    const unchunked = this.unchunked(slot);
    const anchor = this.view.getFloat64(this.address(slot) + SR_ANCHOR, true);
    if (unchunked === 0 || unchunked > count || Number.isNaN(anchor) || Object.is(anchor, 0)) return 0;
    into[0] = anchor;
    const intervalMs = this.view.getUint32(this.intervalsAddress(slot) + 4 * this.#index(slot, count - unchunked), true);
    return intervalMs === 0 ? 0 : this.unchunkedFromMs(slot) - intervalMs;
  }

  /** Newest value in the ring. */
  lastValue(slot: number): number {
    return this.view.getFloat64(this.address(slot) + SR_LAST_VALUE, true);
  }

  /** Time of the first sample in ms, 0 before it. */
  firstTimeMs(slot: number): number {
    return Math.max(0, this.view.getFloat64(this.address(slot) + SR_FIRST_TIME, true));
  }

  /** Since when the stream's service is known, to the hour, as far as the stream says; Infinity for a stream that knows of no value. */
  serviceSinceMs(slot: number): number {
    return serviceSinceMs(this.view.getFloat64(this.address(slot) + SR_FIRST_TIME, true), this.flags(slot));
  }

  /** Notes on a stream without a value since when its service is known; what is noted already stays. */
  noteServiceSince(slot: number, sinceMs: number): void {
    if (Number.isFinite(this.serviceSinceMs(slot))) return;
    this.view.setFloat64(this.address(slot) + SR_FIRST_TIME, -sinceMs, true);
  }

  /** Newest values of the ring that are in no chunk yet. */
  unchunked(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_UNCHUNKED, true);
  }

  /** Notes that a chunk of the slot waits for a block (WC_BLOCK); true for the first. */
  enterBlock(slot: number, block: number): boolean {
    const at = this.address(slot) + SR_BLOCK;
    if (this.view.getUint32(at, true) === block) return false;
    this.view.setUint32(at, block, true);
    return true;
  }

  /** While it is owed the stream's next row is not taken (EVENT_OWED). */
  setOwed(slot: number, isOwed: boolean): void {
    this.view.setUint8(this.address(slot) + SR_OWED, isOwed ? 1 : 0);
  }

  /** SR_FAMILY. */
  family(slot: number): number {
    return this.view.getUint8(this.address(slot) + SR_FAMILY);
  }

  /** What named the stream's service, as SR_SERVICE_LABEL has it. */
  serviceLabel(slot: number): number {
    return this.view.getUint8(this.address(slot) + SR_SERVICE_LABEL);
  }

  /** Notes which label named the service, where a definition says so. */
  #takeServiceLabel(slot: number, defined: number): void {
    const number = (defined & DEFINE_SERVICE_LABEL_MASK) >>> DEFINE_SERVICE_LABEL_SHIFT;
    if (number > 0) this.view.setUint8(this.address(slot) + SR_SERVICE_LABEL, number);
  }

  setFamily(slot: number, family: number): void {
    this.view.setUint8(this.address(slot) + SR_FAMILY, family);
  }

  identityAddress(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_IDENTITY, true);
  }

  identityBytes(slot: number): number {
    return this.view.getUint32(this.address(slot) + SR_IDENTITY_BYTES, true);
  }

  setIdentity(slot: number, address: number, bytes: number): void {
    this.view.setUint32(this.address(slot) + SR_IDENTITY, address, true);
    this.view.setUint32(this.address(slot) + SR_IDENTITY_BYTES, bytes, true);
  }

  /** Fills times (ms) and values from the oldest on; returns how many. Both arrays hold WINDOW_MAX numbers. */
  readRing(slot: number, times: Float64Array, values: Float64Array): number {
    const ring = this.#ring(slot);
    this.#rings.times(ring, times);
    this.#rings.values(ring, values);
    return ring.count;
  }

  /** Number of the ring's values from before a time: half of what reading them takes. */
  countBefore(slot: number, timeMs: number): number {
    return this.#rings.countBefore(this.#ring(slot), timeMs);
  }

  #ring(slot: number): StreamRing {
    const head = this.view.getUint32(this.address(slot) + SR_HEAD, true);
    return this.#rings.ring(this.valuesAddress(slot), this.intervalsAddress(slot), this.count(slot), head, this.lastTimeMs(slot));
  }

  /** Values of the ring later than `sinceMs` and no later than `untilMs`, oldest first; returns how many. Costs what it finds. Both arrays hold WINDOW_MAX numbers. */
  readSince(slot: number, sinceMs: number, untilMs: number, times: Float64Array, values: Float64Array): number {
    const at = this.address(slot);
    const count = this.view.getUint32(at + SR_COUNT, true);
    const valuesAt = this.valuesAddress(slot);
    const intervalsAt = this.intervalsAddress(slot);
    let index = this.view.getUint32(at + SR_HEAD, true);
    let time = this.view.getFloat64(at + SR_LAST_TIME, true);
    let start = WINDOW_MAX;
    for (let looked = 0; looked < count && time > sinceMs; looked++) {
      index = (index === 0 ? WINDOW_MAX : index) - 1;
      if (time <= untilMs) {
        times[--start] = time;
        values[start] = this.view.getFloat64(valuesAt + 8 * index, true);
      }
      time -= this.view.getUint32(intervalsAt + 4 * index, true);
    }
    times.copyWithin(0, start, WINDOW_MAX);
    values.copyWithin(0, start, WINDOW_MAX);
    return WINDOW_MAX - start;
  }

  /** The newest `count` values of the ring, oldest of them first. Both arrays hold WINDOW_MAX numbers. */
  readNewest(slot: number, count: number, times: Float64Array, values: Float64Array): number {
    const skipped = Math.max(0, this.readRing(slot, times, values) - count);
    times.copyWithin(0, skipped, skipped + count);
    values.copyWithin(0, skipped, skipped + count);
    return Math.min(count, this.count(slot));
  }

  /** Time of the newest value in whose interval counting began anew; 0 for none. */
  restartedMs(slot: number): number {
    return this.count(slot) <= FIRST_MAX ? 0 : this.view.getFloat64(this.address(slot) + SR_RESTARTED, true);
  }

  /** No late value can enter before a chunk is taken. */
  isRingFullOfUnchunked(slot: number): boolean {
    return this.unchunked(slot) === WINDOW_MAX;
  }

  /** Notes how the kind of a stream is known, and what named its service, by a definition that does not start it anew. */
  setKind(slot: number, defined: number): void {
    this.#takeServiceLabel(slot, defined);
    const flags = this.flags(slot);
    if (!keepsKind(flags, defined))
      this.view.setUint32(this.address(slot) + SR_FLAGS, (flags & ~KNOWN_KIND) | (defined & KNOWN_KIND), true);
  }

  /** Empties the ring and forgets episodes, when a definition says that a gauge is a counter or the reverse. Take the chunk before. */
  restart(slot: number, defined: number): void {
    this.#takeServiceLabel(slot, defined);
    const at = this.address(slot);
    const lastTimeMs = this.lastTimeMs(slot);
    const profile = this.flags(slot) & FLAG_PROFILE_MASK;
    const sinceMs = this.serviceSinceMs(slot);
    const serviceLabel = this.serviceLabel(slot);
    new Uint8Array(this.view.buffer, at, SR_TENANT).fill(0);
    new Uint8Array(this.view.buffer, at + SR_PEAK_HIGH, PEAK_BYTES).fill(0);
    this.view.setUint32(at + SR_FLAGS, (defined & DEFINE_STREAM_FLAGS) | profile, true);
    this.view.setUint8(at + SR_CHUNK_AT, WINDOW_MAX);
    this.view.setUint8(at + SR_SERVICE_LABEL, serviceLabel);
    // Kept, so that rows that were taken before the restart are still known to be old.
    this.view.setFloat64(at + SR_LAST_TIME, lastTimeMs, true);
    if (Number.isFinite(sinceMs)) this.noteServiceSince(slot, sinceMs);
  }

  /** Corrects the value at a time that the ring holds: the newest of a counter, any of a gauge. The sample is not scored again. */
  replaceNewest(slot: number, timeMs: number, value: number): Correction {
    const at = this.address(slot);
    const counter = (this.flags(slot) & FLAG_COUNTER) !== 0;
    if (timeMs !== this.lastTimeMs(slot))
      return counter ? { result: "ignored", chunked: false, value } : this.insertLate(slot, timeMs, value);
    const stored = counter ? this.#correctedDelta(slot, value) : value;
    if (this.count(slot) === 0) return { result: "ignored", chunked: false, value };
    const head = this.view.getUint32(at + SR_HEAD, true);
    this.view.setFloat64(this.valuesAddress(slot) + 8 * ((head === 0 ? WINDOW_MAX : head) - 1), stored, true);
    this.view.setFloat64(at + SR_LAST_VALUE, stored, true);
    this.#recompute(slot);
    return { result: "stored", chunked: this.unchunked(slot) === 0, value: stored };
  }

  /** Puts a gauge's older value into its place in the ring, where the ring reaches back that far; a full ring loses its oldest value. */
  insertLate(slot: number, timeMs: number, value: number): Correction {
    const count = this.readRing(slot, this.#times, this.#values);
    let index = count;
    while (index > 0 && (this.#times[index - 1] as number) >= timeMs) index--;
    const chunkedValues = count - this.unchunked(slot);
    if (index < count && this.#times[index] === timeMs) return this.#replaceAt(slot, index, value, index < chunkedValues);
    const isFull = count === WINDOW_MAX && chunkedValues === 0;
    if (index === 0 || index === count || isFull) return { result: "too-old-for-ring", chunked: true, value };
    this.#insertAt(slot, index, timeMs, value);
    const chunked = index < chunkedValues;
    if (!chunked) this.view.setUint32(this.address(slot) + SR_UNCHUNKED, this.unchunked(slot) + 1, true);
    return { result: "stored", chunked, value };
  }

  /** Time of the first value that is in no chunk yet, or just after the newest sample where every value is in one. */
  unchunkedFromMs(slot: number): number {
    const count = this.readRing(slot, this.#times, this.#values);
    const unchunked = this.unchunked(slot);
    return unchunked > 0 ? (this.#times[count - unchunked] as number) : this.lastTimeMs(slot) + 1;
  }

  /** The time of an older first sample; the hours before it are fewer then. */
  #setFirst(slot: number, timeMs: number): void {
    const hours = Math.floor((timeMs - this.serviceSinceMs(slot)) / SERVICE_HOUR_MS);
    const bits = Math.min(Math.max(0, hours), SERVICE_HOURS_MAX) << FLAG_SERVICE_HOURS_SHIFT;
    this.view.setUint32(this.address(slot) + SR_FLAGS, (this.flags(slot) & ~FLAG_SERVICE_HOURS_MASK) | bits, true);
    this.view.setFloat64(this.address(slot) + SR_FIRST_TIME, timeMs, true);
  }

  /**
   * Puts values that are stored already, ascending and from before unchunkedFromMs(), into their places in the ring: it then holds the newest of both.
   * A value whose time the ring holds is left out.
   */
  mergeHistory(slot: number, times: Float64Array, values: Float64Array, count: number): void {
    const first = this.firstTimeMs(slot);
    if (count > 0 && (first === 0 || (times[0] as number) < first)) this.#setFirst(slot, times[0] as number);
    const stored = this.count(slot);
    if (stored === WINDOW_MAX && this.unchunked(slot) === WINDOW_MAX) return;
    mergeRing(this.#ringEntries(slot), times, values, count, (entries) => this.#writeRing(slot, entries, entries.length - stored));
  }

  #ringEntries(slot: number): RingEntry[] {
    const count = this.readRing(slot, this.#times, this.#values);
    return Array.from({ length: count }, (_, i) => ({
      time: this.#times[i] as number,
      value: this.#values[i] as number,
      masked: this.isMasked(slot, this.#index(slot, i)),
    }));
  }

  /** Writes a whole ring, of which `added` values are new by number. */
  #writeRing(slot: number, entries: readonly RingEntry[], added: number): void {
    const at = this.address(slot);
    this.view.setUint32(at + SR_COUNT, entries.length, true);
    this.view.setUint32(at + SR_HEAD, entries.length % WINDOW_MAX, true);
    entries.forEach(({ time, value, masked }, i) => {
      const interval = i === 0 ? 0 : time - (entries[i - 1] as RingEntry).time;
      this.view.setFloat64(this.valuesAddress(slot) + 8 * i, value, true);
      this.view.setUint32(this.intervalsAddress(slot) + 4 * i, Math.min(interval, INTERVAL_MAX), true);
      this.setMasked(slot, i, masked);
    });
    this.view.setFloat64(at + SR_SAMPLES, this.samples(slot) + added, true);
    this.view.setFloat64(at + SR_RESOLUTION, resolutionOf(entries, this.view.getFloat64(at + SR_RESOLUTION, true)), true);
    this.#recompute(slot);
  }

  /** The counter's newest delta with another newest cumulative value. */
  #correctedDelta(slot: number, value: number): number {
    const at = this.address(slot);
    this.view.setFloat64(at + SR_LAST_RAW, value, true);
    if ((this.flags(slot) & FLAG_HAS_PREVIOUS) === 0) return value;
    const previous = this.view.getFloat64(at + SR_PREVIOUS_RAW, true);
    return value < previous - 1e-9 * Math.abs(previous) ? value : Math.max(0, value - previous);
  }

  #replaceAt(slot: number, index: number, value: number, chunked: boolean): Correction {
    if (this.#values[index] === value) return { result: "duplicate", chunked, value };
    const at = this.address(slot);
    const position = this.#index(slot, index);
    this.view.setFloat64(this.valuesAddress(slot) + 8 * position, value, true);
    if (index === this.count(slot) - 1) this.view.setFloat64(at + SR_LAST_VALUE, value, true);
    this.#recompute(slot);
    return { result: "stored", chunked, value };
  }

  /** Place in the ring of the index-th value by time. */
  #index(slot: number, index: number): number {
    const at = this.address(slot);
    return (this.view.getUint32(at + SR_HEAD, true) + WINDOW_MAX - this.view.getUint32(at + SR_COUNT, true) + index) % WINDOW_MAX;
  }

  /** Expects #times and #values to hold the slot's ring. Places are kept; the values after `index` move one place on. */
  #insertAt(slot: number, index: number, timeMs: number, value: number): void {
    const at = this.address(slot);
    const count = this.count(slot);
    for (let i = 0; i < count; i++) this.#masked[i] = this.isMasked(slot, this.#index(slot, i)) ? 1 : 0;
    for (const array of [this.#times, this.#values, this.#masked]) array.copyWithin(index + 1, index, count);
    this.#times[index] = timeMs;
    this.#values[index] = value;
    this.#masked[index] = 0;
    const firstInterval = this.view.getUint32(this.intervalsAddress(slot) + 4 * this.#index(slot, 0), true);
    const dropped = count === WINDOW_MAX ? 1 : 0;
    if (dropped === 0) {
      this.view.setUint32(at + SR_COUNT, count + 1, true);
      this.view.setUint32(at + SR_HEAD, (this.view.getUint32(at + SR_HEAD, true) + 1) % WINDOW_MAX, true);
    }
    for (let i = dropped; i <= count; i++) this.#write(slot, this.#index(slot, i - dropped), i, firstInterval);
    this.view.setFloat64(at + SR_SAMPLES, this.samples(slot) + 1, true);
    this.#recompute(slot);
  }

  #write(slot: number, position: number, index: number, firstInterval: number): void {
    const interval = index === 0 ? firstInterval : (this.#times[index] as number) - (this.#times[index - 1] as number);
    this.view.setFloat64(this.valuesAddress(slot) + 8 * position, this.#values[index] as number, true);
    this.view.setUint32(this.intervalsAddress(slot) + 4 * position, Math.min(interval, INTERVAL_MAX), true);
    this.setMasked(slot, position, this.#masked[index] === 1);
  }

  /** Whether a place of the ring counts clamped. */
  isMasked(slot: number, index: number): boolean {
    return ((this.view.getUint8(this.address(slot) + SR_MASK + (index >> 3)) >> (index & 7)) & 1) === 1;
  }

  setMasked(slot: number, index: number, masked: boolean): void {
    const at = this.address(slot) + SR_MASK + (index >> 3);
    const bit = 1 << (index & 7);
    const byte = this.view.getUint8(at);
    this.view.setUint8(at, masked ? byte | bit : byte & ~bit);
  }
}

/** Since when a stream's service is known, by the SR_FIRST_TIME and SR_FLAGS of its record; Infinity where they do not say. */
export function serviceSinceMs(firstTime: number, flags: number): number {
  if (firstTime > 0) return firstTime - ((flags & FLAG_SERVICE_HOURS_MASK) >>> FLAG_SERVICE_HOURS_SHIFT) * SERVICE_HOUR_MS;
  return firstTime < 0 ? -firstTime : Number.POSITIVE_INFINITY;
}
