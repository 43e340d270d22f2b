/**
 * Aggregates what is stored of bounded series into the state of their detector. The streams of one partition are read together: each block of the last seven days
 * once, however many of its streams are wanted. A minute's mean is kept for the last twelve hours, of five minutes before that, as the detector does. It goes on
 * between cycles, in a small share of the coordinator's time: nobody waits for it.
 */

import { StoreError } from "../../adapters/storage/key-value-store.ts";
import { groupBy } from "../../core/collections/grouping.ts";
import { SATURATION_AGGREGATES_PER_CYCLE, SATURATION_STREAMS_PER_AGGREGATE } from "../../core/config/limits.ts";
import { SATURATION_AGGREGATE_MS, SATURATION_AGGREGATE_SHARE } from "../../core/config/pace-limits.ts";
import { PacedWork } from "../../core/fairness/paced-work.ts";
import { background, task } from "../../core/faults/guard.ts";
import type { AggregatedHistory, WantedHistory } from "../../core/protocol/saturation.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../domain/codec/sample-chunk.ts";
import { HISTORY_MINUTES, HISTORY_RING_VALUES } from "../../domain/saturation/saturation-history.ts";
import { clearPosition, SATURATION_HEAD_VALUES, SaturationSeries } from "../../domain/saturation/saturation-series.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import { newestBlocks } from "../series/stored-blocks.ts";
import type { StagesContext } from "../watchdog/stages-context.ts";

/** Means of one series by minute, of all its streams. */
class MinuteMeans {
  readonly fromMinute: number;
  readonly #untilMs: number;
  readonly #sums = new Float64Array(HISTORY_MINUTES + 1);
  readonly #counts = new Uint32Array(HISTORY_MINUTES + 1);
  readonly #times = new Float64Array(CHUNK_SAMPLES_MAX);
  readonly #values = new Float64Array(CHUNK_SAMPLES_MAX);

  constructor(nowMs: number, untilMs: number) {
    this.#untilMs = untilMs;
    this.fromMinute = Math.floor(nowMs / MINUTE_MS) - HISTORY_MINUTES;
  }

  addChunk(chunk: Uint8Array): void {
    const count = decodeSampleChunk(chunk, this.#times, this.#values);
    if (count === undefined) throw new Error("a stored chunk does not decode");
    for (let i = 0; i < count; i++) {
      const at = Math.floor((this.#times[i] as number) / MINUTE_MS) - this.fromMinute;
      const value = this.#values[i] as number;
      if (at < 0 || at > HISTORY_MINUTES || (this.#times[i] as number) >= this.#untilMs || !Number.isFinite(value)) continue;
      this.#sums[at] = (this.#sums[at] as number) + value;
      this.#counts[at] = (this.#counts[at] as number) + 1;
    }
  }

  aggregate({ key, metricName, unit, limit }: WantedHistory): AggregatedHistory {
    const position = { head: new Float64Array(SATURATION_HEAD_VALUES), rings: new Float32Array(HISTORY_RING_VALUES) };
    clearPosition(position);
    const series = new SaturationSeries({ metricName, unit, instance: null, limit });
    for (let at = 0; at <= HISTORY_MINUTES; at++) {
      const count = this.#counts[at] as number;
      if (count > 0) series.observe((this.fromMinute + at) * MINUTE_MS, (this.#sums[at] as number) / count);
    }
    series.detachInto(position);
    return { key, untilMs: this.#untilMs, ...position };
  }
}

/** Series of one partition that are read together, and whose they are. */
interface Aggregation {
  readonly engine: number;
  readonly group: readonly WantedHistory[];
}

/** Stored pasts that are asked for and not read yet, and who reads them. */
export class StoredPasts {
  readonly #context: StagesContext;
  readonly #paced: PacedWork;
  #aggregations: Aggregation[] = [];
  #isReading = false;

  constructor(context: StagesContext) {
    this.#context = context;
    const { monotonicMs, sleep, counters } = context;
    const worked = (ms: number) => counters.add("watchdogSeconds", ms / 1000);
    this.#paced = new PacedWork({ share: SATURATION_AGGREGATE_SHARE, pieceMs: SATURATION_AGGREGATE_MS }, { monotonicMs, sleep, worked });
  }

  /** Has the pasts of these series read and told to their engines, in place of what was asked for before and is not read yet: who waits for it has asked again. */
  ask(wanted: ReadonlyMap<number, readonly WantedHistory[]>): void {
    this.#aggregations = [...wanted].flatMap(([engine, some]) =>
      [...groupsOf(some.slice(0, SATURATION_AGGREGATES_PER_CYCLE))].map((group) => ({ engine, group })),
    );
    if (!this.#isReading) background(task("the pasts of saturation"), this.#readAll());
  }

  /** An engine or a store that does not answer ends it: whoever waits asks again. */
  async #readAll(): Promise<void> {
    const { engines, counters } = this.#context;
    this.#isReading = true;
    try {
      for (let aggregate = this.#next(); aggregate !== undefined; aggregate = this.#next()) {
        const histories = await this.#read(aggregate);
        if (histories.length > 0) engines.notify(aggregate.engine, { type: "saturation-histories", histories });
        counters.add("saturationFolds", histories.length);
      }
    } catch (error) {
      if (!(error instanceof EngineUnavailableError || error instanceof StoreError)) throw error;
      this.#aggregations = [];
    } finally {
      this.#isReading = false;
    }
  }

  /** None once a stop has begun: the store may be closed. */
  #next(): Aggregation | undefined {
    return this.#context.isStopping() ? undefined : this.#aggregations.shift();
  }

  /** Nothing once a stop has begun. */
  async #read({ engine, group }: Aggregation): Promise<AggregatedHistory[]> {
    const { engines, state, nowMs, isStopping } = this.#context;
    const { partition } = group[0] as WantedHistory;
    const startMs = nowMs();
    const means = group.map((one) => ({ one, means: new MinuteMeans(startMs, one.untilMs) }));
    const fromMs = (means[0]?.means.fromMinute ?? 0) * MINUTE_MS;
    const paced = this.#paced;
    for await (const block of newestBlocks(partition, fromMs, { series: state.series, paced, isStopping })) {
      paced.do(() => {
        for (const { one, means: of } of means) {
          for (const id of one.streamIds) for (const { chunk } of block.chunksOf(id)) of.addChunk(chunk);
        }
      });
    }
    for (const { one, means: of } of means) {
      for (const streamId of one.streamIds) {
        if (isStopping()) return [];
        const { chunks } = await engines.pendingChunks(engine, { tenant: "", partition, streamId });
        paced.do(() => {
          for (const chunk of chunks) of.addChunk(chunk);
        });
      }
      await paced.pause();
    }
    return isStopping() ? [] : paced.do(() => means.map(({ one, means: of }) => of.aggregate(one)));
  }
}

/** Groups of one partition each, with SATURATION_STREAMS_PER_AGGREGATE streams at most, or a single series. */
function* groupsOf(wanted: readonly WantedHistory[]): Generator<readonly WantedHistory[]> {
  for (const group of groupBy(wanted, ({ partition }) => partition).values()) {
    let some: WantedHistory[] = [];
    let streams = 0;
    for (const one of group) {
      if (some.length > 0 && streams + one.streamIds.length > SATURATION_STREAMS_PER_AGGREGATE) {
        yield some;
        [some, streams] = [[], 0];
      }
      some.push(one);
      streams += one.streamIds.length;
    }
    if (some.length > 0) yield some;
  }
}
