// Stale services, a tenant that falls silent, SLO burn: each limit from both sides, on a virtual clock.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { ByteReader } from "../../../../src/domain/codec/byte-reader.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { firstFailed } from "../../../../src/domain/detection/gates/gate-result.ts";
import { ArrivalRhythm } from "../../../../src/domain/detection/service/arrival-rhythm.ts";
import { BURN_PAIRS, SloBurn } from "../../../../src/domain/detection/service/slo-burn.ts";
import { generator } from "../../../support/generator.ts";

const SECOND = 1000;
const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5);

function rhythm(intervalMs: number, arrivals = 51): { readonly of: ArrivalRhythm; readonly lastMs: number } {
  const of = new ArrivalRhythm();
  for (let i = 0; i < arrivals; i++) of.observe(START + i * intervalMs);
  return { of, lastMs: START + (arrivals - 1) * intervalMs };
}

describe("stale service", () => {
  const stale = (of: ArrivalRhythm, nowMs: number, bootedAtMs = 0): boolean => of.judge(nowMs, bootedAtMs).isStale;
  it.each([
    [10 * SECOND, 3 * MINUTE],
    [36 * SECOND, 3 * MINUTE],
    [37 * SECOND, 185 * SECOND],
    [MINUTE, 5 * MINUTE],
    [10 * MINUTE, 50 * MINUTE],
  ])("that sends every %d ms is stale after %d ms of silence, and not before", (interval, limit) => {
    const { of, lastMs } = rhythm(interval);
    expect(of.silenceLimitMs()).toBe(limit);
    expect([limit - 1, limit, limit + 1].map((silence) => stale(of, lastMs + silence))).toEqual([false, false, true]);
  });
  it("is judged once 50 intervals are known", () => {
    for (const [arrivals, judged] of [
      [50, false],
      [51, true],
      [52, true],
    ] as const) {
      const { of, lastMs } = rhythm(MINUTE, arrivals);
      expect(stale(of, lastMs + 6 * MINUTE)).toBe(judged);
    }
  });
  it("does not mistake its own start for silence", () => {
    const { of, lastMs } = rhythm(MINUTE);
    const boot = lastMs + 60 * MINUTE;
    expect([boot, boot + 5 * MINUTE, boot + 5 * MINUTE + 1].map((now) => stale(of, now, boot))).toEqual([false, false, true]);
  });
  it("learns a new rhythm", () => {
    const { of, lastMs } = rhythm(10 * SECOND);
    for (let i = 1; i <= 50; i++) of.observe(lastMs + i * 5 * MINUTE);
    expect(of.usualIntervalMs()).toBe(5 * MINUTE);
    expect(of.silenceLimitMs()).toBe(25 * MINUTE);
  });
  it("leaves those alone that come and go by nature", () => {
    const of = new ArrivalRhythm();
    let now = START;
    for (let i = 0; i < 60; i++) {
      now += i % 10 === 9 ? 6 * 60 * MINUTE : 10 * SECOND;
      of.observe(now);
    }
    expect([1, 6, 30].map((hours) => stale(of, now + hours * 60 * MINUTE))).toEqual([false, false, true]);
  });
  it("counts samples of one moment once", () => {
    const of = new ArrivalRhythm();
    for (let i = 0; i < 60; i++) for (const offset of [0, 1, 500, 999]) of.observe(START + i * MINUTE + offset);
    expect(of.usualIntervalMs()).toBe(MINUTE);
  });
  it("is the same after a restore, and wherever time begins", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1000, max: 600_000 }), { minLength: 1, maxLength: 80 }), fc.nat(1e6), (gaps, shift) => {
        const [one, other] = [new ArrivalRhythm(), new ArrivalRhythm()];
        let now = START;
        for (const gap of gaps) {
          now += gap;
          one.observe(now);
          other.observe(now + shift);
        }
        const later = now + 20 * MINUTE;
        const sink = new ByteWriter();
        one.write(sink);
        const restored = ArrivalRhythm.read(new ByteReader(sink.bytes.subarray(0, sink.at), "damaged"));
        expect(restored.judge(later, 0)).toEqual(one.judge(later, 0));
        expect(other.judge(later + shift, 0)).toEqual(one.judge(later, 0));
      }),
    );
  });
});

describe("SLO burn", () => {
  const OBJECTIVE = 0.999;
  /** `rate` times the budget is burnt in each minute of the last `minutes`, of 10,000 requests. */
  const burning = (rate: number, minutes: number, quietBefore = 0): { readonly of: SloBurn; readonly nowMs: number } => {
    const of = new SloBurn();
    const total = 10_000;
    for (let minute = 0; minute < quietBefore + minutes; minute++) {
      const bad = minute < quietBefore ? 0 : rate * (1 - OBJECTIVE) * total;
      of.observe(START + minute * MINUTE, total - bad, total);
    }
    return { of, nowMs: START + (quietBefore + minutes - 1) * MINUTE };
  };
  const tier = ({ of, nowMs }: { readonly of: SloBurn; readonly nowMs: number }): string | null =>
    of.evaluate(nowMs, OBJECTIVE).finding?.tier ?? null;

  it.each(BURN_PAIRS.map((pair) => [pair.rate, pair] as const))("at a rate of %d: just below, at, just above", (rate, pair) => {
    const slower = BURN_PAIRS[BURN_PAIRS.indexOf(pair) + 1]?.tier ?? null;
    expect(tier(burning(rate * 0.999, pair.longMinutes))).toBe(slower);
    expect(tier(burning(rate * 1.000001, pair.longMinutes))).toBe(pair.tier);
    expect(tier(burning(rate * 1.001, pair.longMinutes))).toBe(pair.tier);
  });
  it("needs the long window as well as the short one", () => {
    // Three quiet days and five minutes of total failure: 5 of 60 minutes burn at 999 / 12 = 83 times the budget.
    expect(tier(burning(999, 5, 4315))).toBe("high");
    // A tenth of that in the last minute alone is under 14.4 in the hour and under 6 in six hours.
    expect(tier(burning(100, 5, 4315))).toBeNull();
    // An hour ago: the long window still burns, the short one no longer.
    const { of, nowMs } = burning(999, 5, 4000);
    for (let i = 1; i <= 31; i++) of.observe(nowMs + i * MINUTE, 10_000, 10_000);
    expect(tier({ of, nowMs: nowMs + 4 * MINUTE })).toBe("high");
    expect(tier({ of, nowMs: nowMs + 5 * MINUTE })).toBe("medium");
    expect(tier({ of, nowMs: nowMs + 31 * MINUTE })).toBe("low");
  });
  it("does not judge few requests: 100 of them or 5 errors", () => {
    const few = (total: number, bad: number) => {
      const of = new SloBurn();
      of.observe(START, total - bad, total);
      return firstFailed(of.evaluate(START, OBJECTIVE).gates)?.name;
    };
    expect(few(99, 4)).toBe("minimum_requests");
    expect(few(100, 4)).toBeUndefined();
    expect(few(101, 4)).toBeUndefined();
    expect(few(5, 5)).toBeUndefined();
    expect(few(6, 4)).toBe("minimum_requests");
  });
  it("takes ratios where requests are not told, from the twelfth value of the hour on", () => {
    const of = new SloBurn();
    for (let i = 0; i < 11; i++) of.observeRatio(START + i * MINUTE, 0.9);
    expect(firstFailed(of.evaluate(START + 10 * MINUTE, OBJECTIVE).gates)?.name).toBe("minimum_values");
    of.observeRatio(START + 11 * MINUTE, 0.9);
    expect(of.evaluate(START + 11 * MINUTE, OBJECTIVE).finding).toMatchObject({ tier: "high" });
    expect(of.evaluate(START + 11 * MINUTE, OBJECTIVE).finding?.longBurn).toBeCloseTo(100, 3);
  });
  it("refuses what is no ratio and no objective", () => {
    const of = new SloBurn();
    for (const ratio of [-0.1, 1.1, Number.NaN]) of.observeRatio(START, ratio);
    of.observe(START, 5, 4);
    of.observe(START, -1, 4);
    of.observe(START, 0, 0);
    expect(of.evaluate(START, OBJECTIVE).finding).toBeNull();
    for (const objective of [0, 1, Number.NaN]) expect(() => of.evaluate(START, objective)).toThrow(/between 0 and 1/);
  });
  it("adds up like a list of all minutes, restored or not", () => {
    const random = generator(4);
    const of = new SloBurn();
    const list: [number, number, number][] = [];
    let now = START;
    for (let i = 0; i < 6000; i++) {
      now += random.uniform() < 0.01 ? 200 * MINUTE : MINUTE;
      const total = Math.floor(1000 * random.uniform()) + 1;
      const bad = Math.floor(total * random.uniform() * 0.02);
      of.observe(now, total - bad, total);
      list.push([now, bad, total]);
      if (i % 500 !== 499) continue;
      const inWindow = list.filter(([at]) => at > now - 60 * MINUTE && at <= now);
      const sum = (index: 1 | 2): number => inWindow.reduce((all, row) => all + row[index], 0);
      const gate = of.evaluate(now, 0.5).gates.find(({ name }) => name === "long_burn");
      expect(gate?.value).toBeCloseTo(sum(1) / sum(2) / 0.5, 9);
      expect(SloBurn.restore(of.serialise()).evaluate(now, OBJECTIVE)).toEqual(of.evaluate(now, OBJECTIVE));
    }
    of.observe(now - 4320 * MINUTE, 0, 1e9);
    expect(of.evaluate(now, OBJECTIVE).finding?.longBurn ?? 0).toBeLessThan(100);
  });
});
