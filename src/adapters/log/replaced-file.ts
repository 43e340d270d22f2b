// Small files that are replaced as a whole: written beside, flushed and renamed, so that after any crash there is the old or the new one.
import { closeSync, fsyncSync, openSync, renameSync, writeFileSync } from "node:fs";

/** Replaces a file, which only its owner may read; throws the system's error, and then the old one stands. */
export function replaceFile(path: string, content: string | Uint8Array): void {
  const beside = `${path}.new`;
  const descriptor = openSync(beside, "w", 0o600);
  try {
    writeFileSync(descriptor, content);
    fsyncSync(descriptor);
  } finally {
    closeSync(descriptor);
  }
  renameSync(beside, path);
}
