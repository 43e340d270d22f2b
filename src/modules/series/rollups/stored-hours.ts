/**
 * The hours of one stream: roll-ups, and the samples that are in none yet.
 *
 * Which blocks are rolled up is decided by the mark that was read before the engine was asked: a block that is rolled up since is read as samples, and
 * a chunk that the engine still held is in no roll-up that counts here. The engine's ring is another matter: its values stay there after their
 * chunk was stored, so those up to the newest rolled-up sample are left out. Whatever of them is in no roll-up is in a block as well.
 */

import { ROLLUP_BLOCKS_READ_MAX } from "../../../core/config/limits.ts";
import type { SeriesDataAnswer } from "../../../core/protocol/engine-control.ts";
import { HOUR_MS } from "../../../core/time/durations.ts";
import { compareKeys } from "../../../domain/codec/key.ts";
import { decodeHours, Hours } from "../../../domain/rollup/hour-column.ts";
import { RollupBlock } from "../../../domain/rollup/rollup-block.ts";
import { blockKey } from "../../state/tables.ts";
import type { SeriesContext } from "../series-context.ts";
import { readSamples, type SampleRequest, type Samples } from "../stored-samples.ts";
import { newestRollups, type RollupMark, type RollupSpan } from "./rollup-rows.ts";

/** Roll-ups read before others of the thread get a turn: 16 x 32 KiB are about 0.4 ms. */
const ROLLUPS_PER_SLICE = 16;

/** Means of the hours that have samples, each at its beginning, ascending; `complete` as with samples. */
export async function readHours(
  context: SeriesContext,
  answer: SeriesDataAnswer,
  request: SampleRequest,
  mark: RollupMark,
): Promise<Samples> {
  const hours = new HourSums(request);
  const rollupsComplete = answer.streamId === null || (await addRollups(context, answer.partition, answer.streamId, hours, mark));
  const unrolled = { ...answer, ...ringAfter(answer, hours.lastMs) };
  const samples = await readSamples(context, unrolled, { ...request, firstBlock: mark.firstBlock });
  hours.addSamples(samples);
  return { ...hours.means(), complete: rollupsComplete && samples.complete };
}

async function addRollups(
  { state, yieldToLoop }: SeriesContext,
  partition: number,
  streamId: Uint8Array,
  hours: HourSums,
  mark: RollupMark,
): Promise<boolean> {
  const scratch = new Hours();
  let blocks = 0;
  for (const span of newestRollups(state.series, partition, mark)) {
    if (!hours.wants(span) || !mayHold(span, streamId)) continue;
    if (++blocks > ROLLUP_BLOCKS_READ_MAX) return false;
    if (blocks % ROLLUPS_PER_SLICE === 0) await yieldToLoop();
    const bytes = state.series.get("rollups", blockKey(partition, span.number));
    if (bytes === undefined) continue; // it went since its span was read: past its time
    const block = RollupBlock.open(bytes);
    if (block === undefined) throw new Error("a stored roll-up does not open");
    for (const piece of block.piecesOf(streamId)) {
      if (!decodeHours(piece, scratch)) throw new Error("a stored roll-up does not decode");
      hours.addHours(scratch);
    }
  }
  return true;
}

function mayHold({ firstStream, lastStream }: RollupSpan, streamId: Uint8Array): boolean {
  return compareKeys(firstStream, streamId) <= 0 && compareKeys(streamId, lastStream) <= 0;
}

function ringAfter({ times, values }: SeriesDataAnswer, rolledMs: number): Pick<SeriesDataAnswer, "times" | "values"> {
  let first = 0;
  while (first < times.length && Math.floor(times[first] as number) <= rolledMs) first++;
  return { times: times.subarray(first), values: values.subarray(first) };
}

/** Sums and counts by hour, within a range of time. */
class HourSums {
  readonly #firstHour: number;
  readonly #toMs: number;
  readonly #sums = new Map<number, { sum: number; count: number }>();
  /** Time of the newest sample of any roll-up that was added. */
  lastMs = Number.NEGATIVE_INFINITY;

  constructor({ oldestMs, toMs }: SampleRequest) {
    this.#firstHour = Math.floor(oldestMs / HOUR_MS);
    this.#toMs = toMs;
  }

  wants({ firstHour, lastHour }: RollupSpan): boolean {
    return lastHour >= this.#firstHour && firstHour * HOUR_MS < this.#toMs;
  }

  addHours({ length, hours, sums, counts, lastMs }: Hours): void {
    this.lastMs = Math.max(this.lastMs, lastMs);
    for (let at = 0; at < length; at++) this.#add(hours[at] as number, sums[at] as number, counts[at] as number);
  }

  addSamples({ times, values }: Samples): void {
    for (let at = 0; at < times.length; at++) this.#add(Math.floor((times[at] as number) / HOUR_MS), values[at] as number, 1);
  }

  #add(hour: number, sum: number, count: number): void {
    if (hour < this.#firstHour || hour * HOUR_MS >= this.#toMs) return;
    const known = this.#sums.get(hour);
    if (known === undefined) this.#sums.set(hour, { sum, count });
    else {
      known.sum += sum;
      known.count += count;
    }
  }

  means(): Pick<Samples, "times" | "values"> {
    const hours = Float64Array.from(this.#sums.keys()).sort();
    const mean = (hour: number) => {
      const { sum, count } = this.#sums.get(hour) as { sum: number; count: number };
      return sum / count;
    };
    return { times: hours.map((hour) => hour * HOUR_MS), values: hours.map(mean) };
  }
}
