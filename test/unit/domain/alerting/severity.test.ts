// Severity is how bad a finding is, not how improbable.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Effect, risesAtMs, severityOf } from "../../../../src/domain/alerting/severity.ts";
import { tierRank } from "../../../../src/domain/detection/anomaly-score.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;

function effect(observed: number, expected: number, change: Partial<Effect> = {}): Effect {
  return {
    observed,
    expected,
    sd: 0.05 * Math.abs(expected),
    isJoint: false,
    reaches: 0,
    streams: 1,
    startedAtMs: START,
    intervalMs: 0,
    ...change,
  };
}

/** Severity of a value of z 30, a minute after it began. */
function severity(metricName: string, observed: number, expected: number, change: Partial<Effect> = {}, z = 30) {
  return severityOf({ metricName, z, effect: effect(observed, expected, change) }, START + MINUTE);
}

describe("severity", () => {
  it.each([
    ["latency_ms", 132, 120, "low"],
    ["latency_ms", 180, 120, "low"],
    ["latency_ms", 260, 120, "medium"],
    ["latency_ms", 480, 120, "high"],
    ["requests", 40, 10, "high"],
    ["requests", 22, 10, "medium"],
    ["requests", 2.4, 10, "high"],
    ["requests", 0, 10, "high"],
    ["queue_depth", 100, 25, "high"],
    ["temperature", 72, 70, "low"],
  ] as const)("of %s %d where %d is usual is %s, however improbable", (name, observed, expected, tier) => {
    expect(severity(name, observed, expected)).toBe(tier);
    expect(severity(name, observed, expected, {}, 99)).toBe(tier);
  });

  it("asks for |z| 3 where it is high, and is low where the score is mild", () => {
    expect(severity("latency_ms", 480, 120, {}, 2.9)).toBe("medium");
    expect(severity("latency_ms", 480, 120, {}, 1.9)).toBe("low");
  });

  it("of a share is how much of the way to its end is gone", () => {
    expect(severity("cpu_percent", 8, 2)).toBe("low");
    expect(severity("cpu_percent", 60, 15)).toBe("high");
    expect(severity("pool_used_ratio", 0.96, 0.8)).toBe("high");
    expect(severity("pool_used_ratio", 0.86, 0.8)).toBe("medium");
    expect(severity("disk_free_percent", 4, 40)).toBe("high");
  });

  it("of success is what fails", () => {
    expect(severity("success_ratio", 0.945, 0.995, { sd: 0.001 })).toBe("high");
    expect(severity("availability_percent", 99.4, 99.5, { sd: 0.05 })).not.toBe("high");
  });

  it("of errors begins earlier, and of one where there are none is not high", () => {
    expect(severity("request.duration_ms.p95", 250, 100)).toBe("medium");
    expect(severity("request.errors", 250, 100)).toBe("high");
    expect(severity("span.errors", 1, 0, { sd: 0 })).not.toBe("high");
    expect(severity("span.requests", 1, 0.083, { sd: 0.28 })).not.toBe("high");
    expect(severity("span.errors", 12, 0, { sd: 0 })).toBe("high");
  });

  it("of the better way is less", () => {
    expect(severity("latency_ms", 30, 120)).not.toBe("high");
    expect(severity("cpu_percent", 20, 80)).not.toBe("high");
    expect(severity("node_filesystem_avail_bytes", 10e9, 46e9)).toBe("high");
  });

  it("grows with instances and time, and never with these alone", () => {
    expect(severity("queue_depth", 55, 20)).toBe("medium");
    expect(severity("queue_depth", 55, 20, { streams: 4 })).toBe("high");
    const moved = { metricName: "queue_depth", z: 30, effect: effect(55, 20) };
    expect([29, 30, 120].map((minutes) => severityOf(moved, START + minutes * MINUTE))).toEqual(["medium", "high", "high"]);
    const small = { metricName: "queue_depth", z: 99, effect: effect(104, 100, { sd: 0, streams: 50 }) };
    expect(severityOf(small, START + 600 * MINUTE)).toBe("low");
  });

  it("of noise begins where its ordinary values end, at three standard deviations", () => {
    const noisy = (observed: number) => severity("queue_depth", observed, 1, { sd: 10 });
    expect([20, 35, 70, 90].map(noisy)).toEqual(["low", "medium", "medium", "high"]);
    expect(severity("queue_depth", 40, 10, { sd: 3 })).toBe("high");
  });

  it("of what a series does by itself is measured by that, however calm its last hours were", () => {
    const within = (observed: number, reaches: number) => severity("queue_depth", observed, 1, { sd: 0.1, reaches });
    expect([within(20, 0), within(20, 0.3), within(20, 1.2), within(20, 3), within(20, 100)]).toEqual([
      "high",
      "high",
      "medium",
      "low",
      "low",
    ]);
    const fall = (reaches: number) => severity("requests", 0, 10, { sd: 1, reaches });
    expect([fall(0), fall(0.9), fall(1.1), fall(100)]).toEqual(["high", "high", "low", "low"]);
  });

  it("does not grow by the values that an end waits for", () => {
    const hourly = { metricName: "queue_depth", z: 30, effect: effect(55, 20, { intervalMs: 60 * MINUTE }) };
    const hours = (count: number) => severityOf(hourly, START + count * 60 * MINUTE);
    expect([1, 2, 5, 6].map(hours)).toEqual(["medium", "medium", "medium", "high"]);
    expect(risesAtMs(hourly, "medium")).toBe(START + 330 * MINUTE);
  });

  it("of metrics together goes by their evidence", () => {
    const joint = (evidence: number) => severity("service.multivariate", evidence, 0, { sd: 10, isJoint: true });
    expect([11, 25, 60].map(joint)).toEqual(["low", "medium", "high"]);
  });

  it("never falls as a value rises further, or as time goes on", () => {
    const value = fc.double({ min: 0.01, max: 1e6, noNaN: true });
    const name = fc.constantFrom("queue_depth", "latency_ms", "request.errors", "cpu_percent");
    fc.assert(
      fc.property(value, value, value, name, (usual, rise, more, metricName) => {
        const one = severity(metricName, usual + rise, usual);
        expect(tierRank(severity(metricName, usual + rise + more, usual))).toBeGreaterThanOrEqual(tierRank(one));
        const later = severityOf({ metricName, z: 30, effect: effect(usual + rise, usual) }, START + 600 * MINUTE);
        expect(tierRank(later)).toBeGreaterThanOrEqual(tierRank(one));
      }),
    );
  });

  it("of a rule or a person is what they say by their z", () => {
    expect([1, 2, 3].map((z) => severityOf({ metricName: "disk_used_percent", z }, START))).toEqual(["low", "medium", "high"]);
  });

  it("says when what goes on becomes worse", () => {
    const moved = { metricName: "queue_depth", z: 30, effect: effect(55, 20) };
    expect(risesAtMs(moved, "medium")).toBe(START + 30 * MINUTE);
    expect(risesAtMs(moved, "high")).toBeNull();
    expect(risesAtMs({ ...moved, effect: effect(20.5, 20) }, "low")).toBeNull();
  });
});

describe("an alert of a finding that becomes worse", () => {
  const finding = { metricName: "queue_depth", z: 30, effect: effect(55, 20) };

  it("is updated under its key once it has lasted, and pages nobody anew", () => {
    const rig = new PagingRig();
    const fired = rig.fire(finding);
    expect(fired).toMatchObject({ outcome: "paged", tier: "medium" });
    expect(rig.again(START + 29 * MINUTE)).toEqual([]);
    expect(rig.again(START + 30 * MINUTE)).toMatchObject([{ outcome: "absorbed", tier: "high", alertId: fired.alertId }]);
    expect(rig.again(START + 31 * MINUTE)).toEqual([]);
    const alert = rig.memory.alert(fired.alertId as string);
    expect(alert).toMatchObject({ pages: 1, state: { tier: "high" } });
    expect(alert?.history.map(({ kind, tier }) => [kind, tier])).toContainEqual(["updated", "high"]);
  });

  it("keeps its severity where the value comes nearer again", () => {
    const rig = new PagingRig();
    const fired = rig.fire({ ...finding, effect: effect(100, 20) });
    const nearer = { ...fired, kind: "raised", tierBefore: "high", z: 31, effect: effect(24, 20), atMs: START + MINUTE } as const;
    expect(rig.fire({ ...rig.finding(), ...nearer }).tier).toBe("high");
  });

  it("pages low ones too: what is mild by its score alone alerts nobody", () => {
    expect(new PagingRig().fire({ metricName: "queue_depth", z: 30, effect: effect(21, 20) })).toMatchObject({
      outcome: "paged",
      tier: "low",
    });
    expect(new PagingRig().fire({ metricName: "queue_depth", z: 1.9, detector: "saturation" })).toMatchObject({ outcome: "logged" });
  });

  it("that is far worse than what people know is a page of its own, whoever absorbed the moment's noise", () => {
    const rig = new PagingRig();
    const noise = rig.fire({ metricName: "queue_depth", z: 30, effect: effect(21, 20) });
    const fault = rig.fire({ metricName: "request.errors", z: 40, effect: effect(80, 20), atMs: START + MINUTE });
    expect(fault).toMatchObject({ outcome: "paged", tier: "high" });
    expect(fault.alertId).not.toBe(noise.alertId);
  });
});
