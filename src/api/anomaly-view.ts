// An anomaly as clients see it (contract 2.3), in lists, alone and in the event stream.
import { formatRfc3339 } from "../core/time/rfc3339.ts";
import type { Alert } from "../domain/alerting/paging/alert.ts";
import { outcomeNow } from "../domain/alerting/paging/outcome-now.ts";
import { type Anomaly, endOfAnomaly } from "../domain/anomaly/anomaly.ts";
import { endingOf } from "../domain/anomaly/ending.ts";
import { explanationOf } from "../domain/anomaly/sentence.ts";
import { anomalyScore, tierOfScore } from "../domain/detection/anomaly-score.ts";
import { AGGREGATE_ATTRIBUTE } from "../domain/detection/pair/pair-aggregate.ts";
import { DETECTORS_OF_PAIRS } from "../domain/detection/pair/pair-verdict.ts";
import type { Verdict } from "../domain/detection/verdict.ts";

/** The object that leaves the server. `alert` is the one that it belongs to, where what is said of it depends on that; `streams` is the number of member streams. */
export function anomalyView(anomaly: Anomaly, alert: Alert | undefined) {
  const now = anomaly.paging === null ? null : outcomeNow(anomaly.paging, alert);
  const score = anomalyScore(anomaly.z);
  const ending = anomaly.resolvedBy === null ? null : endingOf(anomaly.resolvedBy, anomaly.level);
  return {
    anomaly_id: anomaly.id,
    service_id: anomaly.serviceId,
    metric_name: anomaly.metricName,
    anomaly_score: score,
    z_score: anomaly.z,
    detected_at: formatRfc3339(anomaly.detectedAtMs),
    rca_triggered: anomaly.paging?.rcaTriggered === true,
    resolved: anomaly.resolvedAtMs !== null,
    severity: anomaly.paging?.tier ?? tierOfScore(score),
    environment: anomaly.environment,
    attributes: anomaly.attributes,
    series: seriesOf(anomaly),
    observed_at: formatRfc3339(anomaly.observedAtMs),
    started_at: formatRfc3339(anomaly.startedAtMs),
    resolved_at: timeOrNull(endOfAnomaly(anomaly)),
    resolved_by: ending?.reason ?? null,
    resolved_by_name: ending?.person ?? null,
    accepted_level: ending?.level ?? null,
    direction: anomaly.direction,
    detector: anomaly.detector,
    explanation: explanationOf(anomaly),
    verdict: anomaly.verdict,
    streams: anomaly.streams,
    alert_id: anomaly.paging?.alertId ?? null,
    outcome: now?.outcome ?? null,
    suppressed_by: now?.suppressedBy ?? null,
    feedback: anomaly.feedback?.opinion ?? null,
  };
}

function timeOrNull(atMs: number | null): string | null {
  return atMs === null ? null : formatRfc3339(atMs);
}

/** An anomaly beside the values that it is of: what a chart draws. */
export function anomalyMark(anomaly: Anomaly) {
  const { verdict } = anomaly;
  const { observed = null, expected = null, lower = null, upper = null } = (verdict ?? {}) as Partial<Verdict>;
  return {
    anomaly_id: anomaly.id,
    detector: anomaly.detector,
    severity: anomaly.paging?.tier ?? tierOfScore(anomalyScore(anomaly.z)),
    direction: anomaly.direction,
    attributes: anomaly.attributes,
    started_at: formatRfc3339(anomaly.startedAtMs),
    observed_at: formatRfc3339(anomaly.observedAtMs),
    resolved_at: timeOrNull(endOfAnomaly(anomaly)),
    observed,
    expected,
    lower,
    upper,
  };
}

/** Detectors that judge stored series: each its own, or what a metric of an instance comes to. */
const OF_STREAM: ReadonlySet<string> = new Set(DETECTORS_OF_PAIRS);
const OF_METRIC: ReadonlySet<string> = new Set(["saturation"]);

/** The stored series that it is of; attributes are null where it is of several of the metric's. */
export function seriesOf({ serviceId, metricName, environment, attributes, detector }: Anomaly) {
  const isOfStream = OF_STREAM.has(detector) && !Object.hasOwn(attributes, AGGREGATE_ATTRIBUTE);
  if (!isOfStream && !OF_STREAM.has(detector) && !OF_METRIC.has(detector)) return null;
  return { service_id: serviceId, metric_name: metricName, environment, attributes: isOfStream ? attributes : null };
}
