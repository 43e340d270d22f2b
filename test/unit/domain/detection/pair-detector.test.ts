// The slow detector of a pair: what it finds, what it leaves alone, and that its state is all there is to it.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { PAIR_STATE_BYTES } from "../../../../src/domain/detection/pair/pair-state.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 5);
const INTERVAL = 5 * MINUTE_MS;
const DAY_ROWS = 288;

/** Normal noise by Box and Muller. */
function noise(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Rows at which an alert opened. */
function openings(detector: PairDetector, value: (row: number) => number, rows: number): number[] {
  return Array.from({ length: rows }, (_, row) => row).filter((row) => detector.observe(START + row * INTERVAL, value(row)).firing.opened);
}

describe("pair detector", () => {
  it("keeps within 4 KiB of state", () => {
    expect(PAIR_STATE_BYTES).toBe(new PairDetector().state.byteLength);
    expect(PAIR_STATE_BYTES).toBeLessThanOrEqual(4608);
  });

  it("refuses a state of another size", () => expect(() => new PairDetector(new ArrayBuffer(8))).toThrow(/bytes/));

  it("stays quiet on noise: 20 pairs, 14 days", () => {
    let alerts = 0;
    for (let seed = 0; seed < 20; seed++) {
      const next = noise(seed);
      alerts += openings(new PairDetector(), () => 100 + next(), 14 * DAY_ROWS).length;
    }
    expect(alerts).toBeLessThanOrEqual(20 * 14 * 0.01);
  });

  it("stays quiet on a daily season once it has seen three days of it", () => {
    const next = noise(1);
    const opened = openings(new PairDetector(), (row) => 100 + 30 * Math.sin((2 * Math.PI * row) / DAY_ROWS) + next(), 14 * DAY_ROWS);
    expect(opened.filter((row) => row > 3 * DAY_ROWS)).toEqual([]);
  });

  it("finds a shift within the hour, and opens one alert for it", () => {
    const next = noise(2);
    const at = 7 * DAY_ROWS;
    const opened = openings(new PairDetector(), (row) => 100 + next() + (row >= at ? 5 : 0), at + 36).filter((row) => row >= at);
    expect(opened.length).toBe(1);
    expect(opened[0]).toBeLessThan(at + 12);
  });

  it("finds what breaks a season though the value itself is ordinary", () => {
    const next = noise(3);
    const at = 10 * DAY_ROWS + 72; // at the daily peak the value stands at the daily mean
    const value = (row: number): number => 100 + (row >= at && row < at + 24 ? 0 : 30 * Math.sin((2 * Math.PI * row) / DAY_ROWS)) + next();
    const opened = openings(new PairDetector(), value, at + 36);
    expect(opened.filter((row) => row >= at).length).toBe(1);
  });

  it("scores a spike at once, and the row before it as ordinary", () => {
    const next = noise(4);
    const detector = new PairDetector();
    for (let row = 0; row < 1000; row++) detector.observe(START + row * INTERVAL, 100 + next());
    expect(detector.observe(START + 1000 * INTERVAL, 100.5).score).toBeLessThan(0.4);
    const spike = detector.observe(START + 1001 * INTERVAL, 130);
    expect(spike.score).toBeGreaterThan(0.7);
    expect(spike.z).toBeGreaterThan(3);
    expect(spike.expected).toBeCloseTo(100, 0);
    expect(detector.observe(START + 1100 * INTERVAL, 70).z).toBeLessThan(-3);
  });

  it("opens nothing before its 25th value", () => {
    const detector = new PairDetector();
    const value = (row: number): number => (row >= 20 ? 1e6 : row % 2);
    expect(openings(detector, value, 24)).toEqual([]);
  });

  it("goes on from a copy of its state, bit by bit", () => {
    const [first, next] = [noise(5), noise(5)];
    const whole = new PairDetector();
    let part = new PairDetector();
    for (let row = 0; row < 3000; row++) {
      if (row % 700 === 0) part = new PairDetector(part.state.slice(0));
      const a = { ...whole.observe(START + row * INTERVAL, first() + (row > 2000 ? 9 : 0)) };
      const b = part.observe(START + row * INTERVAL, next() + (row > 2000 ? 9 : 0));
      expect(b).toEqual(a);
    }
  });

  it.each([0, 5, -1e12, 1e37])("stays finite on a constant %d that changes at last", (constant) => {
    const detector = new PairDetector();
    for (let row = 0; row < 100; row++) expect(detector.observe(START + row * INTERVAL, constant).score).toBeLessThan(1e-6);
    const { score, z } = detector.observe(START + 100 * INTERVAL, constant + Math.max(1, Math.abs(constant)));
    expect(score).toBeGreaterThan(0.7);
    expect(score).toBeLessThan(1);
    expect(Number.isFinite(z)).toBe(true);
  });

  it("takes values beyond single precision", () => {
    const detector = new PairDetector();
    for (let row = 0; row < 100; row++) expect(detector.observe(START + row * INTERVAL, 1e140).score).toBeLessThan(1e-6);
    expect(detector.observe(START + 100 * INTERVAL, 0).score).toBeGreaterThan(0.7);
  });
});

describe("values of several streams together", () => {
  it("are at a level of their own from the moment that one joins or leaves, and are told when they move from there", () => {
    for (const [before, factor] of [
      [3_000, 2],
      [3_000, 3],
      [3_000, 0.5],
      [400, 2],
    ] as const) {
      const { normal } = generator(before + factor);
      const detector = new PairDetector();
      const reported: number[] = [];
      const changedMs = START + before * 60_000 - 30_000;
      for (let minute = 0; minute < before + 300; minute++) {
        const level = 100 * (minute < before ? 1 : factor) * (minute >= before + 200 ? 4 : 1);
        const around = { ...SURROUNDED_BY_NOTHING, changedMs: minute < before ? 0 : changedMs };
        if (detector.observe(START + minute * 60_000, level * (1 + 0.04 * normal()), around).reports) reported.push(minute - before);
      }
      expect([before, factor, reported[0]]).toEqual([before, factor, 200]);
    }
  });
});
