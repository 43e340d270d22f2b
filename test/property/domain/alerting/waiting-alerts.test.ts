// Alerts that wait are found by their jump and by when they opened as they were when all that fires was gone through, over drafts that are taken or thrown away.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CALM } from "../../../../src/domain/alerting/flap-control.ts";
import { type Alert, isFiring, isOfCascade } from "../../../../src/domain/alerting/paging/alert.ts";
import { GROUP_GATE } from "../../../../src/domain/alerting/paging/group-wait.ts";
import { jumpsOf } from "../../../../src/domain/alerting/paging/jump-index.ts";
import { PagingMemory } from "../../../../src/domain/alerting/paging/paging-memory.ts";
import { baseNameOf } from "../../../../src/domain/distribution/derived-values.ts";

const metric = fc.constantFrom("latency", "latency.p95", "latency.p99", "errors", "requests");
const kept = fc.record({
  name: fc.nat(9),
  tenant: fc.constantFrom("default", "other"),
  environment: fc.constantFrom("", "prod", "prod1"),
  metric,
  members: fc.array(metric, { maxLength: 3 }),
  z: fc.constantFrom(9, -9),
  family: fc.constantFrom("metric", "multivariate", "cascade"),
  heldBy: fc.constantFrom(null, GROUP_GATE, "silenced"),
  pages: fc.nat(1),
  openedMs: fc.nat(20),
  isFiring: fc.boolean(),
});
const step = fc.oneof(
  { weight: 8, arbitrary: kept.map((alert) => ({ kind: "keep" as const, alert })) },
  fc.constant({ kind: "take" as const }),
  fc.constant({ kind: "drop" as const }),
  fc.nat(9).map((name) => ({ kind: "forget" as const, name })),
);
type Kept = typeof kept extends fc.Arbitrary<infer T> ? T : never;

const PAGED: Kept = {
  name: 0,
  tenant: "default",
  environment: "prod",
  metric: "errors",
  members: [],
  z: 9,
  family: "metric",
  heldBy: null,
  pages: 1,
  openedMs: 0,
  isFiring: true,
};

function alertOf(of: Kept): Alert {
  const { name, tenant, environment, metric, z, family, heldBy, pages } = of;
  const change = { atMs: of.openedMs, kind: "opened", tier: "medium", by: null, note: null } as const;
  return {
    state: {
      id: `${tenant} ${name}`,
      key: { tenant, environment, serviceId: `s${name}`, family },
      createdAtMs: 0,
      lastFireMs: 0,
      fires: 1,
      tier: "medium",
      resolvedAtMs: of.isFiring ? null : 1,
      flap: CALM,
    },
    labels: {},
    peak: { anomalyId: "a", serviceId: `s${name}`, metricName: metric, detector: "z_score", z, explanation: "why" },
    members: of.members.map((metricName) => ({ anomalyId: metricName, serviceId: `s${name}`, metricName })),
    anomalies: 1,
    open: 1,
    services: [],
    pages,
    heldBy,
    mergedInto: null,
    acknowledged: null,
    assignee: null,
    snooze: null,
    ending: null,
    updatedAtMs: 0,
    history: [change],
  };
}

const isWaiting = (alert: Alert) => isFiring(alert) && alert.heldBy === GROUP_GATE;

const metricsOf = ({ peak, members }: Alert) => [peak, ...members].map(({ metricName }) => baseNameOf(metricName));

/** The services of a cascade jump by their metrics. */
const familyOf = (alert: Alert) => (isOfCascade(alert) ? "metric" : alert.state.key.family);

function slowJump(memory: PagingMemory, alert: Alert, metric: string): string[] {
  const { state, peak } = alert;
  const { key } = state;
  const found = [...memory.firing(key.tenant)].filter(
    (other) =>
      other.state.key.environment === key.environment &&
      familyOf(other) === familyOf(alert) &&
      metricsOf(other).includes(metric) &&
      Math.sign(other.peak.z) === Math.sign(peak.z) &&
      isFiring(other) &&
      ((isWaiting(other) && !isOfCascade(other)) || (other.pages > 0 && other.heldBy === null)),
  );
  return found.map(({ state }) => state.id).sort();
}

describe("alerts that wait for a group", () => {
  it("may be one with what people know of another service, though a draft keeps an older page of that metric", () => {
    const told = (name: number, pagedMs: number): Alert => {
      const alert = alertOf({ ...PAGED, name });
      return { ...alert, state: { ...alert.state, flap: { ...CALM, pagedMs } } };
    };
    const base = new PagingMemory();
    base.keep(told(1, 100));
    const draft = new PagingMemory(base);
    draft.keep(told(2, 10));
    const asked = alertOf({ ...PAGED, name: 3, metric: "latency", members: ["errors"] });
    expect([draft.isJumpKnownSince(asked, 50), draft.isJumpKnownSince(asked, 100)]).toEqual([true, false]);
  });
  it("are found by jump and by when they began to wait as by going through all that fires", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), kept, (steps, other) => {
        const base = new PagingMemory();
        let draft = new PagingMemory(base);
        for (const one of steps) {
          if (one.kind === "keep") draft.keep(alertOf(one.alert));
          else if (one.kind === "forget") base.forget(`default ${one.name}`);
          else {
            if (one.kind === "take") base.take(draft);
            draft = new PagingMemory(base);
          }
        }
        const all = [...base.changed];
        for (const memory of [base, draft])
          for (const alert of [...all, alertOf(other)])
            for (const { name, metric } of jumpsOf(alert))
              expect([...memory.jumps.of(name)].map(({ state }) => state.id).sort()).toEqual(slowJump(memory, alert, metric));
        const waiting = all.filter(isWaiting);
        const sinceMs = (alert: Alert) => base.waitsSinceMs(alert);
        expect(base.waiting.firstSinceMs).toBe(Math.min(...waiting.map(sinceMs)));
        expect(new Set(base.waiting)).toEqual(new Set(waiting));
        for (const atMs of [-1, 0, 7, 20]) {
          const due = base.waiting.waitingBy(atMs);
          expect(due.map(sinceMs)).toEqual(due.map(sinceMs).sort((a, b) => a - b));
          expect(new Set(due)).toEqual(new Set(waiting.filter((alert) => sinceMs(alert) <= atMs)));
        }
      }),
      { numRuns: 300 },
    );
  });
});
