/**
 * Reads the blocks of a segment through a window of 1 MiB that grows to the largest block (80 MiB at most), one window for each writer that is merged.
 * A block that is short, has a wrong magic, claims too much or fails its checksum is either the torn end of a write that nobody was answered for, or damage: then there are
 * whole blocks behind it. They are looked for at each multiple of 8, the first bytes of a block decide for nearly all of those.
 */

import { LOG_SEARCH_BYTES_MAX } from "../../core/config/limits.ts";
import type { StoredBlockHeader } from "./block-format.ts";
import { BLOCK_ALIGNMENT, BLOCK_HEADER_BYTES_MIN, readBlockHeader, readBlockSize } from "./block-format.ts";
import type { LogFileSystem } from "./log-file-system.ts";
import { errorCode, nodeFileSystem } from "./log-file-system.ts";

const WINDOW_BYTES = 1024 * 1024;

/** A block as read: the payload is a view that is valid until the next step and begins at a multiple of 8 of its buffer. */
export interface LogBlock {
  readonly header: StoredBlockHeader;
  readonly payload: Uint8Array;
  /** Offset in the segment behind the block. */
  readonly endOffset: number;
}

/** Where the readable part of a segment ends and how many bytes behind that were cut off. */
export interface SegmentEnd {
  readonly endOffset: number;
  readonly cutBytes: number;
}

/** An open segment. */
export interface SegmentReader {
  /** Size of the file when it was opened: what is appended later is not read. */
  readonly fileBytes: number;
  /** The block at a place; undefined where there is none, or one that cannot be read. */
  blockAt(offset: number): LogBlock | undefined;
  /** The first place behind `offset` of a whole block that `counts`; undefined where there is none. */
  findBlock(offset: number, counts: (header: StoredBlockHeader) => boolean): number | undefined;
  close(): void;
}

/** Opens a segment; a missing file is an empty one. Throws the system's error. */
export function openSegment(path: string, files: LogFileSystem = nodeFileSystem): SegmentReader {
  const descriptor = openIfThere(path, files);
  if (descriptor === undefined) return NO_SEGMENT;
  const window = new FileWindow(descriptor, files);
  return {
    fileBytes: window.fileBytes,
    blockAt: (offset) => readBlock(window, offset),
    findBlock: (offset, counts) => findBlock(window, offset, counts),
    close: () => files.closeSync(descriptor),
  };
}

const NO_SEGMENT: SegmentReader = { fileBytes: 0, blockAt: () => undefined, findBlock: () => undefined, close: () => undefined };

/**
 * Yields the blocks of a segment from `fromOffset`, the end of a block, up to the first that cannot be read, and returns where it stopped.
 * Throws the system's error when reading fails.
 */
export function* readBlocks(path: string, fromOffset = 0, files: LogFileSystem = nodeFileSystem): Generator<LogBlock, SegmentEnd> {
  if (fromOffset % BLOCK_ALIGNMENT !== 0) throw new RangeError(`${fromOffset} is not the end of a block`);
  const segment = openSegment(path, files);
  try {
    let offset = fromOffset;
    for (;;) {
      const block = segment.blockAt(offset);
      if (block === undefined) return { endOffset: offset, cutBytes: Math.max(0, segment.fileBytes - offset) };
      offset = block.endOffset;
      yield block;
    }
  } finally {
    segment.close();
  }
}

function readBlock(window: FileWindow, offset: number): LogBlock | undefined {
  const headerAt = window.hold(offset, BLOCK_HEADER_BYTES_MIN);
  if (headerAt < 0) return undefined;
  const size = readBlockSize(window.bytes, headerAt);
  if (size === undefined) return undefined;
  const at = window.hold(offset, size.bytes);
  if (at < 0) return undefined;
  const header = readBlockHeader(window.bytes, at, size);
  if (header === undefined) return undefined;
  const payloadAt = at + size.headerBytes;
  return { header, payload: window.bytes.subarray(payloadAt, payloadAt + size.payloadBytes), endOffset: offset + size.bytes };
}

/** Offset of the next block that counts. What looks like a block and is none costs its checksum: after LOG_SEARCH_BYTES_MAX of that the rest of the segment counts as unreadable. */
function findBlock(window: FileWindow, from: number, counts: (header: StoredBlockHeader) => boolean): number | undefined {
  let budgetBytes = LOG_SEARCH_BYTES_MAX;
  for (let offset = from + BLOCK_ALIGNMENT; offset + BLOCK_HEADER_BYTES_MIN <= window.fileBytes; offset += BLOCK_ALIGNMENT) {
    const at = window.hold(offset, BLOCK_HEADER_BYTES_MIN);
    if (at < 0) return undefined;
    const size = readBlockSize(window.bytes, at);
    if (size === undefined || offset + size.bytes > window.fileBytes) continue;
    budgetBytes -= size.bytes;
    if (budgetBytes < 0) return undefined;
    const block = readBlock(window, offset);
    if (block !== undefined && counts(block.header)) return offset;
  }
  return undefined;
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
