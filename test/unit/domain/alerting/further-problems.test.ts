// Another problem of a service that fires is told: as an update that names it, or, where it is worse than what people know, as an alert of its own.
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../../src/domain/alerting/paging/finding.ts";
import { decideEnd } from "../../../../src/domain/alerting/paging/page-pipeline.ts";
import { decidedMessages } from "../../../../src/domain/notification/decided-messages.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;
const FACTS = { team: null, publicUrl: null };
const MEDIUM = { detector: "saturation", z: 2.5 };

/** Messages that a finding leads to. */
function told(rig: PagingRig, change: Partial<Finding>) {
  const before = new Map([...rig.memory.firing("default")].map((alert) => [alert.state.id, alert]));
  const { alertId } = rig.fire(change);
  const after = alertId === null ? undefined : rig.memory.alert(alertId);
  if (after === undefined) return [];
  return decidedMessages({ before: before.get(after.state.id), after, renews: false }, FACTS).map(({ kind, explanation }) => [
    kind,
    explanation,
  ]);
}

describe("another problem of a firing service", () => {
  it("is an update that names it, once", () => {
    const rig = new PagingRig();
    rig.fire({ metricName: "disk_used_percent", ...MEDIUM });
    const cpu = { metricName: "cpu_percent", ...MEDIUM, z: 2.4, explanation: "cpu is full", atMs: START + MINUTE };
    expect(told(rig, cpu)).toEqual([["updated", "why; also cpu_percent: cpu is full"]]);
    expect(told(rig, { ...cpu, atMs: START + 2 * MINUTE })).toEqual([]);
    const queue = { ...cpu, metricName: "queue_used_percent", z: 2.9, explanation: "the queue is full" };
    expect(told(rig, queue)).toEqual([["updated", "also queue_used_percent: the queue is full; also cpu_percent: cpu is full"]]);
  });
  it("is no worsening of what nobody has heard of: the first page opens", () => {
    const rig = new PagingRig();
    const { alertId } = rig.fire({ metricName: "latency_ms", ...MEDIUM });
    const paged = rig.memory.alert(alertId as string);
    if (paged === undefined) throw new Error("no alert");
    const change = (kind: "opened" | "raised" | "paged", atMs: number) => ({ atMs, kind, tier: "high", by: null, note: null }) as const;
    const kindsOf = (history: Parameters<typeof decidedMessages>[0]["after"]["history"]) =>
      decidedMessages({ before: undefined, after: { ...paged, history }, renews: false }, FACTS).map(({ kind }) => kind);
    const held = [change("opened", START), change("raised", START + 1), change("paged", START + 2)];
    expect(kindsOf(held)).toEqual(["opened"]);
    expect(kindsOf([change("opened", START), change("paged", START + 1), change("raised", START + 2), change("paged", START + 3)])).toEqual(
      ["opened", "raised"],
    );
  });
  it("stays in the message of the next one, which may take its place before it has left", () => {
    const rig = new PagingRig();
    rig.fire({ metricName: "latency_ms", ...MEDIUM });
    told(rig, { metricName: "error_ratio", ...MEDIUM, z: 2.4, explanation: "requests fail", atMs: START + 1 });
    const [update] = told(rig, { metricName: "cpu_percent", ...MEDIUM, z: 2.4, explanation: "cpu is full", atMs: START + 1 });
    expect(update).toEqual(["updated", "why; also error_ratio: requests fail; also cpu_percent: cpu is full"]);
  });
  it("is a page of its own where it is high and what people know is not", () => {
    const rig = new PagingRig();
    const mild = rig.fire({ metricName: "disk_used_percent", ...MEDIUM });
    const severe = rig.fire({ metricName: "cpu_percent", detector: "saturation", z: 5, atMs: START + MINUTE });
    expect(severe).toMatchObject({ outcome: "paged", tier: "high" });
    expect(severe.alertId).not.toBe(mild.alertId);
    rig.end(severe, START + 2 * MINUTE);
    expect(rig.memory.alert(mild.alertId as string)).toMatchObject({ state: { resolvedAtMs: null, tier: "medium" } });
  });
  it("is the same problem where the same metric rises, or is another quantile of it", () => {
    const rig = new PagingRig();
    const mild = rig.fire({ metricName: "latency_ms.p50", ...MEDIUM });
    expect(rig.fire({ metricName: "latency_ms.p99", detector: "saturation", z: 5, atMs: START + 1 }).alertId).toBe(mild.alertId);
  });
  it("says so of ten, and of no more", () => {
    const rig = new PagingRig();
    rig.fire(MEDIUM);
    const updates = Array.from({ length: 15 }, (_, i) => told(rig, { ...MEDIUM, metricName: `metric_${i}`, atMs: START + i }));
    expect(updates.flat()).toHaveLength(10);
  });
});

describe("a metric that people know of as high", () => {
  const effect = (observed: number) => ({
    observed,
    expected: 10,
    sd: 0.5,
    isJoint: false,
    reaches: 0,
    streams: 1,
    startedAtMs: START,
    intervalMs: 0,
  });
  const latency = { metricName: "latency_ms", anomalyId: "slow", z: 8, explanation: "latency is 4 times the usual" };
  const rises = (rig: PagingRig, alertId: string | null, times: number, minute: number) =>
    told(rig, {
      ...latency,
      kind: "raised",
      z: 8 + minute,
      alertId,
      tierBefore: "high",
      effect: effect(10 * times),
      explanation: `latency is ${times} times the usual`,
      atMs: START + minute * MINUTE,
    });

  it("is told as far worse once a factor of four, and stays the alert of one page", () => {
    const rig = new PagingRig();
    const { alertId, outcome } = rig.fire({ ...latency, effect: effect(40) });
    expect(outcome).toBe("paged");
    const said = [8, 12, 17, 20, 30, 70, 90].map((times, i) => rises(rig, alertId, times, i + 1));
    const update = (times: number) => [["updated", `latency_ms is far worse: latency is ${times} times the usual`]];
    expect(said).toEqual([[], [], update(17), [], [], update(70), []]);
    expect(rig.memory.alert(alertId as string)).toMatchObject({ pages: 1, anomalies: 1 });
  });
  it("is told in an alert of several services that opened more than five minutes before, once, and on which of them", () => {
    const rig = new PagingRig();
    const cascade = { detector: "cascade", metricName: "service.cascade", z: 5.1, services: ["db", "shop", "web"], serviceId: "db" };
    expect(rig.fire(cascade).outcome).toBe("paged");
    const disk = { ...latency, serviceId: "shop", metricName: "disk_used", effect: effect(400), explanation: "the disk fills" };
    expect(told(rig, { ...disk, metricName: "queue", atMs: START + 5 * MINUTE })).toEqual([]);
    const behind = { ...disk, atMs: START + 6 * MINUTE };
    expect(told(rig, behind)).toEqual([["updated", "why; also disk_used on shop: the disk fills"]]);
    expect(told(rig, { ...behind, serviceId: "web", anomalyId: "another" })).toEqual([]);
    expect(told(rig, { ...behind, metricName: "cpu", effect: effect(11), z: 4, atMs: START + 7 * MINUTE })).toEqual([]);
  });
  it("has a page of its own where a resource is used up, however many updates noise has used, and also where the alert has the metric of another disk", () => {
    const rig = new PagingRig();
    const noisy = rig.fire({ ...latency, effect: effect(400), isRare: true });
    rig.fire({ metricName: "node_filesystem_avail_bytes", z: 5, effect: effect(11), atMs: START + 1 });
    for (let i = 0; i < 30; i++) rig.fire({ ...latency, metricName: `other_${i}`, effect: effect(400), atMs: START + MINUTE + i });
    const disk = { metricName: "node_filesystem_avail_bytes", z: -24, isRare: true, atMs: START + 2 * MINUTE, anomalyId: "full" };
    const full = rig.fire({ ...disk, effect: effect(0.1) });
    expect(full).toMatchObject({ outcome: "paged" });
    expect(full.alertId).not.toBe(noisy.alertId);
    const twice = rig.fire({ ...disk, anomalyId: "again", atMs: START + 3 * MINUTE, effect: effect(0.1) });
    expect(twice).toMatchObject({ outcome: "absorbed", alertId: full.alertId });
  });
  it("is told so too where a moment's noise has opened the alert and another finding of it is far worse", () => {
    const rig = new PagingRig();
    rig.fire({ ...latency, effect: effect(36) });
    const fault = { ...latency, anomalyId: "fault", z: 20, effect: effect(400), explanation: "a fault", atMs: START + MINUTE };
    expect(told(rig, fault)).toEqual([["updated", "latency_ms is far worse: a fault"]]);
  });
  it("was no less where it rose while it was held: people have heard of it as it was then", () => {
    const rig = new PagingRig();
    const { alertId } = rig.fire({ ...latency, effect: effect(40) });
    const alert = rig.memory.alert(alertId as string);
    if (alert === undefined) throw new Error("no alert");
    rig.memory.keep({ ...alert, pages: 0, heldBy: "confirmation" });
    expect(rises(rig, alertId, 20, 1).map(([kind]) => kind)).not.toContain("updated");
    expect(rises(rig, alertId, 40, 2)).toEqual([]);
    expect(rises(rig, alertId, 90, 3)).toHaveLength(1);
  });
});

describe("a member that was absorbed", () => {
  it("and is still so when its alert ends is told as its own, within a cycle, once", () => {
    const rig = new PagingRig();
    const first = rig.fire({ metricName: "disk_used_percent", ...MEDIUM });
    const member = rig.fire({ metricName: "cpu_percent", ...MEDIUM, atMs: START + MINUTE });
    expect(member).toMatchObject({ outcome: "absorbed", alertId: first.alertId });
    expect(rig.again(START + 2 * MINUTE)).toEqual([]);
    const end = {
      ...first,
      alertId: first.alertId as string,
      by: null,
      reason: "ended",
      endsAlert: true,
      atMs: START + 3 * MINUTE,
    } as const;
    expect(decideEnd(end, rig.memory, () => undefined)?.outcome).toBe("resolved");
    rig.end(first, START + 3 * MINUTE);
    const told = rig.again(START + 4 * MINUTE);
    expect(told).toMatchObject([{ outcome: "paged", anomalyId: member.anomalyId, metricName: "cpu_percent" }]);
    expect(rig.memory.alert(told[0]?.alertId as string)).toMatchObject({ peak: { metricName: "cpu_percent" }, open: 1 });
    expect(rig.again(START + 5 * MINUTE)).toEqual([]);
  });
});

describe("case 32: one event is one page", () => {
  it.each([
    ["z_score", "saturation"],
    ["saturation", "z_score"],
    ["adaptive", "saturation"],
  ])("%s, then %s of the same metric", (first, second) => {
    const rig = new PagingRig();
    const one = rig.fire({ metricName: "pool_used_percent", detector: first, z: 5 });
    const other = rig.fire({ metricName: "pool_used_percent", detector: second, z: 4, atMs: START + MINUTE });
    expect(one.outcome).toBe("paged");
    expect(other).toMatchObject({ outcome: "absorbed", alertId: one.alertId });
    expect(rig.fire({ metricName: "disk_used_percent", detector: second, z: 4, atMs: START + MINUTE }).alertId).not.toBeNull();
    expect(rig.memory.alert(one.alertId as string)).toMatchObject({ pages: 1, open: expect.any(Number) });
  });
});

describe("a service's metrics together and one of them", () => {
  const joint = (named: readonly string[] = []): Partial<Finding> => ({
    metricName: "service.multivariate",
    detector: "isolation_forest",
    named,
    explanation: "3 metrics together",
  });
  const metric = (metricName = "latency_ms"): Partial<Finding> => ({ metricName, explanation: `${metricName} rose` });
  const pages = (rig: PagingRig) => [...rig.memory.firing("default")].map((alert) => alert.pages);

  it.each([
    ["the metric first", metric(), joint(), "also service.multivariate: 3 metrics together"],
    ["the metrics together first", joint(), metric(), "also latency_ms: latency_ms rose"],
    [
      "how full it is first",
      { ...metric("pool_used_percent"), detector: "saturation" },
      joint(),
      "also service.multivariate: 3 metrics together",
    ],
    ["together, then how full", joint(), { ...metric("pool_used_percent"), detector: "saturation" }, "also pool_used_percent"],
  ])("are one page at the same moment, the second an update: %s", (_, first, second, said) => {
    const rig = new PagingRig();
    expect(rig.fire(first).outcome).toBe("paged");
    const [update] = told(rig, { ...second, atMs: START + 4 * MINUTE });
    expect(update).toEqual(["updated", expect.stringContaining(said)]);
    expect(pages(rig)).toEqual([1]);
  });
  it("are one page where the second is high and the first was not", () => {
    const rig = new PagingRig();
    const mild = rig.fire({ ...metric(), detector: "saturation", z: 2.5 });
    expect(mild.tier).toBe("medium");
    const severe = rig.fire({ ...joint(), z: 7, atMs: START + MINUTE });
    expect(severe).toMatchObject({ outcome: "absorbed", alertId: mild.alertId });
    expect(rig.memory.alert(mild.alertId as string)).toMatchObject({ pages: 1, state: { tier: "high" } });
  });
  it("are one later too, where the metric is named", () => {
    const rig = new PagingRig();
    const later = START + 30 * MINUTE;
    const first = rig.fire(metric());
    expect(rig.fire({ ...joint(["errors", "latency_ms"]), atMs: later }).alertId).toBe(first.alertId);
    const reversed = new PagingRig();
    const whole = reversed.fire(joint(["latency_ms"]));
    expect(reversed.fire({ ...metric("latency_ms.p99"), atMs: later }).alertId).toBe(whole.alertId);
    expect(pages(reversed)).toEqual([1]);
  });
  it("are two events later on, where it is not", () => {
    const later = START + 30 * MINUTE;
    for (const [first, second] of [
      [metric(), joint(["errors"])],
      [joint(["errors"]), metric()],
    ] as const) {
      const rig = new PagingRig();
      const one = rig.fire(first);
      expect(rig.fire({ ...second, atMs: later })).toMatchObject({ outcome: "paged" });
      expect(pages(rig)).toEqual([1, 1]);
      expect(rig.memory.alert(one.alertId as string)).toMatchObject({ anomalies: 1 });
    }
  });
  it("take in the next metric as the first one's alert would, and the same again", () => {
    const rig = new PagingRig();
    const whole = rig.fire(joint());
    rig.fire({ ...metric(), atMs: START + MINUTE });
    expect(rig.fire({ ...metric("queue_depth"), atMs: START + 20 * MINUTE }).alertId).toBe(whole.alertId);
    rig.end(whole, START + 21 * MINUTE);
    expect(rig.fire({ ...joint(), kind: "reopened", atMs: START + 40 * MINUTE })).toMatchObject({
      outcome: "absorbed",
      alertId: whole.alertId,
    });
    expect(pages(rig)).toEqual([1]);
  });
  it("end with the last of them", () => {
    const rig = new PagingRig();
    const one = rig.fire(metric());
    const other = rig.fire({ ...joint(), atMs: START + MINUTE });
    rig.end(one, START + 2 * MINUTE);
    expect(rig.memory.alert(one.alertId as string)?.state.resolvedAtMs).toBeNull();
    expect(rig.end(other, START + 3 * MINUTE)?.outcome).toBe("resolved");
  });
});

describe("case 14: alerts of an Alertmanager", () => {
  const outer = (alertname: string, more: Record<string, string> = {}): Partial<Finding> => ({
    detector: "external",
    metricName: alertname,
    attributes: { alertname, service: "checkout", ...more },
  });
  it("are a page for each fingerprint, whoever acknowledged another", () => {
    const rig = new PagingRig();
    const first = rig.fire(outer("DiskFull"));
    const others = [outer("DatabaseDown"), outer("DiskFull", { instance: "h2" })].map((alert) => rig.fire({ ...alert, atMs: START }));
    expect([first, ...others].map(({ outcome }) => outcome)).toEqual(["paged", "paged", "paged"]);
    expect(new Set([first, ...others].map(({ alertId }) => alertId)).size).toBe(3);
  });
  it("are one of a pair of servers, and open again as what they were", () => {
    const rig = new PagingRig();
    const first = rig.fire(outer("Down", { replica: "a" }));
    expect(rig.fire({ ...outer("Down", { replica: "b" }), atMs: START + 1 })).toMatchObject({
      outcome: "absorbed",
      alertId: first.alertId,
    });
    const next = new PagingRig();
    const once = next.fire(outer("Down"));
    next.end(once, START + 1);
    expect(next.fire({ ...outer("Down"), atMs: START + 2 })).toMatchObject({ outcome: "paged", alertId: once.alertId });
  });
});
