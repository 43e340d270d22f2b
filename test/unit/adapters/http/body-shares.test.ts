// Memory of bodies on their way: by tenant, by address within each, by body within each.
import { describe, expect, it } from "vitest";
import { type BodyAccount, BodyShares } from "../../../../src/adapters/http/body-shares.ts";
import { BODY_BYTES_ARRIVING_MAX, BODY_BYTES_ARRIVING_SHARE } from "../../../../src/core/config/body-limits.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";

const MIB = 1024 * 1024;

function sharesOf(tenants: number): { shares: BodyShares; ledger: ShareLedger } {
  const ledger = new ShareLedger({ most: BODY_BYTES_ARRIVING_MAX, share: BODY_BYTES_ARRIVING_SHARE, tenants: () => tenants });
  return { shares: new BodyShares(ledger), ledger };
}

const open = (shares: BodyShares, tenant: string, address = "10.0.0.1") => shares.open(tenant, { remoteAddress: address });

/** Bodies of so many bytes, as many as find room; each takes its memory a MiB at a time. */
function fill(shares: BodyShares, tenant: string, address: string, bodyBytes: number): BodyAccount[] {
  const accounts: BodyAccount[] = [];
  for (let isOpen = true; isOpen && accounts.length < 10_000; ) {
    const account = open(shares, tenant, address);
    for (let at = 0; at < bodyBytes && isOpen; at += Math.min(MIB, bodyBytes)) isOpen = account.take(Math.min(MIB, bodyBytes));
    accounts.push(account);
  }
  return accounts;
}

describe("memory of bodies on their way", () => {
  it("leaves half to others where one address has taken what it may, whatever the size of its bodies", () => {
    for (const bodyBytes of [16 * MIB, 8 * MIB, 256 * 1024]) {
      const { shares } = sharesOf(1);
      fill(shares, "default", "10.0.0.1", bodyBytes);
      expect(shares.taken).toBeLessThanOrEqual(BODY_BYTES_ARRIVING_MAX / 2);
      const other = open(shares, "default", "10.0.0.2");
      for (let at = 0; at < 16; at++) expect(other.take(MIB)).toBe(true);
    }
  });

  it("finds room for the second and the third address, each of which gets less", () => {
    const { shares } = sharesOf(1);
    const takenBy = ["10.0.0.1", "10.0.0.2", "10.0.0.3"].map((address) => {
      const before = shares.taken;
      fill(shares, "default", address, 4 * MIB);
      return (shares.taken - before) / MIB;
    });
    expect(takenBy[0]).toBeGreaterThan(200);
    expect(takenBy[1]).toBeGreaterThan(100);
    expect(takenBy[2]).toBeGreaterThan(50);
    expect(open(shares, "default", "10.0.0.4").take(16 * MIB)).toBe(true);
  });

  it("keeps a tenant's share for it from all addresses of another", () => {
    const { shares, ledger } = sharesOf(3);
    for (let i = 0; i < 200; i++) fill(shares, "evil", `10.1.0.${i}`, 16 * MIB);
    const acme = open(shares, "acme", "10.1.0.1");
    for (let at = 0; at < 18; at++) expect(acme.take(MIB)).toBe(true);
    expect(ledger.refused("evil")).toBeGreaterThan(0);
    expect(ledger.refused("acme")).toBe(0);
  });

  it("refuses large bodies of an address before small ones", () => {
    const { shares } = sharesOf(1);
    fill(shares, "default", "10.0.0.1", 16 * MIB);
    expect(open(shares, "default", "10.0.0.1").take(16 * 1024)).toBe(true);
  });

  it("counts the addresses of one IPv6 network as one sender", () => {
    const { shares } = sharesOf(1);
    fill(shares, "default", "2001:db8:1:2::1", 16 * MIB);
    const taken = shares.taken;
    fill(shares, "default", "2001:db8:1:2:ffff::7", 16 * MIB);
    expect(shares.taken - taken).toBeLessThan(16 * MIB);
    expect(open(shares, "default", "2001:db8:1:3::1").take(16 * MIB)).toBe(true);
    expect(open(shares, "default", "::1").take(16 * MIB)).toBe(true);
  });

  it("has all back when bodies end", () => {
    const { shares } = sharesOf(2);
    for (const account of fill(shares, "evil", "10.0.0.1", MIB)) {
      account.end();
      account.end();
    }
    expect(shares.taken).toBe(0);
    expect(open(shares, "evil").take(100 * MIB)).toBe(true);
  });
});
