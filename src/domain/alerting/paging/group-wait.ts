// The wait for a group (GROUP_WAIT_SECONDS): findings of one cause are one message, so an alert waits so long before its page for others that turn out to be one with
// it. A high of a known series is told at once, unless somebody of its environment was told that lately: then it may be a part of that.
import { DRILL_SERVICE } from "../../../core/protocol/own-telemetry.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import { KNOWN_TAIL_VALUES } from "../../detection/departure/own-tail.ts";
import { atLeast, type GateResult } from "../../detection/gates/gate-result.ts";
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import type { DetectorFamily } from "../ensemble.ts";
import type { Alert } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import type { Finding } from "./finding.ts";

export const GROUP_GATE = "group_wait";

/** Families whose alerts wait for nothing: what people and other systems say, and what is a group itself. */
const AT_ONCE: ReadonlySet<string> = new Set([...OWN_IDENTITY, "cascade"]);

/** Alert that is about to page, by the finding that has it do so. */
export interface Grouped {
  readonly finding: Finding;
  readonly family: DetectorFamily;
  readonly tier: Tier;
  /** When the alert opened, or opened again. */
  readonly openedAtMs: number;
}

/** What is known of who was told. */
interface ToldTimes {
  /** Whether anybody was told since of something in the environment of a finding. */
  isToldSince(finding: Finding, sinceMs: number): boolean;
}

/** Fails while the page of an alert waits for a group; undefined where it need not wait. Value and limit in seconds. */
export function groupGate(of: Grouped, told: ToldTimes, groupWaitMs: number): GateResult | undefined {
  const { finding, family, tier, openedAtMs } = of;
  const { serviceId, services, atMs } = finding;
  if (groupWaitMs <= 0 || AT_ONCE.has(family) || services.length > 0 || serviceId === DRILL_SERVICE || serviceId === INGESTION_SERVICE)
    return undefined;
  if (tier === "high" && isOfKnown(finding, family) && !told.isToldSince(finding, atMs - groupWaitMs)) return undefined;
  return waitGate(openedAtMs, atMs, groupWaitMs);
}

/** Whether the wait of an alert that waits is over. */
export function waitIsOver(alert: Alert, nowMs: number, groupWaitMs: number): boolean {
  return waitGate(openedMs(alert), nowMs, groupWaitMs).passed;
}

/** When an alert opened last. */
export function openedMs({ state, history }: Alert): number {
  return history.findLast(({ kind }) => kind === "opened" || kind === "reopened")?.atMs ?? state.createdAtMs;
}

function waitGate(openedAtMs: number, nowMs: number, groupWaitMs: number): GateResult {
  return atLeast(GROUP_GATE, (nowMs - openedAtMs) / 1_000, groupWaitMs / 1_000);
}

/** Rules know what they judge; a statistic knows a series by its past. */
function isOfKnown({ isRare, hasLongBaseline, baselineValues }: Finding, family: DetectorFamily): boolean {
  const isStatistical = family === "metric" || family === "multivariate";
  return !isStatistical || isRare === true || hasLongBaseline === true || baselineValues >= KNOWN_TAIL_VALUES;
}
