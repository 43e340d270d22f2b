// What the coordinator keeps in memory of each partition's roll-ups: how far they go, and which blocks are there to stay.
import type { KeyValueStore } from "../../../adapters/storage/key-value-store.ts";
import type { CheckpointHeader } from "../../../core/protocol/coordinator-frame.ts";
import { NO_ROLLUPS, type RollupMark, readMark } from "./rollup-rows.ts";

/** The marks of all partitions, as they are stored. */
export class RollupBook {
  readonly #marks = new Map<number, RollupMark>();
  readonly #settled = new Map<number, number>();

  /** Reads the mark of a partition. */
  load(series: KeyValueStore, partition: number): void {
    this.#marks.set(partition, readMark(series, partition));
  }

  /** The mark; the same object until it changes. */
  mark(partition: number): RollupMark {
    return this.#marks.get(partition) ?? NO_ROLLUPS;
  }

  /** Takes over a mark that is stored. */
  putMark(partition: number, mark: RollupMark): void {
    this.#marks.set(partition, mark);
  }

  /** Takes over a checkpoint that is stored. */
  putCheckpoint({ partition, nextBlock }: Pick<CheckpointHeader, "partition" | "nextBlock">): void {
    this.#settled.set(partition, nextBlock);
  }

  /** Blocks below this number stay as they are; those from it on a replay may make again. */
  settledBlocks(partition: number): number {
    return this.#settled.get(partition) ?? 0;
  }
}
