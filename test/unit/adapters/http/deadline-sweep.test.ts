import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { DeadlineSweep, type Expiring } from "../../../../src/adapters/http/deadline-sweep.ts";

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

const TIMEOUT_MS = 1_000;

function waiting(expire: () => void): Expiring {
  return { sweepIndex: -1, sweepsLeft: 0, expire };
}

it("ends what has run out of time, once, and nothing that was taken off", () => {
  const sweep = new DeadlineSweep(TIMEOUT_MS);
  const expired: string[] = [];
  const entries = ["first", "second", "third"].map((name) => waiting(() => expired.push(name)));
  const [first, second, third] = entries as [Expiring, Expiring, Expiring];
  sweep.add(first, TIMEOUT_MS);
  sweep.add(second, TIMEOUT_MS);
  sweep.add(third, 10 * TIMEOUT_MS);
  sweep.remove(second);
  vi.advanceTimersByTime(TIMEOUT_MS - 1);
  expect(expired).toEqual([]);
  vi.advanceTimersByTime(2 * TIMEOUT_MS);
  expect(expired).toEqual(["first"]);
  vi.advanceTimersByTime(10 * TIMEOUT_MS);
  expect(expired).toEqual(["first", "third"]);
});

it("keeps its timer between bodies that follow each other, and rests when none come", () => {
  const sweep = new DeadlineSweep(TIMEOUT_MS);
  const set = vi.spyOn(globalThis, "setInterval");
  const entry = waiting(() => undefined);
  expect(vi.getTimerCount()).toBe(0);
  for (let body = 0; body < 25; body++) {
    sweep.add(entry, TIMEOUT_MS);
    sweep.remove(entry);
    vi.advanceTimersByTime(TIMEOUT_MS);
  }
  expect(set).toHaveBeenCalledTimes(1);
  vi.advanceTimersByTime(60_000);
  expect(vi.getTimerCount()).toBe(0);
  sweep.add(entry, TIMEOUT_MS);
  expect(vi.getTimerCount()).toBe(1);
});
