import { describe, expect, it } from "vitest";
import { InstanceFamilies } from "../../../../../src/actors/engine/watchdog/pairs/instance-families.ts";
import type { PairArena } from "../../../../../src/domain/detection/pair/pair-arena.ts";
import type { PairDetector } from "../../../../../src/domain/detection/pair/pair-detector.ts";

const NOW_MS = Date.UTC(2026, 0, 5);

/** Families over pairs that are alike; each has as many values as its number says beyond 100. */
function families() {
  const state = { isAtRest: true, baseline: { n: 0, mean: 10, sd: 1 } };
  const loaded: number[] = [];
  const load = (pair: number) => {
    loaded.push(pair);
    state.baseline = { n: 100 + pair, mean: 10, sd: 1 };
  };
  const arena = { load, count: (pair: number) => 100 + pair, lastTimeMs: () => NOW_MS } as unknown as PairArena;
  return { families: new InstanceFamilies(arena, state as unknown as PairDetector), loaded };
}

const named = (metricName: string, attributes: Record<string, string>) => ({
  tenant: "t",
  environment: "",
  serviceId: "s",
  metricName,
  attributes,
});

const always = () => true;

describe("instances of pairs", () => {
  it("looks at the others of a family alone, whatever their order and however high their numbers", () => {
    const { families: known, loaded } = families();
    known.enter(5_000, named("m", { pod: "a" }));
    known.enter(1, named("m", { pod: "b" }));
    known.enter(2, named("m", { pod: "a", route: "/x" }));
    known.enter(3, named("m", { pod: "c" }));
    expect(known.ancestorOf(3, NOW_MS, always)).toBeGreaterThan(0);
    expect(loaded.sort((a, b) => a - b)).toEqual([1, 5_000]);
    expect(known.ancestorOf(2, NOW_MS, always)).toBe(0);
  });

  it.each([0, 1, 2])("forgets a pair that leaves from any place of its family (%i)", (place) => {
    const { families: known, loaded } = families();
    const pairs = [11, 12, 13];
    for (const pair of pairs) known.enter(pair, named("m", { pod: `p${pair}` }));
    const [gone] = pairs.splice(place, 1) as [number];
    known.leave(gone);
    known.leave(gone);
    const [asks, other] = pairs as [number, number];
    expect(known.ancestorOf(asks, NOW_MS, always)).toBe(other);
    expect(loaded).toEqual([other]);
    known.leave(other);
    expect(known.ancestorOf(asks, NOW_MS, always)).toBe(0);
    known.enter(gone, named("m", { pod: "back" }));
    expect(known.ancestorOf(asks, NOW_MS, always)).toBe(gone);
  });

  it("knows none of a stream that names no instance, or asks of one that is unlike", () => {
    const { families: known } = families();
    known.enter(1, named("m", {}));
    known.enter(2, named("m", { pod: "a" }));
    known.enter(3, named("m", { pod: "b" }));
    expect(known.ancestorOf(1, NOW_MS, always)).toBe(0);
    expect(known.ancestorOf(2, NOW_MS, () => false)).toBe(0);
  });
});
