/**
 * Gives engines the models of their services: what is stored, or else a new one, trained elsewhere on stored history. One service after another, those with a
 * stored model first; whoever finds no place, or whose training fails, asks again later. It runs beside the steps of the coordinator.
 */
import { StoreError } from "../../../adapters/storage/key-value-store.ts";
import { SERVICE_MODEL_AGE_MS_MAX, SERVICE_VECTORS_MAX, SERVICE_VECTORS_MIN } from "../../../core/config/limits.ts";
import { TRAINING_READ_MS, TRAINING_READ_SHARE } from "../../../core/config/pace-limits.ts";
import { FairQueue } from "../../../core/fairness/fair-queue.ts";
import { PacedWork } from "../../../core/fairness/paced-work.ts";
import type { ShareLedger } from "../../../core/fairness/share-ledger.ts";
import { DETECTOR_SERVICE_MODELS, DETECTOR_SERVICES } from "../../../core/protocol/coordinator-frame.ts";
import type {
  ServiceHistoryAnswer,
  ServiceModelMessage,
  ServicesWanting,
  ServiceWanting,
  ShadowModelMessage,
} from "../../../core/protocol/engine-control.ts";
import { decodeServiceRow, encodeServiceRow, type ServiceRow, serviceHash, servicePage } from "../../../core/protocol/service-rows.ts";
import { messageOf } from "../../../core/text/error-text.ts";
import type { TrainingResult } from "../../../domain/detection/multivariate/service-training.ts";
import type { Stretch } from "../../../domain/detection/multivariate/strange-stretches.ts";
import type { TrainingInput } from "../../../domain/detection/multivariate/training-input.ts";
import { type EngineClient, EngineUnavailableError } from "../../engines/engine-client.ts";
import type { CoordinatorCounters } from "../../state/coordinator-counters.ts";
import { detectorStatesKey } from "../../state/tables.ts";
import { serviceHistory } from "./stored-history.ts";
import { keepRows, type TrainingPastState, trainingPast } from "./training-past.ts";

/** A training that failed is tried again after this. */
const FAILED_RETRY_MS = 3600 * 1000;
/** Samples are looked for so many intervals back for each vector: a service may send at every second cycle only. */
const INTERVALS_PER_VECTOR = 2;
/** Rows of models read before others of the thread get a turn: 16 x 20 KB. */
const LOADS_PER_SLICE = 16;

export interface ModelTrainingOptions {
  /** WATCHDOG_INTERVAL_SECONDS in ms. */
  readonly intervalMs: number;
  /** RETENTION_RAW_DAYS in ms. */
  readonly rawRetentionMs: number;
}

export interface ModelTrainingDependencies {
  readonly engines: EngineClient;
  readonly state: TrainingPastState;
  readonly counters: CoordinatorCounters;
  nowMs(): number;
  monotonicMs(): number;
  yieldToLoop(): Promise<void>;
  sleep(ms: number): Promise<void>;
  /** Commits what the engines have sent so far: then what they no longer hold is in the store. */
  settle(): Promise<void>;
  /** Does work that writes, between transactions. Rejects with StoreError. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Trains in another thread; rejects where that could not be done. */
  train(input: TrainingInput): Promise<TrainingResult>;
  /** An orderly stop has begun: nothing is begun any more. */
  isStopping(): boolean;
  /** Tells the log. */
  log(line: string): void;
  /** Models that people have had trained. */
  readonly requested: RequestedModels;
}

/** Models trained on request, as engines get them, by tenant, service and environment. */
export interface RequestedModels {
  /** The promoted one, for vectors of these columns; undefined where there is none. */
  production(service: RequestedService, columns: string): ServiceModelMessage | undefined;
  /** The one that is scored beside it. */
  shadow(service: RequestedService): ShadowModelMessage | undefined;
  /** Times that people have called an incident of the service, what led to it and what it left behind included. */
  incidents(service: RequestedService, nowMs: number): readonly Stretch[];
}

interface RequestedService {
  readonly tenant: string;
  readonly serviceId: string;
  readonly environment: string;
}

interface Wanted extends ServiceWanting {
  readonly engine: number;
}

export class ModelTraining {
  readonly #options: ModelTrainingOptions;
  readonly #dependencies: ModelTrainingDependencies;
  /** By what is wanted, the tenant and the service. */
  readonly #waiting = { stored: new FairQueue<Wanted>(), model: new FairQueue<Wanted>() };
  /** Shares of the places in both. */
  readonly #shares: ShareLedger;
  readonly #paced: PacedWork;
  #running: Promise<void> | undefined;

  constructor(options: ModelTrainingOptions, dependencies: ModelTrainingDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#shares = dependencies.state.shares.ledger("services_waiting");
    this.#paced = new PacedWork({ share: TRAINING_READ_SHARE, pieceMs: TRAINING_READ_MS }, dependencies);
  }

  /** Takes what a slice of an engine's pass wants, and begins with it. */
  take(engine: number, { services }: ServicesWanting): void {
    for (const service of services) {
      const waiting = this.#waiting[service.wants];
      const key = serviceHash(service.key, service.environment);
      const [tenant] = JSON.parse(service.key) as [string];
      if (waiting.has(tenant, key) || this.#shares.take(tenant)) waiting.put(tenant, key, { ...service, engine });
    }
    this.#count();
    this.#running ??= this.#run().finally(() => {
      this.#running = undefined;
    });
  }

  /** Resolves once nothing waits. */
  async idle(): Promise<void> {
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let loads = 1; !this.#dependencies.isStopping(); loads++) {
      const next = this.#waiting.stored.take() ?? this.#waiting.model.take();
      if (next === undefined) return;
      this.#shares.give(next.tenant);
      this.#count();
      if (loads % LOADS_PER_SLICE === 0) await this.#dependencies.yieldToLoop();
      await this.#serve(next.key, next.item);
    }
  }

  /** An engine or a store that does not answer, and a training that fails, leave the service to ask again. */
  async #serve(service: string, wanted: Wanted): Promise<void> {
    try {
      if (wanted.wants === "stored") this.#load(service, wanted);
      else await this.#train(service, wanted);
    } catch (error) {
      if (!(error instanceof EngineUnavailableError || error instanceof StoreError)) throw error;
    }
  }

  #count(): void {
    const { stored, model } = this.#waiting;
    this.#dependencies.counters.set("servicesWaiting", stored.size + model.size);
  }

  #load(service: string, wanted: Wanted): void {
    const { engines, requested } = this.#dependencies;
    const shadow = requested.shadow(serviceOf(wanted));
    if (shadow !== undefined) engines.notify(wanted.engine, shadow);
    if (this.#sendPromoted(wanted)) return;
    const model = this.#row(service, wanted, DETECTOR_SERVICE_MODELS);
    const state = this.#row(service, wanted, DETECTOR_SERVICES);
    if (model === undefined || state === undefined) return this.#report(wanted, {});
    this.#dependencies.counters.add("modelsLoaded", 1);
    this.#report(wanted, {
      model: model.bytes,
      state: new Float64Array(state.bytes.buffer),
      sampleMs: state.timeMs,
      trainedMs: model.timeMs,
      rows: model.count,
      dueMs: this.#dueMs(model.timeMs, model.count),
    });
  }

  /** True where somebody has promoted a model: then no other one counts. */
  #sendPromoted(wanted: Wanted): boolean {
    const { engines, requested, counters } = this.#dependencies;
    const promoted = requested.production(serviceOf(wanted), wanted.columns);
    if (promoted === undefined) return false;
    counters.add("modelsLoaded", 1);
    engines.notify(wanted.engine, promoted);
    return true;
  }

  /** A stored row of the service and its metrics. */
  #row(service: string, { partition, columns }: Wanted, detector: number): ServiceRow | undefined {
    const bytes = this.#dependencies.state.series.get("detector_states", detectorStatesKey(partition, detector, servicePage(service)));
    const row = bytes && decodeServiceRow(bytes);
    return row?.service === service && row.columns === columns ? row : undefined;
  }

  async #train(service: string, wanted: Wanted): Promise<void> {
    const { engines, nowMs, monotonicMs, counters, settle, log } = this.#dependencies;
    const { intervalMs } = this.#options;
    const { key, environment } = wanted;
    if (this.#sendPromoted(wanted)) return;
    const startMs = monotonicMs();
    const answer = await engines.serviceHistory(wanted.engine, { key, environment });
    if (answer.columns !== wanted.columns) return;
    await settle();
    const trainedMs = nowMs();
    const input = await this.#input(service, wanted, answer, trainedMs);
    if (input === undefined) return;
    let result: TrainingResult;
    try {
      result = await this.#dependencies.train(input);
    } catch (error) {
      if (this.#dependencies.isStopping()) return;
      counters.add("trainingFailures", 1);
      log(`a model of the service ${key} was not trained: ${messageOf(error)}; it is tried again in an hour`);
      return this.#report(wanted, { dueMs: trainedMs + FAILED_RETRY_MS });
    } finally {
      counters.add("trainingSeconds", (monotonicMs() - startMs) / 1000);
    }
    // Somebody may have promoted a model meanwhile.
    if (this.#dependencies.isStopping() || this.#sendPromoted(wanted)) return;
    const { rows, model, state, retained, isRefused = false } = result;
    if (retained !== undefined) await this.#keep(service, wanted, { rows, bytes: retained, storedMs: trainedMs });
    if (isRefused) {
      counters.add("modelsRefused", 1);
      return this.#report(wanted, { dueMs: this.#dueMs(trainedMs, rows) });
    }
    if (model === null) return this.#report(wanted, { dueMs: trainedMs + (SERVICE_VECTORS_MIN - rows) * intervalMs });
    await this.#store(service, wanted, { model, rows, trainedMs });
    counters.add("modelsTrained", 1);
    this.#report(wanted, { model, state, trainedMs, rows, dueMs: this.#dueMs(trainedMs, rows) });
  }

  /** Undefined once a stop has begun. */
  async #input(service: string, wanted: Wanted, answer: ServiceHistoryAnswer, toMs: number): Promise<TrainingInput | undefined> {
    const { intervalMs, rawRetentionMs } = this.#options;
    const fromMs = toMs - Math.min(rawRetentionMs, INTERVALS_PER_VECTOR * SERVICE_VECTORS_MAX * intervalMs);
    const { state, isStopping } = this.#dependencies;
    const request = { fromMs, toMs, intervalMs, rowsMax: SERVICE_VECTORS_MAX, seed: servicePage(service) };
    const input = await serviceHistory(answer, wanted.partition, request, { series: state.series, paced: this.#paced, isStopping });
    if (input === undefined) return undefined;
    const of = { ...serviceOf(wanted), service, columns: wanted.columns };
    const model = this.#row(service, wanted, DETECTOR_SERVICE_MODELS)?.bytes;
    const past = await trainingPast(of, { fromMs, toMs, model }, { state, paced: this.#paced });
    return { ...input, past: { ...past, excluded: [...past.excluded, ...this.#dependencies.requested.incidents(of, toMs)] } };
  }

  /** Where a tenant has no room for its vectors the next training has none but what raw samples give. */
  async #keep(
    service: string,
    wanted: Wanted,
    { rows, bytes, storedMs }: { readonly rows: number; readonly bytes: Uint8Array; readonly storedMs: number },
  ): Promise<void> {
    const { state, edit, counters } = this.#dependencies;
    const { tenant } = serviceOf(wanted);
    const isRetained = await keepRows(
      { tenant, service },
      { rows, bytes, storedMs, columns: wanted.columns },
      { state, edit, paced: this.#paced },
    );
    if (!isRetained) counters.add("trainingRowsRefused", 1);
  }

  async #store(
    service: string,
    { partition, columns }: Wanted,
    { model, rows, trainedMs }: { readonly model: Uint8Array<ArrayBuffer>; readonly rows: number; readonly trainedMs: number },
  ): Promise<void> {
    const { edit, state } = this.#dependencies;
    const value = encodeServiceRow({ count: rows, timeMs: trainedMs, service, columns, bytes: model });
    const key = detectorStatesKey(partition, DETECTOR_SERVICE_MODELS, servicePage(service));
    await edit(() => state.series.commit([{ table: "detector_states", key, value }]));
  }

  /** When history has doubled, and after a day at the latest. */
  #dueMs(trainedMs: number, rows: number): number {
    return trainedMs + Math.min(SERVICE_MODEL_AGE_MS_MAX, rows * this.#options.intervalMs);
  }

  #report({ engine, key, environment, columns }: Wanted, known: Partial<ServiceModelMessage>): void {
    const nothing = { model: null, state: null, sampleMs: 0, trainedMs: 0, rows: 0, dueMs: 0, promoted: null };
    this.#dependencies.engines.notify(engine, { ...nothing, ...known, type: "service-model", key, environment, columns });
  }
}

function serviceOf({ key, environment }: Wanted): RequestedService {
  const [tenant, serviceId] = JSON.parse(key) as [string, string];
  return { tenant, serviceId, environment };
}
