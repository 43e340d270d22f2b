// A shard kernel with one call per sample, as property tests want it: events come back as objects, chunks are taken as they fall due.
import { EVENT_CHUNK_DUE, EVENT_SENT } from "../../src/core/layout/kernel-event.ts";
import { SCRATCH, STAGING } from "../../src/core/layout/memory-map.ts";
import { RESTART_MARKER_HIGH, ROW_BYTES, START_MARKER_HIGH, WIDTH_MARKER_HIGH } from "../../src/core/layout/row-frame.ts";
import { PROFILE_ENVIRONMENT, SR_M2, SR_MEAN, SR_PIVOT } from "../../src/core/layout/stream-record.ts";
import { MATURITIES } from "../../src/domain/detection/gates/baseline-maturity.ts";
import { type DeclarationRule, fillThresholdTables, THRESHOLD_TABLE_VALUES } from "../../src/domain/detection/thresholds.ts";
import { type ShardEvent, type ShardExports, ShardKernel } from "../../src/domain/kernel/shard-kernel.ts";
import { type LoadedKernel, loadKernel } from "./kernel.ts";

/** Prometheus' stale marker. */
const STALE_BITS = 0x7ff0000000000002n;

export interface Row {
  readonly ref: number;
  readonly timeMs: number;
  readonly value: number;
}

export class ShardRig {
  readonly shard: ShardKernel;
  readonly kernel: ShardExports;
  readonly view: DataView;
  readonly chunks: Array<{ slot: number; values: number }> = [];
  /** Values as sent that are kept for reading alone. */
  readonly sent: Array<{ readonly slot: number; readonly timeMs: number; readonly value: number }> = [];
  #streams = 0;

  constructor(options: {
    readonly window: number;
    readonly threshold?: number;
    readonly minimumSamples?: number;
    readonly confirmation?: boolean;
  }) {
    const loaded: LoadedKernel<ShardExports> = loadKernel<ShardExports>();
    this.kernel = loaded.kernel;
    this.view = loaded.view;
    this.shard = new ShardKernel({ window: options.window }, { kernel: loaded.kernel, buffer: loaded.memory.buffer });
    const { threshold = 3, minimumSamples: samplesMin = 12, confirmation } = options;
    this.judgeBy(PROFILE_ENVIRONMENT, threshold, { samplesMin, confirmation });
  }

  /** One threshold of a profile, at every age of a service. */
  judgeBy(profile: number, threshold: number, rule?: DeclarationRule): void {
    const tables = new Float64Array(THRESHOLD_TABLE_VALUES);
    fillThresholdTables(tables, threshold, rule);
    for (const maturity of MATURITIES.keys()) this.shard.profileTables(profile, maturity).set(tables);
  }

  /** Nothing is judged by a profile. */
  exclude(profile: number): void {
    for (const maturity of MATURITIES.keys()) this.shard.profileTables(profile, maturity).fill(Number.POSITIVE_INFINITY);
  }

  /** A new stream whose ref is its slot. */
  stream(flags = 0, hash = BigInt(this.#streams) * 0x9e3779b97f4a7c15n): number {
    this.writeHash(hash);
    const slot = this.shard.createSlot(SCRATCH, 0, 0, flags);
    this.shard.bindRef(slot, slot);
    this.#streams++;
    return slot;
  }

  writeHash(hash: bigint): void {
    this.view.setBigUint64(SCRATCH, BigInt.asUintN(64, hash), true);
    this.view.setBigUint64(SCRATCH + 8, BigInt.asUintN(64, hash * 31n), true);
  }

  apply(slot: number, timeMs: number, value: number): ShardEvent[] {
    return this.applyRows([{ ref: slot, timeMs, value }]);
  }

  applyStale(slot: number, timeMs: number): ShardEvent[] {
    this.#writeRow(0, slot, 0, 0);
    this.view.setBigUint64(STAGING + 8, STALE_BITS, true);
    return this.#applyStaged(1, timeMs);
  }

  /** A start marker for the cumulative value that comes next, at `timeMs`. */
  applyStart(slot: number, timeMs: number, startMs: number): ShardEvent[] {
    this.#writeRow(0, slot, 0, 0);
    this.view.setBigUint64(STAGING + 8, (BigInt(START_MARKER_HIGH) << 48n) | BigInt(startMs), true);
    return this.#applyStaged(1, timeMs);
  }

  /** A restart marker for the derived value that comes next, at `timeMs`. */
  applyRestart(slot: number, timeMs: number): ShardEvent[] {
    this.#writeRow(0, slot, 0, 0);
    this.view.setBigUint64(STAGING + 8, BigInt(RESTART_MARKER_HIGH) << 48n, true);
    return this.#applyStaged(1, timeMs);
  }

  /** A width marker for the quantile that comes next, at `timeMs`. */
  applyWidth(slot: number, timeMs: number, width: number): ShardEvent[] {
    const bits = new DataView(new ArrayBuffer(8));
    bits.setFloat64(0, width);
    this.#writeRow(0, slot, 0, 0);
    this.view.setBigUint64(STAGING + 8, (BigInt(WIDTH_MARKER_HIGH) << 48n) | (bits.getBigUint64(0) >> 16n), true);
    return this.#applyStaged(1, timeMs);
  }

  /** Rows whose times lie within 2^32 ms of the earliest. */
  applyRows(rows: readonly Row[]): ShardEvent[] {
    const base = Math.min(...rows.map((row) => row.timeMs));
    for (const [i, row] of rows.entries()) this.#writeRow(i, row.ref, row.timeMs - base, row.value);
    return this.#applyStaged(rows.length, base);
  }

  /** Mean and M2 as the kernel holds them. */
  statistics(slot: number): { mean: number; m2: number } {
    const at = this.shard.records.address(slot);
    return {
      mean: this.view.getFloat64(at + SR_PIVOT, true) + this.view.getFloat64(at + SR_MEAN, true),
      m2: this.view.getFloat64(at + SR_M2, true),
    };
  }

  #writeRow(index: number, ref: number, offset: number, value: number): void {
    const at = STAGING + index * ROW_BYTES;
    this.view.setUint32(at, ref, true);
    this.view.setUint32(at + 4, offset, true);
    this.view.setFloat64(at + 8, value, true);
  }

  #applyStaged(rows: number, base: number): ShardEvent[] {
    const events: ShardEvent[] = [];
    for (let done = 0; done < rows; ) {
      done += this.shard.applyRows(STAGING + done * ROW_BYTES, rows - done, base, 1);
      for (let i = 0; i < this.shard.eventsCount(); i++) {
        const event = this.shard.event(i);
        if (event.kind === EVENT_CHUNK_DUE) this.takeChunk(event.slot);
        else if (event.kind === EVENT_SENT) this.sent.push(event);
        else events.push(event);
      }
      this.shard.eventsReset();
    }
    return events;
  }

  takeChunk(slot: number): void {
    this.chunks.push({ slot, values: this.shard.records.unchunked(slot) });
    this.shard.chunkTaken(slot);
  }
}
