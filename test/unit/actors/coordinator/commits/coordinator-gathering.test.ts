// Frames for the series store gather while verdicts are committed at once.
import { describe, expect, it } from "vitest";
import { ANOMALIES_PER_COMMIT_MAX, RECORDS_PER_COMMIT_MAX, SERIES_GATHERED_BYTES_MAX } from "../../../../../src/core/config/limits.ts";
import { FRAME_BLOCK } from "../../../../../src/core/protocol/coordinator-frame.ts";
import { chunkBlock } from "../../../../support/chunk-block.ts";
import { block, checkpoint, deadLetter, episode, Rig, record, START_MS } from "../../../../support/coordinator-rig.ts";
import type { MemoryStore } from "../../../../support/memory-store.ts";

const GATHER_MS = 25;
const someBlock = chunkBlock([
  { streamId: new Uint8Array(16).fill(3), firstMs: START_MS, lastMs: START_MS, chunk: Uint8Array.of(1, 2, 3) },
]);
const rows = (rig: Rig, table: string) => (rig.control.contents.get(table) ?? rig.series.contents.get(table))?.size ?? 0;
const open = () => Rig.open({ seriesGatherMs: GATHER_MS });

/** Lets so much time pass, and every promise go on that can. */
async function pass(rig: Rig, ms: number): Promise<void> {
  rig.monotonicMs += ms;
  await rig.drain();
  await new Promise((resolve) => setImmediate(resolve));
}

/** Holds the commits of a store, which counts them, until they are released. */
function hold(store: MemoryStore) {
  const commit = store.commit.bind(store);
  const held = { commits: 0, release: () => {} };
  const released = new Promise<void>((resolve) => {
    held.release = resolve;
  });
  store.commit = async (...args) => {
    held.commits++;
    await released;
    return commit(...args);
  };
  return held;
}

const isOpen = (rig: Rig) => rig.counter("anomaliesOpen");
const stored = (rig: Rig) => ["anomalies", "dead_letters", "records", "blocks", "checkpoints"].map((table) => rows(rig, table));

describe("what is stored in series", () => {
  it("waits for its time, while what is stored in control does not", async () => {
    const rig = await open();
    rig.engines[0]?.frames.push(block(7, 0, someBlock), record());
    const report = await rig.drain();
    expect(report).toMatchObject({ more: false, awaits: "prompt", dueMs: rig.monotonicMs + GATHER_MS });
    expect(stored(rig)).toEqual([0, 0, 0, 0, 0]);
    rig.monotonicMs += GATHER_MS - 1;
    await rig.take(block(7, 1, someBlock), episode(), deadLetter());
    expect(stored(rig)).toEqual([1, 1, 0, 0, 0]);
    await pass(rig, 1);
    expect(await rig.drain()).toMatchObject({ awaits: "any" });
    expect(stored(rig)).toEqual([1, 1, 1, 2, 0]);
    expect(rig.counter("frames")).toBe(5);
  });

  it("waits no longer where there is a lot of it", async () => {
    const rig = await open();
    await rig.take(...Array.from({ length: RECORDS_PER_COMMIT_MAX - 1 }, (_, i) => record({ timeMs: START_MS + i })));
    expect(rows(rig, "records")).toBe(0);
    await rig.take(record({ timeMs: START_MS - 1 }));
    await pass(rig, 0);
    expect(rows(rig, "records")).toBe(RECORDS_PER_COMMIT_MAX);
    await rig.take(checkpoint(0, 1, [], 0, "x".repeat(SERIES_GATHERED_BYTES_MAX)));
    await pass(rig, 0);
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
    await pass(rig, GATHER_MS);
    expect(rig.counter("ledgerRows")).toBeGreaterThan(0);
  });

  it("never says that verdicts are stored which are not", async () => {
    const rig = await open();
    const verdicts = Array.from({ length: 140 }, (_, i) => episode({ metricName: `m${i}` }));
    rig.engines[0]?.frames.push(block(7, 0, someBlock), ...verdicts, checkpoint(3, 1, []));
    rig.monotonicMs += GATHER_MS;
    rig.control.failAll("ENOSPC");
    for (let step = 0; step < 10; step++) {
      await rig.coordinator.step();
      rig.monotonicMs += 5_000;
    }
    expect(stored(rig)).toEqual([0, 0, 0, 0, 0]);
    rig.control.failAll(undefined);
    await rig.coordinator.step();
    expect(stored(rig)).toEqual([50, 0, 0, 1, 0]);
    await rig.drain();
    await pass(rig, GATHER_MS);
    expect(stored(rig)).toEqual([140, 0, 0, 1, 1]);
  });

  it("has the ends of episodes stored that came before it", async () => {
    const rig = await open();
    await rig.take(episode());
    await pass(rig, GATHER_MS);
    await rig.take(block(7, 0, someBlock));
    await pass(rig, GATHER_MS - 1);
    const commits = rig.control.commits;
    await rig.take(episode({ transition: "close" }), checkpoint(3, 1, []));
    expect([rig.control.commits - commits, isOpen(rig), ...stored(rig)]).toEqual([0, 1, 1, 0, 0, 0, 0]);
    await pass(rig, 1);
    await pass(rig, 0);
    expect([isOpen(rig), ...stored(rig)]).toEqual([0, 1, 0, 0, 1, 1]);
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
    const held = hold(rig.series);
    await pass(rig, GATHER_MS);
    expect([held.commits, reused]).toEqual([1, []]);
    held.release();
    await pass(rig, 0);
    expect(reused).toEqual([frame.payload.length]);
  });
});

describe("the end of an episode", () => {
  const ended = (names: readonly string[]) => names.map((metricName) => episode({ metricName, transition: "close" }));
  async function begun(names: readonly string[]) {
    const rig = await open();
    await rig.take(...names.map((metricName) => episode({ metricName })));
    await pass(rig, GATHER_MS);
    expect(isOpen(rig)).toBe(names.length);
    return rig;
  }

  it("goes with the next verdict, or alone once it has gathered", async () => {
    const rig = await begun(["a", "b"]);
    await rig.take(...ended(["a"]));
    expect(isOpen(rig)).toBe(2);
    const commits = rig.control.commits;
    await rig.take(episode({ metricName: "c" }));
    expect([isOpen(rig), rig.control.commits - commits]).toEqual([2, 1]);
    await rig.take(...ended(["b"]));
    expect(await rig.drain()).toMatchObject({ more: false, awaits: "prompt" });
    await pass(rig, GATHER_MS - 1);
    expect(isOpen(rig)).toBe(2);
    await pass(rig, 1);
    expect(isOpen(rig)).toBe(1);
    await pass(rig, GATHER_MS);
    expect(await rig.drain()).toMatchObject({ more: false, awaits: "any" });
  });

  it("waits no longer where there are many, nor for whoever asks, nor for a stop", async () => {
    const names = Array.from({ length: ANOMALIES_PER_COMMIT_MAX }, (_, i) => `m${i}`);
    const rig = await begun([...names, "asked", "stopped"]);
    await rig.take(...ended(names.slice(1)));
    expect(isOpen(rig)).toBe(names.length + 2);
    await rig.take(...ended(names.slice(0, 1)));
    expect(isOpen(rig)).toBe(2);
    await rig.take(...ended(["asked"]));
    expect(isOpen(rig)).toBe(2);
    await rig.ask("anomalies");
    expect(isOpen(rig)).toBe(1);
    await rig.take(...ended(["stopped"]));
    await rig.coordinator.handle({ type: "stop" });
    await rig.drain();
    expect([isOpen(rig), rig.messages.at(-1)]).toEqual([0, { type: "stopped" }]);
  });
});

describe("a commit of the series store that hangs", () => {
  async function hanging() {
    const rig = await open();
    await rig.take(block(7, 0, someBlock), record(), checkpoint(3, 1, []));
    const held = hold(rig.series);
    await pass(rig, GATHER_MS);
    expect(held.commits).toBe(1);
    return { rig, held };
  }

  it("keeps no verdict waiting, and has the next wait for it", async () => {
    const { rig, held } = await hanging();
    await rig.take(episode(), block(7, 1, someBlock));
    expect(stored(rig)).toEqual([1, 0, 0, 0, 0]);
    await pass(rig, GATHER_MS);
    await rig.take(episode({ metricName: "other" }));
    expect([held.commits, ...stored(rig)]).toEqual([1, 2, 0, 0, 0, 0]);
    held.release();
    await pass(rig, 0);
    expect(stored(rig)).toEqual([2, 0, 1, 1, 1]);
    await pass(rig, 0);
    expect([held.commits, ...stored(rig)]).toEqual([2, 2, 0, 1, 2, 1]);
  });

  it("leaves nothing due once it has ended", async () => {
    const rig = await open();
    await rig.take(episode(), block(7, 0, someBlock)); // the verdict's row of the ledger goes along
    const held = hold(rig.series);
    await pass(rig, GATHER_MS);
    await pass(rig, 1);
    held.release();
    await pass(rig, GATHER_MS);
    expect([held.commits, ...stored(rig)]).toEqual([1, 1, 0, 0, 1, 0]);
    const report = await rig.drain();
    expect(report).toMatchObject({ more: false, awaits: "any" });
    expect(report.dueMs).toBeGreaterThan(rig.monotonicMs);
  });

  it("is waited for by who asks, by who changes something, and by a stop", async () => {
    const limit = { metric: "connections", limit_value: 5, unit: "connections" };
    for (const [endpoint, content] of [["records"], ["declareLimit", limit]] as const) {
      const { rig, held } = await hanging();
      let answered = false;
      const asked = rig.ask(endpoint, {}, {}, "default", content).then(() => {
        answered = true;
      });
      await new Promise((resolve) => setImmediate(resolve));
      expect(answered).toBe(false);
      held.release();
      await asked;
      expect(stored(rig)).toEqual([0, 0, 1, 1, 1]);
    }
    const { rig, held } = await hanging();
    await rig.coordinator.handle({ type: "stop" });
    const drained = rig.drain();
    await new Promise((resolve) => setImmediate(resolve));
    expect(rig.messages).not.toContainEqual({ type: "stopped" });
    held.release();
    await drained;
    expect([stored(rig), rig.messages.at(-1)]).toEqual([[0, 0, 1, 1, 1], { type: "stopped" }]);
  });

  it("loses nothing when it fails, and the service is read-only until it is made up for", async () => {
    const whole = await Rig.open();
    await whole.take(block(7, 0, someBlock), record(), checkpoint(3, 1, []), block(7, 1, someBlock), record({ timeMs: START_MS - 1 }));
    const { rig, held } = await hanging();
    await rig.take(block(7, 1, someBlock), record({ timeMs: START_MS - 1 }));
    rig.series.failNext("ENOSPC");
    held.release();
    await pass(rig, 0);
    expect(await rig.coordinator.step()).toMatchObject({ more: false, isPaused: true });
    expect([rig.counter("storeReadOnly"), ...stored(rig)]).toEqual([1, 0, 0, 0, 0, 0]);
    await pass(rig, 5_000);
    expect(rig.counter("storeReadOnly")).toBe(0);
    expect(rig.durable()).toEqual(whole.durable());
    expect(rig.counter("frames")).toBe(5);
  });
});
