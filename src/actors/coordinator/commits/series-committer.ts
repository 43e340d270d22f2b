// Makes records, blocks, checkpoints and marks durable, and raises the floor of the logs behind them.
import type { EngineFrame, MetricMetadataEnvelope } from "../../../core/protocol/coordinator-frame.ts";
import type { ServiceChange } from "../../../domain/anomaly/change-event.ts";
import type { CoordinatorCounters } from "../../../modules/state/coordinator-counters.ts";
import { floorHasRisen, type LogFloor } from "../../../modules/state/log-coverage.ts";
import { TABLE_START } from "../../../modules/state/tables.ts";
import { type CommittedState, logMarkKey } from "../nouns/committed-state.ts";
import { makeOfFrames } from "./frame-sifting.ts";
import { SeriesTransaction } from "./series-transaction.ts";

export interface SeriesCommitterDependencies {
  readonly state: CommittedState;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  monotonicMs(): number;
  deleteLogSegments(floor: LogFloor): void | Promise<void>;
  /** Checkpoints have been stored, and with them the streams that have left memory. */
  checkpointsStored(): void;
  /** Streams have left memory whose services cannot be listed. */
  servicesUnlisted(services: readonly string[]): void;
  /** Metadata of metrics have been stored. */
  metadataStored(metadata: readonly MetricMetadataEnvelope[]): void;
  /** Event records that report changes of services have been stored. */
  changesStored(changes: readonly ServiceChange[]): void;
}

const MARKS_PER_STEP = 1_000;

/** The one writer of what engines have sent for `series`. */
export class SeriesCommitter {
  readonly #retentionMs: number;
  readonly #dependencies: SeriesCommitterDependencies;
  #floor: LogFloor | undefined;
  /** Whether the floor may have risen since it was looked at. */
  #floorIsStale = true;

  constructor(retentionMs: number, dependencies: SeriesCommitterDependencies) {
    this.#retentionMs = retentionMs;
    this.#dependencies = dependencies;
  }

  /** Whether `raiseFloor` has something to look at. */
  get isFloorStale(): boolean {
    return this.#floorIsStale;
  }

  /**
   * Commits frames, and the rows of the ledger that wait; nothing else may be writing to `series`. Rejects with StoreError when the store does not take
   * them, and may then be called again with the same frames; with UnstorableFramesError where it is to be called without some.
   */
  async commit(frames: readonly EngineFrame[]): Promise<void> {
    const { state, counters, monotonicMs } = this.#dependencies;
    const startMs = monotonicMs();
    const { transaction, stored } = makeOfFrames(frames, (some) => this.#make(some));
    const operations = [...state.alerts.ledger.operations(), ...stored];
    // What says that all before it is stored must not outlive that.
    if (transaction.checkpoints.length + transaction.marks.length > 0) await state.control.commit([], { sync: true });
    if (operations.length > 0) await state.series.commit(operations, { flushLater: true });
    this.#apply(transaction);
    counters.add("frames", frames.length);
    if (operations.length > 0) counters.commit((monotonicMs() - startMs) / 1000);
  }

  #make(frames: readonly EngineFrame[]) {
    const { state, nowMs } = this.#dependencies;
    const transaction = new SeriesTransaction(state, this.#retentionMs, nowMs());
    for (const frame of frames) transaction.add(frame);
    return { transaction, stored: transaction.operations() };
  }

  /** Lets log segments go that are covered now. Both stores are flushed first: after a loss of power the log would be missed. */
  async raiseFloor(): Promise<void> {
    const { state, deleteLogSegments } = this.#dependencies;
    const floor = this.#floorIsStale ? state.coverage.floor() : undefined;
    if (floor === undefined || !floorHasRisen(this.#floor, floor)) {
      this.#floorIsStale = false;
      return;
    }
    await state.control.commit([], { sync: true });
    await state.series.commit([], { sync: true });
    await deleteLogSegments(floor);
    await state.series.deleteRange("lane_marks", TABLE_START, logMarkKey(floor.epoch, 0), MARKS_PER_STEP);
    state.coverage.forgetMarksBefore(floor.epoch);
    this.#floor = floor;
    this.#floorIsStale = false;
  }

  #apply(transaction: SeriesTransaction): void {
    const { state, counters } = this.#dependencies;
    state.alerts.ledger.stored();
    counters.set("ledgerRows", state.alerts.ledger.counts.size);
    for (const header of transaction.checkpoints) state.putCheckpoint(header);
    for (const mark of transaction.marks) state.coverage.putMark(mark);
    for (const [record, id] of transaction.sloRecords) state.slo.take(record, id);
    for (const metadata of transaction.metadata) state.metadata.put(metadata);
    if (transaction.changes.length > 0) this.#dependencies.changesStored(transaction.changes);
    if (transaction.metadata.length > 0) this.#dependencies.metadataStored(transaction.metadata);
    counters.set("metadataStored", state.metadata.size);
    if (transaction.checkpoints.length > 0) {
      this.#dependencies.checkpointsStored();
      this.#dependencies.servicesUnlisted(transaction.unlistedServices());
    }
    this.#floorIsStale ||= transaction.checkpoints.length + transaction.marks.length > 0;
    counters.add("recordsStored", transaction.records);
    counters.add("recordsDropped", transaction.recordsDropped);
    counters.add("blocksStored", transaction.blocks);
    counters.add("blockBytes", transaction.blockBytes);
    counters.add("checkpointsStored", transaction.checkpoints.length);
  }
}
