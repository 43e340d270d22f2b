/**
 * Reads the logs of all writers in order of admission, and says what of them cannot be read.
 *
 * Blocks of a writer are numbered, and each knows how many rows came before it. So what is missing between two blocks is known in blocks and rows, whether bytes in the middle of a
 * segment were damaged, its end was cut off or a segment is missing. Bytes that are no block are harmless where no number is missing behind them: a write that failed, whose
 * caller was told. At the end of a writer that cannot be distinguished from a write that was cut off by a kill, so there they are a torn end, unless they are known to have been flushed.
 */
import { basename } from "node:path";
import type { LogFlaw } from "../../core/protocol/data-fault.ts";
import type { BlockPosition, LogPosition, StoredBlockHeader } from "./block-format.ts";
import type { LogFileSystem } from "./log-file-system.ts";
import { nodeFileSystem } from "./log-file-system.ts";
import type { LogInventory } from "./log-inventory.ts";
import type { SegmentReader } from "./log-reader.ts";
import { openSegment } from "./log-reader.ts";
import type { LogSegment } from "./log-segment.ts";

/** A block with the writer it was read from and the position behind it. */
export interface MergedBlock {
  readonly epoch: number;
  readonly writer: number;
  readonly header: StoredBlockHeader;
  readonly payload: Uint8Array;
  readonly end: LogPosition;
}

/** Returns the name of a writer of an epoch in a map of positions. */
export function writerKey(epoch: number, writer: number): string {
  return `${epoch}-${writer}`;
}

/**
 * Yields the blocks of all segments behind the positions in `from` (by `writerKey`; a writer without one from its beginning): epochs one after
 * another, within an epoch by admission, the blocks of one writer in file order, lower writers first where admissions are equal.
 * Returns what could not be read; what lies below the bytes of its segment in `flushed` was no write that a kill cut off. A payload is valid until the next step.
 */
export function* mergeBlocks(
  segments: ReadonlyArray<LogSegment>,
  from: ReadonlyMap<string, LogPosition>,
  files: LogFileSystem = nodeFileSystem,
  flushed?: LogInventory,
): Generator<MergedBlock, LogFlaw[]> {
  const flaws: LogFlaw[] = [];
  const epochs = [...new Set(segments.map((each) => each.epoch))].sort((a, b) => a - b);
  for (const epoch of epochs) {
    const ofEpoch = segments.filter((each) => each.epoch === epoch);
    const writers = [...new Set(ofEpoch.map((each) => each.writer))].sort((a, b) => a - b);
    yield* mergeWriters(
      writers.map((writer) => new WriterReader(segmentsOf(ofEpoch, writer), from.get(writerKey(epoch, writer)), flaws, files).blocks()),
    );
  }
  return flaws.map((flaw) => judged(flaw, flushed));
}

/** A flaw, damaged and not torn where whole blocks were flushed and what is missing is not known. */
function judged(flaw: LogFlaw, flushed: LogInventory | undefined): LogFlaw {
  if (flaw.kind !== "torn" || flaw.blocks !== null) return flaw;
  return flaw.offset < (flushed?.get(basename(flaw.path)) ?? 0) ? { ...flaw, kind: "damaged" } : flaw;
}

function* mergeWriters(writers: ReadonlyArray<Generator<MergedBlock, void>>): Generator<MergedBlock, void> {
  try {
    const heads = writers.map((writer) => writer.next().value ?? undefined);
    for (;;) {
      const first = earliest(heads);
      const block = heads[first];
      if (block === undefined) return;
      yield block;
      heads[first] = writers[first]?.next().value ?? undefined;
    }
  } finally {
    for (const writer of writers) writer.return();
  }
}

/** Returns the index of the block with the lowest admission, the first of equals; -1 when there is none. */
function earliest(heads: ReadonlyArray<MergedBlock | undefined>): number {
  let first = -1;
  let lowest = Number.POSITIVE_INFINITY;
  heads.forEach((head, index) => {
    if (head === undefined || (first >= 0 && head.header.admission >= lowest)) return;
    first = index;
    lowest = head.header.admission;
  });
  return first;
}

function segmentsOf(segments: ReadonlyArray<LogSegment>, writer: number): LogSegment[] {
  return segments.filter((each) => each.writer === writer).sort((a, b) => a.segment - b.segment);
}

/** Bytes that are no block, until what follows tells what they are. */
interface Unread {
  readonly path: string;
  readonly offset: number;
  readonly bytes: number;
}

/** Where the next block of a writer stands among all of its blocks; undefined where that is not known. */
type Expected = BlockPosition | undefined;

const FIRST: BlockPosition = { number: 0, rowsBefore: 0 };

/** One writer of one epoch. */
class WriterReader {
  readonly #segments: readonly LogSegment[];
  readonly #from: LogPosition | undefined;
  readonly #flaws: LogFlaw[];
  readonly #files: LogFileSystem;
  #expected: Expected;
  /** Since the last block. */
  #unread: Unread[] = [];

  constructor(segments: readonly LogSegment[], from: LogPosition | undefined, flaws: LogFlaw[], files: LogFileSystem) {
    this.#segments = segments;
    this.#from = from;
    this.#flaws = flaws;
    this.#files = files;
  }

  *blocks(): Generator<MergedBlock, void> {
    for (const segment of this.#segments) {
      const from = this.#from;
      if (from !== undefined && segment.segment < from.segment) continue;
      const reader = openSegment(segment.path, this.#files);
      try {
        yield* this.#read(segment, reader, segment.segment === from?.segment ? from.offset : 0);
      } finally {
        reader.close();
      }
    }
    this.#flaw("torn", this.#unread, null, null);
  }

  *#read({ path, epoch, writer, segment }: LogSegment, reader: SegmentReader, from: number): Generator<MergedBlock, void> {
    if (segment === 0 && from === 0) this.#expected = FIRST;
    for (let offset = from; offset < reader.fileBytes; ) {
      const block = reader.blockAt(offset);
      if (block === undefined) {
        if (offset === from && from > 0) this.#expected = positionBefore(reader, from);
        const next = this.#findNext(reader, offset);
        this.#unread.push({ path, offset, bytes: (next ?? reader.fileBytes) - offset });
        if (next === undefined) return;
        offset = next;
        continue;
      }
      this.#settle({ path, offset, bytes: 0 }, block.header);
      offset = block.endOffset;
      yield { epoch, writer, header: block.header, payload: block.payload, end: { segment, offset } };
    }
  }

  /** A block of before is what a write that failed has left, or a copy: it counts for nothing. */
  #findNext(reader: SegmentReader, offset: number): number | undefined {
    const expected = this.#expected;
    return reader.findBlock(offset, ({ position }) => expected === undefined || position === null || position.number >= expected.number);
  }

  /** Says what lies between the last block and this one. */
  #settle(at: Unread, { position, rows: ownRows }: StoredBlockHeader): void {
    const expected = this.#expected;
    this.#expected = position === null ? undefined : { number: position.number + 1, rowsBefore: position.rowsBefore + ownRows };
    const blocks = expected === undefined || position === null ? null : position.number - expected.number;
    if (blocks === 0) this.#flaw("torn", this.#unread, 0, 0);
    // A writer that begins anew in its epoch counts from 0.
    else if (blocks !== null && blocks < 0) this.#flaw("torn", this.#unread, null, null);
    else if (this.#unread.length > 0 || blocks !== null) {
      const rows = expected === undefined || position === null ? null : position.rowsBefore - expected.rowsBefore;
      this.#flaw("damaged", this.#unread.length > 0 ? this.#unread : [at], blocks, rows);
    }
    this.#unread = [];
  }

  /** The first of several stretches stands for what is missing in all of them. */
  #flaw(kind: LogFlaw["kind"], stretches: readonly Unread[], blocks: number | null, rows: number | null): void {
    stretches.forEach((stretch, index) =>
      this.#flaws.push({ kind, ...stretch, ...(index === 0 ? { blocks, rows } : { blocks: 0, rows: 0 }) }),
    );
  }
}

/** Place of the block at `offset`, by the ones before it in its segment. */
function positionBefore(reader: SegmentReader, offset: number): Expected {
  let last: StoredBlockHeader | undefined;
  for (let at = 0; at < offset; ) {
    const block = reader.blockAt(at);
    if (block === undefined) return undefined;
    last = block.header;
    at = block.endOffset;
  }
  return last?.position ? { number: last.position.number + 1, rowsBefore: last.position.rowsBefore + last.rows } : undefined;
}
