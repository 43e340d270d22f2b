/**
 * Segment files are named e<epoch, 10 digits>-<writer, 4 digits>-<segment, 8 digits>.log, so that names sort as (epoch, writer, segment).
 * An epoch is one start of the server, a writer one engine of it; segments of a writer count from 0.
 */
import { join } from "node:path";
import type { LogFileSystem } from "./log-file-system.ts";
import { errorCode, nodeFileSystem } from "./log-file-system.ts";

const NAME = /^e(\d{10})-(\d{4})-(\d{8})\.log$/;

/** One segment file. */
export interface LogSegment {
  readonly path: string;
  readonly epoch: number;
  readonly writer: number;
  readonly segment: number;
}

/** Returns the path of a segment; throws RangeError when a number has more digits than its place in the name. */
export function segmentPath(directory: string, epoch: number, writer: number, segment: number): string {
  return join(directory, `e${digits(epoch, 10)}-${digits(writer, 4)}-${digits(segment, 8)}.log`);
}

/** Lists the segments in the directory by epoch, writer and segment; other files are passed over, a missing directory has none. */
export function listSegments(directory: string, files: LogFileSystem = nodeFileSystem): LogSegment[] {
  const segments: LogSegment[] = [];
  for (const name of namesIn(directory, files).sort()) {
    const segment = parseSegmentName(directory, name);
    if (segment !== undefined) segments.push(segment);
  }
  return segments;
}

/** The segment that a file's name says; undefined where it is another file's. */
export function parseSegmentName(directory: string, name: string): LogSegment | undefined {
  const match = NAME.exec(name);
  if (match === null) return undefined;
  return { path: join(directory, name), epoch: Number(match[1]), writer: Number(match[2]), segment: Number(match[3]) };
}

/** Segments that nobody needs any more: every log of epochs before `epoch`, and of that epoch each writer's segments below `belowSegment`, of which a living writer's position is none. */
export interface CoveredSegments {
  readonly epoch: number;
  readonly writers: ReadonlyArray<{ readonly writer: number; readonly belowSegment: number }>;
}

/** Segments that are covered, the oldest of each writer first. */
export function coveredSegments(
  directory: string,
  { epoch, writers }: CoveredSegments,
  files: LogFileSystem = nodeFileSystem,
): LogSegment[] {
  return listSegments(directory, files).filter(isCoveredBy({ epoch, writers }));
}

/** Tells of a segment whether it is covered. */
export function isCoveredBy({ epoch, writers }: CoveredSegments): (segment: LogSegment) => boolean {
  const below = new Map(writers.map(({ writer, belowSegment }) => [writer, belowSegment]));
  return (each) => each.epoch < epoch || (each.epoch === epoch && each.segment < (below.get(each.writer) ?? 0));
}

/** Size of the segments in the directory: their sizes, which blocks on the disk may pass by less than a block each. */
export function measureSegments(
  directory: string,
  files: LogFileSystem = nodeFileSystem,
): { readonly bytes: number; readonly segments: number } {
  let bytes = 0;
  let segments = 0;
  for (const { path } of listSegments(directory, files)) {
    const size = sizeOf(path, files);
    bytes += size ?? 0;
    segments += size === undefined ? 0 : 1;
  }
  return { bytes, segments };
}

/** Undefined where the file has gone. */
function sizeOf(path: string, files: LogFileSystem): number | undefined {
  try {
    const descriptor = files.openSync(path, "r");
    try {
      return files.fstatSync(descriptor).size;
    } finally {
      files.closeSync(descriptor);
    }
  } catch (error) {
    if (errorCode(error) === "ENOENT") return undefined;
    throw error;
  }
}

/** Names of the files in a directory; a missing one has none. */
export function namesIn(directory: string, files: LogFileSystem = nodeFileSystem): string[] {
  try {
    return files.readdirSync(directory);
  } catch (error) {
    if (errorCode(error) === "ENOENT") return [];
    throw error;
  }
}

function digits(value: number, width: number): string {
  if (!Number.isInteger(value) || value < 0 || value >= 10 ** width) throw new RangeError(`${value} does not fit into ${width} digits`);
  return String(value).padStart(width, "0");
}
