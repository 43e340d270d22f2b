/**
 * Reads segments through a window of 1 MiB that grows to the largest block (80 MiB at most), one window for each lane that is merged.
 * A segment ends where a block is short, has a wrong magic, claims too much or fails its checksum: the rest is the torn tail of a write
 * that nobody was answered for, or damage; how many bytes that is belongs into a counter.
 */

import type { LogBlockHeader, LogPosition } from "./block-format.ts";
import { BLOCK_ALIGNMENT, BLOCK_HEADER_BYTES, blockBytes, readBlockHeader, readPayloadBytes } from "./block-format.ts";
import type { LogFileSystem } from "./log-file-system.ts";
import { errorCode, nodeFileSystem } from "./log-file-system.ts";
import type { LogSegment } from "./log-segment.ts";

const WINDOW_BYTES = 1024 * 1024;

/** A block as read: the payload is a view that is valid until the next step and begins at a multiple of 8 of its buffer. */
export interface LogBlock {
  readonly header: LogBlockHeader;
  readonly payload: Uint8Array;
  /** Offset in the segment behind the block. */
  readonly endOffset: number;
}

/** Where the readable part of a segment ends and how many bytes behind that were cut off. */
export interface SegmentEnd {
  readonly endOffset: number;
  readonly cutBytes: number;
}

/** A block with the lane it was read from and the position behind it. */
export interface MergedBlock {
  readonly epoch: number;
  readonly lane: number;
  readonly header: LogBlockHeader;
  readonly payload: Uint8Array;
  readonly end: LogPosition;
}

/** A segment whose end was cut off. */
export interface TornSegment {
  readonly path: string;
  readonly cutBytes: number;
}

/**
 * Yields the blocks of a segment from `fromOffset`, the end of a block, and returns where it stopped. A missing file is an empty one.
 * Throws the system's error when reading fails.
 */
export function* readBlocks(path: string, fromOffset = 0, files: LogFileSystem = nodeFileSystem): Generator<LogBlock, SegmentEnd> {
  if (fromOffset % BLOCK_ALIGNMENT !== 0) throw new RangeError(`${fromOffset} is not the end of a block`);
  const descriptor = openIfThere(path, files);
  if (descriptor === undefined) return { endOffset: fromOffset, cutBytes: 0 };
  try {
    const window = new FileWindow(descriptor, files);
    let offset = fromOffset;
    for (;;) {
      const block = readBlock(window, offset);
      if (block === undefined) return { endOffset: offset, cutBytes: Math.max(0, window.fileBytes - offset) };
      offset = block.endOffset;
      yield block;
    }
  } finally {
    files.closeSync(descriptor);
  }
}

/** Returns the name of a lane of an epoch in a map of positions. */
export function laneKey(epoch: number, lane: number): string {
  return `${epoch}-${lane}`;
}

/**
 * Yields the blocks of all segments behind the positions in `from` (by `laneKey`; a lane without one from its beginning): epochs one after
 * another, within an epoch by admission, the blocks of one lane in file order, lower lanes first where admissions are equal.
 * Returns the segments that were cut off. A payload is valid until the next step.
 */
export function* mergeBlocks(
  segments: ReadonlyArray<LogSegment>,
  from: ReadonlyMap<string, LogPosition>,
  files: LogFileSystem = nodeFileSystem,
): Generator<MergedBlock, TornSegment[]> {
  const torn: TornSegment[] = [];
  const epochs = [...new Set(segments.map((each) => each.epoch))].sort((a, b) => a - b);
  for (const epoch of epochs) {
    const ofEpoch = segments.filter((each) => each.epoch === epoch);
    const lanes = [...new Set(ofEpoch.map((each) => each.lane))].sort((a, b) => a - b);
    yield* mergeLanes(lanes.map((lane) => readLane(segmentsOf(ofEpoch, lane), from.get(laneKey(epoch, lane)), torn, files)));
  }
  return torn;
}

function* mergeLanes(lanes: ReadonlyArray<Generator<MergedBlock, void>>): Generator<MergedBlock, void> {
  try {
    const heads = lanes.map((lane) => lane.next().value ?? undefined);
    for (;;) {
      const first = earliest(heads);
      const block = heads[first];
      if (block === undefined) return;
      yield block;
      heads[first] = lanes[first]?.next().value ?? undefined;
    }
  } finally {
    for (const lane of lanes) lane.return();
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

function* readLane(
  segments: ReadonlyArray<LogSegment>,
  from: LogPosition | undefined,
  torn: TornSegment[],
  files: LogFileSystem,
): Generator<MergedBlock, void> {
  for (const { path, epoch, lane, segment } of segments) {
    if (from !== undefined && segment < from.segment) continue;
    const blocks = readBlocks(path, segment === from?.segment ? from.offset : 0, files);
    try {
      let step = blocks.next();
      for (; !step.done; step = blocks.next()) {
        const { header, payload, endOffset } = step.value;
        yield { epoch, lane, header, payload, end: { segment, offset: endOffset } };
      }
      if (step.value.cutBytes > 0) torn.push({ path, cutBytes: step.value.cutBytes });
    } finally {
      blocks.return({ endOffset: 0, cutBytes: 0 });
    }
  }
}

function segmentsOf(segments: ReadonlyArray<LogSegment>, lane: number): LogSegment[] {
  return segments.filter((each) => each.lane === lane).sort((a, b) => a.segment - b.segment);
}

function readBlock(window: FileWindow, offset: number): LogBlock | undefined {
  const headerAt = window.hold(offset, BLOCK_HEADER_BYTES);
  if (headerAt < 0) return undefined;
  const payloadBytes = readPayloadBytes(window.bytes, headerAt);
  if (payloadBytes < 0) return undefined;
  const bytes = blockBytes(payloadBytes);
  const at = window.hold(offset, bytes);
  if (at < 0) return undefined;
  const header = readBlockHeader(window.bytes, at, payloadBytes);
  if (header === undefined) return undefined;
  const payloadAt = at + BLOCK_HEADER_BYTES;
  return { header, payload: window.bytes.subarray(payloadAt, payloadAt + payloadBytes), endOffset: offset + bytes };
}

/** The part of a file that is in memory; offsets and the places in its buffer are equal modulo 8. */
class FileWindow {
  /** Size of the file when it was opened: what is appended later is not read. */
  readonly fileBytes: number;
  bytes = new Uint8Array(0);
  readonly #descriptor: number;
  readonly #files: LogFileSystem;
  #start = 0;
  #filled = 0;

  constructor(descriptor: number, files: LogFileSystem) {
    this.#descriptor = descriptor;
    this.#files = files;
    this.fileBytes = files.fstatSync(descriptor).size;
  }

  /** Returns the place in `bytes` of `length` bytes of the file from `offset`; -1 when the file ends before. */
  hold(offset: number, length: number): number {
    if (offset + length > this.fileBytes) return -1;
    if (offset < this.#start || offset + length > this.#start + this.#filled) this.#load(offset, length);
    return offset + length <= this.#start + this.#filled ? offset - this.#start : -1;
  }

  #load(offset: number, length: number): void {
    const wanted = Math.min(Math.max(length, WINDOW_BYTES), this.fileBytes - offset);
    if (this.bytes.length < wanted) this.bytes = new Uint8Array(Math.ceil(wanted / BLOCK_ALIGNMENT) * BLOCK_ALIGNMENT);
    this.#start = offset;
    this.#filled = 0;
    while (this.#filled < wanted) {
      const read = this.#files.readSync(this.#descriptor, this.bytes, this.#filled, wanted - this.#filled, offset + this.#filled);
      if (read === 0) return; // the file became shorter
      this.#filled += read;
    }
  }
}

function openIfThere(path: string, files: LogFileSystem): number | undefined {
  try {
    return files.openSync(path, "r");
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}
