import { describe, expect, it } from "vitest";
import { bucketMeans, expectationAt } from "../../../../src/domain/detection/expected-values.ts";
import { ratioForZ } from "../../../../src/domain/detection/thresholds.ts";
import { windowStatistics } from "../../../../src/domain/detection/welford.ts";
import { partitionOf } from "../../../../src/domain/placement/partition.ts";
import { rangeOfMetric } from "../../../../src/domain/series/metric-range.ts";
import { chunkBlock } from "../../../support/chunk-block.ts";
import { block, checkpoint, DAY_MS, episode, type FakeStream, Rig, record, START_MS, stream } from "../../../support/coordinator-rig.ts";
import { sampleChunk } from "../../../support/sample-chunk.ts";

const at = (seconds: number) => new Date(START_MS + seconds * 1000).toISOString();

function chunk(times: readonly number[], values: readonly number[]): Uint8Array {
  return sampleChunk(Float64Array.from(times), Float64Array.from(values));
}

/** Puts a stream into the engine that owns its service. */
function hold(rig: Rig, held: FakeStream): void {
  rig.engines[partitionOf(held.summary.tenant, held.summary.serviceId) % rig.engines.length]?.streams.push(held);
}

describe("the list of series", () => {
  const filled = async () => {
    const rig = await Rig.open({ engines: 3 });
    for (let service = 0; service < 12; service++) {
      for (const metricName of ["a", "b"]) {
        for (const environment of ["", "prod"])
          hold(rig, stream({ serviceId: `s${service}`, metricName, environment, attributes: { z: "1", a: 2 } }));
      }
    }
    hold(rig, stream({ tenant: "other" }));
    return rig;
  };
  const key = (row: { service_id: string; metric_name: string; environment: string }) =>
    `${row.service_id} ${row.metric_name} ${row.environment}`;

  it("merges the pages of all engines in order, page by page", async () => {
    const rig = await filled();
    const whole = (await rig.ask("series", { limit: "1000" })).body;
    expect(whole).toMatchObject({ total: 48, page_token: "" });
    expect(whole.series.map(key)).toEqual([...whole.series.map(key)].sort());
    const seen: string[] = [];
    let token = "";
    do {
      const { body } = await rig.ask("series", { limit: "5", page_token: token });
      expect(body.total).toBe(48);
      seen.push(...body.series.map(key));
      token = body.page_token;
      hold(rig, stream({ serviceId: "a0", metricName: `m${seen.length}`, tenant: "other" }));
    } while (token !== "");
    expect(seen).toEqual(whole.series.map(key));
  });

  const filters = (query: Record<string, string>, total: number) =>
    it(`with ${JSON.stringify(query)} has ${total}`, async () =>
      expect((await (await filled()).ask("series", query)).body.total).toBe(total));
  filters({ service_id: "s3" }, 4);
  filters({ metric_name: "a" }, 24);
  filters({ environment: "prod" }, 24);
  filters({ environment: "" }, 24);
  filters({ service_id: "s3", metric_name: "b", environment: "prod" }, 1);
  filters({ service_id: "s" }, 0);

  it("says what the contract names of each", async () => {
    const rig = await Rig.open();
    hold(
      rig,
      stream(
        { kind: "counter", samples: 9, firstTimeMs: START_MS - 2 * DAY_MS, attributes: { zone: "a" } },
        { times: [START_MS], values: [2.5] },
      ),
    );
    hold(rig, stream({ serviceId: "zz" }));
    expect((await rig.ask("series")).body.series).toMatchObject([
      {
        service_id: "checkout",
        metric_name: "latency_ms",
        environment: "prod",
        attributes: { zone: "a" },
        kind: "counter",
        samples: 9,
        last_value: 2.5,
        last_timestamp: at(0),
        maturity: "settling",
      },
      { service_id: "zz", last_value: null, last_timestamp: null, maturity: "young" },
    ]);
  });

  it("is refused with 503 when an engine does not answer, and with 400 for a token of other filters", async () => {
    const rig = await filled();
    const { page_token } = (await rig.ask("series", { limit: "5" })).body;
    expect((await rig.ask("series", { metric_name: "a", page_token })).body).toMatchObject({ error: "invalid_page_token" });
    for (const engine of rig.engines.slice(1, 2)) engine.isDead = true;
    expect(await rig.ask("series")).toMatchObject({ status: 503, body: { error: "overloaded" } });
  });
});

describe("the data of a series", () => {
  const ask = { service_id: "checkout", metric_name: "latency_ms" };
  /** 700 samples a second apart: 0..399 in four blocks, 400..599 in pending chunks, 580..699 in the ring (so that both hold 580..599). */
  const filled = async () => {
    const rig = await Rig.open({ engines: 3 });
    const times = Array.from({ length: 700 }, (_, i) => START_MS + i * 1000);
    const values = times.map((_, i) => i % 10);
    const part = (from: number, to: number) => chunk(times.slice(from, to), values.slice(from, to));
    const partition = partitionOf("default", "checkout");
    const held = stream(
      { lastTimeMs: times[699] ?? null },
      { times: times.slice(580), values: values.slice(580), partition, pendingChunks: [part(400, 500), part(500, 600)] },
    );
    hold(rig, held);
    const other = new Uint8Array(16).fill(1);
    for (let number = 0; number < 4; number++) {
      const from = number * 100;
      const chunks = [
        { streamId: held.streamId, firstMs: times[from] as number, lastMs: times[from + 99] as number, chunk: part(from, from + 100) },
      ];
      chunks.push({ streamId: other, firstMs: START_MS, lastMs: START_MS, chunk: chunk([START_MS], [99]) });
      rig.engines[0]?.frames.push(block(partition, number, chunkBlock(chunks)));
    }
    await rig.drain();
    return { rig, times, values, held, partition };
  };
  const numbers = (body: { points: Array<{ timestamp: string }> }) =>
    body.points.map(({ timestamp }) => (Date.parse(timestamp) - START_MS) / 1000);
  const run = (from: number, to: number) => Array.from({ length: to - from }, (_, i) => from + i);

  it("joins blocks, pending chunks and ring, ascending, each time once", async () => {
    const { rig, values } = await filled();
    const { body } = await rig.ask("seriesData", ask);
    expect(numbers(body)).toEqual(run(0, 700));
    expect(body.points.map((point: { value: number }) => point.value)).toEqual(values);
    expect(body).toMatchObject({
      service_id: "checkout",
      metric_name: "latency_ms",
      environment: "prod",
      attributes: {},
      resolution: "raw",
      matches: 1,
      complete: true,
    });
  });

  const ranges = (query: Record<string, string>, from: number, to: number) =>
    it(`with ${JSON.stringify(query)} is ${from} to ${to}`, async () =>
      expect(numbers((await (await filled()).rig.ask("seriesData", { ...ask, ...query })).body)).toEqual(run(from, to)));
  ranges({ limit: "10" }, 690, 700);
  ranges({ until: at(350), limit: "7" }, 343, 350);
  ranges({ since: at(95), until: at(105) }, 95, 105);
  ranges({ since: at(690) }, 690, 700);
  ranges({ since: at(100), limit: "3" }, 697, 700);
  ranges({ since: at(900) }, 0, 0);
  ranges({ until: at(0) }, 0, 0);

  it("has the bounds of the values before, wherever the page begins", async () => {
    const { rig, values } = await filled();
    const { body } = await rig.ask("seriesData", { ...ask, since: at(300), until: at(302) });
    const { mean, variance } = windowStatistics(Float64Array.from(values.slice(180, 300)));
    expect(body.points[0]).toMatchObject({
      expected: mean,
      lower: Math.max(0, mean - ratioForZ(2.7, 120) * Math.sqrt(variance as number)),
      upper: mean + ratioForZ(2.7, 120) * Math.sqrt(variance as number),
      judged_by: "statistical",
      // Values of seconds are looked at by the minute.
      adaptive: null,
    });
    const first = (await rig.ask("seriesData", { ...ask, until: at(13) })).body.points;
    expect(first.map((point: { expected: number | null }) => point.expected === null)).toEqual([...Array(12).fill(true), false]);
  });

  it("takes the newer place where two hold the same time, and merges late values", async () => {
    const { rig, held, partition } = await filled();
    const late = { streamId: held.streamId, firstMs: START_MS + 50_500, lastMs: START_MS + 50_500, chunk: chunk([START_MS + 50_500], [7]) };
    const again = {
      streamId: held.streamId,
      firstMs: START_MS + 51_000,
      lastMs: START_MS + 51_000,
      chunk: chunk([START_MS + 51_000], [77]),
    };
    await rig.take(block(partition, 4, chunkBlock([late, again])));
    const { body } = await rig.ask("seriesData", { ...ask, since: at(50), until: at(52) });
    expect(body.points.map((point: { timestamp: string; value: number }) => [point.timestamp, point.value])).toEqual([
      [at(50), 0],
      [at(50.5), 7],
      [at(51), 77],
    ]);
  });

  it("has the newest of the range where a block of history was filled after them", async () => {
    const { rig, held, partition } = await filled();
    const history = [-400, -200].map((from) => {
      const times = run(from, from + 200).map((second) => START_MS + second * 1000);
      return {
        streamId: held.streamId,
        firstMs: times[0] as number,
        lastMs: times[199] as number,
        chunk: chunk(
          times,
          times.map(() => 5),
        ),
      };
    });
    await rig.take(block(partition, 4, chunkBlock(history)));
    expect(numbers((await rig.ask("seriesData", { ...ask, until: at(350), limit: "150" })).body)).toEqual(run(200, 350));
    expect(numbers((await rig.ask("seriesData", { ...ask, since: at(-10), until: at(10) })).body)).toEqual(run(-10, 10));
  });

  it("sees a block that the engine has sent but nobody has committed yet", async () => {
    const { rig, held, partition } = await filled();
    const times = [START_MS - 2000, START_MS - 1000];
    rig.engines[1]?.frames.push(...Array.from({ length: 100 }, (_, i) => record({ timeMs: START_MS + i })));
    rig.engines[1]?.frames.push(
      block(
        partition,
        9,
        chunkBlock([{ streamId: held.streamId, firstMs: times[0] as number, lastMs: times[1] as number, chunk: chunk(times, [1, 2]) }]),
      ),
    );
    expect(numbers((await rig.ask("seriesData", { ...ask, until: at(1) })).body)).toEqual([-2, -1, 0]);
  });

  it("rolls up to means of minutes and hours, aligned to UTC", async () => {
    const { rig } = await filled();
    const { body } = await rig.ask("seriesData", { ...ask, resolution: "1m" });
    expect(body.points).toHaveLength(12);
    expect(body.points.slice(0, 2)).toMatchObject([
      { timestamp: at(0), value: 4.5 },
      { timestamp: at(60), value: 4.5 },
    ]);
    expect(body.points[11].value).toBeCloseTo(4.5, 12);
    expect(numbers((await rig.ask("seriesData", { ...ask, resolution: "1m", limit: "2" })).body)).toEqual([600, 660]);
    expect(numbers((await rig.ask("seriesData", { ...ask, resolution: "1m", since: at(120), until: at(240) })).body)).toEqual([120, 180]);
    expect((await rig.ask("seriesData", { ...ask, resolution: "1h" })).body.points).toMatchObject([
      { timestamp: at(0), value: 4.5, expected: null },
    ]);
  });

  it("answers the first of several streams, or the one that is named; 404 for none", async () => {
    const { rig } = await filled();
    hold(rig, stream({ attributes: { zone: "b", i: 1 } }, { times: [START_MS], values: [42] }));
    expect((await rig.ask("seriesData", ask)).body).toMatchObject({ matches: 2, attributes: {} });
    expect((await rig.ask("seriesData", { ...ask, attributes: '{ "zone":"b", "i":1 }' })).body).toMatchObject({
      matches: 1,
      points: [{ value: 42 }],
    });
    expect((await rig.ask("seriesData", { ...ask, environment: "staging" })).status).toBe(404);
    expect((await rig.ask("seriesData", { ...ask, metric_name: "nope" })).body).toMatchObject({ error: "not_found" });
    expect((await rig.ask("seriesData", ask, {}, "other")).status).toBe(404);
  });

  it("comes with others of its metric, or of other metrics, in one answer", async () => {
    const { rig } = await filled();
    for (const zone of ["b", "c"]) hold(rig, stream({ attributes: { zone } }, { times: [START_MS], values: [42] }));
    hold(rig, stream({ metricName: "errors" }, { times: [START_MS], values: [7] }));
    const all = async (query: Record<string, string>) => {
      const { body } = await rig.ask("seriesData", { ...ask, limit: "10", ...query });
      const rows = [body, ...body.more].map(
        ({ metric_name, attributes, points }) => `${metric_name} ${attributes.zone ?? ""} ${points.length}`,
      );
      return { rows, matches: body.matches };
    };
    const instances = ["latency_ms b 1", "latency_ms c 1", "latency_ms  10"];
    expect(await all({ series: "24" })).toEqual({ rows: instances, matches: 3 });
    expect(await all({ series: "2" })).toEqual({ rows: instances.slice(0, 2), matches: 3 });
    expect(await all({ metrics: '["errors","latency_ms","nope"]' })).toEqual({ rows: [...instances, "errors  1"], matches: 4 });
    expect(await all({ series: "24", metrics: '["errors"]', attributes: '{"zone":"c"}' })).toEqual({
      rows: ["latency_ms c 1"],
      matches: 1,
    });
    const refusals = await Promise.all([
      rig.ask("seriesData", { ...ask, series: "24", points: "417" }),
      rig.ask("seriesData", { ...ask, series: "24", metric_name: "nope" }),
      rig.ask("seriesData", { ...ask, metrics: "errors" }),
    ]);
    expect(refusals.map(({ body }) => [body.error, body.field])).toEqual([
      ["invalid_parameter", "series"],
      ["not_found", undefined],
      ["invalid_parameter", "metrics"],
    ]);
  });

  it("has the anomalies of its pair: those found in the range, and those of before that are open", async () => {
    const { rig } = await filled();
    await rig.take(episode({ z: 9 }));
    const found = async (query: Record<string, string> = {}) =>
      (await rig.ask("seriesData", { ...ask, limit: "1", ...query })).body.anomalies;
    expect(await found()).toMatchObject([
      { severity: "high", direction: "high", detector: "z_score", resolved_at: null, observed: 1, expected: null },
    ]);
    expect(await found({ since: at(100) })).toHaveLength(1);
    expect(await found({ until: at(-1) })).toHaveLength(0);
    expect(await found({ environment: "prod" })).toHaveLength(1);
    await rig.take(episode({ z: 9, metricName: "errors" }));
    expect(await found()).toHaveLength(1);
  });

  it("loses its blocks after the retention of raw samples, once they are rolled up", async () => {
    const { rig, partition } = await filled();
    rig.nowMs += 7 * DAY_MS + 150_000;
    rig.monotonicMs += 7 * DAY_MS;
    await rig.drain();
    expect(rig.series.contents.get("blocks")?.size).toBe(4);
    await rig.take(checkpoint(partition, 1, [], 4));
    rig.monotonicMs += 60_000;
    await rig.drain();
    rig.monotonicMs += 60_000;
    await rig.drain();
    expect([rig.series.contents.get("blocks")?.size, rig.series.contents.get("block_spans")?.size]).toEqual([3, 3]);
    expect(numbers((await rig.ask("seriesData", { ...ask, until: at(300) })).body)).toEqual(run(100, 300));
  });
});

describe("bounds and buckets", () => {
  it("are never beyond what the metric can have, at any resolution", async () => {
    const rig = await Rig.open();
    const times = Array.from({ length: 300 }, (_, i) => START_MS + i * 30_000);
    const spread = (low: number, high: number) => times.map((_, i) => (i % 20 === 0 ? high : low));
    hold(rig, stream({ metricName: "span.duration_ms.p95", environment: "" }, { times, values: spread(3, 400) }));
    hold(rig, stream({ metricName: "disk.used_percent", environment: "" }, { times, values: spread(97, 40) }));
    hold(rig, stream({ metricName: "clock_offset_ms", environment: "" }, { times, values: spread(3, 400) }));
    rig.nowMs += 300 * 30_000;
    for (const resolution of ["raw", "1m"]) {
      const ends = async (metric_name: string) => {
        const { points } = (await rig.ask("seriesData", { service_id: "checkout", metric_name, resolution })).body;
        const judged = points.filter(({ lower }: { lower: number | null }) => lower !== null);
        expect(judged.length).toBeGreaterThan(100);
        const [lower, upper] = [
          judged.map((point: { lower: number }) => point.lower),
          judged.map((point: { upper: number }) => point.upper),
        ];
        return [Math.min(...lower), Math.max(...upper)] as const;
      };
      expect((await ends("span.duration_ms.p95"))[0]).toBe(0);
      expect((await ends("disk.used_percent"))[1]).toBe(100);
      expect((await ends("clock_offset_ms"))[0]).toBeLessThan(-100);
    }
  });

  it("need the least number of values, and take no more than the window", () => {
    const options = { zThreshold: 2, samplesMin: 3, window: 4, range: rangeOfMetric({ metricName: "m", unit: null, isCounter: false }) };
    const values = Float64Array.of(100, 1, 2, 3, 4, 5);
    expect(expectationAt(values, 2, options)).toEqual({ expected: null, lower: null, upper: null });
    expect(expectationAt(values, 5, options)).toEqual({
      expected: 2.5,
      lower: 2.5 - 2 * Math.sqrt(5 / 3),
      upper: 2.5 + 2 * Math.sqrt(5 / 3),
    });
  });

  it("have the mean of each bucket, also before 1970", () => {
    expect(bucketMeans({ times: Float64Array.of(-1, 0, 5, 10, 35), values: Float64Array.of(1, 2, 4, 8, 16) }, 10)).toEqual({
      times: Float64Array.of(-10, 0, 10, 30),
      values: Float64Array.of(1, 3, 8, 16),
    });
  });
});

describe("a query", () => {
  it("is refused when too many queries wait, and a defect is an answer with a line in the log", async () => {
    const busy = await Rig.open({ sharedLimits: { queries_running: 0 } });
    expect(await busy.ask("status")).toMatchObject({ status: 503, body: { status: "error", error: "overloaded" } });
    const rig = await Rig.open();
    expect(await rig.ask("nope")).toMatchObject({ status: 500, body: { error: "internal_error" } });
    const fields = { endpoint: "nope", request_id: expect.any(String), stack: expect.stringContaining("\n    at ") };
    expect(rig.messages.filter(({ type }) => type === "log")).toEqual([
      expect.objectContaining({ level: "error", component: "queries", fields }),
    ]);
    expect(await rig.ask("anomalies", { servic_id: "x" })).toMatchObject({
      status: 400,
      body: { error: "unknown_parameter", field: "servic_id" },
    });
  });
});
