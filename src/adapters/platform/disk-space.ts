// How much a disk can still take.
import { statfsSync } from "node:fs";

/** Bytes that anybody may write to the disk of a file or folder. Throws the system's error. */
export function freeDiskBytes(path: string): number {
  const { bavail, bsize } = statfsSync(path);
  return bavail * bsize;
}
