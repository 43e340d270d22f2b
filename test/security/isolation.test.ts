// A second tenant's administrator asks every endpoint for what is the first one's, by name, id, page token and X-Tenant-ID: it gets nothing of it and
// changes nothing of it. An endpoint without a probe (tenant-probes.ts) fails here.
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Endpoint } from "../../src/api/endpoint.ts";
import { ENDPOINTS } from "../../src/api/endpoints.ts";
import { beginReplay } from "../support/dead-letter-client.ts";
import { ENGINES } from "../support/http-exchanges.ts";
import { type Answer, type Question, ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { authorization, JWT_SECRET } from "../support/tokens.ts";
import { until } from "../support/until.ts";
import { makeHoldings, WORD } from "./tenant-holdings.ts";
import { type Attack, type Loot, METRIC, PROBES, SERVICE } from "./tenant-probes.ts";

const ALL: readonly Endpoint[] = ENDPOINTS;
const NAMES: ReadonlySet<string> = new Set(ALL.map(({ name }) => name));
const TENANT_ROLES: ReadonlySet<string> = new Set(["viewer", "operator", "admin"]);
/** What moves by itself. */
const VOLATILE: ReadonlySet<string> = new Set([
  "status",
  "promqlRules",
  "promqlAlerts",
  "similarReports",
  "pillarScores",
  "coverage",
  "predict",
  "forecast",
  "causal",
  "degradation",
  "drift",
  "pageReport",
]);
/** Of the server's data as a whole: where there are several tenants, none of them sees it. */
const WHOLE_SERVER: ReadonlySet<string> = new Set(["dataFaults"]);
/** Lists of what takes hours to come about: they have no second page here. */
const EMPTY: ReadonlySet<string> = new Set(["saturationFires", "models"]);
const HOUR_MS = 3_600_000;
/** A moment behind everything that is sent here, so that a look back sees the same each time. */
const AT_SECONDS = Math.floor(Date.now() / 1_000) + 1_200;
/** Parameters without which a list or an object is not given, or moves by itself: the call graph is that of the last hour. */
const NEEDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  seriesData: { service_id: SERVICE, metric_name: METRIC },
  alertLedger: { service_id: SERVICE },
  promqlQuery: { query: '{__name__!=""}', lookback_delta: "1h", time: String(AT_SECONDS) },
  promqlQueryRange: { query: '{__name__!=""}', lookback_delta: "1h", start: String(AT_SECONDS), end: String(AT_SECONDS), step: "60" },
  promqlSeries: { "match[]": '{__name__!=""}' },
  promqlExemplars: { query: "up" },
  correlations: { service_id: SERVICE },
  blastRadius: { service_id: SERVICE },
  callGraph: { since: new Date(Date.now() - HOUR_MS).toISOString(), until: new Date(Date.now() + HOUR_MS).toISOString() },
};
const POLL_MS = 20;
/** Forty seconds: what lies between the end of a minute and a quiet moment is thirty. */
const MADE_MS_MAX = 40_000;
/** Windows of spans and logs end every ten seconds and close five later; then the first tenant has more, by itself. The questions take some six seconds. */
const WINDOW_MS = 10_000;
const CLOSED_MS = 5_500;
const BEGUN_MS = 7_500;
const MINUTE_END_MS = 45_000;

/** Whether no window closes and no minute ends before the questions have been asked. */
function isBetweenWindows(): boolean {
  const now = Date.now();
  const inWindow = now % WINDOW_MS;
  return inWindow >= CLOSED_MS && inWindow < BEGUN_MS && now % 60_000 < MINUTE_END_MS;
}

/** Whether the windows of the spans and logs sent have closed: each of their services then has more series than the one sent. */
function hasClosedWindows({ services }: Readonly<Record<string, unknown>>): boolean {
  return (services as { services: Array<{ streams: number }> }).services.every(({ streams }) => streams > 1);
}

function target(path: string, parameters: Readonly<Record<string, string>> = {}, query: Readonly<Record<string, string>> = {}): string {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(parameters[name] ?? "none"));
  const search = new URLSearchParams(query).toString();
  return search === "" ? filled : `${filled}?${search}`;
}

function question({ method, path }: Endpoint, attack: Omit<Attack, "statuses">, headers: Readonly<Record<string, string>>): Question {
  const { body, headers: own = {} } = attack;
  const content = body === undefined ? {} : { body: body instanceof Uint8Array ? body : JSON.stringify(body) };
  const type = body === undefined ? {} : { "Content-Type": "application/json" };
  return { method, path: target(path, attack.path, attack.query), headers: { ...type, ...headers, ...own }, ...content };
}

/** A row of a coverage's `shared_limits`. */
interface SharedPlaces {
  readonly limit: string;
  readonly held: number;
  readonly refused_total: number;
}

/** What the questions themselves hold. */
const HELD_BY_ASKING: ReadonlySet<string> = new Set(["queries_running", "queries_waiting", "promql_queries", "event_streams"]);

/** Whether a tenant that has nothing holds something there. */
function isHeld({ limit, held, refused_total }: SharedPlaces): boolean {
  return held + refused_total > 0 && !HELD_BY_ASKING.has(limit);
}

/** Lists in an answer, and its total. Limits are named to whoever asks. */
function emptiness(answer: Answer): unknown {
  const { shared_limits: limits = [], ...content } = answer.json() as Record<string, unknown> & { shared_limits?: SharedPlaces[] };
  const results = (content.data as { readonly result?: readonly unknown[] } | undefined)?.result ?? [];
  const lists = [...results, ...Object.values(content).filter(Array.isArray).flat(), ...limits.filter(isHeld)];
  return { lists, total: content.total ?? 0 };
}

it("has a probe for every endpoint", () => {
  const missing = [...NAMES].filter((name) => !Object.hasOwn(PROBES, name));
  expect(missing, "say in tenant-probes.ts what these must not give to another tenant").toEqual([]);
  expect(Object.keys(PROBES).filter((name) => !NAMES.has(name))).toEqual([]);
});

describe.each(ENGINES)("tenants over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let client: ServerClient;
  let acme: Record<string, string>;
  let globex: Record<string, string>;
  let loot: Loot;
  const heard = { acme: "", globex: "" };

  beforeAll(async () => {
    if (skipped) return;
    client = new ServerClient((await bench.start({ HTTP_ENGINE: kind, ENGINES: "2", JWT_SECRET })).origin);
    const operator = await authorization("default", "super_admin");
    for (const tenant_id of ["acme", "globex"]) {
      const body = { tenant_id, name: tenant_id, plan: "enterprise" };
      expect((await client.postJson("/api/v1/tenants", body, operator)).status).toBe(201);
    }
    [acme, globex] = [await authorization("acme", "admin"), await authorization("globex", "admin")];
    await listen("acme", acme);
    await listen("globex", globex);
    await makeHoldings(client, acme, NAMES);
    loot = await takeLoot();
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  async function listen(tenant: "acme" | "globex", headers: Record<string, string>): Promise<void> {
    const stream = await client.open({ path: "/api/v1/stream", headers });
    expect(stream.statusCode).toBe(200);
    stream.on("data", (chunk: Buffer) => (heard[tenant] += chunk.toString()));
    stream.on("error", () => undefined);
  }

  async function made<T>(ask: () => Promise<T | undefined>): Promise<T> {
    return (await until("what the first tenant made is there", ask, undefined, { patienceMs: MADE_MS_MAX, everyMs: POLL_MS })) as T;
  }

  /** A list's first row and the token of its second page, once there is one. */
  async function firstRow(path: string, rows: string, query: Readonly<Record<string, string>> = {}) {
    return made(async () => {
      const answer = await client.get(target(path, {}, { limit: "1", ...query }), acme);
      if (answer.status !== 200) throw new Error(`${path} is answered ${answer.status} ${answer.text}`);
      const { [rows]: list, page_token } = answer.json();
      return page_token === "" ? undefined : { row: (list?.[0] ?? {}) as Record<string, string>, token: page_token as string };
    });
  }

  async function takeLoot(): Promise<Loot> {
    const tokens = new Map<string, string>();
    for (const { name, path, query, access } of ALL) {
      if (!("page_token" in query.shape) || path.includes("{") || !TENANT_ROLES.has(access) || VOLATILE.has(name) || EMPTY.has(name))
        continue;
      const { token } = await firstRow(path, "", NEEDED[name]);
      const next = await client.get(target(path, {}, { ...NEEDED[name], limit: "1", page_token: token }), acme);
      expect([name, next.status]).toEqual([name, 200]); // good for its owner
      tokens.set(name, token);
    }
    const deadLetterId = (await firstRow("/api/v1/dlq", "entries")).row.dlq_id as string;
    const edges = () =>
      client
        .get(target("/api/v1/call-graph", {}, NEEDED.callGraph), acme)
        .then((answer) => (answer.json().edges.length > 0 ? true : undefined));
    await made(edges);
    const replaying = { postJson: (path: string, content: unknown) => client.postJson(path, content, acme) } as ServerClient;
    return {
      tokens,
      deadLetterId,
      anomalyId: (await firstRow("/api/v1/anomalies", "anomalies")).row.anomaly_id as string,
      alertId: (await firstRow("/api/v1/alerts", "alerts")).row.alert_id as string,
      inhibitionId: (await firstRow("/api/v1/inhibitions", "inhibitions")).row.inhibition_id as string,
      ruleId: (await firstRow("/api/v1/routing/rules", "rules")).row.id as string,
      webhookName: (await firstRow("/api/v1/webhooks", "webhooks")).row.name as string,
      runbookId: (await firstRow("/api/v1/runbooks", "runbooks")).row.id as string,
      executionId: (await firstRow("/api/v1/runbooks/executions", "executions")).row.execution_id as string,
      trainingId: (await firstRow("/api/v1/ml/jobs", "jobs")).row.job_id as string,
      jobId: await beginReplay(replaying, { ids: [deadLetterId] }),
      keyId: (await firstRow("/api/v1/apikeys", "keys")).row.key_id as string,
      userId: (await firstRow("/api/v1/users", "users")).row.user_id as string,
    };
  }

  /** Everything that the first tenant sees of itself and that does not move by itself. */
  async function holdings(): Promise<Record<string, unknown>> {
    const seen: Record<string, unknown> = {};
    for (const { name, method, path, access } of ALL) {
      if (method !== "GET" || path.includes("{") || !TENANT_ROLES.has(access) || VOLATILE.has(name) || name === "stream") continue;
      const limit = name === "seriesData" || path.includes("series") ? { limit: "1000" } : {};
      const answer = await client.get(target(path, {}, { ...NEEDED[name], ...limit }), acme);
      expect([name, answer.status]).toEqual([name, WHOLE_SERVER.has(name) ? 403 : 200]);
      if (!WHOLE_SERVER.has(name)) seen[name] = answer.json();
    }
    return seen;
  }

  const test = it.skipIf(skipped);

  test("nothing of one is seen or changed by the other", async () => {
    const before = await made(async () => {
      if (!isBetweenWindows()) return undefined;
      const first = await holdings();
      return hasClosedWindows(first) && JSON.stringify(first) === JSON.stringify(await holdings()) ? first : undefined;
    });
    expect(JSON.stringify(before).split(WORD).length).toBeGreaterThan(10);
    // Questions first: they find the second tenant empty.
    for (const isWrite of [false, true]) {
      for (const endpoint of ALL.filter(({ method }) => (method !== "GET") === isWrite)) {
        for (const attack of PROBES[endpoint.name]?.(loot) ?? []) {
          const answer = await client.ask(question(endpoint, attack, globex));
          const what = `${endpoint.name} ${JSON.stringify(attack.query ?? attack.path ?? {})}`;
          expect([what, answer.status, answer.text]).toEqual([
            what,
            expect.toBeOneOf([...attack.statuses]),
            expect.not.stringContaining(WORD),
          ]);
          if (attack.isEmpty === true) expect([what, emptiness(answer)]).toEqual([what, { lists: [], total: 0 }]);
        }
      }
    }
    expect(await holdings()).toEqual(before);
    for (const [path, key] of [
      [`/api/v1/dlq/${loot.deadLetterId}`, "dlq_id"],
      [`/api/v1/anomalies/${loot.anomalyId}`, "anomaly_id"],
      [`/api/v1/alerts/${loot.alertId}`, "alert_id"],
      [`/api/v1/inhibitions/${loot.inhibitionId}`, "inhibition_id"],
      [`/api/v1/dlq/replay/${loot.jobId}`, "job_id"],
    ] as const)
      expect((await client.get(path, acme)).json()[key]).toBe(path.split("/").at(-1));
    await made(async () => (heard.acme.includes("event: anomaly") && heard.acme.includes("event: alert") ? true : undefined));
    expect(heard.globex).not.toContain(WORD);
  });

  test("X-Tenant-ID of the other is refused at every endpoint that asks who one is", async () => {
    for (const endpoint of ALL.filter(({ access }) => access !== "public")) {
      for (const attack of [{}, ...(PROBES[endpoint.name]?.(loot) ?? [])]) {
        const { status, text } = await client.ask(question(endpoint, attack, { ...globex, "X-Tenant-ID": "acme" }));
        expect([endpoint.name, status, text.includes(WORD)]).toEqual([endpoint.name, 403, false]);
      }
    }
  });
});
