// Rows of alerts and of the ledger: other versions and damage are errors.
import { describe, expect, it } from "vitest";
import type { Alert } from "../../../../src/domain/alerting/paging/alert.ts";
import type { PageDecision } from "../../../../src/domain/alerting/paging/page-decision.ts";
import { anomalyScore } from "../../../../src/domain/detection/anomaly-score.ts";
import { ledgerRowId } from "../../../../src/modules/alerts/ledger-book.ts";
import { decodeAlert, encodeAlert } from "../../../../src/modules/alerts/rows/alert-row.ts";
import { decodeDecision, encodeDecision } from "../../../../src/modules/alerts/rows/decision-row.ts";

const ID = "0123456789abcdef".repeat(2);
const ALERT: Alert = {
  state: {
    id: ID,
    key: { tenant: "default", environment: "prod", serviceId: "checkout", family: "metric" },
    createdAtMs: 1,
    lastFireMs: 2,
    fires: 3,
    tier: "high",
    resolvedAtMs: null,
    flap: { reopenedMs: [4, 5], pagedMs: 6 },
  },
  labels: { service_id: "checkout", path: "/é" },
  peak: { anomalyId: ID, serviceId: "checkout", metricName: "errors", detector: "z_score", z: -7.5, explanation: "worse" },
  members: [
    { anomalyId: ID, serviceId: "checkout", metricName: "errors" },
    { anomalyId: "a name of another kind", serviceId: "cart", metricName: "latency" },
  ],
  anomalies: 300,
  open: 2,
  services: ["checkout", "cart"],
  pages: 1,
  heldBy: "silenced",
  acknowledged: { by: "ada", note: null, atMs: 7 },
  assignee: "bob",
  snooze: { untilMs: 9, by: "ada", note: "later", atMs: 8 },
  ending: { reason: "person", person: "ada" },
  mergedInto: "fedcba9876543210".repeat(2),
  notifiedEffects: [{ metricName: "errors", doublings: 2.5 }],
  updatedAtMs: 8,
  history: [
    { atMs: 1, kind: "opened", tier: "medium", by: null, note: null },
    { atMs: 7, kind: "acknowledged", tier: "high", by: "ada", note: "seen" },
  ],
};
const DECISION: PageDecision = {
  atMs: 1,
  tenant: "default",
  environment: "prod",
  serviceId: "checkout",
  metricName: "errors",
  detector: "z_score",
  family: "metric",
  anomalyId: ID,
  alertId: null,
  tier: "low",
  score: anomalyScore(1.5),
  z: 1.5,
  outcome: "logged",
  suppressedBy: "tier",
  gates: [
    { name: "exclusion", passed: true, value: 1, limit: 1 },
    { name: "tier", passed: false, value: 0, limit: 1 },
  ],
  rca: { name: "rca_cooldown", passed: true, value: Number.POSITIVE_INFINITY, limit: 15 },
  explanation: "a little",
};

const PLACE = { tenant: DECISION.tenant, timeMs: DECISION.atMs, id: ledgerRowId(ID, 3) };

describe("a row of another version", () => {
  it("is named, and not read", () => {
    expect(() => decodeAlert(Uint8Array.of(1, 0x5b))).toThrow(
      "table alerts has a format that this program does not know: its version is 1",
    );
    expect(() => decodeDecision(Uint8Array.of(2, 0), PLACE)).toThrow(
      "table ledger has a format that this program does not know: its version is 2",
    );
  });
});

describe("a row that an earlier version has packed", () => {
  /** The alert above as version 3 has stored it. */
  const PACKED = Buffer.from(
    "AwEBI0VniavN7wEjRWeJq83vB2RlZmF1bHQEcHJvZAhjaGVja291dAZtZXRyaWMAAAAAAADwPwAAAAAAAABAAwIAAgAAAAAAABBAAAAAAAAAFEABAAAAAAAAGEACCnNlcnZpY2VfaWQIY2hlY2tvdXQEcGF0aAMvw6kBASNFZ4mrze8BI0VniavN7whjaGVja291dAZlcnJvcnMBAAAAAAAAHsAFd29yc2UCAQEjRWeJq83vASNFZ4mrze8GZXJyb3JzAAAWYSBuYW1lIG9mIGFub3RoZXIga2luZAdsYXRlbmN5AQRjYXJ0rAICAQIIY2hlY2tvdXQEY2FydAEYAQNhZGEAAAAAAAAAHEABA2JvYgAAAAAAACBAAgAAAAAAAPA/AAEAAAAAAAAAABxABAIBA2FkYQEEc2VlbgEgZmVkY2JhOTg3NjU0MzIxMGZlZGNiYTk4NzY1NDMyMTA=",
    "base64",
  );
  const { notifiedEffects: _, ...KNOWN_THEN } = ALERT;
  const BEFORE = { ...KNOWN_THEN, snooze: null, ending: null };

  it("is read as it was", () => {
    expect(decodeAlert(PACKED)).toEqual(BEFORE);
  });

  it("of before alerts closed into each other is read as one that has not", () => {
    const unmerged = Uint8Array.from([2, ...PACKED.subarray(1, PACKED.length - 1 - 33)]);
    expect(decodeAlert(unmerged)).toEqual({ ...BEFORE, mergedInto: null });
  });

  it("that was cut off is an error", () => {
    for (let length = 1; length < PACKED.length; length++) expect(() => decodeAlert(PACKED.subarray(0, length))).toThrow("damaged");
  });
});

describe("members that grow", () => {
  const member = (i: number) => ({
    anomalyId: String(i).padStart(32, "0"),
    serviceId: i % 3 === 0 ? "cart" : "checkout",
    metricName: `m${i}`,
  });
  const alert = (id: string, members: Alert["members"]): Alert => ({ ...ALERT, state: { ...ALERT.state, id }, members });

  it("keeps of an update which metric it is about", () => {
    const change = { atMs: 8, kind: "member_ended", tier: "high", by: null, note: "errors ended", metricName: "errors" } as const;
    expect(decodeAlert(encodeAlert({ ...ALERT, history: [...ALERT.history, change] })).history).toEqual([...ALERT.history, change]);
  });

  it("are all there after each, also where other alerts grow between", () => {
    let members: Alert["members"] = [];
    for (let i = 0; i < 50; i++) {
      members = [...members, member(i)];
      for (const id of ["a".repeat(32), "b".repeat(32)]) expect(decodeAlert(encodeAlert(alert(id, members))).members).toEqual(members);
    }
  });

  it("are written anew where the alert was read from the store, or is another one of that id", () => {
    const id = "c".repeat(32);
    const members = [member(1), member(2), member(3)];
    encodeAlert(alert(id, members));
    for (const others of [members.map((one) => ({ ...one, metricName: "other" })), members.slice(0, 2), [], [members[0], member(9)]]) {
      const changed = alert(id, others as Alert["members"]);
      expect(decodeAlert(encodeAlert(changed)).members).toEqual(others);
    }
  });
});

describe("a row", () => {
  const ROWS: ReadonlyArray<readonly [string, Uint8Array, (bytes: Uint8Array) => unknown]> = [
    ["of an alert", encodeAlert(ALERT), decodeAlert],
    ["of a decision", encodeDecision(DECISION, PLACE.id), (bytes) => decodeDecision(bytes, PLACE)],
  ];

  it.each(ROWS)("%s that was cut off anywhere is an error", (_, row, decode) => {
    for (let length = 1; length < row.length; length++) expect(() => decode(row.slice(0, length)), String(length)).toThrow("damaged");
  });

  it.each(ROWS)("%s of an unknown version is refused", (_, row, decode) => {
    expect(() => decode(Uint8Array.of(9, ...row.slice(1)))).toThrow("its version is 9");
  });
});
