// What a backtest goes over, and what it compares.
import type { StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { Call } from "../alerting/cascade.ts";
import type { AnomalyOpinion } from "../alerting/feedback.ts";
import type { InhibitionRules } from "../alerting/inhibition/inhibition-rule.ts";
import type { ActiveInhibitions } from "../alerting/paging/paging-sources.ts";
import type { Silence } from "../alerting/silence.ts";
import type { KnownDays } from "../calendar/known-days.ts";
import type { TrainingJob, TrainingResult } from "../detection/multivariate/service-training.ts";
import type { OffsetMs } from "../detection/seasonal/time-zone-hours.ts";
import type { SloRecord } from "../detection/service/slo-record.ts";
import type { DeclarationRule } from "../detection/thresholds.ts";
import type { WatchdogSettings } from "../detection/watchdog-settings.ts";
import type { DeclaredLimit } from "../saturation/bounded-name.ts";
import type { IncidentLabel } from "./labelled-incidents.ts";

/** The samples of one stream, ascending by time. */
export interface BacktestSeries {
  readonly name: StreamName;
  /** FLAG_OPERATION, FLAG_PERCENT and FLAG_COUNTER, as of its stream; values of counters are what was added per interval. */
  readonly flags: number;
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Times of the values in whose interval counting began anew, where that is known. */
  readonly restarts?: ReadonlySet<number>;
  /** Its newest sample was imported: that nothing follows says nothing of its sender. */
  readonly endsWithHistory?: boolean;
}

/** A service's model that somebody has put into production: it judges instead of those that would be trained on the way. */
export interface PromotedModel {
  /** Metrics of its vector, in their order. */
  readonly names: readonly string[];
  readonly model: Uint8Array<ArrayBuffer>;
  /** Vectors of its training. */
  readonly rows: number;
  readonly trainedMs: number;
}

/** Facts known besides the samples. */
export interface BacktestFacts {
  /** First sample of a service; undefined where nobody knows, which counts as mature. */
  firstSeenMs(tenant: string, serviceId: string): number | undefined;
  /** Feedback of users on the service's anomalies. */
  opinions(tenant: string, serviceId: string): readonly AnomalyOpinion[];
  /** Times of the service's deployments, ascending. */
  deployments(tenant: string, serviceId: string): readonly number[];
  /** Days of a tenant that are known to be other than usual. */
  knownDaysOf(tenant: string): KnownDays | undefined;
  /** Unit that senders report a metric; null where they do not. */
  unitOf(tenant: string, metricName: string): string | null;
  limitFor(tenant: string, serviceId: string, metricName: string): DeclaredLimit | null;
  /** Ascending by time. */
  readonly sloRecords: readonly SloRecord[];
  /** Calls among services of an environment in the minutes [from, to) since 1970. */
  calls(tenant: string, environment: string, from: number, to: number): Promise<readonly Call[]>;
  /** Series that count the requests of the same services, besides those that are gone over. */
  readonly counting: readonly BacktestSeries[];
  /** Undefined where the automatic trainings judge the service. */
  promoted(service: Pick<StreamName, "tenant" | "serviceId" | "environment">): PromotedModel | undefined;
  /** Vectors that trainings have kept of a service with these metrics, beyond raw samples (training-rows-coding.ts); undefined where there are none. */
  retainedRows(service: Pick<StreamName, "tenant" | "serviceId" | "environment">, names: readonly string[]): Uint8Array | undefined;
  /** Trains a service's model; null where none is trained. */
  readonly train: ((job: TrainingJob) => Promise<TrainingResult>) | null;
  /** Times that people have called an incident, or none. */
  readonly labels: readonly IncidentLabel[];
  /** Layers that the selection leaves without what they look at, and why. */
  readonly leftOut: Readonly<Partial<Record<BacktestLayer, string>>>;
}

/** Nothing is known but the samples. */
export const NO_FACTS: BacktestFacts = {
  firstSeenMs: () => undefined,
  opinions: () => [],
  deployments: () => [],
  knownDaysOf: () => undefined,
  unitOf: () => null,
  limitFor: () => null,
  sloRecords: [],
  calls: () => Promise.resolve([]),
  counting: [],
  promoted: () => undefined,
  retainedRows: () => undefined,
  train: null,
  labels: [],
  leftOut: {},
};

/** Settings of one of the two runs. */
export interface BacktestVariant {
  settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings;
  readonly silences: readonly Silence[];
  /** Those that hold for everybody, and those of people. */
  readonly inhibitions: ActiveInhibitions;
  readonly inhibitionRules: InhibitionRules;
}

export interface BacktestOptions extends DeclarationRule {
  /** WATCHDOG_WINDOW, and WATCHDOG_INTERVAL_SECONDS in ms. */
  readonly window: number;
  readonly intervalMs: number;
  /** Offset of DETECTION_TIMEZONE. */
  readonly offsetMs: OffsetMs;
  /** Pages before this are not counted; samples before it are what the baselines are made of. */
  readonly sinceMs: number;
  /** Nothing that is later is looked at. */
  readonly untilMs: number;
  /** RETENTION_RAW_DAYS in ms: what a training looks back on at most. Without end where it is not given. */
  readonly historyMs?: number;
}

/** Layers of detection, in the order of a cycle. */
export const BACKTEST_LAYERS = ["statistical", "isolation_forest", "adaptive", "stale", "saturation", "slo_burn", "cascade"] as const;
export type BacktestLayer = (typeof BACKTEST_LAYERS)[number];

/** Participation of a layer. */
export interface LayerReport {
  readonly layer: BacktestLayer;
  /** Series, services or SLOs that it has looked at. */
  readonly evaluated: number;
  /** Why it looked at none, or not at all of them; null where it did. */
  readonly reason: string | null;
}

/** Whose score it is: one of a metric, or of a service's metrics together. */
export type ScoreLayer = "pair" | "service";

/** Hears the score of an observation, at the time of its newest sample. */
export type Scored = (layer: ScoreLayer, timeMs: number, score: number) => void;
