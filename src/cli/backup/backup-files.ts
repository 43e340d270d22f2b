// The files of a backup against its manifest, and their copies.
import { createHash } from "node:crypto";
import { closeSync, copyFileSync, existsSync, fsyncSync, lstatSync, mkdirSync, openSync, readSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import type { BackupManifest } from "../../core/protocol/backup.ts";

const STEP_BYTES = 4 * 1024 * 1024;
/** Without them there is nothing to start over. */
const NEEDED = ["meta.json", "series/data.mdb", "control/data.mdb"];

/** Files that are not as they were written, a line each. */
export function verifyFiles(backup: string, { files }: BackupManifest): string[] {
  const listed = new Set(files.map(({ path }) => path));
  const unlisted = NEEDED.filter((path) => !listed.has(path)).map((path) => `${path} is not in the manifest`);
  const wrong = files.flatMap(({ path, bytes, sha256 }) => {
    const file = join(backup, path);
    if (!existsSync(file)) return [`${path} is missing`];
    const other = notOwn(backup, path);
    if (other !== undefined) return [`${other} is a link or a device: a backup has files and folders of its own only`];
    const { size } = statSync(file);
    if (size !== bytes) return [`${path} has ${size} bytes, not ${bytes}`];
    return sha256Of(file) === sha256 ? [] : [`${path} is not what was written: its SHA-256 differs`];
  });
  return [...unlisted, ...wrong];
}

/** The first part of a path in the backup that is neither a folder nor a file, such as a link to what is elsewhere. */
function notOwn(backup: string, path: string): string | undefined {
  const parts = path.split("/");
  return parts
    .map((_, depth) => parts.slice(0, depth + 1).join("/"))
    .find((part, depth) => {
      const state = lstatSync(join(backup, part));
      return depth === parts.length - 1 ? !state.isFile() : !state.isDirectory();
    });
}

function sha256Of(path: string): string {
  const descriptor = openSync(path, "r");
  try {
    const hash = createHash("sha256");
    const piece = Buffer.alloc(STEP_BYTES);
    for (let read = readSync(descriptor, piece); read > 0; read = readSync(descriptor, piece)) hash.update(piece.subarray(0, read));
    return hash.digest("hex");
  } finally {
    closeSync(descriptor);
  }
}

/** Copies the files into a folder, each flushed: copies and not links, as a server writes to them. */
export function copyFiles(backup: string, into: string, { files }: BackupManifest): void {
  for (const { path } of files) {
    const target = join(into, path);
    mkdirSync(dirname(target), { recursive: true, mode: 0o700 });
    copyFileSync(join(backup, path), target);
    const descriptor = openSync(target, "r+");
    try {
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }
}
