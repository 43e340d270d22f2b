// Rules from a finding to a page: each limit from both sides, on a virtual clock.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type AlertState, applyFire, resolveAlert } from "../../../../src/domain/alerting/alert-identity.ts";
import { type Call, findCascades, type ServiceOnset } from "../../../../src/domain/alerting/cascade.ts";
import { deadManStep, pingEnded, UNPINGED } from "../../../../src/domain/alerting/dead-man-switch.ts";
import { type EnsembleSignal, ensembleTier, isCorroborated } from "../../../../src/domain/alerting/ensemble.ts";
import { CALM, paged, reopen } from "../../../../src/domain/alerting/flap-control.ts";
import { rcaCooldownGate } from "../../../../src/domain/alerting/rca-cooldown.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5);

describe("rule 1.1.5: RCA cooldown", () => {
  it("is 15 minutes: just below, at, just above", () => {
    const after = (ms: number): boolean => rcaCooldownGate(START, START + ms, 15).passed;
    expect([0, 15 * MINUTE - 1, 15 * MINUTE, 15 * MINUTE + 1].map(after)).toEqual([false, false, true, true]);
    expect(rcaCooldownGate(null, START, 15).passed).toBe(true);
    expect(rcaCooldownGate(START, START, 0).passed).toBe(true);
  });
});

describe("rule 1.1.7: ensemble", () => {
  const own: EnsembleSignal = { family: "metric", metricName: "latency.p95", atMs: START };
  const raised = (...others: Partial<EnsembleSignal>[]): boolean =>
    isCorroborated(
      own,
      others.map((other) => ({ ...own, ...other })),
    );
  it("of two families raises by one, and high stays high", () => {
    const others = [{ ...own, family: "multivariate" as const }];
    expect((["low", "medium", "high"] as const).map((tier) => ensembleTier(tier, own, others).tier)).toEqual(["medium", "high", "high"]);
    expect((["low", "medium", "high"] as const).map((tier) => ensembleTier(tier, own, []).tier)).toEqual(["low", "medium", "high"]);
  });
  it("raises once, however many fire", () => {
    const others = (["multivariate", "stale", "slo_burn", "logs"] as const).map((family) => ({ ...own, family }));
    expect(ensembleTier("low", own, others)).toMatchObject({ tier: "medium", gate: { passed: true, value: 5, limit: 2 } });
  });
  it("of what fired within 120 seconds, whichever came first: just inside, at, just outside", () => {
    const at = (age: number): boolean => raised({ family: "multivariate", atMs: START - age });
    expect([0, 119_999, 120_000, 120_001].map(at)).toEqual([true, true, true, false]);
    expect([-119_999, -120_000, -120_001].map(at)).toEqual([true, true, false]);
  });
  it("of what fired one interval of both apart, where that is longer: just inside, at, just outside", () => {
    const [slow, slower] = [300_000, 600_000];
    const at = (age: number, intervalMs: number): boolean =>
      isCorroborated({ ...own, intervalMs: slow }, [{ ...own, family: "multivariate", atMs: START - age, intervalMs }]);
    expect([slow - 1, slow, slow + 1].map((age) => at(age, slower))).toEqual([true, true, false]);
    expect([120_000, 120_001].map((age) => at(age, 10_000))).toEqual([true, false]);
  });
  it("not by how full the metric is that departs, nor the other way round; by that of another metric", () => {
    expect(raised({ family: "saturation" })).toBe(false);
    expect(isCorroborated({ ...own, family: "saturation" }, [own])).toBe(false);
    expect(raised({ family: "saturation", metricName: "disk.used_percent" })).toBe(true);
    expect(raised({ family: "stale" })).toBe(true);
  });
  it("takes two other metrics for independent, one not, nor quantiles of one histogram and the metric itself", () => {
    expect(raised({})).toBe(false);
    expect(raised({ metricName: "latency.p99" }, { metricName: "latency.p50" }, { metricName: "latency" })).toBe(false);
    expect(raised({ metricName: "errors" }, { metricName: "latency.p99" })).toBe(false);
    const others = ["errors", "requests"].map((metricName) => ({ ...own, metricName }));
    expect((["low", "medium", "high"] as const).map((tier) => ensembleTier(tier, own, others).tier)).toEqual(["medium", "medium", "high"]);
    expect(ensembleTier("low", own, others).gate).toMatchObject({ passed: true, value: 3, limit: 3 });
  });
});

describe("rule 1.1.10: alert identity and its age", () => {
  const key = { tenant: "t", environment: "prod", serviceId: "checkout", family: "metric" };
  const opened = applyFire(undefined, key, "medium", START, 60).alert;
  const fireAfter = (ms: number, tier: "low" | "medium" | "high" = "medium", alert: AlertState = opened) =>
    applyFire(alert, key, tier, START + ms, 60);

  it("absorbs for 60 minutes from creation: just below, at, just above", () => {
    expect([60 * MINUTE - 1, 60 * MINUTE, 60 * MINUTE + 1].map((ms) => fireAfter(ms).kind)).toEqual(["absorbed", "absorbed", "renewed"]);
    const renewed = fireAfter(60 * MINUTE + 1);
    expect(renewed).toMatchObject({ page: true, alert: { createdAtMs: START + 60 * MINUTE + 1, fires: 1 } });
    expect(renewed.alert.id).not.toBe(opened.id);
    expect(fireAfter(MINUTE)).toMatchObject({ page: false, alert: { id: opened.id, fires: 2, createdAtMs: START } });
  });
  it("measures from creation, not from the last fire", () => {
    let alert = opened;
    const kinds = Array.from({ length: 13 }, (_, i) => {
      const effect = applyFire(alert, key, "medium", START + (i + 1) * 10 * MINUTE, 60);
      alert = effect.alert;
      return effect.kind;
    });
    expect(kinds.filter((kind) => kind === "renewed")).toHaveLength(1);
    expect(kinds[6]).toBe("renewed");
  });
  it("takes a higher severity for an update, and never falls", () => {
    expect(fireAfter(MINUTE, "high")).toMatchObject({ kind: "raised", page: false, alert: { tier: "high", id: opened.id } });
    expect(fireAfter(MINUTE, "low")).toMatchObject({ kind: "absorbed", page: false, alert: { tier: "medium" } });
    const mild = applyFire(undefined, key, "low", START, 60);
    expect(mild).toMatchObject({ kind: "opened", page: true });
    expect(applyFire(mild.alert, key, "medium", START + MINUTE, 60)).toMatchObject({ kind: "raised", page: false });
  });
  it("reopens one that was resolved within its age, as the same alert", () => {
    const resolved = resolveAlert(opened, START + 5 * MINUTE);
    expect(resolveAlert(resolved, START + 9 * MINUTE)).toBe(resolved);
    expect(fireAfter(10 * MINUTE, "medium", resolved)).toMatchObject({
      kind: "reopened",
      page: true,
      alert: { id: opened.id, resolvedAtMs: null },
    });
    expect(fireAfter(61 * MINUTE, "medium", resolved)).toMatchObject({ kind: "renewed", page: true });
  });
  it("gives different incidents different keys, and the same the same", () => {
    const idOf = (of: typeof key) => applyFire(undefined, of, "low", 0, 60).alert.id;
    const ids = [
      key,
      { ...key, environment: "staging" },
      { ...key, serviceId: "cart" },
      { ...key, family: "saturation" },
      { ...key, tenant: "u" },
    ].map(idOf);
    expect(new Set(ids).size).toBe(5);
    expect(idOf({ ...key })).toBe(ids[0]);
  });
  it("pages at most once an hour, whatever fires in between", () => {
    const tiers = fc.constantFrom("low", "medium", "high" as const);
    fc.assert(
      fc.property(fc.array(fc.tuple(fc.integer({ min: 1, max: 20 }), tiers), { maxLength: 60 }), fc.nat(1e9), (fires, shift) => {
        const run = (from: number): boolean[] => {
          let alert: AlertState | undefined;
          let now = from;
          return fires.map(([minutes, tier]) => {
            now += minutes * MINUTE;
            const effect = applyFire(alert, key, tier, now, 60);
            alert = effect.alert;
            return effect.page;
          });
        };
        const pages = run(START);
        const minutes = fires.reduce((sum, [gap]) => sum + gap, 0);
        expect(pages.filter(Boolean).length).toBeLessThanOrEqual(Math.floor(minutes / 60) + 1);
        expect(run(START + shift)).toEqual(pages);
      }),
    );
  });
});

describe("flap control", () => {
  it("lets two reopenings within the hour page, then asks for a pause that doubles", () => {
    let state = paged(CALM, START);
    const passed = [1, 2, 3, 4, 5].map((minute) => {
      const step = reopen(state, START + minute * MINUTE);
      state = step.state;
      return [step.gate.passed, step.gate.limit];
    });
    // The last page was at minute 2.
    expect(passed).toEqual([
      [true, 0],
      [true, 0],
      [false, 5],
      [false, 10],
      [false, 20],
    ]);
    expect(reopen(state, START + 41 * MINUTE).gate).toMatchObject({ value: 39, limit: 40, passed: false });
    expect(reopen(state, START + 42 * MINUTE).gate).toMatchObject({ value: 40, limit: 40, passed: true });
  });
  it("forgets after an hour: just before, at", () => {
    const state = { reopenedMs: [START, START, START], pagedMs: START };
    expect(reopen(state, START + 60 * MINUTE - 1).gate.limit).toBe(10);
    expect(reopen(state, START + 60 * MINUTE).gate.limit).toBe(0);
  });
  it("never pauses for more than an hour, and remembers a few reopenings", () => {
    let state = paged(CALM, START);
    for (let i = 0; i < 50; i++) {
      const step = reopen(state, START + i * MINUTE);
      expect(step.gate.limit).toBeLessThanOrEqual(60);
      state = step.state;
    }
    expect(state.reopenedMs.length).toBeLessThanOrEqual(8);
  });
});

describe("cascade", () => {
  const calls: readonly Call[] = [
    { caller: "web", callee: "checkout" },
    { caller: "checkout", callee: "payment" },
    { caller: "payment", callee: "database" },
    { caller: "search", callee: "index" },
  ];
  const onsets = (...list: [string, number][]): ServiceOnset[] => list.map(([serviceId, ms]) => ({ serviceId, onsetMs: START + ms }));
  it("takes three services joined by calls", () => {
    expect(findCascades(onsets(["web", 2], ["checkout", 1]), calls)).toEqual([]);
    const [cascade] = findCascades(onsets(["web", 2], ["checkout", 1], ["payment", 0]), calls);
    expect(cascade).toMatchObject({ root: "payment", members: ["payment", "checkout", "web"], firstOnsetMs: START, orderedShare: 1 });
    expect(findCascades(onsets(["web", 0], ["checkout", 1], ["search", 2]), calls)).toEqual([]);
    expect(findCascades(onsets(["web", 0], ["checkout", 1], ["database", 2]), calls)).toEqual([]);
  });
  it("within five minutes: just below, at, just above", () => {
    const members = (ms: number): number =>
      findCascades(onsets(["payment", 0], ["checkout", 1], ["web", ms]), calls)[0]?.members.length ?? 0;
    expect([300_000 - 1, 300_000, 300_000 + 1].map(members)).toEqual([3, 3, 0]);
  });
  it("takes in a service that fails anew, whatever of it is open since long before", () => {
    const old = onsets(["payment", -3_600_000], ["checkout", -1_800_000]);
    const [cascade] = findCascades([...old, ...onsets(["payment", 0], ["checkout", 1], ["web", 2])], calls);
    expect(cascade).toMatchObject({ members: ["payment", "checkout", "web"], firstOnsetMs: START });
  });
  it("goes to whom the others call, even if it was seen last", () => {
    const [cascade] = findCascades(onsets(["web", 0], ["checkout", 1000], ["payment", 2000], ["database", 3000]), calls);
    expect(cascade).toMatchObject({ root: "database", orderedShare: 0 });
  });
  it("puts each service into one, the larger first", () => {
    const more = [...calls, { caller: "feed", callee: "index" }];
    const all = onsets(["search", 0], ["index", 1], ["feed", 2], ["web", 3], ["checkout", 4], ["payment", 5], ["database", 6]);
    expect(findCascades(all, more).map(({ members }) => members)).toEqual([
      ["web", "checkout", "payment", "database"],
      ["search", "index", "feed"],
    ]);
  });
  it("counts a service with many episodes once, and a service that calls itself not as two", () => {
    const self = [{ caller: "web", callee: "web" }, ...calls];
    expect(findCascades(onsets(["web", 0], ["web", 5], ["checkout", 1], ["web", 9]), self)).toEqual([]);
  });
  it("finds the same whatever the order and the time, all members connected and near", () => {
    const names = fc.constantFrom("a", "b", "c", "d", "e", "f", "g");
    const onset = fc.tuple(names, fc.integer({ min: 0, max: 900_000 }));
    fc.assert(
      fc.property(
        fc.array(onset, { maxLength: 12 }),
        fc.array(fc.tuple(names, names), { maxLength: 10 }),
        fc.nat(1e9),
        (list, edges, shift) => {
          const graph: Call[] = edges.map(([caller, callee]) => ({ caller, callee }));
          const found = findCascades(onsets(...list.map(([name, ms]): [string, number] => [name, ms])), graph);
          const shifted = findCascades(onsets(...list.map(([name, ms]): [string, number] => [name, ms + shift])).reverse(), graph);
          expect(shifted.map(({ root, members }) => [root, members])).toEqual(found.map(({ root, members }) => [root, members]));
          for (const { members, gates } of found) {
            expect(gates.every((gate) => gate.passed)).toBe(true);
            expect(new Set(members).size).toBe(members.length);
            for (const member of members) {
              expect(
                graph.some(
                  ({ caller, callee }) =>
                    caller !== callee && [caller, callee].includes(member) && members.includes(caller) && members.includes(callee),
                ),
              ).toBe(true);
            }
          }
        },
      ),
    );
  });
});

describe("rule 1.1.12: dead-man's switch", () => {
  it("pings once for each tick, and not without one", () => {
    const first = deadManStep(UNPINGED, 1);
    expect(first.ping).toBe(true);
    const idle = pingEnded(first.state);
    // The process lives and asks; the evaluation stands still.
    for (let i = 0; i < 100; i++) expect(deadManStep(idle, 1).ping).toBe(false);
    expect(deadManStep(idle, 2).ping).toBe(true);
    expect(deadManStep(UNPINGED, 0).ping).toBe(false);
  });
  it("sends one at a time, and after a slow one tells of the newest tick", () => {
    const first = deadManStep(UNPINGED, 1);
    expect(deadManStep(first.state, 2).ping).toBe(false);
    expect(deadManStep(pingEnded(first.state), 4)).toMatchObject({ ping: true, state: { pingedTick: 4 } });
  });
  it("never pings oftener than ticks end", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom("tick", "ask", "end"), { maxLength: 100 }), (events) => {
        let state = UNPINGED;
        let ticks = 0;
        let pings = 0;
        for (const event of events) {
          if (event === "tick") ticks++;
          if (event === "end") state = pingEnded(state);
          if (event !== "ask") continue;
          const step = deadManStep(state, ticks);
          state = step.state;
          if (step.ping) pings++;
        }
        expect(pings).toBeLessThanOrEqual(ticks);
      }),
    );
  });
});
