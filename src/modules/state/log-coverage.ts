// Which log segments nobody needs any more: every partition's checkpoint covers their rows, and the writer's mark their records. Which that are
// not in the folder any more held what the stores do not: those that no checkpoint has passed.
import { basename } from "node:path";
import { type CoveredSegments, isCoveredBy, type LogSegment } from "../../adapters/log/log-segment.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import type { CheckpointHeader, LogMark } from "../../core/protocol/coordinator-frame.ts";
import type { StoredCheckpoint } from "../../core/protocol/engine-control.ts";

/** Segments that may be deleted. */
export type LogFloor = CoveredSegments;

const FIRST_SEGMENT = 0;

/** Coverage of the log by checkpoints; the newest header of each partition, and the newest mark of each writer of each epoch. */
export class LogCoverage {
  readonly #headers = new Map<number, Pick<CheckpointHeader, "epoch" | "vector">>();
  readonly #marks = new Map<string, LogMark>();

  /** Takes over a checkpoint that is stored. */
  putCheckpoint(header: Pick<CheckpointHeader, "partition" | "epoch" | "vector">): void {
    this.#headers.set(header.partition, { epoch: header.epoch, vector: header.vector });
  }

  /** Takes over a mark that is stored. */
  putMark(mark: LogMark): void {
    this.#marks.set(`${mark.epoch}/${mark.lane}`, mark);
  }

  /** Forgets the marks of epochs before `epoch`. */
  forgetMarksBefore(epoch: number): void {
    for (const [key, mark] of this.#marks) if (mark.epoch < epoch) this.#marks.delete(key);
  }

  /** Marks of all writers of all epochs that are kept. */
  get marks(): readonly LogMark[] {
    return [...this.#marks.values()];
  }

  /**
   * The floor now; undefined while a partition has no checkpoint. Records of earlier epochs need no mark here: they are sent again at the
   * start, before the first checkpoint of a later epoch.
   */
  floor(): LogFloor | undefined {
    if (this.#headers.size < PARTITIONS) return undefined;
    let epoch = Number.POSITIVE_INFINITY;
    for (const header of this.#headers.values()) epoch = Math.min(epoch, header.epoch);
    const floors = new Map<number, VectorFloor>();
    let oldest = 0;
    for (const header of this.#headers.values()) {
      if (header.epoch !== epoch) continue;
      for (const mark of header.vector) lower(floors, mark);
      oldest++;
    }
    const writers = [...floors].sort(([a], [b]) => a - b);
    return { epoch, writers: writers.map(([writer, floor]) => ({ writer, belowSegment: this.#floorOf(epoch, writer, floor, oldest) })) };
  }

  /** A writer that one of the headers does not know is not covered. */
  #floorOf(epoch: number, writer: number, { segment, headers }: VectorFloor, oldest: number): number {
    const marked = this.#marks.get(`${epoch}/${writer}`)?.segment ?? FIRST_SEGMENT;
    return headers < oldest ? FIRST_SEGMENT : Math.min(marked, segment);
  }
}

/** The lowest segment of a writer in so many vectors. */
interface VectorFloor {
  segment: number;
  headers: number;
}

function lower(floors: Map<number, VectorFloor>, { lane: writer, segment }: CheckpointHeader["vector"][number]): void {
  const floor = floors.get(writer);
  if (floor === undefined) floors.set(writer, { segment, headers: 1 });
  else {
    floor.segment = Math.min(floor.segment, segment);
    floor.headers++;
  }
}

/** Whether `after` lets more be deleted than `before`. */
export function floorHasRisen(before: LogFloor | undefined, after: LogFloor | undefined): boolean {
  if (after === undefined) return false;
  if (before === undefined || after.epoch !== before.epoch) return true;
  return after.writers.some(
    ({ writer, belowSegment }) => belowSegment > (before.writers.find((other) => other.writer === writer)?.belowSegment ?? FIRST_SEGMENT),
  );
}

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
  logMarks: readonly LogMark[],
): readonly string[] | null {
  const coverage = new LogCoverage();
  for (const checkpoint of checkpoints) coverage.putCheckpoint(checkpoint);
  for (const mark of logMarks) coverage.putMark(mark);
  const floor = coverage.floor();
  const isCovered = floor === undefined ? () => false : isCoveredBy(floor);
  const lost = segments.filter((segment) => !isCovered(segment)).map(({ path }) => basename(path));
  if (lost.length > 0) return lost;
  return isLogEmpty && checkpoints.length + logMarks.length > 0 ? [] : null;
}
