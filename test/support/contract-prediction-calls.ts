// The calls of contract-calls.ts on forecasts and causes, over two and a half hours of minutes of two metrics of which one leads the other.

import type { ContractDriver } from "./contract-driver.ts";
import { generator } from "./generator.ts";

const FORESEEN = "foreseen";
const UNSENT = "never sent";
const MINUTES = 150;
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
  },
};
