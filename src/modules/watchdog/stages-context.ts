// What the Watchdog's stages on the coordinator work with.
import type { StoreOperation } from "../../adapters/storage/key-value-store.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { ShadowCounts } from "../../core/protocol/engine-control.ts";
import type { PagingSources } from "../../domain/alerting/paging/paging-sources.ts";
import type { ServiceFacts } from "../../domain/alerting/paging/service-facts.ts";
import type { TrainingResult } from "../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks, AnomalyChanges, EndingContext } from "../anomalies/anomalies-context.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import type { RetirementBooks } from "../services/services-context.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { CyclePace } from "./cycle-pace.ts";
import type { SloBook } from "./slo/slo-book.ts";
import type { RequestedModels } from "./training/model-training.ts";
import type { TrainingRowsBook } from "./training/training-rows-book.ts";

/** State that the stages read. */
type StagesState = StateWith<
  AlertBooks & AnomalyBooks & { readonly slo: SloBook; readonly services: ServiceFacts; readonly trainingRows: TrainingRowsBook },
  { readonly tenants: { readonly size: number } } & RetirementBooks
>;

export interface StagesContext {
  readonly state: StagesState;
  readonly paging: PagingSources;
  readonly counters: CoordinatorCounters;
  /** Drafts of one transaction over alerts and anomalies, and how they are taken over. */
  readonly commits: AnomalyChanges;
  /** What ends anomalies and alerts that no detector ends. */
  readonly ending: EndingContext;
  nowMs(): number;
  /** Has whoever steps do so. */
  wake?(): void;
  monotonicMs(): number;
  readonly engines: EngineClient;
  readonly pace: CyclePace;
  yieldToLoop(): Promise<void>;
  sleep(ms: number): Promise<void>;
  /** Writes to the control store between the transactions of others; rejects with StoreError. */
  store(operations: readonly StoreOperation[]): Promise<void>;
  /** Does work that writes, between the transactions of others; rejects with StoreError. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Commits what the engines have sent so far: then what they no longer hold is in the store. */
  settle(): Promise<void>;
  /** Trains a service's model in another thread; where it is not given none is trained. */
  train?(input: TrainingInput): Promise<TrainingResult>;
  /** Models that people have had trained, and what engines say of shadows. */
  readonly requested: RequestedModels & { takeCounts(shadows: readonly ShadowCounts[]): void };
  /** An orderly stop has begun. */
  isStopping(): boolean;
  /** Tells the log. */
  log(line: string): void;
  /** Stores findings as an engine's; rejects with StoreError. */
  declare(frames: readonly EpisodeFrame[]): Promise<void>;
}
