/**
 * <dataDir>/log-inventory.json: {"version":1,"segments":{"e0000000001-0000-00000000.log":4096, ...}}, the segments that hold blocks and how much of each has been flushed, 40 bytes each.
 * A start that finds less knows that something is gone: without it a folder whose log was deleted looks like one that holds nothing.
 *
 * Written beside the flushes of the log, once a second while the log grows, so a damaged end that nobody is informed of is no more than what a loss of power may cost. A full disk leaves
 * the last one, which stays true but for segments that were deleted since: those are covered by what the stores hold, which the coordinator looks up. Segments that came since
 * have a note of their own (below).
 *
 * <dataDir>/noted.<name of a segment>: an empty file that stands for a segment until log-inventory.json has it. A writer makes it behind the segment's file and before the first block
 * in it, so nobody is answered for a block of a segment that no note knows; a crash between the steps leaves an empty segment, which is there, or one without a note, which holds nothing.
 * Outside the log's folder, as that may be what is lost.
 */

import { existsSync, readFileSync, statSync } from "node:fs";
import { open, rename, unlink } from "node:fs/promises";
import { basename, join } from "node:path";
import type { LogFlaw } from "../../core/protocol/data-fault.ts";
import type { LogPosition } from "./block-format.ts";
import { errorCode, type LogFileSystem, syncDirectory } from "./log-file-system.ts";
import { type LogSegment, listSegments, namesIn, parseSegmentName } from "./log-segment.ts";
import { logDirectory } from "./meta-file.ts";
import { replaceFile } from "./replaced-file.ts";

const PREFIX = "noted.";

const VERSION = 1;
const NAME = "log-inventory.json";

/** Bytes by the names of segments. */
export type LogInventory = ReadonlyMap<string, number>;

/** Parts missing in a folder by its inventory. */
export interface MissingLog {
  readonly segments: readonly LogSegment[];
  /** Ends of segments that are there. */
  readonly cutOff: readonly LogFlaw[];
}

/** Reads the inventory, without notes; undefined where there is none, as in a folder of an earlier version, or one that is damaged. */
export function readInventory(dataDir: string): LogInventory | undefined {
  try {
    const stored = JSON.parse(readFileSync(join(dataDir, NAME), "utf8")) as { version?: unknown; segments?: unknown };
    if (stored.version !== VERSION || typeof stored.segments !== "object" || stored.segments === null) return undefined;
    const entries = Object.entries(stored.segments).filter((entry): entry is [string, number] => Number.isSafeInteger(entry[1]));
    return new Map(entries);
  } catch (error) {
    if (error instanceof SyntaxError || errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Writes the inventory of a folder that no server has open: a backup, or what is restored from one. Throws the system's error. */
export function writeInventory(dataDir: string, segments: LogInventory): void {
  const known = [...segments].filter(([, bytes]) => bytes > 0);
  replaceFile(join(dataDir, NAME), JSON.stringify({ version: VERSION, segments: Object.fromEntries(known) }));
}

/** Parts of the inventory that are not in the folder. */
export function missingLog(dataDir: string, inventory: LogInventory): MissingLog {
  const directory = logDirectory(dataDir);
  const there = new Map(listSegments(directory).map((segment) => [basename(segment.path), segment]));
  const segments = [...inventory.keys()].filter((name) => !there.has(name)).flatMap((name) => parseSegmentName(directory, name) ?? []);
  const cutOff: LogFlaw[] = [];
  for (const [name, { path }] of there) {
    const { size } = statSync(path);
    const known = inventory.get(name) ?? 0;
    if (size < known) cutOff.push({ kind: "damaged", path, offset: size, bytes: known - size, isGone: true, blocks: null, rows: null });
  }
  return { segments, cutOff };
}

/** Keeps the inventory of a running server. */
export class InventoryKeeper {
  readonly #dataDir: string;
  readonly #epoch: number;
  /** As the start found it. */
  readonly #found: LogInventory;
  /** Of segments of earlier starts, once these have been read. */
  #tornEnds: ReadonlyMap<string, number> | undefined;
  #text = "";

  constructor(dataDir: string, epoch: number) {
    this.#dataDir = dataDir;
    this.#epoch = epoch;
    this.#found = readInventory(dataDir) ?? new Map();
  }

  /** The logs of earlier starts have been read; `tornEnds`: by the names of segments, the end of the blocks behind which a kill cut a write off. */
  takeRead(tornEnds: ReadonlyMap<string, number>): void {
    this.#tornEnds = tornEnds;
  }

  /** Takes over what was flushed, by path; `placed` are positions of this epoch's writers from before that flush. One call at a time; rejects with the system's error. */
  async note(flushed: ReadonlyMap<string, number>, placed: readonly LogPosition[]): Promise<void> {
    const entries = [...flushed].map(([path, bytes]): [string, number] => [basename(path), this.#wholeBytes(path, bytes, placed)]);
    const segments = Object.fromEntries(entries.filter(([, bytes]) => bytes > 0));
    const text = JSON.stringify({ version: VERSION, segments });
    if (text !== this.#text) await replaceLater(join(this.#dataDir, NAME), text);
    this.#text = text;
    await this.#dropNotes(segments);
  }

  /** Notes of segments that the inventory has, or that were deleted: a segment is there before its note. */
  async #dropNotes(segments: Readonly<Record<string, number>>): Promise<void> {
    const directory = logDirectory(this.#dataDir);
    const done = notedSegments(this.#dataDir).filter((name) => Object.hasOwn(segments, name) || !existsSync(join(directory, name)));
    if (done.length === 0) return;
    const folder = await open(this.#dataDir, "r");
    try {
      await folder.sync(); // the inventory's new name, before the notes go
    } finally {
      await folder.close();
    }
    for (const name of done) await unlink(notePath(this.#dataDir, name));
  }

  /** Bytes up to the end of a block: the file may hold a part of one more, which a write that fails takes back, or which a kill has left. */
  #wholeBytes(path: string, bytes: number, placed: readonly LogPosition[]): number {
    const segment = parseSegmentName("", basename(path));
    if (segment !== undefined && segment.epoch < this.#epoch) return Math.min(bytes, this.#wholeBytesBefore(basename(path)));
    const position = segment === undefined ? undefined : placed[segment.writer];
    if (segment === undefined || position === undefined || segment.segment < position.segment) return bytes;
    return segment.segment === position.segment ? Math.min(bytes, position.offset) : 0;
  }

  /** Of a segment of an earlier start: until it has been read no more is whole than was known. */
  #wholeBytesBefore(name: string): number {
    const end = this.#tornEnds === undefined ? 0 : (this.#tornEnds.get(name) ?? Number.POSITIVE_INFINITY);
    return Math.max(end, this.#found.get(name) ?? 0);
  }
}

async function replaceLater(path: string, text: string): Promise<void> {
  const beside = `${path}.new`;
  const file = await open(beside, "w", 0o600);
  try {
    await file.writeFile(text);
    await file.datasync();
  } finally {
    await file.close();
  }
  await rename(beside, path);
}

/** Notes a segment, durably where `isFlushed`; a note that is there already is fine. Throws the system's error. */
export function noteSegment(dataDir: string, segmentPath: string, isFlushed: boolean, files: LogFileSystem): void {
  files.closeSync(files.openSync(notePath(dataDir, basename(segmentPath)), "w"));
  if (isFlushed) syncDirectory(dataDir, files);
}

/** Names of the segments that are noted. Throws the system's error. */
export function notedSegments(dataDir: string): string[] {
  const names = namesIn(dataDir).filter((name) => name.startsWith(PREFIX));
  return names.map((name) => name.slice(PREFIX.length)).filter((name) => parseSegmentName("", name) !== undefined);
}

/** Path of the note of a segment. */
function notePath(dataDir: string, segmentName: string): string {
  return join(dataDir, PREFIX + segmentName);
}
