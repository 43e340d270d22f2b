import { describe, expect, it } from "vitest";
import { withHourlyMeans } from "../../../../src/actors/query/hourly-means.ts";
import { StoredSeriesStorage, selectorKey } from "../../../../src/actors/query/stored-series.ts";
import { Labels } from "../../../../src/domain/promql/labels/labels.ts";
import { QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import { encodeHours, HOURS_BYTES_MAX, Hours } from "../../../../src/domain/rollup/hour-column.ts";
import { encodeRollupBlock } from "../../../../src/domain/rollup/rollup-block.ts";
import { markOperation, rollupOperations } from "../../../../src/modules/series/rollups/rollup-rows.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const HOUR = 3_600_000;
const MINUTE = 60_000;
const raw = (...samples: ReadonlyArray<readonly [number, number]>) => ({
  timesMs: Float64Array.from(samples, ([time]) => time),
  values: Float64Array.from(samples, ([, value]) => value),
});
const sums = (...hours: ReadonlyArray<readonly [hour: number, sum: number, count: number]>) =>
  new Map(hours.map(([hour, sum, count]) => [hour, { sum, count }] as const));
const span = { fromMs: 0, toMs: 100 * HOUR };

describe("hourly means", () => {
  it("stand before the first sample, each minute of their hour", () => {
    const { timesMs, values } = withHourlyMeans(raw([12.5 * HOUR, 7]), sums([10, 20, 4], [11, 30, 3], [12, 8, 1]), false, span);
    expect([timesMs.length, timesMs[0], timesMs.at(-2), timesMs.at(-1)]).toEqual([
      150,
      10 * HOUR + MINUTE,
      12.5 * HOUR - MINUTE,
      12.5 * HOUR,
    ]);
    expect([values[0], values[59], values[60], values[120], values.at(-1)]).toEqual([5, 5, 10, 8, 7]);
  });

  it("rise by what a counter rose by, up to its first sample", () => {
    const { timesMs, values } = withHourlyMeans(raw([12 * HOUR + MINUTE, 1_000]), sums([10, 60, 4], [11, 120, 4]), true, span);
    expect([timesMs.length, values.at(-2), values[59], values[0]]).toEqual([121, 1_000, 880, 821]);
    expect(withHourlyMeans(raw(), sums([10, 60, 4]), true, span).values.at(-1)).toBe(60);
  });

  it("are none of a series that begins in its first hour, nor within a range that has samples", () => {
    const young = raw([10.5 * HOUR, 7]);
    expect(withHourlyMeans(young, sums([10, 20, 4], [11, 20, 4]), false, span)).toBe(young);
  });
});

function store(partition: number, streamId: Uint8Array, sumsOf: ReadonlyArray<readonly [hour: number, sum: number, count: number]>) {
  const hours = new Hours();
  for (const [hour, sum, count] of sumsOf) {
    hours.hours[hours.length] = hour;
    hours.sums[hours.length] = sum;
    hours.least[hours.length] = sum / count;
    hours.greatest[hours.length] = sum / count;
    hours.counts[hours.length++] = count;
  }
  hours.lastMs = (hours.hours[hours.length - 1] as number) * HOUR;
  const bytes = new Uint8Array(HOURS_BYTES_MAX);
  const piece = { streamId, bytes: bytes.slice(0, encodeHours(hours, bytes, 0)) };
  const [firstHour, lastHour] = [hours.hours[0] as number, hours.hours[hours.length - 1] as number];
  const value = {
    block: encodeRollupBlock([piece], firstHour, lastHour),
    firstHour,
    lastHour,
    firstStream: streamId,
    lastStream: streamId,
  };
  return [...rollupOperations(partition, 0, value), markOperation(partition, { firstBlock: 0, nextRollup: 1 })];
}

describe("stored series", () => {
  it("have hourly means where blocks are gone, and say so; not for what is asked of samples that are there", async () => {
    const streamId = new Uint8Array(16).fill(3);
    const tables = ["blocks", "block_spans", "rollups", "rollup_spans", "rollup_marks"];
    const reader = new MemoryStore({ tables });
    await reader.commit(
      store(5, streamId, [
        [10, 20, 4],
        [11, 30, 3],
      ]),
    );
    const averaged: string[] = [];
    const labels = Labels.of([["__name__", "load"]]);
    const waiting = [sampleChunk(Float64Array.of(20 * HOUR), Float64Array.of(9))];
    const stream = { labels, isCounter: false, firstTimeMs: null, lastTimeMs: 20 * HOUR, partition: 5, streamId, waiting };
    const streams = new Map([[selectorKey([]), [stream]]]);
    const dependencies = {
      reader,
      budget: new QueryBudget(() => 0),
      streams,
      summed: () => undefined,
      averaged: (name: string) => void averaged.push(name),
    };
    const storage = new StoredSeriesStorage(dependencies);
    const [series] = [...storage.select([], 10.5 * HOUR, 21 * HOUR)];
    expect([series?.timesMs.length, series?.values[0], series?.values.at(-1), averaged]).toEqual([92, 5, 9, ["load"]]);
    const [late] = [...storage.select([], 19 * HOUR, 21 * HOUR)];
    expect([late?.timesMs.length, averaged.length]).toEqual([1, 1]);
  });
});
