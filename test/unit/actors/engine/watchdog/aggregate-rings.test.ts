import { describe, expect, it } from "vitest";
import { AggregateRings } from "../../../../../src/actors/engine/watchdog/pairs/aggregate-rings.ts";
import { hash128 } from "../../../../../src/core/hashing/hash128.ts";
import { serviceKey } from "../../../../../src/domain/series/stream-identity.ts";

const named = (metricName: string, pod: string) => ({ tenant: "t", environment: "e", serviceId: "s", metricName, attributes: { pod } });

const ringsOf = (rings: AggregateRings) => rings.of(serviceKey("t", "s"));

describe("aggregate rings", () => {
  it("makes one of the second stream of a pair, from the first, whose hash is stored", () => {
    const rings = new AggregateRings();
    rings.enter(3_000, named("m", "a"), false);
    rings.enter(0, named("other", "a"), false);
    expect(ringsOf(rings)).toEqual([]);
    rings.enter(7, named("m", "b"), false);
    rings.enter(8, named("m", "c"), false);
    const hash = hash128(`aggregate ${hash128(JSON.stringify(["t", "e", "s", "m"]))}`);
    expect(ringsOf(rings)).toMatchObject([{ firstSlot: 3_000, hash, pair: 0 }]);
  });

  it("makes none where the first stream has left before", () => {
    const rings = new AggregateRings();
    rings.enter(0, named("m", "a"), false);
    rings.leave(0);
    rings.enter(1, named("m", "b"), false);
    expect(ringsOf(rings)).toEqual([]);
    rings.enter(0, named("m", "c"), false);
    expect(ringsOf(rings)).toMatchObject([{ firstSlot: 1 }]);
  });
});
