// Files that hold a secret of the settings, named by NAME_FILE: Docker's and Kubernetes' mounts, systemd's credentials, a pipe of the shell.
import { closeSync, openSync, readSync } from "node:fs";
import { CLOSE_IT, isOpenToOthers, OPEN_TO_OTHERS } from "./secret-mode.ts";

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
