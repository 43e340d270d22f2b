// Cumulative series of every kind count the same: counters by the kernel, histograms of both forms and summaries by their points, each against a slow twin that
// has the rule in other words. Senders are generated: intervals, starts that are told, unknown, wavering or later than their points, restarts that a start tells or not.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { FLAG_COUNTER, WINDOW_MAX } from "../../../../src/core/layout/stream-record.ts";
import { ByteWriter } from "../../../../src/domain/codec/byte-writer.ts";
import { type Distribution, EMPTY_DISTRIBUTION } from "../../../../src/domain/distribution/distribution.ts";
import { writeDistribution } from "../../../../src/domain/distribution/distribution-coding.ts";
import { PointHistory } from "../../../../src/domain/distribution/point-history.ts";
import { CountedValues } from "../../../../src/domain/history/counted-values.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START_MS = Date.UTC(2026, 0, 5, 12);

interface Sent {
  readonly timeMs: number;
  readonly startMs: number;
  readonly count: number;
}

/** What a process counts from one point to the next, whether it began anew in between, and how its start is told. */
const step = fc.record({
  rise: fc.integer({ min: 1, max: 9 }),
  restarts: fc.integer({ min: 0, max: 7 }).map((draw) => draw === 0),
  told: fc.constantFrom("right", "right", "wavering", "unknown", "own time", "later"),
  waver: fc.integer({ min: -900, max: 900 }),
});

const sender = fc.record({
  intervalMs: fc.constantFrom(10_000, 15_000, 30_000, 60_000),
  ageMs: fc.constantFrom(0, 5_000, 20_000, 3_600_000),
  before: fc.integer({ min: 1, max: 2_000 }),
  steps: fc.array(step, { minLength: 2, maxLength: 30 }),
});

type Sender = typeof sender extends fc.Arbitrary<infer Made> ? Made : never;

function sentBy({ intervalMs, ageMs, before, steps }: Sender): Sent[] {
  let began = START_MS - ageMs;
  let count = before;
  return steps.map(({ rise, restarts, told, waver }, i) => {
    const timeMs = START_MS + i * intervalMs;
    if (i > 0 && restarts) {
      began = timeMs - 4_000;
      count = 0;
    }
    if (i > 0) count += rise;
    const starts = { right: began, wavering: Math.min(began + waver, timeMs), unknown: 0, "own time": timeMs, later: timeMs + 50_000 };
    return { timeMs, startMs: starts[told], count };
  });
}

/** By time what each point counts, in the words of the decision; counts rise by 9 at most, so that a fall to them is plausible. */
function expected(sent: readonly Sent[]): Map<number, number> {
  const counted = new Map<number, number>();
  let known = 0;
  sent.forEach(({ timeMs, startMs, count }, i) => {
    const before = sent[i - 1];
    const told = startMs > 0 && startMs < timeMs;
    if (before === undefined) {
      if (told && timeMs - startMs <= 120_000) counted.set(timeMs, count);
    } else {
      const wavers = startMs - known < Math.min(timeMs - before.timeMs, 60_000);
      const restarted = told && startMs > before.timeMs && !wavers;
      const isWhole = restarted || count < before.count;
      counted.set(timeMs, isWhole ? count : count - before.count);
    }
    if (startMs <= timeMs) known = Math.max(known, startMs);
  });
  return counted;
}

function byKernel(sent: readonly Sent[]): Map<number, number> {
  const rig = new ShardRig({ window: 120 });
  const slot = rig.stream(FLAG_COUNTER);
  const counted = new Map<number, number>();
  for (const { timeMs, startMs, count } of sent) {
    const had = rig.shard.records.count(slot);
    if (startMs > 0) rig.applyStart(slot, timeMs, startMs);
    rig.apply(slot, timeMs, count);
    const has = rig.shard.records.count(slot);
    const values = new Float64Array(WINDOW_MAX);
    rig.shard.records.readRing(slot, new Float64Array(WINDOW_MAX), values);
    if (has > had) counted.set(timeMs, values[has - 1] as number);
  }
  return counted;
}

const KINDS: Readonly<Record<string, (count: number) => Partial<Distribution>>> = {
  "explicit histograms": (count) => ({ kind: "explicit", bounds: [1], bucketCounts: [count, 0] }),
  "exponential histograms": (count) => ({ kind: "exponential", positive: { offset: 0, counts: [count] } }),
  summaries: (count) => ({ kind: "summary", quantiles: [{ quantile: 0.5, value: count }] }),
};

function byPoints(sent: readonly Sent[], kind: string): Map<number, number> {
  const history = new PointHistory();
  const counted = new Map<number, number>();
  for (const { timeMs, startMs, count } of sent) {
    const point: Distribution = { ...EMPTY_DISTRIBUTION, timeMs, startMs, count, sum: count, ...KINDS[kind]?.(count) };
    const sink = new ByteWriter();
    writeDistribution(sink, point);
    history.take(point, sink.bytes.slice(0, sink.at), ({ added }) => counted.set(added.timeMs, added.count));
  }
  return counted;
}

/** As a counter that is imported. */
function byImport(sent: readonly Sent[]): Map<number, number> {
  const values = new CountedValues();
  const counted = new Map<number, number>();
  for (const { timeMs, startMs, count } of sent) {
    const delta = values.add(timeMs, count, startMs);
    if (delta !== undefined) counted.set(timeMs, delta);
  }
  return counted;
}

/** Checks a way of counting against the rule. */
function check(count: (sent: readonly Sent[]) => Map<number, number>): void {
  const property = fc.property(sender, (given) => {
    const sent = sentBy(given);
    expect([...count(sent)]).toEqual([...expected(sent)]);
  });
  fc.assert(property, { numRuns: 300 });
}

describe("what a point of a cumulative series counts", () => {
  it("is said by the kernel for counters as the rule says", () => check(byKernel));
  it("is the same of counters that are imported", () => check(byImport));
  it.each(Object.keys(KINDS))("is the same of %s", (kind) => check((sent) => byPoints(sent, kind)));
});
