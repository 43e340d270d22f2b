// Alerts and decisions as stored values: fields in a fixed order without their names. Numbers that JSON has no word for (never before: infinitely long ago)
// are null there.
import type { Alert } from "../../../domain/alerting/paging/alert.ts";
import type { PageDecision } from "../../../domain/alerting/paging/page-decision.ts";
import { anomalyScore } from "../../../domain/detection/anomaly-score.ts";
import type { GateResult } from "../../../domain/detection/gates/gate-result.ts";
import { decodeStored, encodeStored } from "../tables/stored-json.ts";

/** Parts of the format. */
const ALERT_FIELDS = [
  "state",
  "labels",
  "peak",
  "members",
  "anomalies",
  "open",
  "services",
  "pages",
  "heldBy",
  "acknowledged",
  "assignee",
  "updatedAtMs",
  "history",
] as const satisfies ReadonlyArray<keyof Alert>;
const DECISION_FIELDS = [
  "atMs",
  "tenant",
  "environment",
  "serviceId",
  "metricName",
  "detector",
  "family",
  "anomalyId",
  "alertId",
  "tier",
  "z",
  "outcome",
  "suppressedBy",
  "explanation",
] as const satisfies ReadonlyArray<keyof PageDecision>;

type StoredGate = readonly [name: string, passed: 0 | 1, value: number | null, limit: number | null];

export function encodeAlert(alert: Alert): Uint8Array {
  return encodeStored(ALERT_FIELDS.map((field) => alert[field]));
}

/** Throws on another version. */
export function decodeAlert(bytes: Uint8Array): Alert {
  const values = decodeStored<unknown[]>(bytes);
  return Object.fromEntries(ALERT_FIELDS.map((field, i) => [field, values[i]])) as unknown as Alert;
}

/** A row of the ledger. */
export function encodeDecision(decision: PageDecision): Uint8Array {
  const gates = decision.gates.map(storedGate);
  const rca = decision.rca === null ? null : storedGate(decision.rca);
  return encodeStored([...DECISION_FIELDS.map((field) => decision[field]), gates, rca]);
}

/** Throws on another version. */
export function decodeDecision(bytes: Uint8Array): PageDecision {
  const values = decodeStored<unknown[]>(bytes);
  const fields = Object.fromEntries(DECISION_FIELDS.map((field, i) => [field, values[i]])) as unknown as PageDecision;
  const [gates, rca] = values.slice(DECISION_FIELDS.length) as [StoredGate[], StoredGate | null];
  return { ...fields, score: anomalyScore(fields.z), gates: gates.map(gateOf), rca: rca === null ? null : gateOf(rca) };
}

function storedGate({ name, passed, value, limit }: GateResult): StoredGate {
  return [name, passed ? 1 : 0, value, limit];
}

function gateOf([name, passed, value, limit]: StoredGate): GateResult {
  return { name, passed: passed === 1, value: value ?? Number.POSITIVE_INFINITY, limit: limit ?? Number.POSITIVE_INFINITY };
}
