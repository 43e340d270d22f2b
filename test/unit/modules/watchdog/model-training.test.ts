// The coordinator's part of services' models: what is stored, what is trained, what becomes of trainings that fail, and the thread that trains.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { afterEach, describe, expect, it } from "vitest";
import { SERIES_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { StoreError } from "../../../../src/adapters/storage/key-value-store.ts";
import { WorkerPool } from "../../../../src/adapters/threads/worker-pool.ts";
import { COORDINATOR_COUNTERS, COORDINATOR_SLOTS, type CoordinatorCounter } from "../../../../src/core/layout/counters.ts";
import { DETECTOR_SERVICE_MODELS, DETECTOR_SERVICES } from "../../../../src/core/protocol/coordinator-frame.ts";
import type { ServiceModelMessage, ServiceWanting } from "../../../../src/core/protocol/engine-control.ts";
import { decodeServiceRow, encodeServiceRow, serviceHash, servicePage } from "../../../../src/core/protocol/service-rows.ts";
import { type TrainingJob, type TrainingResult, trainService } from "../../../../src/domain/detection/multivariate/service-training.ts";
import { readTrainingInput } from "../../../../src/domain/detection/multivariate/training-input.ts";
import type { AnomaliesOf } from "../../../../src/modules/anomalies/anomaly-book.ts";
import { EngineClient } from "../../../../src/modules/engines/engine-client.ts";
import { CoordinatorCounters } from "../../../../src/modules/state/coordinator-counters.ts";
import { makeCoordinatorShares } from "../../../../src/modules/state/coordinator-shares.ts";
import { detectorStatesKey } from "../../../../src/modules/state/tables.ts";
import { ModelTraining } from "../../../../src/modules/watchdog/training/model-training.ts";
import { TrainingRowsBook } from "../../../../src/modules/watchdog/training/training-rows-book.ts";
import { FakeEngine, START_MS } from "../../../support/coordinator-rig.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const KEY = '["default","shop"]';
const COLUMNS = "ab".repeat(16);
const PARTITION = 9;
const HASH = serviceHash(KEY, "prod");

const wanting = (change: Partial<ServiceWanting> = {}): ServiceWanting => ({
  key: KEY,
  environment: "prod",
  partition: PARTITION,
  columns: COLUMNS,
  wants: "model",
  ...change,
});

function rig(
  train: (job: TrainingJob) => Promise<TrainingResult> = async (job) => trainService(job),
  known: ReadonlyArray<{ readonly startedAtMs: number; readonly resolvedAtMs: number | null; readonly detector?: string }> = [],
) {
  const engine = new FakeEngine();
  const series = new MemoryStore({ tables: SERIES_TABLES });
  const slots = new Float64Array(COORDINATOR_SLOTS);
  const log: string[] = [];
  const trainingRows = new TrainingRowsBook();
  const anomalies = {
    during: ({ detector }: AnomaliesOf) => known.filter((one) => one.detector === detector),
  };
  const store = { fails: false, isStopping: false };
  const training = new ModelTraining(
    { intervalMs: MINUTE_MS, rawRetentionMs: 7 * 24 * HOUR_MS },
    {
      engines: new EngineClient([engine]),
      // biome-ignore lint/suspicious/noExplicitAny: the runner reads nothing else of the state
      state: { series, trainingRows, anomalies, shares: makeCoordinatorShares({}, () => 1) } as any,
      counters: new CoordinatorCounters(slots),
      nowMs: () => START_MS,
      monotonicMs: () => 0,
      yieldToLoop: () => Promise.resolve(),
      sleep: () => Promise.resolve(),
      settle: () => Promise.resolve(),
      edit: (work) => (store.fails ? Promise.reject(new StoreError("write", "READ_ONLY")) : work()),
      train: (input) => train(readTrainingInput(input)),
      isStopping: () => store.isStopping,
      log: (line) => void log.push(line),
      requested: { production: () => undefined, shadow: () => undefined, incidents: () => [[5, 6]] },
    },
  );
  const counter = (name: CoordinatorCounter) => slots[COORDINATOR_COUNTERS.indexOf(name)] as number;
  const ask = async (...services: ServiceWanting[]) => {
    training.take(0, { services });
    await training.idle();
    return engine.reported.splice(0) as ServiceModelMessage[];
  };
  const row = (detector: number) => {
    const bytes = series.get("detector_states", detectorStatesKey(PARTITION, detector, servicePage(HASH)));
    return bytes && decodeServiceRow(bytes);
  };
  const put = (detector: number, value: Uint8Array) =>
    series.commit([{ table: "detector_states", key: detectorStatesKey(PARTITION, detector, servicePage(HASH)), value }]);
  return { engine, ask, row, put, counter, log, store, trainingRows };
}

/** What an engine holds: so many minutes of two metrics, a ring each. */
function holding(engine: FakeEngine, minutes: number): void {
  const times = Float64Array.from({ length: 2 * minutes }, (_, i) => START_MS - (minutes - (i % minutes)) * MINUTE_MS);
  engine.history = {
    ...engine.history,
    columns: COLUMNS,
    aggregations: Uint8Array.of(1, 1),
    starts: Uint16Array.of(0, 1, 2),
    streamIds: new Uint8Array(32).fill(1, 0, 16),
    // Rings of 120 values each are the engine's; one of any length will do.
    counts: Uint8Array.of(minutes, minutes),
    times,
    values: times.map((_, i) => Math.sin(i) + (i % 7)),
  };
}

describe("model training", () => {
  it("says that it has nothing of a service that it does not know", async () => {
    const { ask, counter } = rig();
    expect(await ask(wanting({ wants: "stored" }))).toMatchObject([
      { key: KEY, environment: "prod", columns: COLUMNS, model: null, dueMs: 0 },
    ]);
    expect(counter("modelsLoaded")).toBe(0);
  });

  it("says when to ask again where there are too few vectors", async () => {
    const { ask, engine, counter } = rig();
    holding(engine, 200);
    expect(await ask(wanting())).toMatchObject([{ model: null, dueMs: START_MS + 56 * MINUTE_MS }]);
    expect(counter("modelsTrained")).toBe(0);
  });

  it("stores a model before it gives it, and has it for the next start", async () => {
    const { ask, engine, row, put, counter } = rig(async (job) => ({ rows: 300, ...pick(trainService({ ...job, streams: longer(job) })) }));
    holding(engine, 100);
    const given = (await ask(wanting()))[0] as ServiceModelMessage;
    expect(given).toMatchObject({ rows: 300, trainedMs: START_MS, dueMs: START_MS + 300 * MINUTE_MS });
    expect(row(DETECTOR_SERVICE_MODELS)).toMatchObject({ count: 300, service: HASH, columns: COLUMNS, bytes: given.model });
    // Without the state that its engine stores, the model is of no use.
    expect(await ask(wanting({ wants: "stored" }))).toMatchObject([{ model: null }]);
    const bytes = new Uint8Array((given.state as Float64Array<ArrayBuffer>).buffer);
    await put(DETECTOR_SERVICES, encodeServiceRow({ count: 2, timeMs: 77, service: HASH, columns: COLUMNS, bytes }));
    expect(await ask(wanting({ wants: "stored" }))).toMatchObject([{ model: given.model, state: given.state, sampleMs: 77 }]);
    expect(counter("modelsLoaded")).toBe(1);
    // Other metrics, or another service on the same page: not this model.
    expect(await ask(wanting({ wants: "stored", columns: "cd".repeat(16) }))).toMatchObject([{ model: null }]);
    await put(DETECTOR_SERVICES, encodeServiceRow({ count: 2, timeMs: 77, service: "0".repeat(32), columns: COLUMNS, bytes }));
    expect(await ask(wanting({ wants: "stored" }))).toMatchObject([{ model: null }]);
  });

  it("gives each training the vectors that the one before kept, the model in production, and the times of anomalies", async () => {
    const jobs: TrainingJob[] = [];
    const found = [
      { startedAtMs: START_MS - 3 * HOUR_MS, resolvedAtMs: START_MS - 2 * HOUR_MS },
      { startedAtMs: START_MS - HOUR_MS, resolvedAtMs: null },
      // Of single metrics.
      { startedAtMs: START_MS - 5 * HOUR_MS, resolvedAtMs: null, detector: "adaptive" },
      { startedAtMs: START_MS - 20 * HOUR_MS, resolvedAtMs: START_MS - 18 * HOUR_MS, detector: "z_score" },
      { startedAtMs: START_MS - 20 * HOUR_MS, resolvedAtMs: START_MS - 18 * HOUR_MS, detector: "slo_burn" },
    ];
    const { ask, engine, trainingRows, counter } = rig(async (job) => {
      jobs.push(job);
      return trainService({ ...job, streams: longer(job) });
    }, found);
    holding(engine, 100);
    const [given] = (await ask(wanting())) as [ServiceModelMessage];
    await ask(wanting());
    const excluded = [
      [START_MS - 3 * HOUR_MS, START_MS - 2 * HOUR_MS],
      [START_MS - HOUR_MS, START_MS],
      [START_MS - 5 * HOUR_MS, START_MS],
      [START_MS - 20 * HOUR_MS, START_MS - 18 * HOUR_MS],
      // What people have called one.
      [5, 6],
    ];
    expect(jobs[0]?.past).toEqual({ rows: undefined, model: undefined, excluded });
    expect(jobs[1]?.past).toMatchObject({ model: given.model, excluded });
    expect(jobs[1]?.past?.rows?.length).toBe(trainingRows.find("default", HASH)?.bytes);
    // Of other metrics nothing is known.
    engine.history = { ...engine.history, columns: "cd".repeat(16) };
    await ask(wanting({ columns: "cd".repeat(16) }));
    expect(jobs[2]?.past).toEqual({ rows: undefined, model: undefined, excluded });
    expect(counter("modelsTrained")).toBe(3);
  });

  it("leaves the model where a new one is worse, and keeps its vectors", async () => {
    const kept = Uint8Array.of(1, 2, 3);
    const { ask, engine, trainingRows, counter, row } = rig(async () => ({
      rows: 5_000,
      model: null,
      state: null,
      retained: kept,
      isRefused: true,
    }));
    holding(engine, 100);
    expect(await ask(wanting())).toMatchObject([{ model: null, dueMs: START_MS + 2 * 24 * HOUR_MS }]);
    expect([counter("modelsRefused"), counter("modelsTrained")]).toEqual([1, 0]);
    expect(trainingRows.find("default", HASH)?.bytes).toBe(3);
    expect(row(DETECTOR_SERVICE_MODELS)).toBeUndefined();
  });

  it("counts a training that fails, tells the log, and has it tried again after an hour", async () => {
    const { ask, engine, counter, log } = rig(() => Promise.reject(new Error("the thread ended")));
    holding(engine, 100);
    expect(await ask(wanting())).toMatchObject([{ model: null, dueMs: START_MS + HOUR_MS }]);
    expect(counter("trainingFailures")).toBe(1);
    expect(log[0]).toContain("the thread ended");
  });

  it("leaves a service to ask again when its engine or the store does not answer, and goes on with others", async () => {
    const { ask, engine, store, counter } = rig(async (job) => trainService({ ...job, streams: longer(job) }));
    holding(engine, 100);
    engine.isDead = true;
    expect(await ask(wanting(), wanting({ wants: "stored" }))).toHaveLength(1);
    engine.isDead = false;
    store.fails = true;
    expect(await ask(wanting())).toEqual([]);
    store.fails = false;
    expect(await ask(wanting())).toHaveLength(1);
    expect(counter("servicesWaiting")).toBe(0);
  });

  it("trains a service once, however often it asked, and nothing after its stop", async () => {
    let trainings = 0;
    const { ask, store, engine } = rig(async () => ({ rows: ++trainings, model: null, state: null }));
    holding(engine, 100);
    await ask(wanting(), wanting(), wanting({ environment: "test" }));
    expect(trainings).toBe(2);
    store.isStopping = true;
    await ask(wanting());
    expect(trainings).toBe(2);
  });
});

/** The same streams with 300 samples, as from stored blocks. */
function longer({ toMs, streams }: TrainingJob) {
  const times = Float64Array.from({ length: 300 }, (_, i) => toMs - (300 - i) * MINUTE_MS);
  return streams.map((_, j) => ({ times, values: times.map((_, i) => Math.sin(i * (j + 1)) + (i % 7)) }));
}

const pick = ({ model, state }: TrainingResult) => ({ model, state });

describe("a pool of one thread", () => {
  const folders: string[] = [];
  const pools: Array<WorkerPool<string, string>> = [];
  afterEach(async () => {
    for (const pool of pools.splice(0)) await pool.close();
    for (const folder of folders.splice(0)) rmSync(folder, { recursive: true });
  });

  function pool(jobMsMax = 20_000): WorkerPool<string, string> {
    const folder = mkdtempSync(join(tmpdir(), "vedette-pool-"));
    folders.push(folder);
    const file = join(folder, "task.mjs");
    writeFileSync(
      file,
      `export function work(job) {
        if (job === "throw") throw new Error("no such job");
        if (job === "exit") process.exit(1);
        if (job === "hang") for (;;);
        return job.toUpperCase();
      }`,
    );
    const made = new WorkerPool<string, string>({ file: pathToFileURL(file), task: "work", heapMbMax: 64, idleMs: 50, jobMsMax });
    pools.push(made);
    return made;
  }

  it("does jobs, and goes on after one that throws and one that ends its thread", async () => {
    const one = pool();
    expect(await one.run("a")).toBe("A");
    await expect(one.run("throw")).rejects.toThrow("no such job");
    await expect(one.run("exit")).rejects.toThrow();
    expect(await one.run("b")).toBe("B");
  });

  it("gives a job up that takes too long", async () => {
    const one = pool(300);
    await expect(one.run("hang")).rejects.toThrow();
  });
});
