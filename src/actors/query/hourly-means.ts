/**
 * What is left of a series where its samples are past RETENTION_RAW_DAYS: a mean of each hour, and of a counter what it rose by in it. Queries see them as a sample each
 * minute, so that an instant finds one within any lookback and rate() two within a few minutes: of a gauge the mean, of a counter a straight line, which ends at the
 * first sample that is left.
 */
import type { StoreReader } from "../../adapters/storage/key-value-store.ts";
import { HOUR_MS, MINUTE_MS } from "../../core/time/durations.ts";
import { compareKeys } from "../../domain/codec/key.ts";
import type { QueryBudget } from "../../domain/promql/query-budget.ts";
import { decodeHours, Hours } from "../../domain/rollup/hour-column.ts";
import { RollupBlock } from "../../domain/rollup/rollup-block.ts";
import { newestRollups, type RollupSpan, readMark } from "../../modules/series/rollups/rollup-rows.ts";
import { blockKey } from "../../modules/state/tables.ts";

/** Sum and number of the samples of an hour, by the hour since 1970. */
export type HourSums = ReadonlyMap<number, { readonly sum: number; readonly count: number }>;

/** Samples ascending in time. */
interface Samples {
  readonly timesMs: Float64Array;
  readonly values: Float64Array;
}

interface TimeSpan {
  readonly fromMs: number;
  readonly toMs: number;
}

const MINUTES = HOUR_MS / MINUTE_MS;
const HOUR_BYTES = 100;

export interface HourSource {
  readonly reader: StoreReader;
  readonly budget: QueryBudget;
  readonly partition: number;
}

/** The hours of some streams of a partition that a span of time touches, by the streams' indexes. */
export function readHourSums({ reader, budget, partition }: HourSource, streamIds: readonly Uint8Array[], span: TimeSpan): HourSums[] {
  const [firstHour, lastHour] = [Math.floor(span.fromMs / HOUR_MS) - 1, Math.floor(span.toMs / HOUR_MS)];
  const sums = streamIds.map(() => new Map<number, { sum: number; count: number }>());
  const scratch = new Hours();
  for (const rollup of newestRollups(reader, partition, readMark(reader, partition))) {
    budget.check();
    if (rollup.lastHour < firstHour || rollup.firstHour > lastHour) continue;
    const bytes = reader.get("rollups", blockKey(partition, rollup.number));
    if (bytes === undefined) continue; // it went since its span was read: past its time
    const block = RollupBlock.open(bytes);
    if (block === undefined) throw new Error("a stored roll-up does not open");
    for (const [index, streamId] of streamIds.entries()) {
      if (!mayContain(rollup, streamId)) continue;
      for (const piece of block.piecesOf(streamId)) {
        if (!decodeHours(piece, scratch)) throw new Error("a stored roll-up does not decode");
        budget.reserve(scratch.length * HOUR_BYTES);
        addHours(scratch, sums[index] as Map<number, { sum: number; count: number }>);
      }
    }
  }
  return sums;
}

function mayContain({ firstStream, lastStream }: RollupSpan, streamId: Uint8Array): boolean {
  return compareKeys(firstStream, streamId) <= 0 && compareKeys(streamId, lastStream) <= 0;
}

function addHours({ length, hours, sums, counts }: Hours, into: Map<number, { sum: number; count: number }>): void {
  for (let at = 0; at < length; at++) {
    const hour = hours[at] as number;
    const known = into.get(hour) ?? { sum: 0, count: 0 };
    into.set(hour, { sum: known.sum + (sums[at] as number), count: known.count + (counts[at] as number) });
  }
}

/**
 * Samples of a span with hours before the first of them; the same where no hour is older than theirs, as with a series that has just begun. Of a counter the line is raised
 * so that it ends at the first sample.
 */
export function withHourlyMeans(raw: Samples, hours: HourSums, isCounter: boolean, { fromMs, toMs }: TimeSpan): Samples {
  const endMs = raw.timesMs[0] ?? Number.POSITIVE_INFINITY;
  const wanted = [...hours.keys()].filter((hour) => hour * HOUR_MS < endMs && hour * HOUR_MS <= toMs).sort((a, b) => a - b);
  const [first] = wanted;
  if (first === undefined || first >= Math.floor(endMs / HOUR_MS)) return raw;
  const [times, values]: [number[], number[]] = [[], []];
  let risen = 0;
  for (const hour of wanted) {
    const { sum, count } = hours.get(hour) as { sum: number; count: number };
    for (let minute = 1; minute <= MINUTES; minute++) {
      const timeMs = hour * HOUR_MS + minute * MINUTE_MS;
      if (timeMs >= endMs || timeMs > toMs) break;
      if (timeMs < fromMs && !isCounter) continue;
      times.push(timeMs);
      values.push(isCounter ? risen + (sum * minute) / MINUTES : sum / count);
    }
    risen += sum;
  }
  const raise = isCounter && raw.values.length > 0 ? Math.max(0, (raw.values[0] as number) - (values.at(-1) ?? 0)) : 0;
  return {
    timesMs: Float64Array.from([...times, ...raw.timesMs]),
    values: joined(
      Float64Array.from(values, (value) => value + raise),
      raw.values,
    ),
  };
}

/** By their bits: a number that is taken in hand may lose those of a stale marker. */
function joined(first: Float64Array, second: Float64Array): Float64Array {
  const all = new Float64Array(first.length + second.length);
  all.set(first);
  all.set(second, first.length);
  return all;
}
