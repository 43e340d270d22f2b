/**
 * <dataDir>/noted.<name of a segment>: an empty file that stands for a segment until log-inventory.json has it. A writer makes it behind the segment's file and before the first block
 * in it, so nobody is answered for a block of a segment that no note knows; a crash between the steps leaves an empty segment, which is there, or one without a note, which holds nothing.
 * Outside the log's folder, as that may be what is lost.
 */
import { basename, join } from "node:path";
import type { LogFileSystem } from "./log-file-system.ts";
import { syncDirectory } from "./log-file-system.ts";
import { namesIn, parseSegmentName } from "./log-segment.ts";

const PREFIX = "noted.";

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
export function notePath(dataDir: string, segmentName: string): string {
  return join(dataDir, PREFIX + segmentName);
}
