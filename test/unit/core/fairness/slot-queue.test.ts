// Places that tenants share, and who waits for one.
import { describe, expect, it } from "vitest";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import { SlotQueue } from "../../../../src/core/fairness/slot-queue.ts";

function queueOf(most: number, share: number, tenants: number) {
  const ledger = new ShareLedger({ most, share, tenants: () => tenants });
  return { ledger, queue: new SlotQueue(ledger) };
}

const takeAll = (queue: SlotQueue, tenant: string): number => {
  let taken = 0;
  while (queue.take(tenant)) taken++;
  return taken;
};

describe("places with who waits for one", () => {
  it("keeps shares free for tenants that hold none", () => {
    const { queue } = queueOf(100, 10, 3);
    expect(takeAll(queue, "evil")).toBe(80);
    expect(takeAll(queue, "acme")).toBe(10);
    expect(takeAll(queue, "bolt")).toBe(10);
    expect(queue.take("evil")).toBe(false);
  });

  it("gives what becomes free to the tenants in turn, not to whoever asks next", () => {
    const { queue } = queueOf(4, 1, 4);
    const got: string[] = [];
    expect(takeAll(queue, "evil")).toBe(2);
    for (const tenant of ["acme", "bolt"]) expect(queue.take(tenant)).toBe(true);
    for (let i = 0; i < 20; i++) queue.wait("evil", String(i), () => got.push("evil"));
    queue.wait("cord", "0", () => got.push("cord"));
    queue.give("evil"); // of two, so it is above its share still
    expect(got).toEqual(["cord"]);
    queue.give("evil");
    expect(got).toEqual(["cord", "evil"]);
    expect(queue.waiting).toBe(19);
  });

  it("passes over a tenant that may have none now, and forgets who waits no more", () => {
    const { queue, ledger } = queueOf(2, 1, 2);
    const got: string[] = [];
    queue.take("evil");
    queue.take("acme");
    queue.wait("evil", "1", () => got.push("evil"));
    queue.wait("acme", "1", () => got.push("acme"));
    queue.give("acme");
    expect(got).toEqual(["acme"]);
    expect(queue.forget("evil", "1")).toBe(true);
    expect(queue.forget("evil", "1")).toBe(false);
    queue.give("evil");
    expect(got).toEqual(["acme"]);
    expect(ledger.taken).toBe(1);
  });
});
