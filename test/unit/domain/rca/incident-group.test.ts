import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RunningIncident, RunningIncidents } from "../../../../src/domain/rca/incident-group.ts";
import type { IncidentAnomaly } from "../../../../src/domain/rca/incident-joins.ts";

const MINUTE_MS = 60_000;
const START = Date.UTC(2026, 0, 5, 10);

/** A ledger of so many places for each tenant. */
const sharesOf = (most: number) => {
  const taken = new Map<string, number>();
  return {
    take: (tenant: string) => {
      if ((taken.get(tenant) ?? 0) >= most) return false;
      taken.set(tenant, (taken.get(tenant) ?? 0) + 1);
      return true;
    },
    give: (tenant: string) => void taken.set(tenant, (taken.get(tenant) ?? 0) - 1),
  };
};

const incidents = (most = 100, membersMax = 200, joinedMax = 1_000, pendingMax = 32, waitingMax = 1_000) =>
  new RunningIncidents({ membersMax, joinedMax, pendingMax, waitingMax, shares: sharesOf(most) });

const anomaly = (id: string, change: Partial<IncidentAnomaly> = {}): IncidentAnomaly => ({
  id,
  tenant: "default",
  environment: "prod",
  serviceId: `service of ${id}`,
  metricName: `metric of ${id}`,
  startedAtMs: START,
  ...change,
});

describe("which anomalies are one incident", () => {
  it("D2: never joins by time alone", () => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(running.take(anomaly("b"), START)?.isNew).toBe(true);
    expect(running.take(anomaly("c", { startedAtMs: START + MINUTE_MS }), START + MINUTE_MS)?.isNew).toBe(true);
  });

  it.each<[string, Partial<IncidentAnomaly>, Partial<IncidentAnomaly>]>([
    ["the same service", { serviceId: "orders" }, { serviceId: "orders" }],
    ["a shared node", { attributes: { "host.name": "node-3" } }, { attributes: { "k8s.node.name": "node-3" } }],
    ["one machine by its address", { attributes: { instance: "db-1:9100" } }, { attributes: { instance: "db-1:9187" } }],
  ])("joins by %s, within a minute and a half of the onset", (_, one, other) => {
    const after = (ms: number) => {
      const running = incidents();
      running.take(anomaly("a", one), START);
      return running.take(anomaly("b", { ...other, startedAtMs: START + ms }), START + ms)?.isNew;
    };
    expect([0, 90_000, 90_001].map(after)).toEqual([false, false, true]);
  });

  it.each([0, 10, 60, 480])("keeps two services of one metric apart that nothing connects, %s s apart", (seconds) => {
    const running = incidents();
    const latency = { metricName: "request.duration_ms", direction: "high" } as const;
    const first = running.take(anomaly("a", { ...latency, serviceId: "orders" }), START)?.incident as RunningIncident;
    const at = START + seconds * 1_000;
    const second = running.take(anomaly("b", { ...latency, serviceId: "printer", startedAtMs: at }), at);
    expect(second?.isNew).toBe(true);
    running.settle(first, { joined: new Set(["orders", "db"]) }, at);
    running.explained(first, { serviceId: "db", explained: new Set(["db", "orders"]) }, at);
    running.explained(second?.incident as RunningIncident, { serviceId: "printer", explained: new Set(["printer"]) }, at);
    expect([running.size, first.cause?.serviceId, second?.incident.cause?.serviceId]).toEqual([2, "db", "printer"]);
  });

  it("joins three services whose one metric jumps within ten seconds, those that came before too", () => {
    const up = { metricName: "up", direction: "low" } as const;
    const after = (ms: number) => {
      const running = incidents();
      for (const id of ["a", "b"]) running.take(anomaly(id, up), START);
      const third = running.take(anomaly("c", { ...up, startedAtMs: START + ms }), START + ms);
      return [third?.isNew, third?.incident.memberCount, running.size];
    };
    expect([0, 10_000, 10_001].map(after)).toEqual([
      [false, 3, 1],
      [false, 3, 1],
      [true, 1, 3],
    ]);
    const running = incidents();
    for (const id of ["a", "b", "c"]) running.take(anomaly(id, up), START);
    expect(running.take(anomaly("d", up), START + 1_000)).toMatchObject({ isNew: false, incident: { memberCount: 4 } });
  });

  it("leaves one that is being looked at where a jump unites others", () => {
    const up = { metricName: "up", direction: "low" } as const;
    const running = incidents();
    for (const id of ["a", "b"]) running.take(anomaly(id, up), START);
    const first = running.next(START) as RunningIncident;
    running.take(anomaly("c", up), START);
    expect([running.has(first), running.size]).toEqual([true, 2]);
    running.revised(first, 1, START);
    running.inspected(first, false, START);
    expect(running.take(anomaly("d", up), START)).toMatchObject({ isNew: false, incident: { memberCount: 3 } });
    expect([running.has(first), running.size, first.memberCount]).toEqual([true, 2, 1]);
  });

  it("does not take one direction or metric for the other", () => {
    const running = incidents();
    running.take(anomaly("a", { metricName: "requests", direction: "low" }), START);
    expect(running.take(anomaly("b", { metricName: "requests", direction: "high" }), START)?.isNew).toBe(true);
    expect(running.take(anomaly("c", { metricName: "errors", direction: "low" }), START)?.isNew).toBe(true);
  });

  it("joins by calls, and by a cause that explains it, once a look has learned them", () => {
    const running = incidents();
    const first = running.take(anomaly("a", { serviceId: "orders" }), START)!.incident;
    const second = running.take(anomaly("b", { serviceId: "checkout" }), START)!.incident;
    running.take(anomaly("c", { serviceId: "search" }), START);
    expect(running.settle(first, { joined: new Set(["orders", "checkout", "web"]) }, START)).toBe(first);
    expect([running.size, running.has(second), first.memberCount, [...first.services]]).toEqual([2, false, 2, ["orders", "checkout"]]);
    expect(running.take(anomaly("d", { serviceId: "web" }), START)?.isNew).toBe(false);
    expect(running.take(anomaly("e", { serviceId: "elsewhere" }), START)?.isNew).toBe(true);
    running.explained(first, { serviceId: "node", explained: new Set(["node", "billing"]) }, START);
    expect(running.take(anomaly("f", { serviceId: "billing" }), START)?.isNew).toBe(false);
  });

  it("lets what has a report go on where a later look joins another with it", () => {
    const running = incidents();
    const first = running.take(anomaly("a", { serviceId: "orders" }), START)!.incident;
    running.revised(first, 1, START);
    const second = running.take(anomaly("b", { serviceId: "checkout" }), START + 1)!.incident;
    expect(running.settle(second, { joined: new Set(["orders", "checkout"]) }, START + 2)).toBe(first);
    expect(first).toMatchObject({ memberCount: 2, hasJoined: true, hasGrown: true });
    const third = running.take(anomaly("c", { serviceId: "billing" }), START + 3)!.incident;
    const cause = { serviceId: "db", explained: new Set(["db", "orders", "billing"]) };
    running.explained(first, cause, START + 4);
    expect(running.explained(third, cause, START + 5)).toBe(first);
    expect(running.size).toBe(1);
  });

  it("stays apart from one whose report names its cause without evidence that this reaches it: no calls are known, and both began at once", () => {
    const running = incidents();
    const first = running.take(anomaly("a", { serviceId: "payments" }), START)!.incident;
    running.explained(first, { serviceId: "payments", explained: new Set(["payments"]) }, START);
    running.revised(first, 1, START);
    const second = running.take(anomaly("b", { serviceId: "queue", startedAtMs: START + 1 }), START + 1)!.incident;
    expect(running.explained(second, { serviceId: "payments", explained: new Set(["payments"]) }, START + 2)).toBe(second);
    expect(running.size).toBe(2);
    expect(running.explained(second, { serviceId: "payments", explained: new Set(["payments", "queue"]) }, START + 3)).toBe(first);
  });

  it("two incidents eight minutes apart are two, though the first grows all the while and they are of one service", () => {
    const running = incidents();
    const at = (minutes: number) => START + minutes * MINUTE_MS;
    const first = running.take(anomaly("a", { serviceId: "db" }), at(0))!.incident;
    running.explained(first, { serviceId: "db", explained: new Set(["db"]) }, at(0));
    for (const minutes of [2, 4, 5]) running.take(anomaly(`a${minutes}`, { serviceId: "db", startedAtMs: at(minutes) }), at(minutes));
    expect(first.memberCount).toBe(4);
    expect(running.take(anomaly("b", { serviceId: "db", startedAtMs: at(8) }), at(8))).toMatchObject({
      isNew: true,
      incident: { onsetMs: at(8), memberCount: 1 },
    });
  });

  it("what begins two minutes later is another incident unless a cause explains it: its symptoms do, a resource of another service does not", () => {
    const later = START + 2 * MINUTE_MS;
    const isNew = (cause: string | null, change: Partial<IncidentAnomaly>) => {
      const running = incidents();
      const { incident } = running.take(anomaly("a", { serviceId: "web" }), START)!;
      incident.graph = { joined: new Set(["web", "db", "cart"]) };
      if (cause !== null) running.explained(incident, { serviceId: cause, explained: new Set([cause, "web"]) }, START);
      return running.take(anomaly("b", { startedAtMs: later, ...change }), later)?.isNew;
    };
    expect(isNew(null, { serviceId: "web", metricName: "latency_ms" })).toBe(true);
    expect(isNew("db", { serviceId: "web", metricName: "latency_ms" })).toBe(false);
    expect(isNew("db", { serviceId: "db", metricName: "cpu_percent" })).toBe(false);
    expect(isNew("db", { serviceId: "web", metricName: "cpu_percent" })).toBe(true);
    expect(isNew("db", { serviceId: "cart", metricName: "latency_ms" })).toBe(true);
  });

  it("counts each anomaly once, whatever joins in which order", () => {
    const members = fc.array(fc.record({ service: fc.nat(6), metric: fc.nat(3), seconds: fc.nat(900) }), { minLength: 1, maxLength: 60 });
    fc.assert(
      fc.property(members, fc.array(fc.tuple(fc.nat(6), fc.nat(6)), { maxLength: 5 }), (found, calls) => {
        const running = incidents(100, 10, 20, 100);
        found.sort((a, b) => a.seconds - b.seconds);
        found.forEach(({ service, metric, seconds }, i) => {
          const nowMs = START + seconds * 1_000;
          running.take(anomaly(`x${i}`, { serviceId: `s${service}`, metricName: `m${metric}`, startedAtMs: nowMs }), nowMs);
          const incident = running.next(nowMs);
          if (incident === undefined || incident.revision > 0) return;
          const joined = new Set([
            ...incident.services,
            ...calls.filter(([from]) => incident.services.has(`s${from}`)).map(([, to]) => `s${to}`),
          ]);
          const goesOn = running.settle(incident, { joined }, nowMs);
          if (goesOn === incident) running.revised(incident, 1, nowMs);
        });
        const all = new Set(found.map((_, i) => running.of("default", `x${i}`)).filter((incident) => incident !== undefined));
        expect([...all].reduce((sum, { memberCount }) => sum + memberCount, 0)).toBe(found.length);
        for (const incident of all) expect(incident.members.size + incident.joined.length).toBeLessThanOrEqual(incident.memberCount);
      }),
      { numRuns: 200 },
    );
  });

  it.each([
    ["tenants", { tenant: "other" }],
    ["environments", { environment: "staging" }],
  ])("never joins %s", (_, change) => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(running.take(anomaly("b", change), START)?.isNew).toBe(true);
  });

  it("makes one incident of ten thousand pairs with one jump, remembers as many as it may and counts the rest", () => {
    const running = incidents();
    for (let i = 0; i < 10_000; i++) running.take(anomaly(`a${i}`, { metricName: "latency_ms", startedAtMs: START + i }), START + i);
    expect(running.size).toBe(1);
    expect(running.of("default", "a0")).toMatchObject({ memberCount: 10_000, members: { size: 200 }, services: { size: 200 } });
  });

  /** First looks at what is due, with what they learn of calls. */
  function look(running: RunningIncidents, nowMs: number, joined: readonly string[] = []): RunningIncident {
    const incident = running.next(nowMs) as RunningIncident;
    running.settle(incident, { joined: new Set([...incident.services, ...joined]) }, nowMs);
    running.revised(incident, 1, nowMs);
    running.inspected(incident, false, nowMs);
    running.takeWaiting(nowMs);
    return incident;
  }

  it("gives each anomaly of a storm that nothing joins an incident of its own, as there is room, and none another's", () => {
    const running = incidents(100, 200, 1_000, 8);
    const begun = Array.from({ length: 40 }, (_, i) => running.take(anomaly(`a${i}`), START)?.isNew ?? false);
    expect([begun.filter((isNew) => isNew).length, running.size]).toEqual([8, 8]);
    const inspected = Array.from({ length: 40 }, () => look(running, START));
    expect(inspected.map(({ first, memberCount }) => [first.id, memberCount])).toEqual(begun.map((_, i) => [`a${i}`, 1]));
    expect([running.size, running.dropped]).toEqual([40, 0]);
  });

  it("joins what waits by evidence that is found meanwhile, with the onset that it had", () => {
    const running = incidents(100, 200, 1_000, 1);
    const first = running.take(anomaly("a", { serviceId: "orders" }), START)?.incident;
    expect(running.take(anomaly("b", { serviceId: "web" }), START + 1_000)).toBeUndefined();
    expect(running.take(anomaly("c", { serviceId: "printer", startedAtMs: START - 1_000 }), START + 1_000)).toBeUndefined();
    look(running, START + 60_000, ["web"]);
    expect(running.of("default", "b")).toBe(first);
    expect(running.of("default", "c")).toMatchObject({ onsetMs: START - 1_000, memberCount: 1 });
  });

  it("has no more wait than may, no longer than there is a beginning to look at, and counts the others", () => {
    const running = incidents(1, 200, 1_000, 1, 2);
    for (let i = 0; i < 5; i++) running.take(anomaly(`a${i}`), START);
    expect(running.dropped).toBe(2);
    look(running, START + 16 * MINUTE_MS);
    expect([running.size, running.dropped]).toEqual([1, 4]);
  });

  it("has it wait where a tenant has its share, and no other tenant or environment for it", () => {
    const running = incidents(2);
    const at = (minutes: number) => START + minutes * MINUTE_MS;
    const first = running.take(anomaly("a"), at(0))!.incident;
    running.take(anomaly("b", { startedAtMs: at(10) }), at(10));
    expect(running.take(anomaly("c", { startedAtMs: at(20) }), at(20))).toBeUndefined();
    expect(running.take(anomaly("d", { environment: "staging", startedAtMs: at(20) }), at(20))).toBeUndefined();
    expect(running.take(anomaly("e", { tenant: "other", startedAtMs: at(20) }), at(20))?.isNew).toBe(true);
    first.ends = true;
    running.inspected(first, true, at(21));
    running.takeWaiting(at(21));
    expect(running.of("default", "c")).toMatchObject({ memberCount: 1 });
    expect(running.of("default", "d")).toBeUndefined();
  });
});

describe("when an incident is looked at", () => {
  const CAUSE = { serviceId: "db", explained: new Set(["db"]) };

  /** Looks whenever one is due; the minutes at which there was a revision. */
  function revisions(
    running: RunningIncidents,
    until: number,
    isOverAt = Number.POSITIVE_INFINITY,
    cause: RunningIncident["cause"] = CAUSE,
  ): number[] {
    const found: number[] = [];
    for (let nowMs = START; nowMs <= until && running.size > 0; nowMs = running.dueMs) {
      const incident = running.next(nowMs)!;
      if (running.isRevision(incident, nowMs)) {
        running.explained(incident, cause, nowMs);
        running.revised(incident, incident.revision + 1, nowMs);
        found.push((nowMs - START) / MINUTE_MS);
      }
      running.inspected(incident, nowMs >= isOverAt, nowMs);
    }
    return found;
  }

  it("is revised at once, after one minute, after five and at its end, and then forgotten", () => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(revisions(running, START + 90 * MINUTE_MS, START + 20 * MINUTE_MS)).toEqual([0, 1, 5, 20]);
    expect(running.size).toBe(0);
  });

  it("is revised each minute of the first five while there is no cause", () => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(revisions(running, START + 90 * MINUTE_MS, START + 20 * MINUTE_MS, null)).toEqual([0, 1, 2, 3, 4, 5, 20]);
  });

  it("is revised a minute after it has grown by a service", () => {
    const running = incidents();
    const { incident } = running.take(anomaly("a", { serviceId: "db" }), START)!;
    incident.graph = { joined: new Set(["db", "web"]) };
    running.explained(incident, { serviceId: "db", explained: new Set(["db"]) }, START);
    running.revised(incident, 1, START);
    running.take(anomaly("b", { serviceId: "db", startedAtMs: START + 70_000 }), START + 70_000);
    running.revised(incident, 2, START + 70_000);
    running.take(anomaly("c", { serviceId: "web", startedAtMs: START + 90_000 }), START + 90_000);
    expect([129_999, 130_000].map((ms) => running.isRevision(incident, START + ms))).toEqual([false, true]);
    running.revised(incident, 3, START + 130_000);
    expect(running.isRevision(incident, START + 299_999)).toBe(false);
  });

  it("ends after an hour where nobody ends it", () => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(revisions(running, START + 90 * MINUTE_MS)).toEqual([0, 1, 5, 60]);
  });

  it("is looked at within a second of anomalies that join a report, once for all of them", () => {
    const running = incidents();
    const { incident } = running.take(anomaly("a"), START)!;
    running.explained(incident, { serviceId: "service of a", explained: new Set(["service of a"]) }, START);
    incident.revision = 1;
    running.inspected(incident, false, START);
    const same = { serviceId: "service of a" };
    for (const id of ["b", "c", "d"]) running.take(anomaly(id, same), START + 5_000);
    expect(incident).toMatchObject({ hasJoined: true, hasGrown: false, dueMs: START + 6_000, memberCount: 4 });
    incident.hasJoined = false;
    running.take(anomaly("b", same), START + 7_000);
    expect(incident.hasJoined).toBe(false);
  });

  it("names anomalies up to its bound, hands on those beyond within theirs, and counts the rest", () => {
    const running = incidents(100, 2, 2);
    const { incident } = running.take(anomaly("a"), START)!;
    for (const id of ["b", "c", "d", "e"]) running.take(anomaly(id, { serviceId: "service of a" }), START);
    expect([[...incident.members], incident.joined, incident.joinedCount, incident.memberCount]).toEqual([["a", "b"], ["c", "d"], 2, 5]);
  });

  it("gives tenants turns", () => {
    const running = incidents();
    for (let i = 0; i < 3; i++) running.take(anomaly(`a${i}`, { startedAtMs: START + i * 10 * MINUTE_MS }), START + i * 10 * MINUTE_MS);
    running.take(anomaly("b", { tenant: "small" }), START + 30 * MINUTE_MS);
    const nowMs = START + 31 * MINUTE_MS;
    expect(Array.from({ length: 2 }, () => running.next(nowMs)?.first.tenant)).toEqual(["default", "small"]);
  });

  it("goes on after a restart where it was", () => {
    const running = incidents();
    const first = anomaly("a");
    const times = { onsetMs: START, openedAtMs: START, revisedAtMs: START + MINUTE_MS };
    const cause = { serviceId: "orders", explained: new Set(["orders"]) };
    const kept = { first, ...times, members: ["a", "b"], memberCount: 3, joinedCount: 0, services: ["orders"], revision: 2, cause };
    running.restore(kept, START + 4 * MINUTE_MS);
    const incident = running.of("default", "b")!;
    expect(incident).toMatchObject({ isRestored: true, memberCount: 3 });
    expect(running.isRevision(incident, START + 4 * MINUTE_MS)).toBe(false);
    expect(running.isRevision(incident, START + 5 * MINUTE_MS)).toBe(true);
    expect(running.take(anomaly("c", { serviceId: "orders" }), START + 4 * MINUTE_MS)?.isNew).toBe(false);
  });
});
