// Self times: what is left of a span when those that it called have come, by operation and minute, within bounds that tenants share.
import { describe, expect, it } from "vitest";
import { ShareLedger } from "../../../../src/core/fairness/share-ledger.ts";
import type { OtlpSpan } from "../../../../src/domain/otlp/otlp-items.ts";
import { operationEvidence } from "../../../../src/domain/rca/operation-packing.ts";
import { operationHash } from "../../../../src/domain/trace/operation-hash.ts";
import { NO_OPERATION, OperationTimes } from "../../../../src/domain/trace/operation-times.ts";
import { openLedger } from "../../../support/share-ledgers.ts";
import { SpanRig, spanOf } from "../../../support/span-rig.ts";

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 5, 10);
const MINUTE = START / MINUTE_MS;
const [SERVER, CLIENT] = [2, 3];
const shop = { tenant: "acme", environment: "", serviceId: "shop" };

/** Mean self times in ms, and how many spans, by service and hash, of a minute before `onset` and since. */
function means(times: OperationTimes, tenant = "acme", onset = MINUTE) {
  return [...times.of(tenant, "", { onset, until: onset + 1, past: 1 })].map(({ name, hash, sums }) => {
    const { past, now } = operationEvidence(name.serviceId, "", sums);
    return [name.serviceId, hash, ...[past[0]!, now].map(({ spans, self }) => [spans, Math.round(self.meanMs * 1000) / 1000])];
  });
}

describe("self times", () => {
  it("are what children leave of a server's span, in whatever order they come, and none of a client's", () => {
    const span = (id: number, serviceId: string, name: string, kind: number, ms: number, parent?: number): OtlpSpan =>
      spanOf({ id, parent, serviceId, name, kind, startMs: START, endMs: START + ms });
    const trace = [
      span(1, "web", "GET /", SERVER, 100),
      span(2, "web", "call shop", CLIENT, 60, 1),
      span(3, "shop", "read", SERVER, 50, 2),
      span(4, "shop", "render", 1, 80, 3),
    ];
    for (const spans of [trace, trace.toReversed()]) {
      const rig = new SpanRig();
      for (const [i, one] of spans.entries()) rig.send([one], START + i * 1_000);
      rig.handler.onInterval(START + 60_000);
      const found = means(rig.times, "default").sort();
      expect(found).toEqual(
        [
          ["web", operationHash("GET /"), [0, 0], [1, 40]],
          // A child that took longer than its parent leaves nothing of it.
          ["shop", operationHash("read"), [0, 0], [1, 0]],
          ["shop", operationHash("render"), [0, 0], [1, 80]],
        ].sort(),
      );
    }
  });

  it("are kept by minute, twenty minutes of them, and an operation for as long", () => {
    const times = new OperationTimes(openLedger());
    const number = times.number(1, shop, 5, MINUTE);
    for (const [minute, ms] of [
      [MINUTE - 1, 10],
      [MINUTE, 20],
      [MINUTE + 1, 40],
      [MINUTE - 20, 99],
    ] as const)
      times.add(number, minute, ms * 1_000);
    expect(means(times)).toEqual([["shop", 5, [1, 10], [2, 30]]]);
    times.add(number, MINUTE + 19, 1_000);
    expect(means(times)).toEqual([["shop", 5, [0, 0], [2, 30]]]);
    times.expire(MINUTE);
    expect(times.size).toBe(1);
    times.expire(MINUTE + 1);
    expect(times.size).toBe(0);
    expect(times.number(2, shop, 6, MINUTE)).toBe(number);
    expect(times.number(1, shop, 5, MINUTE)).not.toBe(number);
  });

  it("finds each of many operations, and gives no place beyond the tenant's", () => {
    const times = new OperationTimes(new ShareLedger({ most: 1_000, tenants: () => 1 }));
    const all = Array.from({ length: 1_000 }, (_, i) => times.number(i % 7, shop, i * 4_096, MINUTE));
    expect(new Set(all).size).toBe(1_000);
    expect(Array.from({ length: 1_000 }, (_, i) => times.number(i % 7, shop, i * 4_096, MINUTE))).toEqual(all);
    expect(times.number(8, shop, 1, MINUTE)).toBe(NO_OPERATION);
  });
});
