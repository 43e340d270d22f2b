// What waits for one receiver: rates, flights, turns, joining.
import { describe, expect, it } from "vitest";
import { DestinationQueue, type WaitingDelivery } from "../../../../src/domain/delivery/destination-queue.ts";

const queueOf = (perSecond: number | null, joinedMax = 1, flightMax = 1) =>
  new DestinationQueue<WaitingDelivery>({ perSecond, flightMax, joinedMax });
const waiting = (tenant: string, key: string, dueAtMs = 0, more: Partial<WaitingDelivery> = {}): WaitingDelivery => ({
  ...{ tenant, key, dueAtMs, rank: 0, joins: "page", joined: null },
  ...more,
});
const keys = (taken: ReadonlyArray<{ key: string }>) => taken.map(({ key }) => key);

/** All that leaves now, one attempt after the other without an end. */
function left(queue: DestinationQueue<WaitingDelivery>, nowMs = 0): string[] {
  const all: string[] = [];
  for (let taken = keys(queue.take(nowMs)); taken.length > 0; taken = keys(queue.take(nowMs))) all.push(...taken);
  return all;
}

describe("a destination's queue", () => {
  it("lets five leave at once, then one in each turn of its rate", () => {
    const queue = queueOf(2);
    for (let i = 0; i < 8; i++) queue.put(waiting("a", String(i)));
    for (let i = 0; i < 5; i++) {
      expect(keys(queue.take(0))).toEqual([String(i)]);
      expect(queue.take(0)).toEqual([]); // one is under way
      queue.done();
    }
    expect(queue.take(0)).toEqual([]);
    expect(queue.nextAtMs(0)).toBe(500);
    expect(keys(queue.take(500))).toEqual(["5"]);
  });

  it("lets tenants take turns", () => {
    const queue = queueOf(10);
    for (let i = 0; i < 3; i++) queue.put(waiting("a", `a${i}`));
    queue.put(waiting("b", "b0"));
    const order: string[] = [];
    for (let i = 0; i < 4; i++) {
      order.push(...keys(queue.take(0)));
      queue.done();
    }
    expect(order).toEqual(["a0", "b0", "a1", "a2"]);
  });

  it("lets what fires leave before what has ended, of any tenant, and joins neither with the other, nor environments", () => {
    const queue = queueOf(1_000, 10);
    const end = { rank: 2, joins: "end" } as const;
    for (const key of ["e0", "e1"]) queue.put(waiting("a", key, 0, end));
    queue.put(waiting("a", "p0"));
    queue.put(waiting("a", "staging", 0, { joins: "page of staging" }));
    queue.put(waiting("b", "p1"));
    const left: string[][] = [];
    for (let taken = keys(queue.take(0)); taken.length > 0; taken = keys(queue.take(0))) {
      left.push(taken);
      queue.done();
    }
    expect(left).toEqual([["p0"], ["p1"], ["staging"], ["e0", "e1"]]);
  });

  it("keeps the parts of a mail together, with nothing else, and lets alone what is to leave alone", () => {
    const queue = queueOf(1_000, 10);
    for (const key of ["m0", "m1"]) queue.put(waiting("a", key, 5, { joined: "mail" }));
    queue.put(waiting("a", "p0", 5));
    queue.put(waiting("a", "alone", 5, { joins: null }));
    queue.put(waiting("a", "p1", 5));
    const left: string[][] = [];
    for (let i = 0; i < 3; i++) {
      left.push(keys(queue.take(5)));
      queue.done();
    }
    expect(left).toEqual([["m0", "m1"], ["p0", "p1"], ["alone"]]);
  });

  it("joins what is due, of one tenant, ten at most", () => {
    const queue = queueOf(1, 10);
    for (let i = 0; i < 12; i++) queue.put(waiting("a", `a${i}`));
    queue.put(waiting("a", "later", 10_000));
    expect(queue.take(0)).toHaveLength(10);
    queue.done();
    expect(keys(queue.take(0))).toEqual(["a10", "a11"]);
    queue.done();
    expect([queue.isIdle(0), queue.nextAtMs(0)]).toEqual([false, 10_000]);
    queue.remove("a", "later");
    expect(queue.nextAtMs(0)).toBe(null);
  });
});

describe("a webhook's queue", () => {
  const events = (count: number, dueAtMs = 0) => {
    const queue = queueOf(null, 1, 8);
    for (let i = 0; i < count; i++) queue.put(waiting("a", String(i), dueAtMs, { joins: null }));
    return queue;
  };

  it("has eight in flight, the oldest first, and the next once one is done", () => {
    const queue = events(20);
    expect(left(queue)).toEqual(["0", "1", "2", "3", "4", "5", "6", "7"]);
    expect(queue.nextAtMs(0)).toBeNull();
    queue.done();
    expect(left(queue)).toEqual(["8"]);
  });

  it("has one in flight after twenty failures in a row, and eight again after a success", () => {
    const queue = events(100);
    for (let failures = 0; failures < 20; ) {
      for (const key of left(queue)) {
        queue.done(true);
        queue.put(waiting("a", key, 0, { joins: null }));
        failures++;
      }
    }
    expect(left(queue)).toHaveLength(1);
    queue.done(true);
    expect(left(queue)).toHaveLength(1);
    queue.done();
    expect(left(queue)).toHaveLength(8);
  });

  it("keeps no other from leaving for one that waits for its time, and says when that is", () => {
    const queue = events(1, 5_000);
    queue.put(waiting("a", "now", 0, { joins: null }));
    expect(left(queue, 1_000)).toEqual(["now"]);
    expect(queue.nextAtMs(1_000)).toBe(5_000);
    queue.done();
    expect(queue.isIdle(1_000)).toBe(false);
    expect(left(queue, 5_000)).toHaveLength(1);
    queue.done();
    expect(queue.isIdle(5_000)).toBe(true);
  });
});
