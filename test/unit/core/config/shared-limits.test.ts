// Every maximum is one whose places tenants share, and then kept by a ledger that somebody asks, or is declared as none.
import { describe, expect, it } from "vitest";
// @ts-expect-error: scripts are JavaScript without declarations
import { limitFaults, sourceFiles } from "../../../../scripts/check-limits.mjs";
import { COORDINATOR_LIMITS, engineSharedLimits, FRONT_LIMITS } from "../../../../src/core/config/shared-limits.ts";
import { COORDINATOR_SHARED_LIMITS, ENGINE_SHARED_LIMITS, FRONT_SHARED_LIMITS } from "../../../../src/core/layout/counters.ts";

const TABLE = "core/config/shared-limits.ts";

describe("every maximum", () => {
  it("is shared by a ledger, or says of what kind it is", () => {
    expect(limitFaults(sourceFiles("src"))).toEqual([]);
  });

  it("that is undeclared is refused, wherever its file is", () => {
    const files = new Map([["adapters/x/x-limits.ts", "export const LOOPS_MAX = 4;\nexport const LOOP_MS_MAX = 4;\n"]]);
    expect(limitFaults(files, {})).toEqual([expect.stringContaining("LOOPS_MAX is undeclared")]);
    expect(limitFaults(files, { one: ["LOOPS_MAX"] })).toEqual([]);
  });

  it("that is shared is refused where no ledger of it is asked for, and where it is declared as not shared", () => {
    const files = new Map([
      ["core/config/x-limits.ts", "export const LOOPS_MAX = 4;\n"],
      [TABLE, "export const FRONT_LIMITS = {\n  loops: { most: LOOPS_MAX, share: 2 },\n};\n"],
    ]);
    expect(limitFaults(files, {})).toEqual(["loops is shared, and no ledger of it is asked for"]);
    files.set("actors/front/loops.ts", 'shares.ledger("loops")');
    expect(limitFaults(files, {})).toEqual([]);
    expect(limitFaults(files, { one: ["LOOPS_MAX"] })).toEqual([expect.stringContaining("LOOPS_MAX is shared")]);
  });

  it("is declared once, and no longer than it is there", () => {
    expect(limitFaults(new Map(), { one: ["GONE_MAX"] })).toEqual([expect.stringContaining("GONE_MAX")]);
    const files = new Map([["core/config/x-limits.ts", "export const LOOPS_MAX = 4;\n"]]);
    expect(limitFaults(files, { one: ["LOOPS_MAX"], tenant: { LOOPS_MAX: "" } })).toEqual([expect.stringContaining("twice")]);
  });
});

describe("every shared limit", () => {
  it("has places, of which no tenant's share is more than half", () => {
    const limits = { ...engineSharedLimits(1, 1_000, 1_000), ...COORDINATOR_LIMITS, ...FRONT_LIMITS };
    for (const limit of [...ENGINE_SHARED_LIMITS, ...COORDINATOR_SHARED_LIMITS, ...FRONT_SHARED_LIMITS]) {
      const places = limits[limit];
      const { most, share = 1 } = typeof places === "number" ? { most: places } : places;
      expect(most, limit).toBeGreaterThan(0);
      expect(share, limit).toBeGreaterThan(0);
      expect(share, limit).toBeLessThanOrEqual(most / 2);
    }
  });
});
