// Who can read a file with a secret.
import { fstatSync } from "node:fs";

const GROUP = 0o070;
const WORLD = 0o007;

/**
 * Whether others than the server's user can read or write an open file. Pipes and devices are nobody's. A file of another owner that is open to its group, as Kubernetes mounts
 * secrets for `fsGroup`, is one that the server could not read otherwise.
 */
export function isOpenToOthers(file: number): boolean {
  const stat = fstatSync(file);
  if (!stat.isFile()) return false;
  return (stat.mode & WORLD) !== 0 || ((stat.mode & GROUP) !== 0 && stat.uid === process.geteuid?.());
}

/** Advice for such a file. */
export const CLOSE_IT = "other users of this machine can read it: chmod 600 it (Kubernetes: defaultMode 0400)";

/** The `code` of the error that says so. */
export const OPEN_TO_OTHERS = "OPEN_TO_OTHERS";
