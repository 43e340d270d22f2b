// A fire drill as its answer and the status show it.
import { formatRfc3339 } from "../core/time/rfc3339.ts";
import { type Drill, failedStage } from "../domain/notification/drill.ts";

export function drillView(drill: Drill) {
  const failed = failedStage(drill);
  return {
    drill_id: drill.id,
    result: failed === undefined ? ("passed" as const) : ("failed" as const),
    failed_stage: failed ?? null,
    reason: drill.reason,
    started_at: formatRfc3339(drill.startedAtMs),
    duration_ms: drill.endedAtMs - drill.startedAtMs,
    stages: drill.stages.map(({ stage, state, afterMs }) => ({ stage, state, after_ms: afterMs })),
    environment: drill.environment,
    anomaly_id: drill.anomalyId,
    alert_id: drill.alertId,
  };
}
