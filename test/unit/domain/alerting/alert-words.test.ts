// What alerts and messages say of holds and ends.
import { describe, expect, it } from "vitest";
import { endText } from "../../../../src/domain/alerting/paging/end-text.ts";
import { holdName, holdText } from "../../../../src/domain/alerting/paging/hold-text.ts";
import { decidedMessages } from "../../../../src/domain/notification/decided-messages.ts";
import { PagingRig, PAGING_START_MS as START } from "../../../support/paging-rig.ts";

describe("how something ended", () => {
  const recovered = { reason: "recovered", person: null } as const;
  it.each([
    ["z_score", /values are what they were/],
    ["adaptive", /values are what they were/],
    ["stale", /it sends again/],
    ["saturation", /does not run full/],
    ["slo_burn", /budget/],
    ["cascade", /together/],
  ])("is said of what the detector looks at: %s", (detector, words) => {
    expect(endText(recovered, { detector })).toMatch(words);
    expect(endText(recovered, { detector })).toMatch(/^recovered: /);
  });
});

describe("what holds a page", () => {
  it("says until when, whatever holds it", () => {
    for (const gate of ["group_wait", "confirmation", "inhibited", "silenced", "flapping", "warmup", "minimum_traffic", "exclusion"])
      expect(holdText(gate, null), gate).toMatch(/^until /);
    expect(holdText("direction", null)).toBeNull();
  });
  it("has a name that follows 'held by'", () => {
    expect(["warmup", "silenced", "inhibited", "confirmation"].map(holdName)).toEqual([
      "the warm-up",
      "a silence",
      "an inhibition",
      "confirmation",
    ]);
  });
});

describe("a repeat", () => {
  it("says that it still fires, also where it became worse before", () => {
    const rig = new PagingRig({ repeatMs: 3_600_000 });
    const first = rig.fire({ z: 9 });
    const alert = () => rig.memory.alert(first.alertId as string) ?? expect.unreachable();
    const repeated = (atMs: number) => {
      const before = alert();
      rig.again(atMs);
      return decidedMessages({ before, after: alert(), renews: false }, { team: null, publicUrl: null }).map(({ kind }) => kind);
    };
    expect(repeated(START + 3_600_000)).toEqual(["renewed"]);
    rig.fire({ z: 12, anomalyId: first.anomalyId, alertId: first.alertId, kind: "raised", tierBefore: "high", atMs: START + 4_000_000 });
    expect(repeated(START + 7_200_000)).toEqual(["renewed"]);
  });
});

describe("since when it fires", () => {
  it("is the begin of the episode at hand, where it fires again after its end", () => {
    const rig = new PagingRig();
    const first = rig.fire();
    rig.end(first, START + 60_000);
    const before = rig.memory.alert(first.alertId as string);
    const again = rig.fire({ atMs: START + 1_800_000 });
    const after = rig.memory.alert(first.alertId as string) ?? expect.unreachable();
    expect(again.alertId).toBe(first.alertId);
    const [message] = decidedMessages({ before, after, renews: false }, { team: null, publicUrl: null });
    expect(message).toMatchObject({ kind: "reopened", startedAtMs: START + 1_800_000 });
  });
});
