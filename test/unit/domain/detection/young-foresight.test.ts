// What is foreseen of the first values of a series is what they would lead to one by one, though of a young series only its departures are looked at.
import { expect, it } from "vitest";
import { DEPARTING_VALUES } from "../../../../src/domain/detection/departure/departure-detector.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { evidenceOf } from "../../../../src/domain/detection/pair/pair-finding.ts";
import { type NewValues, type PairSurroundings, SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { generator } from "../../../support/generator.ts";

const START_MS = Date.UTC(2026, 0, 5, 3);
const SIDES = [1, -1] as const;

/** As a cycle would judge them, everything of the state included. */
function observed({ times, values, count, pending }: NewValues, around: PairSurroundings, side: 1 | -1) {
  const detector = new PairDetector();
  let evidence: ReturnType<typeof evidenceOf>;
  for (let i = 0; i < count; i++)
    evidence = evidenceOf(detector.observe(times[i] as number, values[i] as number, around), side) ?? evidence;
  if (pending === undefined || detector.count < DEPARTING_VALUES) return evidence;
  const verdict = detector.observe(pending.timeMs, pending.mean, around);
  const last = detector.departure.opened ? evidenceOf(verdict, side) : undefined;
  const bar = (last?.bar ?? 0) / Math.sqrt(pending.share);
  return last !== undefined && last.size >= bar ? { size: last.size, bar } : evidence;
}

/** A series of whole numbers or others, with bursts, steps, gaps and one last far value. */
function series(seed: number): { values: NewValues; around: PairSurroundings } {
  const { uniform, normal } = generator(seed);
  const pick = <T>(of: readonly T[]): T => of[Math.floor(uniform() * of.length)] as T;
  const count = Math.floor(uniform() * 121);
  const intervalMs = pick([60_000, 60_000, 60_000, 300_000, 3_600_000]);
  const [noise, burst, step, gap] = [pick([0, 0.01, 1, 5]), pick([0, 0.05, 0.2]), pick([0, 0, 0.03]), pick([0, 0, 0.02])];
  const isWhole = uniform() < 0.3;
  const times = new Float64Array(120);
  const values = new Float64Array(120);
  let [atMs, level] = [START_MS, pick([0, 1, 100])];
  for (let i = 0; i < Math.min(120, count); i++) {
    atMs += uniform() < gap ? 90 * intervalMs : intervalMs * (1 + 0.02 * normal());
    if (uniform() < step) level += 20 * normal();
    const value = level + noise * normal() + (uniform() < burst ? pick([40, -40, 400]) : 0);
    times[i] = atMs;
    values[i] = isWhole ? Math.round(value) : value;
  }
  const pending = uniform() < 0.8 ? { timeMs: atMs + intervalMs, mean: level + pick([0, 60, -400]), share: pick([1, 0.3]) } : undefined;
  const around = {
    ...SURROUNDED_BY_NOTHING,
    streams: pick([1, 40]),
    isCounter: uniform() < 0.3,
    counts: isWhole ? pick([0, 1]) : 0,
    deployedMs: uniform() < 0.1 ? START_MS + 20 * intervalMs : 0,
  };
  return { values: { times, values, count: Math.min(120, count), pending }, around };
}

it("foresees of first values what observing them leads to", () => {
  let told = 0;
  for (let seed = 1; seed <= 600; seed++) {
    const { values, around } = series(seed);
    for (const side of SIDES) {
      const expected = observed(values, around, side);
      expect(new PairDetector().foresee(values, around, side), `seed ${seed}`).toEqual(expected);
      if (expected !== undefined) told++;
    }
  }
  expect(told).toBeGreaterThan(10);
});

it("leaves the state as it was", () => {
  const { values, around } = series(3);
  const detector = new PairDetector();
  detector.foresee(values, around, 1);
  expect(new Uint8Array(detector.state).every((byte) => byte === 0)).toBe(true);
});
