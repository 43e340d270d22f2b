// The log behind a backup, from a data folder that still has it (its log and log-archive), put into a folder that is being restored.
import { copyFileSync, existsSync, readFileSync, statSync, truncateSync } from "node:fs";
import { basename, join } from "node:path";
import { archiveDirectory } from "../../adapters/log/log-archive.ts";
import { readBlocks } from "../../adapters/log/log-reader.ts";
import { type LogSegment, listSegments } from "../../adapters/log/log-segment.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { BASE_LEAD_MS, BLOCK_HISTORY } from "../../core/layout/row-frame.ts";
import type { BackupManifest } from "../../core/protocol/backup.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { CommandError, UsageError } from "../../server/exit-code.ts";

/** Blocks that were appended. */
export interface LaterLog {
  readonly blocks: number;
  readonly rows: number;
  /** Arrival of the last of it, RFC 3339; null where there was nothing. */
  readonly until: string | null;
}

interface LaterLogOptions {
  readonly manifest: BackupManifest;
  /** Arrival, wall time, behind which nothing is taken. */
  readonly untilMs: number;
}

/** Adds it to the folder `into`, which has the backup's files. Throws CommandError where the other folder is not the same server's or a segment between is gone. */
export function addLaterLog(into: string, from: string, { manifest, untilMs }: LaterLogOptions): LaterLog {
  if (!existsSync(from)) throw new UsageError(`--log: there is no folder ${from}`);
  if (untilMs < Date.parse(manifest.cut_at))
    throw new UsageError(`--until is before the backup, which is as of ${manifest.cut_at}: take an earlier backup`);
  checkSeed(into, from);
  const later = laterSegments(from, manifest);
  const sum = { blocks: 0, rows: 0, untilMs: Number.NEGATIVE_INFINITY };
  for (const segments of later.values()) addWriter(into, segments, { untilMs, cut: cutOf(manifest), sum });
  return { blocks: sum.blocks, rows: sum.rows, until: sum.blocks === 0 ? null : formatRfc3339(sum.untilMs) };
}

/** Identities in the log depend on it. */
function checkSeed(into: string, from: string): void {
  const seedOf = (folder: string) => {
    try {
      return (JSON.parse(readFileSync(join(folder, "meta.json"), "utf8")) as { seed?: unknown }).seed;
    } catch {
      return undefined;
    }
  };
  const seed = seedOf(from);
  if (seed !== undefined && seed !== seedOf(into))
    throw new CommandError(`--log: ${from} is the folder of another server: its seed is not the backup's`);
}

/** By writer, those at the cut and behind it, without a gap. */
function laterSegments(from: string, { lanes }: BackupManifest): Map<string, LogSegment[]> {
  const cuts = new Map(lanes.map((cut) => [`${cut.epoch} ${cut.lane}`, cut]));
  const lastEpoch = Math.max(0, ...lanes.map(({ epoch }) => epoch));
  const byWriter = new Map<string, LogSegment[]>();
  const all = [...listSegments(logDirectory(from)), ...listSegments(archiveDirectory(from))];
  for (const segment of all.sort((a, b) => (basename(a.path) < basename(b.path) ? -1 : 1))) {
    const key = `${segment.epoch} ${segment.writer}`;
    const cut = cuts.get(key);
    if (cut === undefined ? segment.epoch < lastEpoch : segment.segment < cut.segment) continue;
    byWriter.set(key, [...(byWriter.get(key) ?? []), segment]);
  }
  for (const [key, segments] of byWriter) checkOrder(segments, cuts.get(key)?.segment ?? 0);
  return byWriter;
}

function checkOrder(segments: readonly LogSegment[], first: number): void {
  let wanted = first;
  for (const { path, segment } of segments) {
    if (segment !== wanted)
      throw new CommandError(
        `--log: segment ${wanted} before ${path} is gone, so what came in between would be missing: take the newest backup (what is behind it is kept, up to BACKUP_LOG_GIB), or restore without --log`,
      );
    wanted = segment + 1;
  }
}

interface WriterSum {
  blocks: number;
  rows: number;
  untilMs: number;
}

function cutOf({ lanes }: BackupManifest): ReadonlyMap<string, number> {
  return new Map(lanes.map(({ epoch, lane: writer, segment, bytes }) => [`${epoch} ${writer} ${segment}`, bytes]));
}

/** Ends at the first block that arrived too late, or that cannot be read. */
function addWriter(
  into: string,
  segments: readonly LogSegment[],
  { untilMs, cut, sum }: { untilMs: number; cut: ReadonlyMap<string, number>; sum: WriterSum },
): void {
  for (const { path, epoch, writer, segment } of segments) {
    const from = cut.get(`${epoch} ${writer} ${segment}`) ?? 0;
    const end = endOf(path, from, untilMs, sum);
    const target = join(logDirectory(into), basename(path));
    if (end.bytes > 0) {
      copyFileSync(path, target);
      truncateSync(target, end.bytes);
    }
    if (end.isLast) return;
  }
}

function endOf(path: string, from: number, untilMs: number, sum: WriterSum): { bytes: number; isLast: boolean } {
  let bytes = from;
  const blocks = readBlocks(path, from);
  for (let step = blocks.next(); ; step = blocks.next()) {
    if (step.done === true) return { bytes, isLast: bytes < statSync(path).size };
    const { header, endOffset } = step.value;
    // What is history says when its samples were, not when it came.
    const arrivedMs = (header.kinds & BLOCK_HISTORY) !== 0 ? sum.untilMs : header.baseMs + BASE_LEAD_MS;
    if (arrivedMs > untilMs) return { bytes, isLast: true };
    bytes = endOffset;
    sum.blocks++;
    sum.rows += header.rows;
    sum.untilMs = Math.max(sum.untilMs, arrivedMs);
  }
}
