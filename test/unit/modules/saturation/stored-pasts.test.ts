// Stored pasts of bounded series: read between cycles, beside whatever the coordinator does, and told to who asked last.
import { describe, expect, it } from "vitest";
import { SERIES_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { SATURATION_AGGREGATE_SHARE } from "../../../../src/core/config/pace-limits.ts";
import type { SaturationHistories, WantedHistory } from "../../../../src/core/protocol/saturation.ts";
import { EngineUnavailableError } from "../../../../src/modules/engines/engine-client.ts";
import { StoredPasts } from "../../../../src/modules/saturation/stored-past.ts";
import { blockOperations } from "../../../../src/modules/series/block-rows.ts";
import type { StagesContext } from "../../../../src/modules/watchdog/stages-context.ts";
import { chunkBlock } from "../../../support/chunk-block.ts";
import { block, START_MS } from "../../../support/coordinator-rig.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const BLOCKS = 40;
const MINUTE_MS = 60_000;
/** What reading a block takes here. */
const BLOCK_MS = 0.4;
const streamId = (partition: number) => new Uint8Array(16).fill(partition);
const wanted = (partition: number): WantedHistory => ({
  key: `k${partition}`,
  partition,
  streamIds: [streamId(partition)],
  metricName: "disk_used_percent",
  unit: null,
  limit: null,
  untilMs: START_MS,
});

async function storeOf(partitions: number): Promise<MemoryStore> {
  const store = new MemoryStore({ tables: SERIES_TABLES });
  for (let partition = 0; partition < partitions; partition++) {
    for (let number = 0; number < BLOCKS; number++) {
      const times = Float64Array.from({ length: 60 }, (_, i) => START_MS - (BLOCKS - number) * MINUTE_MS + i * 1000);
      const values = times.map(() => number);
      const [firstMs, lastMs] = [times[0] as number, times[59] as number];
      const one = { streamId: streamId(partition), chunk: sampleChunk(times, values), firstMs, lastMs };
      await store.commit(blockOperations(block(partition, number, chunkBlock([one])).payload));
    }
  }
  return store;
}

async function rig(partitions: number, { answers = true } = {}) {
  const store = await storeOf(partitions);
  const reported: string[] = [];
  const world = { ms: 0, restedMs: 0, isStopping: false, onRest: () => {} };
  const get = store.get.bind(store);
  store.get = (table, key) => {
    if (table === "blocks") world.ms += BLOCK_MS;
    return get(table, key);
  };
  const context = {
    state: { series: store },
    engines: {
      notify: (_engine: number, { histories }: SaturationHistories) => reported.push(...histories.map(({ key }) => key)),
      pendingChunks: async () => {
        if (!answers) throw new EngineUnavailableError(0, "gone");
        return { chunks: [] };
      },
    },
    counters: { add: () => undefined },
    nowMs: () => START_MS,
    monotonicMs: () => world.ms,
    sleep: async (ms: number) => {
      world.restedMs += ms;
      world.onRest();
    },
    isStopping: () => world.isStopping,
  } as unknown as StagesContext;
  return { pasts: new StoredPasts(context), reported, world };
}

const settled = () => new Promise((resolve) => setImmediate(resolve));
const ask = (...partitions: number[]) => new Map([[0, partitions.map(wanted)]]);

describe("stored pasts", () => {
  it("are told series by series, in a small share of the time", async () => {
    const { pasts, reported, world } = await rig(3);
    pasts.ask(ask(0, 1, 2));
    await settled();
    expect(reported).toEqual(["k0", "k1", "k2"]);
    const workedMs = 3 * BLOCKS * BLOCK_MS;
    expect(world.ms).toBeCloseTo(workedMs);
    // What was worked since the last rest has had none yet.
    const share = workedMs / (workedMs + world.restedMs);
    expect(share).toBeGreaterThanOrEqual(SATURATION_AGGREGATE_SHARE - 1e-9);
    expect(share).toBeLessThan(1.1 * SATURATION_AGGREGATE_SHARE);
  });

  it("are read for who asked last", async () => {
    const { pasts, reported, world } = await rig(3);
    world.onRest = () => {
      world.onRest = () => {};
      pasts.ask(ask(2));
    };
    pasts.ask(ask(0, 1));
    await settled();
    expect(reported).toEqual(["k0", "k2"]);
  });

  it("end with a stop, and with an engine that does not answer, until they are asked for again", async () => {
    const stopped = await rig(2);
    stopped.world.onRest = () => {
      stopped.world.isStopping = true;
    };
    stopped.pasts.ask(ask(0, 1));
    await settled();
    expect([stopped.reported, stopped.world.ms]).toEqual([[], 3 * BLOCK_MS]);
    const alone = await rig(2, { answers: false });
    for (let asked = 1; asked <= 2; asked++) {
      alone.pasts.ask(ask(0, 1));
      await settled();
      expect(alone.reported).toEqual([]);
      expect(alone.world.ms).toBeCloseTo(asked * BLOCKS * BLOCK_MS);
    }
  });
});
