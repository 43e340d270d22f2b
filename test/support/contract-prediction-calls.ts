// The calls of contract-calls.ts on forecasts and causes, over five and a half hours of minutes of two metrics of which one leads the other.

import type { ContractDriver } from "./contract-driver.ts";
import { generator } from "./generator.ts";
import { until } from "./until.ts";

const FORESEEN = "foreseen";
const UNSENT = "never sent";
/** One metric, and no model. */
const BARE = "bare";
const POLL_MS = 100;
const MINUTES = 330;
const LAG = 2;
const pair = { service_id: FORESEEN, cause_metric: "lead", effect_metric: "follow", lookback_hours: 3 };

function minutesOfBoth() {
  const random = generator(4);
  const lead = Array.from({ length: MINUTES }, () => random.normal());
  const start = Date.now() - MINUTES * 60_000;
  const record = (metric_name: string, minute: number, value: number) => ({
    service_id: FORESEEN,
    metric_name,
    value,
    timestamp: new Date(start + minute * 60_000).toISOString(),
  });
  return lead.flatMap((value, minute) => [
    record("lead", minute, 50 + value),
    record("follow", minute, 80 + 2 * (lead[minute - LAG] ?? 0) + random.normal()),
  ]);
}

/** A model of the service, once the Watchdog has seen it. */
async function trained({ call }: ContractDriver): Promise<string> {
  const body = { service_id: FORESEEN, training_window_days: 3, model_type: "isolation_forest" };
  let job = { job_id: "", status: "failed", model_id: "" };
  const look = async () => {
    const { job_id } = job.status === "failed" ? await call("trainModel", 202, { body }) : job;
    job = await call("training", 200, { path: { id: job_id } });
    return job;
  };
  return (await until("a model", look, ({ status }) => status === "succeeded", { everyMs: POLL_MS })).model_id;
}

export const PREDICTION_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  forecast: async ({ call }) => {
    await call("telemetryBatch", 200, { body: minutesOfBoth() });
    await call("forecast", 200, { query: { service_id: FORESEEN, metric: "follow", horizon_hours: "1" } });
    await call("forecast", 404, { query: { service_id: FORESEEN, metric: UNSENT } });
    await call("forecast", 400, { query: { service_id: FORESEEN, metric: "follow", horizon_hours: "169" } });
  },
  predict: async ({ call }) => {
    await call("predict", 200, { query: { service_id: FORESEEN, horizon_minutes: "30" } });
    await call("predict", 404, { query: { service_id: UNSENT } });
  },
  degradation: async ({ call }) => {
    await call("degradation", 200, { query: { service_id: FORESEEN } });
    await call("degradation", 200);
    await call("degradation", 404, { query: { service_id: UNSENT } });
  },
  causal: async ({ call }) => {
    await call("causal", 200, { query: { service_id: FORESEEN } });
    await call("causal", 404, { query: { service_id: UNSENT } });
  },
  validateCausality: async ({ call }) => {
    await call("validateCausality", 200, { body: pair });
    await call("validateCausality", 404, { body: { ...pair, effect_metric: UNSENT } });
    await call("validateCausality", 400, { body: { ...pair, lookback_hours: 0 } });
    await call("validateCausality", 400, { body: { ...pair, effect_metric: pair.cause_metric } });
  },
  trainModel: async ({ call }) => {
    const body = { service_id: FORESEEN, training_window_days: 1, model_type: "isolation_forest" };
    await call("trainModel", 202, { body });
    await call("trainModel", 404, { body: { ...body, service_id: UNSENT } });
    await call("trainModel", 400, { body: { ...body, training_window_days: 91 } });
    await call("trainModel", 400, { body: { ...body, model_type: "oracle" } });
  },
  trainings: async ({ call }) => {
    await call("trainings", 200);
    await call("trainings", 200, { query: { service_id: FORESEEN, state: "failed" } });
    await call("trainings", 400, { query: { state: "lost" } });
  },
  training: async ({ call }) => {
    const { jobs } = await call("trainings", 200);
    await call("training", 200, { path: { id: jobs[0].job_id } });
    await call("training", 404, { path: { id: "0".repeat(32) } });
  },
  cancelTraining: async ({ call }) => {
    await call("cancelTraining", 404, { path: { id: "0".repeat(32) } });
    const body = { service_id: FORESEEN, training_window_days: 2, model_type: "isolation_forest" };
    // Trainings without history are through at once: of some that came together one is caught while it waits, at the first attempt or a later one.
    let cancelled: string | undefined;
    for (let attempt = 0; cancelled === undefined && attempt < 50; attempt++) {
      const [, last] = await Promise.all([call("trainModel", 202, { body }), call("trainModel", 202, { body })]);
      const isCaught = await call("cancelTraining", 200, { path: { id: last.job_id } }).then(
        () => true,
        () => false,
      );
      if (isCaught) cancelled = last.job_id;
    }
    await call("cancelTraining", 409, { path: { id: cancelled ?? "none was caught" } });
  },
  models: async ({ call }) => {
    await call("models", 200);
    await call("models", 400, { query: { state: "old" } });
  },
  promoteModel: async (driver) => {
    const { call } = driver;
    await call("promoteModel", 404, { body: { model_id: "0".repeat(32), service_id: FORESEEN } });
    const body = { model_id: await trained(driver), service_id: FORESEEN };
    await call("promoteModel", 404, { body: { ...body, service_id: UNSENT } });
    // Nothing is labelled, so nothing says that it is better.
    await call("promoteModel", 409, { body: { ...body, only_if_better: true } });
    await call("promoteModel", 200, { body });
    await call("drift", 200, { query: { service_id: FORESEEN } });
    await call("promoteModel", 409, { body });
  },
  rollBackModel: async ({ call }) => {
    await call("rollBackModel", 404, { body: { service_id: UNSENT } });
    await call("rollBackModel", 200, { body: { service_id: FORESEEN } });
    await call("rollBackModel", 409, { body: { service_id: FORESEEN } });
  },
  drift: async ({ call }) => {
    await call("telemetry", 200, { body: { service_id: BARE, metric_name: "m", value: 1, timestamp: new Date().toISOString() } });
    await call("drift", 404, { query: { service_id: UNSENT } });
    await call("drift", 422, { query: { service_id: BARE } });
  },
};
