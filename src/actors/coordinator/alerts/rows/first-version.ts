// Alerts and decisions as they were stored before they were packed, read only: JSON of values in a fixed order without their names, and without what the others
// give again. Numbers that JSON has no word for (never before: infinitely long ago) are null there.
import type { Alert, AlertChange, AlertMember } from "../../../../domain/alerting/paging/alert.ts";
import { familyOfDetector } from "../../../../domain/alerting/paging/detector-family.ts";
import type { PageDecision } from "../../../../domain/alerting/paging/page-decision.ts";
import { anomalyScore } from "../../../../domain/detection/anomaly-score.ts";
import type { GateResult } from "../../../../domain/detection/gates/gate-result.ts";
import { decodeStored } from "../../state/stored-json.ts";

/** Part of the format. */
const DECISION_FIELDS = [
  "atMs",
  "tenant",
  "environment",
  "serviceId",
  "metricName",
  "detector",
  "anomalyId",
  "alertId",
  "tier",
  "z",
  "outcome",
  "suppressedBy",
  "explanation",
] as const satisfies ReadonlyArray<keyof PageDecision>;

/** A condition that held, which is most of them, is its name alone. */
type StoredGate = string | readonly [name: string, passed: 0 | 1, value: number | null, limit: number | null];
/** The service is left out where it is the alert's. */
type StoredMember = readonly [anomalyId: string, metricName: string, serviceId?: string];
type StoredChange = readonly [atMs: number, kind: AlertChange["kind"], tier: AlertChange["tier"], by: string | null, note: string | null];
type StoredAlert = readonly [
  state: readonly unknown[],
  labels: Alert["labels"],
  peak: readonly unknown[],
  members: readonly StoredMember[],
  counts: readonly [anomalies: number, open: number, pages: number],
  services: Alert["services"],
  heldBy: Alert["heldBy"],
  acknowledged: Alert["acknowledged"],
  assignee: Alert["assignee"],
  updatedAtMs: number,
  history: readonly StoredChange[],
];

/** Place of the service in the stored state. */
const KEY_SERVICE = 3;

/** Throws on another version. */
export function decodeFirstAlert(bytes: Uint8Array): Alert {
  const [state, labels, peak, members, counts, services, heldBy, acknowledged, assignee, updatedAtMs, history] =
    decodeStored<StoredAlert>(bytes);
  const [anomalies, open, pages] = counts;
  return {
    state: stateOf(state),
    labels,
    peak: peakOf(peak),
    members: members.map(
      ([anomalyId, metricName, serviceId = state[KEY_SERVICE] as string]): AlertMember => ({ anomalyId, serviceId, metricName }),
    ),
    anomalies,
    open,
    services,
    pages,
    heldBy,
    acknowledged,
    assignee,
    updatedAtMs,
    history: history.map(([atMs, kind, tier, by, note]): AlertChange => ({ atMs, kind, tier, by, note })),
  };
}

function stateOf(values: readonly unknown[]): Alert["state"] {
  const [id, tenant, environment, serviceId, family, createdAtMs, lastFireMs, fires, tier, resolvedAtMs, reopenedMs, pagedMs] = values;
  const key = { tenant, environment, serviceId, family };
  return { id, key, createdAtMs, lastFireMs, fires, tier, resolvedAtMs, flap: { reopenedMs, pagedMs } } as Alert["state"];
}

function peakOf([anomalyId, serviceId, metricName, detector, z, explanation]: readonly unknown[]): Alert["peak"] {
  return { anomalyId, serviceId, metricName, detector, z, explanation } as Alert["peak"];
}

/** Throws on another version. */
export function decodeFirstDecision(bytes: Uint8Array): PageDecision {
  const values = decodeStored<unknown[]>(bytes);
  const fields = Object.fromEntries(DECISION_FIELDS.map((field, i) => [field, values[i]])) as unknown as PageDecision;
  const [gates, rca] = values.slice(DECISION_FIELDS.length) as [StoredGate[], StoredGate | null];
  const family = familyOfDetector(fields.detector);
  return { ...fields, family, score: anomalyScore(fields.z), gates: gates.map(gateOf), rca: rca === null ? null : gateOf(rca) };
}

function gateOf(gate: StoredGate): GateResult {
  if (typeof gate === "string") return { name: gate, passed: true, value: 1, limit: 1 };
  const [name, passed, value, limit] = gate;
  return { name, passed: passed === 1, value: value ?? Number.POSITIVE_INFINITY, limit: limit ?? Number.POSITIVE_INFINITY };
}
