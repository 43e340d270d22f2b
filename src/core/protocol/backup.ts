// A backup: what the process that makes one is asked for, what it says meanwhile, and the manifest that stands in the folder it leaves.

/** File of the manifest in a backup's folder. It is written last: a folder without it is no backup. */
export const BACKUP_MANIFEST = "backup.json";
/** Version of the manifest and of the folder's layout. */
export const BACKUP_FORMAT = 1;

/** Argument of the process, its only one. */
export interface BackupOrder {
  readonly dataDir: string;
  /** Folder to make; it must not be there. */
  readonly target: string;
  /** Folder of an earlier backup whose files of the log are linked where they have not changed; null for a whole copy. */
  readonly previous: string | null;
  /** Pace of the copy of the stores. */
  readonly bytesPerMs: number;
  /** Version of the program. */
  readonly version: string;
  /** Start of the cut, wall time in ms. */
  readonly startedAtMs: number;
}

/** A line of the process's standard output. */
export type BackupReport =
  | { readonly type: "progress"; readonly phase: "stores" | "log" | "checksums"; readonly bytes: number; readonly bytesTotal: number }
  | { readonly type: "done"; readonly manifest: BackupManifest };

export interface BackupFile {
  /** Below the backup's folder. */
  readonly path: string;
  readonly bytes: number;
  /** SHA-256, lower-case hex. */
  readonly sha256: string;
}

/** End of one writer's log in a backup: everything up to the end of its last block. */
export interface BackupLog {
  readonly epoch: number;
  readonly lane: number;
  readonly segment: number;
  readonly bytes: number;
  /** Admission number of the last block; 0 where the writer has none. */
  readonly admission: number;
}

/** Contents of a backup. */
export interface BackupManifest {
  readonly format: typeof BACKUP_FORMAT;
  readonly version: string;
  /** Moment of the cut, ISO 8601: everything that was acknowledged before it is inside. */
  readonly cut_at: string;
  /** Highest admission number inside. */
  readonly cut_admission: number;
  readonly lanes: readonly BackupLog[];
  readonly files: readonly BackupFile[];
  /** Bytes of all files, and of those that were linked from the backup before. */
  readonly bytes: number;
  readonly linked_bytes: number;
}

/** Reads the text of a manifest. Throws an Error that says what is wrong with it. */
export function readBackupManifest(text: string): BackupManifest {
  const manifest = parse(text);
  if (manifest.format !== BACKUP_FORMAT) throw new Error(`it has format ${String(manifest.format)}, this version reads ${BACKUP_FORMAT}`);
  const { files, lanes, cut_at: cutAt } = manifest;
  const isWhole = Array.isArray(files) && files.every(isFile) && Array.isArray(lanes) && !Number.isNaN(Date.parse(String(cutAt)));
  if (!isWhole) throw new Error("it has no list of files with their checksums");
  return manifest as unknown as BackupManifest;
}

function parse(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null) return value as Record<string, unknown>;
  } catch {
    // said below, as of JSON that is no object
  }
  throw new Error("it is not a JSON object");
}

const PATH = /^(?!.*\.\.)[A-Za-z0-9][\w./-]*$/;
const SHA256 = /^[0-9a-f]{64}$/;

/** Paths lead below the folder: a manifest that somebody else made must not write elsewhere. */
function isFile(value: unknown): boolean {
  const { path, bytes, sha256 } = (value ?? {}) as Record<string, unknown>;
  return typeof path === "string" && PATH.test(path) && Number.isSafeInteger(bytes) && typeof sha256 === "string" && SHA256.test(sha256);
}
