// What models and forecasts are worth, over a whole server on a virtual clock: a model that has learned an incident is refused where only a better one may be promoted,
// one of clean days is promoted and pages less in a backtest, and a forecast says how wrong it was once its time has come.
import { describe, expect, it } from "vitest";
import { HISTORY, SERVICE_WORLD_START_MS, World } from "../support/service-world.ts";

const MINUTE_MS = 60_000;
const SERVICE = "b";

interface Forecast {
  readonly forecast: ReadonlyArray<
    Readonly<Record<"predicted_value" | "lower_bound" | "upper_bound", number>> & { readonly timestamp: string }
  >;
  readonly last_score: (Readonly<Record<"points" | "mean_absolute_error" | "coverage", number>> & { readonly made_at: string }) | null;
}
interface Answers {
  readonly training: { readonly status: string; readonly model_id: string };
  readonly promoteModel: {
    readonly warning: string | null;
    readonly comparison: { readonly verdict: string };
  };
  readonly backtest: { readonly pages: { readonly before: number } };
  readonly declareAnomaly: { readonly anomaly_id: string };
}

function ask<K extends keyof Answers>(world: World, endpoint: K, body: unknown): Promise<Answers[K]> {
  return world.server.query(endpoint, {}, "default", body) as Promise<Answers[K]>;
}

async function train(world: World): Promise<Answers["training"]> {
  const body = { service_id: SERVICE, training_window_days: 7, model_type: "isolation_forest", environment: "prod" };
  const { job_id: id } = (await world.server.query("trainModel", {}, "default", body)) as { job_id: string };
  await world.rest();
  const job = (await world.server.query("training", {}, "default", null, { id })) as Answers["training"];
  expect(job.status).toBe("succeeded");
  return job;
}

function promote(world: World, model_id: string, only_if_better: boolean): Promise<Answers["promoteModel"]> {
  return ask(world, "promoteModel", { model_id, service_id: SERVICE, only_if_better });
}

function label(world: World, id: string, feedback: "true_positive" | "false_positive"): Promise<unknown> {
  return world.server.query("changeAnomaly", {}, "default", { feedback }, { id });
}

/** Pages that a backtest finds since a minute. */
async function pagesSince(world: World, minute: number): Promise<number> {
  const nowMs = world.machine.clock.wallMs();
  const [since, until] = [SERVICE_WORLD_START_MS + (minute - HISTORY) * MINUTE_MS, nowMs].map((ms) => new Date(ms).toISOString());
  const { pages } = await ask(world, "backtest", { since, until, service_id: SERVICE, environment: "prod" });
  return pages.before;
}

describe("models that are judged", () => {
  it("are refused where they have learned what was an incident, and promoted to page less where it was none", async () => {
    const first = [HISTORY + 15, HISTORY + 115] as const;
    const second = { metric: "queue", from: HISTORY + 425, to: HISTORY + 455 };
    const world = await World.open({ engines: 1, rawRetentionMs: HISTORY * MINUTE_MS }, first, {
      further: [second],
      sent: SERVICE,
    });
    await world.history();
    await world.minutes(10);
    const clean = await train(world);
    await promote(world, clean.model_id, false);
    await world.minutes(110);
    const spoiled = await train(world);
    await world.minutes(second.from - HISTORY - 120);
    const said = { service_id: SERVICE, environment: "prod", severity: "high", explanation: "orders wait" };
    const { anomaly_id } = await ask(world, "declareAnomaly", said);
    await world.minutes(35);

    await label(world, anomaly_id, "true_positive");
    await expect(promote(world, spoiled.model_id, true)).rejects.toThrow(/409.*not promoted: it is worse than the model in production/);
    const from = second.from - 60;
    expect(await pagesSince(world, from)).toBe(1);
    const { comparison, warning } = await promote(world, spoiled.model_id, false);
    expect(warning).toMatch(/worse/);
    expect(comparison).toMatchObject({ verdict: "worse", candidate: { incidents_missed: 1 }, production: { incidents_caught: 1 } });
    expect(await pagesSince(world, from)).toBe(0);
    // The one of clean days is put back on the same evidence.
    expect((await promote(world, clean.model_id, true)).comparison.verdict).toBe("better");
    expect(await pagesSince(world, from)).toBe(1);

    // Had it been no incident, the model that pages less for it is the better one.
    await label(world, anomaly_id, "false_positive");
    expect(await promote(world, spoiled.model_id, true)).toMatchObject({ warning: null, comparison: { verdict: "better" } });
    expect(await pagesSince(world, from)).toBe(0);
  });
});

describe("a forecast", () => {
  it("that was asked for an hour ago says how wrong it was, over a restart too", async () => {
    const world = await World.open({ engines: 1 }, [0, 0], { sent: "a" });
    await world.history();
    const ask = () => world.server.query("forecast", { service_id: "a", environment: "prod", metric: "latency.p95", horizon_hours: "2" });
    const first = (await ask()) as Forecast;
    // From now to two hours ahead, both included.
    expect(first).toMatchObject({ last_score: null, forecast: { length: 25 } });
    const ahead = (at: string | undefined) => Date.parse(at ?? "") - SERVICE_WORLD_START_MS;
    expect([first.forecast[0], first.forecast.at(-1)].map((point) => ahead(point?.timestamp))).toEqual([0, 120 * MINUTE_MS]);
    await world.minutes(45);
    await world.restart(1);
    await world.minutes(15);
    const { last_score: score } = (await ask()) as Forecast;
    expect(score).toMatchObject({ made_at: new Date(SERVICE_WORLD_START_MS).toISOString(), points: 12 });

    const { points } = (await world.server.query("seriesData", {
      ...{ service_id: "a", environment: "prod", metric_name: "latency.p95", resolution: "raw", limit: "60" },
      since: new Date(SERVICE_WORLD_START_MS).toISOString(),
    })) as { points: Array<{ readonly timestamp: string; readonly value: number }> };
    const came = first.forecast.slice(0, 12).map(({ timestamp, ...said }) => {
      const ago = ({ timestamp: at }: { timestamp: string }) => (Date.parse(at) - Date.parse(timestamp)) / (5 * MINUTE_MS);
      const own = points.filter((point) => ago(point) >= 0 && ago(point) < 1).map(({ value }) => value);
      return { ...said, value: own.reduce((sum, value) => sum + value, 0) / own.length };
    });
    const mean = (numbers: readonly number[]) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length;
    expect(score?.mean_absolute_error).toBeCloseTo(mean(came.map(({ value, predicted_value }) => Math.abs(value - predicted_value))), 6);
    expect(score?.coverage).toBeCloseTo(
      mean(came.map(({ value, lower_bound, upper_bound }) => Number(value >= lower_bound && value <= upper_bound))),
      6,
    );
  });
});
