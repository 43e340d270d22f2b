// What a checkpoint keeps of series of points: {identity, time of the newest point, whether older ones were dropped, the points}, in pieces of a bounded size.
import { STATE_PIECE_BYTES_MAX } from "../../../core/config/limits.ts";
import { ByteSink } from "../../../domain/codec/byte-sink.ts";
import { type ByteCursor, readVarint } from "../../../domain/codec/varint.ts";

/** Joins what is written to pieces of at most STATE_PIECE_BYTES_MAX; what is written at once stays together. */
export class StatePieces {
  readonly #sink = new ByteSink();
  readonly #pieces: Uint8Array[] = [];

  add(write: (sink: ByteSink) => void): void {
    const sink = this.#sink;
    const from = sink.at;
    write(sink);
    if (sink.at <= STATE_PIECE_BYTES_MAX || from === 0) return;
    this.#pieces.push(sink.bytes.slice(0, from));
    sink.bytes.copyWithin(0, from, sink.at);
    sink.at -= from;
  }

  finish(): readonly Uint8Array[] {
    if (this.#sink.at > 0) this.#pieces.push(this.#sink.bytes.slice(0, this.#sink.at));
    this.#sink.at = 0;
    return this.#pieces;
  }
}

/** One series as it is kept. */
export interface SeriesState {
  /** Text of one byte a character. */
  readonly identity: string;
  readonly newestMs: number;
  readonly isTrimmed: boolean;
  /** Encoded, oldest first. */
  readonly points: readonly Uint8Array[];
}

/** Appends one series. */
export function writeSeriesState(sink: ByteSink, { identity, newestMs, isTrimmed, points }: SeriesState): void {
  writeBytes(sink, Buffer.from(identity, "latin1"));
  sink.varint(newestMs);
  sink.varint(isTrimmed ? 1 : 0);
  sink.varint(points.length);
  for (const point of points) writeBytes(sink, point);
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
    const identity = Buffer.from(readBytes(cursor)).toString("latin1");
    const newestMs = readLength(cursor);
    const isTrimmed = readLength(cursor) === 1;
    const count = readLength(cursor);
    yield { identity, newestMs, isTrimmed, points: Array.from({ length: count }, () => readBytes(cursor)) };
  }
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
