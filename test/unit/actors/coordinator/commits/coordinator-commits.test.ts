import { describe, expect, it } from "vitest";
import { DEAD_LETTER_PLACES, RECORDS_PER_COMMIT_MAX } from "../../../../../src/core/config/limits.ts";
import type { EngineFrame } from "../../../../../src/core/protocol/coordinator-frame.ts";
import { floorHasRisen, LogCoverage } from "../../../../../src/modules/state/log-coverage.ts";
import { chunkBlock } from "../../../../support/chunk-block.ts";
import {
  block,
  checkpoint,
  checkpointPart,
  deadLetter,
  episode,
  logMark,
  Rig,
  record,
  START_MS,
} from "../../../../support/coordinator-rig.ts";

const STREAM = new Uint8Array(16).fill(3);
const someBlock = chunkBlock([{ streamId: STREAM, firstMs: START_MS, lastMs: START_MS, chunk: Uint8Array.of(1, 2, 3) }]);
const rows = (rig: Rig, table: string) => (rig.control.contents.get(table) ?? rig.series.contents.get(table))?.size ?? 0;

function mixedFrames(count: number): EngineFrame[] {
  return Array.from({ length: count }, (_, i) => {
    if (i % 5 === 1) return record({ timeMs: START_MS + i });
    if (i % 5 === 2) return deadLetter({ receivedMs: START_MS + i });
    if (i % 5 === 3) return block(7, i, someBlock);
    if (i % 5 === 4) return checkpoint(i % 256, 1, [{ epoch: 1, lane: 0, segment: 1, offset: i }], i);
    return episode({ metricName: `m${i}` });
  });
}

describe("commits", () => {
  it("hold at most fifty verdicts, and take everything in the end, from every engine", async () => {
    const rig = await Rig.open({ engines: 3 });
    for (const [at, engine] of rig.engines.entries())
      engine.frames.push(...Array.from({ length: 120 }, (_, i) => episode({ serviceId: `s${at}`, metricName: `m${i}` })));
    const before = rig.control.commits;
    await rig.coordinator.step();
    expect(rows(rig, "anomalies")).toBe(50);
    await rig.drain();
    expect(rows(rig, "anomalies")).toBe(360);
    expect(rig.control.commits - before).toBeLessThan(20);
    expect(rig.counter("frames")).toBe(360);
    for (const at of [0, 1, 2]) expect((await rig.ask("anomalies", { service_id: `s${at}` })).body.total).toBe(120);
  });

  it("store a checkpoint only when everything before it in its ring is stored", async () => {
    for (let seed = 1; seed <= 20; seed++) {
      const rig = await Rig.open({ seed });
      const verdicts = Array.from({ length: 140 }, (_, i) => episode({ metricName: `m${i}` }));
      rig.engines[0]?.frames.push(...verdicts.slice(0, 130), record(), deadLetter(), checkpoint(3, 1, []), ...verdicts.slice(130));
      let running: Promise<unknown> | undefined;
      for (let turn = 0; turn < 400; turn++) {
        running ??= rig.coordinator.step().then(() => (running = undefined));
        await Promise.resolve();
        if (rows(rig, "checkpoints") === 0) continue;
        expect(rows(rig, "anomalies")).toBeGreaterThanOrEqual(130);
        expect([rows(rig, "records"), rows(rig, "dead_letters")]).toEqual([1, 1]);
      }
      expect(rows(rig, "anomalies")).toBe(140);
      expect(rows(rig, "checkpoints")).toBe(1);
    }
  });

  it("hold fewer dead letters than records, as each costs more", async () => {
    const rig = await Rig.open();
    const most = RECORDS_PER_COMMIT_MAX / DEAD_LETTER_PLACES;
    rig.engines[0]?.frames.push(...Array.from({ length: 3 * most }, (_, i) => deadLetter({ receivedMs: START_MS + i })));
    await rig.coordinator.step();
    expect(rows(rig, "dead_letters")).toBe(most);
    await rig.drain();
    expect(rows(rig, "dead_letters")).toBe(3 * most);
  });

  it("take a frame larger than a transaction alone", async () => {
    const rig = await Rig.open();
    await rig.take(episode(), checkpoint(0, 1, [], 0, "x".repeat(6 * 1024 * 1024)), episode({ metricName: "other" }));
    expect([rows(rig, "anomalies"), rows(rig, "checkpoints")]).toEqual([2, 1]);
    expect(rig.coordinator.loadStatePart({ type: "state-part", partition: 0, part: 0 }).bytes.length).toBe(6 * 1024 * 1024);
  });

  it("end on a frame that no engine can have sent", async () => {
    const rig = await Rig.open();
    await expect(rig.take({ kind: 99, payload: new Uint8Array(0) })).rejects.toThrow(/unknown kind 99/);
  });
});

describe("a store that is full", () => {
  const keepsAll = (which: "control" | "series") =>
    it(`loses nothing when ${which} refuses, says so, and recovers by itself`, async () => {
      const frames = mixedFrames(300);
      const whole = await Rig.open();
      await whole.take(...frames);

      const rig = await Rig.open({ isStarting: true });
      rig.engines[0]?.frames.push(...frames);
      await rig.coordinator.step();
      rig[which].failAll("ENOSPC");
      const report = await rig.coordinator.step();
      expect(report).toEqual({ more: false, mayGather: false, isPaused: true, awaits: "any", dueMs: rig.monotonicMs + 100 });
      expect(rig.counter("storeReadOnly")).toBe(1);
      expect((await rig.ask("status")).body).toMatchObject({ status: "starting", components: { store: "read_only" } });
      const commits = rig.control.commits;
      for (let i = 0; i < 5; i++) expect((await rig.coordinator.step()).more).toBe(false);
      expect(rig.control.commits).toBe(commits);
      const pauses = [];
      for (let i = 0; i < 8; i++) {
        rig.monotonicMs = (await rig.coordinator.step()).dueMs;
        pauses.push((await rig.coordinator.step()).dueMs - rig.monotonicMs);
      }
      expect(pauses).toEqual([200, 400, 800, 1600, 3200, 5000, 5000, 5000]);
      rig[which].failAll(undefined);
      rig.monotonicMs += 5000;
      await rig.drain();
      expect(rig.counter("storeReadOnly")).toBe(0);
      expect(rig.durable()).toEqual(whole.durable());
      expect(rig.messages.filter(({ type }) => type === "log")).toHaveLength(2);
      expect((await rig.ask("dlqStats")).body.total_failed).toBe(60);
    });
  keepsAll("control");
  keepsAll("series");

  it("fails now and then, in either part, and the state is the same in the end", async () => {
    const frames = mixedFrames(200);
    const whole = await Rig.open();
    await whole.take(...frames);
    for (let seed = 1; seed <= 15; seed++) {
      const rig = await Rig.open({ seed });
      rig.engines[0]?.frames.push(...frames);
      for (let i = 0; i < 40; i++) {
        if ((i * seed) % 3 === 0) rig.control.failNext("ENOSPC");
        if ((i * seed) % 4 === 1) rig.series.failNext("MDB_MAP_FULL");
        await rig.coordinator.step();
        rig.monotonicMs += 5_000;
      }
      for (let i = 0; i < 60; i++) {
        await rig.coordinator.step();
        rig.monotonicMs += 5_000;
      }
      expect(sorted(rig.durable())).toEqual(sorted(whole.durable()));
    }
  });

  it("ends the coordinator when it was closed", async () => {
    const rig = await Rig.open();
    await rig.control.close();
    await expect(rig.take(episode())).rejects.toThrow(/CLOSED/);
  });

  it("does not keep a stop waiting", async () => {
    const rig = await Rig.open();
    rig.control.failAll("ENOSPC");
    await rig.take(episode());
    await rig.coordinator.handle({ type: "stop" });
    await rig.drain();
    expect(rig.messages.at(-1)).toEqual({ type: "stopped" });
  });
});

/** Order of insertion differs between runs; detected_at does not. */
function sorted(durable: unknown): unknown {
  return (durable as Array<[string, Array<[string, string]>]>).map(([table, entries]) => [
    table,
    [...entries].sort(([a], [b]) => (a < b ? -1 : 1)),
  ]);
}

describe("a stop", () => {
  it("stores what the engines have sent, then says stopped, once", async () => {
    const rig = await Rig.open();
    rig.engines[0]?.frames.push(...mixedFrames(300));
    await rig.coordinator.handle({ type: "stop" });
    await rig.drain();
    await rig.drain();
    expect(rig.counter("frames")).toBe(300);
    expect(rig.messages.filter(({ type }) => type === "stopped")).toHaveLength(1);
  });
});

describe("the floor of the logs", () => {
  const mark = (segment: number, lane = 0, epoch = 1, offset = 8) => ({ epoch, lane, segment, offset });
  const covered = (change: (coverage: LogCoverage) => void) => {
    const coverage = new LogCoverage();
    for (let partition = 0; partition < 256; partition++) coverage.putCheckpoint({ partition, epoch: 1, vector: [mark(5), mark(7, 1)] });
    coverage.putMark(mark(6));
    coverage.putMark(mark(6, 1));
    change(coverage);
    return coverage.floor();
  };

  const floors = (what: string, change: (coverage: LogCoverage) => void, writers: ReadonlyArray<readonly [number, number]>, epoch = 1) =>
    it(what, () =>
      expect(covered(change)).toEqual({ epoch, writers: writers.map(([writer, belowSegment]) => ({ writer, belowSegment })) }),
    );
  floors("is the least of checkpoints and mark, per writer", () => undefined, [
    [0, 5],
    [1, 6],
  ]);
  floors("is held by one partition that lags", (c) => c.putCheckpoint({ partition: 9, epoch: 1, vector: [mark(2), mark(7, 1)] }), [
    [0, 2],
    [1, 6],
  ]);
  floors("is held by a partition that does not know the writer", (c) => c.putCheckpoint({ partition: 9, epoch: 1, vector: [mark(5)] }), [
    [0, 5],
    [1, 0],
  ]);
  floors("is not held by partitions of a later epoch", (c) => c.putCheckpoint({ partition: 9, epoch: 2, vector: [mark(1, 0, 2)] }), [
    [0, 5],
    [1, 6],
  ]);
  floors(
    "belongs to the oldest epoch",
    (c) => {
      for (let partition = 1; partition < 256; partition++) c.putCheckpoint({ partition, epoch: 2, vector: [mark(1, 0, 2)] });
    },
    [
      [0, 5],
      [1, 6],
    ],
  );
  floors(
    "passes to the next epoch with the last partition, and waits for the mark there",
    (c) => {
      for (let partition = 0; partition < 256; partition++) c.putCheckpoint({ partition, epoch: 2, vector: [mark(3, 0, 2)] });
    },
    [[0, 0]],
    2,
  );

  it("does not exist while a partition has no checkpoint", () => {
    const coverage = new LogCoverage();
    for (let partition = 0; partition < 255; partition++) coverage.putCheckpoint({ partition, epoch: 1, vector: [] });
    expect(coverage.floor()).toBeUndefined();
    expect(floorHasRisen(undefined, undefined)).toBe(false);
  });

  it("lets logs go when it rises, and only then; marks of earlier epochs go with them", async () => {
    const rig = await Rig.open();
    const round = (epoch: number, segment: number) =>
      Array.from({ length: 256 }, (_, partition) => checkpoint(partition, epoch, [mark(segment, 0, epoch)]));
    await rig.take(logMark(mark(4, 0, 1)), ...round(1, 2));
    expect(rig.floors).toEqual([{ epoch: 1, writers: [{ writer: 0, belowSegment: 2 }] }]);
    await rig.take(...round(1, 3).slice(0, 255));
    expect(rig.floors).toHaveLength(1);
    await rig.take(...round(1, 3).slice(255));
    expect(rig.floors.at(-1)).toEqual({ epoch: 1, writers: [{ writer: 0, belowSegment: 3 }] });
    await rig.take(logMark(mark(1, 0, 2)), ...round(2, 1));
    expect(rig.floors.at(-1)).toEqual({ epoch: 2, writers: [{ writer: 0, belowSegment: 1 }] });
    expect(rig.coordinator.loadLogMarks()).toEqual([mark(1, 0, 2)]);
    const next = await rig.restarted();
    expect(next.coordinator.loadLogMarks()).toEqual([mark(1, 0, 2)]);
  });
});

/** Texts of all parts of a stored state. */
function stateOf(rig: Rig, partition: number, parts: number): string[] {
  return Array.from({ length: parts }, (_, part) =>
    Buffer.from(rig.coordinator.loadStatePart({ type: "state-part", partition, part }).bytes).toString(),
  );
}

describe("a checkpoint in parts", () => {
  it("takes the place of the one before at its last part, not earlier", async () => {
    const rig = await Rig.open();
    await rig.take(
      ...[0, 1, 2].map((part) => checkpointPart(5, 1, part, `old ${part}`)),
      checkpoint(5, 4, [], 2, "old end", { generation: 1, parts: 3 }),
    );
    await rig.take(checkpointPart(5, 2, 0, "new 0"));
    expect(stateOf(rig, 5, 4)).toEqual(["old 0", "old 1", "old 2", "old end"]);
    await rig.take(checkpointPart(5, 2, 1, "new 1"), checkpoint(5, 4, [], 2, "new end", { generation: 2, parts: 2 }));
    expect(stateOf(rig, 5, 3)).toEqual(["new 0", "new 1", "new end"]);
    expect(rows(rig, "checkpoint_parts")).toBe(2);
    expect(() => rig.coordinator.loadStatePart({ type: "state-part", partition: 5, part: 3 })).toThrow("no part 3");
  });

  it("of two in one transaction leaves the parts of the second alone", async () => {
    const rig = await Rig.open();
    await rig.take(
      checkpointPart(5, 1, 0, "one"),
      checkpoint(5, 4, [], 0, "end", { generation: 1, parts: 1 }),
      checkpointPart(5, 2, 0, "two"),
      checkpoint(5, 4, [], 0, "end", { generation: 2, parts: 1 }),
    );
    expect([stateOf(rig, 5, 2), rows(rig, "checkpoint_parts")]).toEqual([["two", "end"], 1]);
  });

  it("that did not come to its end is gone at the next start, whatever its number", async () => {
    const rig = await Rig.open();
    await rig.take(checkpointPart(5, 7, 0, "kept"), checkpoint(5, 4, [], 0, "end", { generation: 7, parts: 1 }));
    await rig.take(checkpointPart(5, 6, 0, "x"), checkpointPart(5, 7, 1, "x"), checkpointPart(5, 8, 0, "x"), checkpointPart(6, 1, 0, "x"));
    const next = await rig.restarted();
    expect([stateOf(next, 5, 2), rows(next, "checkpoint_parts")]).toEqual([["kept", "end"], 1]);
  });
});

describe("a start", () => {
  it("gives checkpoints back as they were, and voids the blocks behind them", async () => {
    const rig = await Rig.open();
    const vector = [{ epoch: 4, lane: 1, segment: 2, offset: 3 }];
    await rig.take(
      checkpoint(5, 4, vector, 2, "bytes of five"),
      ...[0, 1, 2, 3].map((number) => block(5, number, someBlock)),
      block(6, 0, someBlock),
      block(255, 9, someBlock),
    );
    const next = await rig.restarted();
    const checkpoints = [...next.coordinator.loadCheckpoints()];
    expect(checkpoints).toEqual([
      { partition: 5, epoch: 4, vector, nextBlock: 2, generation: 1, parts: 0, streams: 1, nextSerial: 0, coldBytes: 0 },
    ]);
    expect(stateOf(next, 5, 1)).toEqual(["bytes of five"]);
    expect([rows(next, "blocks"), rows(next, "block_spans")]).toEqual([2, 2]);
  });
});
