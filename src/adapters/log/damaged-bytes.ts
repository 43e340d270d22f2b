/**
 * <dataDir>/damaged/<segment>-<offset>.bytes: parts of log segments that cannot be read, for whoever wants to look into them, as their segment is deleted once checkpoints have passed it.
 * At most DAMAGED_BYTES_RETAINED_MAX of all; the operator deletes them. Each engine that meets a part keeps it: a file is made beside and renamed, so that there is one, and whole.
 */
import { closeSync, mkdirSync, openSync, readdirSync, readSync, renameSync, statSync, writeSync } from "node:fs";
import { basename, join } from "node:path";
import { DAMAGED_BYTES_RETAINED_MAX } from "../../core/config/limits.ts";
import type { LogFlaw } from "../../core/protocol/data-fault.ts";
import { errorCode } from "./log-file-system.ts";

const COPY_BYTES = 1024 * 1024;

/** Returns the folder of what is kept. */
export function damagedDirectory(dataDir: string): string {
  return join(dataDir, "damaged");
}

/** Passes blocks on, and keeps what of the logs is damaged once all have been read. */
export function* keepingDamaged<T>(
  blocks: Generator<T, readonly LogFlaw[]>,
  dataDir: string,
  by: number,
): Generator<T, readonly LogFlaw[]> {
  const flaws = yield* blocks;
  for (const flaw of flaws)
    if (flaw.kind === "damaged" && flaw.bytes > 0 && flaw.isGone !== true) keepBytes(flaw, damagedDirectory(dataDir), by);
  return flaws;
}

/** A disk that does not take them changes nothing: the start goes on. */
function keepBytes({ path, offset, bytes }: LogFlaw, directory: string, by: number): void {
  const name = `${basename(path, ".log")}-${offset}.bytes`;
  try {
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    const names = readdirSync(directory);
    if (names.includes(name)) return;
    const retained = names.reduce((sum, each) => sum + statSync(join(directory, each)).size, 0);
    const remainingBytes = Math.min(bytes, DAMAGED_BYTES_RETAINED_MAX - retained);
    if (remainingBytes <= 0) return;
    const beside = join(directory, `${name}.${by}`);
    copyBytes(path, offset, remainingBytes, beside);
    renameSync(beside, join(directory, name));
  } catch (error) {
    if (errorCode(error) === "EUNKNOWN") throw error;
  }
}

function copyBytes(from: string, offset: number, bytes: number, to: string): void {
  const source = openSync(from, "r");
  const target = openSync(to, "w", 0o600);
  try {
    const buffer = new Uint8Array(Math.min(bytes, COPY_BYTES));
    for (let done = 0; done < bytes; ) {
      const read = readSync(source, buffer, 0, Math.min(buffer.length, bytes - done), offset + done);
      if (read === 0) return;
      for (let written = 0; written < read; ) written += writeSync(target, buffer, written, read - written);
      done += read;
    }
  } finally {
    closeSync(source);
    closeSync(target);
  }
}
