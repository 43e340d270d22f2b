// Samples that are kept for reading and never judged: an infinity stands for NaN and stale markers too.
import { expect, it } from "vitest";
import { FLAG_COUNTER } from "../../../../src/core/layout/stream-record.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;
const MINUTE_MS = 60_000;

it.each([0, FLAG_COUNTER])("leave statistics, values and newest value as they were (flags %i), and are known by their time", (flags) => {
  const rig = new ShardRig({ window: 120 });
  const [slot, plain] = [rig.stream(flags), rig.stream(flags)];
  const { records } = rig.shard;
  for (let i = 1; i <= 200; i++) {
    const time = START + i * 15_000;
    for (const each of [slot, plain]) rig.apply(each, time, i * i);
    if (i % 3 === 0) expect(rig.apply(slot, time + 1_000, Number.POSITIVE_INFINITY)).toEqual([]);
  }
  expect(rig.sent.filter((sent) => sent.value === Number.POSITIVE_INFINITY)).toHaveLength(66);
  expect(rig.statistics(slot)).toEqual(rig.statistics(plain));
  const last = START + 200 * 15_000;
  expect([slot, plain].map((each) => [records.lastTimeMs(each), records.newestTimeMs(each)])).toEqual([
    [last, last],
    [last, last],
  ]);
  rig.apply(slot, last + 10 * MINUTE_MS, Number.NEGATIVE_INFINITY);
  expect([records.lastTimeMs(slot), records.newestTimeMs(slot)]).toEqual([last, last + 10 * MINUTE_MS]);
  rig.apply(slot, last + 11 * MINUTE_MS, 41_000);
  expect(records.newestTimeMs(slot)).toBe(last + 11 * MINUTE_MS);
});

it("give a stream without a value a time, so that it leaves memory once it is idle", () => {
  const rig = new ShardRig({ window: 120 });
  const slot = rig.stream();
  const { records } = rig.shard;
  rig.apply(slot, START, Number.POSITIVE_INFINITY);
  expect([records.count(slot), records.samples(slot), records.firstTimeMs(slot), records.newestTimeMs(slot)]).toEqual([0, 0, 0, START]);
  rig.apply(slot, START + MINUTE_MS, 7);
  expect([records.count(slot), records.firstTimeMs(slot), records.newestTimeMs(slot)]).toEqual([1, START + MINUTE_MS, START + MINUTE_MS]);
});
