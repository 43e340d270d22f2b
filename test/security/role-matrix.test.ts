/**
 * Who may call what. The table is written by hand from the rules of the service (roles from the least to the most, scopes of keys, requests without a credential),
 * not from the declarations: a declaration that opens an endpoint to others than these fails here. So does an endpoint that has no row.
 */
import { SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import type { KeyScope, Role } from "../../src/core/protocol/access.ts";
import type { Principal } from "../../src/core/protocol/query.ts";
import { actWithoutCredential, refuseAccess } from "../../src/domain/access/access-policy.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

/** A credential, or the place of a request that has none. */
type Asker = "here" | "elsewhere" | Role | `${KeyScope} key`;
const ASKERS: readonly Asker[] = [
  "here",
  "elsewhere",
  "viewer",
  "operator",
  "admin",
  "super_admin",
  "system",
  "ingestion key",
  "readonly key",
  "readwrite key",
  "admin key",
];

/** Who is let in; everybody else gets 401 without a credential and 403 with one. */
const ANYBODY = ASKERS;
const WRITERS: readonly Asker[] = [
  "here",
  "elsewhere",
  "operator",
  "admin",
  "super_admin",
  "system",
  "ingestion key",
  "readwrite key",
  "admin key",
];
const READERS: readonly Asker[] = [
  "here",
  "viewer",
  "operator",
  "admin",
  "super_admin",
  "system",
  "readonly key",
  "readwrite key",
  "admin key",
];
const OPERATORS: readonly Asker[] = ["here", "operator", "admin", "super_admin", "system", "readwrite key", "admin key"];
const ADMINS: readonly Asker[] = ["admin", "super_admin", "system", "admin key"];
const SUPER_ADMINS: readonly Asker[] = ["super_admin", "system"];

const TABLE: Readonly<Record<string, readonly Asker[]>> = {
  "GET /healthz": ANYBODY,
  "GET /readyz": ANYBODY,
  "GET /metrics": ANYBODY,
  "GET /openapi.json": ANYBODY,
  "GET /docs": ANYBODY,
  "GET /sign-in": ANYBODY,
  "GET /": ANYBODY,
  "GET /ui/{file}": ANYBODY,
  "POST /sign-out": ANYBODY,
  "POST /sign-in": READERS,
  "GET /api/v1/services": READERS,
  "GET /api/v1/graph": READERS,

  "POST /api/v1/telemetry": WRITERS,
  "POST /api/v1/telemetry/batch": WRITERS,
  "POST /api/v1/rwmetrics/write": WRITERS,
  "POST /api/v1/rwmetrics/remote_write": WRITERS,
  "POST /v1/metrics": WRITERS,
  "POST /v1/traces": WRITERS,
  "POST /v1/logs": WRITERS,
  "POST /api/v1/otlp/v1/metrics": WRITERS,
  "POST /api/v1/otlp/v1/traces": WRITERS,
  "POST /api/v1/otlp/v1/logs": WRITERS,

  "GET /api/v1/telemetry-types": READERS,
  "GET /api/v1/stream": READERS,
  "GET /api/v1/status": READERS,
  "GET /api/v1/rbac/permissions": READERS,
  "GET /api/v1/debug/dlq-stats": READERS,
  "GET /api/v1/anomalies": READERS,
  "GET /api/v1/anomalies/{id}": READERS,
  "GET /api/v1/alerts": READERS,
  "GET /api/v1/alerts/{alert_id}/chart.png": READERS,
  "GET /api/v1/alerts/{alert_id}": READERS,
  "GET /api/v1/alerts/{alert_id}/timeline": READERS,
  "GET /api/v1/coverage": READERS,
  "GET /api/v1/series": READERS,
  "GET /api/v1/series/data": READERS,
  "GET /api/v1/records": READERS,
  "GET /prometheus/api/v1/query": READERS,
  "POST /prometheus/api/v1/query": READERS,
  "GET /prometheus/api/v1/query_range": READERS,
  "POST /prometheus/api/v1/query_range": READERS,
  "GET /prometheus/api/v1/labels": READERS,
  "POST /prometheus/api/v1/labels": READERS,
  "GET /prometheus/api/v1/label/{name}/values": READERS,
  "GET /prometheus/api/v1/series": READERS,
  "POST /prometheus/api/v1/series": READERS,
  "GET /prometheus/api/v1/metadata": READERS,
  "GET /prometheus/api/v1/query_exemplars": READERS,
  "POST /prometheus/api/v1/query_exemplars": READERS,
  "GET /prometheus/api/v1/rules": READERS,
  "GET /prometheus/api/v1/alerts": READERS,
  "GET /prometheus/api/v1/status/buildinfo": READERS,
  "GET /prometheus/api/v1/status/runtimeinfo": READERS,
  "GET /prometheus/-/healthy": ANYBODY,
  "GET /prometheus/-/ready": ANYBODY,
  "GET /api/v1/call-graph": READERS,
  "GET /api/v1/pillars/service-map": READERS,
  "GET /api/v1/pillars/scores": READERS,
  "GET /api/v1/service-labels": READERS,
  "GET /api/v1/saturation/limits": READERS,
  "GET /api/v1/saturation/fires": READERS,
  "GET /api/v1/alerts/ledger": READERS,
  "GET /api/v1/silences": READERS,
  "GET /api/v1/silences/{id}": READERS,
  "POST /api/v1/silences": OPERATORS,
  "DELETE /api/v1/silences/{id}": OPERATORS,
  "POST /api/v1/webhooks": ADMINS,
  "GET /api/v1/webhooks": ADMINS,
  "POST /api/v1/webhooks/test": ADMINS,
  "GET /api/v1/webhooks/public-key": READERS,
  "GET /api/v1/webhooks/{name}": ADMINS,
  "PUT /api/v1/webhooks/{name}": ADMINS,
  "DELETE /api/v1/webhooks/{name}": ADMINS,
  "GET /api/v1/webhooks/{name}/deliveries": ADMINS,
  "GET /api/v1/rule-groups": READERS,
  "GET /api/v1/rule-groups/{name}": READERS,
  "PUT /api/v1/rule-groups/{name}": ADMINS,
  "DELETE /api/v1/rule-groups/{name}": ADMINS,
  "POST /api/v1/rule-groups/trial": OPERATORS,
  "PUT /api/v1/routing/budgets/{team}": ADMINS,
  "GET /api/v1/reports/pages": READERS,
  "GET /api/v1/runbooks": READERS,
  "POST /api/v1/runbooks": ADMINS,
  "GET /api/v1/runbooks/{id}": READERS,
  "PUT /api/v1/runbooks/{id}": ADMINS,
  "DELETE /api/v1/runbooks/{id}": ADMINS,
  "POST /api/v1/runbooks/{id}/execute": OPERATORS,
  "GET /api/v1/runbooks/executions": READERS,
  "GET /api/v1/runbooks/executions/{id}": READERS,
  "POST /api/v1/runbooks/executions/{id}/approve": OPERATORS,
  "POST /api/v1/runbooks/executions/{id}/reject": OPERATORS,
  "POST /api/v1/runbooks/executions/{id}/cancel": OPERATORS,
  "GET /api/v1/inhibitions": READERS,
  "GET /api/v1/inhibitions/{id}": READERS,
  "POST /api/v1/inhibitions": OPERATORS,
  "DELETE /api/v1/inhibitions/{id}": OPERATORS,
  "GET /api/v1/settings/watchdog": READERS,
  "GET /api/v1/settings/calendar": READERS,
  "GET /api/v1/rca/reports": READERS,
  "GET /api/v1/rca/similar": READERS,
  "GET /api/v1/rca/scorecard": READERS,
  "GET /api/v1/rca/correlations": READERS,
  "GET /api/v1/ml/blast-radius": READERS,
  "GET /api/v1/ml/predict": READERS,
  "GET /api/v1/ml/degradation": READERS,
  "GET /api/v1/ml/forecast": READERS,
  "GET /api/v1/ml/causal": READERS,
  "GET /api/v1/ml/jobs": READERS,
  "GET /api/v1/ml/jobs/{id}": READERS,
  "GET /api/v1/ml/models": READERS,
  "GET /api/v1/ml/drift": READERS,
  "GET /api/v1/routing/rules": READERS,
  "GET /api/v1/routing/channels": READERS,
  "POST /api/v1/routing/channels/test": OPERATORS,
  "POST /api/v1/routing/test": READERS,

  "GET /api/v1/data-faults": OPERATORS,
  "POST /api/v1/data-faults/acknowledge": OPERATORS,
  "POST /api/v1/anomalies": OPERATORS,
  "PATCH /api/v1/anomalies/{id}": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/acknowledge": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/assign": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/unacknowledge": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/resolve": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/accept": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/snooze": OPERATORS,
  "POST /api/v1/alerts/{alert_id}/comments": OPERATORS,
  "POST /api/v1/alerts/actions": OPERATORS,
  "POST /api/v1/services/{id}/retire": OPERATORS,
  "POST /api/v1/alerts/webhook": OPERATORS,
  "POST /api/v1/ml/analyze": OPERATORS,
  "POST /api/v1/ml/validate-causality": OPERATORS,
  "POST /api/v1/resolutions/webhook": OPERATORS,
  "GET /api/v1/dlq": OPERATORS,
  "GET /api/v1/dlq/{id}": OPERATORS,
  "PUT /api/v1/dlq/{id}": OPERATORS,
  "DELETE /api/v1/dlq/{id}": OPERATORS,
  "POST /api/v1/dlq/replay": OPERATORS,
  "GET /api/v1/dlq/replay/{id}": OPERATORS,
  "PUT /api/v1/pillars/service-map": OPERATORS,
  "PUT /api/v1/service-labels": OPERATORS,
  "DELETE /api/v1/service-labels": OPERATORS,
  "PUT /api/v1/saturation/limits": OPERATORS,
  "DELETE /api/v1/saturation/limits": OPERATORS,
  "POST /api/v1/backtest": OPERATORS,
  "POST /api/v1/drill": OPERATORS,

  "POST /api/v1/import": ADMINS,
  "POST /api/v1/ml/train": ADMINS,
  "POST /api/v1/ml/jobs/{id}/cancel": ADMINS,
  "POST /api/v1/ml/promote": ADMINS,
  "POST /api/v1/ml/rollback": ADMINS,
  "POST /api/v1/routing/rules": ADMINS,
  "PUT /api/v1/routing/rules/{id}": ADMINS,
  "DELETE /api/v1/routing/rules/{id}": ADMINS,
  "POST /api/v1/atlas/import/catalog": ADMINS,
  "GET /api/v1/audit": ADMINS,
  "PUT /api/v1/settings/watchdog": ADMINS,
  "PUT /api/v1/settings/calendar": ADMINS,
  "DELETE /api/v1/settings/watchdog": ADMINS,
  "POST /api/v1/apikeys": ADMINS,
  "GET /api/v1/apikeys": ADMINS,
  "DELETE /api/v1/apikeys/{key_id}": ADMINS,
  "POST /api/v1/apikeys/{key_id}/rotate": ADMINS,
  "POST /api/v1/keys/{key_id}/rotate": ADMINS,
  "GET /api/v1/users": ADMINS,
  "POST /api/v1/users": ADMINS,
  "PUT /api/v1/users/{user_id}": ADMINS,
  "PATCH /api/v1/users/{user_id}": ADMINS,
  "DELETE /api/v1/users/{user_id}": ADMINS,

  "GET /api/v1/tenants": SUPER_ADMINS,
  "POST /api/v1/tenants": SUPER_ADMINS,
  "PATCH /api/v1/tenants/{id}": SUPER_ADMINS,
  "GET /api/v1/billing/usage": SUPER_ADMINS,
  "GET /api/v1/backup": SUPER_ADMINS,
  "GET /api/v1/config": ADMINS,
  "POST /api/v1/config": ADMINS,
  "POST /api/v1/backup": SUPER_ADMINS,
};

/** The role that a refusal has to name. */
const NEEDED = new Map<readonly Asker[], string>([
  [WRITERS, "operator"],
  [READERS, "viewer"],
  [OPERATORS, "operator"],
  [ADMINS, "admin"],
  [SUPER_ADMINS, "super_admin"],
]);

const lineOf = ({ method, path }: Endpoint) => `${method} ${path}`;
const rowOf = (endpoint: Endpoint) => TABLE[lineOf(endpoint)] ?? [];
type Decision = "allowed" | "401" | "403";
const isAnonymous = (asker: Asker) => asker === "here" || asker === "elsewhere";

function expected(row: readonly Asker[], asker: Asker): Decision {
  if (row.includes(asker)) return "allowed";
  // From this machine one acts as an operator: that is somebody, whose role is not enough.
  if (asker === "here") return "403";
  return asker === "elsewhere" ? "401" : "403";
}

describe("the table", () => {
  it("has a row for every endpoint", () => {
    expect(ENDPOINTS.map(lineOf).filter((line) => TABLE[line] === undefined)).toEqual([]);
  });
});

describe.each(ENDPOINTS.map((endpoint) => ({ line: lineOf(endpoint), endpoint })))("$line is decided as the table says", ({ endpoint }) => {
  const row = rowOf(endpoint);
  it.each(ASKERS.map((asker) => ({ asker, decision: expected(row, asker) })))("$decision for $asker", ({ asker, decision }) => {
    expect(decide(endpoint, asker)).toBe(decision);
  });
});

const SCOPE_ROLES: Readonly<Record<KeyScope, Role>> = { ingestion: "viewer", readonly: "viewer", readwrite: "operator", admin: "admin" };

function decide({ access }: Endpoint, asker: Asker): Decision {
  if (access === "public") return "allowed";
  if (isAnonymous(asker)) {
    const remoteAddress = asker === "here" ? "127.0.0.1" : "192.0.2.7";
    const said = { origin: undefined, referer: undefined, fetchSite: undefined, forwardedBy: undefined };
    const caller = { remoteAddress, isUnix: false, version: "1.1", host: "127.0.0.1:8080", beginsAsNginx: false, ...said };
    const options = { ingestAuth: "optional", readAuth: "loopback", boundHost: "127.0.0.1", boundPort: 8080, isTls: false };
    const acting = actWithoutCredential(access, caller, options);
    if (!acting.ok) return acting.refusal.code === "unauthorized" ? "401" : "403";
    return refuseAccess(access, acting.principal) === null ? "allowed" : "403";
  }
  const scope = asker.endsWith(" key") ? (asker.slice(0, -4) as KeyScope) : undefined;
  const role = scope === undefined ? (asker as Role) : SCOPE_ROLES[scope];
  const principal: Principal = { tenant: "default", subject: "x", role, ...(scope !== undefined && { scope }) };
  return refuseAccess(access, principal) === null ? "allowed" : "403";
}

describe("a real server decides as the table says", () => {
  const secret = "a secret of this test, of 32 bytes or more";
  const bench = new ServerBench();
  const headers = new Map<Asker, Record<string, string>>();
  let client: ServerClient;

  beforeAll(async () => {
    client = new ServerClient((await bench.start({ ENGINES: "1", JWT_SECRET: secret })).origin);
    headers.set("here", {});
    headers.set("elsewhere", { "X-Forwarded-For": "192.0.2.7" });
    for (const role of ["viewer", "operator", "admin", "super_admin", "system"] as const) {
      const claims = { sub: `sub-${role}`, tenant_id: "default", role, exp: Math.floor(Date.now() / 1000) + 600 };
      const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(Buffer.from(secret));
      headers.set(role, { Authorization: `Bearer ${token}` });
    }
    for (const scope of ["ingestion", "readonly", "readwrite", "admin"] as const) {
      const made = await client.postJson("/api/v1/apikeys", { name: scope, scope }, headers.get("admin"));
      headers.set(`${scope} key`, { "X-API-Key": made.json().api_key });
    }
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  it.each(ENDPOINTS.map((endpoint) => ({ line: lineOf(endpoint), endpoint })))("on $line", async ({ endpoint }) => {
    const row = rowOf(endpoint);
    for (const asker of ASKERS) {
      // An event stream has no end, and a sign-in link works once: HEAD asks for the head alone.
      const method = ["stream", "signIn"].includes(endpoint.name) ? "HEAD" : endpoint.method;
      const answer = await client.ask({ method, path: endpoint.path.replaceAll(/\{\w+\}/g, "none"), headers: headers.get(asker) ?? {} });
      const got = answer.status === 401 || answer.status === 403 ? String(answer.status) : "allowed";
      expect(`${asker}: ${got}`).toBe(`${asker}: ${expected(row, asker)}`);
      if (got === "403" && method !== "HEAD") expect(answer.json().message ?? answer.json().error).toContain(`role ${NEEDED.get(row)}`);
    }
  });
});
