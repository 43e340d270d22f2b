// How far a series goes by itself is measured by its own tail, whatever people are told of: a finding within that is weighed by it.
import { expect, it } from "vitest";
import { findingOf } from "../../../../src/domain/alerting/paging/anomaly-finding.ts";
import type { Anomaly } from "../../../../src/domain/anomaly/anomaly.ts";
import { reachOf } from "../../../../src/domain/detection/pair/own-reach.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 5);

/** A detector that has seen so many minutes of values about 10, one in forty of which is four to eight times as high where bursts are asked for. */
function seen(minutes: number, hasBursts: boolean): PairDetector {
  const { uniform, normal } = generator(5);
  const detector = new PairDetector();
  for (let i = 0; i < minutes; i++) {
    const burst = uniform() < 1 / 40 ? 4 + 4 * uniform() : 1;
    detector.observe(START_MS + i * MINUTE_MS, 10 * (hasBursts ? burst : 1) + 0.3 * normal());
  }
  return detector;
}

function foreseen(detector: PairDetector, value: number, around = SURROUNDED_BY_NOTHING) {
  const next = { times: [START_MS + 1_000 * MINUTE_MS], values: [value], count: 1, pending: undefined };
  const evidence = detector.foresee({ ...next, times: Float64Array.from(next.times), values: Float64Array.from(next.values) }, around, 1);
  return { evidence, reach: reachOf(detector, 1, around) };
}

it("reaches as far as its bursts do, and of noise without any a little", () => {
  const bursts = foreseen(seen(900, true), 50);
  expect(bursts.evidence).toBeUndefined();
  expect(bursts.reach?.size).toBeGreaterThan(35);
  expect(bursts.reach?.bar).toBeGreaterThan(bursts.reach?.size as number);
  const calm = foreseen(seen(900, false), 50);
  expect(calm.evidence).toBeDefined();
  expect(calm.reach?.bar).toBeLessThan(5);
});

it("is the same whatever threshold is set, and unknown of a young series", () => {
  const strict = { ...SURROUNDED_BY_NOTHING, zThreshold: 6 };
  expect(foreseen(seen(900, true), 50, strict).reach).toEqual(foreseen(seen(900, true), 50).reach);
  expect(foreseen(seen(200, true), 50).reach).toBeUndefined();
});

it("is a part of a finding's effect as its verdict says it", () => {
  const reaches = (gates: readonly unknown[]) => {
    const verdict = { observed: 50, expected: 10, upper: 20, baseline: { n: 120, sd: 1, age_seconds: 7_200 }, gates };
    const anomaly = {
      detector: "z_score",
      metricName: "queue_depth",
      attributes: {},
      verdict,
      streams: 1,
      startedAtMs: START_MS,
    } as unknown as Anomaly;
    return findingOf(anomaly, "opened", null, START_MS).effect?.reaches;
  };
  expect(reaches([])).toBe(0);
  expect(reaches([{ name: "own_reach", passed: true, value: 40, limit: 50 }])).toBe(1.25);
  for (const value of [-3, 0, 0.001]) expect(reaches([{ name: "own_reach", passed: true, value, limit: 50 }])).toBe(100);
});
