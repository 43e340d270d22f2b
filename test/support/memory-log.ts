/**
 * A file system in memory with a disk's behaviour, for simulations of the log: the real writer and reader run on it
 * (`openLogWriter(options, disk)`, `listSegments`, `readBlocks`, `mergeBlocks`, `deleteCoveredSegments`).
 */

import { basename, dirname } from "node:path";
import type { LogFileSystem } from "../../src/adapters/log/log-file-system.ts";

interface MemoryFile {
  bytes: Uint8Array;
  size: number;
  /** What a loss of power leaves: the size at the last flush. */
  flushedSize: number;
}

/** What the next call of an operation fails with. */
export type DiskOperation = "openSync" | "writevSync" | "ftruncateSync" | "fdatasyncSync" | "fsyncSync" | "unlinkSync";

/** Files by path, which lie flat in directories. */
export class MemoryDisk implements LogFileSystem {
  /** Bytes that all files together may have. */
  budgetBytes = Number.POSITIVE_INFINITY;
  /** Number of flushes, for tests of when they happen. */
  flushes = 0;
  readonly #files = new Map<string, MemoryFile>();
  readonly #directories = new Set<string>();
  readonly #open = new Map<number, MemoryFile | undefined>();
  readonly #failures = new Map<DiskOperation, string[]>();
  #nextDescriptor = 3;

  /** Lets the next call of the operation fail with a code such as "EIO"; calls queue up. */
  failNext(operation: DiskOperation, code: string): void {
    this.#failures.set(operation, [...(this.#failures.get(operation) ?? []), code]);
  }

  /** The process is gone: descriptors no longer work, every byte that was written stays. */
  kill(): void {
    this.#open.clear();
  }

  /** The machine is gone: what was not flushed is lost as well. */
  losePower(): void {
    this.kill();
    for (const file of this.#files.values()) file.size = file.flushedSize;
  }

  /** Returns a copy of a file's bytes. */
  contents(path: string): Uint8Array {
    const file = this.#files.get(path);
    if (file === undefined) throw systemError("ENOENT", path);
    return file.bytes.slice(0, file.size);
  }

  /** Replaces a file's bytes. */
  overwrite(path: string, bytes: Uint8Array): void {
    this.#files.set(path, { bytes: bytes.slice(), size: bytes.length, flushedSize: bytes.length });
  }

  get usedBytes(): number {
    let sum = 0;
    for (const file of this.#files.values()) sum += file.size;
    return sum;
  }

  /** Number of open descriptors, to find leaks. */
  get openDescriptors(): number {
    return this.#open.size;
  }

  openSync(path: string, flags: string): number {
    this.#mayFail("openSync", path);
    const descriptor = this.#nextDescriptor++;
    if (flags === "wx" || flags === "w") {
      if (flags === "wx" && this.#files.has(path)) throw systemError("EEXIST", path);
      this.#files.set(path, { bytes: new Uint8Array(1024), size: 0, flushedSize: 0 });
    } else if (!this.#files.has(path) && !this.#directories.has(path)) throw systemError("ENOENT", path);
    this.#open.set(descriptor, this.#files.get(path));
    return descriptor;
  }

  closeSync(descriptor: number): void {
    if (!this.#open.delete(descriptor)) throw systemError("EBADF", "close");
  }

  writevSync(descriptor: number, parts: ReadonlyArray<Uint8Array>, position: number): number {
    const file = this.#fileOf(descriptor);
    this.#mayFail("writevSync", "writev");
    let at = position;
    for (const part of parts) {
      const room = this.budgetBytes - this.usedBytes + Math.max(0, file.size - at);
      const taken = Math.max(0, Math.min(part.length, room));
      write(file, part.subarray(0, taken), at);
      at += taken;
      if (taken < part.length) break;
    }
    if (at === position && parts.some((part) => part.length > 0)) throw systemError("ENOSPC", "writev");
    return at - position;
  }

  readSync(descriptor: number, into: Uint8Array, offset: number, length: number, position: number): number {
    const file = this.#fileOf(descriptor);
    const end = Math.min(file.size, position + length);
    if (end <= position) return 0;
    into.set(file.bytes.subarray(position, end), offset);
    return end - position;
  }

  ftruncateSync(descriptor: number, length: number): void {
    this.#mayFail("ftruncateSync", "ftruncate");
    const file = this.#fileOf(descriptor);
    file.size = length;
    file.flushedSize = Math.min(file.flushedSize, length);
  }

  fdatasyncSync(descriptor: number): void {
    this.#mayFail("fdatasyncSync", "fdatasync");
    const file = this.#fileOf(descriptor);
    file.flushedSize = file.size;
    this.flushes += 1;
  }

  fsyncSync(descriptor: number): void {
    this.#mayFail("fsyncSync", "fsync");
    if (!this.#open.has(descriptor)) throw systemError("EBADF", "fsync");
    this.flushes += 1;
  }

  fstatSync(descriptor: number): { readonly size: number } {
    return { size: this.#fileOf(descriptor).size };
  }

  readdirSync(path: string): string[] {
    if (!this.#directories.has(path)) throw systemError("ENOENT", path);
    return [...this.#files.keys()].filter((each) => dirname(each) === path).map((each) => basename(each));
  }

  unlinkSync(path: string): void {
    this.#mayFail("unlinkSync", path);
    if (!this.#files.delete(path)) throw systemError("ENOENT", path);
  }

  mkdirSync(path: string): void {
    for (let each = path; !this.#directories.has(each); each = dirname(each)) this.#directories.add(each);
  }

  #fileOf(descriptor: number): MemoryFile {
    const file = this.#open.get(descriptor);
    if (file === undefined) throw systemError("EBADF", String(descriptor));
    return file;
  }

  #mayFail(operation: DiskOperation, path: string): void {
    const code = this.#failures.get(operation)?.shift();
    if (code !== undefined) throw systemError(code, path);
  }
}

function write(file: MemoryFile, part: Uint8Array, at: number): void {
  const end = at + part.length;
  if (end > file.bytes.length) {
    const larger = new Uint8Array(Math.max(2 * file.bytes.length, end));
    larger.set(file.bytes.subarray(0, file.size));
    file.bytes = larger;
  }
  file.bytes.fill(0, file.size, Math.max(file.size, at));
  file.bytes.set(part, at);
  file.size = Math.max(file.size, end);
}

function systemError(code: string, doing: string): Error {
  return Object.assign(new Error(`${code}: ${doing}`), { code });
}
