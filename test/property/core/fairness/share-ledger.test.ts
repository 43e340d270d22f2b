// A ledger beside plain counts: whatever tenants do, counts are right, nobody loses what it holds, and shares are sure where they can be.
import fc from "fast-check";
import { expect, it } from "vitest";
import { ShareLedger, shareOf } from "../../../../src/core/fairness/share-ledger.ts";

const step = fc.record({ tenant: fc.nat(11), count: fc.integer({ min: 1, max: 40 }), gives: fc.boolean() });
const sum = (values: Iterable<number>) => [...values].reduce((total, value) => total + value, 0);

it("counts what is held and refused, evicts nothing and keeps to the limit", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 600 }), fc.array(step, { maxLength: 200 }), (most, steps) => {
      let reported = 0;
      const shares = new ShareLedger({
        most,
        tenants: () => 12,
        refused: (count) => {
          reported += count;
        },
      });
      const [held, refused] = [new Array<number>(12).fill(0), new Array<number>(12).fill(0)];
      for (const { tenant, count, gives } of steps) {
        if (gives) {
          const given = Math.min(count, held[tenant]!);
          shares.give(`${tenant}`, given);
          held[tenant]! -= given;
        } else if (shares.take(`${tenant}`, count)) held[tenant]! += count;
        else refused[tenant]! += count;
        expect(held.map((_, each) => shares.used(`${each}`))).toEqual(held);
        expect(shares.taken).toBe(sum(held));
        expect(shares.taken).toBeLessThanOrEqual(most);
      }
      expect(refused.map((_, each) => shares.refused(`${each}`))).toEqual(refused);
      expect(reported).toBe(sum(refused));
    }),
  );
});

it("never refuses a tenant within its share where half of the limit holds the shares of all others", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 9 }),
      fc.integer({ min: 1_024, max: 4_000 }),
      fc.array(step, { maxLength: 300 }),
      (tenants, most, steps) => {
        const shares = new ShareLedger({ most, tenants: () => tenants });
        const share = shareOf(most);
        for (const { tenant, count, gives } of steps) {
          const name = `${tenant % tenants}`;
          const held = shares.used(name);
          if (gives) shares.give(name, Math.min(count, held));
          else if (held + count <= share) expect(shares.take(name, count)).toBe(true);
          else shares.take(name, shares.available(name));
        }
        for (let each = 0; each < tenants; each++)
          expect(shares.used(`${each}`) + shares.available(`${each}`)).toBeGreaterThanOrEqual(share);
      },
    ),
  );
});

it("gives what becomes free to a tenant below its share while one is, however many there are", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 2, max: 300 }),
      fc.integer({ min: 2, max: 3_000 }),
      fc.integer({ min: 1, max: 50 }),
      (tenants, most, freed) => {
        const shares = new ShareLedger({ most, tenants: () => tenants });
        shares.add("evil", most);
        shares.give("evil", Math.min(freed, most));
        const owed = Math.min(shareOf(most), freed);
        if (shares.used("evil") >= shareOf(most))
          expect(shares.available("evil")).toBe(Math.max(0, freed - Math.min(Math.floor(most / 2), (tenants - 1) * shareOf(most))));
        expect(shares.available("acme")).toBeGreaterThanOrEqual(Math.min(owed, most));
      },
    ),
  );
});
