// What a training that ends makes of the models that there are: the shadow it takes the place of, the room for shadows, and what the job says of its vectors.
import { describe, expect, it } from "vitest";
import { CONTROL_TABLES, SERIES_TABLES } from "../../../../src/actors/coordinator/nouns/modules.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { COORDINATOR_SLOTS } from "../../../../src/core/layout/counters.ts";
import type { TrainingResult } from "../../../../src/domain/detection/multivariate/service-training.ts";
import { EngineClient } from "../../../../src/modules/engines/engine-client.ts";
import { ModelBook } from "../../../../src/modules/models/model-book.ts";
import { ModelMessages } from "../../../../src/modules/models/model-messages.ts";
import { ServiceInputs } from "../../../../src/modules/models/service-inputs.ts";
import { type TrainingJobRow, trainingBook } from "../../../../src/modules/models/training-job.ts";
import { TrainingJobs } from "../../../../src/modules/models/training-jobs.ts";
import { CoordinatorCounters } from "../../../../src/modules/state/coordinator-counters.ts";
import { FakeEngine, START_MS } from "../../../support/coordinator-rig.ts";
import { MemoryStore } from "../../../support/memory-store.ts";

const DAY_MS = 86_400_000;
const RESULT: TrainingResult = {
  rows: 4_292,
  model: new Uint8Array(8),
  state: new Float64Array(4),
  selected: { found: 10_022, excluded: 58, sinceMs: START_MS - 7 * DAY_MS },
  reference: { columns: [] },
};

/** Jobs over memory stores, with room for so many shadows. */
function rig(shadowsMax: number, tenants = 1) {
  const engine = new FakeEngine();
  engine.history = { ...engine.history, columns: "ab".repeat(16), names: ["load"] };
  const [control, series] = [new MemoryStore({ tables: CONTROL_TABLES }), new MemoryStore({ tables: SERIES_TABLES })];
  const engines = new EngineClient([engine]);
  const shadowShares = new ShareLedger({ most: shadowsMax, tenants: () => tenants });
  const models = new ModelBook(ShareLedger.alone(), shadowShares);
  models.load(control);
  const trainings = trainingBook();
  const said = {
    alerts: { feedback: { on: () => [] } },
    analyses: { memory: { all: () => [] } },
    anomalies: { find: () => undefined },
    configured: { models, trainings },
  };
  const pace = { monotonicMs: () => 0, sleep: () => Promise.resolve(), settle: () => Promise.resolve(), isStopping: () => false };
  const messages = new ModelMessages({ models, series, engines });
  let drawn = 0;
  const jobs = new TrainingJobs(
    { rawRetentionMs: 7 * DAY_MS },
    {
      // biome-ignore lint/suspicious/noExplicitAny: the jobs read nothing else of the state
      state: said as any,
      ...{ control, messages, ...pace },
      counters: new CoordinatorCounters(new Float64Array(COORDINATOR_SLOTS)),
      inputs: new ServiceInputs({ engines, series, ...pace }),
      nowMs: () => START_MS + ++drawn,
      randomBytes: (count) => new Uint8Array(count).fill(++drawn),
      edit: (work) => work(),
      train: async () => RESULT,
    },
  );
  const run = async (tenant: string, serviceId: string): Promise<TrainingJobRow> => {
    const id = String(++drawn).padStart(32, "0");
    const none = { startedMs: null, finishedMs: null, reason: null, found: null, needed: null, modelId: null, progress: 0, notes: [] };
    const head = { id, tenant, serviceId, environment: "", windowDays: 30, modelType: "isolation_forest", by: "ann" } as const;
    trainings.put({ ...head, ...none, state: "queued", createdMs: START_MS + drawn });
    jobs.step();
    await jobs.idle();
    return trainings.find(tenant, id) as TrainingJobRow;
  };
  const states = (tenant: string) => models.of(tenant).map(({ serviceId, state }) => `${serviceId} ${state}`);
  const ended = () => engine.reported.filter((message) => message.type === "shadow-model" && message.model === null).length;
  return { run, states, ended };
}

describe("a training that ends", () => {
  it("says since when there was history, what it left out and how it was thinned", async () => {
    const { run } = rig(10);
    const job = await run("t", "a");
    expect(job).toMatchObject({ state: "succeeded", progress: 1 });
    expect(job.notes).toEqual([
      "history begins at 2026-01-24T12:00:00.000Z: less is kept than was asked for",
      "58 vectors of labelled incidents were left out",
      "thinned evenly from 9964 vectors to 4292, in runs of consecutive ones",
    ]);
  });

  it("takes the place of its service's shadow, and of the tenant's oldest where there is no room for one more", async () => {
    const { run, states, ended } = rig(2);
    await run("t", "a");
    await run("t", "a");
    expect([states("t"), ended()]).toEqual([["a shadow", "a retired"], 1]);
    await run("t", "b");
    await run("t", "c");
    expect([states("t"), ended()]).toEqual([["c shadow", "b shadow", "a retired", "a retired"], 2]);
  });

  it("makes no model where others hold all shadows", async () => {
    const { run, states } = rig(2);
    await run("t", "a");
    await run("t", "b");
    expect(await run("other", "a")).toMatchObject({
      state: "failed",
      modelId: null,
      reason: expect.stringMatching(/2 shadows are scored, as many as may/),
    });
    expect([states("t"), states("other")]).toEqual([["b shadow", "a shadow"], []]);
  });
});
