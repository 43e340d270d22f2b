// Frames for the series store gather while verdicts are committed at once.
import { describe, expect, it } from "vitest";
import { RECORDS_PER_COMMIT_MAX, SERIES_GATHERED_BYTES_MAX } from "../../src/core/config/limits.ts";
import { FRAME_BLOCK } from "../../src/core/protocol/coordinator-frame.ts";
import { chunkBlock } from "../support/chunk-block.ts";
import { block, checkpoint, deadLetter, episode, Rig, record, START_MS } from "../support/coordinator-rig.ts";

const REST_MS = 25;
const someBlock = chunkBlock([
  { streamId: new Uint8Array(16).fill(3), firstMs: START_MS, lastMs: START_MS, chunk: Uint8Array.of(1, 2, 3) },
]);
const rows = (rig: Rig, table: string) => (rig.control.contents.get(table) ?? rig.series.contents.get(table))?.size ?? 0;
const open = () => Rig.open({ seriesRestMs: REST_MS });
const stored = (rig: Rig) => ["anomalies", "dead_letters", "records", "blocks", "checkpoints"].map((table) => rows(rig, table));

describe("what is stored in series", () => {
  it("waits for its time, while what is stored in control does not", async () => {
    const rig = await open();
    rig.engines[0]?.frames.push(block(7, 0, someBlock), record());
    const report = await rig.drain();
    expect(report).toMatchObject({ more: false, awaits: "control", dueMs: rig.monotonicMs + REST_MS });
    expect(stored(rig)).toEqual([0, 0, 0, 0, 0]);
    rig.monotonicMs += REST_MS - 1;
    await rig.take(block(7, 1, someBlock), episode(), deadLetter());
    expect(stored(rig)).toEqual([1, 1, 0, 0, 0]);
    rig.monotonicMs += 1;
    expect(await rig.drain()).toMatchObject({ awaits: "any" });
    expect(stored(rig)).toEqual([1, 1, 1, 2, 0]);
    expect(rig.counter("frames")).toBe(5);
  });

  it("waits no longer where there is a lot of it", async () => {
    const rig = await open();
    await rig.take(...Array.from({ length: RECORDS_PER_COMMIT_MAX - 1 }, (_, i) => record({ timeMs: START_MS + i })));
    expect(rows(rig, "records")).toBe(0);
    await rig.take(record({ timeMs: START_MS - 1 }));
    expect(rows(rig, "records")).toBe(RECORDS_PER_COMMIT_MAX);
    await rig.take(checkpoint(0, 1, [], 0, "x".repeat(SERIES_GATHERED_BYTES_MAX)));
    expect(rows(rig, "checkpoints")).toBe(1);
  });

  it("is there for whoever asks, and for a stop", async () => {
    const rig = await open();
    await rig.take(record());
    expect((await rig.ask("records")).body.records).toHaveLength(1);
    await rig.take(block(7, 0, someBlock));
    await rig.coordinator.handle({ type: "stop" });
    await rig.drain();
    expect(rows(rig, "blocks")).toBe(1);
    expect(rig.messages.at(-1)).toEqual({ type: "stopped" });
  });

  it("has the rows of the ledger with it, which else go alone", async () => {
    const rig = await open();
    await rig.take(episode());
    expect(rig.counter("ledgerRows")).toBe(0);
    rig.monotonicMs += REST_MS;
    await rig.drain();
    expect(rig.counter("ledgerRows")).toBeGreaterThan(0);
  });

  it("never says that verdicts are stored which are not", async () => {
    const rig = await open();
    const verdicts = Array.from({ length: 140 }, (_, i) => episode({ metricName: `m${i}` }));
    rig.engines[0]?.frames.push(block(7, 0, someBlock), ...verdicts, checkpoint(3, 1, []));
    rig.monotonicMs += REST_MS;
    rig.control.failAll("ENOSPC");
    for (let step = 0; step < 10; step++) {
      await rig.coordinator.step();
      rig.monotonicMs += 5_000;
    }
    expect(stored(rig)).toEqual([0, 0, 0, 1, 0]);
    rig.control.failAll(undefined);
    await rig.coordinator.step();
    expect(stored(rig)).toEqual([50, 0, 0, 1, 0]);
    await rig.drain();
    rig.monotonicMs += REST_MS;
    await rig.drain();
    expect(stored(rig)).toEqual([140, 0, 0, 1, 1]);
  });

  it("holds its buffer until it is stored", async () => {
    const rig = await open();
    const reused: number[] = [];
    const [engine] = rig.engines;
    if (engine !== undefined) engine.reuse = (payload) => void reused.push(payload.length);
    const frame = block(7, 0, someBlock);
    expect(frame.kind).toBe(FRAME_BLOCK);
    await rig.take(frame);
    expect(reused).toEqual([]);
    rig.monotonicMs += REST_MS;
    await rig.drain();
    expect(reused).toEqual([frame.payload.length]);
  });
});
