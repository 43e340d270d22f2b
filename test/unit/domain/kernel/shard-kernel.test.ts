// Streams, rows and counters of the shard kernel, one case a rule.
import { describe, expect, it } from "vitest";
import {
  EVENT_CHUNK_DUE,
  EVENT_ENDED,
  EVENT_FLAG_IMPLAUSIBLE,
  EVENT_FLAG_IRREGULAR,
  EVENT_FLAG_RESET,
  EVENT_LATE,
  EVENT_OPEN,
  EVENT_REPLACE,
  EVENT_RESET,
} from "../../../../src/core/layout/kernel-event.ts";
import { SCRATCH, STAGING } from "../../../../src/core/layout/memory-map.ts";
import { FLAG_COUNTER, FLAG_ENDED, SR_INTERVAL, WINDOW_MAX } from "../../../../src/core/layout/stream-record.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START = 1_700_000_000_000;
const STEP = 10_000;

function counter(): { rig: ShardRig; slot: number; ring: () => number[] } {
  const rig = new ShardRig({ window: 120 });
  const slot = rig.stream(FLAG_COUNTER);
  const ring = (): number[] => {
    const values = new Float64Array(WINDOW_MAX);
    return [...values.subarray(0, rig.shard.records.readRing(slot, new Float64Array(WINDOW_MAX), values))];
  };
  return { rig, slot, ring };
}

describe("slots", () => {
  it("are found by hash and tenant through every doubling of the table", () => {
    const rig = new ShardRig({ window: 120 });
    const hash = (i: number): bigint => BigInt(i) * 0x9e3779b97f4a7c15n;
    for (let i = 0; i < 20_000; i++) expect(rig.stream(0, hash(i))).toBe(i);
    for (let i = 0; i < 20_000; i += 7) {
      rig.writeHash(hash(i));
      expect(rig.shard.findSlot(SCRATCH, 0)).toBe(i);
      expect(rig.shard.findSlot(SCRATCH, 1)).toBe(-1);
    }
    rig.writeHash(hash(20_000));
    expect(rig.shard.findSlot(SCRATCH, 0)).toBe(-1);
    expect(rig.shard.slots).toBe(20_000);
  });
  it("with hashes that differ only in their high half are different", () => {
    const rig = new ShardRig({ window: 120 });
    for (let tenant = 0; tenant < 3; tenant++) {
      rig.view.setBigUint64(SCRATCH, 5n, true);
      rig.view.setBigUint64(SCRATCH + 8, BigInt(tenant), true);
      expect(rig.shard.findSlot(SCRATCH, 0)).toBe(-1);
      expect(rig.shard.createSlot(SCRATCH, 0, 0, 0)).toBe(tenant);
    }
  });
});

describe("rows", () => {
  it("of unknown refs and of values that are no numbers are counted", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream();
    rig.applyRows([
      { ref: 77, timeMs: START, value: 1 },
      { ref: 2 ** 32 - 1, timeMs: START, value: 1 },
      { ref: slot, timeMs: START, value: Number.NaN },
    ]);
    expect([rig.kernel.rowsUnbound.value, rig.kernel.rowsInvalid.value, rig.kernel.samplesTaken.value]).toEqual([2, 1, 0]);
    expect(rig.shard.slotOfRef(77)).toBe(-1);
    expect(() => rig.shard.bindRef(2 ** 31, slot)).toThrow("beyond the map");
  });
  it("repeated, corrected and late are told apart", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream();
    rig.apply(slot, START, 1);
    rig.apply(slot, START + STEP, 2);
    expect(rig.apply(slot, START + STEP, 2)).toEqual([]);
    expect(rig.apply(slot, START + STEP, 3)).toMatchObject([{ kind: EVENT_REPLACE, value: 3 }]);
    expect(rig.apply(slot, START + 1, 4)).toMatchObject([{ kind: EVENT_LATE, value: 4, timeMs: START + 1 }]);
    expect(rig.shard.replaceNewest(slot, START + STEP, 3)).toEqual({ result: "stored", chunked: false, value: 3 });
    expect(rig.shard.records.lastValue(slot)).toBe(3);
    expect(rig.shard.insertLate(slot, START - 1, 4).result).toBe("too-old-for-ring");
    expect(rig.shard.insertLate(slot, START + 1, 4).result).toBe("stored");
    expect([...rig.shard.baseline(slot, START + STEP).values]).toEqual([1, 4]);
    expect([rig.kernel.samplesDuplicate.value, rig.kernel.samplesReplaced.value, rig.kernel.samplesLate.value]).toEqual([1, 1, 1]);
  });
  it("with a stale marker end the stream until the next value", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream();
    rig.apply(slot, START, 1);
    expect(rig.applyStale(slot, START - 1)).toEqual([]);
    expect(rig.applyStale(slot, START + STEP)).toMatchObject([{ kind: EVENT_ENDED, timeMs: START + STEP }]);
    expect(rig.applyStale(slot, START + 2 * STEP)).toEqual([]);
    expect(rig.shard.records.flags(slot) & FLAG_ENDED).toBe(FLAG_ENDED);
    rig.apply(slot, START + 3 * STEP, 2);
    expect(rig.shard.records.flags(slot) & FLAG_ENDED).toBe(0);
    expect(rig.shard.records.count(slot)).toBe(2);
    expect(rig.kernel.staleMarkers.value).toBe(3);
  });
});

describe("chunks", () => {
  it("are due after the first 61 to 120 values and then each 120; a full ring takes no row before", () => {
    const rig = new ShardRig({ window: 120 });
    const slot = rig.stream();
    for (let i = 0; i < 500; i++) rig.apply(slot, START + i * STEP, i);
    const [first, ...rest] = rig.chunks.map((chunk) => chunk.values);
    expect(first).toBeGreaterThan(60);
    expect(first).toBeLessThanOrEqual(120);
    expect(rest.every((values) => values === 120)).toBe(true);
    while (rig.shard.records.unchunked(slot) < 120) {
      rig.view.setUint32(STAGING, slot, true);
      rig.view.setUint32(STAGING + 4, 0, true);
      expect(rig.shard.applyRows(STAGING, 1, rig.shard.records.lastTimeMs(slot) + 1, 0)).toBe(1);
    }
    expect(rig.shard.event(rig.shard.eventsCount() - 1)).toMatchObject({ kind: EVENT_CHUNK_DUE, slot });
    expect(rig.shard.applyRows(STAGING, 1, START * 2, 0)).toBe(0);
    rig.shard.eventsReset();
    // Nobody took the chunk: it is asked for again, and then it is an error of the caller.
    expect(rig.shard.applyRows(STAGING, 1, START * 2, 0)).toBe(0);
    expect(rig.shard.event(0).kind).toBe(EVENT_CHUNK_DUE);
    rig.shard.eventsReset();
    rig.shard.chunkTaken(slot);
    expect(rig.shard.applyRows(STAGING, 1, START * 2, 0)).toBe(1);
  });
});

describe("counters", () => {
  it("become deltas, and a fall is a reset", () => {
    const { rig, slot, ring } = counter();
    expect([100, 130, 170].flatMap((value, i) => rig.apply(slot, START + i * STEP, value))).toEqual([]);
    expect(rig.apply(slot, START + 3 * STEP, 25)).toMatchObject([{ kind: EVENT_RESET, value: 25, flags: EVENT_FLAG_RESET }]);
    expect(rig.apply(slot, START + 4 * STEP, 25 - 1e-12)).toEqual([]);
    expect(ring()).toEqual([30, 40, 25, 0]);
    expect(rig.kernel.counterResets.value).toBe(1);
  });
  it("take no start that lies behind its own value, and none that wavers, for a reset", () => {
    const { rig, slot, ring } = counter();
    [-3_600_000, -3_599_997, 400_000, -3_598_000, 2 * STEP + 5].forEach((start, i) => {
      rig.applyStart(slot, START + i * STEP, START + start);
      rig.apply(slot, START + i * STEP, 100 + 10 * i);
    });
    expect(ring()).toEqual([10, 10, 10, 10]);
  });
  it("count the whole value after a reset that a start tells, and declare nothing by it", () => {
    const { rig, slot, ring } = counter();
    for (let i = 0; i <= 40; i++) rig.apply(slot, START + i * STEP, 1e9 + 100 * i + (i % 2));
    rig.applyStart(slot, START + 43 * STEP, START + 41 * STEP);
    const events = rig.apply(slot, START + 43 * STEP, 1e10);
    expect(events[0]).toMatchObject({ kind: EVENT_RESET, flags: EVENT_FLAG_RESET });
    expect(events.some((event) => event.kind === EVENT_OPEN)).toBe(false);
    expect(ring().at(-1)).toBe(1e10);
    expect(rig.shard.records.restartedMs(slot)).toBe(START + 43 * STEP);
  });
  it("enter an implausible value after a reset as 0, and do not alert for it", () => {
    const { rig, slot, ring } = counter();
    for (let i = 0; i <= 40; i++) rig.apply(slot, START + i * STEP, 1e9 + 100 * i + (i % 2));
    const events = rig.apply(slot, START + 41 * STEP, 1e6);
    expect(events[0]).toMatchObject({ kind: EVENT_RESET, flags: EVENT_FLAG_RESET | EVENT_FLAG_IMPLAUSIBLE });
    expect(events.some((event) => event.kind === EVENT_OPEN)).toBe(false);
    expect(ring().at(-1)).toBe(0);
  });
  it("are scored per usual interval when a pause came between", () => {
    const { rig, slot, ring } = counter();
    for (let i = 0; i <= 60; i++) rig.apply(slot, START + i * STEP, 100 * i + (i % 3));
    expect(rig.apply(slot, START + 120 * STEP, 12_000)).toEqual([]);
    expect(ring().at(-1)).toBe(6_000);
    const [event] = rig.apply(slot, START + 180 * STEP, 12_000 + 60_000);
    expect(event?.flags).toBeDefined();
    expect((event?.flags ?? 0) & EVENT_FLAG_IRREGULAR).toBe(EVENT_FLAG_IRREGULAR);
    expect(event?.value).toBe(1_000);
    expect(rig.view.getFloat64(rig.shard.records.address(slot) + SR_INTERVAL, true)).toBe(STEP);
    // The pause did not blind the window: the next burst is still seen.
    expect(rig.apply(slot, START + 181 * STEP, 12_000 + 60_000 + 2_000).some((other) => other.kind === EVENT_OPEN)).toBe(true);
  });
  it("ignore late values and correct the newest delta", () => {
    const { rig, slot, ring } = counter();
    for (let i = 0; i < 3; i++) rig.apply(slot, START + i * STEP, [100, 130, 170][i] as number);
    expect(rig.apply(slot, START + 5, 110)).toEqual([]);
    expect(rig.kernel.samplesLateCounter.value).toBe(1);
    expect(rig.apply(slot, START + 2 * STEP, 180)).toMatchObject([{ kind: EVENT_REPLACE, value: 180 }]);
    expect(rig.shard.replaceNewest(slot, START + 2 * STEP, 180)).toEqual({
      result: "stored",
      chunked: false,
      value: 50,
    });
    expect(rig.shard.replaceNewest(slot, START + STEP, 180).result).toBe("ignored");
    rig.apply(slot, START + 3 * STEP, 190);
    expect(ring()).toEqual([30, 50, 10]);
  });
  it("begin again when a sender changes its mind", () => {
    const { rig, slot, ring } = counter();
    for (let i = 0; i < 3; i++) rig.apply(slot, START + i * STEP, [100, 130, 170][i] as number);
    rig.shard.records.restart(slot, 0);
    expect(rig.shard.records.count(slot)).toBe(0);
    rig.apply(slot, START + 3 * STEP, 5);
    expect(ring()).toEqual([5]);
  });
});
