// How an episode of layer 1 ends, and what of it enters the window: nothing. D3, A4 and A11 are reports of operators.
import { describe, expect, it } from "vitest";
import {
  EVENT_CLOSE,
  EVENT_EXCURSION,
  EVENT_FLAG_ACCEPTED,
  EVENT_FLAG_LASTING,
  EVENT_OPEN,
  EVENT_UPDATE,
} from "../../../../src/core/layout/kernel-event.ts";
import type { ShardEvent } from "../../../../src/domain/kernel/shard-kernel.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;
const SECOND_MS = 1000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** A stream with a value each `stepMs`, `count` of them about 100, by turns 95 and 105. */
function young(count: number, stepMs: number, usual: (i: number) => number = (i) => (i % 2 === 0 ? 95 : 105)) {
  const rig = new ShardRig({ window: 120 });
  const slot = rig.stream();
  let now = START;
  let taken = 0;
  const feed = (values: number, levelAt: (i: number) => number): ShardEvent[] =>
    Array.from({ length: values }).flatMap(() => {
      const events = rig.apply(slot, now, levelAt(taken++));
      now += stepMs;
      return events;
    });
  const wait = (ms: number) => {
    now += ms;
  };
  expect(feed(count, usual)).toEqual([]);
  return { feed, wait, rig, slot, usual };
}

const around = (level: number) => (i: number) => level * (i % 2 === 0 ? 0.95 : 1.05);
const ends = (events: readonly ShardEvent[]) => events.filter(({ kind }) => kind === EVENT_CLOSE);
const isAccepted = ({ flags }: ShardEvent) => (flags & EVENT_FLAG_ACCEPTED) !== 0;

/** Twelve and more values of a calm beginning, and values that scatter far more widely about the same centre ever after: the next of a fixed row. */
const scattered = (i: number) => [500, 20, 310, 930, 150, 700, 60, 400, 830, 240][i % 10] as number;

describe("a calm beginning", () => {
  it("gives way to values that scatter about it: they are the usual ones from then on", () => {
    const { feed, rig, slot } = young(14, 10 * SECOND_MS, (i) => (i % 2 === 0 ? 360 : 440));
    const events = feed(60, scattered);
    const closed = ends(events);
    expect(closed.length).toBeGreaterThan(0);
    expect(closed.some(isAccepted)).toBe(false);
    expect(rig.statistics(slot).m2).toBeGreaterThan(24 * 200 ** 2);
    expect(feed(500, scattered)).toEqual([]);
  });

  it("stays what it was beside a shift, and beside values that leave it on one side and come back", () => {
    const shifted = young(14, 10 * SECOND_MS);
    expect(ends(shifted.feed(200, around(200)))).toEqual([]);
    const bursts = young(14, 10 * SECOND_MS, (i) => (i % 7 === 0 ? 1 : 0));
    expect(ends(bursts.feed(100, (i) => (i % 4 === 0 ? 0 : 9)))).toEqual([]);
  });

  it("stays what it was where it has as many values as came since, or as many as sixty", () => {
    const outnumbered = young(40, 10 * SECOND_MS, (i) => (i % 2 === 0 ? 360 : 440));
    expect(ends(outnumbered.feed(40, scattered))).toEqual([]);
    const known = young(60, 10 * SECOND_MS, (i) => (i % 2 === 0 ? 360 : 440));
    expect(ends(known.feed(200, scattered))).toEqual([]);
  });
});

describe("a lasting shift (D3, A4)", () => {
  it("D3 of a series ten minutes old goes on for as long as the values stay, and is judged against what was before", () => {
    const { feed, rig, slot } = young(60, 10 * SECOND_MS);
    const before = rig.statistics(slot);
    const events = feed(72, (i) => 140 + (i % 2 === 0 ? -5 : 5));
    expect(events.filter(({ kind }) => kind === EVENT_OPEN)).toHaveLength(1);
    expect(ends(events)).toEqual([]);
    expect(rig.statistics(slot)).toEqual(before);
  });

  it("D3 is the same after another hour, and recovers with five values that are back", () => {
    const { feed } = young(60, 10 * SECOND_MS);
    expect(ends(feed(432, around(140)))).toEqual([]);
    expect(ends(feed(4, around(100)))).toEqual([]);
    const [end] = ends(feed(1, around(100)));
    expect(end !== undefined && !isAccepted(end)).toBe(true);
  });

  it("goes on from the window before it once it has recovered", () => {
    const { feed, rig, slot } = young(60, 10 * SECOND_MS);
    feed(100, around(300));
    feed(5, around(100));
    expect(rig.statistics(slot).mean).toBeCloseTo(100, 6);
    expect(feed(200, around(100))).toEqual([]);
    expect(rig.statistics(slot).mean).toBeCloseTo(100, 0);
    expect(feed(2, around(300)).map(({ kind }) => kind)).toContain(EVENT_OPEN);
  });

  it("A4 three-fold for nine minutes lasts after three minutes, said once", () => {
    const { feed } = young(60, 10 * SECOND_MS);
    const events = feed(54, around(300));
    const lasting = events.filter(({ kind, flags }) => kind === EVENT_UPDATE && (flags & EVENT_FLAG_LASTING) !== 0);
    expect(lasting).toHaveLength(1);
    expect((lasting[0]?.timeMs ?? 0) - (lasting[0]?.startMs ?? 0)).toBe(3 * MINUTE_MS);
    expect(ends(events)).toEqual([]);
  });

  it.each([
    ["no four values", 60, 2 * MINUTE_MS, 3],
    ["not three minutes", 60, 10 * SECOND_MS, 18],
    ["fewer than 20 values before", 19, 10 * SECOND_MS, 60],
  ])("does not last yet with %s", (_, known, stepMs, values) => {
    const events = young(known, stepMs).feed(values, around(300));
    expect(events.filter(({ flags }) => (flags & EVENT_FLAG_LASTING) !== 0)).toEqual([]);
  });

  it("ends a hold at once with two values in a row that are many times the usual, and not with one", () => {
    const isExtreme = (events: readonly ShardEvent[]) => events.some(({ flags }) => (flags & EVENT_FLAG_LASTING) !== 0);
    const known = young(60, 10 * SECOND_MS);
    expect(isExtreme(known.feed(1, around(900)))).toBe(false);
    expect(isExtreme(known.feed(1, around(900)))).toBe(true);
    expect(isExtreme(young(60, 10 * SECOND_MS).feed(12, (i) => (i % 2 === 0 ? 900 : 100)))).toBe(false);
    expect(isExtreme(young(60, 10 * SECOND_MS).feed(10, around(350)))).toBe(false);
  });

  it("waits for three minutes where fewer than 20 values are known, nearly all nothing: a process that begins to work", () => {
    const isLasting = (events: readonly ShardEvent[]) => events.some(({ flags }) => (flags & EVENT_FLAG_LASTING) !== 0);
    const idle = young(13, 15 * SECOND_MS, (i) => (i === 6 ? 1 : 0));
    expect(isLasting(idle.feed(12, around(900)))).toBe(false);
    expect(isLasting(idle.feed(2, around(900)))).toBe(true);
    expect(isLasting(young(13, 15 * SECOND_MS).feed(2, around(900)))).toBe(true);
  });

  it("lasts only while no value is back within its bar", () => {
    const { feed } = young(60, 10 * SECOND_MS);
    const events = feed(90, (i) => (i % 6 === 0 ? 105 : 400));
    expect(events.filter(({ flags }) => (flags & EVENT_FLAG_LASTING) !== 0)).toEqual([]);
  });
});

describe("a new level", () => {
  it("is accepted at six hours, with the old and the new value, and its window begins anew", () => {
    const { feed, rig, slot } = young(120, MINUTE_MS);
    expect(ends(feed(360, around(200)))).toEqual([]);
    const [end] = ends(feed(1, around(200)));
    expect(end !== undefined && isAccepted(end)).toBe(true);
    expect(end?.mean).toBeCloseTo(100, 6);
    expect(end?.value).toBeCloseTo(200, 0);
    expect(rig.statistics(slot).mean).toBeCloseTo(200, 0);
    expect(feed(500, around(200))).toEqual([]);
  });

  it("is accepted with 24 values where six hours have fewer", () => {
    const { feed } = young(60, 30 * MINUTE_MS);
    expect(ends(feed(24, around(200)))).toEqual([]);
    expect(ends(feed(1, around(200))).map(isAccepted)).toEqual([true]);
  });

  it("is none of what fell to nothing, before seven days", () => {
    const { feed } = young(120, 10 * MINUTE_MS);
    expect(ends(feed((7 * DAY_MS) / (10 * MINUTE_MS), () => 0))).toEqual([]);
    const [end] = ends(feed(1, () => 0));
    expect(end !== undefined && isAccepted(end)).toBe(true);
    expect(end?.value).toBe(0);
  });

  it("has a way back that is its end, and no news; another one is news again", () => {
    const { feed, rig, slot } = young(120, MINUTE_MS);
    feed(600, around(200));
    expect(feed(400, around(100))).toEqual([]);
    expect(rig.statistics(slot).mean).toBeCloseTo(100, 0);
    expect(feed(2, around(200)).map(({ kind }) => kind)).toContain(EVENT_OPEN);
  });

  it("is not left by one value that lies where the level was", () => {
    const { feed, rig, slot } = young(120, MINUTE_MS);
    feed(600, around(200));
    expect(feed(1, around(100))).toEqual([]);
    expect(feed(300, around(200))).toEqual([]);
    expect(rig.statistics(slot).mean).toBeCloseTo(200, 0);
  });

  it("is accepted of a still series too, whose way back is no news", () => {
    const { feed } = young(120, MINUTE_MS, () => 4);
    expect(ends(feed(362, () => 9)).map(isAccepted)).toEqual([true]);
    expect(feed(100, () => 4)).toEqual([]);
  });
});

describe("a value far out", () => {
  it("A11 behind a gap waits beside the window: the second that agrees with it is declared", () => {
    const { feed, wait } = young(13, 15 * SECOND_MS, (i) => 55 + (i % 3));
    wait(16 * MINUTE_MS);
    const events = feed(3, () => 5000);
    expect(events.map(({ kind }) => kind)).toEqual([EVENT_EXCURSION, EVENT_OPEN, EVENT_UPDATE]);
    for (const { mean } of events) expect(mean).toBeCloseTo(56, 0);
  });

  it("A11 behind a gap joins once those after it are as before", () => {
    const { feed, wait, rig, slot } = young(40, 15 * SECOND_MS, (i) => 55 + (i % 3));
    const before = rig.statistics(slot).m2;
    wait(16 * MINUTE_MS);
    expect(feed(1, () => 70).map(({ kind }) => kind)).toEqual([EVENT_EXCURSION]);
    expect(rig.statistics(slot).m2).toBe(before);
    feed(3, () => 56);
    expect(rig.statistics(slot).m2).toBeGreaterThan(before + 100);
  });

  it("of few per cent in a still series, once, leaves the window as it was", () => {
    const { feed, rig, slot } = young(60, 15 * SECOND_MS, () => 20);
    const before = rig.statistics(slot);
    feed(1, () => 21.4);
    expect(feed(20, () => 20)).toEqual([]);
    expect(rig.statistics(slot)).toEqual(before);
  });
});
