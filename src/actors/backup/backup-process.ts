/**
 * The process that makes a backup of a data folder, beside the server that writes to it or of one that is stopped: one order as its argument, lines of JSON on standard output, the first error on standard error.
 *
 * The cut is one moment, as a kill of the server would leave it: first the series store's transaction is held, then the control store's, then the lengths of the log are taken. So control holds what the checkpoints
 * of series stand behind, and the log what both know of; a start over the copy reads the rest from the log, as after any kill. Segments that the server takes out of the log meanwhile stay in its archive until the end.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { syncDirectory } from "../../adapters/log/log-file-system.ts";
import { writeInventory } from "../../adapters/log/log-inventory.ts";
import { RETAINED_FILES } from "../../adapters/log/stored-parts.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import { freeDiskBytes } from "../../adapters/platform/disk-space.ts";
import { holdStore, type PinnedStore } from "../../adapters/storage/store-copy.ts";
import {
  BACKUP_FORMAT,
  BACKUP_MANIFEST,
  type BackupFile,
  type BackupManifest,
  type BackupOrder,
  type BackupReport,
  readBackupManifest,
} from "../../core/protocol/backup.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { type CutSegment, copyBytes, cutLog, linkFile, segmentNow, unchangedFile } from "./backup-log.ts";

/** Beside the stores and the log; the inventory is made anew. */
const RETAINED = [...RETAINED_FILES, "damaged"];
/** In the order in which they are held. */
const STORES = ["series", "control"] as const;
const HASH_STEP_BYTES = 1024 * 1024;
const PAUSE_MS = 1;
const PROGRESS_MS = 200;

const order = JSON.parse(process.argv[2] as string) as BackupOrder;
const beganMs = systemClock.monotonicMs();

/** Bytes of one phase, told at most five times a second. */
class Progress {
  readonly #phase: (BackupReport & { type: "progress" })["phase"];
  readonly #bytesTotal: number;
  #bytes = 0;
  #reportedAt = 0;

  constructor(phase: (BackupReport & { type: "progress" })["phase"], bytesTotal: number) {
    this.#phase = phase;
    this.#bytesTotal = bytesTotal;
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    const now = systemClock.monotonicMs();
    if (now - this.#reportedAt < PROGRESS_MS && this.#bytes < this.#bytesTotal) return;
    this.#reportedAt = now;
    report({ type: "progress", phase: this.#phase, bytes: this.#bytes, bytesTotal: this.#bytesTotal });
  }
}

function report(line: BackupReport): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

function storeFile(name: string): string {
  return join(order.dataDir, name, "data.mdb");
}

/** Ends with what is missing, before anything is written. */
function requireFreeBytes(bytes: number, folder: string): void {
  const free = freeDiskBytes(folder);
  if (free < bytes) throw new Error(`the backup needs up to ${bytes} bytes, and ${folder} has ${free} free`);
}

/** Both stores, whose transactions are held one behind the other. */
function holdStores(): Map<string, PinnedStore> {
  return new Map(STORES.map((name) => [name, holdStore(storeFile(name))]));
}

async function copyStores(partial: string, stores: ReadonlyMap<string, PinnedStore>): Promise<void> {
  const progress = new Progress("stores", bytesOf(stores.values()));
  for (const [name, store] of stores) {
    await store.copy(join(partial, name), order.bytesPerMs, (bytes) => progress.add(bytes));
    store.close();
  }
}

function bytesOf(parts: Iterable<{ readonly bytes: number }>): number {
  let total = 0;
  for (const { bytes } of parts) total += bytes;
  return total;
}

async function copyLog(
  partial: string,
  segments: readonly CutSegment[],
  previous: readonly BackupFile[],
): Promise<Map<string, BackupFile>> {
  const progress = new Progress("log", bytesOf(segments));
  const linked = new Map<string, BackupFile>();
  mkdirSync(join(partial, "log"), { recursive: true, mode: 0o700 });
  for (const segment of segments) {
    const path = `log/${basename(segment.path)}`;
    const before = segment.isFull ? unchangedFile(previous, path, segment.bytes) : undefined;
    if (before !== undefined && linkFile(join(order.previous as string, path), join(partial, path))) {
      linked.set(path, before);
      progress.add(segment.bytes);
      continue;
    }
    await copyBytes(segmentNow(segment, order.dataDir), join(partial, path), segment.bytes, (bytes) => progress.add(bytes));
  }
  writeInventory(partial, new Map(segments.map(({ path, bytes }) => [basename(path), bytes])));
  return linked;
}

function copyRetained(partial: string): void {
  for (const name of RETAINED) {
    const from = join(order.dataDir, name);
    if (existsSync(from)) cpSync(from, join(partial, name), { recursive: true, preserveTimestamps: true });
  }
}

/** Files below a folder, by their paths in it. */
function* filesBelow(folder: string, below = folder): Generator<string> {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* filesBelow(path, below);
    else if (entry.isFile()) yield relative(below, path);
  }
}

/** SHA-256 of each file; what was linked has the one of the backup that it is linked to. Flushes each. */
async function checksums(partial: string, linked: ReadonlyMap<string, BackupFile>): Promise<BackupFile[]> {
  const paths = [...filesBelow(partial)].sort();
  const progress = new Progress(
    "checksums",
    paths.reduce((sum, path) => sum + statSync(join(partial, path)).size, 0),
  );
  const files: BackupFile[] = [];
  for (const path of paths) {
    const known = linked.get(path);
    files.push(known ?? (await checksum(partial, path, progress)));
    if (known !== undefined) progress.add(known.bytes);
  }
  return files;
}

async function checksum(partial: string, path: string, progress: Progress): Promise<BackupFile> {
  const descriptor = openSync(join(partial, path), "r");
  try {
    const hash = createHash("sha256");
    const piece = Buffer.alloc(HASH_STEP_BYTES);
    let bytes = 0;
    for (let read = readSync(descriptor, piece); read > 0; read = readSync(descriptor, piece)) {
      hash.update(piece.subarray(0, read));
      bytes += read;
      progress.add(read);
      await sleep(PAUSE_MS);
    }
    fsyncSync(descriptor);
    return { path, bytes, sha256: hash.digest("hex") };
  } finally {
    closeSync(descriptor);
  }
}

async function makeBackup(): Promise<BackupManifest> {
  const parent = dirname(order.target);
  mkdirSync(parent, { recursive: true, mode: 0o700 });
  if (existsSync(order.target)) throw new Error(`${order.target} is there already`);
  const previous = order.previous === null ? [] : readBackupManifest(readFileSync(join(order.previous, BACKUP_MANIFEST), "utf8")).files;
  const partial = `${order.target}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { mode: 0o700 });
  try {
    const stores = holdStores();
    const { segments, logs } = cutLog(order.dataDir);
    const cutAt = new Date(order.startedAtMs + systemClock.monotonicMs() - beganMs).toISOString();
    requireFreeBytes(bytesOf(stores.values()) + bytesOf(segments), parent);
    await copyStores(partial, stores);
    const linked = await copyLog(partial, segments, previous);
    copyRetained(partial);
    const files = await checksums(partial, linked);
    const manifest: BackupManifest = {
      format: BACKUP_FORMAT,
      version: order.version,
      cut_at: cutAt,
      cut_admission: Math.max(0, ...logs.map(({ admission }) => admission)),
      lanes: logs,
      files,
      bytes: bytesOf(files),
      linked_bytes: bytesOf(linked.values()),
    };
    writeFileSync(join(partial, BACKUP_MANIFEST), `${JSON.stringify(manifest, null, 1)}\n`, { mode: 0o600, flush: true });
    renameSync(partial, order.target);
    syncDirectory(parent, { openSync, fsyncSync, closeSync });
    return manifest;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

process.umask(0o077);
try {
  report({ type: "done", manifest: await makeBackup() });
} catch (error) {
  process.stderr.write(`${messageOf(error)}\n`);
  process.exitCode = 1;
}
