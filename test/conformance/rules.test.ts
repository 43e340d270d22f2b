// Rules in a running server that are too dear: each is told and skipped, what stands beside it goes on.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compressSync } from "snappy";
import { afterAll, expect, it } from "vitest";
import { PATIENCE_MS } from "../support/patience.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { REMOTE_WRITE_HEADERS, ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { authorization, JWT_SECRET } from "../support/tokens.ts";
import { until } from "../support/until.ts";

/** It works for days, and takes little memory. */
const ENDLESS = "max_over_time(quantile_over_time(0.5, vector(time())[1d:1s])[1d:1s]) >= 0";
const DENSE_SAMPLES = 2_000;
const TOO_LONG = /^query timed out in expression evaluation: more than 1 s; it is tried with one evaluation of [248]$/;

interface ShownRule {
  readonly name: string;
  readonly health: string;
  readonly lastError?: string;
  readonly lastEvaluation: string;
}

type Headers = Readonly<Record<string, string>>;

const bench = new ServerBench();
const clients: ServerClient[] = [];
afterAll(async () => {
  for (const client of clients) client.close();
  await bench.close();
});

async function started(settings: Readonly<Record<string, string>>): Promise<ServerClient> {
  const client = new ServerClient((await bench.start({ JWT_SECRET, ...settings })).origin);
  clients.push(client);
  return client;
}

/** The rules of a tenant by their names. */
async function rulesOf(client: ServerClient, headers: Headers): Promise<Readonly<Record<string, ShownRule>>> {
  const { groups } = (await client.get("/prometheus/api/v1/rules", headers)).json().data;
  return Object.fromEntries(groups.flatMap(({ rules }: { rules: ShownRule[] }) => rules).map((rule: ShownRule) => [rule.name, rule]));
}

/** Rules of a tenant once those of these names have these states, and have been evaluated after a moment. */
function rulesAfter(client: ServerClient, headers: Headers, wanted: Readonly<Record<string, string>>, after = "") {
  const holds = (rules: Readonly<Record<string, ShownRule>>) =>
    Object.entries(wanted).every(([name, health]) => rules[name]?.health === health && rules[name].lastEvaluation > after);
  return until("the rules' states", () => rulesOf(client, headers), holds, { patienceMs: PATIENCE_MS });
}

async function failuresOf(client: ServerClient): Promise<number> {
  const text = (await client.get("/metrics", await authorization("default", "super_admin"))).text;
  return Number(/^vedette_rule_evaluation_failures_total (\d+)/m.exec(text)?.[1]);
}

it("a rule that reads too many samples or takes too much memory is told, and the rules and groups beside it go on", async () => {
  const folder = bench.dataFolder();
  mkdirSync(join(folder, "rules"));
  const rules = [
    { record: "shop:beat:max", expr: "max(beat)" },
    { alert: "TooManySamples", expr: "count_over_time(dense[1h]) > 0" },
    { alert: "TooMuchMemory", expr: "count_over_time(vector(time())[1h:1ms]) > 0" },
    { alert: "Beats", expr: "shop:beat:max > 0" },
  ];
  const groups = [
    { name: "shop", interval: "1s", rules },
    { name: "beside", interval: "1s", rules: [{ alert: "Other", expr: "beat > 0" }] },
  ];
  writeFileSync(join(folder, "rules", "shop.json"), JSON.stringify({ groups }));
  const limits = { PROMQL_MAX_SAMPLES: "1000", PROMQL_MEMORY_MIB: "16" };
  const client = await started({ DATA_DIR: folder, RULES_DIR: join(folder, "rules"), ...limits });
  const headers = await authorization("default", "operator");
  const now = Date.now();
  const samples = Array.from({ length: DENSE_SAMPLES }, (_, at) => ({ value: at, time: now - DENSE_SAMPLES * 100 + at * 100 }));
  const series = [
    { labels: [["__name__", "beat"] as const, ["job", "shop"] as const], samples: [{ value: 1, time: now }] },
    { labels: [["__name__", "dense"] as const, ["job", "shop"] as const], samples },
  ];
  const body = compressSync(Buffer.from(encodeBody(series)));
  const written = await client.ask({
    method: "POST",
    path: "/api/v1/rwmetrics/write",
    headers: { ...headers, ...REMOTE_WRITE_HEADERS },
    body,
  });
  expect(written.status).toBe(204);

  const states = { "shop:beat:max": "ok", TooManySamples: "err", TooMuchMemory: "err", Beats: "ok", Other: "ok" };
  const first = await rulesAfter(client, headers, states);
  expect(first.TooManySamples?.lastError).toMatch(/too many samples .* more than 1000$/);
  expect(first.TooMuchMemory?.lastError).toMatch(/too much memory: more than 16777216 bytes$/);
  const newest = Object.values(first).reduce((last, { lastEvaluation }) => (lastEvaluation > last ? lastEvaluation : last), "");
  const again = await rulesAfter(client, headers, states, newest);
  expect(again.Other?.lastEvaluation).not.toBe(first.Other?.lastEvaluation);
  const alerts = (await client.get("/prometheus/api/v1/alerts", headers)).json().data.alerts as Array<{ labels: { alertname: string } }>;
  expect(alerts.map(({ labels }) => labels.alertname).sort()).toEqual(["Beats", "Other"]);
  expect(await failuresOf(client)).toBeGreaterThanOrEqual(4);
});

it("rules that take too long are tried less and less often, and neither their groups nor other tenants wait for them", async () => {
  const client = await started({ PROMQL_TIMEOUT_SECONDS: "1" });
  const owner = await authorization("default", "super_admin");
  expect((await client.postJson("/api/v1/tenants", { tenant_id: "small", name: "Small", plan: "pro" }, owner)).status).toBe(201);
  const [many, small] = [await authorization("default", "admin"), await authorization("small", "admin")];
  const put = async (headers: Headers, name: string, rules: readonly object[]) => {
    const path = `/api/v1/rule-groups/${name}`;
    const body = JSON.stringify({ groups: [{ name, interval: "1s", rules }] });
    const answer = await client.ask({ method: "PUT", path, headers: { ...headers, "Content-Type": "application/json" }, body });
    expect(answer.status).toBe(201);
  };
  const dear = Array.from({ length: 4 }, (_, at) => at);
  for (const at of dear) {
    await put(many, `dear-${at}`, [
      { alert: `Dear${at}`, expr: ENDLESS },
      { record: `own:${at}`, expr: `vector(${at})` },
    ]);
  }
  await put(small, "small", [{ alert: "Small", expr: "vector(1)" }]);
  let shown = await rulesAfter(client, small, { Small: "ok" });
  for (let evaluations = 0; evaluations < 3; evaluations++)
    shown = await rulesAfter(client, small, { Small: "ok" }, shown.Small?.lastEvaluation);

  const states = Object.fromEntries(dear.flatMap((at) => [[`Dear${at}`, "err"] as const, [`own:${at}`, "ok"] as const]));
  const first = await rulesAfter(client, many, states);
  for (const at of dear) expect(first[`Dear${at}`]?.lastError).toMatch(TOO_LONG);
  const again = await rulesAfter(client, many, states, first["own:0"]?.lastEvaluation);
  expect(again.Dear0?.lastError).toMatch(TOO_LONG);
});
