// What is a departure of a series and what is none: its own tail, what it has done before, seasons that it shows, and counts of what hardly ever happens.
import { describe, expect, it } from "vitest";
import {
  KNOWN_DEPARTURES_LENGTH,
  KnownDepartures,
  MORE_DEPARTURES_LENGTH,
} from "../../../../src/domain/detection/departure/known-departures.ts";
import { OWN_TAIL_LENGTH, OwnTail } from "../../../../src/domain/detection/departure/own-tail.ts";
import { youngDeparture } from "../../../../src/domain/detection/departure/young-departure.ts";
import { EvidenceRise, RISE_LENGTH } from "../../../../src/domain/detection/pair/lasting-evidence.ts";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../../support/generator.ts";

const ALONE = { streams: 1, strictness: 1 };
const START = Date.UTC(2026, 0, 5);
const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** Minutes in which people would be told. */
function reported(values: readonly number[], intervalMs = MINUTE): number[] {
  const detector = new PairDetector();
  const times = Float64Array.from(values, (_, place) => START + place * intervalMs);
  const all = Float64Array.from(values);
  return values.flatMap((value, place) => {
    if (detector.observe(times[place] as number, value).reports) return [place];
    const [from, to] = [Math.max(0, place - 119), place + 1];
    const young = detector.isYoung ? youngDeparture(times.subarray(from, to), all.subarray(from, to), ALONE) : undefined;
    return young !== undefined && detector.depart(young).reports ? [place] : [];
  });
}

const noise = (count: number, seed = 1, level = 100): number[] => {
  const { normal } = generator(seed);
  return Array.from({ length: count }, () => level + normal());
};

describe("the tail of a series", () => {
  const tailOf = (sizes: readonly number[]): OwnTail => {
    const tail = new OwnTail(new Float64Array(OWN_TAIL_LENGTH));
    for (const size of sizes) tail.add(size);
    return tail;
  };
  const { normal, uniform } = generator(7);
  const light = Array.from({ length: 20_000 }, () => Math.abs(normal()));
  const heavy = Array.from({ length: 20_000 }, () => (1 - uniform()) ** (-1 / 2.5));

  it("is extrapolated to what is passed once in so many values: light as such, heavy as heavy", () => {
    expect(tailOf(light).exceededWith(1e-5)).toBeGreaterThan(4);
    expect(tailOf(light).exceededWith(1e-5)).toBeLessThan(8);
    expect(tailOf(heavy).exceededWith(1e-5)).toBeGreaterThan(60);
    expect(tailOf(heavy).exceededWith(1e-5)).toBeLessThan(180);
    expect([tailOf(light).isHeavy, tailOf(heavy.map((size) => size ** 2)).isHeavy]).toEqual([false, true]);
  });

  it("asks for no more than three times what was ever seen, and for nothing where too little was", () => {
    const event = [...light.slice(0, 500), 6, 6.5, 6.2, 6.4, 6.6];
    expect(tailOf(event).exceededWith(1e-9)).toBeCloseTo(3 * 6.6, 4);
    expect(tailOf([1, 2]).exceededWith(1e-3)).toBe(0);
    // One of forty has shown in an hour little of what all of them do in it; in a day, its own part.
    const hour = light.slice(0, 60);
    expect(tailOf(hour).exceededWith(1e-9, 40) / tailOf(hour).exceededWith(1e-9)).toBeCloseTo((4 / 3) * ((10 * 39) / 60) ** 0.2, 4);
    expect(tailOf(event).exceededWith(1e-9, 40)).toBeCloseTo(4 * 6.6, 4);
  });

  it("forgets: a month of minutes later half of a departure is left", () => {
    const tail = tailOf(Array(12).fill(10));
    const before = tail.exceededWith(0.5);
    for (let value = 0; value < 43_200; value++) tail.add(0);
    expect(tail.exceededWith(0.5)).toBeGreaterThan(0.45 * before);
    expect(tail.exceededWith(0.5)).toBeLessThan(0.65 * before);
  });
});

describe("departures that are no news", () => {
  const of = (timeMs: number, value: number, change = {}) => ({
    timeMs,
    value,
    expected: 10,
    sd: 1,
    size: Math.abs(value - 10),
    side: Math.sign(value - 10),
    intervalMs: MINUTE,
    hasLevels: false,
    isOfSeason: false,
    isYoung: false,
    isMissed: false,
    ...change,
  });
  const ended = (startedMs: number, minutes: number, change = {}) => ({
    startedMs,
    endedMs: startedMs + minutes * MINUTE,
    intervalMs: MINUTE,
    side: 1,
    from: 10,
    to: 30,
    peak: 20,
    peakValue: 20,
    hasStayed: false,
    ...change,
  });
  const known = () => new KnownDepartures(new Float64Array(KNOWN_DEPARTURES_LENGTH), new Float64Array(MORE_DEPARTURES_LENGTH));

  const DAY = 24 * HOUR;
  const reasonAt = (departures: KnownDepartures, timeMs: number, change = {}) => departures.find(of(timeMs, 30, change))?.reason ?? null;

  it.each([HOUR, DAY, 7 * DAY, 147 * MINUTE])("are none of the second of their kind, %i ms after the first", (gap) => {
    const departures = known();
    departures.add(ended(START, 30));
    expect(reasonAt(departures, START + gap)).toBeNull();
    expect(reasonAt(departures, START + gap, { isYoung: true })).toBeNull();
  });

  it.each([DAY, 7 * DAY])("come back at the time of the day or week at which they came twice: each %i ms", (period) => {
    const departures = known();
    for (const times of [0, 1]) departures.add(ended(START + times * period, 30));
    expect([0, 15, 30].map((minutes) => reasonAt(departures, START + 2 * period + minutes * MINUTE))).toEqual(Array(3).fill("recurring"));
    expect(reasonAt(departures, START + 2 * period + 5 * HOUR)).toBeNull();
    // No longer and no deeper than before.
    expect(departures.find(of(START + 2 * period, 30))?.lastsMs).toBe(48 * MINUTE);
    expect(departures.find(of(START + 2 * period, 60))).toBeNull();
    // A fall to nothing has to come once more.
    expect(departures.find(of(START + 2 * period, 0, { side: 1, size: 10 }))).toBeNull();
  });

  it.each([17, 60, 147, 333, 700])("come back at two equal gaps of %i minutes, and not at two of different ones", (minutes) => {
    const departures = known();
    for (const times of [0, 1, 2]) departures.add(ended(START + times * minutes * MINUTE, 6));
    expect(reasonAt(departures, START + 3 * minutes * MINUTE)).toBe("recurring");
    expect(reasonAt(departures, START + 3.5 * minutes * MINUTE)).toBeNull();
    const uneven = known();
    for (const times of [0, 1, 2.4]) uneven.add(ended(START + times * minutes * MINUTE, 6));
    expect(reasonAt(uneven, START + 3.4 * minutes * MINUTE)).toBeNull();
  });

  it("come at any time once there were ten within two days, and last no longer than those", () => {
    const departures = known();
    const gaps = [0, 97, 251, 333, 512, 641, 790, 877, 1034, 1203];
    for (const minutes of gaps.slice(0, 9)) departures.add(ended(START + minutes * MINUTE, 8));
    expect(reasonAt(departures, START + 1203 * MINUTE)).toBeNull();
    departures.add(ended(START + 1203 * MINUTE, 8));
    expect(departures.find(of(START + 1400 * MINUTE, 30))).toEqual({ reason: "recurring", lastsMs: 15 * MINUTE });
    expect(reasonAt(departures, START + 1400 * MINUTE + 3 * DAY)).toBeNull();
  });

  it("are bursts of a few values, like two before within 20 hours; one before is not enough", () => {
    const departures = known();
    departures.add(ended(START, 3));
    expect(departures.find(of(START + 5.5 * HOUR, 30))).toBeNull();
    expect(reasonAt(departures, START + 5.5 * HOUR, { isYoung: true })).toBe("short_lived");
    departures.add(ended(START + 5.5 * HOUR, 3));
    expect(departures.find(of(START + 9.4 * HOUR, 30))).toEqual({ reason: "short_lived", lastsMs: 7.5 * MINUTE });
    expect(departures.find(of(START + 40.4 * HOUR, 30))).toBeNull();
  });

  it("go on over a weekend as over one before, until its end and no longer", () => {
    const saturday = Date.UTC(2026, 0, 10);
    const departures = known();
    departures.add(ended(saturday + 5 * MINUTE, 48 * 60));
    expect(departures.find(of(saturday + 7 * DAY, 30))).toEqual({ reason: "recurring", lastsMs: 49 * HOUR + 5 * MINUTE });
    expect(reasonAt(departures, saturday + 10 * DAY)).toBeNull();
    const short = known();
    short.add(ended(saturday + 9 * HOUR, 180));
    expect(reasonAt(short, saturday + 7 * DAY + 9 * HOUR)).toBeNull();
  });

  it("are steps that the series has taken before, and the way back from what was its level for long", () => {
    const departures = known();
    departures.add(ended(START, 400, { hasStayed: true }));
    expect(departures.find(of(START + 50.4 * HOUR, 30))?.reason).toBe("known_step");
    expect(departures.find(of(START + 50.4 * HOUR, 10, { expected: 30, size: 20, side: -1 }))?.reason).toBe("known_step");
    expect(departures.find(of(START + 50.4 * HOUR, 0, { expected: 30, size: 30, side: -1 }))).toBeNull();
    expect(departures.find(of(START + 80.4 * HOUR, 10, { expected: 30, size: 20, side: -1 }))).toBeNull();
    expect(departures.find(of(START + 15 * 24 * HOUR, 30))).toBeNull();
  });
});

describe("people are told", () => {
  it("of one severe value of a series that is known, at once, at any interval from a second to a day", () => {
    for (const intervalMs of [1000, 10_000, MINUTE, 5 * MINUTE, HOUR, 24 * HOUR]) {
      const values = [...noise(3000, 2), 140, ...noise(3, 3)];
      // One in a hundred days, as far as chance goes.
      expect(reported(values.slice(0, 3000), intervalMs).length).toBeLessThan(1 + (3000 * intervalMs) / (100 * 24 * HOUR));
      expect(reported(values, intervalMs).filter((place) => place >= 3000)).toEqual([3000]);
    }
  });

  it("of the same shift after 20, 40, 60 and 119 values, once, with its fourth value", () => {
    for (const before of [20, 40, 60, 119]) {
      const shift = [...noise(before, 4), ...noise(120, 5, 120)];
      expect([before, reported(shift)]).toEqual([before, [before + 3]]);
    }
  });

  it("not of noise, a single error in quiet traffic, or a step that a few levels take as they always have", () => {
    expect(reported(noise(5000, 6))).toEqual([]);
    const errors = Array.from({ length: 4000 }, (_, minute) => (minute % 171 === 170 ? 1 : 0));
    expect(reported(errors)).toEqual([]);
    const replicas = Array.from({ length: 6000 }, (_, minute) => (Math.floor(minute / 700) % 2 === 0 ? 3 : 4));
    expect(reported(replicas)).toEqual([700]);
    expect(reported([...replicas, 0, 0])).toEqual([700, 6000]);
  });

  it("not of a job that runs each hour, after its first times, and of one that does not end", () => {
    const { normal } = generator(8);
    const job = (minute: number) => (minute % 60 < 3 ? 205 : 5) + normal();
    const values = Array.from({ length: 5 * 1440 }, (_, minute) => job(minute));
    expect(reported(values).filter((minute) => minute > 240)).toEqual([]);
    const stuck = Array.from({ length: 20 }, () => 205 + normal());
    expect(reported([...values, ...stuck]).filter((minute) => minute > 240)[0]).toBe(values.length + 5);
  });

  it("not of two bursts in a row where one minute in fifty has one, but of three; and of two where there were none", () => {
    const { normal, uniform } = generator(9);
    const bursts = Array.from({ length: 4000 }, (_, minute) => (minute > 100 && uniform() < 0.02 ? 60 : 10) + normal());
    const pagesOf = (...values: number[]) => reported([...bursts, ...Array(10).fill(10), ...values]).filter((minute) => minute >= 4010);
    expect(pagesOf(60, 60, 10, 10, 10, 10)).toEqual([]);
    expect(pagesOf(60, 60, 60)).toEqual([4012]);
    expect(reported([...noise(4000, 10), 160, 160]).filter((minute) => minute >= 3000)).toEqual([4000]);
  });

  it("of a new level, and not of the way back from it once it was accepted", () => {
    const day = [...noise(2000, 11), ...noise(400, 12, 130)];
    expect(reported(day)).toEqual([2000]);
    expect(reported([...day, ...noise(60, 13)])).toEqual([2000]);
  });

  it("never of a series that hardly strays and moves by up to a twentieth of itself, at any age; but of a fourth, once it is known", () => {
    for (const before of [30, 60, 130, 2880]) {
      for (const [level, scatter, move] of [
        [8e9, 0, 8e7],
        [8e9, 1e4, -2e8],
        [300, 0, 12],
        [0.998, 1e-5, 0.04],
      ] as const) {
        const still = noise(before, before, 0).map((value) => level + scatter * value);
        const moved = noise(120, before + 1, 0).map((value) => level + move + scatter * value);
        expect([before, level, reported([...still, ...moved])]).toEqual([before, level, []]);
        const far = moved.map((value) => value + level / 4);
        if (before > 360) expect([before, level, reported([...still, ...far])[0]]).toEqual([before, level, before]);
      }
    }
  });

  it("never of a constant that moves by a thousandth of itself", () => {
    expect(reported([...Array(600).fill(1000), ...Array(60).fill(1001)])).toEqual([]);
  });
});

describe("evidence that goes on", () => {
  it("is news for twelve intervals; again after twelve without it, or 60 after a rise that was told", () => {
    const newsAt = (minutes: readonly number[], isReported: boolean) => {
      const rise = new EvidenceRise(new Float64Array(RISE_LENGTH));
      return minutes.filter((minute) => {
        const isNews = rise.isNovel(START + minute * MINUTE, MINUTE);
        if (isNews && isReported) rise.report();
        return isNews;
      });
    };
    expect(newsAt([0, 6, 12, 13, 20, 33], false)).toEqual([0, 6, 12, 33]);
    expect(newsAt([0, 6, 13, 33, 60, 61], true)).toEqual([0, 6, 61]);
  });
});
