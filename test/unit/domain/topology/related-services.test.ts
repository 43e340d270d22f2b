import { describe, expect, it } from "vitest";
import { laggedCorrelation, onGrid, whitened } from "../../../../src/domain/correlation/lagged-correlation.ts";
import { relatedServices } from "../../../../src/domain/correlation/related-services.ts";
import { blastRadius, type GraphCall } from "../../../../src/domain/topology/blast-radius.ts";
import { calleesOf, callersOf, joinedWith } from "../../../../src/domain/topology/reach.ts";

const call = (caller: string, callee: string, calls = 1_000) => ({ caller, callee, calls, errors: 0 });
const NO_PAST = () => ({ incidents: 0, failed: 0 });
const SHOP = [call("storefront", "checkout"), call("storefront", "catalog"), call("checkout", "orders"), call("catalog", "inventory")];

const counted = (calls: readonly GraphCall[]) => ({ calls, named: [] });

describe("blast radius", () => {
  it("goes by metrics that name their callee where no calls are counted", () => {
    const named = [
      ["storefront", "checkout"],
      ["checkout", "orders-db"],
    ] as const;
    expect(blastRadius("orders-db", { calls: [], named }, NO_PAST)).toMatchObject({ direct: ["checkout"], transitive: ["storefront"] });
  });

  it("holds callers, the near and the far apart, and no callees", () => {
    const radius = blastRadius("orders", counted(SHOP), NO_PAST);
    expect(radius).toMatchObject({ direct: ["checkout"], transitive: ["storefront"], severity: "high" });
    expect(radius.confidence).toBeGreaterThan(0);
  });

  it("is empty where nobody calls", () => {
    expect(blastRadius("storefront", counted(SHOP), NO_PAST)).toEqual({ direct: [], transitive: [], severity: "none", confidence: 0 });
  });

  it("ends on a graph with a circle", () => {
    expect(blastRadius("a", counted([call("a", "b"), call("b", "a"), call("c", "b")]), NO_PAST)).toMatchObject({
      direct: ["b"],
      transitive: ["c"],
    });
  });

  it("learns from past incidents that a caller does without", () => {
    const calm = blastRadius("orders", counted(SHOP), (caller) => ({ incidents: 200, failed: caller === "checkout" ? 0 : 200 }));
    expect(calm).toMatchObject({ direct: [], transitive: [] });
  });

  it("leaves out a caller that hardly ever needs it, until incidents show that it does", () => {
    const calls = [call("cart", "mail", 1), call("cart", "stock", 100_000)];
    const past = (failed: number) => () => ({ incidents: 10, failed });
    expect(blastRadius("mail", counted(calls), past(0)).direct).toEqual([]);
    expect(blastRadius("mail", counted(calls), past(10)).direct).toEqual(["cart"]);
  });
});

describe("who is reached", () => {
  const edges = SHOP.map(({ caller, callee }) => [caller, callee] as const);
  it("counts hops both ways and joins what calls join", () => {
    expect([...callersOf(edges, "orders")]).toEqual([
      ["checkout", 1],
      ["storefront", 2],
    ]);
    expect([...calleesOf(edges, "storefront", 1).keys()]).toEqual(["checkout", "catalog"]);
    expect(joinedWith([...edges, ["x", "y"]], ["orders"])).toEqual(new Set(["orders", "checkout", "storefront", "catalog", "inventory"]));
  });
});

/** Standard normal numbers, the same for the same seed (mulberry32, Box and Muller). */
function normals(seed: number): () => number {
  let state = seed;
  const uniform = () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return (((mixed ^ (mixed >>> 14)) >>> 0) + 1) / 4_294_967_297;
  };
  return () => Math.sqrt(-2 * Math.log(uniform())) * Math.cos(2 * Math.PI * uniform());
}

const VALUES = 120;
const STEP_MS = 60_000;
const times = Float64Array.from({ length: VALUES }, (_, i) => i * STEP_MS);

/** A daily wave with noise of its own, and what another does some steps before. */
function wave(seed: number, leader?: Float64Array, lag = 0): Float64Array {
  const normal = normals(seed);
  return Float64Array.from({ length: VALUES }, (_, i) => {
    const of = leader?.[i - lag];
    return 10 * Math.sin(i / 40) + normal() + (of === undefined ? 0 : 3 * (of - 10 * Math.sin((i - lag) / 40)));
  });
}

const grid = (values: Float64Array) => whitened(onGrid(times, values, 0, STEP_MS, VALUES));

describe("correlation over lags", () => {
  it.each([0, 1, 3, 7])("finds a lag of %i minutes, whoever is asked first", (lag) => {
    let exact = 0;
    for (let seed = 1; seed <= 20; seed++) {
      const leader = wave(seed);
      const follower = wave(seed + 1_000, leader, lag);
      const there = laggedCorrelation(grid(leader), grid(follower), 15);
      const back = laggedCorrelation(grid(follower), grid(leader), 15);
      if (there?.lag === lag && there.isSignificant && back?.lag === -lag) exact++;
    }
    expect(exact).toBeGreaterThanOrEqual(19);
  });

  it("finds nothing between series that share only the time of day", () => {
    let found = 0;
    for (let seed = 1; seed <= 200; seed++) if (laggedCorrelation(grid(wave(seed)), grid(wave(seed + 5_000)), 15)?.isSignificant) found++;
    expect(found).toBeLessThanOrEqual(20);
  });

  it("says nothing of too few values", () => {
    const short = grid(wave(1)).subarray(0, 12);
    expect(laggedCorrelation(short, short, 3)).toBeUndefined();
  });
});

describe("related services", () => {
  const rings = (names: Record<string, Float64Array>) =>
    Object.entries(names).map(([serviceId, values]) => ({ serviceId, metricName: "latency_ms", times, values }));

  it("tells direction by calls: who calls is affected, downstream", () => {
    const related = relatedServices("checkout", 3, SHOP, []);
    const directions = Object.fromEntries(related.map(({ serviceId, direction }) => [serviceId, direction]));
    expect(directions).toEqual({ storefront: "downstream", orders: "upstream" });
  });

  it("stops at the depth that is asked for", () => {
    expect(relatedServices("orders", 1, SHOP, []).map(({ serviceId }) => serviceId)).toEqual(["checkout"]);
    expect(
      relatedServices("orders", 2, SHOP, [])
        .map(({ serviceId }) => serviceId)
        .sort(),
    ).toEqual(["checkout", "storefront"]);
  });

  it("O2: ranks no service that merely had one spike some minutes apart above one that is called", () => {
    const spiked = (seed: number, at: number) => {
      const normal = normals(seed);
      return Float64Array.from({ length: VALUES }, (_, i) => 100 + normal() + (i === at ? 60 : 0));
    };
    for (let seed = 1; seed <= 10; seed++) {
      const values = { checkout: spiked(seed, 60), orders: spiked(seed + 100, 60), stranger: spiked(seed + 200, 68) };
      const ranked = relatedServices("checkout", 3, SHOP, rings(values)).map(({ serviceId }) => serviceId);
      expect(ranked).toContain("orders");
      expect(ranked.slice(0, ranked.indexOf("orders"))).not.toContain("stranger");
    }
  });

  it("tells direction by lag without calls: a positive one follows", () => {
    const origin = wave(3);
    const found = relatedServices("a", 3, [], rings({ a: origin, follows: wave(50, origin, 4), apart: wave(77) }));
    expect(found).toMatchObject([{ serviceId: "follows", lagMinutes: 4, direction: "downstream" }]);
    const back = relatedServices("follows", 3, [], rings({ a: origin, follows: wave(50, origin, 4), apart: wave(77) }));
    expect(back).toMatchObject([{ serviceId: "a", lagMinutes: -4, direction: "upstream" }]);
  });
});
