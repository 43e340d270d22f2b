/** What senders of remote-write 2.0 see of the real server, and what both protocols share: metadata, replicas, start times. Over both HTTP adapters. */
import { compressSync } from "snappy";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ENGINES } from "../support/http-exchanges.ts";
import { encodeBody2, type Series2 } from "../support/remote-write-2-body.ts";
import { bytesField, encodeBody, varintField } from "../support/remote-write-body.ts";
import { type Answer, ServerClient } from "../support/server-client.ts";
import { ServerBench, type ServerProcess } from "../support/server-process.ts";

const WRITE = "/api/v1/rwmetrics/write";
const MESSAGE = "application/x-protobuf;proto=io.prometheus.write.v2.Request";
const COUNTER = 1;
const GAUGE = 2;
const STALE = Buffer.from([2, 0, 0, 0, 0, 0, 0xf0, 0x7f]).readDoubleLE();

/** Samples, histograms and exemplars written, as the answer says. */
function written({ headers }: Answer): unknown[] {
  return ["samples", "histograms", "exemplars"].map((what) => headers[`x-prometheus-remote-write-${what}-written`]);
}

/** A body of protobufjs, in which a NaN loses its payload, with the stale marker's bits where the value was -12345. */
function withStaleMarkers(body: Uint8Array): Uint8Array {
  const marked = Buffer.from(body);
  const stand = Buffer.from(new Float64Array([-12345]).buffer);
  const stale = Buffer.from([2, 0, 0, 0, 0, 0, 0xf0, 0x7f]);
  for (let at = marked.indexOf(stand); at >= 0; at = marked.indexOf(stand, at + 1)) stale.copy(marked, at);
  return marked;
}

describe.each(ENGINES)("remote-write over $kind", ({ kind, skipped }) => {
  const bench = new ServerBench();
  let server: ServerProcess;
  let client: ServerClient;
  let folder: string;
  const check = it.skipIf(skipped);
  const start = async () => {
    server = await bench.start({ HTTP_ENGINE: kind, DATA_DIR: folder, ENGINES: "2", LOG_LEVEL: "debug" });
    client = new ServerClient(server.origin);
  };
  beforeAll(async () => {
    if (skipped) return;
    folder = bench.dataFolder();
    await start();
  });
  afterAll(async () => {
    client?.close();
    await bench.close();
  });

  const post = (body: Uint8Array, headers: Record<string, string> = {}) =>
    client.ask({
      method: "POST",
      path: WRITE,
      headers: { "Content-Type": MESSAGE, "Content-Encoding": "snappy", "X-Prometheus-Remote-Write-Version": "2.0.0", ...headers },
      body: compressSync(Buffer.from(body)),
    });
  const post2 = (series: readonly Series2[]) => post(encodeBody2(series));
  const listed = async (service: string) => (await client.get(`/api/v1/series?limit=1000&service_id=${service}`)).json().series;
  const values = async (service: string, metric: string): Promise<number[]> =>
    (await client.get(`/api/v1/series/data?service_id=${service}&metric_name=${metric}&limit=10000`))
      .json()
      .points.map(({ value }: { value: number }) => value);
  const one = (metric: string, job: string, samples: Series2["samples"], more: Partial<Series2> = {}): Series2 => ({
    labels: [
      ["__name__", metric],
      ["job", job],
      ["instance", "i"],
    ],
    samples,
    ...more,
  });

  check("takes a request, says what was written, and finds the same streams as 1.0", async () => {
    const time = Date.now();
    const answer = await post2([
      one("a", "both", [{ value: 1, time }]),
      one("b", "both", [
        { value: 2, time: time - 1 },
        { value: 3, time },
      ]),
    ]);
    expect([answer.status, answer.text, ...written(answer)]).toEqual([204, "", "3", "0", "0"]);
    const older = one("a", "both", [{ value: 4, time: time + 1 }]);
    expect((await client.postRemoteWrite(compressSync(Buffer.from(encodeBody([older]))))).headers).not.toHaveProperty(
      "x-prometheus-remote-write-samples-written",
    );
    expect(await listed("both")).toMatchObject([
      { metric_name: "a", samples: 2, last_value: 4, attributes: { instance: "i" } },
      { metric_name: "b", samples: 2, last_value: 3 },
    ]);
  });

  check("reads the message from Content-Type alone, with any version header or none", async () => {
    const body = encodeBody2([one("a", "headers", [{ value: 1, time: Date.now() }])]);
    for (const headers of [
      { "Content-Type": 'Application/X-Protobuf ; proto="io.prometheus.write.v2.Request"' },
      { "X-Prometheus-Remote-Write-Version": "0.1.0" },
      { "X-Metrics-Remote-Write-Version": "9" },
    ])
      expect(written(await post(body, headers))).toEqual(["1", "0", "0"]);
    const first = encodeBody([one("a", "headers", [{ value: 1, time: Date.now() }])]);
    for (const type of ["application/x-protobuf", "application/x-protobuf;proto=prometheus.WriteRequest"])
      expect((await post(first, { "Content-Type": type })).status).toBe(204);
    for (const type of ["application/x-protobuf;proto=prometheus.Other", "application/json", "application/x-protobuf2"]) {
      const refused = await post(body, { "Content-Type": type });
      expect([refused.status, refused.json().error]).toEqual([415, "unsupported_media_type"]);
    }
    const encoded = await post(body, { "Content-Encoding": "zstd" });
    expect([encoded.status, ...written(encoded)]).toEqual([415, "0", "0", "0"]);
  });

  check("keeps the valid samples, says 400 and what was written; whole-body errors wrote nothing", async () => {
    const time = Date.now();
    const answer = await post2([
      one(
        "kept",
        "partly2",
        [
          { value: 1, time },
          { value: Number.NaN, time: time + 1 },
        ],
        { exemplars: 2 },
      ),
      one("infinite", "partly2", [
        { value: Number.POSITIVE_INFINITY, time },
        { value: 5, time: time + 1 },
      ]),
      { labels: [["job", "partly2"]], samples: [{ value: 1, time }] },
    ]);
    expect([answer.status, answer.json().error, ...written(answer)]).toEqual([400, "missing_metric_name", "4", "0", "0"]);
    expect(answer.json().message).toMatch(/^1 of 5 samples were refused, the others are stored; the first: /);
    const damaged = await post(Uint8Array.from([0x2a, 0x05, 0x0a]));
    expect([damaged.status, damaged.json().error, ...written(damaged)]).toEqual([400, "invalid_protobuf", "0", "0", "0"]);
    const refs = Uint8Array.from(bytesField(5, [...bytesField(1, [7, 8]), ...bytesField(2, varintField(2, time))]));
    const beyond = await post(refs);
    expect([beyond.status, beyond.json().error, ...written(beyond)]).toEqual([400, "missing_metric_name", "0", "0", "0"]);
    expect(await values("partly2", "kept")).toEqual([1]);
  });

  check("a NaN of a summary's quantile is no observation: 204, nothing judged, no dead letter; in 1.0 too", async () => {
    const before = await client.metric('vedette_samples_unobserved_total{engine="0"}');
    const letters = (await client.get("/api/v1/debug/dlq-stats")).json().total_failed;
    const time = Date.now();
    const plain = one("gc_seconds", "unobserved", [{ value: Number.NaN, time }]);
    const series = { ...plain, labels: [...plain.labels, ["quantile", "0.5"]] } as Series2;
    const answer = await post2([series]);
    expect([answer.status, ...written(answer)]).toEqual([204, "1", "0", "0"]);
    expect((await client.postRemoteWrite(compressSync(Buffer.from(encodeBody([series]))))).status).toBe(204);
    await expect
      .poll(async () =>
        (await Promise.all([0, 1].map((engine) => client.metric(`vedette_samples_unobserved_total{engine="${engine}"}`)))).reduce(
          (a, b) => a + b,
        ),
      )
      .toBeGreaterThanOrEqual(before + 2);
    expect(await values("unobserved", "gc_seconds")).toEqual([]);
    expect((await client.get("/api/v1/debug/dlq-stats")).json().total_failed).toBe(letters);
  });

  check(
    "what is not finite is no failure and no dead letter: it is read as it was sent, and nothing else sees it; in 1.0 too",
    async () => {
      const letters = async () => (await client.get("/api/v1/debug/dlq-stats")).json().total_failed;
      const before = await letters();
      const time = Date.now();
      const samples = [
        { value: Number.NaN, time: time - 2000 },
        { value: 3, time: time - 1000 },
        { value: Number.NEGATIVE_INFINITY, time },
      ];
      const second = await post2([one("ratio", "broken2", samples)]);
      expect([second.status, ...written(second)]).toEqual([204, "3", "0", "0"]);
      const first = await client.postRemoteWrite(compressSync(Buffer.from(encodeBody([one("ratio", "broken1", samples)]))));
      expect([first.status, first.text]).toEqual([204, ""]);
      for (const service of ["broken1", "broken2"]) {
        expect(await values(service, "ratio")).toEqual([3]);
        const query = encodeURIComponent(`ratio{job="${service}"}[1m]`);
        const { result } = (await client.get(`/prometheus/api/v1/query?query=${query}&time=${(time + 10) / 1000}`)).json().data;
        expect(result.map(({ values: read }: { values: Array<[number, string]> }) => read.map(([, value]) => value))).toEqual([
          ["NaN", "3", "-Inf"],
        ]);
      }
      expect(await letters()).toBe(before);
    },
  );

  check("stale markers end a stream, repeated and late samples change nothing", async () => {
    const time = Date.now();
    const send = async (...samples: Series2["samples"][number][]) =>
      expect((await post(withStaleMarkers(encodeBody2([one("g", "stale2", samples)])))).status).toBe(204);
    expect(Number.isNaN(STALE)).toBe(true);
    await send({ value: 1, time: time - 3000 }, { value: 2, time: time - 1000 });
    await send({ value: 2, time: time - 1000 });
    await send({ value: 7, time: time - 2000 });
    await send({ value: -12345, time });
    expect(await listed("stale2")).toMatchObject([{ ended: true, last_value: 2 }]);
    expect(await values("stale2", "g")).toEqual([1, 7, 2]);
  });

  check("a counter that tells its start: a young one counts at once, one that began anew is a reset though it did not fall", async () => {
    const time = Date.now() - 60_000;
    const send = (offset: number, value: number, begun: number) =>
      post2([one("jobs_total", "starts", [{ value, time: time + offset, start: time + begun }])]);
    await send(0, 5, -30_000);
    await send(10_000, 8, -30_000);
    await send(20_000, 9, 15_000);
    await send(30_000, 11, 15_000);
    expect(await values("starts", "jobs_total")).toEqual([5, 3, 9, 2]);
    await post2([one("old_total", "starts", [{ value: 100, time }], { created: time - 10 * 60_000 })]);
    await post2([one("old_total", "starts", [{ value: 107, time: time + 1000 }], { created: time - 10 * 60_000 })]);
    expect(await values("starts", "old_total")).toEqual([7]);
  });

  check("metadata decide what counts, are shown with the series, and survive kill -9", async () => {
    const time = Date.now() - 10_000;
    const send = (offset: number, value: number) =>
      post2([
        one("depth_total", "told", [{ value, time: time + offset }], { metadata: { type: GAUGE, help: "Depth.", unit: "items" } }),
        one("requests", "told", [{ value, time: time + offset }], { metadata: { type: COUNTER, help: "", unit: "" } }),
      ]);
    await send(0, 10);
    await send(1000, 12);
    const expected = [
      { metric_name: "depth_total", kind: "gauge", type: "gauge", unit: "items", samples: 2 },
      { metric_name: "requests", kind: "counter", type: "counter", unit: "", samples: 1 },
    ];
    await expect.poll(async () => listed("told")).toMatchObject(expected);
    await server.kill();
    client.close();
    await start();
    expect(await listed("told")).toMatchObject(expected);
    // 1.0 has no metadata beside its samples: what was told before decides, in the new process too.
    const body = encodeBody([
      one("depth_total", "told", [{ value: 5, time: time + 2000 }]),
      one("requests", "told", [{ value: 20, time: time + 2000 }]),
    ]);
    expect((await client.postRemoteWrite(compressSync(Buffer.from(body)))).status).toBe(204);
    expect([await values("told", "depth_total"), await values("told", "requests")]).toEqual([
      [10, 12, 5],
      [2, 8],
    ]);
  });

  check("metadata messages of 1.0 turn a series that was taken for a counter into a gauge", async () => {
    const time = Date.now() - 10_000;
    const send = (offset: number, value: number) =>
      client.postRemoteWrite(compressSync(Buffer.from(encodeBody([one("late_count", "messages", [{ value, time: time + offset }])]))));
    await send(0, 10);
    await send(1000, 14);
    expect(await listed("messages")).toMatchObject([{ kind: "counter", type: null }]);
    const text = new TextEncoder();
    const message = bytesField(3, [
      ...varintField(1, GAUGE),
      ...bytesField(2, text.encode("late_count")),
      ...bytesField(5, text.encode("s")),
    ]);
    expect((await client.postRemoteWrite(compressSync(Buffer.from(message)))).status).toBe(204);
    // The series takes the type with its next sample; until then its type stays that of its kind.
    await expect
      .poll(async () => {
        await send(2000 + (Date.now() % 5000), 15);
        return (await listed("messages"))[0].kind;
      })
      .toBe("gauge");
    expect(await listed("messages")).toMatchObject([{ kind: "gauge", type: "gauge" }]);
    expect((await values("messages", "late_count")).at(-1)).toBe(15);
  });

  check("of two replicas one is taken, under an identity without the label; in both protocols", async () => {
    const time = Date.now() - 20_000;
    const from = (replica: Record<string, string>, offset: number, value: number): Series2 => {
      const series = one("paired", "pairs", [{ value, time: time + offset }]);
      return { ...series, labels: [...series.labels, ["cluster", "eu"], ...Object.entries(replica)] };
    };
    const answers = [
      await post2([from({ __replica__: "a" }, 0, 1)]),
      await post2([from({ __replica__: "b" }, 500, 100)]),
      await post2([from({ __replica__: "a" }, 1000, 2)]),
    ];
    expect(answers.map((answer) => [answer.status, ...written(answer)])).toEqual(Array.from({ length: 3 }, () => [204, "1", "0", "0"]));
    for (const [replica, offset] of [
      ["b", 1500],
      ["a", 2000],
    ] as const) {
      const body = encodeBody([from({ __replica__: replica }, offset, replica === "a" ? 3 : 200)]);
      expect((await client.postRemoteWrite(compressSync(Buffer.from(body)))).status).toBe(204);
    }
    expect(await listed("pairs")).toMatchObject([{ attributes: { cluster: "eu", instance: "i" }, samples: 3 }]);
    expect(await values("pairs", "paired")).toEqual([1, 2, 3]);
  });

  check("native histograms become series of their quantiles; what they lack is said of each", async () => {
    const time = Date.now() - 20_000;
    const histogram = (offset: number, counts: readonly [number, number], more: object = {}) => ({
      countInt: counts[0] + counts[1],
      sum: 1.5,
      schema: 3,
      positiveSpans: [{ offset: 1, length: 2 }],
      positiveDeltas: [counts[0], counts[1] - counts[0]],
      timestamp: time + offset,
      ...more,
    });
    const series = (histograms: object[]) => post2([one("h", "native", [], { histograms })]);
    const answer = await post2([
      one("h", "native", [], { histograms: [histogram(0, [1, 2]), histogram(1000, [3, 4])] }),
      one("g", "native", [{ value: 1, time }]),
    ]);
    expect([answer.status, ...written(answer)]).toEqual([204, "1", "2", "0"]);
    await expect
      .poll(async () => (await listed("native")).map(({ metric_name }: { metric_name: string }) => metric_name))
      .toContain("h.p95");
    const [median] = await values("native", "h.p50");
    // Half of the four new values lie in the first bucket, which ends at the base 2^(1/8).
    expect(median).toBeGreaterThan(1);
    expect(median).toBeLessThanOrEqual(2 ** (1 / 8) + 1e-9);
    const refused = await series([histogram(2000, [4, 4], { schema: 77 }), histogram(3000, [5, 5]), histogram(-25 * 3_600_000, [1, 1])]);
    expect([refused.status, refused.json().error, ...written(refused)]).toEqual([400, "invalid_value", "0", "1", "0"]);
    expect(refused.json().message).toMatch(/^2 of 3 samples were refused.*a native histogram of h cannot be taken: its schema is 77/);
  });
});
