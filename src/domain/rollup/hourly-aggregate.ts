/**
 * Aggregates blocks of samples into hours: {count, sum, least, greatest} for each (stream, hour). Blocks come in the order of their numbers; pieces of
 * an hour that lies in several aggregates are added up by whoever reads them.
 *
 * 25 to 50 ns a sample, most of it the decoding of chunks: 0.8 ms a block of 64 KiB. 40 bytes an entry, 128 a stream.
 * Inside a block a time that stands twice counts once, the later chunk's value, as readers of samples see it. Across blocks it counts twice: that is
 * a sample that was sent again more than five minutes late, or a newest value that was replaced just as its chunk filled the block.
 */
import { HOUR_MS } from "../../core/time/durations.ts";
import { type BlockChunk, type ChunkBlock, STREAM_ID_BYTES } from "../codec/chunk-block.ts";
import { compareKeys } from "../codec/key.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../codec/sample-chunk.ts";
import { decimalSum, encodeHours, HOURS_BYTES_MAX, HOURS_MAX, Hours } from "./hour-column.ts";
import { encodeRollupBlock, type RollupPiece } from "./rollup-block.ts";

const FIRST_ENTRIES = 4096;
const NONE = -1;
const SAMPLES_PER_STEP = 20_000;
/** Five columns each, about 6 us. */
const PIECES_PER_STEP = 100;
const BUCKETS = 256;

/** Hours of one stream, the newest entry first. */
interface AggregatedStream {
  readonly id: Uint8Array;
  newest: number;
  lastMs: number;
}

/** A stored roll-up with what its row says without reading it. */
export interface RollupValue {
  readonly block: Uint8Array;
  readonly firstHour: number;
  readonly lastHour: number;
  readonly firstStream: Uint8Array;
  readonly lastStream: Uint8Array;
}

/** One aggregate. `finish` ends it. */
export class HourlyAggregate {
  /** Samples of hours before this one are left out. */
  readonly #fromHour: number;
  readonly #blockBytes: number;
  readonly #streams = new Map<string, AggregatedStream>();
  /** Streams by the first byte of their id: sorted one bucket at a time, so that no step sorts all. */
  readonly #buckets: AggregatedStream[][] = Array.from({ length: BUCKETS }, () => []);
  /** The samples of the run at hand. */
  #times = new Float64Array(2 * CHUNK_SAMPLES_MAX);
  #values = new Float64Array(2 * CHUNK_SAMPLES_MAX);
  #hours = new Int32Array(FIRST_ENTRIES);
  #counts = new Float64Array(FIRST_ENTRIES);
  #sums = new Float64Array(FIRST_ENTRIES);
  #least = new Float64Array(FIRST_ENTRIES);
  #greatest = new Float64Array(FIRST_ENTRIES);
  /** The entry of the next earlier hour of the same stream. */
  #earlier = new Int32Array(FIRST_ENTRIES);
  #entries = 0;
  samples = 0;

  /** `blockBytes`: size from which a roll-up block is ended. */
  constructor(options: { readonly fromHour: number; readonly blockBytes: number }) {
    this.#fromHour = options.fromHour;
    this.#blockBytes = options.blockBytes;
  }

  /** Pairs of stream and hour so far. */
  get entries(): number {
    return this.#entries;
  }

  /** Adds the samples of a block, some twenty thousand a step: 0.5 ms. Throws on a chunk that does not decode. */
  *add(block: ChunkBlock): Generator<undefined, void> {
    let run: BlockChunk[] = [];
    let yieldedAt = this.samples;
    for (const chunk of block.chunks()) {
      const [first] = run;
      if (first === undefined || compareKeys(first.streamId, chunk.streamId) === 0) {
        run.push(chunk);
        continue;
      }
      this.#addRun(run);
      run = [chunk];
      if (this.samples - yieldedAt < SAMPLES_PER_STEP) continue;
      yieldedAt = this.samples;
      yield;
    }
    if (run.length > 0) this.#addRun(run);
  }

  /** Yields the roll-up blocks, by stream; undefined after a step that did not come to the end of one. */
  *finish(): Generator<RollupValue | undefined, void> {
    const pending = new PendingBlock(this.#blockBytes);
    let pieces = 0;
    for (const bucket of this.#buckets) {
      bucket.sort((a, b) => compareKeys(a.id, b.id));
      for (const stream of bucket) {
        for (const hours of this.#piecesOf(stream)) {
          pending.add(stream.id, hours);
          if (pending.isFull) yield pending.take();
          else if (++pieces % PIECES_PER_STEP === 0) yield;
        }
      }
    }
    if (!pending.isEmpty) yield pending.take();
  }

  /** The chunks that one stream has in a block, by first time. Late and replaced samples are chunks that begin before one ahead of them ends. */
  #addRun(chunks: readonly BlockChunk[]): void {
    const stream = this.#streamOf((chunks[0] as BlockChunk).streamId);
    let buffered = 0;
    let isAscending = true;
    for (const { chunk } of chunks) {
      const count = this.#decode(chunk, buffered);
      isAscending &&= buffered === 0 || count === 0 || (this.#times[buffered] as number) > (this.#times[buffered - 1] as number);
      buffered += count;
    }
    if (isAscending) this.#addSamples(stream, this.#times, this.#values, buffered);
    else this.#addMerged(stream, buffered);
  }

  /** Adds the samples of the run by time, of equal times the last. */
  #addMerged(stream: AggregatedStream, buffered: number): void {
    const values = new Map<number, number>();
    for (let at = 0; at < buffered; at++) values.set(this.#times[at] as number, this.#values[at] as number);
    const times = Float64Array.from(values.keys()).sort();
    this.#addSamples(
      stream,
      times,
      times.map((time) => values.get(time) as number),
      times.length,
    );
  }

  /** Decodes a chunk behind the samples that the run has so far; returns their number. */
  #decode(chunk: Uint8Array, at: number): number {
    if (this.#times.length - at < CHUNK_SAMPLES_MAX) {
      this.#times = enlarged(this.#times, new Float64Array(2 * this.#times.length));
      this.#values = enlarged(this.#values, new Float64Array(2 * this.#values.length));
    }
    const count =
      at === 0
        ? decodeSampleChunk(chunk, this.#times, this.#values)
        : decodeSampleChunk(chunk, this.#times.subarray(at), this.#values.subarray(at));
    if (count === undefined) throw new Error("a stored chunk does not decode");
    return count;
  }

  #streamOf(id: Uint8Array): AggregatedStream {
    const key = String.fromCharCode(...id);
    const known = this.#streams.get(key);
    if (known !== undefined) return known;
    const stream: AggregatedStream = { id: id.slice(0, STREAM_ID_BYTES), newest: NONE, lastMs: Number.NEGATIVE_INFINITY };
    this.#streams.set(key, stream);
    this.#buckets[id[0] as number]?.push(stream);
    return stream;
  }

  /** Adds samples in ascending order: an hour's are summed up in locals and added to its entry once. */
  #addSamples(stream: AggregatedStream, times: Float64Array, values: Float64Array, count: number): void {
    for (let at = 0; at < count; ) {
      const hour = Math.floor((times[at] as number) / HOUR_MS);
      const endMs = (hour + 1) * HOUR_MS;
      const first = at;
      let sum = 0;
      let least = Number.POSITIVE_INFINITY;
      let greatest = Number.NEGATIVE_INFINITY;
      for (; at < count && (times[at] as number) < endMs; at++) {
        const value = values[at] as number;
        sum += value;
        if (value < least) least = value;
        if (value > greatest) greatest = value;
      }
      if (hour < this.#fromHour) continue;
      const entry = this.#entryOf(stream, hour);
      this.#counts[entry] = (this.#counts[entry] as number) + at - first;
      this.#sums[entry] = (this.#sums[entry] as number) + sum;
      if (least < (this.#least[entry] as number)) this.#least[entry] = least;
      if (greatest > (this.#greatest[entry] as number)) this.#greatest[entry] = greatest;
      stream.lastMs = Math.max(stream.lastMs, times[at - 1] as number);
      this.samples += at - first;
    }
  }

  /** The entry of an hour: nearly always the newest, for a late sample at most a day before it. */
  #entryOf(stream: AggregatedStream, hour: number): number {
    let later = NONE;
    let entry = stream.newest;
    while (entry !== NONE && (this.#hours[entry] as number) > hour) {
      later = entry;
      entry = this.#earlier[entry] as number;
    }
    if (entry !== NONE && this.#hours[entry] === hour) return entry;
    const added = this.#append(hour, entry);
    if (later === NONE) stream.newest = added;
    else this.#earlier[later] = added;
    return added;
  }

  #append(hour: number, earlier: number): number {
    if (this.#entries === this.#hours.length) this.#grow();
    const entry = this.#entries++;
    this.#hours[entry] = hour;
    this.#counts[entry] = 0;
    this.#sums[entry] = 0;
    this.#least[entry] = Number.POSITIVE_INFINITY;
    this.#greatest[entry] = Number.NEGATIVE_INFINITY;
    this.#earlier[entry] = earlier;
    return entry;
  }

  #grow(): void {
    const length = 2 * this.#hours.length;
    this.#hours = enlarged(this.#hours, new Int32Array(length));
    this.#counts = enlarged(this.#counts, new Float64Array(length));
    this.#sums = enlarged(this.#sums, new Float64Array(length));
    this.#least = enlarged(this.#least, new Float64Array(length));
    this.#greatest = enlarged(this.#greatest, new Float64Array(length));
    this.#earlier = enlarged(this.#earlier, new Int32Array(length));
  }

  /** The stream's hours in pieces, ascending. What is yielded is used before the next. */
  *#piecesOf({ newest, lastMs }: AggregatedStream): Generator<Hours> {
    const entries: number[] = [];
    for (let entry = newest; entry !== NONE; entry = this.#earlier[entry] as number) entries.push(entry);
    entries.reverse();
    for (let from = 0; from < entries.length; from += HOURS_MAX) {
      const part = entries.slice(from, from + HOURS_MAX);
      const isLast = from + HOURS_MAX >= entries.length;
      yield this.#piece(part, isLast ? lastMs : ((this.#hours[part.at(-1) as number] as number) + 1) * HOUR_MS - 1);
    }
  }

  #piece(entries: readonly number[], lastMs: number): Hours {
    const piece = new Hours(entries.length);
    piece.length = entries.length;
    piece.lastMs = lastMs;
    entries.forEach((entry, at) => {
      const least = this.#least[entry] as number;
      const greatest = this.#greatest[entry] as number;
      const count = this.#counts[entry] as number;
      piece.hours[at] = this.#hours[entry] as number;
      piece.counts[at] = count;
      const sum = this.#sums[entry] as number;
      piece.sums[at] = count === 1 ? sum : decimalSum(sum, count, Math.max(Math.abs(least), Math.abs(greatest)));
      piece.least[at] = least;
      piece.greatest[at] = greatest;
    });
    return piece;
  }
}

/** Pieces that wait for their block. */
class PendingBlock {
  readonly #blockBytes: number;
  readonly #scratch = new Uint8Array(HOURS_BYTES_MAX);
  #pieces: RollupPiece[] = [];
  #bytes = 0;
  #firstHour = Number.POSITIVE_INFINITY;
  #lastHour = 0;

  constructor(blockBytes: number) {
    this.#blockBytes = blockBytes;
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#blockBytes;
  }

  add(streamId: Uint8Array, hours: Hours): void {
    const bytes = this.#scratch.slice(0, encodeHours(hours, this.#scratch, 0));
    this.#pieces.push({ streamId, bytes });
    this.#bytes += STREAM_ID_BYTES + 4 + bytes.length;
    this.#firstHour = Math.min(this.#firstHour, hours.hours[0] as number);
    this.#lastHour = Math.max(this.#lastHour, hours.hours[hours.length - 1] as number);
  }

  take(): RollupValue {
    const firstStream = (this.#pieces[0] as RollupPiece).streamId;
    const lastStream = (this.#pieces.at(-1) as RollupPiece).streamId;
    const [firstHour, lastHour] = [this.#firstHour, this.#lastHour];
    const value = { block: encodeRollupBlock(this.#pieces, firstHour, lastHour), firstHour, lastHour, firstStream, lastStream };
    this.#pieces = [];
    this.#bytes = 0;
    this.#firstHour = Number.POSITIVE_INFINITY;
    this.#lastHour = 0;
    return value;
  }
}

function enlarged<T extends Int32Array | Float64Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
