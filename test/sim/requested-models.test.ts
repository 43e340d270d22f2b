// Models on request over whole servers, on a virtual clock: a training's job, the shadow beside production, promotion, a restart, and the way back.
import { describe, expect, it } from "vitest";
import { HISTORY, METRICS, World } from "../support/service-world.ts";

interface Job {
  readonly job_id: string;
  readonly status: string;
  readonly reason: string | null;
  readonly samples_found: number | null;
  readonly samples_needed: number | null;
  readonly notes: readonly string[];
  readonly model_id: string | null;
}
interface Model {
  readonly model_id: string;
  readonly state: string;
  readonly origin: string;
  readonly scored: number;
  readonly alerts: number;
  readonly samples: number;
}

async function train(world: World, service_id: string, days = 7): Promise<Job> {
  const body = { service_id, training_window_days: days, model_type: "isolation_forest", environment: "prod" };
  const taken = (await world.server.query("trainModel", {}, "default", body)) as Job;
  expect(taken.status).toBe("queued");
  await world.rest();
  return (await world.server.query("training", {}, "default", null, { id: taken.job_id })) as Job;
}

async function modelsOf(world: World, service_id: string): Promise<Model[]> {
  const { models } = (await world.server.query("models", { service_id })) as { models: Model[] };
  return models.filter((model) => (model as Model & { environment: string }).environment === "prod");
}

function promote(world: World, model_id: string, service_id: string, only_if_better = false) {
  return world.server.query("promoteModel", {}, "default", { model_id, service_id, only_if_better }) as Promise<{
    readonly warning: string | null;
    readonly comparison: { readonly verdict: string } | null;
  }>;
}

describe("models on request", () => {
  it("are scored beside production without alerting, promoted with the alert going on, kept over a restart, and taken back", async () => {
    const world = await World.open({ engines: 2 }, [HISTORY + 20, HISTORY + 32]);
    await world.history();
    await world.minutes(8);
    const job = await train(world, "b");
    expect(job).toMatchObject({ status: "succeeded", reason: null });
    await world.minutes(16);
    const [first, second] = await modelsOf(world, "b");
    const shadow = first?.state === "shadow" ? first : second;
    expect(shadow).toMatchObject({ model_id: job.model_id, state: "shadow", scored: 16, alerts: 1 });
    // The incident is told once, by the model in production.
    const before = await world.found();
    expect(before).toMatchObject([{ service_id: "b", resolved: false }]);

    const promoted = await promote(world, job.model_id as string, "b");
    expect(promoted).toMatchObject({ warning: expect.stringContaining("labelled"), comparison: { verdict: "unknown" } });
    await expect(promote(world, job.model_id as string, "b")).rejects.toThrow("409");
    await world.minutes(30);
    // Neither a storm nor silence: the same alert, and its end.
    expect(await world.found()).toMatchObject([{ started_at: before[0]?.started_at, resolved: true }]);

    await world.restart(1);
    await world.minutes(3);
    expect((await modelsOf(world, "b")).map(({ state, origin }) => [state, origin])).toEqual([["production", "requested"]]);
    expect(await world.found()).toHaveLength(1);

    const back = (await world.server.query("rollBackModel", {}, "default", { service_id: "b", environment: "prod" })) as { origin: string };
    expect(back.origin).toBe("automatic");
    await expect(world.server.query("rollBackModel", {}, "default", { service_id: "b", environment: "prod" })).rejects.toThrow("409");
    await world.minutes(3);
    expect((await modelsOf(world, "b")).map(({ state }) => state).sort()).toEqual(["production", "retired"]);
  });

  it("say what they lack: a job without history fails with its figures, others are refused", async () => {
    const world = await World.open({ engines: 1 }, [0, 0]);
    await world.minutes(30);
    expect(await train(world, "a")).toMatchObject({ status: "failed", samples_needed: 256, model_id: null });
    await expect(train(world, "nobody")).rejects.toThrow("404");
    await expect(world.server.query("drift", { service_id: "a", environment: "prod" })).rejects.toThrow("422");
    await expect(promote(world, "0".repeat(32), "a")).rejects.toThrow("404");
  });

  it("see no drift in what goes on as before, and which metric moved where one did", async () => {
    const world = await World.open({ engines: 1 }, [0, 0]);
    await world.history();
    await world.minutes(140);
    const answer = (await world.server.query("drift", { service_id: "a", environment: "prod" })) as {
      drift_detected: boolean;
      metrics: unknown[];
    };
    expect(answer).toMatchObject({ drift_detected: false, samples: expect.any(Number), service_id: "a" });
    expect(answer.metrics).toHaveLength(METRICS.length);
  });
});
