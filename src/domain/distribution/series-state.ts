// What a checkpoint keeps of series of points: {identity, time of the newest point, whether older ones were dropped, the points}, in pieces of a bounded size.
import { STATE_PIECE_BYTES_MAX } from "../../core/config/limits.ts";
import { ByteReader } from "../codec/byte-reader.ts";
import { ByteWriter } from "../codec/byte-writer.ts";

/** Joins what is written to pieces of at most STATE_PIECE_BYTES_MAX; what is written between two looks stays together. */
export class StatePieces {
  readonly writer = new ByteWriter();
  /** Where the last look found the end. */
  #end = 0;

  /** A copy of what was there at the last look, once more would be too much for a piece. */
  *full(): Generator<Uint8Array> {
    const { writer } = this;
    if (writer.at > STATE_PIECE_BYTES_MAX && this.#end > 0) {
      yield writer.bytes.slice(0, this.#end);
      writer.bytes.copyWithin(0, this.#end, writer.at);
      writer.at -= this.#end;
    }
    this.#end = writer.at;
  }

  /** Last piece: what is left, if anything. */
  *rest(): Generator<Uint8Array> {
    if (this.writer.at > 0) yield this.writer.bytes.slice(0, this.writer.at);
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
export function writeSeriesState(writer: ByteWriter, { identity, newestMs, isTrimmed, points }: SeriesState): void {
  writer.latin1(identity);
  writer.varint(newestMs);
  writer.varint(isTrimmed ? 1 : 0);
  writer.varint(points.length);
  for (const point of points) writer.latin1(point);
}

/** Over what StatePieces made. It throws where the bytes end: the store's checksum guards against damage. */
export function pieceReader(piece: Uint8Array): ByteReader {
  return new ByteReader(piece, "a piece of a checkpoint is cut off");
}

/** Walks the series of a piece. Throws where one leaves it. */
export function* readSeriesState(piece: Uint8Array): Generator<SeriesState> {
  const reader = pieceReader(piece);
  while (!reader.isAtEnd) {
    const identity = reader.latin1();
    const newestMs = reader.varint();
    const isTrimmed = reader.varint() === 1;
    const count = reader.varint();
    yield { identity, newestMs, isTrimmed, points: Array.from({ length: count }, () => reader.latin1()) };
  }
}
