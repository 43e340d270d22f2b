// Rows of alerts and of the ledger: those of the version before are read, and damage is an error.
import { describe, expect, it } from "vitest";
import { ledgerRowId } from "../../src/actors/coordinator/alerts/ledger-book.ts";
import { decodeAlert, encodeAlert } from "../../src/actors/coordinator/alerts/rows/alert-row.ts";
import { decodeDecision, encodeDecision } from "../../src/actors/coordinator/alerts/rows/decision-row.ts";
import { encodeStored } from "../../src/actors/coordinator/state/stored-json.ts";
import type { Alert } from "../../src/domain/alerting/paging/alert.ts";
import type { PageDecision } from "../../src/domain/alerting/paging/page-decision.ts";
import { anomalyScore } from "../../src/domain/detection/anomaly-score.ts";

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
  updatedAtMs: 8,
  history: [
    { atMs: 1, kind: "opened", tier: "medium", by: null, note: null },
    { atMs: 7, kind: "acknowledged", tier: "high", by: "ada", note: "seen" },
  ],
};
const FIRST_ALERT = [
  [ID, "default", "prod", "checkout", "metric", 1, 2, 3, "high", null, [4, 5], 6],
  ALERT.labels,
  [ID, "checkout", "errors", "z_score", -7.5, "worse"],
  [
    [ID, "errors"],
    ["a name of another kind", "latency", "cart"],
  ],
  [300, 2, 1],
  ["checkout", "cart"],
  "silenced",
  { by: "ada", note: null, atMs: 7 },
  "bob",
  8,
  [
    [1, "opened", "medium", null, null],
    [7, "acknowledged", "high", "ada", "seen"],
  ],
];
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
const FIRST_DECISION = [
  ...[1, "default", "prod", "checkout", "errors", "z_score", ID, null, "low", 1.5, "logged", "tier", "a little"],
  ["exclusion", ["tier", 0, 0, 1]],
  ["rca_cooldown", 1, null, 15],
];

const PLACE = { tenant: DECISION.tenant, timeMs: DECISION.atMs, id: ledgerRowId(ID, 3) };
/** As the program of that version wrote it. */
const SECOND_DECISION =
  "02000000000000f03f0764656661756c740470726f6408636865636b6f7574066572726f727301010123456789abcdef0123456789abcdef00000000" +
  "00000000f83f0301150861206c6974746c65020f0215000000000000000000000000000000f03f011d01000000000000f07f0000000000002e40";

describe("a row of a version before", () => {
  it("gives its alert, and is written as the new one", () => {
    const read = decodeAlert(encodeStored(FIRST_ALERT));
    expect(read).toEqual(ALERT);
    expect(decodeAlert(encodeAlert(read))).toEqual(ALERT);
  });

  it("gives its decision, and is written as the new one", () => {
    for (const stored of [encodeStored(FIRST_DECISION), Buffer.from(SECOND_DECISION, "hex")]) {
      const read = decodeDecision(stored, PLACE);
      expect(read).toEqual(DECISION);
      expect(decodeDecision(encodeDecision(read, PLACE.id), PLACE)).toEqual(DECISION);
    }
  });
});

describe("members that grow", () => {
  const member = (i: number) => ({
    anomalyId: String(i).padStart(32, "0"),
    serviceId: i % 3 === 0 ? "cart" : "checkout",
    metricName: `m${i}`,
  });
  const alert = (id: string, members: Alert["members"]): Alert => ({ ...ALERT, state: { ...ALERT.state, id }, members });

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
    expect(() => decode(Uint8Array.of(9, ...row.slice(1)))).toThrow("version 9");
  });
});
