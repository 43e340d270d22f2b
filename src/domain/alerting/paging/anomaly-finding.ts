// An anomaly as the pipeline to a page is asked about it.

import type { Anomaly } from "../../anomaly/anomaly.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import { LONG_BASELINE_GATE, OWN_TAIL_GATE } from "../../detection/departure/own-tail.ts";
import type { Finding } from "./finding.ts";

/** State that the last decision on it has left. */
export interface DecidedBefore {
  /** That it belongs to already. */
  readonly alertId: string | null;
  readonly tier: Tier;
}

export function findingOf(anomaly: Anomaly, kind: Finding["kind"], before: DecidedBefore | null, atMs: number): Finding {
  const { tenant, environment, serviceId, metricName, attributes, detector, z, explanation } = anomaly;
  const verdict = anomaly.verdict as {
    readonly threshold?: unknown;
    readonly baseline?: { readonly n?: unknown };
    readonly gates?: unknown;
  } | null;
  const gates = Array.isArray(verdict?.gates)
    ? (verdict.gates as ReadonlyArray<{ readonly name?: unknown; readonly passed?: unknown }>)
    : [];
  const isNamed = (gate: string) => gates.some(({ name, passed }) => name === gate && passed === true);
  const services = detector === "cascade" && Array.isArray(attributes.members) ? attributes.members.map(String) : [];
  return {
    kind,
    tenant,
    environment,
    serviceId,
    metricName,
    attributes,
    anomalyId: anomaly.id,
    detector,
    operation: gates.some(({ name }) => name === "operation_bar"),
    isRare: isNamed(OWN_TAIL_GATE),
    hasLongBaseline: isNamed(LONG_BASELINE_GATE),
    z,
    threshold: typeof verdict?.threshold === "number" ? verdict.threshold : 0,
    baselineValues: typeof verdict?.baseline?.n === "number" ? verdict.baseline.n : 0,
    services,
    explanation,
    alertId: before?.alertId ?? null,
    tierBefore: before?.tier ?? null,
    firedAtMs: kind === "raised" ? anomaly.detectedAtMs : atMs,
    atMs,
  };
}
