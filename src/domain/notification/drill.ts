/**
 * Fire drills: sixty quiet values and a spike on a service of the server's own go the way of any sample, to the receivers of a page, and then come to rest, so that
 * the end is told too. Each has an environment of its own, and so a baseline and an alert of its own: the one before holds nothing back.
 */
import { DRILL_CALM_VALUES, DRILL_QUIET_VALUES, DRILL_SPIKE_VALUES, DRILL_VALUE_INTERVAL_MS } from "../../core/config/drill-limits.ts";
import { DRILL_SERVICE } from "../../core/protocol/own-telemetry.ts";

export const DRILL_STAGES = ["ingest", "detect", "route", "receive", "resolve"] as const;
export type DrillStageName = (typeof DRILL_STAGES)[number];

/** End of a stage. Milliseconds count from the beginning of the drill; null where it was not reached. */
export interface DrillStage {
  readonly stage: DrillStageName;
  readonly state: "passed" | "failed" | "not_reached";
  readonly afterMs: number | null;
}

/** A drill that has ended. */
export interface Drill {
  readonly id: string;
  readonly tenant: string;
  /** Subject of who asked for it. */
  readonly by: string;
  readonly startedAtMs: number;
  readonly endedAtMs: number;
  readonly stages: readonly DrillStage[];
  /** Why the failed stage failed; null where none did. */
  readonly reason: string | null;
  readonly environment: string;
  readonly anomalyId: string | null;
  readonly alertId: string | null;
}

const METRIC = "drill";
const QUIET = 100;
/** So far out that it is extreme at any threshold that a tenant may set: Student's tail over sixty values lets z rise no higher than some fifty. */
const SPIKE = 1e9;

interface DrillRecord {
  readonly service_id: string;
  readonly metric_name: string;
  readonly value: number;
  readonly timestamp: string;
  readonly attributes: { readonly environment: string };
}

export function drillEnvironment(id: string): string {
  return `drill-${id.slice(0, 12)}`;
}

/** Quiet values and the spike behind them, the last at `nowMs`. */
export function drillRecords(environment: string, nowMs: number): DrillRecord[] {
  const count = DRILL_QUIET_VALUES + DRILL_SPIKE_VALUES;
  return Array.from({ length: count }, (_, index) => {
    const timeMs = nowMs - (count - 1 - index) * DRILL_VALUE_INTERVAL_MS;
    return recordOf(environment, timeMs, index < DRILL_QUIET_VALUES ? quiet(index) : SPIKE);
  });
}

/** Quiet values again, a millisecond apart, the first behind `nowMs`. */
export function calmRecords(environment: string, nowMs: number): DrillRecord[] {
  return Array.from({ length: DRILL_CALM_VALUES }, (_, index) => recordOf(environment, nowMs + 1 + index, quiet(index)));
}

/** The first stage that failed; undefined where all have passed. */
export function failedStage({ stages }: Pick<Drill, "stages">): DrillStageName | undefined {
  return stages.find(({ state }) => state === "failed")?.stage;
}

/** Stages of a drill: those passed, and what ended it where not all are. */
export function stagesOf(passedMs: readonly number[], endedMs: number): DrillStage[] {
  return DRILL_STAGES.map((stage, index): DrillStage => {
    const afterMs = passedMs[index];
    if (afterMs !== undefined) return { stage, state: "passed", afterMs };
    return index === passedMs.length ? { stage, state: "failed", afterMs: endedMs } : { stage, state: "not_reached", afterMs: null };
  });
}

function recordOf(environment: string, timeMs: number, value: number): DrillRecord {
  const timestamp = new Date(timeMs).toISOString();
  return { service_id: DRILL_SERVICE, metric_name: METRIC, value, timestamp, attributes: { environment } };
}

/** Within 1 % of each other. */
function quiet(index: number): number {
  return QUIET + ((index * 7) % 11) / 10;
}
