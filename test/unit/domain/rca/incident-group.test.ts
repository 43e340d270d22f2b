import { describe, expect, it } from "vitest";
import { type IncidentAnomaly, RunningIncidents } from "../../../../src/domain/rca/incident-group.ts";

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

const incidents = (most = 100, membersMax = 200, joinedMax = 1_000) =>
  new RunningIncidents({ membersMax, joinedMax, shares: sharesOf(most) });

const anomaly = (id: string, change: Partial<IncidentAnomaly> = {}): IncidentAnomaly => ({
  id,
  tenant: "default",
  environment: "prod",
  serviceId: `service of ${id}`,
  metricName: "latency_ms",
  startedAtMs: START,
  ...change,
});

describe("which anomalies are one incident", () => {
  it("joins what begins within five minutes while no calls are known", () => {
    const running = incidents();
    const first = running.take(anomaly("a"), START);
    expect(running.take(anomaly("b"), START + 4 * MINUTE_MS)).toEqual({ incident: first?.incident, isNew: false });
    expect(first?.incident.memberCount).toBe(2);
    const late = START + 10 * MINUTE_MS;
    expect(running.take(anomaly("c", { startedAtMs: late }), late)?.isNew).toBe(true);
  });

  it("joins by calls where calls are known", () => {
    const running = incidents();
    const first = running.take(anomaly("a", { serviceId: "orders" }), START)!.incident;
    first.graph = { joined: new Set(["orders", "checkout"]), known: new Set(["orders", "checkout", "search"]) };
    expect(running.take(anomaly("b", { serviceId: "checkout" }), START)?.isNew).toBe(false);
    expect(running.take(anomaly("c", { serviceId: "no calls known" }), START)?.isNew).toBe(false);
    expect(running.take(anomaly("d", { serviceId: "search" }), START)?.isNew).toBe(true);
  });

  it.each([
    ["tenants", { tenant: "other" }],
    ["environments", { environment: "staging" }],
  ])("never joins %s", (_, change) => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(running.take(anomaly("b", change), START)?.isNew).toBe(true);
  });

  it("makes one incident of ten thousand pairs, remembers as many as it may and counts the rest", () => {
    const running = incidents();
    for (let i = 0; i < 10_000; i++) running.take(anomaly(`a${i}`), START + i);
    expect(running.size).toBe(1);
    expect(running.of("default", "a0")).toMatchObject({ memberCount: 10_000, members: { size: 200 }, services: { size: 200 } });
  });

  it("joins the newest of its environment where a tenant has its share, and none where there is none", () => {
    const running = incidents(2);
    const at = (minutes: number) => START + minutes * MINUTE_MS;
    running.take(anomaly("a"), at(0));
    const second = running.take(anomaly("b", { startedAtMs: at(10) }), at(10))!.incident;
    expect(running.take(anomaly("c", { startedAtMs: at(20) }), at(20))).toEqual({ incident: second, isNew: false });
    expect(running.take(anomaly("d", { environment: "staging", startedAtMs: at(20) }), at(20))).toBeUndefined();
    expect(running.take(anomaly("e", { tenant: "other", startedAtMs: at(20) }), at(20))?.isNew).toBe(true);
  });
});

describe("when an incident is looked at", () => {
  /** Looks whenever one is due; the minutes at which there was a revision. */
  function revisions(running: RunningIncidents, until: number, isOverAt = Number.POSITIVE_INFINITY): number[] {
    const found: number[] = [];
    for (let nowMs = START; nowMs <= until && running.size > 0; nowMs = running.dueMs) {
      const incident = running.next(nowMs)!;
      if (running.isRevision(incident, nowMs)) {
        incident.revision++;
        found.push((nowMs - START) / MINUTE_MS);
      }
      running.looked(incident, nowMs >= isOverAt, nowMs);
    }
    return found;
  }

  it("is revised at once, after one minute, after five and at its end, and then forgotten", () => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(revisions(running, START + 90 * MINUTE_MS, START + 20 * MINUTE_MS)).toEqual([0, 1, 5, 20]);
    expect(running.size).toBe(0);
  });

  it("ends after an hour where nobody ends it", () => {
    const running = incidents();
    running.take(anomaly("a"), START);
    expect(revisions(running, START + 90 * MINUTE_MS)).toEqual([0, 1, 5, 60]);
  });

  it("is looked at within a second of anomalies that join a report, once for all of them", () => {
    const running = incidents();
    const { incident } = running.take(anomaly("a"), START)!;
    incident.revision = 1;
    running.looked(incident, false, START);
    for (const id of ["b", "c", "d"]) running.take(anomaly(id), START + 5_000);
    expect(incident).toMatchObject({ hasJoined: true, dueMs: START + 6_000, memberCount: 4 });
    incident.hasJoined = false;
    running.take(anomaly("b"), START + 7_000);
    expect(incident.hasJoined).toBe(false);
  });

  it("names anomalies up to its bound, hands on those beyond within theirs, and counts the rest", () => {
    const running = incidents(100, 2, 2);
    const { incident } = running.take(anomaly("a"), START)!;
    for (const id of ["b", "c", "d", "e"]) running.take(anomaly(id), START);
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
    const times = { onsetMs: START, openedAtMs: START, lastJoinedMs: START };
    const kept = { first, ...times, members: ["a", "b"], memberCount: 3, joinedCount: 0, services: ["orders"], revision: 2 };
    running.restore(kept, START + 4 * MINUTE_MS);
    const incident = running.of("default", "b")!;
    expect(incident).toMatchObject({ isRestored: true, memberCount: 3 });
    expect(running.isRevision(incident, START + 4 * MINUTE_MS)).toBe(false);
    expect(running.isRevision(incident, START + 5 * MINUTE_MS)).toBe(true);
    expect(running.take(anomaly("c"), START + 4 * MINUTE_MS)?.isNew).toBe(false);
  });
});
