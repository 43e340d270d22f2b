// What runs full and has room again: one page, and its end.
import { describe, expect, it } from "vitest";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;
const FULL = { detector: "saturation", metricName: "disk_used_percent", z: 3.5, explanation: "it is 94% of 100%" };
const effect = (observed: number, expected: number) => ({
  effect: { observed, expected, sd: 2, isJoint: false, reaches: 0, streams: 1, startedAtMs: START, intervalMs: MINUTE },
});

describe("a resource that has room again", () => {
  it("is no finding of its metric: the alert ends with what ran full", () => {
    const rig = new PagingRig();
    const full = rig.fire(FULL);
    const less = rig.fire({ metricName: "disk_used_percent", z: -13, atMs: START + MINUTE, ...effect(40, 91) });
    expect(less).toMatchObject({ outcome: "suppressed", suppressedBy: "relief", alertId: null });
    expect(rig.end(full, START + 2 * MINUTE)).toMatchObject({ outcome: "resolved" });
    expect(rig.fire({ metricName: "disk_used_percent", z: -13, atMs: START + 3 * MINUTE })).toMatchObject({ suppressedBy: "relief" });
    expect(rig.again(START + 4 * MINUTE)).toEqual([]);
  });
  it("is one where it fills further, has stopped, is another metric, or long after", () => {
    const rig = new PagingRig();
    const full = rig.fire({ ...FULL, serviceId: "db" });
    const of = (change: object) => rig.fire({ serviceId: "db", metricName: "disk_used_percent", z: -13, atMs: START + MINUTE, ...change });
    expect(of({ z: 13 }).alertId).toBe(full.alertId);
    for (const change of [effect(1, 91), { metricName: "latency_ms" }, { serviceId: "web" }, { environment: "staging" }])
      expect(of(change).suppressedBy).not.toBe("relief");
    const before = rig.fire({ ...FULL, serviceId: "files" });
    rig.end(before, START + 2 * MINUTE);
    expect(of({ serviceId: "files", atMs: START + 120 * MINUTE }).suppressedBy).not.toBe("relief");
  });
  it("is so where more is left of it", () => {
    const rig = new PagingRig();
    rig.fire({ ...FULL, metricName: "license_seats_left", z: -3.5 });
    expect(rig.fire({ metricName: "license_seats_left", z: 13, atMs: START + MINUTE })).toMatchObject({ suppressedBy: "relief" });
    expect(rig.fire({ metricName: "license_seats_left", z: -13, atMs: START + MINUTE }).suppressedBy).not.toBe("relief");
  });
});
