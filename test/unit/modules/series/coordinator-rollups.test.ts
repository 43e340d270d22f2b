// Hourly roll-ups in the coordinator: what a client sees as hours stays the same while samples become roll-ups, wherever that is interrupted.
import { describe, expect, it } from "vitest";
import { ROLLUP_SHARE_MIN } from "../../../../src/core/config/pace-limits.ts";
import { partitionOf } from "../../../../src/domain/placement/partition.ts";
import { blockKey } from "../../../../src/modules/state/tables.ts";
import { chunkBlock } from "../../../support/chunk-block.ts";
import { block, checkpoint, DAY_MS, type FakeStream, Rig, type RigOptions, START_MS, stream } from "../../../support/coordinator-rig.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const HOUR_MS = 3_600_000;
const STEP_MS = 600_000;
const SAMPLES = 576;
const CHUNK_SAMPLES = 50;
const RING_SAMPLES = 120;
const PARTITION = partitionOf("default", "checkout");
const ASK = { service_id: "checkout", metric_name: "latency_ms", resolution: "1h", limit: "1000" };

// Four days of a sample every ten minutes, the last one as the rig starts. The ring holds the last twenty hours, most of which are in blocks too.
const times = Array.from({ length: SAMPLES }, (_, at) => START_MS - (SAMPLES - 1 - at) * STEP_MS);
const values = times.map((_, at) => ((at * 7919) % 1000) / 10);
const held = stream(
  { lastTimeMs: START_MS, firstTimeMs: times[0] as number },
  { times: times.slice(-RING_SAMPLES), values: values.slice(-RING_SAMPLES), partition: PARTITION },
);

function chunk(from: number, to: number): Uint8Array {
  return sampleChunk(Float64Array.from(times.slice(from, to)), Float64Array.from(values.slice(from, to)));
}

/** Eleven blocks of a chunk of the stream and one of another each. */
const BLOCKS = Array.from({ length: Math.floor(SAMPLES / CHUNK_SAMPLES) }, (_, number) => {
  const from = number * CHUNK_SAMPLES;
  const [firstMs, lastMs] = [times[from] as number, times[from + CHUNK_SAMPLES - 1] as number];
  const one = { firstMs, lastMs, chunk: chunk(from, from + CHUNK_SAMPLES) };
  return block(
    PARTITION,
    number,
    chunkBlock([
      { ...one, streamId: held.streamId },
      { ...one, streamId: new Uint8Array(16).fill(200) },
    ]),
  );
});

async function filled(options: RigOptions = {}, settled = BLOCKS.length): Promise<Rig> {
  const rig = await Rig.open(options);
  withStream(rig);
  await rig.take(...BLOCKS, checkpoint(PARTITION, 1, [], settled));
  return rig;
}

function withStream(rig: Rig, one: FakeStream = held): Rig {
  rig.engines[0]?.streams.push(one);
  return rig;
}

/** Lets so many rounds of retention go by. */
async function rounds(rig: Rig, count: number): Promise<void> {
  for (let round = 0; round < count; round++) {
    rig.monotonicMs += 60_000;
    await rig.drain();
  }
}

/** Means by hour, from the samples themselves. */
function expectedHours(fromMs = Number.NEGATIVE_INFINITY): Array<[string, number]> {
  const hours = new Map<number, number[]>();
  times.forEach((time, at) => {
    const hour = Math.floor(time / HOUR_MS) * HOUR_MS;
    if (hour >= fromMs) hours.set(hour, [...(hours.get(hour) ?? []), values[at] as number]);
  });
  return [...hours].map(([hour, list]) => [new Date(hour).toISOString(), list.reduce((sum, value) => sum + value, 0) / list.length]);
}

async function hoursOf(rig: Rig, query: Record<string, string> = {}): Promise<Array<[string, number]>> {
  const { body } = await rig.ask("seriesData", { ...ASK, ...query });
  expect(body.complete).toBe(true);
  return body.points.map(({ timestamp, value }: { timestamp: string; value: number }) => [timestamp, value]);
}

function expectHours(seen: ReadonlyArray<[string, number]>, expected: ReadonlyArray<[string, number]>): void {
  expect(seen.map(([time]) => time)).toEqual(expected.map(([time]) => time));
  seen.forEach(([time, value], at) => expect([time, value]).toEqual([time, expect.closeTo(expected[at]?.[1] as number, 9)]));
}

const rows = (rig: Rig, table: string) => rig.series.contents.get(table)?.size ?? 0;

describe("the making of roll-ups", () => {
  it("leaves the coordinator most of its time, step by step, and is over before the next round", async () => {
    const blockMs = 1;
    const rig = await filled({ blockMs });
    const startMs = rig.monotonicMs;
    const rests: number[] = [];
    while (rig.counter("rollupSamples") === 0) {
      const { dueMs } = await rig.drain();
      rests.push(dueMs - rig.monotonicMs);
      rig.monotonicMs = dueMs;
    }
    expect(rests.length).toBeGreaterThan(BLOCKS.length);
    expect(new Set(rests.slice(0, -1))).toEqual(new Set([blockMs * (1 / ROLLUP_SHARE_MIN - 1)]));
    expect(rig.monotonicMs - startMs).toBeLessThan(60_000);
    expectHours(await hoursOf(rig), expectedHours());
    expect(rig.counter("rollupSamples")).toBe(2 * CHUNK_SAMPLES * BLOCKS.length);
  });

  it("waits for engines that still read their logs", async () => {
    const rig = await filled({ isStarting: true });
    await rounds(rig, 3);
    expect(rig.counter("rollupSamples")).toBe(0);
    await rig.coordinator.handle({ type: "engines-ready", tornEnds: new Map() });
    await rounds(rig, 1);
    expect(rig.counter("rollupSamples")).toBe(2 * CHUNK_SAMPLES * BLOCKS.length);
    expectHours(await hoursOf(rig), expectedHours());
  });
});

describe("hours", () => {
  it("are the same from samples and from roll-ups, and outlive the samples", async () => {
    const rig = await filled();
    expect(rows(rig, "rollup_marks")).toBe(1);
    expect([rows(rig, "rollups"), rows(rig, "rollup_spans")]).toEqual([1, 1]);
    expect(rig.counter("rollupSamples")).toBe(2 * CHUNK_SAMPLES * BLOCKS.length);
    expectHours(await hoursOf(rig), expectedHours());
    const raw = (await rig.ask("seriesData", { ...ASK, resolution: "raw" })).body.points;
    expect(raw).toHaveLength(SAMPLES);

    rig.nowMs += 8 * DAY_MS;
    await rounds(rig, 1);
    expect([rows(rig, "blocks"), rows(rig, "block_spans"), rows(rig, "rollups")]).toEqual([0, 0, 1]);
    expect([rig.counter("blocksExpired"), rig.counter("oldestSampleSeconds")]).toEqual([BLOCKS.length, 0]);
    expect(rig.counter("oldestRollupSeconds") * 1000).toBe(Math.floor((times[0] as number) / HOUR_MS) * HOUR_MS);
    expectHours(await hoursOf(rig), expectedHours());

    rig.nowMs += 23 * DAY_MS;
    await rounds(rig, 1);
    expect([rows(rig, "rollups"), rows(rig, "rollup_spans"), rig.counter("rollupsExpired")]).toEqual([0, 0, 1]);
    expect(rig.counter("oldestRollupSeconds")).toBe(0);
  });

  it("of a range are those that begin in it, whole", async () => {
    const rig = await filled();
    const at = (hours: number) => new Date(START_MS - hours * HOUR_MS).toISOString();
    const all = expectedHours();
    const between = (from: number, to: number) => all.filter(([time]) => time >= at(from) && time < at(to));
    expectHours(await hoursOf(rig, { since: at(60), until: at(50) }), between(60, 50));
    expectHours(await hoursOf(rig, { since: at(60), until: at(49.5) }), between(60, 49.5));
    expectHours(await hoursOf(rig, { limit: "5" }), all.slice(-5));
    const { points } = (await rig.ask("seriesData", { ...ASK, limit: "1" })).body;
    expect(points[0].expected).not.toBeNull();
  });

  it("take in what came later: further blocks, late samples, a restart", async () => {
    const rig = await filled({}, 4);
    await rounds(rig, 1);
    const again = withStream(await rig.restarted()); // blocks that no checkpoint knows are gone, the replay sends them again
    expect(rows(again, "blocks")).toBe(4);
    await again.take(...BLOCKS.slice(4), checkpoint(PARTITION, 2, [], BLOCKS.length));
    again.nowMs += 7 * HOUR_MS;
    await rounds(again, 1);
    expect(rows(again, "rollups")).toBe(2);
    expectHours(await hoursOf(again), expectedHours());
  });

  it("count nothing twice that the ring of a slow stream still holds, and miss nothing that only it holds", async () => {
    const rig = await filled();
    rig.nowMs += 8 * DAY_MS;
    await rounds(rig, 1);
    expect(rows(rig, "blocks")).toBe(0);
    expectHours(await hoursOf(rig, { limit: "30" }), expectedHours().slice(-30));
  });

  it("are not made of blocks that a replay may make again", async () => {
    const rig = await filled({}, 0);
    rig.nowMs += 8 * DAY_MS;
    await rounds(rig, 2);
    expect([rows(rig, "blocks"), rows(rig, "rollups")]).toEqual([BLOCKS.length, 0]);
    expectHours(await hoursOf(rig), expectedHours());
  });

  it("are not made where they would be too old at once", async () => {
    const rig = await filled({ rawRetentionMs: 60 * DAY_MS, nowMs: START_MS + 35 * DAY_MS });
    await rounds(rig, 1);
    expect([rows(rig, "blocks"), rows(rig, "rollups"), rows(rig, "rollup_marks")]).toEqual([BLOCKS.length, 0, 1]);
  });
});

describe("a roll-up that is interrupted", () => {
  /** Commits of the series store until the roll-up is done, counted from the fill. */
  const COMMITS = 3;

  for (let at = 0; at <= COMMITS; at++) {
    it(`by a full disk at commit ${at} goes on when there is room`, async () => {
      const rig = await Rig.open();
      withStream(rig);
      rig.engines[0]?.frames.push(...BLOCKS, checkpoint(PARTITION, 1, [], BLOCKS.length));
      const before = rig.series.commits;
      while (rig.series.commits - before < at) await rig.coordinator.step();
      rig.series.failNext("ENOSPC");
      rig.series.failNext("ENOSPC");
      rig.monotonicMs += 60_000;
      for (let pause = 0; pause < 4; pause++) {
        await rig.drain();
        rig.monotonicMs += 60_000;
      }
      await rounds(rig, 1);
      expect([rig.counter("storeReadOnly"), rows(rig, "rollups")]).toEqual([0, 1]);
      expectHours(await hoursOf(rig), expectedHours());
    });

    it(`by the end of the process after commit ${at} loses nothing and counts nothing twice`, async () => {
      const rig = await Rig.open();
      rig.engines[0]?.frames.push(...BLOCKS, checkpoint(PARTITION, 1, [], BLOCKS.length));
      const before = rig.series.commits;
      for (let step = 0; step < 100 && rig.series.commits - before < at; step++) await rig.coordinator.step();
      rig.series.kill();
      const again = withStream(await rig.restarted());
      if (at === 0) again.engines[0]?.frames.push(...BLOCKS, checkpoint(PARTITION, 1, [], BLOCKS.length));
      await again.drain();
      await rounds(again, 1);
      expect([rows(again, "rollups"), rows(again, "rollup_marks")]).toEqual([1, 1]);
      expectHours(await hoursOf(again), expectedHours());
    });
  }
});

describe("roll-ups of an aggregate that did not come to its end", () => {
  it("count for nobody, and go with the next fold", async () => {
    const rig = await Rig.open();
    rig.engines[0]?.frames.push(...BLOCKS, checkpoint(PARTITION, 1, [], BLOCKS.length));
    while (rows(rig, "rollups") === 0) await rig.coordinator.step();
    expect(rows(rig, "rollup_marks")).toBe(0);
    rig.series.kill();
    const [span] = rig.series.contents.get("rollup_spans")?.values() ?? [];
    const [value] = rig.series.contents.get("rollups")?.values() ?? [];
    const again = withStream(await rig.restarted());
    const key = blockKey(PARTITION, 5); // of an aggregate that was longer
    await again.series.commit([
      { table: "rollups", key, value },
      { table: "rollup_spans", key, value: span },
    ]);
    expectHours(await hoursOf(again), expectedHours());
    expect([rows(again, "rollups"), rows(again, "rollup_marks")]).toEqual([2, 0]);
    await rounds(again, 2);
    expect([rows(again, "rollups"), rows(again, "rollup_spans"), rows(again, "rollup_marks")]).toEqual([1, 1, 1]);
    expectHours(await hoursOf(again), expectedHours());
  });
});

describe("the limit of the disk", () => {
  it("has writes refused while more is held, and told as read-only; what was taken is stored", async () => {
    const rig = await Rig.open({ diskLimitBytes: 1_000_000 });
    expect(rig.counter("diskLimitBytes")).toBe(1_000_000);
    rig.logBytes = 999_000;
    await rounds(rig, 1);
    expect(rig.counter("storeReadOnly")).toBe(0);
    rig.logBytes = 1_000_000;
    await rig.take(...BLOCKS);
    await rounds(rig, 1);
    expect([rig.counter("storeReadOnly"), rows(rig, "blocks")]).toEqual([1, BLOCKS.length]);
    expect((await rig.ask("status")).body.components.store).toBe("read_only");
    rig.logBytes = 0;
    await rounds(rig, 1);
    expect(rig.counter("storeReadOnly")).toBe(0);
    expect(rig.messages.filter(({ type }) => type === "log")).toHaveLength(2);
  });
});
