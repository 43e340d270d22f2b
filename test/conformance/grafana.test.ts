// What Grafana's Prometheus data source asks, in its order: on saving it, on opening the editor, on drawing a panel, in the list of alerts. One server, one feed.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compressSync } from "snappy";
import { afterAll, beforeAll, expect, it } from "vitest";
import { encodeBody, metadataField } from "../support/remote-write-body.ts";
import { ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";
import { until } from "../support/until.ts";

const API = "/prometheus/api/v1";
const STEP_S = 15;
const SAMPLES = 41;
const END = Math.floor(Date.now() / 60_000) * 60 - 120;
/** Around the feed, as a dashboard's range. */
const RANGE = { start: String(END - 700), end: `${END}.5` };
const COUNTER = 1;
const PUT = { method: "PUT" } as const;

const bench = new ServerBench();
let client: ServerClient;
let admin: Readonly<Record<string, string>>;

type Parameters = Readonly<Record<string, string | readonly string[]>>;

function formOf(parameters: Parameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, values]) => [values].flat().map((value): [string, string] => [name, value]));
  return new URLSearchParams(pairs).toString();
}

const get = (path: string, parameters: Parameters = {}) => client.get(`${API}/${path}?${formOf(parameters)}`);
const post = (path: string, parameters: Parameters) =>
  client.ask({
    method: "POST",
    path: `${API}/${path}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: formOf(parameters),
  });

async function data(answering: ReturnType<typeof get>) {
  const answer = await answering;
  expect([answer.status, answer.json().status, answer.json().warnings]).toEqual([200, "success", undefined]);
  return answer.json().data;
}

const refused = async (answering: ReturnType<typeof get>) => {
  const { status, headers, json } = await answering;
  return [status, headers["content-type"], json()];
};
const badData = (error: string) => [400, "application/json", { status: "error", errorType: "bad_data", error }];

function feed(): Uint8Array {
  const series = ["api", "web"].map((job) => ({
    labels: [
      ["__name__", "http_requests_total"],
      ["instance", `${job}:9090`],
      ["job", job],
    ] as const,
    samples: Array.from({ length: SAMPLES }, (_, index) => ({
      value: 1_000 + index * 30,
      time: (END - (SAMPLES - 1 - index) * STEP_S) * 1_000,
    })),
  }));
  return compressSync(Buffer.concat([encodeBody(series), metadataField("http_requests_total", COUNTER)]));
}

beforeAll(async () => {
  const { origin, dataDir } = await bench.start({ ENGINES: "1" });
  client = new ServerClient(origin);
  admin = { Authorization: `Bearer ${readFileSync(join(dataDir, "admin-token"), "utf8").trim()}` };
  expect((await client.postRemoteWrite(feed())).status).toBe(204);
});
afterAll(async () => {
  client?.close();
  await bench.close();
});

it("saving the data source: its health check of 1970, and a version that has label values with selectors and no ruler", async () => {
  const sum = { resultType: "scalar", result: [4, "2"] };
  expect(await data(post("query", { query: "1+1", time: "4" }))).toEqual(sum);
  expect(await data(get("query", { query: "1+1", time: "4" }))).toEqual(sum);
  const { version, features } = await data(get("status/buildinfo"));
  expect(Number(version.split(".")[0])).toBeGreaterThanOrEqual(3);
  expect(features).toBeUndefined();
});

it("the editor: names, labels, their values, series, kinds of metrics", async () => {
  const own = { "match[]": ['{job="api"}', "absent_one"] };
  expect(await data(get("label/__name__/values", { ...RANGE, limit: "40000" }))).toEqual(["http_requests_total"]);
  expect(await data(get("label/__name__/values", { ...own, ...RANGE, limit: "40000" }))).toEqual(["http_requests_total"]);
  const names = ["__name__", "instance", "job"];
  expect(await data(post("labels", { ...RANGE, limit: "40000" }))).toEqual(names);
  expect(await data(get("labels", { ...own, ...RANGE, limit: "0" }))).toEqual(names);
  expect(await data(get("label/job/values", { ...own, ...RANGE }))).toEqual(["api"]);
  const first = { __name__: "http_requests_total", instance: "api:9090", job: "api" };
  expect(await data(post("series", { ...own, ...RANGE, limit: "40000" }))).toEqual([first]);
  expect((await post("series", { "match[]": "http_requests_total", ...RANGE, limit: "1" })).json()).toEqual({
    status: "success",
    data: [first],
    warnings: ["results truncated due to limit"],
  });
  const known = { http_requests_total: [{ type: "counter", help: "", unit: "" }] };
  expect(await data(get("metadata"))).toEqual(known);
  expect(await data(get("metadata", { metric: "http_requests_total", limit: "1", limit_per_metric: "1" }))).toEqual(known);
  expect(await data(get("metadata", { limit: "-1" }))).toEqual(known);
});

it("a panel: a range by its step, whole seconds or not, a moment, exemplars; what it does not know is ignored", async () => {
  const query = 'sum by (job) (rate(http_requests_total{job=~"api|web"}[1m]))';
  const asked = { query, start: String(END - 300), end: String(END), timezone: "Europe/Berlin", utcOffsetSec: "3600" };
  const { resultType, result } = await data(post("query_range", { ...asked, step: "15" }));
  expect([resultType, result.length, result[0].metric, result[0].values.length]).toEqual(["matrix", 2, { job: "api" }, 21]);
  expect(result[0].values[0]).toEqual([END - 300, expect.stringMatching(/^(2|1\.9{8,}\d*)$/)]);
  const halves = await data(post("query_range", { ...asked, step: "0.5", end: `${END - 299}.000` }));
  expect(halves.result[0].values.map(([time]: [number]) => time - END)).toEqual([-300, -299.5, -299]);
  const table = await data(post("query", { query: "http_requests_total", time: `${END}.123` }));
  expect(table.result[1]).toEqual({
    metric: { __name__: "http_requests_total", instance: "web:9090", job: "web" },
    value: [END + 0.123, "2200"],
  });
  expect(await data(post("query_exemplars", { query, ...RANGE }))).toEqual([]);
  expect(await data(get("query_exemplars", { query: "1" }))).toEqual([]);
});

it("alerts: rules by their kind, alerts that fire", async () => {
  const rules = "  - {record: x, expr: vector(1)}\n  - {alert: Always, expr: vector(1), labels: {severity: low}}\n";
  const group = `groups:\n- name: trial\n  interval: 10s\n  rules:\n${rules}`;
  const path = "/api/v1/rule-groups/trial";
  const put = await client.ask({ ...PUT, path, headers: { ...admin, "Content-Type": "application/yaml" }, body: group });
  expect([put.status, (await client.get(path)).json().name]).toEqual([201, "trial"]);
  const firing = await until(
    "an alert",
    async () => (await data(get("alerts"))).alerts,
    (alerts) => alerts.length > 0,
  );
  expect(firing).toMatchObject([{ labels: { alertname: "Always", severity: "low" }, state: "firing", value: "1e+00" }]);
  const kinds = async (parameters: Parameters) =>
    (await data(get("rules", parameters))).groups.flatMap((one: { rules: Array<{ type: string; alerts?: unknown[] }> }) =>
      one.rules.map(({ type, alerts }) => [type, alerts?.length]),
    );
  const [recording, alerting] = [
    ["recording", undefined],
    ["alerting", 1],
  ];
  expect(await kinds({})).toEqual([recording, alerting]);
  expect(await kinds({ type: "alert" })).toEqual([alerting]);
  expect(await kinds({ type: "record" })).toEqual([recording]);
  expect(await kinds({ exclude_alerts: "TRUE", "rule_name[]": "Always", "rule_group[]": "trial" })).toEqual([["alerting", 0]]);
  const second = { ...PUT, path: "/api/v1/rule-groups/second", headers: { ...admin, "Content-Type": "application/yaml" } };
  expect((await client.ask({ ...second, body: group.replaceAll("trial", "second").replace("severity: low", "team: two") })).status).toBe(
    201,
  );
  const page = async (parameters: Parameters) => {
    const { groups, groupNextToken } = await data(get("rules", parameters));
    return [groups.map(({ name }: { name: string }) => name), groupNextToken];
  };
  const [[first], token] = (await page({ group_limit: "1" })) as [string[], string];
  expect([first, token]).toEqual(["second", createHash("sha1").update(";trial").digest("hex")]);
  expect(await page({ group_limit: "1", group_next_token: token })).toEqual([["trial"], undefined]);
  expect(await page({ group_limit: "2" })).toEqual([["second", "trial"], undefined]);
  expect(await page({ "rule_group[]": ["trial", "second", "third"] })).toEqual([["second", "trial"], undefined]);
  expect(await page({ "rule_name[]": ["x", "y"] })).toEqual([["second", "trial"], undefined]);
  expect(await page({ "file[]": "" })).toEqual([["second", "trial"], undefined]);
  expect(await page({ "file[]": "a.yml" })).toEqual([[], undefined]);
  expect(await page({ "match[]": ['{severity="low"}', '{severity="high"}'] })).toEqual([["trial"], undefined]);
  expect(await page({ "match[]": '{team=~"t.*",severity=""}', group_limit: "1" })).toEqual([["second"], undefined]);
  for (const name of ["trial", "second"])
    expect((await client.ask({ method: "DELETE", path: `/api/v1/rule-groups/${name}`, headers: admin })).status).toBe(204);
});

it("wrong parameters of rules, each as Prometheus says it", async () => {
  const token = "group_next_token";
  const refusals: ReadonlyArray<readonly [Parameters, string, string]> = [
    [{ [token]: "a" }, token, "group_limit needs to be present in order to paginate over the groups"],
    [{ [token]: "a", group_limit: "1" }, token, "invalid group_next_token 'a'. were rule groups changed?"],
    [{ group_limit: "0" }, "group_limit", "group_limit needs to be greater than 0"],
    [{ group_limit: "-1" }, "group_limit", "group_limit needs to be greater than 0"],
    [{ group_limit: "one" }, "group_limit", notNumber("one", "invalid syntax")],
    [{ group_limit: "2147483648" }, "group_limit", notNumber("2147483648", "value out of range")],
    [{ exclude_alerts: "Yes" }, "exclude_alerts", 'error converting exclude_alerts: strconv.ParseBool: parsing "yes": invalid syntax'],
    [{ type: "Alerts" }, "type", 'not supported value "alerts"'],
  ];
  for (const [parameters, name, message] of refusals)
    expect(await refused(get("rules", parameters))).toEqual(badData(`invalid parameter "${name}": ${message}`));
  expect(await refused(get("rules", { "match[]": "{" }))).toMatchObject([400, {}, { errorType: "bad_data" }]);
});

function notNumber(text: string, why: string): string {
  return `group_limit needs to be a valid number: strconv.ParseInt: parsing "${text}": ${why}`;
}

it("what is wrong, in Prometheus' form whoever answers it", async () => {
  expect(await refused(get("rules", { type: "alerts" }))).toEqual(badData('invalid parameter "type": not supported value "alerts"'));
  expect(await refused(get("rules", { exclude_alerts: "yes" }))).toEqual(
    badData('invalid parameter "exclude_alerts": error converting exclude_alerts: strconv.ParseBool: parsing "yes": invalid syntax'),
  );
  expect(await refused(get("metadata", { limit: "some" }))).toEqual(badData("limit must be a number"));
  expect(await refused(get("metadata", { limit_per_metric: "few" }))).toEqual(badData("limit_per_metric must be a number"));
  expect(await refused(post("query_exemplars", { query: "sum(", ...RANGE }))).toMatchObject([400, {}, { errorType: "bad_data" }]);
  expect(await refused(get("query_exemplars", { query: "up", start: "5", end: "4" }))).toMatchObject([400, {}, { errorType: "bad_data" }]);
  expect(await refused(get("status/config"))).toMatchObject([404, {}, { status: "error", errorType: "not_found" }]);
});
