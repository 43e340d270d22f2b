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

const ruleFile = (name: string) => `groups:\n  - name: ${name}\n    rules:\n      - {alert: Contract, expr: vector(0) > 1}\n`;

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
  setRuleGroup: async ({ call }) => {
    const headers = { "Content-Type": "application/yaml" };
    const body = ruleFile("contract");
    await call("setRuleGroup", 201, { path: { name: "contract" }, body, headers });
    await call("setRuleGroup", 200, { path: { name: "contract" }, body, headers });
    await call("setRuleGroup", 201, { path: { name: "contract-2" }, body: ruleFile("contract-2"), headers });
    await call("setRuleGroup", 400, { path: { name: "another" }, body, headers });
    const unknown = await call("setRuleGroup", 400, { path: { name: "contract" }, body: body.replace("expr", "exp"), headers });
    expect(unknown.message).toContain("line 4: field exp not found in type rulefmt.Rule");
  },
  ruleGroups: async ({ call }) => {
    const first = await call("ruleGroups", 200, { query: { limit: "1" } });
    await call("ruleGroups", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  ruleGroup: async ({ call }) => {
    const { definition } = await call("ruleGroup", 200, { path: { name: "contract" } });
    const body = JSON.stringify({ groups: [definition] });
    await call("setRuleGroup", 200, { path: { name: "contract" }, body });
    await call("ruleGroup", 404, { path: { name: "nobody" } });
  },
  tryRuleGroup: async ({ call }) => {
    const body = { group: ruleFile("contract"), since: "2026-01-01T00:00:00Z", until: "2026-01-01T01:00:00Z" };
    const { evaluations, rules } = await call("tryRuleGroup", 200, { body });
    expect([evaluations >= 60, rules.length > 0]).toEqual([true, true]);
    await call("tryRuleGroup", 400, { body: { ...body, until: body.since } });
    await call("tryRuleGroup", 422, { body: { ...body, since: "2020-01-01T00:00:00Z" } });
  },
  deleteRuleGroup: async ({ call }) => {
    await call("deleteRuleGroup", 204, { path: { name: "contract-2" } });
    await call("deleteRuleGroup", 404, { path: { name: "contract-2" } });
  },
  promqlHealthy: answered("promqlHealthy"),
  promqlReady: answered("promqlReady"),
};
