import { describe, expect, it } from "vitest";
import type { SaturationFinding } from "../../../src/domain/saturation/saturation-finding.ts";
import { type SaturationContext, SaturationSeries } from "../../../src/domain/saturation/saturation-series.ts";
import { generator } from "../../support/generator.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5);
const DISK = { metricName: "disk.used_percent", unit: "%", instance: "node-3" };
const ALONE: SaturationContext = { limit: null, corroborated: false };

interface Reported {
  readonly minute: number;
  readonly finding: SaturationFinding;
}

/** Feeds `minutes` values, judges every second minute, and gives back all findings. */
function watch(series: SaturationSeries, minutes: number, valueAt: (minute: number) => number, context = ALONE, start = START): Reported[] {
  const reported: Reported[] = [];
  for (let minute = 0; minute < minutes; minute++) {
    const value = valueAt(minute);
    if (!Number.isNaN(value)) series.observe(start + minute * MINUTE, value);
    if (minute % 2 !== 1) continue;
    const { finding } = series.evaluate(start + minute * MINUTE, context);
    if (finding !== null) reported.push({ minute, finding });
  }
  return reported;
}

function noise(seed: number, sd: number): () => number {
  const random = generator(seed);
  return () => sd * random.normal();
}

describe("time to exhaustion", () => {
  it("of a slow fill goes through low, medium and high, near the true time", () => {
    const more = noise(1, 0.3);
    // Full at minute 1600.
    const reported = watch(new SaturationSeries(DISK), 1580, (minute) => 20 + (80 * minute) / 1600 + more());
    const tiers = reported.map(({ finding }) => finding.tier);
    expect(tiers.filter((tier, i) => tier !== tiers[i - 1])).toEqual(["low", "medium", "high"]);
    const first = (tier: string): number => 1600 - (reported.find(({ finding }) => finding.tier === tier) as Reported).minute;
    expect(Math.abs(first("medium") - 360)).toBeLessThan(36);
    expect(Math.abs(first("high") - 60)).toBeLessThan(8);
    for (const { minute, finding } of reported.filter((one) => one.finding.rule === "time_to_exhaustion" && one.minute > 720)) {
      const { minutes = Number.NaN, minutesEarliest = Number.NaN, minutesLatest = Number.NaN } = finding.projection ?? {};
      expect(Math.abs(minutes - (1600 - minute))).toBeLessThan(0.1 * (1600 - minute) + 5);
      expect(minutesEarliest).toBeLessThanOrEqual(minutes);
      expect(minutesLatest).toBeGreaterThanOrEqual(minutes);
    }
  });
  it("of a disk that is full within the hour is high at the first look, its past having come at once", () => {
    const series = new SaturationSeries(DISK);
    for (let minute = 0; minute <= 60; minute++) series.observe(START + minute * MINUTE, 60 + 0.6 * minute);
    const { finding } = series.evaluate(START + 60 * MINUTE, ALONE);
    expect(finding).toMatchObject({ tier: "high", rule: "time_to_exhaustion" });
    expect(finding?.projection?.minutes).toBeLessThan(10);
    const calm = new SaturationSeries(DISK);
    for (let minute = 0; minute <= 60; minute++) calm.observe(START + minute * MINUTE, 20 + 0.6 * minute);
    expect(calm.evaluate(START + 60 * MINUTE, ALONE).finding).toBeNull();
  });
  it("of a leak that begins after a quiet day is told by its last 90 minutes", () => {
    const more = noise(2, 0.3);
    // Full 120 minutes after minute 1500.
    const reported = watch(new SaturationSeries(DISK), 1600, (minute) => 40 + Math.max(0, minute - 1500) / 2 + more());
    expect(reported.length).toBeGreaterThan(0);
    expect(reported[0]?.minute).toBeGreaterThan(1500);
    expect(reported[0]?.finding.projection?.basis).toBe("short");
    const high = reported.find(({ finding }) => finding.tier === "high") as Reported;
    expect(high.minute).toBeLessThan(1500 + 80);
  });
  it("of what drains runs to zero, without a declared limit", () => {
    const more = noise(3, 0.2e9);
    const names = { metricName: "disk.free_bytes", unit: "By", instance: null };
    const reported = watch(new SaturationSeries(names), 900, (minute) => 100e9 - 0.1e9 * minute + more());
    const last = reported.at(-1)?.finding as SaturationFinding;
    expect(last).toMatchObject({ kind: "remaining", limit: 0, tier: "medium", rule: "time_to_exhaustion" });
    expect(last.verdict.z).toBeLessThanOrEqual(-2);
    expect(Math.abs((last.projection?.minutes ?? 0) - 100)).toBeLessThan(10);
    expect(last.text).toMatch(
      /^disk\.free_bytes is .* By, draining to 0 By; falling .* By\/h .*projected empty at 2026-01-05 \d\d:\d\d:00 UTC/,
    );
  });
  it("of a raw unit needs its declared limit and takes a changed one on the next evaluation", () => {
    const series = new SaturationSeries({ metricName: "db.connections.active", unit: null, instance: null });
    expect(watch(series, 700, (minute) => 20 + minute / 10)).toEqual([]);
    const at = START + 700 * MINUTE;
    series.observe(at, 90);
    const context = { limit: { value: 100, unit: "connections" }, corroborated: false };
    expect(series.evaluate(at, ALONE).gates).toEqual([{ name: "limit_known", passed: false, value: 0, limit: 1 }]);
    expect(series.evaluate(at, context).finding?.projection ?? null).toBeNull();
    const second = series.evaluate(at + 2 * MINUTE, context).finding;
    expect(second).toMatchObject({ limit: 100, unit: "connections", rule: "time_to_exhaustion" });
    expect(series.evaluate(at + 4 * MINUTE, { ...context, limit: { value: 1e6, unit: "connections" } }).finding).toBeNull();
  });
  it("says value, limit, rate, time and range, and names the instance", () => {
    const more = noise(4, 0.2);
    const reported = watch(new SaturationSeries(DISK), 1000, (minute) => 25 + (75 * minute) / 1240 + more());
    const { finding } = reported.at(-1) as Reported;
    expect(finding.text).toMatch(
      /^disk\.used_percent on node-3 is 8\d(\.\d+)?% of 100%; rising 3\.[4-9]\d?%\/h \(3\.\d+ to 3\.\d+\), projected full at 2026-01-05 20:\d\d:00 UTC \(in (3\.[89]|4\.[0-2]) h, range \d\.\d h to \d\.\d h\)$/,
    );
    expect(finding.instance).toBe("node-3");
    expect(finding.exhaustedAtMs).toBeGreaterThan(START + 1200 * MINUTE);
    expect(finding.verdict).toMatchObject({ detector: "saturation", suppressed_by: null });
    expect(finding.verdict.baseline.n).toBeGreaterThan(140);
    expect(finding.verdict.gates.map((gate) => gate.name)).toEqual(expect.arrayContaining(["trend_p", "new_territory", "persistence"]));
  });
  it("is told at the second evaluation that projects it", () => {
    const more = noise(5, 0.2);
    const series = new SaturationSeries(DISK);
    for (let minute = 0; minute <= 780; minute++) series.observe(START + minute * MINUTE, 30 + minute / 15 + more());
    const first = series.evaluate(START + 780 * MINUTE, ALONE);
    expect(first.finding).toBeNull();
    expect(first.gates.find((gate) => gate.name === "persistence")).toMatchObject({ passed: false, value: 1, limit: 2 });
    expect(series.evaluate(START + 782 * MINUTE, ALONE).finding?.tier).toBe("medium");
  });
  it("goes on over gaps and ends with silence", () => {
    const more = noise(6, 0.2);
    const series = new SaturationSeries(DISK);
    const gappy = (minute: number): number => (minute % 7 === 3 || (minute > 300 && minute < 340) ? Number.NaN : 40 + minute / 20 + more());
    const reported = watch(series, 800, gappy);
    expect(reported.at(-1)?.minute).toBeGreaterThan(790);
    expect(series.evaluate(START + 830 * MINUTE, ALONE).finding).toBeNull();
  });
});

describe("what does not run out is not told", () => {
  const DAYS = 3;
  const shapes: ReadonlyArray<readonly [string, (more: () => number) => (minute: number) => number, number]> = [
    ["noise", (more) => () => 60 + 3 * more(), 0],
    ["a flat series at 88 %", (more) => () => 88 + more(), 0],
    ["a plateau at 95 % after a day of climbing", (more) => (minute) => 95 - 65 * Math.exp(-minute / 300) + 0.3 * more(), 1440],
    ["log rotation every nine hours", (more) => (minute) => 20 + 60 * ((minute % 540) / 540) + 0.3 * more(), 1440],
    ["garbage collection", (more) => (minute) => 50 + 30 * ((minute % 17) / 17) + 2 * more(), 0],
    ["a daily cycle, once a day is known", (more) => (minute) => 60 + 25 * Math.sin((2 * Math.PI * minute) / 1440) + 1.5 * more(), 1440],
    ["a step up", (more) => (minute) => (minute > 1000 ? 80 : 40) + 0.5 * more(), 0],
    ["a fill that takes four days", (more) => (minute) => 10 + (90 * minute) / 5760 / 1.5 + 0.3 * more(), 0],
    ["a fall", (more) => (minute) => 90 - minute / 60 + 0.3 * more(), 0],
  ];
  it.each(shapes)("%s", (_, shape, from) => {
    const reported = watch(new SaturationSeries(DISK), DAYS * 1440, shape(noise(7, 1)));
    expect(
      reported.filter(({ minute, finding }) => minute >= from && finding.rule === "time_to_exhaustion").map(({ minute }) => minute),
    ).toEqual([]);
  });
  it("nor slow noise, over 60 series-days, as it would be a page in fifty service-days", () => {
    let pages = 0;
    for (let seed = 0; seed < 30; seed++) {
      const random = generator(seed);
      let state = 0;
      const reported = watch(new SaturationSeries(DISK), 2 * 1440, () => {
        state = 0.9 * state + random.normal();
        return 60 + 1.75 * state;
      });
      if (reported.some(({ finding }) => finding.tier !== "low")) pages++;
    }
    expect(pages).toBeLessThanOrEqual(1);
  });
});

describe("levels", () => {
  it("a breach of the floor by a series that is usually lower, promoted by corroboration", () => {
    const series = new SaturationSeries({ ...DISK, instance: null });
    watch(series, 600, () => 70);
    const at = (minute: number, value: number, corroborated: boolean) => {
      for (let i = 0; i < 5; i++) series.observe(START + (minute + i) * MINUTE, value);
      return series.evaluate(START + (minute + 4) * MINUTE, { limit: null, corroborated }).finding;
    };
    expect(at(600, 91.9, false)).toBeNull();
    expect(at(605, 92, false)).toMatchObject({ rule: "headroom_breach", tier: "medium" });
    expect(at(610, 93, true)).toMatchObject({ rule: "headroom_breach", tier: "high", text: expect.stringContaining("usually 70%") });
    expect(at(615, 90.1, false)).toMatchObject({ rule: "headroom_breach", tier: "medium" });
    expect(at(620, 89.9, false)).toBeNull();
  });
  it("a series that always runs high is silent until half of its room is gone and something else is wrong", () => {
    const series = new SaturationSeries(DISK);
    expect(watch(series, 600, () => 90, { limit: null, corroborated: true })).toEqual([]);
    const at = (minute: number, value: number, corroborated: boolean) => {
      for (let i = 0; i < 5; i++) series.observe(START + (minute + i) * MINUTE, value);
      return series.evaluate(START + (minute + 4) * MINUTE, { limit: null, corroborated }).finding;
    };
    expect(at(600, 95.5, false)).toBeNull();
    expect(at(605, 95.5, true)).toMatchObject({ rule: "resident_high", tier: "high" });
    expect(at(610, 94.5, true)).toBeNull();
  });
  it("what remains in percent is low at 8 %", () => {
    const series = new SaturationSeries({ metricName: "disk.free_percent", unit: null, instance: null });
    watch(series, 600, () => 40);
    for (let i = 0; i < 5; i++) series.observe(START + (600 + i) * MINUTE, 8);
    expect(series.evaluate(START + 604 * MINUTE, ALONE).finding).toMatchObject({ rule: "headroom_breach", kind: "remaining", value: 8 });
  });
});

describe("state", () => {
  it("after a restore judges as before", () => {
    for (const stop of [200, 781, 1001]) {
      const more = noise(8, 0.3);
      const value = (minute: number): number => 30 + (70 * minute) / 1200 + more();
      const one = new SaturationSeries(DISK);
      for (let minute = 0; minute < stop; minute++) one.observe(START + minute * MINUTE, value(minute));
      one.evaluate(START + stop * MINUTE, ALONE);
      const other = SaturationSeries.restore(DISK, one.serialise());
      for (let minute = stop; minute < stop + 60; minute++) {
        const next = value(minute);
        one.observe(START + minute * MINUTE, next);
        other.observe(START + minute * MINUTE, next);
        if (minute % 2 === 0) expect(other.evaluate(START + minute * MINUTE, ALONE)).toEqual(one.evaluate(START + minute * MINUTE, ALONE));
      }
    }
    expect(() => SaturationSeries.restore(DISK, new Float64Array(3))).toThrow(/values, got 3/);
  });
  it("does not depend on the hour it began", () => {
    const run = (shift: number) => {
      const more = noise(9, 0.3);
      return watch(new SaturationSeries(DISK), 1100, (minute) => 30 + (70 * minute) / 1200 + more(), ALONE, START + shift).map(
        ({ minute, finding }) => [minute, finding.tier, finding.projection?.minutes],
      );
    };
    // Whole blocks of three hours keep the five-minute slots and the blocks where they were.
    expect(run(9 * 3600_000)).toEqual(run(0));
  });
  it("takes late, doubled and non-finite values without harm", () => {
    const series = new SaturationSeries(DISK);
    watch(series, 700, () => 50);
    for (const value of [Number.NaN, Number.POSITIVE_INFINITY]) series.observe(START + 700 * MINUTE, value);
    series.observe(START, 99);
    series.observe(START + 650 * MINUTE, 99);
    series.observe(START + 699 * MINUTE, 50);
    expect(series.evaluate(START + 701 * MINUTE, ALONE).finding).toBeNull();
  });
});
