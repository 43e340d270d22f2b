import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Labels, NO_LABELS } from "../../../../src/domain/promql/labels/labels.ts";
import { CompiledAlertingRule, type RuleAlerts } from "../../../../src/domain/rules/evaluation/alerting-evaluation.ts";

const MINUTE_MS = 60_000;

/** Whether an alert fires at each minute, told anew from which minutes its query answered it. */
function firingMinutes(seen: readonly boolean[], holdMinutes: number, keepMinutes: number): boolean[] {
  let since: number | undefined;
  let missing: number | undefined;
  let isFiring = false;
  return seen.map((isSeen, minute) => {
    if (isSeen) {
      since ??= minute;
      missing = undefined;
      isFiring ||= minute - since >= holdMinutes;
    } else {
      missing ??= minute;
      if (!isFiring || minute - missing >= keepMinutes) [since, missing, isFiring] = [undefined, undefined, false];
    }
    return isFiring;
  });
}

const courses = fc.array(fc.record({ a: fc.boolean(), b: fc.boolean() }), { maxLength: 60 });
const minutes = fc.integer({ min: 0, max: 6 });

describe("an alerting rule", () => {
  it("fires each alert by itself, after its time and as long as it keeps on", () => {
    fc.assert(
      fc.property(courses, minutes, minutes, (course, hold, keep) => {
        const rule = new CompiledAlertingRule({
          kind: "alerting",
          name: "A",
          expression: "x",
          labels: NO_LABELS,
          annotations: NO_LABELS,
          holdMs: hold * MINUTE_MS,
          keepFiringMs: keep * MINUTE_MS,
        });
        let alerts: RuleAlerts = new Map();
        const firing: Record<"a" | "b", boolean[]> = { a: [], b: [] };
        for (const [minute, seen] of course.entries()) {
          const names = (["a", "b"] as const).filter((name) => seen[name]);
          const samples = names.map((name) => ({ labels: Labels.of([["name", name]]), value: minute }));
          const outcome = rule.evaluate(samples, alerts, {
            timeMs: minute * MINUTE_MS,
            queryOffsetMs: 0,
            limit: 0,
            externalLabels: NO_LABELS,
            isRestored: true,
            world: { nowMs: 0, externalUrl: "", query: () => [] },
          });
          alerts = outcome.alerts;
          const active = [...alerts.values()].filter(({ state }) => state !== "inactive");
          expect(outcome.samples).toHaveLength(active.length * 2);
          for (const name of ["a", "b"] as const) {
            firing[name].push(active.some(({ labels, state }) => labels.get("name") === name && state === "firing"));
          }
        }
        for (const name of ["a", "b"] as const) {
          expect(firing[name]).toEqual(
            firingMinutes(
              course.map((seen) => seen[name]),
              hold,
              keep,
            ),
          );
        }
      }),
    );
  });
});
