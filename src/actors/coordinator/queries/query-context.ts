// What the queries read, and their common shape.
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import type { BodyOf, CoordinatorEndpoint, QueryOf } from "../../../api/endpoints.ts";
import type { Outcome } from "../../../api/refusal.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { Listeners, Principal, StreamEvents } from "../../../core/protocol/query.ts";
import type { ShareRow } from "../../../core/protocol/shares.ts";
import type { TrainingResult } from "../../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../../domain/detection/multivariate/training-input.ts";
import type { Computation, ComputationResult } from "../../../domain/prediction/computation.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import type { ChangePlan } from "../access/changes.ts";
import type { AlertDraft } from "../alerts/alert-draft.ts";
import type { AnalysisFacts } from "../analysis/analysis-runner.ts";
import type { EvidenceGathering } from "../analysis/evidence-gathering.ts";
import type { RcaReport } from "../analysis/report-row.ts";
import type { VerdictDraft } from "../anomalies/verdict-draft.ts";
import type { BackupRunner } from "../backup/backup-runner.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import type { DiskFill } from "../loop/disk-usage.ts";
import type { StoreRefusal } from "../loop/store-guard.ts";
import type { Drills } from "../notification/drills.ts";
import type { OutboundCalls } from "../notification/outbound-calls.ts";
import type { Outbox } from "../notification/outbox.ts";
import type { VectorizerFacts } from "../pillars/vectorizer.ts";
import type { RunbookRunner } from "../runbooks/runbook-runner.ts";
import type { CommittedState } from "../state/committed-state.ts";
import type { DataFaults } from "../status/data-faults.ts";
import type { DetectionLatency } from "../status/latency-quantile.ts";
import type { WatchdogFacts } from "../watchdog/watchdog.ts";
import type { SandboxFacts } from "../webhooks/sandbox-facts.ts";
import type { WebhookOutbox } from "../webhooks/webhook-outbox.ts";

/** What the status tells of the coordinator itself. */
export interface CoordinatorFacts {
  readonly enginesReady: boolean;
  /** Why the store takes no writes; null while it does. */
  readonly storeRefusal: StoreRefusal | null;
  readonly disk: DiskFill;
  /** Wall clock of the last look at the engines' verdicts. */
  readonly lastRunMs: number;
  readonly framesWaiting: number;
  readonly queriesWaiting: number;
  readonly listeners: Listeners;
  readonly vectorizer: VectorizerFacts;
  readonly watchdog: WatchdogFacts;
  readonly analysis: AnalysisFacts;
  readonly detection: DetectionLatency;
}

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

/** What queries are configured with. */
export interface QueryOptions extends DetectionOptions {
  readonly version: string;
  /** Whether a language model words summaries. */
  readonly wordsSummaries?: boolean;
  /** RUNBOOK_FOUR_EYES; true where it is not given. */
  readonly runbookFourEyes?: boolean;
  /** WATCHDOG_Z_SCORE_THRESHOLD, WATCHDOG_MIN_SAMPLES and WATCHDOG_WINDOW. */
  readonly zThreshold: number;
  readonly samplesMin: number;
  readonly window: number;
  /** LOG_FIELD_EXCLUSIONS. */
  readonly exclusions: FieldExclusions;
}

/** Everything that a query may use. */
export interface QueryContext {
  readonly options: QueryOptions;
  readonly state: CommittedState;
  readonly engines: EngineClient;
  /** Asks the engines what they hold of an incident. */
  readonly gathering: EvidenceGathering;
  readonly dataFaults: DataFaults;
  /** Backups of the folder; none where the coordinator has no folder. */
  readonly backups?: Pick<BackupRunner, "isConfigured" | "running" | "last" | "list" | "start">;
  readonly outbox: Pick<Outbox, "facts" | "routes" | "view">;
  readonly webhooks: Pick<WebhookOutbox, "aim" | "forget" | "target">;
  readonly calls: OutboundCalls;
  readonly drills: Pick<Drills, "start" | "facts">;
  readonly runs: Pick<RunbookRunner, "open" | "place" | "begin" | "problem">;
  readonly sandbox: Pick<SandboxFacts, "walls" | "processes" | "waiting">;
  /** The key that events are signed by. */
  webhookPublicKey(): { readonly standard: string; readonly pem: string };
  /** Why a URL of a tenant may not be asked for; null where it may. */
  forbiddenTarget(url: string): Promise<string | null>;
  nowMs(): number;
  facts(): CoordinatorFacts;
  /** The summary of an analysis, worded by a language model where one is configured. */
  wordSummary(analysis: RcaReport["analysis"]): Promise<string>;
  /** Commits what the engines have sent so far, as far as a few steps go: then what they no longer hold is in the store. */
  settle(): Promise<void>;
  /** Whether the store takes no writes: then that did not come about. */
  isStoreFailing(): boolean;
  /** Does work that writes, between the transactions of others. Rejects with StoreError when the store takes no writes. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Stores findings that no engine has made: SLO burn, cascade, manual override. Rejects with StoreError. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
  /** Changes the configuration: decided when it is its turn, stored with a row of the audit log, in force before the answer leaves. */
  change<T>(request: ChangeRequest, plan: ChangePlan<T>): Promise<Outcome<T>>;
  /** What a change does to alerts, and to anomalies with them: for the operations of a change, and to be taken over once they are stored. */
  draftAlerts(): AlertDraft;
  draftVerdicts(alerts: AlertDraft): VerdictDraft;
  takeAlerts(draft: AlertDraft): void;
  takeVerdicts(draft: VerdictDraft): void;
  /** Tells the event stream. */
  tell(events: StreamEvents["events"]): void;
  /** Trains a service's model in another thread; where it is not given none is trained. */
  train?(input: TrainingInput): Promise<TrainingResult>;
  /** Computes in a thread that trainings do not use; where it is not given, here. Rejects where too many wait, and where it takes too long. */
  compute?(computation: Computation): Promise<ComputationResult>;
  /** Draws random bytes, for secrets and ids. */
  randomBytes(count: number): Uint8Array;
  /** Lets other work of the thread have its turn in a long query. */
  yieldTurn(): Promise<void>;
}

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
  /** Of the body, in lower case without parameters; null where none is taken. */
  readonly mediaType: string | null;
  /** What the front knows of the limits that tenants share there. */
  readonly shares: readonly ShareRow[];
}

/** Answers one endpoint; the value is sent as JSON. */
export type QueryHandler<N extends CoordinatorEndpoint> = (
  context: QueryContext,
  request: QueryRequest<N>,
) => Outcome<unknown> | Promise<Outcome<unknown>>;

/** Stores decisions that wait for their commit, so that the ledger has them; where the store refuses, it is read as it is. */
export async function settleLedger({ state, edit }: QueryContext): Promise<void> {
  const { ledger } = state.alerts;
  if (!ledger.isWaiting) return;
  try {
    await edit(() => ledger.store());
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
  }
}
