// Which log segments that are not in the folder any more held what the stores do not: those that no checkpoint has passed.
import { basename } from "node:path";
import { isCoveredBy, type LogSegment } from "../../../adapters/log/log-segment.ts";
import type { LaneMark } from "../../../core/protocol/coordinator-frame.ts";
import type { StoredCheckpoint } from "../../../core/protocol/engine-control.ts";
import { LogCoverage } from "../../../modules/state/log-coverage.ts";

/** Parts that the folder lacks. */
export interface LogGap {
  /** By the inventory and notes. */
  readonly segments: readonly LogSegment[];
  /** There is no inventory, and no log at all. */
  readonly isLogEmpty: boolean;
}

/** Names of the segments that are lost; empty where it is all that there was and no names are known; null where nothing is lost. */
export function lostLog(
  { segments, isLogEmpty }: LogGap,
  checkpoints: readonly StoredCheckpoint[],
  laneMarks: readonly LaneMark[],
): readonly string[] | null {
  const coverage = new LogCoverage();
  for (const checkpoint of checkpoints) coverage.putCheckpoint(checkpoint);
  for (const mark of laneMarks) coverage.putMark(mark);
  const floor = coverage.floor();
  const isCovered = floor === undefined ? () => false : isCoveredBy(floor);
  const lost = segments.filter((segment) => !isCovered(segment)).map(({ path }) => basename(path));
  if (lost.length > 0) return lost;
  return isLogEmpty && checkpoints.length + laneMarks.length > 0 ? [] : null;
}
