// Services that fail together through the pipeline to a page: one alert while it takes its members in, and pages of their own behind the dedup age.
import { describe, expect, it } from "vitest";
import { INHIBITIONS } from "../../../../src/domain/alerting/inhibition/built-in-inhibitions.ts";
import type { Alert } from "../../../../src/domain/alerting/paging/alert.ts";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import { ServiceConfirmations } from "../../../../src/domain/alerting/paging/service-confirmations.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const CASCADE = { detector: "cascade", metricName: "service.cascade", z: 5.1, services: ["database", "checkout", "web"] };

/** Scope of what a decision is on. */
function scopeOf(rig: PagingRig, { alertId }: PageDecision) {
  const { tenant, environment } = (rig.memory.alert(alertId as string) as Alert).state.key;
  return { tenant, environment };
}

describe("cascade", () => {
  it("takes in what its members find while it fires, and is one alert", () => {
    const rig = new PagingRig();
    const root = rig.fire({
      serviceId: "database",
      detector: "cascade",
      metricName: "service.cascade",
      services: ["database", "checkout", "web"],
    });
    expect(rig.fire({ serviceId: "checkout", atMs: START + 1 })).toMatchObject({ outcome: "absorbed", alertId: root.alertId });
    expect(rig.fire({ serviceId: "search", atMs: START + 1 }).alertId).not.toBe(root.alertId);
    expect(rig.fire({ serviceId: "web", environment: "staging", atMs: START + 1 }).alertId).not.toBe(root.alertId);
    expect(rig.memory.alert(root.alertId as string)).toMatchObject({
      anomalies: 2,
      open: 2,
      state: { key: { serviceId: "database", family: "cascade" } },
    });
  });
  it("D4, D5: a new fire of a member after the dedup age is a page of that member, under its own name", () => {
    const rig = new PagingRig({ inhibitions: INHIBITIONS });
    const cascade = rig.fire({ ...CASCADE, serviceId: "database" });
    const of = (decision: PageDecision) => rig.memory.alert(decision.alertId as string);
    expect(rig.fire({ serviceId: "web", atMs: START + HOUR }).alertId).toBe(cascade.alertId);
    const web = rig.fire({ serviceId: "web", metricName: "cpu_percent", atMs: START + HOUR + 1 });
    expect(web).toMatchObject({ outcome: "paged", suppressedBy: null });
    expect(of(web)).toMatchObject({ state: { key: { serviceId: "web", family: "metric" } }, services: [], heldBy: null });
    const checkout = rig.fire({ serviceId: "checkout", metricName: "other", atMs: START + HOUR + 2 });
    expect(checkout).toMatchObject({ outcome: "paged" });
    expect(of(checkout)).toMatchObject({ state: { key: { serviceId: "checkout" } }, services: [] });
    // The cascade that goes on takes none of them in again.
    rig.fire({
      ...CASCADE,
      serviceId: "database",
      anomalyId: cascade.anomalyId,
      alertId: cascade.alertId,
      kind: "raised",
      z: 6,
      atMs: START + HOUR + 3,
    });
    expect([web, checkout].map((each) => of(each)?.mergedInto)).toEqual([null, null]);
  });
  it("D5: one that goes on as the alert of its first member says nothing of the others once that is renewed", () => {
    const rig = new PagingRig();
    const first = rig.fire({ serviceId: "web", z: 9 });
    expect(rig.fire({ ...CASCADE, serviceId: "database", atMs: START + MINUTE }).alertId).toBe(first.alertId);
    const renewed = rig.fire({ serviceId: "web", metricName: "cpu_percent", atMs: START + HOUR + 1 });
    const other = rig.fire({ serviceId: "checkout", metricName: "error_rate", atMs: START + HOUR + 2 });
    expect([renewed, other].map(({ alertId }) => rig.memory.alert(alertId as string))).toMatchObject([
      { state: { key: { serviceId: "web" } }, services: [], pages: 1, peak: { metricName: "cpu_percent" } },
      { state: { key: { serviceId: "checkout" } }, services: [], pages: 1, peak: { metricName: "error_rate" } },
    ]);
  });
  it("takes in nothing that people or other systems say of its members", () => {
    const rig = new PagingRig();
    const cascade = rig.fire({ ...CASCADE, serviceId: "database" });
    const outer = rig.fire({ serviceId: "web", detector: "external", metricName: "DiskFull", atMs: START + 1 });
    expect(outer.alertId).not.toBe(cascade.alertId);
    expect(outer.outcome).toBe("paged");
  });

  it("that becomes known after its members have paged takes the identity of the first, and the others close into it (O3)", () => {
    const rig = new PagingRig();
    const first = rig.fire({ serviceId: "web", z: 9 });
    const second = rig.fire({ serviceId: "database", z: 30, atMs: START + MINUTE });
    const elsewhere = rig.fire({ serviceId: "search", atMs: START + MINUTE });
    const { decision, merged } = rig.outcome({ ...CASCADE, serviceId: "database", atMs: START + 2 * MINUTE });
    expect(decision).toMatchObject({ outcome: "absorbed", alertId: first.alertId });
    expect(merged.map(({ alertId, outcome }) => `${alertId} ${outcome}`)).toEqual([`${second.alertId} resolved`]);
    const alert = rig.memory.alert(first.alertId as string);
    expect(alert).toMatchObject({ pages: 1, open: 3, services: CASCADE.services, peak: { metricName: "service.cascade" } });
    expect(alert?.history.slice(-2).map(({ kind }) => kind)).toEqual(["raised", "updated"]);
    expect(rig.memory.alert(second.alertId as string)).toMatchObject({ mergedInto: first.alertId, open: 0 });
    expect(rig.memory.alert(elsewhere.alertId as string)?.state.resolvedAtMs).toBeNull();

    // What a member finds later, higher or not, is part of it; nobody is called again.
    expect(rig.fire({ ...second, kind: "raised", z: 60, services: [], atMs: START + 3 * MINUTE })).toMatchObject({
      alertId: first.alertId,
    });
    expect(rig.fire({ serviceId: "checkout", z: 99, atMs: START + 3 * MINUTE })).toMatchObject({
      outcome: "absorbed",
      alertId: first.alertId,
    });
    expect(rig.memory.alert(first.alertId as string)).toMatchObject({ pages: 1, open: 4, peak: { metricName: "service.cascade" } });

    // It is over with the last of all, and a member that fires then is an alert of its own again.
    rig.end(first, START + 4 * MINUTE);
    rig.end(second, START + 4 * MINUTE);
    expect(rig.end(decision, START + 4 * MINUTE)).toBeUndefined();
    expect(rig.memory.alert(first.alertId as string)?.open).toBe(1);
  });

  it("waits while all that is found of its members waits for confirmation, and they close into it", () => {
    const confirmations = new ServiceConfirmations();
    const rig = new PagingRig({ confirmations, inhibitions: INHIBITIONS });
    const held = rig.fire({ serviceId: "web" });
    expect(held.suppressedBy).toBe("confirmation");
    const { decision } = rig.outcome({ ...CASCADE, serviceId: "database", atMs: START + MINUTE });
    expect(decision).toMatchObject({ outcome: "suppressed", suppressedBy: "confirmation", family: "cascade" });
    expect(rig.memory.alert(held.alertId as string)?.mergedInto).toBe(decision.alertId);
    expect(rig.again(START + 2 * MINUTE)).toEqual([]);
    const pair = { serviceId: "checkout", metricName: "latency", direction: null } as const;
    confirmations.take({ ...pair, ...scopeOf(rig, decision), isAlone: true, side: 0 }, START + 3 * MINUTE);
    expect(rig.again(START + 3 * MINUTE)).toMatchObject([{ outcome: "paged", alertId: decision.alertId }]);
  });

  it("of what waits is told with the first finding of a member that is confirmed, and keeps none back until then", () => {
    const rig = new PagingRig({ confirmations: new ServiceConfirmations(), inhibitions: INHIBITIONS });
    rig.fire({ serviceId: "web" });
    const cascade = rig.fire({ ...CASCADE, serviceId: "database", atMs: START + MINUTE });
    const weak = rig.fire({ serviceId: "checkout", metricName: "latency", atMs: START + 2 * MINUTE });
    expect(weak).toMatchObject({ suppressedBy: "confirmation", alertId: cascade.alertId });
    const strong = rig.fire({ serviceId: "checkout", metricName: "errors", isRare: true, atMs: START + 3 * MINUTE });
    expect(strong).toMatchObject({ outcome: "paged", alertId: cascade.alertId });
    expect(rig.memory.alert(cascade.alertId as string)).toMatchObject({ pages: 1, heldBy: null, peak: { metricName: "service.cascade" } });
  });

  it("of which a member was confirmed, though something else holds it, waits for nothing", () => {
    const rig = new PagingRig({ confirmations: new ServiceConfirmations(), groupWaitMs: 10_000 });
    rig.fire({ serviceId: "search", isRare: true });
    expect(rig.fire({ serviceId: "web", isRare: true, atMs: START + 1 }).suppressedBy).toBe("group_wait");
    expect(rig.fire({ ...CASCADE, serviceId: "database", atMs: START + 2 }).outcome).toBe("paged");
  });

  it("that has a service of another one of late is one with it: people hear which services it adds, and one that waits is told with it", () => {
    const rig = new PagingRig();
    const first = rig.fire({ ...CASCADE, serviceId: "database", z: 6 });
    const second = { ...CASCADE, serviceId: "queue", services: ["queue", "web", "mail"] };
    expect(rig.fire({ ...second, atMs: START + 5 * MINUTE })).toMatchObject({ outcome: "absorbed", alertId: first.alertId });
    const alert = rig.memory.alert(first.alertId as string);
    expect(alert).toMatchObject({ pages: 1, open: 2, services: ["database", "checkout", "web", "queue", "mail"], peak: { z: 6 } });
    expect(alert?.history.at(-1)).toMatchObject({ kind: "updated", note: "also on queue, mail" });
    const late = new PagingRig();
    late.fire({ ...CASCADE, serviceId: "database" });
    expect(late.fire({ ...second, atMs: START + 5 * MINUTE + 1 }).outcome).toBe("paged");
    const waiting = new PagingRig({ confirmations: new ServiceConfirmations() });
    waiting.fire({ serviceId: "web" });
    const held = waiting.fire({ ...CASCADE, serviceId: "database", atMs: START + 1 });
    expect(held.suppressedBy).toBe("confirmation");
    waiting.fire({ serviceId: "mail", metricName: "errors", detector: "logs", atMs: START + 2 });
    expect(waiting.fire({ ...second, atMs: START + 3 })).toMatchObject({ outcome: "absorbed" });
  });

  it("of a jump that people were told of within five minutes is an update of it, and so is what jumps behind a cascade", () => {
    const rig = new PagingRig({ groupWaitMs: 10_000 });
    const young = { z: 9, baselineValues: 60, metricName: "latency" };
    const told = rig.fire({ serviceId: "search", ...young, baselineValues: 120 });
    expect(told.outcome).toBe("paged");
    for (const serviceId of CASCADE.services) rig.fire({ serviceId, ...young, atMs: START + 1 });
    expect(rig.fire({ ...CASCADE, serviceId: "database", atMs: START + 2 }).alertId).toBe(told.alertId);
    rig.fire({ serviceId: "mail", ...young, atMs: START + 3 });
    rig.fire({ serviceId: "cart", ...young, metricName: "errors", atMs: START + 3 });
    rig.again(START + 20_000);
    expect([...rig.memory.firing("default")].map(({ state, pages, services }) => [state.key.serviceId, pages, services.length])).toEqual([
      ["search", 1, 4],
      ["cart", 1, 0],
    ]);
    const notes = rig.memory.alert(told.alertId as string)?.history.flatMap(({ note }) => note ?? []);
    expect(notes).toEqual(["also service.cascade: why", "also on mail"]);
  });

  it("leaves alone what fires since long before, and what people and other systems say", () => {
    const rig = new PagingRig();
    const old = rig.fire({ serviceId: "web", detector: "saturation", metricName: "disk" });
    const external = rig.fire({ serviceId: "web", detector: "external", atMs: START + 20 * MINUTE });
    const { decision, merged } = rig.outcome({ ...CASCADE, serviceId: "database", atMs: START + 21 * MINUTE });
    expect([decision.outcome, merged]).toEqual(["paged", []]);
    for (const { alertId } of [old, external]) expect(rig.memory.alert(alertId as string)?.mergedInto).toBeNull();
  });

  it("of all services of a tenant, whose first ones have paged, is one identity too", () => {
    const rig = new PagingRig();
    const first = rig.fire({ serviceId: "web", detector: "stale", metricName: "service.stale", environment: "prod" });
    const second = rig.fire({ serviceId: "shop", detector: "stale", metricName: "service.stale", environment: "dev", atMs: START + 1 });
    const { decision } = rig.outcome({
      serviceId: "ingestion",
      environment: "",
      detector: "stale",
      metricName: "service.stale",
      z: -5,
      atMs: START + MINUTE,
    });
    expect(decision).toMatchObject({ outcome: "absorbed", alertId: first.alertId });
    expect(rig.memory.alert(second.alertId as string)?.mergedInto).toBe(first.alertId);
    expect(rig.memory.alert(first.alertId as string)?.peak.serviceId).toBe("ingestion");
  });

  it("that is over leaves its members to themselves", () => {
    const rig = new PagingRig();
    const root = rig.fire({ serviceId: "database", detector: "cascade", services: ["database", "checkout"] });
    rig.end(root, START + 1);
    expect(rig.fire({ atMs: START + 2 })).toMatchObject({ outcome: "paged", family: "metric" });
    expect(rig.fire({ atMs: START + 3, metricName: "other" }).alertId).not.toBe(root.alertId);
  });
});
