/**
 * Keeps two servers out of one data folder. Node has no flock, so the lock is a symbolic link <dataDir>/lock.<generation> whose target names
 * the holder, "<pid>:<start time in clock ticks>:<boot id>": made in one step with its content, and still readable after kill -9.
 *
 * The highest generation holds. A holder that is dead, a zombie, from before a reboot or whose pid has another start time by now is stale, and
 * the next server makes the next generation: only one can, as making a link that exists fails. The one before is kept, lower ones are deleted,
 * so that a listing never misses both. A process in another pid namespace (a second container on the same volume) looks dead: it is asked by its socket, folder-owner.ts.
 */

import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync } from "node:fs";
import { FolderGenerations, removeFile } from "./folder-generations.ts";
import { errorCode } from "./log-file-system.ts";

/** Others may come and go between listing and making the link; nobody does so this often. */
const ATTEMPTS_MAX = 10;

/** A held lock. */
export interface FolderLock {
  /** Gives the folder back; calling it again does nothing. */
  release(): void;
}

/** The folder belongs to a living process. */
export class FolderLockedError extends Error {
  readonly holderPid: number;

  constructor(dataDir: string, holderPid: number) {
    super(`${dataDir} is in use by process ${holderPid}`);
    this.name = "FolderLockedError";
    this.holderPid = holderPid;
  }
}

/** Takes the data folder, which is created where missing, for process `pid`; throws FolderLockedError, or the system's error. */
export function lockFolder(dataDir: string, pid: number = process.pid): FolderLock {
  mkdirSync(dataDir, { recursive: true });
  const generations = new FolderGenerations(dataDir, "lock");
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt++) {
    const highest = generations.highest();
    const holder = highest === 0 ? undefined : readHolder(generations.path(highest));
    if (highest > 0 && holder === undefined) continue; // released since it was listed
    if (holder !== undefined && isAlive(holder)) throw new FolderLockedError(dataDir, pidOf(holder));
    const own = `${pid}:${startTicks(pid) ?? ""}:${bootId()}`;
    if (!generations.make(highest + 1, (path) => symlinkSync(own, path))) continue;
    generations.removeBelow(highest);
    return { release: () => removeFile(generations.path(highest + 1)) };
  }
  throw new FolderLockedError(dataDir, 0);
}

/** The living process that has the folder; undefined where none has, or there is no folder. */
export function holderOf(dataDir: string): number | undefined {
  const generations = new FolderGenerations(dataDir, "lock");
  const highest = existsSync(dataDir) ? generations.highest() : 0;
  const holder = highest === 0 ? undefined : readHolder(generations.path(highest));
  return holder !== undefined && isAlive(holder) ? pidOf(holder) : undefined;
}

function readHolder(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    if (errorCode(error) === "EINVAL") return ""; // a plain file of that name, from a copy that followed links: nobody holds it
    throw error;
  }
}

function isAlive(holder: string): boolean {
  const [, ticks, boot] = holder.split(":");
  const pid = pidOf(holder);
  if (pid <= 0 || boot !== bootId()) return false;
  return ticks === "" ? answersSignal(pid) : startTicks(pid) === ticks;
}

function pidOf(holder: string): number {
  const pid = Number.parseInt(holder, 10);
  return Number.isSafeInteger(pid) ? pid : 0;
}

/** Returns when the process started, in clock ticks since boot (field 22 of proc(5) stat); undefined when it is gone, a zombie or there is no /proc. */
function startTicks(pid: number): string | undefined {
  const stat = readText(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" "); // the name in parentheses may hold anything
  const state = fields[0];
  return state === "Z" || state === "X" ? undefined : fields[19];
}

function bootId(): string {
  return readText("/proc/sys/kernel/random/boot_id").trim();
}

/** Where there is no /proc (macOS), a process with the same pid counts as the holder. */
function answersSignal(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === "EPERM";
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}
