// What a moment of the past says: samples of an open anomaly are a part of it, and saturation declares nothing that was not told yet.
import { expect, it } from "vitest";
import { saturationMoment } from "../../../../src/domain/backtest/layer-moment.ts";
import { WorkSlices } from "../../../../src/domain/backtest/work-slices.ts";
import { momentVerdict } from "../../../../src/domain/detection/moment-verdict.ts";
import { SaturationSeries } from "../../../../src/domain/saturation/saturation-series.ts";

const START = Date.UTC(2026, 0, 5, 6);
const MINUTE = 60_000;

it("D11: samples of an open anomaly are declared with it, and not as not persistent", () => {
  const normal = (i: number) => 100 + ((i * 7) % 5);
  // Opens at the first of three that are far out; the further ones are less so.
  const values = Float64Array.from({ length: 64 }, (_, i) => (i < 60 ? normal(i) : 160 - 8 * (i - 60)));
  const times = Float64Array.from(values, (_, i) => START + i * MINUTE);
  const options = { threshold: 6, minimumSamples: 12, window: 120, operation: false, percent: false, bucketWidth: 0 };
  for (const i of [60, 61, 62, 63]) {
    const moment = momentVerdict(times, values, times[i] as number, options);
    expect(moment).toMatchObject({ declared: true, reason: null, verdict: { suppressed_by: null } });
    expect(moment?.verdict.gates.find(({ name }) => name === "persistence")).toMatchObject({ passed: true });
  }
  expect(momentVerdict(times, values, times[59] as number, options)).toMatchObject({ declared: false, reason: "within_threshold" });
});

it("says of one value over the bar that it was declared where nothing is to be confirmed", () => {
  const values = Float64Array.from({ length: 61 }, (_, i) => (i < 60 ? 100 + ((i * 7) % 5) : 108.5));
  const times = Float64Array.from(values, (_, i) => START + i * MINUTE);
  const options = { threshold: 3, minimumSamples: 12, window: 120, operation: false, percent: false, bucketWidth: 0 };
  const momentOf = (confirmation: boolean) => momentVerdict(times, values, times[60] as number, { ...options, confirmation });
  expect(momentOf(true)).toMatchObject({ declared: false, reason: "not_persistent" });
  expect(momentOf(false)).toMatchObject({ declared: true, reason: null });
});

it("D11: saturation is declared of a moment from when it was told, whichever second cycle judged", async () => {
  const name = { tenant: "default", environment: "", serviceId: "db", metricName: "disk_used_percent", attributes: {} };
  const values = Float64Array.from({ length: 240 }, (_, i) => (i < 180 ? 40 + ((i * 7) % 5) / 10 : 40 + (i - 180) * 0.9));
  const times = Float64Array.from(values, (_, i) => START + i * MINUTE);
  const context = {
    intervalMs: MINUTE,
    offsetMs: () => 0,
    facts: { deployments: () => [], unitOf: () => null, limitFor: () => null, train: null },
    slices: new WorkSlices(() => Promise.resolve()),
  };
  // Live, in cycles of one phase: when each is told first.
  const notifiedAt = [0, 1].map((phase) => {
    const judge = new SaturationSeries({ metricName: name.metricName, unit: null, instance: null });
    for (let i = 0; i < values.length; i++) {
      judge.observe(times[i] as number, values[i] as number);
      if (i % 2 === phase && judge.evaluate(times[i] as number, { limit: null, corroborated: false }).finding !== null) return i;
    }
    return Number.POSITIVE_INFINITY;
  });
  expect(Math.max(...notifiedAt)).toBeLessThan(240);
  const declaredAt = async (i: number) => {
    const until = { name, flags: 0, times: times.slice(0, i + 1), values: values.slice(0, i + 1) };
    return (await saturationMoment(until, times[i] as number, context)).declared;
  };
  expect(await declaredAt(Math.min(...notifiedAt) - 1)).toBe(false);
  const first = await Promise.all(Array.from({ length: 12 }, (_, i) => declaredAt(Math.max(...notifiedAt) - 6 + i)));
  expect(first.indexOf(true)).toBeGreaterThanOrEqual(6);
  expect(first.lastIndexOf(false)).toBeLessThan(9);
});

it("names the habit that holds a breach of headroom, and what would have been found", async () => {
  const name = { tenant: "default", environment: "", serviceId: "db", metricName: "cpu_percent", attributes: {} };
  const values = Float64Array.from({ length: 600 }, (_, i) => (i % 60 >= 50 && i % 60 < 56 ? 95 : 30));
  const times = Float64Array.from(values, (_, i) => START + i * MINUTE);
  const context = {
    intervalMs: MINUTE,
    offsetMs: () => 0,
    facts: { deployments: () => [], unitOf: () => null, limitFor: () => null, train: null },
    slices: new WorkSlices(() => Promise.resolve()),
  };
  const at = (i: number) =>
    saturationMoment({ name, flags: 0, times: times.slice(0, i + 1), values: values.slice(0, i + 1) }, times[i] as number, context);
  expect(await at(55)).toMatchObject({ declared: true, reason: null });
  expect(await at(595)).toMatchObject({ declared: false, reason: "not_a_habit", value: 95, bar: 100, verdict: { observed: 95 } });
  expect(await at(585)).toMatchObject({ declared: false, verdict: null });
});
