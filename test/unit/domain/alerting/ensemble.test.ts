// Rule 1.1.7 through the whole way from an anomaly to a page: two independent detectors on one service, on a virtual clock.
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../../src/domain/alerting/paging/finding.ts";
import { PagingMemory } from "../../../../src/domain/alerting/paging/paging-memory.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;

describe("rule 1.1.7: ensemble", () => {
  const raisedAfter = (ms: number, change: Partial<Finding> = {}) => {
    const rig = new PagingRig();
    rig.fire({ detector: "isolation_forest", metricName: "service.multivariate" });
    const { tier, gates } = rig.fire({ detector: "saturation", z: 2.5, atMs: START + ms, ...change });
    return [tier, gates.find(({ name }) => name === "ensemble")?.value];
  };
  it("raises by one within 120 seconds: just below, at, just above", () => {
    expect([119_999, 120_000, 120_001].map((ms) => raisedAfter(ms))).toEqual([
      ["high", 2],
      ["high", 2],
      ["medium", undefined],
    ]);
  });
  it("not by another service, environment or tenant", () => {
    for (const change of [{ serviceId: "cart" }, { environment: "staging" }, { tenant: "u" }])
      expect(raisedAfter(1, change)[0]).toBe("medium");
  });
  it("lifts a low one over the line to a page", () => {
    expect(raisedAfter(1, { z: 1 })[0]).toBe("medium");
  });
  it("raises both, whichever came first, the stronger first; each once", () => {
    for (const [first, second] of [
      [2.4, 2.6],
      [2.6, 2.4],
    ] as const) {
      const rig = new PagingRig();
      const early = rig.outcome({ detector: "logs", metricName: "log.a", z: first });
      expect(early).toMatchObject({ decision: { tier: "medium" }, raised: [] });
      const late = rig.outcome({ detector: "saturation", metricName: "disk", z: second, atMs: START + MINUTE });
      expect([late.decision.tier, late.raised.map(({ decision }) => [decision.anomalyId, decision.tier, decision.outcome])]).toEqual([
        "high",
        [[early.decision.anomalyId, "high", "absorbed"]],
      ]);
      const paged = [...rig.memory.firing("default")].map(({ state, pages }) => [state.tier, pages]);
      expect(paged.sort()).toEqual([
        ["high", 1],
        ["high", 1],
      ]);
      const third = rig.outcome({ detector: "stale", metricName: "service.stale", z: 2.2, atMs: START + MINUTE });
      expect([third.decision.tier, third.raised]).toEqual(["high", []]);
    }
  });
  it("lifts both over the line to a page", () => {
    const rig = new PagingRig();
    expect(rig.fire({ detector: "logs", metricName: "log.a", z: 1.2 }).outcome).toBe("logged");
    const { decision, raised } = rig.outcome({ detector: "saturation", metricName: "disk", z: 1.9, atMs: START + 1 });
    expect([decision, ...raised.map((other) => other.decision)].map(({ tier, outcome }) => [tier, outcome])).toEqual([
      ["medium", "paged"],
      ["medium", "paged"],
    ]);
  });
  it("raises a common alert that has paged as an update, by the strongest first", () => {
    const both = (first: number, second: number) => {
      const rig = new PagingRig({ settings: { zThreshold: 2 } });
      rig.fire({ metricName: "requests", z: 2.1 });
      const early = rig.fire({ metricName: "latency", z: first });
      const { decision, raised } = rig.outcome({ metricName: "errors", z: second, atMs: START + 1 });
      expect(decision.alertId).toBe(early.alertId);
      const [alert] = [...rig.memory.firing("default")];
      return [decision.outcome, raised.map((other) => other.decision.outcome), alert?.pages, alert?.history.at(-1)?.kind];
    };
    for (const [first, second] of [
      [2.2, 2.6],
      [2.6, 2.2],
    ] as const)
      expect(both(first, second)).toEqual(["absorbed", ["absorbed", "absorbed"], 1, "updated"]);
  });
  it("looks at when findings fired: one that goes on, is looked at again and grows corroborates nothing new", () => {
    const rig = new PagingRig();
    const slow = rig.fire({ detector: "saturation", metricName: "disk", z: 1.2 });
    const grown = rig.finding({ ...slow, kind: "raised", z: 1.4, firedAtMs: START, atMs: START + 5 * MINUTE });
    expect(rig.outcome(grown).decision).toMatchObject({ tier: "low", outcome: "logged" });
    const other = rig.outcome({ detector: "stale", metricName: "service.stale", z: 2.5, atMs: START + 5 * MINUTE });
    expect([other.decision.tier, other.raised]).toEqual(["medium", []]);
    const again = rig.outcome({ ...grown, z: 1.6, atMs: START + 5 * MINUTE + 1 });
    expect(again.decision).toMatchObject({ tier: "low", outcome: "logged" });
  });
  it("keeps what it has raised when that grows later, and leaves alone what has ended", () => {
    const rig = new PagingRig();
    const first = rig.fire({ detector: "saturation", metricName: "disk", z: 2.2 });
    const ended = rig.fire({ detector: "logs", metricName: "log.a", z: 2.3, atMs: START + 1 });
    expect(ended.tier).toBe("high");
    const later = START + 30 * MINUTE;
    rig.memory = new PagingMemory();
    expect(rig.fire({ ...first, kind: "raised", tierBefore: "high", z: 2.4, firedAtMs: START, atMs: later }).tier).toBe("high");
    const gone = rig.fire({ detector: "stale", metricName: "service.stale", z: 2.1, atMs: later });
    rig.end(gone, later + 1);
    expect(rig.outcome({ detector: "logs", metricName: "log.a", z: 2.3, atMs: later + 2 })).toMatchObject({
      decision: { tier: "high" },
      raised: [],
    });
  });
  it("not by what a gate held back", () => {
    const rig = new PagingRig({
      settingsOf: (_, __, metric) => ({ ...new PagingRig().sources.settingsOf("", "", ""), excluded: metric === "noisy" }),
    });
    expect(rig.fire({ metricName: "noisy" }).suppressedBy).toBe("exclusion");
    expect(rig.fire({ detector: "saturation", z: 2.5 }).tier).toBe("medium");
  });
});
