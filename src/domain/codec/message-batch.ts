// The messages of a unit of work as they stand in its log block: by kind, and within it by the engine that takes them.
import { ByteWriter } from "./byte-writer.ts";
import { piecesOf, writeMessage } from "./shard-message.ts";

/** First size of a buffer, and the largest that is kept for the next unit: a unit has some 100 KiB. */
const WRITER_BYTES_FIRST = 4 * 1024;
const WRITER_BYTES_RETAINED_MAX = 2 * 1024 * 1024;

/** Collects messages; used again for every unit. What it hands out is valid until the next unit's first message. */
export class MessageBatch {
  readonly #engines: number;
  readonly #kinds = new Map<number, ByteWriter[]>();

  constructor(engines: number) {
    this.#engines = engines;
  }

  /** Adds a message for an engine; answers the bytes that it takes. */
  add(kind: number, engine: number, partition: number, payload: Uint8Array): number {
    let writers = this.#kinds.get(kind);
    if (writers === undefined) {
      writers = Array.from({ length: this.#engines }, () => new ByteWriter(WRITER_BYTES_FIRST));
      this.#kinds.set(kind, writers);
    }
    const writer = writers[engine] as ByteWriter;
    const before = writer.at;
    writeMessage(writer, partition, payload);
    return writer.at - before;
  }

  /** The messages for one engine, by kind, in pieces of at most `bytesMax`; each begins at a multiple of 8. */
  *frames(engine: number, bytesMax: number): Generator<readonly [kind: number, section: Uint8Array]> {
    for (const [kind, writers] of this.#kinds) {
      for (const piece of piecesOf(written(writers[engine] as ByteWriter), bytesMax)) yield [kind, piece];
    }
  }

  /** The messages of each kind that has some, in one or more parts. */
  *sections(): Generator<readonly [kind: number, parts: readonly Uint8Array[]]> {
    for (const [kind, writers] of this.#kinds) {
      const parts = writers.filter(({ at }) => at > 0).map(written);
      if (parts.length > 0) yield [kind, parts];
    }
  }

  clear(): void {
    for (const writers of this.#kinds.values()) {
      writers.forEach((writer, engine) => {
        if (writer.bytes.length > WRITER_BYTES_RETAINED_MAX) writers[engine] = new ByteWriter(WRITER_BYTES_FIRST);
        else writer.at = 0;
      });
    }
  }
}

function written(writer: ByteWriter): Uint8Array {
  return writer.bytes.subarray(0, writer.at);
}
