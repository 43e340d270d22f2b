// Which log segments nobody needs any more: every partition's checkpoint covers their rows, and the lane's mark their records.
import type { CoveredSegments } from "../../adapters/log/log-segment.ts";
import { PARTITIONS } from "../../core/layout/memory-map.ts";
import type { CheckpointHeader, LaneMark } from "../../core/protocol/coordinator-frame.ts";

/** What may be deleted. */
export type LogFloor = CoveredSegments;

const FIRST_SEGMENT = 0;

/** What checkpoints cover; the newest header of each partition, and the newest mark of each lane of each epoch. */
export class LogCoverage {
  readonly #headers = new Map<number, Pick<CheckpointHeader, "epoch" | "vector">>();
  readonly #marks = new Map<string, LaneMark>();

  /** Takes over a checkpoint that is stored. */
  putCheckpoint(header: Pick<CheckpointHeader, "partition" | "epoch" | "vector">): void {
    this.#headers.set(header.partition, { epoch: header.epoch, vector: header.vector });
  }

  /** Takes over a mark that is stored. */
  putMark(mark: LaneMark): void {
    this.#marks.set(`${mark.epoch}/${mark.lane}`, mark);
  }

  /** Forgets the marks of epochs before `epoch`. */
  forgetMarksBefore(epoch: number): void {
    for (const [key, mark] of this.#marks) if (mark.epoch < epoch) this.#marks.delete(key);
  }

  /** Marks of all lanes of all epochs that are kept. */
  get marks(): readonly LaneMark[] {
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
    const oldest = [...this.#headers.values()].filter((header) => header.epoch === epoch);
    const lanes = new Set(oldest.flatMap((header) => header.vector.map((mark) => mark.lane)));
    return { epoch, lanes: [...lanes].sort((a, b) => a - b).map((lane) => ({ lane, belowSegment: this.#laneFloor(epoch, lane, oldest) })) };
  }

  #laneFloor(epoch: number, lane: number, headers: ReadonlyArray<Pick<CheckpointHeader, "vector">>): number {
    let floor = this.#marks.get(`${epoch}/${lane}`)?.segment ?? FIRST_SEGMENT;
    for (const { vector } of headers) floor = Math.min(floor, vector.find((mark) => mark.lane === lane)?.segment ?? FIRST_SEGMENT);
    return floor;
  }
}

/** Whether `after` lets more be deleted than `before`. */
export function floorHasRisen(before: LogFloor | undefined, after: LogFloor | undefined): boolean {
  if (after === undefined) return false;
  if (before === undefined || after.epoch !== before.epoch) return true;
  return after.lanes.some(
    ({ lane, belowSegment }) => belowSegment > (before.lanes.find((other) => other.lane === lane)?.belowSegment ?? FIRST_SEGMENT),
  );
}
