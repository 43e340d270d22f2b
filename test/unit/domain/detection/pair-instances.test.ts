// Instances of a pair: whose baseline a new one inherits, what several streams come to together, and how many streams of a service are alive.
import { describe, expect, it } from "vitest";
import { familyText, Inheritance, warmUntil } from "../../../../src/domain/detection/pair/instance-family.ts";
import { PairAggregate } from "../../../../src/domain/detection/pair/pair-aggregate.ts";
import { LiveStreams } from "../../../../src/domain/detection/service/live-streams.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const SUM = 0;
const MEAN = 1;

describe("instances", () => {
  const name = (attributes: Record<string, string>) => ({ tenant: "t", environment: "", serviceId: "s", metricName: "m", attributes });

  it("are of one family where they differ by nothing but the instance", () => {
    expect(familyText(name({ pod: "a", route: "/x" }))).toBe(familyText(name({ instance: "b", route: "/x" })));
    expect(familyText(name({ pod: "a", route: "/x" }))).not.toBe(familyText(name({ pod: "a", route: "/y" })));
    expect(familyText(name({ route: "/x" }))).toBeNull();
  });

  const one = (instance: string, n: number, mean = 100, more: { lastMs?: number; isAtRest?: boolean } = {}) => ({
    instance,
    lastMs: HOUR_MS,
    isAtRest: true,
    baseline: { n, mean, sd: 2 },
    ...more,
  });
  const chosen = (...offered: Array<ReturnType<typeof one>>) => {
    const inheritance = new Inheritance<ReturnType<typeof one>>(HOUR_MS + MINUTE_MS);
    for (const each of offered) inheritance.offer(each);
    return inheritance.chosen?.instance;
  };

  it("leave the baseline of the one that has seen most and is at rest", () => {
    expect(chosen(one("a", 100), one("b", 300), one("c", 300), one("d", 900, 100, { isAtRest: false }))).toBe("b");
    expect(chosen(one("c", 300), one("b", 300))).toBe("b");
  });

  it("leave none where they are young, gone, or not alike", () => {
    expect(chosen(one("a", 59))).toBeUndefined();
    expect(chosen(one("a", 900, 100, { lastMs: -HOUR_MS }))).toBeUndefined();
    expect(chosen(one("a", 900, 100), one("b", 900, 107))).toBeUndefined();
    expect(chosen(one("a", 900, 100), one("b", 900, 105))).toBe("a");
  });

  it("warm up for ten minutes", () => {
    expect(warmUntil(HOUR_MS)).toBe(HOUR_MS + 10 * MINUTE_MS);
  });
});

describe("an aggregate", () => {
  /** Values of each cycle by stream; what each cycle comes to. */
  const run = (aggregation: number, cycles: ReadonlyArray<Readonly<Record<number, number>>>, known = 0) => {
    const aggregate = new PairAggregate(aggregation);
    aggregate.goOn(known);
    const values = cycles.map((streams, at) => {
      for (const [stream, value] of Object.entries(streams)) aggregate.take(Number(stream), at * MINUTE_MS, value);
      return aggregate.cycle(at * MINUTE_MS + 1)?.value;
    });
    return { values, changedMs: aggregate.changedMs };
  };

  it("begins once two streams have come, and sums or averages them", () => {
    const cycles = [
      { 1: 4, 2: 6 },
      { 1: 5, 2: 7 },
      { 1: 6, 2: 8 },
    ];
    expect(run(SUM, cycles).values).toEqual([undefined, 12, 14]);
    expect(run(MEAN, cycles).values).toEqual([undefined, 6, 7]);
    expect(run(SUM, [{ 1: 4 }, { 1: 5 }]).values).toEqual([undefined, undefined]);
  });

  it("waits for a stream that is late, and counts nothing twice", () => {
    expect(run(SUM, [{ 1: 4, 2: 6 }, { 1: 4, 2: 6 }, { 1: 4 }, { 1: 4, 2: 6 }]).values).toEqual([undefined, 10, undefined, 10]);
  });

  it("has no value while streams are replaced, and goes on with the new ones", () => {
    const renamed = [
      { 1: 4, 2: 6 },
      { 1: 4, 2: 6 },
      { 3: 4, 2: 6 },
      { 3: 4, 2: 6 },
      { 3: 4, 2: 6 },
      { 3: 4, 2: 6 },
      { 3: 4, 2: 6 },
    ];
    const { values, changedMs } = run(SUM, renamed);
    expect(values.filter((value) => value !== undefined && value !== 10)).toEqual([]);
    expect(values.at(-1)).toBe(10);
    expect(changedMs).toBeGreaterThan(0);
  });

  it("is at a level of its own with its first value, but where it goes on from as many streams", () => {
    const both = { 1: 4, 2: 6 };
    expect(run(SUM, [both, both, both])).toEqual({ values: [undefined, 10, 10], changedMs: 1 });
    expect(run(SUM, [both, both, both], 2).changedMs).toBe(0);
    expect(run(SUM, [both, both, both], 3)).toEqual({ values: [undefined, undefined, undefined], changedMs: 0 });
  });

  it("that goes on waits for the last of its streams before it begins", () => {
    const all = { 1: 4, 2: 6, 3: 5 };
    expect(run(SUM, [{ 1: 4 }, { 2: 6 }, { 3: 5 }, all], 3)).toEqual({ values: [undefined, undefined, undefined, 15], changedMs: 0 });
  });

  it("is at another level when one comes back to one that was alone", () => {
    const both = { 1: 4, 2: 6 };
    const alone = Array.from({ length: 6 }, () => ({ 1: 4 }));
    const before = run(SUM, [both, both, ...alone]).changedMs;
    expect(run(SUM, [both, both, ...alone, both, both]).changedMs).toBeGreaterThan(before);
  });
});

it("streams are alive that had a value in the last full hour; all count where none had", () => {
  const spans = (fromHour: number, toHour: number) => ({
    times: Float64Array.from({ length: 60 * (toHour - fromHour) }, (_, i) => fromHour * HOUR_MS + i * MINUTE_MS),
  });
  const live = new LiveStreams([spans(10, 12), spans(11, 14), spans(13, 14)]);
  expect([11.5, 12.5, 13.5, 14.5, 20].map((hour) => live.at(hour * HOUR_MS))).toEqual([1, 2, 1, 2, 3]);
});
