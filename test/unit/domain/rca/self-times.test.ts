import { describe, expect, it } from "vitest";
import { type MinuteCalls, selfTimes } from "../../../../src/domain/rca/self-times.ts";
import { spanFindings } from "../../../../src/domain/rca/span-findings.ts";

const ONSET = 100;
const minutes = { onset: ONSET, until: ONSET + 1, past: 10 };

/** 60 calls a minute of so many ms each. */
function calls(caller: string, callee: string, msOf: (minute: number) => number): MinuteCalls {
  const sums = Array.from(
    { length: 12 },
    (_, i) => [ONSET - 10 + i, { calls: 60, microseconds: 60_000 * msOf(ONSET - 10 + i), gapMicroseconds: 0 }] as const,
  );
  return { caller, callee, minutes: new Map(sums) };
}

/** A little more or less from minute to minute, and so much more from the onset on. */
const steady =
  (ms: number, more = 0) =>
  (minute: number) =>
    ms * (1 + 0.02 * (minute % 3)) + (minute >= ONSET ? more : 0);
const SHOP = (ordersMore: number, checkoutMore: number) => [
  calls("storefront", "checkout", steady(50, ordersMore + checkoutMore)),
  calls("checkout", "orders", steady(20, ordersMore)),
];
const slow = (given: MinuteCalls[]) =>
  spanFindings({ operations: selfTimes(given, minutes), calls: [] })
    .filter(({ strength }) => strength >= 4)
    .map(({ serviceId, kind }) => `${kind} ${serviceId}`);

describe("self times from calls", () => {
  it("are what callers wait, less what is waited for others", () => {
    const [checkout, orders] = selfTimes(SHOP(0, 0), minutes);
    expect(checkout).toMatchObject({ serviceId: "checkout", now: { spans: 120 } });
    expect([checkout?.past.length, checkout?.past[0]?.self.meanMs, orders?.past[0]?.self.meanMs]).toEqual([
      10,
      expect.closeTo(30, 5),
      expect.closeTo(20, 5),
    ]);
  });

  it.each([
    ["the called", SHOP(200, 0), ["self_time orders"]],
    ["the caller", SHOP(0, 200), ["self_time checkout"]],
    ["nobody", SHOP(0, 0), []],
  ])("name who became slower: %s", (_, given, expected) => {
    expect(slow(given)).toEqual(expected);
  });

  it("are never below nothing where calls run beside each other, and pass over calls of oneself", () => {
    const beside = [calls("a", "b", steady(10)), calls("b", "c", steady(10)), calls("b", "d", steady(10)), calls("b", "b", steady(99))];
    expect(selfTimes(beside, minutes).find(({ serviceId }) => serviceId === "b")?.now.self.meanMs).toBe(0);
  });
});
