// A service's model as bytes, its size, and the vectors that it is trained on.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { seasonFeatures } from "../../../../src/domain/detection/multivariate/service-features.ts";
import { ServiceModel } from "../../../../src/domain/detection/multivariate/service-model.ts";
import { decodeServiceModel, encodeServiceModel } from "../../../../src/domain/detection/multivariate/service-model-coding.ts";
import { rowsOfHistory, type StreamSamples } from "../../../../src/domain/detection/multivariate/service-rows.ts";
import { trainService } from "../../../../src/domain/detection/multivariate/service-training.ts";
import { aggregationOf } from "../../../../src/domain/detection/multivariate/service-vector.ts";
import { symmetricEigen } from "../../../../src/domain/detection/multivariate/symmetric-eigen.ts";

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
const START = Date.UTC(2026, 0, 5);

/** Samples of so many metrics that follow one load, one a minute. */
function streamsOf(metrics: number, minutes: number, seed = 3): StreamSamples[] {
  const random = seededRandom(seed);
  const times = Float64Array.from({ length: minutes }, (_, i) => START + i * MINUTE_MS);
  let load = 0;
  const loads = times.map(() => {
    load = 0.95 * load + random() - 0.5;
    return load;
  });
  return Array.from({ length: metrics }, (_, j) => ({ times, values: loads.map((each) => each * ((j % 5) + 1) + 0.3 * (random() - 0.5)) }));
}

function jobOf(metrics: number, minutes: number) {
  return {
    streams: streamsOf(metrics, minutes),
    starts: Uint16Array.from({ length: metrics + 1 }, (_, i) => i),
    aggregations: new Uint8Array(metrics).fill(aggregationOf(false, "cpu", {})),
    toMs: START + (minutes - 1) * MINUTE_MS,
    intervalMs: MINUTE_MS,
    rowsMax: 4_320,
    seed: 7,
  };
}

const single = (...samples: ReadonlyArray<readonly [minute: number, value: number]>): StreamSamples => ({
  times: Float64Array.from(samples, ([minute]) => START + minute * MINUTE_MS),
  values: Float64Array.from(samples, ([, value]) => value),
});

describe("a model as bytes", () => {
  it.each([2, 20, 64])("of %i metrics measures as before", (metrics) => {
    const job = jobOf(metrics, 300);
    const rows = rowsOfHistory(job, job);
    const model = ServiceModel.train(rows, seededRandom(1), symmetricEigen);
    const read = decodeServiceModel(encodeServiceModel(model));
    expect(read?.width).toBe(metrics);
    for (let row = 2; row < 300; row += 37) {
      const at = rows.times[row] as number;
      const before = { ...model.measure(rows.values, row * metrics, at) };
      expect(read?.measure(rows.values, row * metrics, at)).toEqual(before);
      const means = { components: before.shape + before.step, isolation: before.isolation };
      expect(read?.logP(before, means)).toBe(model.logP(before, means));
      expect(read?.contributions()).toEqual(model.contributions());
    }
  });

  it("is none where it was cut, or is of another version", () => {
    const { model } = trainService(jobOf(3, 300));
    const bytes = model as Uint8Array<ArrayBuffer>;
    expect(decodeServiceModel(bytes)).toBeDefined();
    expect(decodeServiceModel(bytes.slice(0, -1))).toBeUndefined();
    expect(decodeServiceModel(bytes.slice(0, 20))).toBeUndefined();
    const other = bytes.slice();
    other[0] = 9;
    expect(decodeServiceModel(other)).toBeUndefined();
  });

  it("takes at most 760 bytes a metric with its state, where there are 20", () => {
    const { model, state } = trainService(jobOf(20, 4_320));
    expect(((model?.length ?? 0) + (state?.byteLength ?? 0)) / 20).toBeLessThanOrEqual(760);
  });
});

describe("a training", () => {
  it("equal jobs give equal bytes, other histories others", () => {
    const [one, same, longer] = [trainService(jobOf(6, 300)), trainService(jobOf(6, 300)), trainService(jobOf(6, 301))];
    expect(one).toEqual(same);
    expect(one.rows).toBe(300);
    expect(longer.model).not.toEqual(one.model);
  });

  it("makes no model of fewer than 256 vectors", () => {
    expect(trainService(jobOf(3, 255))).toEqual({ rows: 255, model: null, state: null });
    expect(trainService(jobOf(3, 256)).model).not.toBeNull();
  });
});

describe("vectors of history", () => {
  const gauge = aggregationOf(false, "cpu", {});
  const request = { toMs: START + 9 * MINUTE_MS, intervalMs: MINUTE_MS, rowsMax: 100 };
  const rowsOf = (streams: StreamSamples[], starts: number[], aggregations: number[]) =>
    rowsOfHistory({ streams, starts: Uint16Array.from(starts), aggregations: Uint8Array.from(aggregations) }, request);

  it("make one value of a metric's streams: deltas summed, gauges averaged, of percentiles the largest", () => {
    const [a, b] = [single([9, 1]), single([9, 5])];
    const kinds = [
      aggregationOf(true, "requests", {}),
      gauge,
      aggregationOf(false, "latency.p99", {}),
      aggregationOf(false, "rpc", { quantile: "0.5" }),
    ];
    const { values } = rowsOf([a, b, a, b, a, b, a, b], [0, 2, 4, 6, 8], kinds);
    expect([...values]).toEqual([6, 3, 5, 5]);
  });

  it("know a percentile by its name, and no other word", () => {
    const max = aggregationOf(false, "x.p50", {});
    for (const name of ["latency.p95", "request_p99_ms", "p50", "api.p99.9"]) expect(aggregationOf(true, name, {})).toBe(max);
    for (const name of ["p2p.peers", "http.p1000", "top95", "group99"]) expect(aggregationOf(false, name, {})).toBe(gauge);
  });

  it("keep a value for five minutes, to the millisecond", () => {
    const steady = single(...Array.from({ length: 10 }, (_, i) => [i, i] as const));
    const { times, values } = rowsOf([steady, single([2, 7])], [0, 1, 2], [gauge, gauge]);
    expect(times.length).toBe(10);
    // Before its first value, and after its last has aged, it stands at its mean.
    expect([0, 2, 7, 8].map((row) => values[2 * row + 1])).toEqual([7, 7, 7, 7]);
    const changed = rowsOf([steady, single([2, 7], [3, 9])], [0, 1, 2], [gauge, gauge]).values;
    const held = [3, 8].map((row) => changed[2 * row + 1]);
    expect(held).toEqual([9, 9]);
    expect(changed[2 * 9 + 1]).toBeCloseTo((7 + 6 * 9) / 7, 12);
  });

  it("are only of times at which something was new and half of the metrics had a value", () => {
    const every2 = single([1, 1], [3, 1], [5, 1], [7, 1], [9, 1]);
    expect(rowsOf([every2, every2], [0, 1, 2], [gauge, gauge]).times.length).toBe(5);
    const alone = rowsOf([every2, single(), single()], [0, 1, 2, 3], [gauge, gauge, gauge]);
    expect(alone.times.length).toBe(0);
    expect(rowsOf([every2, every2, single()], [0, 1, 2, 3], [gauge, gauge, gauge]).times.length).toBe(5);
  });

  it("are the newest where there are more than wanted", () => {
    const steady = single(...Array.from({ length: 10 }, (_, i) => [i, i] as const));
    const history = { streams: [steady], starts: Uint16Array.of(0, 1), aggregations: Uint8Array.of(gauge) };
    expect([...rowsOfHistory(history, { ...request, rowsMax: 3 }).values]).toEqual([7, 8, 9]);
  });
});

describe("the season in a forest", () => {
  it("is left out until history has seen it twice", () => {
    expect([2 * DAY_MS - 1, 2 * DAY_MS, 14 * DAY_MS - 1, 14 * DAY_MS].map(seasonFeatures)).toEqual([0, 2, 2, 4]);
  });
});
