// Two models of a service over the same stored history, as a backtest would run them: which would have paged when, held against what people said of its
// anomalies. A model that misses more of the true incidents is worse, whatever else it does; else one with fewer misses and false alarms in all is better, and where
// both do the same, one that pages less outside of incidents.
import { ServiceDetector, serviceDetectorFloats } from "../detection/multivariate/service-detector.ts";
import type { TimedRows } from "../detection/multivariate/service-model.ts";
import { decodeServiceModel } from "../detection/multivariate/service-model-coding.ts";
import { rowsOfHistory } from "../detection/multivariate/service-rows.ts";
import { wholeSamples } from "../detection/multivariate/stream-history.ts";
import { readTrainingInput, type TrainingInput } from "../detection/multivariate/training-input.ts";

/** A time of which somebody said what it was. */
export interface LabelledTime {
  readonly fromMs: number;
  readonly toMs: number;
  readonly isIncident: boolean;
}

/** A model, and the history of its metrics. */
export interface ComparedModel {
  readonly model: Uint8Array<ArrayBuffer>;
  readonly input: TrainingInput;
}

export interface ComparisonRequest {
  readonly candidate: ComparedModel;
  readonly production: ComparedModel;
  readonly labels: readonly LabelledTime[];
}

/** Record of one model in the comparison: what it would have done. */
export interface ModelRecord {
  /** Alerts in all, and of these outside of incidents. */
  readonly pages: number;
  readonly outside: number;
  /** Incidents in which an alert of it fired, and those in which none did. */
  readonly caught: number;
  readonly missed: number;
  /** Times called false positives in which an alert of it began. */
  readonly falseAlarms: number;
}

export interface ModelComparison {
  /** Time of the first vector that both judged; 0 where there are too few. */
  readonly sinceMs: number;
  readonly vectors: number;
  readonly incidents: number;
  readonly falsePositives: number;
  readonly candidate: ModelRecord;
  readonly production: ModelRecord;
  readonly verdict: "better" | "equal" | "worse" | "unknown";
}

/** Vectors that evidence learns from before an alert counts. */
const WARM_VECTORS = 128;

/** `unknown` where nothing is labelled in the history that is kept. */
export function compareModels({ candidate, production, labels }: ComparisonRequest): ModelComparison {
  const rows = [candidate, production].map(({ input }) => {
    const job = readTrainingInput(input);
    return rowsOfHistory({ ...job, streams: job.streams.map(wholeSamples) }, job);
  }) as [TimedRows, TimedRows];
  const sinceMs = Math.max(...rows.map(({ times }) => times[WARM_VECTORS] ?? Number.POSITIVE_INFINITY));
  const known = labels.filter(({ toMs }) => toMs >= sinceMs);
  const incidents = known.filter(({ isIncident }) => isIncident);
  const falsePositives = known.filter(({ isIncident }) => !isIncident);
  const [ours, theirs] = [candidate, production].map(({ model }, at) =>
    recordOf(alertsOf(model, rows[at] as TimedRows), { sinceMs, incidents, falsePositives }),
  ) as [ModelRecord, ModelRecord];
  const compared = { incidents: incidents.length, falsePositives: falsePositives.length, candidate: ours, production: theirs };
  const vectors = rows[0].times.length;
  const isKnown = Number.isFinite(sinceMs);
  return {
    sinceMs: isKnown ? sinceMs : 0,
    vectors,
    ...compared,
    verdict: known.length === 0 || !isKnown ? "unknown" : verdictOf(ours, theirs),
  };
}

function verdictOf(ours: ModelRecord, theirs: ModelRecord): ModelComparison["verdict"] {
  const errors = ({ missed, falseAlarms }: ModelRecord) => missed + falseAlarms;
  if (ours.missed > theirs.missed) return "worse";
  const difference = errors(ours) - errors(theirs) || ours.outside - theirs.outside;
  if (difference === 0) return "equal";
  return difference < 0 ? "better" : "worse";
}

/** When an alert was open. */
interface AlertTime {
  readonly fromMs: number;
  toMs: number;
}

function alertsOf(bytes: Uint8Array<ArrayBuffer>, { times, values, width }: TimedRows): AlertTime[] {
  const model = decodeServiceModel(bytes);
  if (model === undefined || model.width !== width) throw new Error("a stored model does not decode, or is of other metrics");
  const detector = new ServiceDetector(width, new Float64Array(serviceDetectorFloats(width)), model);
  const alerts: AlertTime[] = [];
  for (let row = 0; row < times.length; row++) {
    const timeMs = times[row] as number;
    const { firing } = detector.observe(timeMs, values.subarray(row * width, (row + 1) * width));
    if (firing.opened) alerts.push({ fromMs: timeMs, toMs: timeMs });
    else if (firing.isFiring) (alerts.at(-1) as AlertTime).toMs = timeMs;
  }
  return alerts;
}

function recordOf(
  all: readonly AlertTime[],
  { sinceMs, incidents, falsePositives }: { readonly sinceMs: number } & Record<"incidents" | "falsePositives", readonly LabelledTime[]>,
): ModelRecord {
  const alerts = all.filter(({ toMs }) => toMs >= sinceMs);
  const meets = (alert: AlertTime, { fromMs, toMs }: LabelledTime) => alert.toMs >= fromMs && alert.fromMs <= toMs;
  const caught = incidents.filter((incident) => alerts.some((alert) => meets(alert, incident))).length;
  return {
    pages: alerts.length,
    outside: alerts.filter((alert) => !incidents.some((incident) => meets(alert, incident))).length,
    caught,
    missed: incidents.length - caught,
    falseAlarms: falsePositives.filter(({ fromMs, toMs }) => alerts.some((alert) => alert.fromMs >= fromMs && alert.fromMs <= toMs)).length,
  };
}
