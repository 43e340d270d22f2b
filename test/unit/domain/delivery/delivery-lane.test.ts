// What waits for one receiver: rates, flights, turns, joining.
import { describe, expect, it } from "vitest";
import { DeliveryLane, type WaitingDelivery } from "../../../../src/domain/delivery/delivery-lane.ts";

const laneOf = (perSecond: number | null, joinedMax = 1, flightMax = 1) =>
  new DeliveryLane<WaitingDelivery>({ perSecond, flightMax, joinedMax });
const waiting = (tenant: string, key: string, dueAtMs = 0, more: Partial<WaitingDelivery> = {}): WaitingDelivery => ({
  ...{ tenant, key, dueAtMs, rank: 0, joins: "page", joined: null },
  ...more,
});
const keys = (taken: ReadonlyArray<{ key: string }>) => taken.map(({ key }) => key);

/** All that leaves now, one attempt after the other without an end. */
function left(lane: DeliveryLane<WaitingDelivery>, nowMs = 0): string[] {
  const all: string[] = [];
  for (let taken = keys(lane.take(nowMs)); taken.length > 0; taken = keys(lane.take(nowMs))) all.push(...taken);
  return all;
}

describe("a destination's lane", () => {
  it("lets five leave at once, then one in each turn of its rate", () => {
    const lane = laneOf(2);
    for (let i = 0; i < 8; i++) lane.put(waiting("a", String(i)));
    for (let i = 0; i < 5; i++) {
      expect(keys(lane.take(0))).toEqual([String(i)]);
      expect(lane.take(0)).toEqual([]); // one is under way
      lane.done();
    }
    expect(lane.take(0)).toEqual([]);
    expect(lane.nextAtMs(0)).toBe(500);
    expect(keys(lane.take(500))).toEqual(["5"]);
  });

  it("lets tenants take turns", () => {
    const lane = laneOf(10);
    for (let i = 0; i < 3; i++) lane.put(waiting("a", `a${i}`));
    lane.put(waiting("b", "b0"));
    const order: string[] = [];
    for (let i = 0; i < 4; i++) {
      order.push(...keys(lane.take(0)));
      lane.done();
    }
    expect(order).toEqual(["a0", "b0", "a1", "a2"]);
  });

  it("lets what fires leave before what has ended, of any tenant, and joins neither with the other, nor environments", () => {
    const lane = laneOf(1_000, 10);
    const end = { rank: 2, joins: "end" } as const;
    for (const key of ["e0", "e1"]) lane.put(waiting("a", key, 0, end));
    lane.put(waiting("a", "p0"));
    lane.put(waiting("a", "staging", 0, { joins: "page of staging" }));
    lane.put(waiting("b", "p1"));
    const left: string[][] = [];
    for (let taken = keys(lane.take(0)); taken.length > 0; taken = keys(lane.take(0))) {
      left.push(taken);
      lane.done();
    }
    expect(left).toEqual([["p0"], ["p1"], ["staging"], ["e0", "e1"]]);
  });

  it("keeps the parts of a mail together, with nothing else, and lets alone what is to leave alone", () => {
    const lane = laneOf(1_000, 10);
    for (const key of ["m0", "m1"]) lane.put(waiting("a", key, 5, { joined: "mail" }));
    lane.put(waiting("a", "p0", 5));
    lane.put(waiting("a", "alone", 5, { joins: null }));
    lane.put(waiting("a", "p1", 5));
    const left: string[][] = [];
    for (let i = 0; i < 3; i++) {
      left.push(keys(lane.take(5)));
      lane.done();
    }
    expect(left).toEqual([["m0", "m1"], ["p0", "p1"], ["alone"]]);
  });

  it("joins what is due, of one tenant, ten at most", () => {
    const lane = laneOf(1, 10);
    for (let i = 0; i < 12; i++) lane.put(waiting("a", `a${i}`));
    lane.put(waiting("a", "later", 10_000));
    expect(lane.take(0)).toHaveLength(10);
    lane.done();
    expect(keys(lane.take(0))).toEqual(["a10", "a11"]);
    lane.done();
    expect([lane.isIdle(0), lane.nextAtMs(0)]).toEqual([false, 10_000]);
    lane.remove("a", "later");
    expect(lane.nextAtMs(0)).toBe(null);
  });
});

describe("a webhook's lane", () => {
  const events = (count: number, dueAtMs = 0) => {
    const lane = laneOf(null, 1, 8);
    for (let i = 0; i < count; i++) lane.put(waiting("a", String(i), dueAtMs, { joins: null }));
    return lane;
  };

  it("has eight in flight, the oldest first, and the next once one is done", () => {
    const lane = events(20);
    expect(left(lane)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    expect(lane.nextAtMs(0)).toBeNull();
    lane.done();
    expect(left(lane)).toEqual(["8"]);
  });

  it("has one in flight after twenty failures in a row, and eight again after a success", () => {
    const lane = events(100);
    for (let failures = 0; failures < 20; ) {
      for (const key of left(lane)) {
        lane.done(true);
        lane.put(waiting("a", key, 0, { joins: null }));
        failures++;
      }
    }
    expect(left(lane)).toHaveLength(1);
    lane.done(true);
    expect(left(lane)).toHaveLength(1);
    lane.done();
    expect(left(lane)).toHaveLength(8);
  });

  it("keeps no other from leaving for one that waits for its time, and says when that is", () => {
    const lane = events(1, 5_000);
    lane.put(waiting("a", "now", 0, { joins: null }));
    expect(left(lane, 1_000)).toEqual(["now"]);
    expect(lane.nextAtMs(1_000)).toBe(5_000);
    lane.done();
    expect(lane.isIdle(1_000)).toBe(false);
    expect(left(lane, 5_000)).toHaveLength(1);
    lane.done();
    expect(lane.isIdle(5_000)).toBe(true);
  });
});
