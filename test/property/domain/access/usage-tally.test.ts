import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { RECORD_TYPES } from "../../../../src/core/layout/counters.ts";
import { MonthClock, monthOf, monthStartMs, monthText, parseMonth } from "../../../../src/domain/access/billing-month.ts";
import { decodeUsage, UsageTally } from "../../../../src/domain/access/usage-tally.ts";

const count = fc.record({
  tenant: fc.constantFrom("default", "a", "b", "Ünïcode", "a b", "__proto__"),
  month: fc.constantFrom(24_312, 24_313, 24_320),
  type: fc.constantFrom(...RECORD_TYPES),
  events: fc.integer({ min: 0, max: 2 ** 40 }),
});

describe("a tally of accepted events", () => {
  it("holds the sums, whichever way counts come, and reads back what it writes", () => {
    fc.assert(
      fc.property(fc.array(count), (counts) => {
        const tally = new UsageTally();
        const parts = [new UsageTally(), new UsageTally(), new UsageTally()];
        const expected = new Map<string, number>();
        counts.forEach(({ tenant, month, type, events }, i) => {
          tally.add(tenant, month, type, events);
          (parts[i % 3] as UsageTally).add(tenant, month, type, events);
          const key = `${tenant} ${month} ${type}`;
          if (events > 0) expected.set(key, (expected.get(key) ?? 0) + events);
        });
        const joined = new UsageTally();
        for (const part of parts) joined.addAll(decodeUsage(part.encode()));
        for (const each of [tally, joined]) {
          const seen = new Map<string, number>();
          for (const { tenant, month, counts: sums } of each.entries)
            sums.forEach((sum, type) => sum > 0 && seen.set(`${tenant} ${month} ${RECORD_TYPES[type]}`, sum));
          expect(seen).toEqual(expected);
        }
        expect([...decodeUsage(tally.encode())]).toEqual(tally.entries);
      }),
    );
  });

  it("gives away entries that later counts do not change, and is empty after clear", () => {
    const tally = new UsageTally();
    tally.add("a", 1, "log", 2);
    const { entries } = tally;
    tally.add("a", 1, "log", 2);
    expect(entries[0]?.counts).toEqual([0, 2, 0, 0, 0, 0]);
    tally.clear();
    expect([tally.isEmpty, tally.encode().length]).toEqual([true, 0]);
    tally.add("a", 1, "metric", 3);
    expect(tally.entries).toEqual([{ tenant: "a", month: 1, counts: [3, 0, 0, 0, 0, 0] }]);
  });

  it("is not read where it ends early", () => {
    const tally = new UsageTally();
    tally.add("tenant", 24_320, "metric", 1_000);
    const bytes = tally.encode();
    for (let end = 1; end < bytes.length; end++) expect(() => [...decodeUsage(bytes.subarray(0, end))]).toThrow(/end early/);
  });
});

describe("months", () => {
  it("are those of the calendar in UTC, and their text comes back", () => {
    const clock = new MonthClock();
    fc.assert(
      fc.property(fc.integer({ min: 0, max: Date.UTC(2200, 0) }), (timeMs) => {
        const month = monthOf(timeMs);
        expect(monthText(month)).toBe(new Date(timeMs).toISOString().slice(0, 7));
        expect(clock.month(timeMs)).toBe(month);
        expect([parseMonth(monthText(month)), monthOf(monthStartMs(month)), monthOf(monthStartMs(month) - 1)]).toEqual([
          month,
          month,
          month - 1,
        ]);
      }),
    );
    expect(["2026-13", "2026-00", "26-01", "2026-1", "", "2026-01-01"].map(parseMonth)).toEqual(new Array(6).fill(undefined));
  });
});
