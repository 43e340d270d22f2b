// What is said of an anomaly follows its alert, and only where a gate that may let go has held it back.
import { expect, it } from "vitest";
import type { Alert } from "../../../../src/domain/alerting/paging/alert.ts";
import { followsAlert, outcomeNow } from "../../../../src/domain/alerting/paging/outcome-now.ts";
import type { AnomalyPaging } from "../../../../src/domain/anomaly/anomaly.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

const paging = (change: Partial<AnomalyPaging> = {}): AnomalyPaging => ({
  tier: "high",
  alertId: "a",
  outcome: "suppressed",
  suppressedBy: "confirmation",
  decidedAtMs: START,
  serial: 0,
  ...change,
});

const base = (() => {
  const rig = new PagingRig();
  return rig.memory.alert(rig.fire().alertId as string) as Alert;
})();
const alert = (change: Partial<Alert>): Alert => ({ ...base, ...change });
const page = (atMs: number) => [{ atMs, kind: "paged", tier: "high", by: null, note: null } as const];
const now = (of: Partial<AnomalyPaging>, change: Partial<Alert>) => {
  const { outcome, suppressedBy } = outcomeNow(paging(of), alert(change));
  return [outcome, suppressedBy];
};

it("is paged by a page at or after its decision, absorbed by one before it that people still know all of", () => {
  expect([-1, 0, 1].map((ms) => now({}, { history: page(START + ms), pages: 1, heldBy: null }))).toEqual([
    ["absorbed", "dedup"],
    ["paged", null],
    ["paged", null],
  ]);
});

it("is held by what holds its alert now, or held it to its end", () => {
  for (const suppressedBy of ["confirmation", "silenced", "inhibited", "flapping"])
    expect(now({ suppressedBy }, { history: page(START - 1), pages: 1, heldBy: "inhibited" })).toEqual(["suppressed", "inhibited"]);
});

it("is told with its alert where only its rise waits, for what opens by itself", () => {
  for (const suppressedBy of ["exclusion", "warmup", "minimum_traffic"])
    expect(now({ suppressedBy }, { history: page(START - 1), pages: 1, heldBy: null })).toEqual(["absorbed", "dedup"]);
});

it("stays as it was decided where the alert is gone, was acknowledged unheard, or has nothing to do with it", () => {
  const reported = { history: page(START), pages: 1, heldBy: null };
  expect(outcomeNow(paging(), undefined)).toMatchObject({ outcome: "suppressed", suppressedBy: "confirmation" });
  expect(now({}, { history: [], pages: 0, heldBy: null })).toEqual(["suppressed", "confirmation"]);
  for (const suppressedBy of ["threshold", "direction", "feedback", "acknowledged"])
    expect(now({ suppressedBy }, reported)).toEqual(["suppressed", suppressedBy]);
  expect(now({ outcome: "logged", suppressedBy: "tier" }, reported)).toEqual(["logged", "tier"]);
  expect(followsAlert(paging({ alertId: null }))).toBe(false);
});
