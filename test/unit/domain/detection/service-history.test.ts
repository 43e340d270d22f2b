// What a training reads of the store: gathered beside whatever the coordinator does, the newest first, and not after a stop has begun.
import { describe, expect, it } from "vitest";
import { SERIES_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { SERIES_DATA_BLOCKS_MAX } from "../../../../src/core/config/limits.ts";
import { TRAINING_READ_MS, TRAINING_READ_SHARE } from "../../../../src/core/config/pace-limits.ts";
import { PacedWork } from "../../../../src/core/fairness/paced-work.ts";
import type { ServiceHistoryAnswer } from "../../../../src/core/protocol/engine-control.ts";
import { wholeSamples } from "../../../../src/domain/detection/multivariate/stream-history.ts";
import { readTrainingInput, type TrainingInput } from "../../../../src/domain/detection/multivariate/training-input.ts";
import { blockOperations } from "../../../../src/modules/series/block-rows.ts";
import { serviceHistory } from "../../../../src/modules/watchdog/training/stored-history.ts";
import { chunkBlock } from "../../../support/chunk-block.ts";
import { block, START_MS } from "../../../support/coordinator-rig.ts";
import { MemoryStore } from "../../../support/memory-store.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const PARTITION = 4;
const MINUTE_MS = 60_000;
/** What reading a block takes here. */
const BLOCK_MS = 0.4;
const ID = new Uint8Array(16).fill(7);
const OTHER_ID = new Uint8Array(16).fill(8);

/** Blocks of one chunk of ten samples each, the last of which ends before `START_MS`. */
async function rig(blocks: number) {
  const store = new MemoryStore({ tables: SERIES_TABLES });
  for (let number = 0; number < blocks; number++) {
    const firstMs = START_MS - (blocks - number) * MINUTE_MS;
    const times = Float64Array.from({ length: 10 }, (_, i) => firstMs + i * 1000);
    const chunk = sampleChunk(
      times,
      times.map(() => number),
    );
    const one = { streamId: number % 2 === 0 ? ID : OTHER_ID, chunk, firstMs, lastMs: times[9] as number };
    await store.commit(blockOperations(block(PARTITION, number, chunkBlock([one])).payload));
  }
  const world = { ms: 0, restedMs: 0, reads: 0, isStopping: false, onRest: () => {} };
  const get = store.get.bind(store);
  store.get = (table, key) => {
    world.ms += BLOCK_MS;
    world.reads++;
    return get(table, key);
  };
  const sleep = async (ms: number) => {
    world.restedMs += ms;
    world.onRest();
  };
  const paced = new PacedWork({ share: TRAINING_READ_SHARE, pieceMs: TRAINING_READ_MS }, { monotonicMs: () => world.ms, sleep });
  const request = { toMs: START_MS, intervalMs: MINUTE_MS, rowsMax: 10, seed: 1 };
  const gather = (fromMs = 0) =>
    serviceHistory(answer(), PARTITION, { ...request, fromMs }, { series: store, paced, isStopping: () => world.isStopping });
  return { world, gather };
}

/** Two streams: one holds two samples, of which the first is in the store too; of the other one chunk is in no block yet. */
function answer(): ServiceHistoryAnswer {
  return {
    type: "service-history",
    id: 1,
    columns: "",
    names: [],
    aggregations: Uint8Array.of(0, 0),
    starts: Uint16Array.of(0, 1, 2),
    streamIds: Uint8Array.of(...ID, ...OTHER_ID),
    counts: Uint8Array.of(2, 0),
    times: Float64Array.of(START_MS - 2 * MINUTE_MS, START_MS),
    values: Float64Array.of(77, 78),
    pendingChunks: [[1, sampleChunk(Float64Array.of(START_MS + 5), Float64Array.of(99))]],
  };
}

describe("a service's history", () => {
  it("is that of all places, each stream's own, the newer place before the older one", async () => {
    const { gather } = await rig(4);
    const [one, other] = readTrainingInput((await gather()) as TrainingInput).streams.map(wholeSamples);
    expect(one?.times).toHaveLength(21);
    expect([...(one?.values ?? [])]).toEqual([...Array(10).fill(0), 77, ...Array(9).fill(2), 78]);
    expect([...(other?.values ?? [])]).toEqual([...Array(10).fill(1), ...Array(10).fill(3), 99]);
  });

  it("is gathered in a share of the time", async () => {
    const { gather, world } = await rig(200);
    await gather();
    const workedMs = 200 * BLOCK_MS;
    expect(world.ms).toBeCloseTo(workedMs);
    // What was worked since the last rest has had none yet.
    expect(world.restedMs).toBeGreaterThan((workedMs - 2 * TRAINING_READ_MS) * (1 / TRAINING_READ_SHARE - 1));
    expect(world.restedMs).toBeLessThanOrEqual(workedMs * (1 / TRAINING_READ_SHARE - 1));
  });

  it("reads no blocks that are too old, and only so many", async () => {
    const { gather, world } = await rig(SERIES_DATA_BLOCKS_MAX + 50);
    await gather(START_MS - 10 * MINUTE_MS);
    expect(world.reads).toBe(10);
    await gather();
    expect(world.reads).toBe(10 + SERIES_DATA_BLOCKS_MAX);
  });

  it("is none once a stop has begun, and the store is left alone", async () => {
    const { gather, world } = await rig(200);
    world.onRest = () => {
      world.isStopping = true;
    };
    expect(await gather()).toBeUndefined();
    expect(world.reads).toBeLessThan(5);
  });
});
