// Control messages between the coordinator and an engine, and between main and an engine (structured clone over message ports).

import type { CheckpointHeader, MetricMetadataEnvelope, StreamName } from "./coordinator-frame.ts";
import type { CoverageAnswer, CoverageQuery, LayerCounts } from "./coverage.ts";
import type { LogFlaw } from "./data-fault.ts";
import type { EvidenceAnswer, EvidenceQuery } from "./evidence.ts";
import type {
  StreamChangesAnswer,
  StreamChangesQuery,
  StreamPageAnswer,
  StreamPageQuery,
  StreamValuesAnswer,
  StreamValuesQuery,
} from "./paged-streams.ts";
import type { SaturationHistories, SaturationUpdate } from "./saturation.ts";
import type { ServiceListAnswer, ServiceListQuery } from "./service-list.ts";
import type { SetAsideItem } from "./set-aside.ts";
import type { SharesAnswer, SharesQuery } from "./shares.ts";
import type { ScopedOverrides, TenantCalendar, ThresholdProfile } from "./watchdog-settings.ts";

/** Position of one stream in the order of lists: (service, metric, environment, attributes as JSON). */
export type SeriesKey = readonly [string, string, string, string];

export interface SeriesQuery {
  readonly type: "series";
  readonly id: number;
  readonly tenant: string;
  readonly serviceId: string | null;
  readonly metricName: string | null;
  readonly environment: string | null;
  /** Only streams whose metric's or service's name holds this text, in lower case; all where it is absent. */
  readonly part?: string | undefined;
  /** Only streams after this key. */
  readonly after: SeriesKey | null;
  readonly limit: number;
}

/** Asks for the newest values of the streams that match; attributes as canonical JSON or null for any. */
export interface SeriesDataQuery {
  readonly type: "series-data";
  readonly id: number;
  readonly tenant: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly environment: string | null;
  readonly attributes: string | null;
}

/** Asks for the chunks of a stream, in memory or not, that are in no stored block. */
export interface PendingChunksQuery {
  readonly type: "pending-chunks";
  readonly id: number;
  /** Who waits for them, empty for the server itself. */
  readonly tenant: string;
  readonly partition: number;
  readonly streamId: Uint8Array;
}

/** Has the engine send its mark now, with the accepted events that it has counted; the answer comes once that is in the ring. */
export interface LogMarkQuery {
  readonly type: "log-mark";
  readonly id: number;
}

/** Asks how many streams of a tenant are in memory; costs nothing however many. */
export interface StreamCountQuery {
  readonly type: "stream-count";
  readonly id: number;
  readonly tenant: string;
}

/** Questions about streams. */
export type StreamQuery =
  | SeriesQuery
  | SeriesDataQuery
  | PendingChunksQuery
  | StreamCountQuery
  | ServiceListQuery
  | StreamPageQuery
  | StreamChangesQuery
  | StreamValuesQuery;

/** Asks for the next slice of a scan over all services: how they behave from `sinceMs` on. Another number begins a new scan. */
export interface BehaviourQuery {
  readonly type: "behaviour";
  readonly id: number;
  readonly scan: number;
  readonly sinceMs: number;
}

/** The passes of a Watchdog cycle over an engine's services, in the order in which a cycle makes them. */
export const DETECTOR_NAMES = ["pairs", "services", "arrivals", "saturation"] as const;
export type DetectorName = (typeof DETECTOR_NAMES)[number];

/** Asks for the next slice of one pass of the Watchdog's cycle of that number. What it finds leaves as verdict frames, before the answer. */
export interface WatchdogQuery {
  readonly type: "watchdog";
  readonly id: number;
  readonly cycle: number;
  readonly detector: DetectorName;
  /** Wall clock of the cycle, the same for all engines and slices. */
  readonly nowMs: number;
  /** Work, in ms, until the answer, and between two bodies. */
  readonly workMs: number;
  readonly sliceMs: number;
  /** Nothing is done while bodies wait, until the answer is due. */
  readonly yields: boolean;
}

/** Asks for what an engine holds of a service's streams that its model is trained on. */
export interface ServiceHistoryQuery {
  readonly type: "service-history";
  readonly id: number;
  /** JSON of [tenant, service]. */
  readonly key: string;
  readonly environment: string;
  /** Id of the shadow whose metrics are meant, where it runs; else, and where absent, those of the model in production. */
  readonly modelId?: string;
}

export type EngineQuery =
  | StreamQuery
  | BehaviourQuery
  | EvidenceQuery
  | CoverageQuery
  | WatchdogQuery
  | ServiceHistoryQuery
  | LogMarkQuery
  | SharesQuery;

/** A part of a stored partition's state, as it was wanted. */
export interface StatePart extends StatePartWanted {
  readonly bytes: Uint8Array;
}

/** Streams of one partition that were wanted: entries (domain/kernel/cold-entry.ts). */
export interface ReturnedStreams {
  readonly type: "returned-streams";
  readonly partition: number;
  readonly entries: Uint8Array;
}

/** Types, units and helps of metrics that have been stored, of whichever engine: to every engine. */
export interface StoredMetadata {
  readonly type: "metric-metadata";
  readonly metadata: readonly MetricMetadataEnvelope[];
}

/** Report of the pass "services": services whose detector lacks its stored state and model, or is due for a new model. */
export interface ServicesWanting {
  readonly services: readonly ServiceWanting[];
  /** Counts of shadow models since the last report. */
  readonly shadows?: readonly ShadowCounts[];
}

/** Vectors that a shadow has scored, and alerts that it would have opened. */
export interface ShadowCounts {
  readonly modelId: string;
  readonly scored: number;
  readonly alerts: number;
}

export interface ServiceWanting {
  /** JSON of [tenant, service]. */
  readonly key: string;
  readonly environment: string;
  readonly partition: number;
  /** Hash of its metrics' names, in order. */
  readonly columns: string;
  readonly wants: "stored" | "model";
}

/** A service's model, or that there is none: `model` null. `state` is that of its training, or the stored one. */
export interface ServiceModelMessage {
  readonly type: "service-model";
  readonly key: string;
  readonly environment: string;
  readonly columns: string;
  readonly model: Uint8Array<ArrayBuffer> | null;
  /** Wall clock from which another training is wanted; 0 where nothing is known, so that the engine says by its streams. */
  readonly dueMs: number;
  /** Wall clock and number of vectors of the training. */
  readonly trainedMs: number;
  readonly rows: number;
  readonly state: Float64Array<ArrayBuffer> | null;
  /** Newest sample that the state has seen; 0 for that of a training. */
  readonly sampleMs: number;
  /** Promotion of a model by a user, with the metrics that the service's vectors are made of from now on; null for one of the automatic trainings. */
  readonly promoted: { readonly modelId: string; readonly names: readonly string[] } | null;
}

/** A model that is scored beside the one in production; without `model` none is any more. */
export interface ShadowModelMessage {
  readonly type: "shadow-model";
  readonly key: string;
  readonly environment: string;
  readonly modelId: string;
  readonly names: readonly string[];
  /** Hash of the names. */
  readonly columns: string;
  readonly model: Uint8Array<ArrayBuffer> | null;
  readonly state: Float64Array<ArrayBuffer>;
}

/** Pages of states of a detector, as they were wanted; `next` is the page to ask for next, null where there is none. */
export interface DetectorStates {
  readonly type: "detector-states";
  readonly detector: number;
  readonly partition: number;
  readonly pages: ReadonlyArray<{ readonly page: number; readonly bytes: Uint8Array }>;
  readonly next: number | null;
}

/** A service was deployed, as an event record says. */
export interface Deployment {
  readonly tenant: string;
  readonly serviceId: string;
  readonly atMs: number;
}

/** Deployments that have been stored, of whichever engine: to every engine. */
export interface StoredDeployments {
  readonly type: "deployments";
  readonly deployments: readonly Deployment[];
}

/** Tables of one threshold profile, as the kernel reads them, for services of every maturity. */
export interface ProfileTables extends ThresholdProfile {
  readonly tables: Float64Array;
}

/** Settings of the Watchdog that were set or removed, to every engine. They are in force for every sample behind. */
export interface SettingsUpdate {
  readonly type: "watchdog-settings";
  /** Empty overrides: nothing is set there any more. */
  readonly places: readonly ScopedOverrides[];
  /** Meaning of all profiles from now on. */
  readonly profiles: readonly ThresholdProfile[];
  /** Profiles that are new. */
  readonly tables: readonly ProfileTables[];
  /** Known days of the tenants whose days were set. */
  readonly calendars: readonly TenantCalendar[];
}

/** Updates that the Watchdog's detectors get unasked. */
export type WatchdogNotice = SaturationUpdate | SaturationHistories | ServiceModelMessage | ShadowModelMessage;

/** Updates that engines get unasked. */
export type EngineNotice = StoredMetadata | SettingsUpdate | StoredDeployments | WatchdogNotice;

/** Coordinator to engine. */
export type EngineRequest = EngineQuery | StatePart | ReturnedStreams | DetectorStates | EngineNotice;

export interface SeriesSummary extends StreamName {
  readonly kind: "gauge" | "counter";
  readonly samples: number;
  readonly lastValue: number | null;
  readonly lastTimeMs: number | null;
  readonly firstTimeMs: number | null;
  /** Since when its service is known, as the stream is judged. */
  readonly serviceSinceMs: number | null;
  readonly ended: boolean;
  /** Its newest sample came as history. */
  readonly endsWithHistory: boolean;
  /** Its values are stored as records too (trace, profile). */
  readonly retainedAsRecords: boolean;
  /** Widest bucket that a histogram quantile's values lay in of late; 0 for other series. */
  readonly bucketWidth: number;
}

export interface SeriesAnswer {
  readonly type: "series";
  readonly id: number;
  /** The page in its order, as JSON arrays of SeriesSummary: the clone of 1,000 objects held the thread of the engine for 7 ms, texts are made in slices and moved in 0.1 ms. */
  readonly rows: readonly string[];
  /** Streams that match the filter, whatever the page. */
  readonly total: number;
  /** Number of those that the store may still hold among the streams that left memory. */
  readonly returned: number;
}

export interface SeriesDataAnswer {
  readonly type: "series-data";
  readonly id: number;
  /** Number of streams that matched; the first in list order is answered. */
  readonly matches: number;
  /** Number of those that the store may still hold among the streams that left memory. */
  readonly returned: number;
  readonly summary: SeriesSummary | null;
  /** The stream's identity hash, the key of its chunks in stored blocks. */
  readonly streamId: Uint8Array | null;
  readonly partition: number;
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Chunks of the stream that are not in a stored block yet. */
  readonly pendingChunks: readonly Uint8Array[];
  /** What it has besides those, as chunks: with them and the stored ones all that was sent. */
  readonly openChunks: readonly Uint8Array[];
}

export interface PendingChunksAnswer {
  readonly type: "pending-chunks";
  readonly id: number;
  readonly chunks: readonly Uint8Array[];
}

export interface LogMarkAnswer {
  readonly type: "log-mark";
  readonly id: number;
}

/** Services that have values of that time, in no order; each comes once in a scan. */
export interface BehaviourAnswer {
  readonly type: "behaviour";
  readonly id: number;
  /** JSON of [tenant, service], as it stands in identities. */
  readonly services: readonly string[];
  /** Four a service, in the order of FAMILIES (domain/pillars): median robust z; NaN where it has no stream of the family. */
  readonly deviations: Float32Array;
  /** Streams looked at, and what that took. */
  readonly streams: number;
  readonly tookMs: number;
  /** The scan is at its end. */
  readonly done: boolean;
}

/** Counts of a pass. */
export type WatchdogCounts = LayerCounts;

/** Open alerts of a pass: those of its detector that no engine names in a cycle are over. */
export interface FiringEpisodes {
  readonly detector: string;
  /** Episode ids. */
  readonly firing: readonly string[];
  /** Departures that hold at the moment, of the pass over pairs. */
  readonly confirmed?: readonly ConfirmedPair[];
}

/** A lasting departure of one pair, for the pages that wait for it. */
export interface ConfirmedPair {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  /** Whether it confirms by itself, else only together with another metric of its service. */
  readonly isAlone: boolean;
  /** Side of the departure; 0 where the values scatter to both. */
  readonly side: -1 | 0 | 1;
  /** The direction that is set for the metric; null where its name says which way is bad. */
  readonly direction: "high" | "low" | null;
}

/** A slice of a pass. */
export interface WatchdogAnswer {
  readonly type: "watchdog";
  readonly id: number;
  /** Since the answer before. */
  readonly counts: WatchdogCounts;
  /** Report of the pass to the coordinator besides frames, in a shape of its own; undefined where it has none. */
  readonly found?: unknown;
  readonly tookMs: number;
  /** Progress of the pass's scan, 0..1. */
  readonly share: number;
  /** The engine had bodies not long ago. */
  readonly wasBusy: boolean;
  /** Whether what the pass needs first is still on its way. */
  readonly waits: boolean;
  /** The pass is at its end. */
  readonly done: boolean;
}

export interface StreamCountAnswer {
  readonly type: "stream-count";
  readonly id: number;
  readonly streams: number;
}

/** The metrics of a service's vectors, and what the engine holds of their streams. */
export interface ServiceHistoryAnswer {
  readonly type: "service-history";
  readonly id: number;
  readonly columns: string;
  readonly names: readonly string[];
  /** Aggregation of a metric's streams to one value: AGGREGATION_* of domain/detection/multivariate/service-vector.ts. */
  readonly aggregations: Uint8Array;
  /** Index of the first stream of each metric; one more for the end of the last. */
  readonly starts: Uint16Array;
  /** 16 bytes a stream. */
  readonly streamIds: Uint8Array;
  /** Values of the ring, WINDOW_MAX places a stream, of which `counts` are in use. */
  readonly counts: Uint8Array;
  readonly times: Float64Array;
  readonly values: Float64Array;
  /** Chunks that are in no stored block, with their streams' places. */
  readonly pendingChunks: ReadonlyArray<readonly [stream: number, chunk: Uint8Array]>;
}

export type EngineAnswer =
  | StreamPageAnswer
  | StreamChangesAnswer
  | StreamValuesAnswer
  | ServiceHistoryAnswer
  | StreamCountAnswer
  | ServiceListAnswer
  | SeriesAnswer
  | SeriesDataAnswer
  | PendingChunksAnswer
  | BehaviourAnswer
  | EvidenceAnswer
  | CoverageAnswer
  | WatchdogAnswer
  | LogMarkAnswer
  | SharesAnswer;

/** Asks for a part of a stored partition's state: parts are numbered from 0, the last has the number that the header names. */
export interface StatePartWanted {
  readonly type: "state-part";
  readonly partition: number;
  readonly part: number;
}

/** Asks for streams that left memory: pairs of partition and serial. */
export interface StreamsWanted {
  readonly type: "streams-wanted";
  readonly wanted: Uint32Array;
}

/** Asks for stored states of a detector from a page on: as many pages of the partition as one answer takes. */
export interface DetectorStatesWanted {
  readonly type: "detector-states-wanted";
  readonly detector: number;
  readonly partition: number;
  readonly page: number;
}

/** Engine to coordinator. */
export type EngineReply = EngineAnswer | StatePartWanted | StreamsWanted | DetectorStatesWanted;

/** The engine has put frames into its ring that the coordinator waits for. */
export interface FramesPlaced {
  readonly type: "frames";
}

/** Main to engine. */
export type EngineCommand = { readonly type: "tenant"; readonly index: number; readonly name: string } | { readonly type: "stop" };

/** Counts of what was stored of a remote-write 2.0 request. */
export type WrittenCounts = readonly [samples: number, histograms: number, exemplars: number];

/** Stands among the answers in the place of one that comes later, among `overtaken`: others overtake the body, which needs its place in the ring no more. */
export const STATUS_SET_ASIDE = 0;

/** Status, body and counts of an answer. */
export interface EngineAnswerContent {
  readonly status: number;
  readonly body: string | null;
  /** Counts of remote-write 2.0. */
  readonly written: WrittenCounts | null;
}

/** Engine to main. */
export type EngineReport =
  | {
      readonly type: "ready";
      readonly streams: number;
      readonly replayedRows: number;
      readonly replayMs: number;
      /** Parts of the logs that could not be read; each engine that reads there reports them. */
      readonly flaws: readonly LogFlaw[];
      /** Parts of the logs that were left out, because a thread had thrown over them. */
      readonly leftOut: readonly SetAsideItem[];
    }
  /**
   * Answers to bodies in their order; equal ones that follow each other are one entry with their count, because most are equal. A body that lies in the place for
   * large ones is answered by itself, when it is done: others overtake it.
   */
  | {
      readonly type: "answers";
      readonly large: EngineAnswerContent | null;
      /** Bodies that were set aside, each with its admission number. */
      readonly overtaken: ReadonlyArray<EngineAnswerContent & { readonly admission: number }>;
      readonly counts: readonly number[];
      readonly statuses: readonly number[];
      readonly bodies: ReadonlyArray<string | null>;
      /** Counts of remote-write 2.0. */
      readonly written: ReadonlyArray<WrittenCounts | null>;
    }
  | { readonly type: "stopped" };

/** A stored checkpoint, without its state, as the engine that owns the partition is informed of it at start-up. */
export type StoredCheckpoint = CheckpointHeader;
