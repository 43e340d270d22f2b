// What retention and roll-ups do, in pieces that never hold the coordinator for long.
import type { KeyValueStore, StoreOperation } from "../../adapters/storage/key-value-store.ts";

/** One piece of work, already done up to its commit. */
export interface RetentionStep {
  readonly store: KeyValueStore;
  /** Empty where there is nothing to commit yet: others get their turn. */
  readonly operations: readonly StoreOperation[];
  /** Called once the operations are committed. */
  readonly apply: () => void;
  /** Pause behind the step in which others have the thread. Absent for none. */
  readonly pauseMs?: number;
}

/** Partitions looked at in one step: a look-up each, 10 us. */
export const PARTITIONS_PER_STEP = 16;

const nothing = () => undefined;

/** A step that gives others their turn. */
export function yieldStep(store: KeyValueStore): RetentionStep {
  return { store, operations: [], apply: nothing };
}

/** Parameters of one round of retention. Sizes of steps may shrink in the course of it: on a full disk. */
export interface RetentionTerms {
  readonly wallNowMs: number;
  /** Anomalies, episodes, records and roll-ups from before are past their time. */
  readonly retainedFromMs: number;
  readonly rawRetainedFromMs: number;
  readonly auditRetainedFromMs: number;
  readonly auditRowsMax: number;
  readonly deadLettersRetainedFromMs: number;
  readonly deadLetterBytesMax: number;
  readonly episodesMax: number;
  readonly intervalMs: number;
  readonly rowsPerStep: number;
  readonly blocksPerStep: number;
}
