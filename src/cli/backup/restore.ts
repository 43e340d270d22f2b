/**
 * `vedette restore`: checks a backup, every byte of it, and makes a data folder of it. With --log it puts the log behind it that another folder still has, up to --until: the next start reads it as after a kill.
 * What people changed behind the backup (silences, acknowledgements, settings) stands in the stores alone and is not in the log.
 *
 * The files of a backup against its manifest, and their copies.
 */
import { createHash } from "node:crypto";
import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { writeInventory } from "../../adapters/log/log-inventory.ts";
import { listSegments } from "../../adapters/log/log-segment.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { findingText, scanBeside } from "../../adapters/storage/store-check.ts";
import { BACKUP_MANIFEST, type BackupManifest, readBackupManifest } from "../../core/protocol/backup.ts";
import { messageOf } from "../../core/text/error-text.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import { CommandError, EXIT, UsageError } from "../../server/exit-code.ts";
import { writeLine } from "../../server/terminal.ts";
import { writeJson } from "../client/table-text.ts";
import type { CommandArguments } from "../command-arguments.ts";
import { addLaterLog, type LaterLog } from "./later-log.ts";

const STEP_BYTES = 4 * 1024 * 1024;

/** Without them there is nothing to start over. */
const NEEDED = ["meta.json", "series/data.mdb", "control/data.mdb"];

/** A store and its tables. */
export interface RestoredStore {
  readonly name: string;
  readonly tables: readonly string[];
}

interface RestoreOrder {
  readonly backup: string;
  readonly data: string | undefined;
  readonly log: string | undefined;
  readonly untilMs: number;
}

/** Checks, and restores where --data names a folder; exit code 1 where something of the backup is not as it was. Throws UsageError, CommandError. */
export async function runRestore(input: CommandArguments, stores: readonly RestoredStore[]): Promise<number> {
  const order = readOrder(input);
  const manifest = readManifest(order.backup);
  const problems = [
    ...verifyFiles(order.backup, manifest),
    ...(await scanStores(order.backup, stores)),
    ...checkLog(order.backup, manifest),
  ];
  if (problems.length > 0) return showProblems(input, order.backup, problems);
  const later = order.data === undefined ? undefined : restoreInto(order.data, order, manifest);
  show(input, order, manifest, later);
  return EXIT.ok;
}

function readOrder(input: CommandArguments): RestoreOrder {
  const [backup] = input.operands;
  if (backup === undefined) throw new UsageError("name the folder of a backup: vedette restore BACKUP --data NEW_DIR, or --check");
  const [data, log, until] = ["data", "log", "until"].map((name) => input.text(name));
  if ((data === undefined) === !input.has("check"))
    throw new UsageError("give --data NEW_DIR to restore into, or --check to change nothing");
  if (log === undefined && until !== undefined) throw new UsageError("--until needs --log: a backup by itself is restored as of its cut");
  const untilMs = until === undefined ? Number.POSITIVE_INFINITY : parseRfc3339(until);
  if (untilMs === undefined) throw new UsageError(`--until takes a moment such as 2026-01-31T12:00:00Z, got ${JSON.stringify(until)}`);
  return { backup, data, log, untilMs };
}

function readManifest(backup: string): BackupManifest {
  const path = join(backup, BACKUP_MANIFEST);
  try {
    return readBackupManifest(readFileSync(path, "utf8"));
  } catch (error) {
    const reason = messageOf(error);
    throw new CommandError(`${backup} is no backup that can be restored: ${path}: ${reason}`);
  }
}

async function scanStores(backup: string, stores: readonly RestoredStore[]): Promise<string[]> {
  const problems: string[] = [];
  for (const { name, tables } of stores) {
    const file = join(backup, name, "data.mdb");
    if (!existsSync(file)) continue; // said by verifyFiles
    const { findings } = await scanBeside(file, tables, { isThorough: true });
    problems.push(...findings.map((finding) => `${file}: ${findingText(finding)}`));
  }
  return problems;
}

/** The segments are there as far as the cut says; their bytes were compared with their checksums. */
function checkLog(backup: string, { lanes }: BackupManifest): string[] {
  const bytes = new Map(
    listSegments(logDirectory(backup)).map(({ path, epoch, writer, segment }) => [`${epoch} ${writer} ${segment}`, statSync(path).size]),
  );
  return lanes
    .filter(({ epoch, lane: writer, segment, bytes: cut }) => bytes.get(`${epoch} ${writer} ${segment}`) !== cut)
    .map(({ epoch, lane: writer, segment }) => `log: start ${epoch}, lane ${writer}, segment ${segment} does not end where the cut was`);
}

function showProblems(input: CommandArguments, backup: string, problems: readonly string[]): number {
  if (input.has("json")) writeJson({ backup, problems });
  else {
    for (const problem of problems) writeLine(problem);
    writeLine(`${backup} is not what was written: ${problems.length} findings, nothing was restored`);
  }
  return EXIT.problems;
}

/** Makes the folder beside and renames it: what is half restored has another name. */
function restoreInto(data: string, order: RestoreOrder, manifest: BackupManifest): LaterLog | undefined {
  if (existsSync(data) && readdirSync(data).length > 0) throw new UsageError(`--data: ${data} is not empty; name a new folder`);
  process.umask(0o077);
  const partial = `${data.replace(/\/+$/, "")}.partial`;
  rmSync(partial, { recursive: true, force: true });
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  try {
    copyFiles(order.backup, partial, manifest);
    const later = order.log === undefined ? undefined : addLaterLog(partial, order.log, { manifest, untilMs: order.untilMs });
    writeInventory(partial, new Map(listSegments(logDirectory(partial)).map(({ path }) => [basename(path), statSync(path).size])));
    rmSync(data, { recursive: true, force: true });
    mkdirSync(dirname(data), { recursive: true });
    renameSync(partial, data);
    return later;
  } catch (error) {
    rmSync(partial, { recursive: true, force: true });
    throw error;
  }
}

function show(input: CommandArguments, { backup, data }: RestoreOrder, manifest: BackupManifest, later: LaterLog | undefined): void {
  const { cut_at: cutAt, cut_admission: admission, files, bytes } = manifest;
  if (input.has("json"))
    return writeJson({
      backup,
      data: data ?? null,
      cut_at: cutAt,
      cut_admission: admission,
      files: files.length,
      bytes,
      later_log: later ?? null,
      problems: [],
    });
  writeLine(`${backup} is whole: ${files.length} files, ${bytes} bytes, as of ${cutAt} (admission ${admission})`);
  if (data === undefined) return;
  if (later !== undefined) writeLine(`of the log behind it: ${later.blocks} blocks, ${later.rows} rows, up to ${later.until ?? "its cut"}`);
  writeLine(`restored to ${data}: start the server with DATA_DIR=${data}`);
}

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
function copyFiles(backup: string, into: string, { files }: BackupManifest): void {
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
