// The wait for a group (GROUP_WAIT_SECONDS): findings of one cause are one message, so an alert waits so long before its page for others that turn out to be one with
// it, however long something else has held it before. A high of a known series is told at once, unless somebody of its environment was told that lately, or of a group,
// or of the same metric of another service, within the time of a cascade: then it may be a part of that.
import { DRILL_SERVICE } from "../../../core/protocol/own-telemetry.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import type { Tier } from "../../detection/anomaly-score.ts";
import { KNOWN_TAIL_VALUES } from "../../detection/departure/own-tail.ts";
import { atLeast, type GateResult } from "../../detection/gates/gate-result.ts";
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import type { DetectorFamily } from "../ensemble.ts";
import type { Alert } from "./alert.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import type { Finding } from "./finding.ts";

export const GROUP_GATE = "group_wait";
/** So long what is found may be a part of a group that was told: as far apart as the onsets of a cascade are. */
export const GROUP_LATELY_MS = 5 * MINUTE_MS;

/** Families whose alerts wait for nothing: what people and other systems say, and what is a group itself. */
const AT_ONCE: ReadonlySet<string> = new Set([...OWN_IDENTITY, "cascade"]);

type GroupedFinding = Pick<
  Finding,
  "tenant" | "environment" | "serviceId" | "services" | "atMs" | "isRare" | "hasLongBaseline" | "baselineValues"
>;

/** Alert that is about to page, by the finding that has it do so. */
export interface Grouped {
  readonly finding: GroupedFinding;
  readonly family: DetectorFamily;
  readonly tier: Tier;
  /** From when on nothing else has held it. */
  readonly sinceMs: number;
  readonly alert: Alert;
}

/** What is known of who was told. */
interface NotifiedTimes {
  /** Whether anybody was told since of something in the environment of a finding. */
  isNotifiedSince(finding: GroupedFinding, sinceMs: number): boolean;
  /** The same of a group of services. */
  isGroupKnownSince(finding: GroupedFinding, sinceMs: number): boolean;
  /** The same of another service on which a metric of an alert moved to the same side. */
  isJumpKnownSince(alert: Alert, sinceMs: number): boolean;
}

/** Fails while the page of an alert waits for a group; undefined where it need not wait. Value and limit in seconds. */
export function groupGate(of: Grouped, notified: NotifiedTimes, groupWaitMs: number): GateResult | undefined {
  const { finding, family, tier, sinceMs, alert } = of;
  const { serviceId, services, atMs } = finding;
  if (groupWaitMs <= 0 || AT_ONCE.has(family) || services.length > 0 || serviceId === DRILL_SERVICE || serviceId === INGESTION_SERVICE)
    return undefined;
  const latelyMs = atMs - GROUP_LATELY_MS;
  const mayBePart =
    notified.isNotifiedSince(finding, atMs - groupWaitMs) ||
    notified.isGroupKnownSince(finding, latelyMs) ||
    notified.isJumpKnownSince(alert, latelyMs);
  if (tier === "high" && isOfKnown(finding, family) && !mayBePart) return undefined;
  return waitGate(sinceMs, atMs, groupWaitMs);
}

/** The same of an alert that was held for confirmation until now: the long baselines know what they confirm. */
export function confirmedGroupWait(alert: Alert, times: NotifiedTimes, groupWaitMs: number, nowMs: number): GateResult | undefined {
  const { state, services } = alert;
  const { tenant, environment, serviceId, family } = state.key;
  const finding = { tenant, environment, serviceId, services, atMs: nowMs, isRare: true, baselineValues: 0 };
  return groupGate({ finding, family: family as DetectorFamily, tier: state.tier, sinceMs: nowMs, alert }, times, groupWaitMs);
}

/** Whether a wait that began then is over. */
export function waitIsOver(sinceMs: number, nowMs: number, groupWaitMs: number): boolean {
  return waitGate(sinceMs, nowMs, groupWaitMs).passed;
}

/** When an alert opened last. */
export function openedMs({ state, history }: Alert): number {
  return history.findLast(({ kind }) => kind === "opened" || kind === "reopened")?.atMs ?? state.createdAtMs;
}

function waitGate(sinceMs: number, nowMs: number, groupWaitMs: number): GateResult {
  return atLeast(GROUP_GATE, (nowMs - sinceMs) / 1_000, groupWaitMs / 1_000);
}

/** Rules know what they judge; a statistic knows a series by its past. */
function isOfKnown({ isRare, hasLongBaseline, baselineValues }: GroupedFinding, family: DetectorFamily): boolean {
  const isStatistical = family === "metric" || family === "multivariate";
  return !isStatistical || isRare === true || hasLongBaseline === true || baselineValues >= KNOWN_TAIL_VALUES;
}
