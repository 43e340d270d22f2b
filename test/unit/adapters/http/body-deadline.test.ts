// The time of one body: a limit for all of it, and a least rate from its first window on.
import { describe, expect, it } from "vitest";
import { BodyDeadline } from "../../../../src/adapters/http/body-deadline.ts";
import type { DeadlineSweep, Expiring } from "../../../../src/adapters/http/deadline-sweep.ts";
import { httpLimits } from "../../../../src/adapters/http/http-limits.ts";

const KIB = 1024;

function deadline(wholeMs?: number) {
  const waits: number[] = [];
  const sweep = { add: (_: Expiring, ms: number) => void waits.push(ms) } as unknown as DeadlineSweep;
  const entry = { sweepIndex: -1, sweepsLeft: 0, expire: () => undefined };
  return { waits, deadline: new BodyDeadline({ limits: httpLimits(undefined), sweep }, entry, wholeMs) };
}

describe("the time of a body", () => {
  it("ends after five seconds that brought less than 16 KiB each", () => {
    const { deadline: slow, waits } = deadline();
    expect(waits).toEqual([5_000]);
    expect(slow.goesOn(80 * KIB - 1, true)).toBe(false);
  });

  it("counts each window by itself: a fast beginning gives no credit", () => {
    const { deadline: dripping } = deadline();
    expect(dripping.goesOn(8_000 * KIB, true)).toBe(true);
    expect(dripping.goesOn(8_020 * KIB, true)).toBe(false);
  });

  it("ends after 30 s whatever has come", () => {
    const { deadline: steady, waits } = deadline();
    const goesOn = [1, 2, 3, 4, 5, 6].map((window) => steady.goesOn(window * 80 * KIB, true));
    expect(goesOn).toEqual([true, true, true, true, true, false]);
    expect(waits).toEqual([5_000, 5_000, 5_000, 5_000, 5_000, 5_000]);
    expect(steady.isOver).toBe(true);
  });

  it("asks nothing of a sender whose body is not read, or is whole", () => {
    const { deadline: held } = deadline();
    expect(held.goesOn(100, false)).toBe(true);
    expect(held.goesOn(100, true)).toBe(false);
    expect(held.isOver).toBe(false);
  });

  it("ends with a caller's own deadline", () => {
    const { deadline: short, waits } = deadline(7_000);
    expect(short.goesOn(80 * KIB, true)).toBe(true);
    expect(waits).toEqual([5_000, 2_000]);
    expect(short.goesOn(160 * KIB, true)).toBe(false);
  });
});
