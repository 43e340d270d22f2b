// Work of which one runs at a time: tenants by turns, each within its share, and what the server itself has to do in any case.
import { describe, expect, it } from "vitest";
import { FairMutex } from "../../../../src/core/fairness/fair-mutex.ts";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { deferred } from "../../../support/http-test-server.ts";

describe("a gate of turns", () => {
  it("runs another tenant's work after one of many that wait", async () => {
    const gate = new FairMutex({ perTenantMax: 100, waitMsMax: 1_000 }, () => 0);
    const ran: string[] = [];
    const first = deferred();
    const all = [gate.run("evil", () => first.promise)];
    for (let i = 0; i < 20; i++) all.push(gate.run("evil", async () => void ran.push("evil")) as Promise<void>);
    all.push(gate.run("acme", async () => void ran.push("acme")) as Promise<void>);
    first.resolve();
    await Promise.all(all);
    expect(ran.indexOf("acme")).toBeLessThanOrEqual(1);
    expect(ran).toHaveLength(21);
  });

  it("refuses beyond the tenant's share, but for what has to be done anyway, and others find theirs", async () => {
    const shares = new ShareLedger({ most: 16, share: 2, tenants: () => 3 });
    const gate = new FairMutex({ perTenantMax: 16, waitMsMax: 1_000, shares }, () => 0);
    const hold = deferred();
    const outcomes = Array.from({ length: 20 }, () => gate.run("evil", () => hold.promise));
    const anyway = gate.runAnyway("evil", async () => "done");
    const acme = [gate.run("acme", async () => "acme"), gate.run("acme", async () => "acme")];
    hold.resolve();
    expect((await Promise.all(outcomes)).filter((outcome) => outcome === "full")).toHaveLength(8);
    expect(await anyway).toBe("done");
    expect(await Promise.all(acme)).toEqual(["acme", "acme"]);
    expect(shares.taken).toBe(0);
  });

  it("goes on after work that fails", async () => {
    const gate = new FairMutex({ perTenantMax: 4, waitMsMax: 1_000 }, () => 0);
    const failing = gate.run("evil", () => Promise.reject(new Error("no")));
    const next = gate.run("acme", async () => "done");
    await expect(failing).rejects.toThrow("no");
    expect(await next).toBe("done");
  });
});
