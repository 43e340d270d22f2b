// Has a process of its own make backups of the running server's folder (actors/backup/backup-process.ts): one at a time, at the lowest priority.
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { constants, setPriority } from "node:os";
import { basename, join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { LogArchive } from "../../adapters/log/log-archive.ts";
import type { LogSegment } from "../../adapters/log/log-segment.ts";
import { MIB } from "../../core/config/byte-units.ts";
import { background, child as childHome, listen, task } from "../../core/faults/guard.ts";
import {
  BACKUP_MANIFEST,
  type BackupManifest,
  type BackupOrder,
  type BackupReport,
  readBackupManifest,
} from "../../core/protocol/backup.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { ONLY_JOB, RunningJobs } from "../state/jobs.ts";

const PROCESS_FILE = fileURLToPath(new URL("../../actors/backup/backup-process.js", import.meta.url));
const NAME = /^vedette-\d{8}T\d{6}Z$/;
/** Most characters of standard error that are kept as the reason. */
const REASON_CHARACTERS_MAX = 500;
/** A folder of backups that somebody fills by hand is listed up to here. */
const LISTED_MAX = 1_000;

/** BACKUP_DIR, BACKUP_KEEP, BACKUP_MIB_PER_SECOND, and of whose folder. */
export interface BackupOptions {
  readonly dataDir: string;
  /** Empty: none are made. */
  readonly directory: string;
  readonly keep: number;
  readonly mibPerSecond: number;
  readonly version: string;
}

/** A backup that is there. */
export interface StoredBackup extends Omit<BackupManifest, "format" | "files" | "lanes"> {
  readonly name: string;
  readonly files: number;
}

/** The backup that is being made. */
export interface RunningBackup {
  readonly name: string;
  readonly startedAtMs: number;
  readonly phase: string;
  readonly bytes: number;
  readonly bytesTotal: number;
}

/** The last one that came to an end. */
export interface EndedBackup {
  readonly name: string;
  readonly endedAtMs: number;
  /** Null where it was made. */
  readonly error: string | null;
  readonly seconds: number;
  readonly bytes: number;
}

export interface BackupRunnerDependencies {
  readonly archive: Pick<LogArchive, "lock" | "release">;
  nowMs(): number;
  ended(backup: EndedBackup): void;
}

/** The backups of one server. */
export class BackupRunner {
  readonly #options: BackupOptions;
  readonly #dependencies: BackupRunnerDependencies;
  /** Those that were read: a manifest does not change, and is asked for while a backup is followed. */
  readonly #read = new Map<string, StoredBackup>();
  readonly #running = new RunningJobs<RunningBackup>();
  #last: EndedBackup | null = null;
  #child: ChildProcess | undefined;

  constructor(options: BackupOptions, dependencies: BackupRunnerDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
  }

  get isConfigured(): boolean {
    return this.#options.directory !== "";
  }

  get running(): RunningBackup | null {
    return this.#running.of(ONLY_JOB) ?? null;
  }

  get last(): EndedBackup | null {
    return this.#last;
  }

  /** Those in BACKUP_DIR, the newest first; a folder whose manifest cannot be read is none. Throws the system's error. */
  list(): StoredBackup[] {
    const { directory } = this.#options;
    if (!this.isConfigured || !existsSync(directory)) return [];
    const names = readdirSync(directory).filter((name) => NAME.test(name));
    for (const name of this.#read.keys()) if (!names.includes(name)) this.#read.delete(name);
    const found = names.sort().reverse().slice(0, LISTED_MAX);
    return found.flatMap((name) => this.#stored(name) ?? []);
  }

  #stored(name: string): StoredBackup | undefined {
    const known = this.#read.get(name);
    if (known !== undefined) return known;
    try {
      const manifest = readBackupManifest(readFileSync(join(this.#options.directory, name, BACKUP_MANIFEST), "utf8"));
      const { cut_at, cut_admission, bytes, linked_bytes, version, files } = manifest;
      const stored = { name, cut_at, cut_admission, bytes, linked_bytes, files: files.length, version };
      this.#read.set(name, stored);
      return stored;
    } catch {
      return undefined;
    }
  }

  /** Begins one; undefined while another is being made. `isWhole` links nothing from the one before. */
  start(isWhole: boolean): RunningBackup | undefined {
    if (this.running !== null) return undefined;
    const { dataDir, directory, version } = this.#options;
    const startedAtMs = this.#dependencies.nowMs();
    const name = `vedette-${new Date(startedAtMs).toISOString().slice(0, 19).replaceAll(/[-:]/g, "")}Z`;
    const [newest] = isWhole ? [] : this.list();
    const order: BackupOrder = {
      dataDir: resolve(dataDir),
      target: resolve(directory, name),
      previous: newest === undefined ? null : resolve(directory, newest.name),
      bytesPerMs: (this.#options.mibPerSecond * MIB) / 1_000,
      version,
      startedAtMs,
    };
    const progress: RunningBackup = { name, startedAtMs, phase: "stores", bytes: 0, bytesTotal: 0 };
    background(
      task("a backup"),
      this.#running.begin(ONLY_JOB, progress, async () => this.#dependencies.ended(await this.#run(name, order))),
    );
    return progress;
  }

  /** Ends what is being made. */
  async stop(): Promise<void> {
    this.#child?.kill("SIGKILL");
    await this.#running.idle();
  }

  async #run(name: string, order: BackupOrder): Promise<EndedBackup> {
    const { archive, nowMs } = this.#dependencies;
    archive.lock();
    const made = await this.#make(order).catch((error: unknown) => messageOf(error));
    const isMade = typeof made !== "string";
    archive.release(isMade ? copiedSegments(made) : () => false);
    const gone = isMade ? this.#old() : [`${order.target}.partial`];
    // In other threads: to free a file of gigabytes takes longer than this one may stand still.
    // What cannot be removed is tried again behind the next backup.
    for (const folder of gone) await rm(folder, { recursive: true, force: true }).catch(() => undefined);
    const endedAtMs = nowMs();
    const seconds = (endedAtMs - order.startedAtMs) / 1_000;
    this.#last = { name, endedAtMs, error: isMade ? null : made, seconds, bytes: isMade ? made.bytes : 0 };
    return this.#last;
  }

  async #make(order: BackupOrder): Promise<BackupManifest> {
    const child = spawn(process.execPath, [PROCESS_FILE, JSON.stringify(order)], { stdio: ["ignore", "pipe", "pipe"], env: {} });
    this.#child = child;
    if (child.pid !== undefined) setPriority(child.pid, constants.priority.PRIORITY_LOW);
    let [reason, manifest] = ["", undefined as BackupManifest | undefined];
    const home = childHome("a backup", (error) => {
      reason ||= String(error);
      child.kill("SIGKILL");
    });
    listen(child.stderr, "data", home, (bytes: Buffer) => {
      reason = (reason + bytes.toString()).slice(0, REASON_CHARACTERS_MAX);
    });
    const lines = createInterface({ input: child.stdout });
    listen(lines, "line", home, (line: string) => {
      const report = JSON.parse(line) as BackupReport;
      if (report.type === "done") manifest = report.manifest;
      else if (this.running !== null)
        this.#running.moved(ONLY_JOB, { ...this.running, phase: report.phase, bytes: report.bytes, bytesTotal: report.bytesTotal });
    });
    try {
      const end = await new Promise<number | string>((settle, reject) => {
        child.once("error", reject);
        child.once("close", (code, signal) => settle(code ?? String(signal)));
      });
      if (end === 0 && manifest !== undefined) return manifest;
      throw new Error(reason.trim() || `the process that made it was ended by ${end}`);
    } finally {
      this.#child = undefined;
    }
  }

  /** Folders beyond those that are kept. */
  #old(): string[] {
    const { directory, keep } = this.#options;
    return this.list()
      .slice(keep)
      .map(({ name }) => join(directory, name));
  }
}

/** A segment behind which its writer went on is in the backup as a whole. */
function copiedSegments({ files, lanes }: BackupManifest): (segment: LogSegment) => boolean {
  const copied = new Set(files.map(({ path }) => basename(path)));
  const open = new Set(lanes.map(({ epoch, lane: writer, segment }) => `${epoch} ${writer} ${segment}`));
  return ({ path, epoch, writer, segment }) => copied.has(basename(path)) && !open.has(`${epoch} ${writer} ${segment}`);
}
