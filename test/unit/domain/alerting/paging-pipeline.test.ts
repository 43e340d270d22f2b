// Rules 1.1.5 to 1.1.13 through the whole way from an anomaly to a page: each at its limit, just below and just above, on a virtual clock.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Hold } from "../../../../src/domain/alerting/hold.ts";
import type { Finding } from "../../../../src/domain/alerting/paging/finding.ts";
import { decideFire } from "../../../../src/domain/alerting/paging/page-pipeline.ts";
import { PagingMemory } from "../../../../src/domain/alerting/paging/paging-memory.ts";
import { scopeText } from "../../../../src/domain/alerting/paging/service-scope.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
/** Equivalent z of the scores 0.4 and 0.7, where tiers begin. */
const Z_MEDIUM = 2;
const Z_HIGH = 3;
const SILENCE: Hold = { id: "s", comment: "maintenance" };

describe("rule 1.1.5: RCA cooldown of a pair", () => {
  it("15 minutes: just below, at, just above", () => {
    const outcomeAfter = (ms: number) => {
      const rig = new PagingRig();
      expect(rig.fire().rca).toMatchObject({ passed: true, limit: 15 });
      return rig.fire({ atMs: START + ms }).rca?.passed;
    };
    expect([15 * MINUTE - 1, 15 * MINUTE, 15 * MINUTE + 1].map(outcomeAfter)).toEqual([false, true, true]);
  });
  it("is counted from the last analysis that was due, and for each pair of its own", () => {
    const rig = new PagingRig();
    const due = (minute: number, change: Partial<Finding> = {}) => rig.fire({ atMs: START + minute * MINUTE, ...change }).rca?.passed;
    expect([due(0), due(10), due(16), due(20), due(31)]).toEqual([true, false, true, false, true]);
    expect([
      due(32, { metricName: "other" }),
      due(32, { serviceId: "cart" }),
      due(32, { environment: "staging" }),
      due(32, { tenant: "u" }),
    ]).toEqual(Array(4).fill(true));
  });
  it("keeps nothing from being an anomaly or a page, and is not asked for what is no new anomaly", () => {
    const rig = new PagingRig();
    const first = rig.fire({ z: 2.5, detector: "slo_burn" });
    expect(rig.fire({ detector: "isolation_forest", atMs: START + 1 })).toMatchObject({ outcome: "paged", rca: { passed: false } });
    expect(rig.fire({ ...first, kind: "raised", atMs: START + 2 }).rca).toBeNull();
  });
});

describe("rule 1.1.6: bands of the score", () => {
  it("below 0.4 is logged and makes no alert, from 0.4 on it pages: just below, at, just above", () => {
    const outcome = (z: number) => {
      const { outcome: of, tier, alertId, suppressedBy } = new PagingRig().fire({ detector: "saturation", z });
      return [of, tier, alertId !== null, suppressedBy];
    };
    expect([Z_MEDIUM - 0.01, Z_MEDIUM + 0.001, Z_MEDIUM + 0.01].map(outcome)).toEqual([
      ["logged", "low", false, "tier"],
      ["paged", "medium", true, null],
      ["paged", "medium", true, null],
    ]);
    expect([Z_HIGH - 0.01, Z_HIGH, Z_HIGH + 0.01].map((z) => outcome(z)[1])).toEqual(["medium", "high", "high"]);
  });
  it("a low one that is raised to medium opens an alert then", () => {
    const rig = new PagingRig();
    const low = rig.fire({ detector: "saturation", z: 1 });
    expect(rig.fire({ ...low, kind: "raised", z: 2.5, atMs: START + 1 })).toMatchObject({ outcome: "paged", tier: "medium" });
  });
});

describe("rule 1.1.8: operation-class bar", () => {
  const outcome = (z: number, zThreshold: number, operation = true) =>
    new PagingRig({ settings: { zThreshold } }).fire({ z, operation }).suppressedBy;
  it("twice the threshold, at least 6: at, just above", () => {
    expect([6, 6.01].map((z) => outcome(z, 2))).toEqual(["threshold", null]);
    expect([6, 6.01].map((z) => outcome(z, 3))).toEqual(["threshold", null]);
    expect([8, 8.01].map((z) => outcome(z, 4))).toEqual(["threshold", null]);
  });
  it("others take the threshold of their service: at, just above", () => {
    expect([3, 3.01].map((z) => outcome(z, 3, false))).toEqual(["threshold", null]);
    expect([4.5, 4.51, -4.5, -4.51].map((z) => outcome(z, 4.5, false))).toEqual(["threshold", null, "threshold", null]);
  });
});

describe("rule 1.1.9: warm-up", () => {
  const at = (ms: number, change: Partial<Finding>, warmUpMinutes = 8) =>
    new PagingRig({ startedAtMs: START, warmUpMinutes }).fire({ z: 9, atMs: START + ms, ...change }).suppressedBy;
  it("8 minutes for models, operation-class series and saturation: just below, at, just above", () => {
    for (const change of [{ detector: "isolation_forest" }, { detector: "adaptive" }, { detector: "saturation" }, { operation: true }]) {
      expect([8 * MINUTE - 1, 8 * MINUTE, 8 * MINUTE + 1].map((ms) => at(ms, change))).toEqual(["warmup", null, null]);
    }
  });
  it("D1: delays and swallows nothing: what is still so at its end is told within a cycle, of every layer, once", () => {
    const end = START + 8 * MINUTE;
    for (const change of [{ detector: "isolation_forest" }, { detector: "adaptive" }, { detector: "saturation" }, { operation: true }]) {
      const rig = new PagingRig({ startedAtMs: START });
      const held = rig.fire({ z: 9, ...change });
      expect(held).toMatchObject({ outcome: "suppressed", suppressedBy: "warmup", alertId: null });
      expect(rig.again(end - 1)).toEqual([]);
      expect(rig.again(end)).toMatchObject([{ outcome: "paged", anomalyId: held.anomalyId, suppressedBy: null }]);
      expect(rig.again(end + MINUTE)).toEqual([]);
    }
  });
  it("tells nothing at its end of what is over by then", () => {
    const rig = new PagingRig({ startedAtMs: START });
    rig.end(rig.fire({ z: 9, detector: "saturation" }), START + MINUTE);
    expect(rig.again(START + 9 * MINUTE)).toEqual([]);
  });
  it("not for named-metric z, SLO burn, stale service, cascade and manual override", () => {
    for (const detector of ["z_score", "slo_burn", "stale", "cascade", "manual", "external"]) expect(at(0, { detector })).toBeNull();
  });
  it("as long as is set", () => {
    expect([
      at(0, { detector: "adaptive" }, 0),
      at(MINUTE - 1, { detector: "adaptive" }, 1),
      at(MINUTE, { detector: "adaptive" }, 1),
    ]).toEqual([null, "warmup", null]);
  });
});

describe("rule 1.1.10: one incident is one alert", () => {
  it("absorbs for 60 minutes from its creation: just below, at, just above", () => {
    const outcomeAfter = (ms: number) => {
      const rig = new PagingRig();
      const first = rig.fire();
      const { outcome, suppressedBy, alertId } = rig.fire({ metricName: "other", atMs: START + ms });
      return [outcome, suppressedBy, alertId === first.alertId];
    };
    expect([HOUR - 1, HOUR, HOUR + 1].map(outcomeAfter)).toEqual([
      ["absorbed", "dedup", true],
      ["absorbed", "dedup", true],
      ["paged", null, false],
    ]);
  });
  it("takes the age of the service's settings: just below, at, just above", () => {
    const rig = (ms: number) => {
      const of = new PagingRig({ settings: { dedupMaxAgeMinutes: 5 } });
      of.fire();
      return of.fire({ atMs: START + ms }).outcome;
    };
    expect([5 * MINUTE - 1, 5 * MINUTE, 5 * MINUTE + 1].map(rig)).toEqual(["absorbed", "absorbed", "paged"]);
  });
  it("sends a higher tier as an update, which is no page, and says nothing of the same", () => {
    const rig = new PagingRig();
    const first = rig.fire({ detector: "saturation", z: 2.1 });
    const history = () => rig.memory.alert(first.alertId as string)?.history.map(({ kind }) => kind);
    expect(rig.fire({ ...first, kind: "raised", z: 2.9, atMs: START + 1 })).toMatchObject({ outcome: "absorbed", suppressedBy: "dedup" });
    expect(history()).toEqual(["opened", "paged"]);
    expect(rig.fire({ ...first, kind: "raised", z: 3.1, atMs: START + 2 })).toMatchObject({
      outcome: "absorbed",
      alertId: first.alertId,
      tier: "high",
    });
    expect(history()).toEqual(["opened", "paged", "raised", "updated"]);
    expect(rig.memory.alert(first.alertId as string)).toMatchObject({ anomalies: 1, open: 1, pages: 1, state: { fires: 3, tier: "high" } });
  });
  it("pages a higher tier that nobody has been told of", () => {
    let isSilenced = true;
    const rig = new PagingRig({ silences: { silenced: () => (isSilenced ? { id: "s", comment: "" } : undefined) } });
    const first = rig.fire({ detector: "saturation", z: 2.1 });
    isSilenced = false;
    expect(rig.fire({ ...first, kind: "raised", z: 3.1, atMs: START + 2 })).toMatchObject({ outcome: "paged", tier: "high" });
  });
  it("keeps services, environments, tenants and families apart", () => {
    const rig = new PagingRig();
    const changes = [{}, { serviceId: "cart" }, { environment: "staging" }, { tenant: "u" }, { detector: "slo_burn" }];
    expect(new Set(changes.map((change) => rig.fire(change).alertId)).size).toBe(5);
    expect(rig.fire({ detector: "adaptive", z: 4, atMs: START + 1 }).outcome).toBe("absorbed");
  });
  it("keeps a raised anomaly in its alert however old that is, though a new fire has opened the next one", () => {
    const rig = new PagingRig();
    const first = rig.fire({ detector: "saturation", z: 2.1 });
    const raised = rig.fire({ ...first, kind: "raised", z: 3.1, atMs: START + HOUR + 1 });
    expect(raised).toMatchObject({ outcome: "absorbed", alertId: first.alertId });
    const other = rig.fire({ detector: "saturation", metricName: "disk", z: 4, atMs: START + HOUR + 2 });
    expect(other).toMatchObject({ outcome: "paged" });
    expect(other.alertId).not.toBe(first.alertId);
    const { decision, ended } = rig.outcome({ ...raised, kind: "raised", z: 3.3, atMs: START + HOUR + 3 });
    expect([decision.outcome, decision.alertId, ended]).toEqual(["absorbed", first.alertId, undefined]);
    expect([first, other].map(({ alertId }) => rig.memory.alert(alertId as string)?.open)).toEqual([1, 1]);
  });
});

describe("resolution", () => {
  it("comes with the last open anomaly, whichever it is", () => {
    const rig = new PagingRig();
    const decisions = [0, 1, 2].map((i) => rig.fire({ metricName: `m${i}`, atMs: START + i }));
    const [first, second, third] = decisions as [(typeof decisions)[0], (typeof decisions)[0], (typeof decisions)[0]];
    expect(rig.end(second, START + 10)).toBeUndefined();
    expect(rig.end(first, START + 11)).toBeUndefined();
    expect(rig.end(third, START + 12)).toMatchObject({ outcome: "resolved", alertId: first.alertId, atMs: START + 12 });
    expect(rig.memory.alert(first.alertId as string)?.state.resolvedAtMs).toBe(START + 12);
    expect(rig.memory.firingCount).toBe(0);
  });
  it("is undone by the next fire within the age, as the same alert, which pages until it flaps", () => {
    const rig = new PagingRig();
    let last = rig.fire();
    const outcomes = [1, 2, 3, 4].map((minute) => {
      rig.end(last, START + minute * MINUTE - 1);
      last = rig.fire({ atMs: START + minute * MINUTE });
      return [last.outcome, last.suppressedBy];
    });
    expect(outcomes).toEqual([
      ["paged", null],
      ["paged", null],
      ["suppressed", "flapping"],
      ["suppressed", "flapping"],
    ]);
  });
  it("of a flapping alert that goes on firing is told when the pause is over: just before, at", () => {
    const rig = new PagingRig();
    let last = rig.fire();
    for (const minute of [1, 2, 3]) {
      rig.end(last, START + minute * MINUTE - 1);
      last = rig.fire({ atMs: START + minute * MINUTE });
    }
    // Last page at minute 2, and a pause of five.
    expect(rig.again(START + 7 * MINUTE - 1)).toEqual([]);
    expect(rig.again(START + 7 * MINUTE)).toMatchObject([{ outcome: "paged", alertId: last.alertId }]);
    expect(rig.again(START + 8 * MINUTE)).toEqual([]);
  });
});

describe("rule 1.1.13: maturity of the service", () => {
  const outcome = (ageMs: number, z: number) => new PagingRig({ firstSeenMs: () => START - ageMs }).fire({ z }).suppressedBy;
  it("young below 24 hours, settling below 7 days: just below, at, just above, each on both sides of its threshold", () => {
    for (const age of [DAY - 1]) expect([2.69, 2.71].map((z) => outcome(age, z))).toEqual(["threshold", null]);
    for (const age of [DAY, DAY + 1, 7 * DAY - 1]) expect([2.84, 2.86].map((z) => outcome(age, z))).toEqual(["threshold", null]);
    for (const age of [7 * DAY, 7 * DAY + 1]) expect([2.99, 3.01].map((z) => outcome(age, z))).toEqual(["threshold", null]);
  });
});

describe("what people decide", () => {
  it("excluded pairs do not page, whatever they do", () => {
    expect(new PagingRig({ settings: { excluded: true } }).fire({ z: 99 })).toMatchObject({
      outcome: "suppressed",
      suppressedBy: "exclusion",
      alertId: null,
    });
  });
  it("the settings of the pair itself decide, and a manual override goes before its exclusion", () => {
    const { sources } = new PagingRig();
    const rig = new PagingRig({
      settingsOf: (...of) => ({ ...sources.settingsOf(...of), excluded: of.join("/") === "default/checkout/latency" }),
    });
    const by = (change: Partial<Finding>) => rig.fire({ metricName: "latency", z: 9, ...change }).suppressedBy;
    expect(by({})).toBe("exclusion");
    expect(by({ detector: "manual" })).toBeNull();
    expect(by({ detector: "external" })).toBeNull();
    for (const [i, change] of [{ metricName: "queue" }, { serviceId: "cart" }, { tenant: "u" }].entries())
      expect([i, by({ ...change, atMs: START + i }) === "exclusion"]).toEqual([i, false]);
  });
  it("direction by name, or as set", () => {
    const by = (direction: "both" | "high" | "low", metricName: string, z: number) =>
      new PagingRig({ settings: { direction } }).fire({ metricName, z }).suppressedBy;
    expect([by("both", "errors", -5), by("both", "errors", 5), by("both", "queue", -5)]).toEqual(["direction", null, null]);
    expect([by("low", "errors", -5), by("low", "errors", 5), by("high", "queue", -5)]).toEqual([null, "direction", "direction"]);
  });
  it("a manual override passes all that statistics ask", () => {
    const rig = new PagingRig({
      startedAtMs: START,
      settings: { excluded: true, direction: "low", zThreshold: 20 },
      feedbackFactor: () => 1.5,
    });
    expect(rig.fire({ detector: "manual", z: 2.5 })).toMatchObject({
      outcome: "paged",
      gates: [{ name: "manual_override" }, { name: "tier" }, {}, {}],
    });
  });
  it("minimum traffic of ratios and latencies: just below, at, and not of other metrics", () => {
    const by = (requests: number | undefined, metricName: string, minimumTraffic = 100) =>
      new PagingRig({ settings: { minimumTraffic }, requestsInCycle: () => requests }).fire({ metricName }).suppressedBy;
    expect([99, 100, 101].map((requests) => by(requests, "latency.p95"))).toEqual(["minimum_traffic", null, null]);
    expect([by(1, "queue_depth"), by(1, "latency.p95", 0), by(undefined, "latency.p95")]).toEqual([null, null, null]);
  });
  it("feedback moves the threshold of its family: at, just above", () => {
    const by = (z: number, factor: number, detector = "z_score") => {
      const of = new PagingRig({ feedbackFactor: (_, __, family) => (family === "metric" ? factor : 1) }).fire({ z, detector });
      return [of.suppressedBy, of.gates.find(({ name }) => name === "feedback")?.limit];
    };
    expect([by(4.5, 1.5), by(4.51, 1.5), by(2.7, 0.9), by(2.71, 0.9)]).toEqual([
      ["feedback", 4.5],
      [null, 4.5],
      ["feedback", 2.7],
      [null, 2.7],
    ]);
    expect(by(3.1, 1.5, "isolation_forest")).toEqual([null, undefined]);
    expect(by(2.1, 1.5, "slo_burn")).toEqual([null, undefined]);
  });
  it("a silenced alert fires unreported, and pages when the silence is over and it fires still", () => {
    let silenced = true;
    const rig = new PagingRig({
      silences: { silenced: (_, labels) => (silenced && labels.service_id === "checkout" ? SILENCE : undefined) },
    });
    const held = rig.fire();
    expect(held).toMatchObject({ outcome: "suppressed", suppressedBy: "silenced" });
    expect(rig.memory.alert(held.alertId as string)).toMatchObject({ pages: 0, heldBy: "silenced", open: 1 });
    expect(rig.fire({ serviceId: "cart" }).outcome).toBe("paged");
    expect(rig.again(START + 1)).toEqual([]);
    silenced = false;
    expect(rig.again(START + 2)).toMatchObject([{ outcome: "paged", alertId: held.alertId, anomalyId: held.anomalyId }]);
    expect(rig.again(START + 3)).toEqual([]);
    expect(rig.fire({ metricName: "other", atMs: START + 4 }).outcome).toBe("absorbed");
  });
  it("the next fire after a silence pages, though it is of an alert that is known", () => {
    let silenced = true;
    const rig = new PagingRig({ silences: { silenced: () => (silenced ? SILENCE : undefined) } });
    const held = rig.fire();
    silenced = false;
    expect(rig.fire({ metricName: "other", atMs: START + 1 })).toMatchObject({ outcome: "paged", alertId: held.alertId });
  });
  it("an alert that ended in its silence pages nobody", () => {
    let silenced = true;
    const rig = new PagingRig({ silences: { silenced: () => (silenced ? SILENCE : undefined) } });
    rig.end(rig.fire(), START + 1);
    silenced = false;
    expect(rig.again(START + 2)).toEqual([]);
  });
  it("an inhibited alert knows what fires already", () => {
    const rig = new PagingRig({
      inhibitions: {
        inhibited: (_, labels, firing) => {
          const isDown = [...firing()].some((alert) => alert.labels.family === "cascade");
          return isDown && labels.family !== "cascade" ? SILENCE : undefined;
        },
      },
    });
    expect(rig.fire().outcome).toBe("paged");
    expect(rig.fire({ detector: "cascade", z: 9, services: ["a", "b", "c"], serviceId: "a" }).outcome).toBe("paged");
    expect(rig.fire({ serviceId: "cart" })).toMatchObject({ outcome: "suppressed", suppressedBy: "inhibited" });
  });
  it("those that may hold others back are known while they fire, also over a transaction", () => {
    const rig = new PagingRig();
    const base = rig.memory;
    const cascade = { detector: "cascade", z: 9, services: ["a", "b", "c"], serviceId: "a" };
    const first = rig.fire(cascade);
    rig.fire({ serviceId: "z" });
    rig.fire({ detector: "stale", serviceId: "ingestion" });
    const second = rig.fire({ ...cascade, environment: "staging" });
    const ids = (memory: PagingMemory) => [...memory.inhibitors("default")].map(({ state }) => state.id);
    expect(ids(base)).toEqual([first.alertId, second.alertId]);
    rig.memory = new PagingMemory(base);
    rig.end(first, START + 1);
    const other = rig.fire({ ...cascade, environment: "test", serviceId: "b" });
    expect(ids(rig.memory)).toEqual([second.alertId, other.alertId]);
    expect(ids(base)).toEqual([first.alertId, second.alertId]);
    base.take(rig.memory);
    expect(ids(base)).toEqual([second.alertId, other.alertId]);
    base.forget(other.alertId as string);
    expect(ids(base)).toEqual([second.alertId]);
  });
  it("an acknowledged alert does not page again while it fires; the acknowledgement ends with it", () => {
    const rig = new PagingRig();
    const first = rig.fire({ detector: "saturation", z: 2.1 });
    for (const alert of rig.memory.firing("default")) rig.memory.keep({ ...alert, acknowledged: { by: "ops", note: null, atMs: START } });
    const second = rig.fire({ detector: "saturation", metricName: "other", z: 2.5, atMs: START + 1 });
    expect(second.outcome).toBe("absorbed");
    for (const one of [first, second]) rig.end(one, START + 2);
    expect(rig.memory.alert(first.alertId as string)).toMatchObject({ acknowledged: { by: "ops" }, ending: { reason: "recovered" } });
    expect(rig.fire({ detector: "saturation", z: 2.5, atMs: START + 3 })).toMatchObject({ outcome: "paged", alertId: first.alertId });
    expect(rig.memory.alert(first.alertId as string)).toMatchObject({ acknowledged: null, ending: null });
  });
});

describe("the memory", () => {
  const detectors = fc.constantFrom("z_score", "isolation_forest", "saturation", "stale");
  const step = fc.record({
    minutes: fc.integer({ min: 0, max: 40 }),
    service: fc.constantFrom("a", "b", "c"),
    detector: detectors,
    z: fc.double({ min: 1, max: 8, noNaN: true }),
    ends: fc.boolean(),
  });
  it("gives the same decisions in one piece or in transactions that are made twice, at any time", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 40 }), fc.nat(1e9), fc.integer({ min: 1, max: 5 }), (steps, shift, size) => {
        const run = (from: number, inTransactions: boolean) => {
          const rig = new PagingRig({ startedAtMs: from });
          const base = rig.memory;
          let now = from;
          return steps.map(({ minutes, service, detector, z, ends }, i) => {
            now += minutes * MINUTE;
            const finding = rig.finding({ serviceId: service, detector, z, atMs: now, metricName: detector });
            if (inTransactions && i % size === 0) {
              if (rig.memory !== base) base.take(rig.memory);
              // What is thrown away leaves nothing behind.
              decideFire(finding, rig.sources, new PagingMemory(base), () => undefined);
              rig.memory = new PagingMemory(base);
            }
            const { decision } = decideFire(finding, rig.sources, rig.memory, () => undefined);
            const end = ends && decision.alertId !== null ? rig.end(decision, now) : undefined;
            const { outcome, tier, suppressedBy } = decision;
            return [outcome, tier, suppressedBy, end?.outcome];
          });
        };
        const expected = run(START, false);
        expect(run(START, true)).toEqual(expected);
        expect(run(START + shift, false)).toEqual(expected);
      }),
    );
  });
  it("forgets an alert that was deleted, and its cascade", () => {
    const rig = new PagingRig();
    const { alertId } = rig.fire({ serviceId: "database", detector: "cascade", services: ["database", "checkout"] });
    rig.memory.forget(alertId as string);
    expect([
      rig.memory.alert(alertId as string),
      rig.memory.firingCount,
      rig.memory.cascadeOf(scopeText({ tenant: "default", environment: "prod", serviceId: "checkout" })),
    ]).toEqual([undefined, 0, undefined]);
    expect(rig.fire().outcome).toBe("paged");
  });
});
