// The calls of contract-calls.ts on routing rules.
import type { ContractDriver } from "./contract-driver.ts";

const RULE = { name: "contract", priority: 5, service_pattern: "no*", channels: ["chat:nowhere"] };

export const ROUTING_CALLS: Readonly<Record<string, (driver: ContractDriver) => Promise<void>>> = {
  createRoutingRule: async ({ call }) => {
    await call("createRoutingRule", 201, { body: RULE });
    await call("createRoutingRule", 201, { body: { ...RULE, label_matchers: { team: "none" }, severity: "high", source: "alertmanager" } });
    await call("createRoutingRule", 400, { body: { ...RULE, channels: ["sms:1"] } });
  },
  routingRules: async ({ call }) => {
    const first = await call("routingRules", 200, { query: { limit: "1" } });
    await call("routingRules", 200, { query: { limit: "1", page_token: first.page_token } });
  },
  changeRoutingRule: async ({ call }) => {
    const { rules } = await call("routingRules", 200);
    await call("changeRoutingRule", 200, { path: { id: rules[0].id }, body: { ...RULE, priority: 6 } });
    await call("changeRoutingRule", 404, { path: { id: "0".repeat(32) }, body: RULE });
  },
  deleteRoutingRule: async ({ call }) => {
    const { rules } = await call("routingRules", 200);
    await call("deleteRoutingRule", 204, { path: { id: rules[0].id } });
    await call("deleteRoutingRule", 409, { path: { id: "catch-all" } });
    await call("deleteRoutingRule", 404, { path: { id: "0".repeat(32) } });
  },
  drill: async ({ call }) => {
    // Nobody is told here, so it fails; the answer is as declared all the same.
    await call("drill", 200, { body: {} });
  },
  testRouting: async ({ call }) => {
    await call("testRouting", 200, { body: { service_id: "nobody", severity: "high" } });
    await call("testRouting", 404, { body: { alert_id: "0".repeat(32) } });
  },
  channels: async ({ call }) => {
    await call("channels", 200);
  },
  testChannels: async ({ call }) => {
    await call("testChannels", 200, { body: { channel: "pager" } });
    await call("testChannels", 400, { body: {} });
    await call("testChannels", 404, { body: { rule_id: "0".repeat(32) } });
  },
  setPageBudget: async ({ call }) => {
    await call("setPageBudget", 200, { path: { team: "payments" }, body: { pages_per_week: 3 } });
    await call("setPageBudget", 200, { path: { team: "payments" }, body: { pages_per_week: null } });
    await call("setPageBudget", 400, { path: { team: "payments" }, body: { pages_per_week: -1 } });
  },
  pageReport: async ({ call }) => {
    await call("pageReport", 200);
    await call("pageReport", 200, { query: { team: "payments", since: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" } });
    await call("pageReport", 400, { query: { since: "2026-01-02T00:00:00Z", until: "2026-01-01T00:00:00Z" } });
  },
};
