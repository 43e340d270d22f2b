// What opens, moves and closes an episode, one case a rule.
import { describe, expect, it } from "vitest";
import {
  EVENT_CLOSE,
  EVENT_EXCURSION,
  EVENT_FLAG_AFTER_GAP,
  EVENT_FLAG_CONSTANT,
  EVENT_FLAG_HIGH,
  EVENT_FLAG_STRONG,
  EVENT_OPEN,
  EVENT_UPDATE,
} from "../../../../src/core/layout/kernel-event.ts";
import { FLAG_OPERATION } from "../../../../src/core/layout/stream-record.ts";
import { zOfRatio } from "../../../../src/domain/detection/thresholds.ts";
import type { ShardEvent } from "../../../../src/domain/kernel/shard-kernel.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;
const STEP = 10_000;

/** A stream that has taken 120 values with mean 100 and sd 10 (+-10 in turn). */
function settled(
  flags = 0,
  baseline: (i: number) => number = (i) => (i % 2 === 0 ? 90 : 110),
  confirmation = true,
): { feed: (...values: number[]) => ShardEvent[]; wait: (ms: number) => void; rig: ShardRig; slot: number } {
  const rig = new ShardRig({ window: 120, confirmation });
  const slot = rig.stream(flags);
  let now = START;
  const feed = (...values: number[]): ShardEvent[] =>
    values.flatMap((value) => {
      const events = rig.apply(slot, now, value);
      now += STEP;
      return events;
    });
  expect(feed(...Array.from({ length: 120 }, (_, i) => baseline(i)))).toEqual([]);
  return {
    feed,
    wait: (ms) => {
      now += ms;
    },
    rig,
    slot,
  };
}

function kinds(events: readonly ShardEvent[]): number[] {
  return events.map((event) => event.kind);
}

const FIRST = START + 120 * STEP;

describe("opening", () => {
  it("takes two of the last three samples over the threshold", () => {
    expect(kinds(settled().feed(135, 100, 100, 135, 100, 100))).toEqual([EVENT_EXCURSION, EVENT_EXCURSION]);
    const [excursion, open] = settled().feed(135, 100, 138);
    expect(excursion).toMatchObject({ kind: EVENT_EXCURSION, timeMs: FIRST, count: 120, flags: EVENT_FLAG_HIGH });
    expect(open).toMatchObject({ kind: EVENT_OPEN, timeMs: FIRST + 2 * STEP, startMs: FIRST });
    expect(settled().feed(135, 138)[1]).toMatchObject({ kind: EVENT_OPEN, startMs: FIRST, timeMs: FIRST + STEP });
  });
  it("or one sample over twice the threshold", () => {
    const [open] = settled().feed(175);
    expect(open).toMatchObject({ kind: EVENT_OPEN, startMs: FIRST, flags: EVENT_FLAG_HIGH | EVENT_FLAG_STRONG });
    expect(open?.peak).toBe(open?.ratio);
  });
  it("but not one sample after a gap", () => {
    const { feed, wait } = settled();
    wait(11 * STEP);
    const [excursion, open] = feed(175, 175);
    expect(excursion).toMatchObject({
      kind: EVENT_EXCURSION,
      flags: EVENT_FLAG_HIGH | EVENT_FLAG_STRONG | EVENT_FLAG_AFTER_GAP,
    });
    expect(open).toMatchObject({ kind: EVENT_OPEN, startMs: excursion?.timeMs });
  });
  it("in either direction", () => {
    expect(settled().feed(25)[0]).toMatchObject({ kind: EVENT_OPEN, flags: EVENT_FLAG_STRONG });
    expect(settled().feed(65, 65)[1]?.ratio).toBeLessThan(-3);
    expect(kinds(settled().feed(135, 65))).toEqual([EVENT_EXCURSION, EVENT_EXCURSION]);
    expect(kinds(settled().feed(175, 25))).toEqual([EVENT_OPEN, EVENT_OPEN]);
  });
  it("takes an operation-class stream twice as far", () => {
    expect(kinds(settled(FLAG_OPERATION).feed(150, 150, 150))).toEqual([]);
    expect(kinds(settled(FLAG_OPERATION).feed(185, 185))).toEqual([EVENT_EXCURSION, EVENT_OPEN]);
    expect(kinds(settled(FLAG_OPERATION).feed(300))).toEqual([EVENT_OPEN]);
  });
  it("takes one sample over the threshold where nothing is to be confirmed: to the letter of rule 1.1.2", () => {
    const literal = (flags = 0, baseline?: (i: number) => number) => settled(flags, baseline, false);
    expect(literal().feed(135)[0]).toMatchObject({ kind: EVENT_OPEN, startMs: FIRST, flags: EVENT_FLAG_HIGH | EVENT_FLAG_STRONG });
    expect(literal().feed(65)[0]).toMatchObject({ kind: EVENT_OPEN, flags: EVENT_FLAG_STRONG });
    expect(literal().feed(130)).toEqual([]);
    expect(literal(FLAG_OPERATION).feed(150)).toEqual([]);
    expect(kinds(literal(FLAG_OPERATION).feed(185))).toEqual([EVENT_OPEN]);
    const { feed, wait } = literal();
    wait(11 * STEP);
    expect(kinds(feed(135))).toEqual([EVENT_OPEN]);
    expect(kinds(literal(0, () => 5).feed(6))).toEqual([EVENT_OPEN]);
  });
  it("is impossible before the minimum of samples", () => {
    const rig = new ShardRig({ window: 120, minimumSamples: 12 });
    const slot = rig.stream();
    for (let i = 0; i < 12; i++) expect(rig.apply(slot, START + i * STEP, i === 5 ? 1e6 : i)).toEqual([]);
  });
});

describe("the value is not in its own baseline", () => {
  it("so that its z is not bounded by the number of values", () => {
    const rig = new ShardRig({ window: 12 });
    const slot = rig.stream();
    for (let i = 0; i < 12; i++) rig.apply(slot, START + i * STEP, i % 2);
    const [open] = rig.apply(slot, START + 12 * STEP, 1e6);
    // Included, |z| could not exceed (n - 1) / sqrt(n) = 3.3 for 13 values.
    expect(open?.ratio).toBeGreaterThan(1e5);
    expect(open?.mean).toBeCloseTo(0.5, 12);
    expect(zOfRatio(open?.ratio ?? 0, open?.count ?? 0)).toBeGreaterThan(10);
  });
});

describe("an open episode", () => {
  it("reports when its peak has grown by half, and closes after five evaluations below 0.7 of the threshold", () => {
    const { feed } = settled();
    const [, open] = feed(135, 135);
    expect(open?.kind).toBe(EVENT_OPEN);
    expect(feed(140, 145)).toEqual([]);
    const [update] = feed(170);
    expect(update).toMatchObject({ kind: EVENT_UPDATE, startMs: FIRST });
    expect(update?.peak).toBeGreaterThan(1.5 * (open?.peak ?? 99));
    expect(feed(100, 100, 100, 100, 134, 100, 100, 100, 100)).toEqual([]);
    const [close] = feed(100);
    expect(close).toMatchObject({ kind: EVENT_CLOSE, startMs: FIRST });
    expect(close?.peak).toBe(Math.fround(update?.peak ?? 0));
    expect(kinds(feed(100, 100, 100))).toEqual([]);
  });
});

describe("a constant series", () => {
  const zero = (): number => 0;
  it("opens at the second departure in a row, with z capped", () => {
    const [excursion, open] = settled(0, zero).feed(1, 1);
    expect(excursion).toMatchObject({
      kind: EVENT_EXCURSION,
      ratio: 10,
      flags: EVENT_FLAG_HIGH | EVENT_FLAG_CONSTANT | EVENT_FLAG_STRONG,
    });
    expect(open).toMatchObject({ kind: EVENT_OPEN, ratio: 10, mean: 0, rawSd: 0, startMs: FIRST });
  });
  it("opens neither at single departures nor at ones of the other side", () => {
    expect(kinds(settled(0, zero).feed(5, 0, 9, 0, 0))).toEqual([EVENT_EXCURSION, EVENT_EXCURSION]);
    expect(kinds(settled(0, zero).feed(5, -5))).toEqual([EVENT_EXCURSION, EVENT_EXCURSION]);
  });
  it("does not mind less than one percent, or a step that it has seen before", () => {
    expect(settled(0, () => 100).feed(100.9)).toEqual([]);
    expect(settled(0, () => 100).feed(99.1)).toEqual([]);
    expect(kinds(settled(0, zero).feed(1, 0, 1))).toEqual([EVENT_EXCURSION]);
  });
  it("is exactly constant again once everything else has left the window", () => {
    const { feed, rig, slot } = settled(0, (i) => 1e9 + 0.1 * i);
    feed(...Array.from({ length: 150 }, () => 1e9 + 6));
    expect(rig.statistics(slot)).toEqual({ mean: 1e9 + 6, m2: 0 });
  });
});
