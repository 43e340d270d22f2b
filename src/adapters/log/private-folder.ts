// The data folder belongs to the user that the server runs as: telemetry, keys and tokens are in it. What the server makes there is for its owner alone (umask 077), and what an
// earlier version made readable for others is closed. Where anything else is in it, nothing is: a mistaken DATA_DIR may be a home, /var or the root of the machine.
import { chmodSync, lstatSync, mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorCode } from "./log-file-system.ts";

const OTHERS = 0o077;
/** The folder, its folders, their files. */
const DEPTH_MAX = 2;
/** Names that a server, of this version or an earlier one, makes in its folder. */
const OWN =
  /^(log|log-archive|series|control|damaged|set-aside|crash-notes|meta\.json|data-faults\.json|log-inventory\.json|noted\.e[\d-]+\.log|jwt-secret|admin-token|sign-in-link)(\.\w+)?$/;
/** The lock and the socket of the owner, a SOCKET that is put here, and what a file system makes at its root. */
const NEUTRAL = /^(lock\.\d+|owner(\.new)?\.\w+|lost\+found|.+\.sock)$/;

/** Whoever has read one of these is an admin for good. */
const SECRETS = ["admin-token", "jwt-secret"] as const;

/** Files that could not be closed, and those that are not the server's own. */
export interface ClosedFolder {
  readonly failed: readonly string[];
  readonly strange: readonly string[];
  /** Secrets that others could read until now. */
  readonly exposed: readonly string[];
}

/** Makes the folder where it is missing, and closes it where it holds nothing strange, else leaves all as it is. Throws the system's error where it cannot be made or listed. */
export function closeFolder(dataDir: string): ClosedFolder {
  process.umask(OTHERS);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const names = readdirSync(dataDir);
  const strange = names.filter((name) => !OWN.test(name) && !NEUTRAL.test(name)).sort();
  const failed: string[] = [];
  const exposed = SECRETS.map((name) => join(dataDir, name)).filter(isOpen);
  if (strange.length === 0) closePath(dataDir, 0, failed);
  return { failed, strange, exposed };
}

function isOpen(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && (stat.mode & OTHERS) !== 0;
}

function closePath(path: string, depth: number, failed: string[]): void {
  let entry: ReturnType<typeof lstatSync>;
  try {
    entry = lstatSync(path);
    if (entry.isSymbolicLink()) return; // a lock
    if ((entry.mode & OTHERS) !== 0) chmodSync(path, entry.mode & 0o700);
  } catch (error) {
    if (errorCode(error) !== "ENOENT") failed.push(path);
    return;
  }
  if (entry.isDirectory() && depth < DEPTH_MAX) for (const name of readdirSync(path)) closePath(join(path, name), depth + 1, failed);
}
