// What a finding itself must pass before its alert is looked at: first what people have decided, then the rules of its statistics. The first gate that fails ends it.

import { maturityOf, thresholdFor } from "../../detection/gates/baseline-maturity.ts";
import { type Direction, directionGate } from "../../detection/gates/direction.ts";
import { above, atLeast, type GateResult, holds } from "../../detection/gates/gate-result.ts";
import { warmUpGate } from "../../detection/gates/warm-up.ts";
import { operationBar } from "../../detection/thresholds.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import { nameTerms } from "../../series/metric-family.ts";
import type { DetectorFamily } from "../ensemble.ts";
import { signalOfDetector } from "./detector-family.ts";
import type { Finding } from "./finding.ts";
import type { PagingSources } from "./paging-sources.ts";

/** Ratios and latencies, which few requests make jump. */
const TRAFFIC_TERMS = new Set(
  "error errors failure failures failed ratio rate latency latencies duration durations success availability apdex p50 p90 p95 p99".split(
    " ",
  ),
);

/** A finding on its way. */
export interface FindingCase {
  readonly finding: Finding;
  readonly family: DetectorFamily;
  /** In force for its pair. */
  readonly settings: WatchdogSettings;
  readonly sources: PagingSources;
  /** Gates asked so far. */
  readonly gates: GateResult[];
}

/** Asks the gates in their order; true where all have passed. */
export function passesFindingGates({ finding, family, settings, sources, gates }: FindingCase): boolean {
  // What people declare, and what an Alertmanager sends, has been decided already.
  if (family === "manual" || family === "external") return ask(gates, holds("manual_override", true));
  if (!ask(gates, holds("exclusion", !settings.excluded))) return false;
  if (family === "metric" && !ask(gates, directionGate(finding.z, finding.metricName, directionOf(settings)))) return false;
  const signal = signalOfDetector(finding.detector, finding.operation);
  if (!ask(gates, warmUpGate(signal, sources.startedAtMs, finding.atMs, sources.warmUpMinutes))) return false;
  const isStatistical = family === "metric" || family === "multivariate";
  if (isStatistical && !ask(gates, thresholdGate(finding, family, settings, sources))) return false;
  const requests = hasTraffic(finding, family, settings)
    ? sources.requestsInCycle(finding.tenant, finding.environment, finding.serviceId)
    : undefined;
  return requests === undefined || ask(gates, atLeast("minimum_traffic", requests, settings.minimumTraffic));
}

/**
 * |z| against the threshold of the service, as its maturity and what people said of it move it; named `feedback` where they said something. Detectors with a
 * bar of their own keep it, and it moves by the same factor.
 */
function thresholdGate(finding: Finding, family: DetectorFamily, settings: WatchdogSettings, sources: PagingSources): GateResult {
  const { tenant, serviceId, detector, operation, atMs } = finding;
  const firstSeenMs = sources.firstSeenMs(tenant, serviceId);
  const maturity = firstSeenMs === undefined ? "mature" : maturityOf(firstSeenMs, atMs);
  const factor = sources.feedbackFactor(tenant, serviceId, family, atMs);
  const threshold = thresholdFor(maturity, settings.zThreshold) * factor;
  const isOfWindow = detector === "z_score";
  const own = isOfWindow ? threshold : (finding.threshold * threshold) / settings.zThreshold;
  return above(factor === 1 ? "threshold" : "feedback", Math.abs(finding.z), isOfWindow && operation ? operationBar(threshold) : own);
}

function hasTraffic({ metricName }: Finding, family: DetectorFamily, { minimumTraffic }: WatchdogSettings): boolean {
  return minimumTraffic > 0 && family === "metric" && nameTerms(metricName).some((word) => TRAFFIC_TERMS.has(word));
}

function directionOf({ direction }: WatchdogSettings): Direction | null {
  return direction === "both" ? null : direction;
}

function ask(gates: GateResult[], gate: GateResult): boolean {
  gates.push(gate);
  return gate.passed;
}
