// A level that somebody takes for the usual one: what it was and is, and the word to the engines that hold its streams. They log it like a sample, so a replay after a
// crash judges by it again; only then the alert ends.
import { type Refusal, refused } from "../../api/refusal.ts";
import { ACCEPTED_LEVEL_VALUES, ACCEPTED_LEVELS_READ_MAX, ACCEPTED_PAIRS_PER_BODY } from "../../core/config/alert-limits.ts";
import type { AcceptedPair, AcceptedPairs } from "../../core/protocol/accepted-level.ts";
import type { DetectorFamily } from "../../domain/alerting/ensemble.ts";
import { type Alert, isFiring, isOfCascade } from "../../domain/alerting/paging/alert.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { AcceptedLevel } from "../../domain/anomaly/ending.ts";
import { METRIC_OF_SERVICE } from "../../domain/detection/multivariate/service-verdict.ts";
import { DETECTOR_ADAPTIVE } from "../../domain/detection/pair/pair-verdict.ts";
import { median } from "../../domain/detection/robust.ts";
import { DETECTOR_Z_SCORE, type Verdict } from "../../domain/detection/verdict.ts";
import { canonicalAttributes } from "../../domain/series/stream-identity.ts";
import type { Changing } from "../access/changes.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks, EndingContext } from "../anomalies/anomalies-context.ts";
import { openByAlert } from "../anomalies/ended-anomalies.ts";
import type { OwnBodies } from "../engines/own-bodies.ts";
import type { Using } from "../queries/query-context.ts";

/** Levels by anomaly, the alert's peak last, by alert; undefined where the numbers are not known. Alerts without a level are not among them. */
export type KnownLevels = ReadonlyMap<string, ReadonlyMap<string, AcceptedLevel | undefined>>;

/** Levels and acceptance of one pair. */
interface PairLevel {
  readonly level: AcceptedLevel | undefined;
  readonly pair: AcceptedPair;
}

/** Detectors that judge a series of numbers by what was usual. */
const OF_LEVELS: ReadonlySet<string> = new Set([DETECTOR_Z_SCORE, DETECTOR_ADAPTIVE]);

/** What to do about an alert in which nothing is open that has a level to accept. */
export function levelAdvice({ state, peak }: Alert): string {
  const { family } = state.key;
  const instead = INSTEAD[family as DetectorFamily] ?? `resolve it (POST /api/v1/alerts/{alert_id}/resolve)`;
  const what =
    family === "metric" ? `nothing of ${peak.metricName} is open that a series of numbers shows` : `an alert of ${family} is of no level`;
  return `${what}, so none can be accepted; ${instead}`;
}

const INSTEAD: Partial<Record<DetectorFamily, string>> = {
  saturation: "set the limit that is meant (PUT /api/v1/saturation/limits), or resolve it",
  external: "end or silence it where it comes from, or resolve it here",
  stale: "retire the service (POST /api/v1/services/{id}/retire) where its silence is meant, or resolve it",
  cascade: "accept the alerts of its members, or resolve it",
  slo_burn: "set another objective, or resolve it",
};

/** Has the engines take the levels of those alerts that have one; a refusal where they give no answer. */
export async function acceptedByEngines(
  context: AlertActionsContext,
  tenant: string,
  ids: readonly string[],
): Promise<{ readonly known: KnownLevels; readonly refusal?: Refusal }> {
  const open = openByAlert(context.state, tenant);
  const pairs: AcceptedPair[] = [];
  const known = new Map<string, ReadonlyMap<string, AcceptedLevel | undefined>>();
  for (const id of new Set(ids)) {
    const { anomalies, joint } = levelAnomalies(context, tenant, id, open.get(id) ?? []);
    if (anomalies.length === 0) continue;
    const found = await levelsOf(context, anomalies);
    const levels = found.map(({ level }, i) => [(anomalies[i] as Anomaly).id, level] as const);
    known.set(id, new Map([...joint.map((one) => [one.id, undefined] as const), ...levels]));
    pairs.push(...found.map(({ pair }) => pair));
  }
  const refusal = await logAcceptance(context, tenant, pairs);
  return refusal === undefined ? { known } : { known, refusal };
}

/** What is open in an alert and has a level, and what was found of the service's metrics together, which ends with it. How full a resource is goes on. */
interface LevelAnomalies {
  readonly anomalies: Anomaly[];
  readonly joint: readonly Anomaly[];
}

function levelAnomalies({ state }: AlertActionsContext, tenant: string, id: string, open: readonly string[]): LevelAnomalies {
  const alert = state.alerts.find(tenant, id);
  if (alert === undefined || !isFiring(alert) || isOfCascade(alert)) return { anomalies: [], joint: [] };
  const found = open.flatMap((one) => state.anomalies.find(tenant, one) ?? []);
  const anomalies = found.filter(({ detector }) => OF_LEVELS.has(detector));
  const joint = found.filter(({ metricName }) => metricName === METRIC_OF_SERVICE);
  return { anomalies: anomalies.sort((a, b) => Number(a.id === alert.peak.anomalyId) - Number(b.id === alert.peak.anomalyId)), joint };
}

/** Whether somebody has accepted a level of an alert before. */
export function hasAccepted({ members }: Alert, read: (id: string) => Anomaly | undefined): boolean {
  return members.some(({ anomalyId }) => read(anomalyId)?.resolvedBy === "accepted");
}

/** The newest first: what stands for the alert is the last. */
async function levelsOf(context: AlertActionsContext, anomalies: readonly Anomaly[]): Promise<PairLevel[]> {
  const unread = Math.max(0, anomalies.length - ACCEPTED_LEVELS_READ_MAX);
  const read = await Promise.all(anomalies.slice(unread).map((anomaly) => readLevel(context, anomaly)));
  return [...anomalies.slice(0, unread).map((anomaly) => withoutNumbers(anomaly, context.nowMs())), ...read];
}

/** From what was expected to the median of the newest values, and when that was, on the clock of the samples. */
async function readLevel(context: AlertActionsContext, anomaly: Anomaly): Promise<PairLevel> {
  const { engines } = context;
  const { tenant, serviceId, metricName, environment } = anomaly;
  const owner = engines.ownerOf(tenant, serviceId);
  const attributes = anomaly.detector === DETECTOR_Z_SCORE ? canonicalAttributes(anomaly.attributes) : null;
  const { times, values } = await engines.seriesData(owner, { tenant, serviceId, metricName, environment, attributes });
  const newest = values.filter((_, i) => (times[i] as number) >= anomaly.startedAtMs).slice(-ACCEPTED_LEVEL_VALUES);
  const { expected } = (anomaly.verdict ?? {}) as Partial<Verdict>;
  const level = newest.length === 0 || expected === undefined ? undefined : { from: expected, to: median(newest) };
  return { level, pair: pairOf(anomaly, times.at(-1) ?? context.nowMs()) };
}

function withoutNumbers(anomaly: Anomaly, nowMs: number): PairLevel {
  return { level: undefined, pair: pairOf(anomaly, nowMs) };
}

function pairOf({ environment, serviceId, metricName }: Anomaly, atMs: number): AcceptedPair {
  return { environment, serviceId, metricName, atMs };
}

async function logAcceptance({ own }: AlertActionsContext, tenant: string, pairs: readonly AcceptedPair[]): Promise<Refusal | undefined> {
  for (let at = 0; at < pairs.length; at += ACCEPTED_PAIRS_PER_BODY) {
    const body: AcceptedPairs = { pairs: pairs.slice(at, at + ACCEPTED_PAIRS_PER_BODY) };
    const answer = await own.send({ tenant, holds: "accepted_levels", body: Buffer.from(JSON.stringify(body)) });
    if (answer?.status !== 200)
      return refused("overloaded", "the engines take nothing at the moment; accept it again in a few seconds").refusal;
  }
  return undefined;
}

export type AlertActionsContext = EndingContext &
  Changing &
  Using<"engines", AnomalyBooks & AlertBooks> & { readonly own: Pick<OwnBodies, "send"> };
