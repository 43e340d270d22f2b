// How each endpoint of Prometheus' API is brought to answer with success, and with the errors that are its own.
import { expect } from "vitest";
import { SERVICE } from "./contract-bodies.ts";
import type { ContractDriver } from "./contract-driver.ts";

interface Bound {
  readonly call: ContractDriver["call"];
}

const FORM = { "Content-Type": "application/x-www-form-urlencoded" };
const form = (parameters: Readonly<Record<string, string>>) => ({ headers: FORM, body: new URLSearchParams(parameters).toString() });
const seconds = (offset: number) => String(Date.now() / 1_000 + offset);
const range = (query: string) => ({ query, start: seconds(-60), end: seconds(0), step: "15" });
const OWN = `{service_id="${SERVICE}"}`;

function answered(name: string, options: Parameters<ContractDriver["call"]>[2] = {}) {
  return async ({ call }: Bound) => {
    await call(name, 200, options);
  };
}

/** By the endpoint's name. */
export const PROMETHEUS_CALLS: Readonly<Record<string, (bound: Bound) => Promise<void>>> = {
  promqlQuery: async ({ call }) => {
    await call("promqlQuery", 200, { query: { query: "1+1", time: "4" } });
    const { data } = await call("promqlQuery", 200, { query: { query: OWN, stats: "all", lookback_delta: "1h" } });
    expect(data.result.length).toBeGreaterThan(0);
    await call("promqlQuery", 200, { query: { query: '"text"' } });
    await call("promqlQuery", 400, { query: { query: "sum(" } });
    await call("promqlQuery", 422, { query: { query: `label_replace(${OWN}, "__name__", "x", "", "") + on() group_left() ${OWN}` } });
  },
  promqlQueryForm: answered("promqlQueryForm", form({ query: `count(${OWN})` })),
  promqlQueryRange: async ({ call }) => {
    const { data } = await call("promqlQueryRange", 200, { query: range(OWN) });
    expect(data.result.length).toBeGreaterThan(0);
    await call("promqlQueryRange", 400, { query: { ...range("up"), step: "0.001" } });
  },
  promqlQueryRangeForm: answered("promqlQueryRangeForm", form(range("1"))),
  promqlLabels: answered("promqlLabels"),
  promqlLabelsForm: answered("promqlLabelsForm", form({ "match[]": OWN })),
  promqlLabelValues: async ({ call }) => {
    const { data } = await call("promqlLabelValues", 200, { path: { name: "service_id" } });
    expect(data).toContain(SERVICE);
  },
  promqlSeries: async ({ call }) => {
    await call("promqlSeries", 200, { query: { "match[]": OWN } });
    await call("promqlSeries", 400);
  },
  promqlSeriesForm: answered("promqlSeriesForm", form({ "match[]": OWN })),
  promqlMetadata: answered("promqlMetadata"),
  promqlExemplars: answered("promqlExemplars", { query: { query: "up" } }),
  promqlExemplarsForm: answered("promqlExemplarsForm", form({ query: "up" })),
  promqlRules: answered("promqlRules"),
  promqlAlerts: answered("promqlAlerts"),
  promqlBuildInfo: answered("promqlBuildInfo"),
  promqlRuntimeInfo: answered("promqlRuntimeInfo"),
  promqlHealthy: answered("promqlHealthy"),
  promqlReady: answered("promqlReady"),
};
