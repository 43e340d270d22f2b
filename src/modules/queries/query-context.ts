// What handlers may use, and their common shape. A noun's own context (<noun>/<noun>-context.ts) names what its handlers use of it, and the books that they read.
import type { BodyOf, CoordinatorEndpoint, QueryOf } from "../../api/endpoints.ts";
import type { Outcome } from "../../api/refusal.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { Principal, StreamEvents } from "../../core/protocol/query.ts";
import type { ShareRow } from "../../core/protocol/shares.ts";
import type { TrainingResult } from "../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import type { Computation, ComputationResult } from "../../domain/prediction/computation.ts";
import type { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import type { Pause } from "../state/slices.ts";
import type { StateWith } from "../state/stored-state.ts";

/** Settings that the detectors of a query's own share with the live ones; as they are by default where they are not given. */
export interface DetectionOptions {
  /** DETECTION_TIMEZONE. */
  readonly timeZone?: string;
  /** WATCHDOG_INTERVAL_SECONDS in ms. */
  readonly watchdogIntervalMs?: number;
  /** SATURATION_DETECTOR_ENABLED. */
  readonly saturationEnabled?: boolean;
  /** ML_DEGRADATION_SLOPE_THRESHOLD. */
  readonly degradationSlope?: number;
}

export interface QueryOptions extends DetectionOptions {
  readonly version: string;
  /** Whether a language model words summaries. */
  readonly phrasesSummaries?: boolean;
  /** Whether INGEST_AUTH asks senders for a credential. */
  readonly requiresSenders?: boolean;
  /** RUNBOOK_FOUR_EYES; true where it is not given. */
  readonly runbookFourEyes?: boolean;
  /** REPLICA_LABELS. */
  readonly replicaLabels?: string;
  /** WATCHDOG_Z_SCORE_THRESHOLD, WATCHDOG_MIN_SAMPLES and WATCHDOG_WINDOW. */
  readonly zThreshold: number;
  readonly samplesMin: number;
  readonly window: number;
  /** WATCHDOG_CONFIRMATION; on where it is not given. */
  readonly confirmation?: boolean;
  /** LOG_FIELD_EXCLUSIONS. */
  readonly exclusions: FieldExclusions;
}

/** Members that any handler may use. */
export interface QueryContext {
  readonly options: QueryOptions;
  readonly engines: EngineClient;
  nowMs(): number;
  /** Commits what the engines have sent so far, as far as a few steps go: then what they no longer hold is in the store. */
  settle(): Promise<void>;
  /** Whether the store takes no writes: then that did not come about. */
  isStoreFailing(): boolean;
  /** Does work that writes, between the transactions of others. Rejects with StoreError when the store takes no writes. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Stores findings that no engine has made: SLO burn, cascade, manual override. Rejects with StoreError. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
  /** Tells the event stream. */
  publish(events: StreamEvents["events"]): void;
  /** Trains a service's model in another thread; where it is not given none is trained. */
  train?(input: TrainingInput): Promise<TrainingResult>;
  /** Computes in a thread that trainings do not use; where it is not given, here. Rejects where too many wait, and where it takes too long. */
  compute?(computation: Computation): Promise<ComputationResult>;
  /** Draws random bytes, for secrets and ids. */
  randomBytes(count: number): Uint8Array;
  /** Lets other work of the thread have its turn in a long query. */
  yieldToLoop(): Promise<void>;
  /** The same where the query has worked for a slice since its last turn. */
  readonly pause: Pause;
}

/** So much of it as a noun uses, and the state with the books that it names. */
export type Using<Members extends keyof QueryContext, Books = unknown, Configured = unknown> = Pick<QueryContext, Members> & {
  readonly state: StateWith<Books, Configured>;
};

/** Who changes something, by which request. */
export interface ChangeRequest {
  readonly principal: Principal;
  readonly requestId: string;
  /** Address of the connection; null where it is not known. */
  readonly address: string | null;
}

/** A call after validation. */
export interface QueryRequest<N extends CoordinatorEndpoint> extends ChangeRequest {
  readonly path: Readonly<Record<string, string>>;
  readonly query: QueryOf<N>;
  readonly body: BodyOf<N>;
  /** Content type of the body, in lower case without parameters; null where none is taken. */
  readonly mediaType: string | null;
  /** The version of what is to be changed, as the caller knows it: If-Match. */
  readonly ifMatch: string | null;
  /** Usage, known to the front, of the limits that tenants share there. */
  readonly shares: readonly ShareRow[];
}

/** Answers one endpoint, with what its noun uses; the value is sent as JSON. */
export type QueryHandler<N extends CoordinatorEndpoint, Context> = (
  context: Context,
  request: QueryRequest<N>,
) => Outcome<unknown> | Promise<Outcome<unknown>>;

/** The handlers of all nouns, by the endpoint's name. */
export type QueryHandlers<Context> = { readonly [N in CoordinatorEndpoint]: QueryHandler<N, Context> };
