// What the first tenant makes, so that there is something of it behind every endpoint; all of it holds a word that the second one never sends.
import { expect } from "vitest";
import type { ServerClient } from "../support/server-client.ts";
import { METRIC, SERVICE } from "./tenant-probes.ts";

/** Stands in everything of the first tenant, and in nothing that the second one asks. */
export const WORD = "zebra";

type Headers = Readonly<Record<string, string>>;

/** Makes everything that the endpoints there are can make; `endpoints` are their names. */
export async function makeHoldings(client: ServerClient, headers: Headers, endpoints: ReadonlySet<string>): Promise<void> {
  await sendTelemetry(client, headers);
  for (const [endpoint, method, path, body] of OBJECTS) {
    if (!endpoints.has(endpoint)) continue;
    const answer = await client.ask({
      method,
      path,
      headers: { ...headers, "Content-Type": "application/json" },
      body: JSON.stringify(body),
    });
    expect([endpoint, answer.status, answer.text]).toEqual([
      endpoint,
      expect.toSatisfy((status: number) => status < 300),
      expect.anything(),
    ]);
  }
}

const twice = <T>(make: (number: number) => T): T[] => [1, 2].map(make);

/** Two of each, so that a list has a second page. */
const OBJECTS: ReadonlyArray<readonly [endpoint: string, method: string, path: string, body: unknown]> = [
  ...twice((i) => ["createKey", "POST", "/api/v1/apikeys", { name: `${WORD} ${i}`, scope: "readonly" }] as const),
  ...twice((i) => ["createUser", "POST", "/api/v1/users", { user_id: `user-${i}`, role: "operator", name: `${WORD} ${i}` }] as const),
  ...twice(
    (i) => ["setLabel", "PUT", "/api/v1/service-labels", { service_id: i === 1 ? SERVICE : "cart", key: "team", value: WORD }] as const,
  ),
  ...twice((i) => {
    const body = { service_id: i === 1 ? SERVICE : "cart", metric: METRIC, limit_value: 100, unit: WORD };
    return ["declareLimit", "PUT", "/api/v1/saturation/limits", body] as const;
  }),
  // Neither has two metrics: both jobs fail at once, and are there.
  ...twice((i) => {
    const body = { service_id: i === 1 ? SERVICE : "cart", training_window_days: i, model_type: "isolation_forest" };
    return ["trainModel", "POST", "/api/v1/ml/train", body] as const;
  }),
  ...twice((i) => {
    const matchers = [{ name: "service_id", operator: "=", value: `${WORD}-${i}` }];
    return ["createSilence", "POST", "/api/v1/silences", { matchers, ends_at: "2099-01-01T00:00:00Z", comment: WORD }] as const;
  }),
  ...twice((i) => {
    const matchers = [{ name: "service_id", operator: "=", value: `${WORD}-${i}` }];
    return [
      "createInhibition",
      "POST",
      "/api/v1/inhibitions",
      { source_matchers: matchers, target_matchers: matchers, comment: WORD },
    ] as const;
  }),
  // Incidents of two environments are two.
  ...twice((i) => {
    const labels = { alertname: WORD, service: SERVICE, environment: `${WORD}-${i}`, severity: "critical" };
    return ["alertWebhook", "POST", "/api/v1/alerts/webhook", { alerts: [{ labels, annotations: { summary: WORD } }] }] as const;
  }),
  ...twice((i) => {
    const body = { name: `${WORD} ${i}`, priority: i, service_pattern: `${WORD}*`, channels: [`chat:${WORD}`] };
    return ["createRoutingRule", "POST", "/api/v1/routing/rules", body] as const;
  }),
  ...twice((i) => {
    const body = { name: `held-${i}`, url: `https://example.com/${WORD}` };
    return ["createWebhook", "POST", "/api/v1/webhooks", body] as const;
  }),
  ...twice((i) => {
    const steps = [{ type: "http", name: WORD, url: `https://example.com/${WORD}`, approval_required: true }];
    return ["createRunbook", "POST", "/api/v1/runbooks", { id: `held-${i}`, name: `${WORD} ${i}`, steps }] as const;
  }),
  ...twice((i) => ["executeRunbook", "POST", `/api/v1/runbooks/held-${i}/execute`, {}] as const),
  ...twice((i) => {
    const body = { service_id: WORD, metric_name: `${WORD} ${i}`, z_threshold: 7 };
    return ["setWatchdogSettings", "PUT", "/api/v1/settings/watchdog", body] as const;
  }),
  ...twice((i) => {
    const group = { name: `held-${i}`, rules: [{ alert: WORD, expr: "vector(0) > 1" }] };
    return ["setRuleGroup", "PUT", `/api/v1/rule-groups/held-${i}`, { groups: [group] }] as const;
  }),
  ["setCalendar", "PUT", "/api/v1/settings/calendar", { days: [{ date: "2026-12-24", name: WORD, like: "weekend" }] }],
  [
    "setServiceMap",
    "PUT",
    "/api/v1/pillars/service-map",
    {
      entries: twice((i) => ({ service_id: i === 1 ? SERVICE : "cart", tenant_id: WORD, product_id: WORD, custom_keys: { region: WORD } })),
    },
  ],
];

/** Two services, each with an anomaly, dead letters, logs and spans. */
async function sendTelemetry(client: ServerClient, headers: Headers): Promise<void> {
  const nowMs = Date.now();
  const at = (agoMs: number) => new Date(nowMs - agoMs).toISOString();
  const records = [SERVICE, "cart"].flatMap((service_id) => [
    ...Array.from({ length: 40 }, (_, i) => {
      const value = i < 36 ? 100 + (i % 3) : 9_000;
      return { service_id, metric_name: METRIC, value, timestamp: at((40 - i) * 1000), attributes: { zone: WORD } };
    }),
    { service_id, type: "log", body: `${WORD} order`, timestamp: at(500), attributes: { level: "error" } },
    { service_id, type: "event", body: `${WORD} deployed`, timestamp: at(400) },
    { service_id, metric_name: METRIC, value: WORD, timestamp: at(300) },
  ]);
  expect((await client.postJson("/api/v1/telemetry/batch", records, headers)).json()).toMatchObject({ queued: 84, failed: 2 });
  const span = (spanId: string, parent: string) => ({
    traceId: "a".repeat(32),
    spanId: spanId.repeat(16),
    ...(parent !== "" && { parentSpanId: parent.repeat(16) }),
    name: `${WORD} pay`,
    startTimeUnixNano: `${nowMs - 900}000000`,
    endTimeUnixNano: `${nowMs - 800}000000`,
  });
  const resourceSpans = [
    ["cart", span("1", "")],
    [SERVICE, span("2", "1")],
  ].map(([service, one]) => ({
    resource: { attributes: [{ key: "service.name", value: { stringValue: service } }] },
    scopeSpans: [{ spans: [one] }],
  }));
  expect((await client.postJson("/v1/traces", { resourceSpans }, headers)).status).toBe(200);
}
