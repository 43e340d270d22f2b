// Prometheus' HTTP API over what is stored, on the real server: one server, series of its own for each test.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { encodeBody } from "../support/remote-write-body.ts";
import { REMOTE_WRITE_HEADERS, ServerClient } from "../support/server-client.ts";
import { ServerBench } from "../support/server-process.ts";

const API = "/prometheus/api/v1";
const MINUTE_S = 60;
/** A minute's beginning, a little ago. */
const END = Math.floor(Date.now() / 1_000 / MINUTE_S) * MINUTE_S - 2 * MINUTE_S;
const STEP_S = 15;

const bench = new ServerBench();
let client: ServerClient;
let dataDir: string;
let origin: string;

beforeAll(async () => {
  const server = await bench.start({ ENGINES: "2" });
  ({ origin } = server);
  client = new ServerClient(origin);
  dataDir = server.dataDir;
});
afterAll(async () => {
  client?.close();
  await bench.close();
});

interface Sent {
  readonly service: string;
  readonly metric: string;
  readonly values: readonly number[];
  readonly attributes?: Readonly<Record<string, string>>;
}

/** Sends values a step apart, the last at END. */
async function send(...series: readonly Sent[]): Promise<void> {
  const records = series.flatMap(({ service, metric, values, attributes = {} }) =>
    values.map((value, index) => ({
      service_id: service,
      metric_name: metric,
      value,
      attributes,
      timestamp: new Date((END - (values.length - 1 - index) * STEP_S) * 1_000).toISOString(),
    })),
  );
  for (let from = 0; from < records.length; from += 500) {
    expect((await client.postJson("/api/v1/telemetry/batch", records.slice(from, from + 500))).json()).toMatchObject({ failed: 0 });
  }
}

type Parameters = ReadonlyArray<readonly [string, string]>;
const text = (parameters: Parameters) => new URLSearchParams(parameters.map(([name, value]): [string, string] => [name, value])).toString();
const get = (path: string, parameters: Parameters = []) => client.get(`${API}/${path}?${text(parameters)}`);
const post = (path: string, parameters: Parameters) =>
  client.ask({
    method: "POST",
    path: `${API}/${path}`,
    headers: { "Content-Type": "application/x-www-form-urlencoded" },
    body: text(parameters),
  });
const at = (query: string, time = END): Parameters => [
  ["query", query],
  ["time", String(time)],
];
async function vector(query: string, time = END): Promise<Array<[labels: Record<string, string>, value: string]>> {
  const answer = await get("query", at(query, time));
  expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('"vector"')]);
  return answer
    .json()
    .data.result.map(({ metric, value }: { metric: Record<string, string>; value: [number, string] }) => [metric, value[1]]);
}

describe("queries", () => {
  it("answer numbers and texts without any series, as Grafana asks whether all is well", async () => {
    expect(
      (
        await get("query", [
          ["query", "1+1"],
          ["time", "4"],
        ])
      ).json(),
    ).toEqual({
      status: "success",
      data: { resultType: "scalar", result: [4, "2"] },
    });
    const special = await get("query", at('label_replace(vector(1/0), "a", "-", "", "") or label_replace(vector(0/0), "a", "+", "", "")'));
    expect(special.json().data.result.map(({ value }: { value: unknown[] }) => value[1])).toEqual(["+Inf", "NaN"]);
    expect((await get("query", at('"x"', 4))).json().data).toEqual({ resultType: "string", result: [4, "x"] });
  });

  it("find series by service, attributes and names of other characters, and take five minutes of 15 s for 20 samples", async () => {
    const values = Array.from({ length: 41 }, (_, index) => index);
    await send(
      { service: "find-a", metric: "depth", values, attributes: { zone: "a", "http.route": "/x" } },
      { service: "find-b", metric: "depth", values: values.map((value) => 100 + value), attributes: { zone: "b" } },
    );
    const a = { __name__: "depth", service_id: "find-a", zone: "a", "http.route": "/x" };
    expect(await vector('depth{service_id="find-a"}')).toEqual([[a, "40"]]);
    expect(await vector('{service_id=~"find-.", "http.route"="/x"}')).toEqual([[a, "40"]]);
    expect(await vector('count_over_time(depth{service_id="find-b"}[5m])')).toEqual([[{ service_id: "find-b", zone: "b" }, "20"]]);
    expect(await vector('sum by (service_id) (depth{service_id=~"find-.*"})')).toEqual([
      [{ service_id: "find-a" }, "40"],
      [{ service_id: "find-b" }, "140"],
    ]);
    expect(await vector('depth{service_id="find-a"}', END + 300)).toEqual([]);
    expect(await vector('depth{service_id="find-a"}', END + 299)).toHaveLength(1);
  });

  it("read what left the ring, in stored blocks or on the way there", async () => {
    const values = Array.from({ length: 1_000 }, (_, index) => index);
    await send({ service: "long", metric: "depth", values });
    expect(await vector('count_over_time(depth{service_id="long"}[5h])')).toEqual([[{ service_id: "long" }, "1000"]]);
    expect(await vector('sum_over_time(depth{service_id="long"}[5h])')).toEqual([[{ service_id: "long" }, "499500"]]);
    const range = await post("query_range", [
      ["query", 'depth{service_id="long"}'],
      ["start", String(END - 999 * STEP_S)],
      ["end", new Date(END * 1_000).toISOString()],
      ["step", "15s"],
    ]);
    const [{ values: points }] = range.json().data.result;
    expect(points).toEqual(values.map((value) => [END - (999 - value) * STEP_S, String(value)]));
  });

  it("have counters as they were sent, with their resets", async () => {
    const values = [1_000, 1_015, 1_030, 1_045, 1_060, 10, 25];
    const labels = [
      ["__name__", "requests_total"],
      ["service_id", "counted"],
    ] as const;
    const samples = values.map((value, index) => ({ value, time: (END - (values.length - 1 - index) * STEP_S) * 1_000 }));
    const body = compressSync(Buffer.from(encodeBody([{ labels, samples }])));
    expect((await client.ask({ method: "POST", path: "/api/v1/rwmetrics/write", headers: REMOTE_WRITE_HEADERS, body })).status).toBe(204);
    const own = 'requests_total{service_id="counted"}';
    expect(await vector(own)).toEqual([[{ __name__: "requests_total", service_id: "counted" }, "25"]]);
    expect(await vector(`first_over_time(${own}[5m])`)).toEqual([[expect.anything(), "1000"]]);
    expect(await vector(`resets(${own}[5m])`)).toEqual([[expect.anything(), "1"]]);
    expect(await vector(`sum_over_time(${own}[5m])`)).toEqual([[expect.anything(), "5185"]]);
    const { warnings } = (await get("query", at(`rate(${own}[5m])`))).json();
    expect(warnings).toBeUndefined();
  });

  it("read history that was imported as remote-write, of whatever age, once where it was sent twice", async () => {
    const labels = [
      ["__name__", "old_requests_total"],
      ["job", "past"],
      ["zone", "b"],
    ] as const;
    const atS = END - 20 * 86_400;
    const samples = [10, 25, 5].map((value, index) => ({ time: (atS - (2 - index) * STEP_S) * 1_000, value }));
    const token = readFileSync(join(dataDir, "admin-token"), "utf8").trim();
    const body = compressSync(Buffer.from(encodeBody([{ labels, samples }])));
    const headers = { "Content-Type": "application/x-protobuf", "Content-Encoding": "snappy", Authorization: `Bearer ${token}` };
    for (let time = 0; time < 2; time++) {
      const answer = await client.ask({ method: "POST", path: "/api/v1/import", headers, body });
      expect(answer.json()).toEqual({ status: "ok", imported: 3, series: 1, failed: 0, failures: [] });
    }
    const query = (expression: string) =>
      get("query", [
        ["query", expression],
        ["time", String(atS)],
      ]).then((answer) => answer.json().data.result);
    expect(await query("old_requests_total[1m]")).toEqual([
      { metric: Object.fromEntries(labels), values: samples.map(({ time, value }) => [time / 1_000, String(value)]) },
    ]);
    expect(await query('resets(old_requests_total{job="past"}[1m])')).toMatchObject([{ value: [atS, "1"] }]);
  });

  it("say what is wrong in Prometheus' words", async () => {
    const range = (step: string): Parameters => [
      ["query", "up"],
      ["start", "0"],
      ["end", "110000"],
      ["step", step],
    ];
    const refused = async (path: string, parameters: Parameters) => {
      const answer = await get(path, parameters);
      return [answer.status, answer.json()];
    };
    const bad = (error: string) => [400, { status: "error", errorType: "bad_data", error }];
    expect(await refused("query", at("sum("))).toEqual(bad('invalid parameter "query": 1:5: parse error: unclosed left parenthesis'));
    expect(
      await refused("query", [
        ["query", "1"],
        ["time", "then"],
      ]),
    ).toEqual(bad('invalid parameter "time": cannot parse "then" to a valid timestamp'));
    expect(await refused("query_range", range("x"))).toEqual(bad('invalid parameter "step": cannot parse "x" to a valid duration'));
    expect(await refused("query_range", range("0"))).toEqual(
      bad('invalid parameter "step": zero or negative query resolution step widths are not accepted. Try a positive integer'),
    );
    expect(await refused("query_range", range("9"))).toEqual(
      bad("exceeded maximum resolution of 11,000 points per timeseries. Try decreasing the query resolution (?step=XX)"),
    );
    expect(await refused("series", [])).toEqual(bad("no match[] parameter provided"));
    expect(await refused("nothing", [])).toEqual([404, expect.objectContaining({ status: "error", errorType: "not_found" })]);
  });

  it("tell infos with their place, and how much was read where asked", async () => {
    await send({ service: "told", metric: "heat", values: [1, 2, 3] });
    const { infos, data } = (await get("query", [...at('rate(heat{service_id="told"}[5m])'), ["stats", "all"]])).json();
    expect(infos).toEqual(['PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "heat" (1:6)']);
    expect(data.stats.samples.totalQueryableSamples).toBe(3);
  });
});

describe("lists", () => {
  it("name labels, values and series, cut where asked", async () => {
    await send(
      { service: "list-a", metric: "width", values: [1], attributes: { "a.b": "1" } },
      { service: "list-b", metric: "height", values: [1], attributes: { c: "2" } },
    );
    const own = ["match[]", '{service_id=~"list-.*"}'] as const;
    expect((await post("labels", [own])).json().data).toEqual(["__name__", "a.b", "c", "service_id"]);
    expect((await get("label/U__a_2e_b/values", [own])).json().data).toEqual(["1"]);
    expect((await get("label/__name__/values", [own])).json().data).toEqual(["height", "width"]);
    const both: Parameters = [
      ["match[]", "width"],
      ["match[]", "height"],
    ];
    expect((await get("series", both)).json().data).toEqual([
      { __name__: "height", service_id: "list-b", c: "2" },
      { __name__: "width", service_id: "list-a", "a.b": "1" },
    ]);
    expect((await get("series", [...both, ["limit", "1"]])).json()).toMatchObject({
      data: [{ __name__: "height" }],
      warnings: ["results truncated due to limit"],
    });
    expect((await get("series", [...both, ["start", "4"], ["end", "5"]])).json().data).toEqual([]);
  });

  it("are empty where nothing is kept", async () => {
    expect((await get("rules")).json().data).toEqual({ groups: [] });
    expect((await get("alerts")).json().data).toEqual({ alerts: [] });
    expect((await get("query_exemplars", [["query", "up"]])).json().data).toEqual([]);
  });
});

describe("credentials", () => {
  it("a key is taken as a password too, here and nowhere else", async () => {
    const basic = (password: string) => ({ Authorization: `Basic ${Buffer.from(`grafana:${password}`).toString("base64")}` });
    expect((await client.get(`${API}/query?query=1`, basic("wrong"))).status).toBe(401);
    const token = readFileSync(join(dataDir, "admin-token"), "utf8").trim();
    expect((await client.get(`${API}/query?query=1`, basic(token))).status).toBe(200);
    expect((await client.get("/api/v1/series", basic(token))).status).toBe(401);
  });
});

describe("bounds", () => {
  let small: ServerClient;
  const ask = async (path: string, parameters: Parameters) => {
    const answer = await small.get(`${API}/${path}?${text(parameters)}`);
    return [answer.status, answer.json()];
  };

  beforeAll(async () => {
    const settings = { PROMQL_MAX_SAMPLES: "1000", PROMQL_MEMORY_MIB: "16", PROMQL_TIMEOUT_SECONDS: "5" };
    small = new ServerClient((await bench.start({ ENGINES: "1", ...settings })).origin);
  });
  afterAll(() => small?.close());

  it("a query that would take too much is answered 422 with what was too much, and one after it is answered", async () => {
    const timestamp = new Date(END * 1_000).toISOString();
    const records = Array.from({ length: 250 }, (_, index) => ({ service_id: "many", metric_name: `m${index}`, value: 1, timestamp }));
    expect((await small.postJson("/api/v1/telemetry/batch", records)).json()).toMatchObject({ failed: 0 });
    const over = (error: string) => [422, { status: "error", errorType: "execution", error: expect.stringContaining(error) }];
    const fivefold = Array.from({ length: 5 }, () => 'count({service_id="many"})').join("+");
    expect(await ask("query", at(fivefold))).toEqual(over("too many samples"));
    const wide: Parameters = [
      ["query", '{service_id="many"}'],
      ["start", String(END)],
      ["end", String(END + 10_000)],
      ["step", "1"],
      ["lookback_delta", "1d"],
    ];
    expect(await ask("query_range", wide)).toEqual(over("too much memory"));
    const late = [503, { status: "error", errorType: "timeout", error: expect.stringContaining("timed out") }];
    expect(await ask("query", [...at('{service_id="many"}'), ["timeout", "0.000001"]])).toEqual(late);
    expect(await ask("query", at('count({service_id="many"})'))).toEqual([200, expect.objectContaining({ status: "success" })]);
  });

  it("a client that goes away ends its query: the next need not wait for its end", async () => {
    const endless = "max_over_time(sum_over_time(vector(1)[1d:1s])[1d:1s])";
    const leaving = new AbortController();
    const gone = fetch(`${origin}${API}/query?${text(at(endless))}`, { signal: leaving.signal });
    const waits = get("query", at("1"));
    leaving.abort();
    await expect(gone).rejects.toThrow();
    expect((await waits).status).toBe(200);
  });
});
