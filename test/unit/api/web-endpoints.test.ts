// Pages against the API: what they call exists, and every endpoint has a place or a reason why people need none.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { ENDPOINTS } from "../../../src/api/endpoints.ts";

const folder = "src/web";
const source = readdirSync(folder, { recursive: true, encoding: "utf8" })
  .filter((path) => /\.tsx?$/.test(path))
  .map((path) => readFileSync(join(folder, path), "utf8"))
  .join("\n");
const called = new Set([...source.matchAll(/"((?:GET|POST|PUT|PATCH|DELETE) \/[^"]*)"/g)].map(([, key]) => key as string));

/** For machines, or reached from a page by a plain link. */
const WITHOUT_A_PAGE: ReadonlySet<string> = new Set([
  "GET /",
  "GET /ui/{file}",
  "GET /healthz",
  "GET /readyz",
  "GET /metrics",
  "GET /openapi.json",
  "GET /docs",
  "GET /sign-in",
  "GET /api/v1/stream", // live/stream-worker.ts
  "GET /api/v1/telemetry-types",
  "GET /api/v1/call-graph", // graph has the same with what is open
  "GET /api/v1/dlq/{id}", // the list has all of it
  "GET /api/v1/ml/jobs/{id}", // as above
  "POST /api/v1/anomalies", // by hand, from scripts
  "POST /api/v1/keys/{key_id}/rotate", // another spelling
  "GET /api/v1/silences/{id}",
  "GET /api/v1/inhibitions/{id}",
  "PUT /api/v1/users/{user_id}",
  "PUT /api/v1/routing/rules/{id}",
  "POST /api/v1/alerts/webhook",
  // Of one alert: pages do these by POST /api/v1/alerts/actions, for many at once.
  "POST /api/v1/alerts/{alert_id}/acknowledge",
  "POST /api/v1/alerts/{alert_id}/unacknowledge",
  "POST /api/v1/alerts/{alert_id}/assign",
  "POST /api/v1/alerts/{alert_id}/resolve",
  "POST /api/v1/alerts/{alert_id}/accept",
  "POST /api/v1/alerts/{alert_id}/snooze",
  "POST /api/v1/alerts/{alert_id}/comments",
  "GET /api/v1/alerts/{alert_id}/chart.png", // for messages; pages draw it themselves
  // By Grafana and other clients of Prometheus, and by the command line.
  ...ENDPOINTS.filter(({ path }) => path.startsWith("/prometheus/") && path !== "/prometheus/api/v1/rules").map(
    ({ method, path }) => `${method} ${path}`,
  ),
  // By scripts and the command line.
  ...ENDPOINTS.filter(({ path }) => path.startsWith("/api/v1/rule-groups")).map(({ method, path }) => `${method} ${path}`),
  "POST /api/v1/ml/analyze", // made by itself; its report has a page
  "GET /api/v1/rca/scorecard",
  "GET /api/v1/settings/calendar", // a list of dates, set as a whole
  "PUT /api/v1/settings/calendar",
]);

describe("pages and the API", () => {
  it("call nothing that is not there", () => {
    const known = new Set(ENDPOINTS.map(({ method, path }) => `${method} ${path}`));
    expect([...called].filter((key) => !known.has(key))).toEqual([]);
  });

  it("have a place for every endpoint that people may want", () => {
    const missing = ENDPOINTS.filter(({ handledBy }) => handledBy !== "engine")
      .map(({ method, path }) => `${method} ${path}`)
      .filter((key) => !called.has(key) && !WITHOUT_A_PAGE.has(key));
    expect(missing).toEqual([]);
  });
});
