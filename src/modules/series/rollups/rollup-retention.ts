/**
 * Rolls blocks up into hours, a partition at a time, in steps of some twenty thousand samples (0.5 ms), some hundred streams (0.6 ms), or a commit of
 * about ROLLUP_COMMIT_BYTES.
 *
 *   1. the partition's settled blocks behind its mark are aggregated, in memory
 *   2. the roll-ups are stored behind those that count: until 3 nobody reads them, and a crash leaves them to be replaced
 *   3. the mark moves: from that commit on the roll-ups stand for the blocks, which are read as hours no more
 *
 * The blocks themselves stay for as long as raw samples are kept. A partition's turn comes once every ROLLUP_INTERVAL_MS, each at another time, so that
 * work and roll-ups come evenly; a block that is younger than that waits, so that an hour seldom lies in more than two roll-ups.
 *
 * How much of the coordinator's time roll-ups take: what the blocks of a round need to be rolled up before the next one begins, spread over that time.
 */
import { ROLLUP_BLOCK_BYTES, ROLLUP_COMMIT_BYTES, ROLLUP_ENTRIES_MAX, ROLLUP_INTERVAL_MS } from "../../../core/config/limits.ts";
import { ROLLUP_CYCLE_SHARE, ROLLUP_SHARE_MAX, ROLLUP_SHARE_MIN } from "../../../core/config/pace-limits.ts";
import { pauseMsAfter } from "../../../core/fairness/paced-work.ts";
import { PARTITIONS } from "../../../core/layout/memory-map.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { ChunkBlock } from "../../../domain/codec/chunk-block.ts";
import { HourlyAggregate } from "../../../domain/rollup/hourly-aggregate.ts";
import type { CoordinatorCounters } from "../../state/coordinator-counters.ts";
import { PARTITIONS_PER_STEP, type RetentionStep, yieldStep } from "../../state/retention-step.ts";
import type { StateWith } from "../../state/stored-state.ts";
import { blockKey, partitionKey } from "../../state/tables.ts";
import { decodeSpan } from "../block-rows.ts";
import type { SeriesBooks } from "../series-context.ts";
import { deleteRollup, markOperation, type RollupMark, rollupOperations } from "./rollup-rows.ts";

/** Estimate of the time for folding a block of 64 KiB and storing its hours, until so many blocks have been measured; on a core that others use too it takes longer. */
const BLOCK_MS = 1;
const BLOCKS_TELLING = 20;

type RollupState = StateWith<Pick<SeriesBooks, "rollups">>;

/** Dependencies of the roll-ups. */
export interface RollupDependencies {
  readonly state: RollupState;
  readonly counters: CoordinatorCounters;
  monotonicMs(): number;
}

interface PacedDependencies extends RollupDependencies {
  readonly pace: RollupPace;
}

/** Work of one round of roll-ups. */
export interface RollupCycle {
  readonly wallNowMs: number;
  /** Hours that began before are left out. */
  readonly retainedFromMs: number;
  /** From one round to the next. */
  readonly intervalMs: number;
}

const SPANS_PER_READ = 64;
/** Roll-ups of an aggregate that never came to its end, deleted in one commit; more stay for the next. */
const VOID_ROLLUPS_MAX = 1_000;

/** Steps that roll up whatever is due. */
export function* rollUp(
  dependencies: RollupDependencies,
  { wallNowMs, retainedFromMs, intervalMs }: RollupCycle,
): Generator<RetentionStep> {
  const { state, monotonicMs } = dependencies;
  const fromHour = Math.max(0, Math.ceil(retainedFromMs / HOUR_MS));
  const due: number[] = [];
  for (let partition = 0; partition < PARTITIONS; partition++) {
    if (partition % PARTITIONS_PER_STEP === 0) yield yieldStep(state.series);
    if (isDue(state, partition, wallNowMs)) due.push(partition);
  }
  const pace = new RollupPace({ intervalMs, blocks: due.reduce((sum, partition) => sum + blocksOf(state, partition), 0), monotonicMs });
  for (const partition of due) {
    do {
      let begunMs = monotonicMs();
      for (const step of rollUpPartition({ ...dependencies, pace }, partition, fromHour)) {
        yield { ...step, pauseMs: pace.pauseAfterMs(monotonicMs() - begunMs) };
        begunMs = monotonicMs();
      }
    } while (isDue(state, partition, wallNowMs));
  }
}

/** Blocks of a partition that may be rolled up. */
function blocksOf({ rollups }: RollupState, partition: number): number {
  return rollups.settledBlocks(partition) - rollups.mark(partition).firstBlock;
}

/** Whether the partition's turn has come since its oldest block that is not rolled up was filled. */
function isDue(state: RollupState, partition: number, wallNowMs: number): boolean {
  const { firstBlock } = state.rollups.mark(partition);
  const settled = state.rollups.settledBlocks(partition);
  if (settled <= firstBlock) return false;
  const range = { from: blockKey(partition, firstBlock), to: blockKey(partition, settled), limit: 1 };
  const [oldest] = state.series.range("block_spans", range);
  return oldest !== undefined && intervalOf(partition, decodeSpan(oldest.key, oldest.value).maxMs) < intervalOf(partition, wallNowMs);
}

function intervalOf(partition: number, ms: number): number {
  return Math.floor((ms + (partition * ROLLUP_INTERVAL_MS) / PARTITIONS) / ROLLUP_INTERVAL_MS);
}

function* rollUpPartition(dependencies: PacedDependencies, partition: number, fromHour: number): Generator<RetentionStep> {
  const { rollups, series } = dependencies.state;
  const before = rollups.mark(partition);
  const aggregate = new HourlyAggregate({ fromHour, blockBytes: ROLLUP_BLOCK_BYTES });
  const firstBlock = yield* aggregateBlocks(dependencies, partition, aggregate);
  yield* deleteVoid(dependencies, partition, before);
  const nextRollup = yield* storeRollups(dependencies, partition, aggregate);
  const mark = { firstBlock, nextRollup };
  const apply = () => {
    rollups.putMark(partition, mark);
    dependencies.counters.add("rollupSamples", aggregate.samples);
  };
  yield { store: series, operations: [markOperation(partition, mark)], apply };
}

/** Aggregates the partition's blocks from its mark on, as many as one aggregate may hold; returns the number behind the last. */
function* aggregateBlocks(
  { state, pace }: PacedDependencies,
  partition: number,
  aggregate: HourlyAggregate,
): Generator<RetentionStep, number> {
  const { series, rollups } = state;
  const to = blockKey(partition, rollups.settledBlocks(partition));
  for (let next = rollups.mark(partition).firstBlock; ; ) {
    const spans = series.range("block_spans", { from: blockKey(partition, next), to, limit: SPANS_PER_READ });
    for (const { key, value } of spans) {
      const bytes = series.get("blocks", key);
      const block = bytes === undefined ? undefined : ChunkBlock.open(bytes);
      if (block === undefined) throw new Error("a stored block is missing or does not open");
      for (const _ of aggregate.add(block)) yield yieldStep(series);
      next = decodeSpan(key, value).block + 1;
      pace.aggregated();
      yield yieldStep(series);
      if (aggregate.entries >= ROLLUP_ENTRIES_MAX) return next;
    }
    if (spans.length < SPANS_PER_READ) return next;
  }
}

/** Deletes what an earlier aggregate stored that did not come to its end. */
function* deleteVoid({ state }: RollupDependencies, partition: number, { nextRollup }: RollupMark): Generator<RetentionStep> {
  const range = { from: blockKey(partition, nextRollup), to: partitionKey(partition + 1), limit: VOID_ROLLUPS_MAX };
  const left = state.series.range("rollup_spans", range);
  if (left.length === 0) return;
  yield { store: state.series, operations: left.flatMap(({ key }) => deleteRollup(key)), apply: () => undefined };
}

/** Stores the aggregate's roll-ups behind those that count; returns the number behind the last. */
function* storeRollups(
  { state, counters }: RollupDependencies,
  partition: number,
  aggregate: HourlyAggregate,
): Generator<RetentionStep, number> {
  let { nextRollup } = state.rollups.mark(partition);
  let operations: ReturnType<typeof rollupOperations> = [];
  let bytes = 0;
  const commit = () => {
    const [count, size] = [operations.length / 2, bytes];
    const apply = () => {
      counters.add("rollupsStored", count);
      counters.add("rollupBytes", size);
    };
    const step: RetentionStep = { store: state.series, operations, apply };
    operations = [];
    bytes = 0;
    return step;
  };
  for (const value of aggregate.finish()) {
    if (value === undefined) {
      yield yieldStep(state.series);
      continue;
    }
    operations.push(...rollupOperations(partition, nextRollup++, value));
    bytes += value.block.length;
    yield bytes >= ROLLUP_COMMIT_BYTES ? commit() : yieldStep(state.series);
  }
  if (operations.length > 0) yield commit();
  return nextRollup;
}

/** The pace of one round. */
export class RollupPace {
  readonly #endMs: number;
  readonly #monotonicMs: () => number;
  #left: number;
  #blocks = BLOCKS_TELLING;
  #workMs = BLOCKS_TELLING * BLOCK_MS;

  /** `intervalMs` is that from one round to the next, `blocks` how many are to be rolled up. */
  constructor({ intervalMs, blocks, monotonicMs }: { readonly intervalMs: number; readonly blocks: number; monotonicMs(): number }) {
    this.#monotonicMs = monotonicMs;
    this.#endMs = monotonicMs() + ROLLUP_CYCLE_SHARE * intervalMs;
    this.#left = blocks;
  }

  /** A block is aggregated. */
  aggregated(): void {
    this.#left--;
    this.#blocks++;
  }

  /** Pause in which others have the thread, now that roll-ups have had it for `workMs`. */
  pauseAfterMs(workMs: number): number {
    this.#workMs += workMs;
    return pauseMsAfter(workMs, this.share);
  }

  /** Share of the thread's time from now on. */
  get share(): number {
    const leftMs = this.#endMs - this.#monotonicMs();
    const neededMs = (this.#workMs / this.#blocks) * this.#left;
    return leftMs <= 0 ? ROLLUP_SHARE_MAX : Math.min(ROLLUP_SHARE_MAX, Math.max(ROLLUP_SHARE_MIN, neededMs / leftMs));
  }
}
