// Findings of one cause within GROUP_WAIT_SECONDS are one message, and a high that nobody acknowledges is told again.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../../../src/domain/alerting/paging/finding.ts";
import { ServiceConfirmations } from "../../../../src/domain/alerting/paging/service-confirmations.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const SECOND = 1_000;
const MINUTE = 60_000;
const WAIT = 10 * SECOND;
/** Of a young series, or mild: it waits. */
const YOUNG = { baselineValues: 60, z: 9 };
const grouping = () => new PagingRig({ groupWaitMs: WAIT });
const alertsOf = (rig: PagingRig) => [...rig.memory.changed];
const jump = (rig: PagingRig, i: number, change: Partial<Finding> = {}) =>
  rig.fire({ serviceId: `svc-${i}`, atMs: START + 100 * i, ...YOUNG, ...change });

describe("B11: one jump of one metric over many services", () => {
  it("of forty is one page, with the list of its services", () => {
    const rig = grouping();
    for (let i = 0; i < 40; i++) expect(jump(rig, i)).toMatchObject({ outcome: "suppressed", suppressedBy: "group_wait" });
    expect(rig.again(START + WAIT - 1)).toEqual([]);
    expect(rig.again(START + WAIT).filter(({ outcome }) => outcome === "paged")).toHaveLength(1);
    expect(rig.again(START + 3 * WAIT)).toEqual([]);
    const firing = [...rig.memory.firing("default")];
    expect(firing).toMatchObject([{ pages: 1, anomalies: 40, open: 40, state: { key: { serviceId: "svc-0" } } }]);
    expect(firing[0]?.services).toHaveLength(40);
    expect(alertsOf(rig).filter(({ mergedInto }) => mergedInto === firing[0]?.state.id)).toHaveLength(39);
    expect(alertsOf(rig).reduce((sum, { pages }) => sum + pages, 0)).toBe(1);
  });
  it("ends with the last of them", () => {
    const rig = grouping();
    const decisions = [0, 1, 2].map((i) => jump(rig, i));
    rig.again(START + WAIT);
    const ends = decisions.map((decision) => rig.end(decision, START + MINUTE));
    expect(ends.map((end) => end?.outcome)).toEqual([undefined, undefined, "resolved"]);
    expect(rig.memory.firingCount).toBe(0);
  });
  it("is told at once where the first is high and known, and what joins it is one update under its key", () => {
    const rig = grouping();
    const known = { baselineValues: 120 };
    const first = jump(rig, 0, known);
    expect(first.outcome).toBe("paged");
    for (let i = 1; i < 5; i++) expect(jump(rig, i, known).suppressedBy).toBe("group_wait");
    rig.again(START + WAIT + 100);
    const alert = rig.memory.alert(first.alertId as string);
    expect(alert?.history.map(({ kind, note }) => `${kind} ${note}`)).toEqual([
      "opened null",
      "paged null",
      "updated also on svc-1, svc-2, svc-3, svc-4",
    ]);
    expect(alert).toMatchObject({ pages: 1, services: { length: 5 } });
  });
  it("takes in the same metric of its services and no other, and none behind the dedup age", () => {
    const rig = grouping();
    const [first] = [0, 1, 2].map((i) => jump(rig, i));
    rig.again(START + WAIT);
    const later = { atMs: START + MINUTE };
    expect(jump(rig, 1, later).alertId).toBe(first?.alertId);
    expect(jump(rig, 1, { ...later, metricName: "cpu_percent" }).alertId).not.toBe(first?.alertId);
    const own = jump(rig, 2, { atMs: START + 61 * MINUTE });
    expect(rig.memory.alert(own.alertId as string)).toMatchObject({ services: [], state: { key: { serviceId: "svc-2" } } });
  });
  it("of two services, of two metrics or of two directions is no group: each is told by itself, once", () => {
    const rig = grouping();
    [0, 1].map((i) => jump(rig, i));
    [2, 3].map((i) => jump(rig, i, { z: -9 }));
    jump(rig, 4, { metricName: "cpu_percent" });
    const pages = [WAIT, WAIT + 500].flatMap((ms) => rig.again(START + ms)).filter(({ outcome }) => outcome === "paged");
    expect(pages).toHaveLength(5);
  });
  it("is a group whichever metric of each service departs most, and with two services that were told before the third", () => {
    const rig = grouping();
    const metrics = ["latency_p95", "queue_depth", "cpu_percent"];
    for (const [i, metricName] of metrics.entries()) {
      jump(rig, i, { z: 6, metricName: "requests" });
      jump(rig, i, { z: 20, atMs: START + SECOND, metricName });
    }
    const told = rig.again(START + 2 * WAIT).filter(({ outcome }) => outcome === "paged");
    expect(told).toHaveLength(1);
    expect([...rig.memory.firing("default")]).toMatchObject([{ pages: 1, services: { length: 3 }, anomalies: 6 }]);
    const later = grouping();
    const decisions = metrics.map((metricName, i) => {
      const atMs = START + i * 2 * WAIT;
      jump(later, i, { z: 6, atMs, metricName: "requests" });
      const own = jump(later, i, { z: 20, atMs: atMs + SECOND, metricName });
      for (let ms = 0; ms < 2 * WAIT; ms += SECOND) later.again(atMs + ms);
      return own;
    });
    expect([...later.memory.firing("default")].map(({ state, pages, services }) => [state.id, pages, services.length])).toEqual([
      [decisions[0]?.alertId, 1, 2],
      [decisions[1]?.alertId, 1, 0],
    ]);
  });
  it("is waited for by any metric of an alert that has jumped with others, though another is high now", () => {
    const rig = new PagingRig({ groupWaitMs: WAIT, confirmations: new ServiceConfirmations() });
    expect(rig.fire({ serviceId: "svc-1" }).suppressedBy).toBe("confirmation");
    expect(rig.fire({ serviceId: "svc-0", isRare: true, atMs: START + SECOND }).outcome).toBe("paged");
    const other = { metricName: "cpu_percent", z: 9, isRare: true, atMs: START + MINUTE };
    expect(rig.fire({ serviceId: "svc-1", ...other }).suppressedBy).toBe("group_wait");
    expect(rig.fire({ serviceId: "svc-2", ...other }).outcome).toBe("paged");
  });
  it("holds nobody who is silenced, and is not told for them", () => {
    const rig = new PagingRig({
      groupWaitMs: WAIT,
      silences: {
        silenced: (_, { service_id }, nowMs) => (service_id === "svc-1" && nowMs > START + 5_000 ? { id: "s", comment: "" } : undefined),
      },
    });
    for (let i = 0; i < 4; i++) jump(rig, i);
    rig.again(START + WAIT + 300);
    const silenced = alertsOf(rig).find(({ state }) => state.key.serviceId === "svc-1");
    expect(silenced).toMatchObject({ pages: 0, heldBy: "silenced", mergedInto: null });
  });
});

describe("the wait for a group", () => {
  it("does not hold a high of a known series, what people say, nor what an Alertmanager says", () => {
    for (const change of [{ z: 9 }, { detector: "manual" }, { detector: "external", z: 2.5 }, { detector: "saturation", z: 5 }])
      expect(grouping().fire(change).outcome).toBe("paged");
  });
  it("B12: holds one that follows a page of its environment, so that a cascade is one page", () => {
    const rig = grouping();
    const first = rig.fire({ serviceId: "web", z: 9 });
    expect(rig.fire({ serviceId: "shop", metricName: "errors", z: 9, atMs: START + SECOND }).suppressedBy).toBe("group_wait");
    expect(rig.fire({ serviceId: "db", environment: "staging", z: 9, atMs: START + SECOND }).outcome).toBe("paged");
    rig.fire({ serviceId: "db", metricName: "cpu", z: 9, atMs: START + 2 * SECOND });
    const cascade = { detector: "cascade", metricName: "service.cascade", z: 5.1, services: ["web", "shop", "db"], serviceId: "db" };
    expect(rig.fire({ ...cascade, atMs: START + WAIT }).alertId).toBe(first.alertId);
    expect(rig.again(START + 3 * WAIT)).toEqual([]);
    expect(
      alertsOf(rig)
        .filter(({ state }) => state.key.environment === "prod")
        .reduce((sum, { pages }) => sum + pages, 0),
    ).toBe(1);
  });
  it("begins anew for what confirmation had held: services of one jump that are confirmed one after the other are one page", () => {
    const confirmations = new ServiceConfirmations();
    const rig = new PagingRig({ groupWaitMs: WAIT, confirmations });
    const services = [0, 1, 2, 3].map((i) => `svc-${i}`);
    for (const serviceId of services) expect(rig.fire({ serviceId, z: 5 }).suppressedBy).toBe("confirmation");
    const confirm = (serviceId: string, atMs: number) => {
      const pair = { tenant: "default", environment: "prod", serviceId, metricName: "queue_depth", isAlone: true, side: 1 } as const;
      confirmations.take({ ...pair, direction: null }, atMs);
      return rig.again(atMs).map(({ serviceId: of, outcome, suppressedBy }) => `${of} ${outcome} ${suppressedBy}`);
    };
    expect(services.map((serviceId, i) => confirm(serviceId, START + MINUTE + i * SECOND))).toEqual([
      ["svc-0 paged null"],
      ["svc-1 suppressed group_wait"],
      ["svc-2 suppressed group_wait"],
      ["svc-3 suppressed group_wait"],
    ]);
    for (let ms = MINUTE; ms <= MINUTE + 3 * WAIT; ms += 500) rig.again(START + ms);
    expect([...rig.memory.firing("default")]).toMatchObject([{ pages: 1, services: { length: 4 }, heldBy: null }]);
  });
  it("goes on for five minutes where a group was told: what departs with it later joins it, and what does not is told then", () => {
    const rig = grouping();
    const [first] = [0, 1, 2].map((i) => jump(rig, i));
    rig.again(START + WAIT);
    const known = { baselineValues: 120, atMs: START + 2 * MINUTE };
    expect(jump(rig, 5, known).suppressedBy).toBe("group_wait");
    expect(jump(rig, 6, { ...known, metricName: "cpu_percent" }).suppressedBy).toBe("group_wait");
    rig.again(START + 2 * MINUTE + WAIT);
    expect([...rig.memory.firing("default")].map(({ state, pages }) => [state.key.serviceId, pages])).toEqual([
      [first?.serviceId, 1],
      ["svc-6", 1],
    ]);
    expect(jump(rig, 7, { ...known, atMs: START + 10 * MINUTE }).outcome).toBe("paged");
  });
  it("ends within itself, whatever comes: every alert that still fires is told or part of one that is", () => {
    const arrivals = fc.array(
      fc.record({ service: fc.nat(7), metric: fc.nat(2), z: fc.constantFrom(2.5, 9, -9), known: fc.boolean(), ms: fc.nat(30_000) }),
      { maxLength: 40 },
    );
    fc.assert(
      fc.property(arrivals, (found) => {
        const rig = grouping();
        found.sort((a, b) => a.ms - b.ms);
        let at = 0;
        for (const { service, metric, z, known, ms } of found) {
          for (; at + 500 <= ms; at += 500) rig.again(START + at);
          rig.fire({
            serviceId: `s${service}`,
            metricName: `m${metric}`,
            detector: "adaptive",
            z,
            baselineValues: known ? 500 : 30,
            atMs: START + ms,
          });
        }
        for (; at <= 45_000; at += 500) rig.again(START + at);
        for (const alert of rig.memory.firing("default")) expect([alert.heldBy, alert.pages > 0]).toEqual([null, true]);
        for (const { mergedInto, pages } of alertsOf(rig))
          if (mergedInto !== null) expect([pages, rig.memory.current(mergedInto)?.pages]).toEqual([0, 1]);
      }),
      { numRuns: 200 },
    );
  });
});

describe("an unacknowledged high", () => {
  it("repeats under its key each REPEAT_MINUTES, until somebody has it, and never where that is 0", () => {
    const pagesAfter = (change: Partial<Finding>, repeatMs: number, isAcknowledged = false) => {
      const rig = new PagingRig({ repeatMs });
      const { alertId } = rig.fire({ detector: "saturation", z: 9, ...change });
      const alert = rig.memory.alert(alertId as string);
      if (isAcknowledged && alert !== undefined) rig.memory.keep({ ...alert, acknowledged: { by: "ada", note: null, atMs: START } });
      for (let minute = 1; minute <= 500; minute++) rig.again(START + minute * MINUTE);
      return rig.memory.alert(alertId as string)?.pages;
    };
    expect(pagesAfter({}, 240 * MINUTE)).toBe(3);
    expect([pagesAfter({}, 0), pagesAfter({ z: 2.5 }, 240 * MINUTE), pagesAfter({}, 240 * MINUTE, true)]).toEqual([1, 1, 1]);
  });
});
