import { describe, expect, it } from "vitest";
import { ShareLedger, shareOf } from "../../../../src/core/fairness/share-ledger.ts";

function ledger(most: number, tenants: number) {
  const refused: number[] = [];
  return { refused, shares: new ShareLedger({ most, tenants: () => tenants, refused: (count) => refused.push(count) }) };
}

function fill(shares: ShareLedger, tenant: string): number {
  let taken = 0;
  while (shares.take(tenant)) taken++;
  return taken;
}

describe("the share of a limit", () => {
  it("is a sixteenth, at least 64 places, and never more than half", () => {
    expect([20_000, 1_000, 128, 100, 2, 1].map(shareOf)).toEqual([1_250, 64, 64, 50, 1, 1]);
  });
});

describe("places of a limit", () => {
  it("are all there for a tenant that is alone", () => {
    const { shares } = ledger(1_000, 1);
    expect(fill(shares, "default")).toBe(1_000);
  });

  it("are kept for a tenant that has none yet, whoever came first", () => {
    const { shares } = ledger(1_000, 2);
    expect(fill(shares, "evil")).toBe(936);
    expect(fill(shares, "acme")).toBe(64);
    expect(shares.taken).toBe(1_000);
  });

  it("are half for those below their shares where there are many", () => {
    const { shares } = ledger(1_600, 500);
    expect(fill(shares, "evil")).toBe(800);
    const small = Array.from({ length: 8 }, (_, i) => fill(shares, `small-${i}`));
    expect(small).toEqual(new Array(8).fill(100));
    expect(fill(shares, "late")).toBe(0);
  });

  it("that become free go to whoever is below its share, and none to the largest before", () => {
    let tenants = 1;
    const shares = new ShareLedger({ most: 1_000, tenants: () => tenants });
    fill(shares, "evil");
    tenants = 2;
    expect(shares.take("acme")).toBe(false);
    shares.give("evil", 1);
    expect(shares.take("evil")).toBe(false);
    expect(shares.take("acme")).toBe(true);
    shares.give("evil", 64);
    expect(fill(shares, "evil")).toBe(1);
    expect(fill(shares, "acme")).toBe(63);
  });

  it("are first come between tenants that have had their shares", () => {
    const { shares } = ledger(1_000, 2);
    shares.add("acme", 64);
    shares.add("evil", 800);
    expect(shares.take("acme", 100)).toBe(true);
    expect(shares.available("evil")).toBe(36);
  });

  it("are taken all together or not at all", () => {
    const { shares, refused } = ledger(100, 2);
    expect(shares.take("evil", 60)).toBe(false);
    expect([shares.used("evil"), shares.refused("evil"), refused]).toEqual([0, 60, [60]]);
    expect(shares.take("evil", 50)).toBe(true);
  });

  it("stay where they are restored beyond the limit, and are counted", () => {
    const { shares } = ledger(100, 2);
    shares.add("evil", 150);
    expect([shares.taken, shares.available("evil"), shares.available("acme")]).toEqual([150, 0, 0]);
    shares.give("evil", 60);
    expect([shares.available("evil"), shares.available("acme")]).toEqual([0, 10]);
  });

  it("cannot be given back by who holds none", () => {
    const { shares } = ledger(100, 2);
    shares.add("evil", 1);
    expect(() => shares.give("acme")).toThrow(RangeError);
    expect(shares.taken).toBe(1);
  });
});
