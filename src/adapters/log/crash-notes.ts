/**
 * <dataDir>/crash-notes/<epoch>-<actor>.json {"version":1, ...CrashNote}: what a thread was working at when it threw, written by the thread at its end, at most one a start and thread.
 * A kill writes none. The next start leaves out what they name; a note goes when nothing is there any more that it could name. At most POISON_MARKS_MAX.
 */
import { mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { POISON_MARKS_MAX } from "../../core/config/set-aside-limits.ts";
import type { CrashNote } from "../../core/protocol/crash-note.ts";
import { errorCode } from "./log-file-system.ts";
import { replaceFile } from "./replaced-file.ts";

const VERSION = 1;
const NAME = /^\d+-[a-z0-9-]+\.json$/;

/** A note and where it is. */
export interface FoundNote extends CrashNote {
  readonly path: string;
}

function directoryOf(dataDir: string): string {
  return join(dataDir, "crash-notes");
}

/** Writes a note. A disk that does not take it changes nothing: the next start meets the same again, and writes it then. */
export function writeCrashNote(dataDir: string, note: CrashNote): void {
  try {
    const directory = directoryOf(dataDir);
    mkdirSync(directory, { recursive: true, mode: 0o700 });
    if (readdirSync(directory).length >= POISON_MARKS_MAX) return;
    replaceFile(join(directory, `${note.epoch}-${note.actor}.json`), `${JSON.stringify({ version: VERSION, ...note })}\n`);
  } catch (error) {
    if (!(error instanceof Error && "syscall" in error)) throw error;
  }
}

/** All notes that can be read, the oldest first. Throws the system's error where the folder cannot be listed. */
export function readCrashNotes(dataDir: string): FoundNote[] {
  const directory = directoryOf(dataDir);
  let names: string[];
  try {
    names = readdirSync(directory).filter((name) => NAME.test(name));
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
  return names.flatMap((name) => readNote(join(directory, name))).sort((a, b) => a.epoch - b.epoch);
}

function readNote(path: string): FoundNote[] {
  try {
    const { version, epoch, actor, reason, place } = JSON.parse(readFileSync(path, "utf8")) as CrashNote & { version: unknown };
    return version === VERSION && Number.isInteger(epoch) && typeof place?.type === "string" ? [{ epoch, actor, reason, place, path }] : [];
  } catch {
    return []; // a note that cannot be read names nothing
  }
}

/** Whether a thread of that start has left a note. */
export function hasCrashNote(dataDir: string, epoch: number): boolean {
  return readCrashNotes(dataDir).some((note) => note.epoch === epoch);
}

export function removeCrashNote({ path }: FoundNote): void {
  rmSync(path, { force: true });
}
