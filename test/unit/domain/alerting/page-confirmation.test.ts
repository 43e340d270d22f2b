import { describe, expect, it } from "vitest";
import type { ConfirmedPair } from "../../../../src/core/protocol/engine-control.ts";
import type { Hold } from "../../../../src/domain/alerting/hold.ts";
import type { Finding } from "../../../../src/domain/alerting/paging/finding.ts";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import { ServiceConfirmations } from "../../../../src/domain/alerting/paging/service-confirmations.ts";
import { CONFIRMATION_LENGTH, CONFIRMING_VALUES, PairConfirmation } from "../../../../src/domain/detection/pair/pair-confirmation.ts";
import { RECENT_LENGTH, RecentValues } from "../../../../src/domain/detection/rolling/recent-values.ts";
import { generator } from "../../../support/generator.ts";
import { PAGING_START_MS, PagingRig } from "../../../support/paging-rig.ts";

const MINUTE_MS = 60_000;

const pair = (change: Partial<ConfirmedPair> = {}): ConfirmedPair => ({
  tenant: "default",
  environment: "prod",
  serviceId: "checkout",
  metricName: "queue_depth",
  isAlone: true,
  side: 1,
  direction: null,
  ...change,
});

const rigOf = () => {
  const confirmations = new ServiceConfirmations();
  return { confirmations, rig: new PagingRig({ confirmations }) };
};

describe("the gate of confirmation", () => {
  it("holds the page of a lone finding and not its alert", () => {
    const { rig } = rigOf();
    const decision = rig.fire({ z: 5 });
    expect(decision).toMatchObject({ outcome: "suppressed", suppressedBy: "confirmation" });
    expect([...rig.memory.firing("default")]).toMatchObject([{ heldBy: "confirmation", pages: 0 }]);
  });

  it("holds nothing with WATCHDOG_CONFIRMATION=off, and lets go what was held before", () => {
    const off = new PagingRig({ confirmations: new ServiceConfirmations(), confirmation: false });
    expect(off.fire({ z: 5 })).toMatchObject({ outcome: "paged", suppressedBy: null });
    const { rig } = rigOf();
    expect(rig.fire({ z: 5 }).suppressedBy).toBe("confirmation");
    rig.sources = { ...rig.sources, confirmation: false };
    expect(rig.again(PAGING_START_MS + MINUTE_MS)).toMatchObject([{ outcome: "paged" }]);
  });

  it("lets it go in the cycle in which its pair confirms, once", () => {
    const { rig, confirmations } = rigOf();
    rig.fire({ z: 5 });
    expect(rig.again(PAGING_START_MS + MINUTE_MS)).toEqual([]);
    confirmations.take(pair(), PAGING_START_MS + 2 * MINUTE_MS);
    expect(rig.again(PAGING_START_MS + 2 * MINUTE_MS)).toMatchObject([
      { outcome: "paged", gates: [{ name: "confirmation", passed: true }, {}, {}, {}] },
    ]);
    expect(rig.again(PAGING_START_MS + 3 * MINUTE_MS)).toEqual([]);
  });

  it("takes a confirmation for two minutes: at, just above", () => {
    const { rig, confirmations } = rigOf();
    confirmations.take(pair(), PAGING_START_MS);
    expect(rig.fire({ z: 5, atMs: PAGING_START_MS + 2 * MINUTE_MS }).outcome).toBe("paged");
    const late = rigOf();
    late.confirmations.take(pair(), PAGING_START_MS);
    expect(late.rig.fire({ z: 5, atMs: PAGING_START_MS + 2 * MINUTE_MS + 1 }).suppressedBy).toBe("confirmation");
  });

  it("needs two metrics where none confirms alone, and quantiles of one histogram are one", () => {
    const { rig, confirmations } = rigOf();
    rig.fire({ z: 5 });
    const take = (metricName: string) => confirmations.take(pair({ metricName, isAlone: false }), PAGING_START_MS);
    take("wait_ms.p95");
    take("wait_ms.p99");
    expect(rig.again(PAGING_START_MS)).toEqual([]);
    take("queue_depth");
    expect(rig.again(PAGING_START_MS)).toHaveLength(1);
  });

  it("takes nothing from other services, environments and tenants, and nothing that goes the harmless way", () => {
    const { rig, confirmations } = rigOf();
    rig.fire({ z: 5 });
    confirmations.take(pair({ serviceId: "cart" }), PAGING_START_MS);
    confirmations.take(pair({ environment: "test" }), PAGING_START_MS);
    confirmations.take(pair({ tenant: "other" }), PAGING_START_MS);
    confirmations.take(pair({ metricName: "errors", side: -1 }), PAGING_START_MS);
    confirmations.take(pair({ side: -1, direction: "high" }), PAGING_START_MS);
    expect(rig.again(PAGING_START_MS)).toEqual([]);
    confirmations.take(pair({ metricName: "errors", side: 0 }), PAGING_START_MS);
    expect(rig.again(PAGING_START_MS)).toHaveLength(1);
  });

  it("says what holds it back now, whatever did before", () => {
    let hold: Hold | undefined = { id: "s", comment: "upgrade" };
    let inhibition: Hold | undefined;
    const rig = new PagingRig({ silences: { silenced: () => hold }, inhibitions: { inhibited: () => inhibition } });
    const { alertId } = rig.fire({ z: 5 });
    const heldBy = () => rig.memory.alert(alertId as string)?.heldBy;
    expect(heldBy()).toBe("silenced");
    inhibition = { id: "i", comment: "a member" };
    expect(rig.again(PAGING_START_MS + MINUTE_MS)).toMatchObject([{ outcome: "suppressed", suppressedBy: "inhibited" }]);
    expect([heldBy(), rig.again(PAGING_START_MS + 2 * MINUTE_MS)]).toEqual(["inhibited", []]);
    inhibition = undefined;
    expect(rig.again(PAGING_START_MS + 3 * MINUTE_MS)).toMatchObject([{ suppressedBy: "silenced" }]);
    hold = undefined;
    expect(rig.again(PAGING_START_MS + 4 * MINUTE_MS)).toMatchObject([{ outcome: "paged" }]);
    expect(heldBy()).toBeNull();
  });

  it("does not wait for what its detector calls rare for the service, and waits for any other, however far out", () => {
    const fire = (detector: string, z: number, isRare: boolean) => rigOf().rig.fire({ detector, z, isRare }).outcome;
    expect([fire("isolation_forest", 5, true), fire("isolation_forest", 99, false)]).toEqual(["paged", "suppressed"]);
    expect([fire("z_score", 99, false), fire("adaptive", 99, false)]).toEqual(["suppressed", "suppressed"]);
  });

  it.each(["saturation", "slo_burn", "stale_service", "external", "manual", "logs"])("asks nothing of %s", (detector) => {
    expect(rigOf().rig.fire({ detector, z: 5 }).outcome).toBe("paged");
  });

  it("takes the word of an independent detector within two minutes, and not that of the forest over the same values", () => {
    const { rig } = rigOf();
    expect(rig.fire({ detector: "isolation_forest", z: 5, threshold: 3 }).suppressedBy).toBe("confirmation");
    expect(rig.fire({ z: 5 }).suppressedBy).toBe("confirmation");
    rig.fire({ detector: "logs", z: 5, atMs: PAGING_START_MS });
    const reported = rig.again(PAGING_START_MS + 2 * MINUTE_MS);
    expect(reported.map(({ family }) => family)).toEqual(["metric"]);
    const late = rigOf().rig;
    late.fire({ z: 5 });
    late.fire({ detector: "logs", z: 5 });
    expect(late.again(PAGING_START_MS + 2 * MINUTE_MS + 1)).toEqual([]);
  });

  it("asks for a finding over all metrics what it asks for one: two metrics' shares, or one that departs alone", () => {
    const { rig, confirmations } = rigOf();
    rig.fire({ detector: "isolation_forest", z: 5 });
    rig.fire({ z: 5 });
    confirmations.take(pair({ isAlone: false }), PAGING_START_MS);
    expect(rig.again(PAGING_START_MS)).toEqual([]);
    confirmations.take(pair({ isAlone: false, metricName: "queue.depth" }), PAGING_START_MS);
    expect(rig.again(PAGING_START_MS).map(({ outcome }) => outcome)).toEqual(["paged"]);
  });

  it("that has let an alert go is not asked of what joins it: one that is confirmed waits for its group alone, and is told then", () => {
    const rig = new PagingRig({ confirmations: new ServiceConfirmations(), groupWaitMs: 10_000 });
    const told = rig.fire({ serviceId: "search", isRare: true });
    expect(rig.fire({ isRare: true, atMs: PAGING_START_MS + 1 }).suppressedBy).toBe("group_wait");
    const { alertId, suppressedBy } = rig.fire({ metricName: "errors", z: 14, atMs: PAGING_START_MS + 2 });
    expect([suppressedBy, rig.memory.alert(alertId as string)?.heldBy]).toEqual(["group_wait", "group_wait"]);
    expect(rig.again(PAGING_START_MS + 10_001)).toMatchObject([{ outcome: "paged", alertId }]);
    expect(alertId).not.toBe(told.alertId);
  });

  describe("of three metrics of a young service that are far out", () => {
    const intervalMs = 10_000;
    const effectAt = (seconds: number) => {
      const startedAtMs = PAGING_START_MS + seconds * 1_000;
      const effect = { observed: 20, expected: 10, sd: 1, isJoint: false, streams: 1, startedAtMs, intervalMs, reaches: 0 };
      return { isFarOut: true, effect, startedAtMs };
    };
    const far = (rig: PagingRig, metricName: string, seconds: number, change: Partial<Finding> = {}) => {
      const found = effectAt(seconds);
      return rig.fire({ metricName, z: 8, ...found, atMs: found.startedAtMs + intervalMs, ...change });
    };
    const outcomesAfter = (rig: PagingRig, seconds: number) => rig.again(PAGING_START_MS + seconds * 1_000).map(({ outcome }) => outcome);

    it("lets them go once one has gone on for longer than an odd value is open: just before, at", () => {
      const { rig } = rigOf();
      for (const [i, name] of ["cpu", "latency.p95", "connections"].entries()) expect(far(rig, name, i).suppressedBy).toBe("confirmation");
      expect(outcomesAfter(rig, 59.999)).toEqual([]);
      expect(outcomesAfter(rig, 60)).toEqual(["paged"]);
    });

    it("asks each finding on the service, too", () => {
      const { rig } = rigOf();
      for (const name of ["cpu", "latency.p95"]) far(rig, name, 0);
      far(rig, "connections", 60);
      expect([...rig.memory.firing("default")].map(({ pages, heldBy }) => [pages, heldBy])).toEqual([[1, null]]);
    });

    it("lets them go once a later value of one is farther out: not as far, nor at the same time", () => {
      const grown = (z: number, seconds: number) => {
        const { rig } = rigOf();
        const [first] = ["cpu", "latency.p95", "connections"].map((name) => far(rig, name, 0));
        const { effect, ...found } = rig.finding({ ...(first as PageDecision), ...effectAt(0) });
        const atMs = PAGING_START_MS + seconds * 1_000;
        return rig.outcome({ ...found, effect, kind: "raised", z, firedAtMs: PAGING_START_MS + intervalMs, atMs }).decision.outcome;
      };
      expect([grown(8, 20), grown(8.1, 9), grown(8.1, 20)]).toEqual(["suppressed", "suppressed", "paged"]);
    });

    it("takes two that go on, each twice as far out", () => {
      const told = (...sizes: readonly number[]) => {
        const { rig } = rigOf();
        for (const [i, name] of ["cpu", "connections"].entries()) far(rig, name, 10 * i, { z: sizes[i] as number });
        return [69.999, 70].map((seconds) => outcomesAfter(rig, seconds));
      };
      expect([told(10, 9.9), told(10, -10)]).toEqual([
        [[], []],
        [[], ["paged"]],
      ]);
    });

    it("holds two, three quantiles of one, one that has ended, what is not far out, and what began five minutes apart", () => {
      const rig = (fire: (rig: PagingRig) => void) => {
        const made = rigOf().rig;
        fire(made);
        return outcomesAfter(made, 400);
      };
      expect(rig((of) => ["cpu", "latency"].map((name) => far(of, name, 200)))).toEqual([]);
      expect(rig((of) => ["ms.p50", "ms.p95", "ms.p99"].map((name) => far(of, name, 200)))).toEqual([]);
      expect(rig((of) => ["cpu", "latency", "pool"].map((name) => far(of, name, 200, { isFarOut: name !== "pool" })))).toEqual([]);
      expect(rig((of) => ["cpu", "latency", "pool"].map((name, i) => far(of, name, 80 + 80 * i)))).toEqual([]);
      const ended = (of: PagingRig) => {
        const found = ["cpu", "latency", "pool"].map((name) => far(of, name, 200));
        of.end(found[1] as PageDecision, PAGING_START_MS + 250_000);
      };
      expect(rig(ended)).toEqual([]);
      expect(rig((of) => ["cpu", "latency", "pool"].map((name) => far(of, name, 200)))).toEqual(["paged"]);
    });
  });

  it("hands what is confirmed over to the silence that holds it then", () => {
    let isSilenced = true;
    const confirmations = new ServiceConfirmations();
    const silences = { silenced: () => (isSilenced ? { id: "1", comment: "" } : undefined) };
    const rig = new PagingRig({ confirmations, silences });
    rig.fire({ z: 5 });
    confirmations.take(pair(), PAGING_START_MS);
    expect(rig.again(PAGING_START_MS)).toMatchObject([{ outcome: "suppressed", suppressedBy: "silenced" }]);
    isSilenced = false;
    // The confirmation itself is long over.
    expect(rig.again(PAGING_START_MS + 30 * MINUTE_MS)).toMatchObject([{ outcome: "paged" }]);
  });
});

/** A pair of AR(1) noise of unit variance, and then what is given. */
class NoisyPair {
  readonly #values = new RecentValues(new Float64Array(RECENT_LENGTH));
  readonly confirmation = new PairConfirmation(new Float64Array(CONFIRMATION_LENGTH), this.#values);

  constructor(minutes: number) {
    const { normal } = generator(1);
    for (let i = 0; i < minutes; i++) this.take(Math.max(-2, Math.min(2, normal())));
  }

  take(value: number): PairConfirmation {
    this.#values.add(100 + value);
    this.confirmation.observe(1);
    return this.confirmation;
  }
}

describe("the confirmation of a pair", () => {
  /** The first of these values with which it confirms by itself; 0 for none. */
  const aloneAt = (values: readonly number[], minutes = 600): number => {
    const noisy = new NoisyPair(minutes);
    return values.findIndex((value) => noisy.take(value).alone >= 1) + 1;
  };

  it("comes with the fourth of five values that lie far out, the third further out, the second still further", () => {
    const wobble = [0, 0.2, -0.2, 0.1, 0];
    expect(aloneAt(wobble.map((more) => 7 + more))).toBe(4);
    expect(aloneAt(wobble.map((more) => -7 - more))).toBe(4);
    expect(aloneAt(wobble.map((more) => 10 + more))).toBe(3);
    expect(aloneAt(wobble.map((more) => 15 + more))).toBe(2);
    expect(aloneAt(wobble.map((more) => 4 + more))).toBe(0);
  });

  it("does not come of one outlier, however far out, nor of its decay in correlated noise", () => {
    expect(aloneAt([100, 0.3, -0.4, 0.2, 0.1, 0.5])).toBe(0);
    expect(aloneAt([8, 6.4, 5.1, 4.1, 3.3, 2.6])).toBe(0);
  });

  it("comes of five equal values off the level: a flat line", () => {
    expect(aloneAt([-4, -4, -4, -4, -4])).toBe(5);
    expect(aloneAt([-4, -3.8, -4.1, -3.9, -4])).toBe(0);
  });

  it("is shared where steps are several times as large to both sides, and has no side then", () => {
    const noisy = new NoisyPair(600);
    const shared = [6, -5, 7, -6, 5].map((value) => noisy.take(value).shared);
    expect(shared.at(-1)).toBeGreaterThan(1);
    expect(noisy.confirmation.side).toBe(0);
  });

  it("needs thirteen values, and more of a young pair", () => {
    expect(aloneAt([50, 50.1, 50.2], CONFIRMING_VALUES)).toBe(0);
    expect(aloneAt([7, 7.1, 7.2, 7, 7.1], 40)).toBe(0);
  });
});
