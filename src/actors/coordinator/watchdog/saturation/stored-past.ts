/**
 * Folds what is stored of bounded series into the state of their detector. The streams of one partition are read together: each block of the last seven days
 * once, however many of its streams are wanted. A minute's mean is kept for the last twelve hours, of five minutes before that, as the detector does.
 */
import { groupBy } from "../../../../core/base/grouping.ts";
import { SATURATION_STREAMS_PER_FOLD } from "../../../../core/config/limits.ts";
import type { FoldedHistory, WantedHistory } from "../../../../core/protocol/saturation.ts";
import { ChunkBlock } from "../../../../domain/codec/chunk-block.ts";
import { CHUNK_SAMPLES_MAX, decodeSampleChunk } from "../../../../domain/codec/sample-chunk.ts";
import { HISTORY_MINUTES, HISTORY_RING_VALUES } from "../../../../domain/saturation/saturation-history.ts";
import { clearPlace, SATURATION_HEAD_VALUES, SaturationSeries } from "../../../../domain/saturation/saturation-series.ts";
import { newestSpans } from "../../tables/block-rows.ts";
import { blockKey } from "../../tables/tables.ts";
import type { StagesContext } from "../stages-context.ts";

const MINUTE_MS = 60_000;
const BLOCKS_PER_BREATH = 8;

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

  fold(key: string, metricName: string): FoldedHistory {
    const place = { head: new Float64Array(SATURATION_HEAD_VALUES), rings: new Float32Array(HISTORY_RING_VALUES) };
    clearPlace(place);
    const series = new SaturationSeries({ metricName, unit: null, instance: null });
    for (let at = 0; at <= HISTORY_MINUTES; at++) {
      const count = this.#counts[at] as number;
      if (count > 0) series.observe((this.fromMinute + at) * MINUTE_MS, (this.#sums[at] as number) / count);
    }
    series.detachInto(place);
    return { key, untilMs: this.#untilMs, ...place };
  }
}

/** Histories of some series of one engine, in order; stops at `untilMs` of the monotonic clock and leaves out the rest. */
export async function readPasts(
  context: StagesContext,
  engine: number,
  wanted: readonly WantedHistory[],
  untilMs: number,
): Promise<FoldedHistory[]> {
  const histories: FoldedHistory[] = [];
  for (const group of groupsOf(wanted)) {
    if (context.monotonicMs() >= untilMs) break;
    histories.push(...(await readGroup(context, engine, group)));
  }
  return histories;
}

/** Of one partition each, with so many streams at most, or a single series. */
function* groupsOf(wanted: readonly WantedHistory[]): Generator<readonly WantedHistory[]> {
  for (const group of groupBy(wanted, ({ partition }) => partition).values()) {
    let some: WantedHistory[] = [];
    let streams = 0;
    for (const one of group) {
      if (some.length > 0 && streams + one.streamIds.length > SATURATION_STREAMS_PER_FOLD) {
        yield some;
        [some, streams] = [[], 0];
      }
      some.push(one);
      streams += one.streamIds.length;
    }
    if (some.length > 0) yield some;
  }
}

async function readGroup(context: StagesContext, engine: number, group: readonly WantedHistory[]): Promise<FoldedHistory[]> {
  const { series } = context.state;
  const { partition } = group[0] as WantedHistory;
  const nowMs = context.nowMs();
  const means = group.map((one) => ({ one, means: new MinuteMeans(nowMs, one.untilMs) }));
  const fromMs = (means[0]?.means.fromMinute ?? 0) * MINUTE_MS;
  let blocks = 0;
  for (const span of newestSpans(series, partition, 0)) {
    if (span.maxMs < fromMs) continue;
    const bytes = series.get("blocks", blockKey(partition, span.block));
    const block = bytes === undefined ? undefined : ChunkBlock.open(bytes);
    if (block === undefined) continue;
    for (const { one, means: of } of means) {
      for (const id of one.streamIds) for (const { chunk } of block.chunksOf(id)) of.addChunk(chunk);
    }
    if (++blocks % BLOCKS_PER_BREATH === 0) await context.breathe();
  }
  for (const { one, means: of } of means) {
    for (const streamId of one.streamIds) {
      const { chunks } = await context.engines.pendingChunks(engine, { partition, streamId });
      for (const chunk of chunks) of.addChunk(chunk);
    }
  }
  return means.map(({ one, means: of }) => of.fold(one.key, one.metricName));
}
