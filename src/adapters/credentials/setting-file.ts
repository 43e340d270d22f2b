// Files that hold a secret of the settings, named by NAME_FILE: Docker's and Kubernetes' mounts, systemd's credentials, a pipe of the shell.
// Who can read a file with a secret.
import { closeSync, fstatSync, openSync, readSync } from "node:fs";

const GROUP = 0o070;
const WORLD = 0o007;

/** Advice for such a file. */
export const CLOSE_IT = "other users of this machine can read it: chmod 600 it (Kubernetes: defaultMode 0400)";

/** The `code` of the error that says so. */
const OPEN_TO_OTHERS = "OPEN_TO_OTHERS";

/** The first `bytesMax` bytes of a file or pipe. Throws the system's error, or one of code OPEN_TO_OTHERS. */
export function readSettingFile(path: string, bytesMax: number): Uint8Array {
  const file = openSync(path, "r");
  try {
    if (isOpenToOthers(file)) throw Object.assign(new Error(`${path}: ${CLOSE_IT}`), { code: OPEN_TO_OTHERS });
    const bytes = new Uint8Array(bytesMax);
    let filled = 0;
    // The size of a pipe is not known before its end.
    while (filled < bytesMax) {
      const read = readSync(file, bytes, filled, bytesMax - filled, null);
      if (read === 0) break;
      filled += read;
    }
    return bytes.subarray(0, filled);
  } finally {
    closeSync(file);
  }
}

/**
 * Whether others than the server's user can read or write an open file. Pipes and devices are nobody's. A file of another owner that is open to its group, as Kubernetes mounts
 * secrets for `fsGroup`, is one that the server could not read otherwise.
 */
export function isOpenToOthers(file: number): boolean {
  const stat = fstatSync(file);
  if (!stat.isFile()) return false;
  return (stat.mode & WORLD) !== 0 || ((stat.mode & GROUP) !== 0 && stat.uid === process.geteuid?.());
}
