/**
 * Appends one engine's blocks to its own files: one positional writev a wake-up, so 32 KB at 1 kHz take 32 us p50 and 69 us p99 (284 and
 * 1,673 us with fdatasync). Blocks are written at the known end, never at the file's own: what a failed write left behind is overwritten.
 */

import type { LogBlockHeader, LogPosition } from "./block-format.ts";
import { BLOCK_HEADER_BYTES, BLOCK_PAYLOAD_BYTES_MAX, blockBytes, blockPadding, writeBlockHeader } from "./block-format.ts";
import type { LogFileSystem } from "./log-file-system.ts";
import { errorCode, nodeFileSystem, syncDirectory } from "./log-file-system.ts";
import { noteSegment } from "./log-inventory.ts";
import { listSegments, segmentPath } from "./log-segment.ts";

/** Size at which a segment is full unless the options say otherwise. */
const SEGMENT_BYTES = 64 * 1024 * 1024;

const RETRYABLE_CODES = new Set(["ENOSPC", "EDQUOT", "ESHORT", "EAGAIN", "EINTR", "EMFILE", "ENFILE", "ENOMEM"]);

/** Where and how a writer's log is written. */
export interface LogWriterOptions {
  readonly directory: string;
  /** Where each segment is noted before its first block. */
  readonly dataDir: string;
  readonly epoch: number;
  readonly writer: number;
  /** A block that would pass this many bytes goes to a new segment; a block that is larger has one of its own. */
  readonly segmentBytes?: number;
  /** Flush to the disk before `append` returns: what it returned for survives a loss of power, not only a kill of the process. */
  readonly syncEach: boolean;
}

/** The log of one writer of one epoch; it belongs to one thread. */
export interface LogWriter {
  /** End of the last block, or the beginning of the first segment. */
  readonly position: LogPosition;
  /** Bytes of all blocks since the writer was opened. */
  readonly bytesWritten: number;
  /**
   * Writes one block with the parts, which may be views of shared memory, and returns the position behind it. On LogWriteError nothing
   * was appended and the next call may work. Throws RangeError when the parts pass BLOCK_PAYLOAD_BYTES_MAX.
   */
  append(header: LogBlockHeader, parts: ReadonlyArray<Uint8Array>): LogPosition;
  /** Has the next block begin a new segment, so that this one can be deleted once it is covered; throws LogWriteError, and then goes on with this one. */
  endSegment(): void;
  /** Closes the file; nothing can be appended afterwards. */
  close(): void;
}

/** A block that was not appended: `code` is the system's (or ESHORT), `retryable` says whether time alone may heal it, as with a full disk. */
export class LogWriteError extends Error {
  readonly code: string;
  readonly retryable: boolean;

  constructor(doing: string, code: string, cause?: unknown) {
    super(`${doing}: ${code}`, { cause });
    this.name = "LogWriteError";
    this.code = code;
    this.retryable = RETRYABLE_CODES.has(code);
  }
}

/**
 * Creates the directory where it is missing and the first segment: number 0, or the one behind the writer's last where an earlier writer
 * of the epoch (an engine that was restarted) left some. Throws LogWriteError.
 */
export function openLogWriter(options: LogWriterOptions, files: LogFileSystem = nodeFileSystem): LogWriter {
  try {
    files.mkdirSync(options.directory, { recursive: true });
    const own = listSegments(options.directory, files).filter((each) => each.epoch === options.epoch && each.writer === options.writer);
    return new SegmentWriter(options, files, (own.at(-1)?.segment ?? -1) + 1);
  } catch (error) {
    throw error instanceof LogWriteError || error instanceof RangeError
      ? error
      : new LogWriteError("open the log", errorCode(error), error);
  }
}

class SegmentWriter implements LogWriter {
  readonly #options: LogWriterOptions;
  readonly #files: LogFileSystem;
  readonly #segmentBytes: number;
  readonly #header = new Uint8Array(BLOCK_HEADER_BYTES);
  /** Number of the next block. */
  #number = 0;
  #rowsBefore = 0;
  #nextSegment: number;
  #descriptor: number;
  #position: LogPosition;
  #bytesWritten = 0;
  /** The segment may hold bytes behind the position that could not be removed, or its flush failed: nothing more may go there. */
  #damaged = false;

  constructor(options: LogWriterOptions, files: LogFileSystem, segment: number) {
    this.#options = options;
    this.#files = files;
    this.#segmentBytes = options.segmentBytes ?? SEGMENT_BYTES;
    this.#nextSegment = segment;
    this.#descriptor = this.#create();
    this.#position = { segment, offset: 0 };
  }

  get position(): LogPosition {
    return this.#position;
  }

  get bytesWritten(): number {
    return this.#bytesWritten;
  }

  append(header: LogBlockHeader, parts: ReadonlyArray<Uint8Array>): LogPosition {
    if (this.#descriptor < 0) throw new Error("the log is closed");
    let payloadBytes = 0;
    for (const part of parts) payloadBytes += part.length;
    if (payloadBytes > BLOCK_PAYLOAD_BYTES_MAX)
      throw new RangeError(`a block holds at most ${BLOCK_PAYLOAD_BYTES_MAX} bytes, not ${payloadBytes}`);
    writeBlockHeader(this.#header, { ...header, number: this.#number, rowsBefore: this.#rowsBefore }, parts);
    const bytes = blockBytes(payloadBytes);
    if (this.#damaged || (this.#position.offset > 0 && this.#position.offset + bytes > this.#segmentBytes)) this.#roll();
    if (this.#position.offset === 0) this.#note();
    this.#write([this.#header, ...parts, blockPadding(payloadBytes)], bytes);
    this.#position = { segment: this.#position.segment, offset: this.#position.offset + bytes };
    this.#bytesWritten += bytes;
    this.#number++;
    this.#rowsBefore += header.rows;
    return this.#position;
  }

  endSegment(): void {
    this.#roll();
  }

  close(): void {
    if (this.#descriptor >= 0) this.#files.closeSync(this.#descriptor);
    this.#descriptor = -1;
  }

  #note(): void {
    const { directory, epoch, writer, dataDir, syncEach } = this.#options;
    try {
      noteSegment(dataDir, segmentPath(directory, epoch, writer, this.#position.segment), syncEach, this.#files);
    } catch (error) {
      throw new LogWriteError("note a segment", errorCode(error), error);
    }
  }

  #write(parts: ReadonlyArray<Uint8Array>, bytes: number): void {
    try {
      const written = this.#files.writevSync(this.#descriptor, parts, this.#position.offset);
      if (written !== bytes) throw new LogWriteError("append a block", "ESHORT");
    } catch (error) {
      this.#cutBack();
      throw error instanceof LogWriteError ? error : new LogWriteError("append a block", errorCode(error), error);
    }
    if (this.#options.syncEach) this.#sync();
  }

  #sync(): void {
    try {
      this.#files.fdatasyncSync(this.#descriptor);
    } catch (error) {
      this.#damaged = true; // after a failed flush the kernel may call lost pages clean, so a later flush of this file proves nothing
      this.#cutBack();
      throw new LogWriteError("flush a block", errorCode(error), error);
    }
  }

  #cutBack(): void {
    try {
      this.#files.ftruncateSync(this.#descriptor, this.#position.offset);
    } catch {
      this.#damaged = true; // the reader stops at what is left there and goes on with the next segment
    }
  }

  #roll(): void {
    const full = this.#descriptor;
    this.#descriptor = this.#create();
    this.#position = { segment: this.#nextSegment - 1, offset: 0 };
    this.#damaged = false;
    this.#files.closeSync(full);
  }

  /** Creates the next segment; a number is used once, so that nothing left by a failed attempt is in the way of the next. */
  #create(): number {
    const { directory, epoch, writer, syncEach } = this.#options;
    const path = segmentPath(directory, epoch, writer, this.#nextSegment);
    this.#nextSegment += 1;
    let descriptor = -1;
    try {
      descriptor = this.#files.openSync(path, "wx");
      if (syncEach) syncDirectory(directory, this.#files);
      return descriptor;
    } catch (error) {
      if (descriptor >= 0) this.#discard(descriptor, path);
      throw new LogWriteError("create a segment", errorCode(error), error);
    }
  }

  #discard(descriptor: number, path: string): void {
    this.#files.closeSync(descriptor);
    try {
      this.#files.unlinkSync(path);
    } catch {
      // an empty segment stays: readers pass over it and retention deletes it
    }
  }
}
