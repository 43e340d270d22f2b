// What the long baseline of a pair says: the record, the reasons that keep an alert back, and the sentence.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import type { PairVerdict } from "../../../../src/domain/detection/pair/pair-finding.ts";
import { SURROUNDED_BY_NOTHING } from "../../../../src/domain/detection/pair/pair-surroundings.ts";
import {
  departureOf,
  mayAlert,
  type PairObservation,
  pairFacts,
  pairSentence,
  pairVerdict,
  pairZ,
} from "../../../../src/domain/detection/pair/pair-verdict.ts";
import { HOUR_PROFILE_LENGTH, HourProfile } from "../../../../src/domain/detection/seasonal/hour-profile.ts";
import type { OffsetMs } from "../../../../src/domain/detection/seasonal/time-zone-hours.ts";

const MINUTE_MS = 60_000;
const INTERVAL = 5 * MINUTE_MS;
const DAY_MS = 24 * 60 * MINUTE_MS;
const DAY_ROWS = 288;
const START = Date.UTC(2026, 0, 5);

function noise(seed: number): () => number {
  const random = seededRandom(seed);
  return () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

/** Gives the detector rows [from, to) and calls back with each. */
function feed(
  detector: PairDetector,
  [from, to]: readonly [number, number],
  value: (row: number) => number,
  visit: (row: number, verdict: PairVerdict) => void = () => undefined,
  deployedMs = 0,
): void {
  for (let row = from; row < to; row++)
    visit(row, detector.observe(START + row * INTERVAL, value(row), { ...SURROUNDED_BY_NOTHING, deployedMs }));
}

/** As it is now, however the detector goes on, with something else. */
function changed(verdict: PairVerdict, change: Partial<PairVerdict> = {}): PairVerdict {
  const { score, z } = verdict;
  return { ...verdict, score, z, ...change };
}

function observation(detector: PairDetector, verdict: PairVerdict, row: number, direction: PairObservation["direction"] = "both") {
  return { verdict, baseline: detector.baseline, ageSeconds: 3600, localMs: START + row * INTERVAL, direction };
}

function sentence(of: PairObservation, label: string): string {
  const verdict = pairVerdict(of);
  return pairSentence({ ...verdict, departure: departureOf(verdict) }, pairFacts(of), label);
}

/** The first observation of which `is` holds. */
function firstWhere(
  detector: PairDetector,
  rows: readonly [number, number],
  value: (row: number) => number,
  is: (verdict: PairVerdict) => boolean,
) {
  let found: { row: number; verdict: PairVerdict } | undefined;
  feed(detector, rows, value, (row, verdict) => {
    if (found === undefined && is(verdict)) found = { row, verdict: changed(verdict) };
  });
  return found as { row: number; verdict: PairVerdict };
}

describe("the verdict of a pair", () => {
  it("of what departs is outside of the bounds that it names, though the level is none of note by itself", () => {
    const next = noise(4);
    const detector = new PairDetector();
    feed(detector, [0, 400], () => 100 + next());
    let departed: PairVerdict | undefined;
    feed(
      detector,
      [400, 420],
      () => 300 + next(),
      (_, verdict) => {
        departed = changed(verdict);
      },
    );
    const verdict = changed(departed as PairVerdict, { departs: false, evidence: 1.1, level: 2.9, levelBar: 3.7, scale: 68 });
    expect(verdict.departure).toBeGreaterThan(0);
    const { observed, upper } = pairVerdict(observation(detector, verdict, 419));
    expect(observed).toBeGreaterThan(upper);
  });
  it("of a shift has the mean for the value, its bounds, and passes all gates", () => {
    const next = noise(1);
    const detector = new PairDetector();
    const at = 3 * DAY_ROWS;
    const { row, verdict } = firstWhere(
      detector,
      [0, at + 24],
      (r) => 100 + next() - (r >= at ? 6 : 0),
      ({ firing }) => firing.opened,
    );
    expect(row).toBeGreaterThanOrEqual(at);
    const record = pairVerdict(observation(detector, verdict, row));
    expect(record).toMatchObject({ detector: "adaptive", layers: ["statistical", "adaptive"], suppressed_by: null, contributions: [] });
    expect(record.gates.every(({ passed }) => passed)).toBe(true);
    expect(record.z).toBeLessThan(-2.5);
    expect(record.observed).toBeLessThan(record.lower);
    expect(record.expected).toBeCloseTo(100, 0);
    expect((record.lower + record.upper) / 2).toBeCloseTo(record.expected, 9);
    expect(record.p).toBeLessThan(0.02);
    expect(record.baseline).toMatchObject({ age_seconds: 3600 });
    expect(sentence(observation(detector, verdict, row), "cpu")).toMatch(
      /^cpu was 9\d\.\d+ on average over its last 12 values \(equivalent z -\d\.\d\), below the (99|100)[.\d]* that .*\(expected [\d.]+ to [\d.]+\)$/,
    );
  });

  it("of a broken season names the hour", () => {
    const next = noise(3);
    const detector = new PairDetector();
    const at = 10 * DAY_ROWS + 72;
    const value = (row: number) => 100 + (row >= at ? 0 : 30 * Math.sin((2 * Math.PI * row) / DAY_ROWS)) + next();
    const { row, verdict } = firstWhere(detector, [0, at + 24], value, ({ firing }) => firing.opened);
    const record = pairVerdict(observation(detector, verdict, row));
    // 2026-01-15 is a Thursday.
    expect(record.baseline.bucket).toMatch(/^working day at 0[67]:00$/);
    expect(record.expected).toBeGreaterThan(110);
    expect(sentence(observation(detector, verdict, row), "m")).toMatch(/that is usual on a working day at 0[67]:00/);
    verdict.isOfKnownDay = false;
    expect(sentence(observation(detector, verdict, row), "m")).toMatch(/that was to be expected at this hour/);
    expect(pairVerdict(observation(detector, verdict, row)).baseline.bucket).toBeNull();
  });

  it("says what is usual on a working day from two of them on", () => {
    const profile = new HourProfile(new Float64Array(HOUR_PROFILE_LENGTH));
    const [friday, monday] = [Date.UTC(2026, 0, 9, 14), Date.UTC(2026, 0, 12, 14)];
    const known = [friday, friday + DAY_MS, monday, monday + DAY_MS].map((hour) => {
      const isKnown = profile.knowsKindOfDay(hour, MINUTE_MS);
      for (let minute = 0; minute < 60; minute++) profile.add(hour + minute * MINUTE_MS, 1, MINUTE_MS);
      return isKnown;
    });
    expect(known).toEqual([false, false, false, true]);
  });

  it.each([
    [
      "learning",
      (d: PairDetector) =>
        firstWhere(
          d,
          [0, 13],
          (row) => (row === 12 ? 1e6 : row % 2),
          ({ firing }) => firing.suppressedBy !== null,
        ),
    ],
    [
      "same_incident",
      (d: PairDetector) => {
        const next = noise(5);
        const isUp = (row: number) => (row >= 800 && row < 806) || row >= 840;
        return firstWhere(
          d,
          [0, 900],
          (row) => 100 + next() + (isUp(row) ? 12 : 0),
          ({ firing }) => firing.suppressedBy === "same_incident",
        );
      },
    ],
  ])("says that it is held back as %s", (reason, make) => {
    const detector = new PairDetector();
    const { row, verdict } = make(detector);
    const { suppressed_by: suppressedBy, gates } = pairVerdict(observation(detector, verdict, row));
    expect(suppressedBy).toBe(reason);
    expect(gates.filter(({ passed }) => !passed).length).toBe(1);
  });

  it("says that it is held back as flapping where the bar was raised", () => {
    const verdict = changed(new PairDetector().observe(START, 1), { evidence: 1.2, bar: 1.4 });
    const gate = { isFiring: false, opened: false, suppressedBy: "flapping" } as const;
    const record = pairVerdict(observation(new PairDetector(), changed(verdict, { firing: gate }), 0));
    expect(record.suppressed_by).toBe("flapping");
    expect(record.gates.find(({ name }) => name === "flap_control")).toEqual({
      name: "flap_control",
      passed: false,
      value: 1.2,
      limit: 1.4,
    });
  });

  it("is ordinary where nothing is", () => {
    const detector = new PairDetector();
    feed(detector, [0, 99], (row) => row % 3);
    const record = pairVerdict(observation(detector, detector.observe(START + 99 * INTERVAL, 0), 99));
    expect(record.suppressed_by).toBe("ordinary");
  });

  it("is held back where its direction may not alert", () => {
    expect([mayAlert(1, "both"), mayAlert(1, "high"), mayAlert(1, "low"), mayAlert(-1, "low"), mayAlert(-1, "high")]).toEqual([
      true,
      true,
      false,
      true,
      false,
    ]);
    const verdict = changed(new PairDetector().observe(START, 1), { evidence: 2, level: 7, side: -1 });
    const gate = { isFiring: true, opened: true, suppressedBy: null };
    expect(pairVerdict(observation(new PairDetector(), changed(verdict, { firing: gate }), 0, "high")).suppressed_by).toBe("direction");
  });

  it("counts a spike to the other side of the level for nothing", () => {
    const verdict = changed(new PairDetector().observe(START, 1), { level: 3, side: -1, z: 9 });
    expect(pairZ(verdict)).toBe(-3);
    expect(pairZ(changed(verdict, { z: -9 }))).toBe(-9);
    expect(pairZ(changed(verdict, { level: 1e6 }))).toBe(-99);
  });
});

describe("a deployment", () => {
  const at = 3 * DAY_ROWS;
  const shifted = (seed: number, by: number) => {
    const next = noise(seed);
    return (row: number) => 100 + next() + (row >= at ? by : 0);
  };
  const openings = (deployedMs: number, seed: number, by = 4): number => {
    let opened = 0;
    const value = shifted(seed, by);
    feed(new PairDetector(), [0, at + 2 * DAY_ROWS], value, (row, verdict) => (opened += row >= at && verdict.opened ? 1 : 0), deployedMs);
    return opened;
  };

  it("makes another level ordinary; without one it alerts", () => {
    for (let seed = 1; seed <= 10; seed++) {
      expect([seed, openings(0, seed)]).toEqual([seed, 1]);
      expect([seed, openings(START + at * INTERVAL - MINUTE_MS, seed)]).toEqual([seed, 0]);
    }
  });

  it("of an hour before does not cover a shift", () => {
    expect(openings(START + at * INTERVAL - 61 * MINUTE_MS, 1, 5)).toBe(1);
  });

  it("lets what is far beyond any release through", () => {
    let opened = 0;
    const next = noise(7);
    const visit = (_: number, { firing }: PairVerdict) => (opened += firing.opened ? 1 : 0);
    feed(new PairDetector(), [0, at + 24], (row) => 100 + next() + (row >= at ? 40 : 0), visit, START + at * INTERVAL);
    expect(opened).toBe(1);
  });
});

describe("an incident", () => {
  const season = (row: number) => 100 + 30 * Math.sin((2 * Math.PI * row) / DAY_ROWS);
  const at = 10 * DAY_ROWS + 60;
  /** What is expected a day after the middle of an incident of so many rows, less what was usual. */
  const learned = (rows: number): number => {
    const next = noise(4);
    const detector = new PairDetector();
    let expected = 0;
    const value = (row: number) => season(row) + next() - (row >= at && row < at + rows ? 60 : 0);
    feed(detector, [0, at + DAY_ROWS + 25], value, (_, verdict) => (expected = verdict.expected));
    const without = new PairDetector();
    const again = noise(4);
    let usual = 0;
    feed(
      without,
      [0, at + DAY_ROWS + 25],
      (row) => season(row) + again(),
      (_, verdict) => (usual = verdict.expected),
    );
    return expected - usual;
  };

  it("of hours leaves what is usual at these hours as it was", () => expect(Math.abs(learned(48))).toBeLessThan(0.5));

  it("of longer than six hours is the new normal", () => {
    const next = noise(4);
    const detector = new PairDetector();
    let expected = 0;
    const value = (row: number) => season(row) + next() - (row >= at ? 60 : 0);
    feed(detector, [0, at + 8 * DAY_ROWS], value, (_, verdict) => (expected = verdict.expected));
    expect(expected).toBeLessThan(season(at) - 20);
  });
});

describe("a season by the clock on the wall", () => {
  it("goes on over a change of the clock, where one by UTC does not", () => {
    const jump = 22 * DAY_ROWS;
    const offsetMs: OffsetMs = (timeMs) => (timeMs >= START + jump * INTERVAL ? 60 * MINUTE_MS : 0);
    const profile = (localMs: number) => (Math.floor(localMs / (60 * MINUTE_MS)) % 24 < 12 ? 200 : 100);
    const openings = (detector: PairDetector): number => {
      const next = noise(2);
      let opened = 0;
      const value = (row: number) => profile(START + row * INTERVAL + offsetMs(START + row * INTERVAL)) + next();
      feed(detector, [0, jump + DAY_ROWS], value, (row, { firing }) => (opened += row >= jump && firing.opened ? 1 : 0));
      return opened;
    };
    expect(openings(new PairDetector(undefined, offsetMs))).toBe(0);
    expect(openings(new PairDetector())).toBeGreaterThan(0);
  });
});
