// What a checkpoint keeps of series of points: {identity, time of the newest point, whether older ones were dropped, the points}, in pieces of a bounded size.
import { STATE_PIECE_BYTES_MAX } from "../../../core/config/limits.ts";
import { ByteSink } from "../../../domain/codec/byte-sink.ts";
import { type ByteCursor, readVarint } from "../../../domain/codec/varint.ts";

/** Joins what is written to the sink to pieces of at most STATE_PIECE_BYTES_MAX; what is written between two looks stays together. */
export class StatePieces {
  readonly sink = new ByteSink();
  /** Where the last look found the end. */
  #end = 0;

  /** A copy of what was there at the last look, once more would be too much for a piece. */
  *full(): Generator<Uint8Array> {
    const { sink } = this;
    if (sink.at > STATE_PIECE_BYTES_MAX && this.#end > 0) {
      yield sink.bytes.slice(0, this.#end);
      sink.bytes.copyWithin(0, this.#end, sink.at);
      sink.at -= this.#end;
    }
    this.#end = sink.at;
  }

  /** What is left. */
  *rest(): Generator<Uint8Array> {
    if (this.sink.at > 0) yield this.sink.bytes.slice(0, this.sink.at);
  }
}

/** One series as it is kept. */
export interface SeriesState {
  /** Text of one byte a character. */
  readonly identity: string;
  readonly newestMs: number;
  readonly isTrimmed: boolean;
  /** Encoded, oldest first; text likewise. */
  readonly points: readonly string[];
}

/** Appends one series. */
export function writeSeriesState(sink: ByteSink, { identity, newestMs, isTrimmed, points }: SeriesState): void {
  writeText(sink, identity);
  sink.varint(newestMs);
  sink.varint(isTrimmed ? 1 : 0);
  sink.varint(points.length);
  for (const point of points) writeText(sink, point);
}

/** Appends text of one byte a character with its length. */
function writeText(sink: ByteSink, text: string): void {
  sink.varint(text.length);
  sink.reserve(text.length);
  Buffer.from(sink.bytes.buffer, sink.at, text.length).write(text, "latin1");
  sink.at += text.length;
}

/** Appends bytes with their length. */
export function writeBytes(sink: ByteSink, bytes: Uint8Array): void {
  sink.varint(bytes.length);
  sink.copy(bytes);
}

/** Walks the series of a piece. Throws where one leaves it: the store's checksum guards against damage. */
export function* readSeriesState(piece: Uint8Array): Generator<SeriesState> {
  const cursor = { bytes: piece, at: 0, end: piece.length };
  while (cursor.at < cursor.end) {
    const identity = readText(cursor);
    const newestMs = readLength(cursor);
    const isTrimmed = readLength(cursor) === 1;
    const count = readLength(cursor);
    yield { identity, newestMs, isTrimmed, points: Array.from({ length: count }, () => readText(cursor)) };
  }
}

function readText(cursor: ByteCursor): string {
  const { buffer, byteOffset, length } = readBytes(cursor);
  return Buffer.from(buffer, byteOffset, length).toString("latin1");
}

/** A varint that must be there. */
export function readLength(cursor: ByteCursor): number {
  const value = readVarint(cursor);
  if (value < 0) throw new Error("a piece of a checkpoint is cut off");
  return value;
}

/** Bytes with their length, a view. */
export function readBytes(cursor: ByteCursor): Uint8Array {
  const length = readLength(cursor);
  if (cursor.at + length > cursor.end) throw new Error("a piece of a checkpoint is cut off");
  cursor.at += length;
  return cursor.bytes.subarray(cursor.at - length, cursor.at);
}
