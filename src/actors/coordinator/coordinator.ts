/**
 * The coordinator: takes what engines send, makes it durable, answers questions about it. The only writer of the store.
 *
 * It has no timer and no thread: `step` does one round of work (one transaction, then one step of retention) and says when to call again;
 * `handle` takes commands. The thread around it (worker.ts) or a simulation calls both. At 50 verdicts a transaction of 5 ms it stores about
 * 10,000 anomalies a second; a query takes at most a few ms without giving others their turn.
 */
import { dispatch, type Handlers } from "../../adapters/runtime/mailbox.ts";
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { ALERTS_MAX, ANOMALIES_MAX } from "../../core/config/limits.ts";
import type { AccessChange } from "../../core/protocol/access.ts";
import {
  type AwaitedFrames,
  type EpisodeFrame,
  FRAME_VERDICT,
  type LaneMark,
  type MetricMetadataEnvelope,
} from "../../core/protocol/coordinator-frame.ts";
import type {
  DetectorStates,
  DetectorStatesWanted,
  SettingsUpdate,
  StatePart,
  StatePartWanted,
  StoredCheckpoint,
  StreamsWanted,
} from "../../core/protocol/engine-control.ts";
import type { CoordinatorCommand, CoordinatorMessage, Listeners, QueryCall, ReplayAnswer } from "../../core/protocol/query.ts";
import { logOf } from "../../core/telemetry/log-event.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import type { TrainingResult } from "../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import { environmentSettings } from "../../domain/detection/watchdog-settings.ts";
import { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import { Changes } from "./access/changes.ts";
import { liveSources } from "./alerts/live-sources.ts";
import type { AnalysisRunner } from "./analysis/analysis-runner.ts";
import type { EvidenceGathering } from "./analysis/evidence-gathering.ts";
import { makeAnalysis } from "./analysis/make-analysis.ts";
import { SummaryWording } from "./analysis/summary-wording.ts";
import { ControlCommitter, type ControlCommitterDependencies } from "./commits/control-committer.ts";
import { FrameCommits } from "./commits/frame-commits.ts";
import { ReplayRunner } from "./dead-letters/replay-runner.ts";
import { EngineClient, type EngineLink } from "./engines/engine-client.ts";
import { Attempts } from "./loop/attempts.ts";
import { type DiskMeasure, DiskUsage } from "./loop/disk-usage.ts";
import { EditQueue } from "./loop/edit-queue.ts";
import { Retention, type RetentionOutcome } from "./loop/retention.ts";
import { retentionOptions } from "./loop/retention-options.ts";
import { StoreGuard } from "./loop/store-guard.ts";
import { storedNotices } from "./loop/stored-notices.ts";
import { Outbox } from "./notification/outbox.ts";
import type { NotificationOptions } from "./notification/routes.ts";
import { Vectorizer } from "./pillars/vectorizer.ts";
import type { DetectionOptions, QueryContext } from "./queries/query-context.ts";
import { QueryRunner } from "./queries/query-runner.ts";
import { ColdStreamLoader } from "./series/cold/cold-stream-loader.ts";
import { CommittedState } from "./state/committed-state.ts";
import { CoordinatorCounters } from "./state/coordinator-counters.ts";
import type { CoordinatorSharesOptions } from "./state/coordinator-shares.ts";
import type { LogFloor } from "./state/log-coverage.ts";
import { countStored } from "./state/stored-counts.ts";
import { DataFaults, type DataFaultsDependencies } from "./status/data-faults.ts";
import { CyclePace } from "./watchdog/cycle-pace.ts";
import { readDetectorStates } from "./watchdog/detector-states.ts";
import { Watchdog } from "./watchdog/watchdog.ts";
import { watchdogStages } from "./watchdog-stages.ts";

/** Settings, and bounds that a test may narrow. */
export interface CoordinatorOptions extends DetectionOptions {
  readonly version: string;
  /** WATCHDOG_Z_SCORE_THRESHOLD, WATCHDOG_MIN_SAMPLES and WATCHDOG_WINDOW. */
  readonly zThreshold: number;
  readonly samplesMin: number;
  /** WATCHDOG_RCA_COOLDOWN_MINUTES and ALERT_DEDUP_MAX_AGE_MINUTES; the contract's defaults where they are not given. */
  readonly rcaCooldownMinutes?: number;
  readonly dedupMaxAgeMinutes?: number;
  readonly window: number;
  /** LOG_FIELD_EXCLUSIONS; none where they are not given. */
  readonly exclusions?: FieldExclusions;
  /** RETENTION_DAYS and RETENTION_RAW_DAYS in ms. */
  readonly retentionMs: number;
  readonly rawRetentionMs: number;
  /** AUDIT_RETENTION_DAYS in ms; a year where it is not given. */
  readonly auditRetentionMs?: number;
  readonly auditRowsMax?: number;
  /** DISK_LIMIT_GIB in bytes; none where it is not given. */
  readonly diskLimitBytes?: number;
  /** VECTORIZER_INTERVAL_SECONDS in ms; no pillar is scored where it is not given. */
  readonly vectorizerIntervalMs?: number;
  /** No cycle of the Watchdog runs where it is not given. */
  readonly watchdogIntervalMs?: number;
  /** WATCHDOG_WARMUP_MINUTES; as it is by default where it is not given. */
  readonly warmUpMinutes?: number;
  readonly anomaliesMax?: number;
  readonly alertsMax?: number;
  readonly episodesMax?: number;
  readonly deadLetterBytesMax?: number;
  readonly sharedLimits?: CoordinatorSharesOptions["sharedLimits"];
  /** Notifiers without their secrets; nobody is told where it is not given. */
  readonly notification?: NotificationOptions;
  /** How long frames for `series` may gather; not at all where it is not given. */
  readonly seriesRestMs?: number;
  /** Whether main words summaries (LLM_BASE_URL); by rule where it is not given. */
  readonly wordsSummaries?: boolean;
}

/** The world around the coordinator. */
export interface CoordinatorDependencies
  extends Pick<ControlCommitterDependencies & DataFaultsDependencies, "hasSubscribers" | "faultKeeper"> {
  readonly controlStore: KeyValueStore;
  readonly seriesStore: KeyValueStore;
  readonly engines: readonly EngineLink[];
  /** Begins with one slot per name of COORDINATOR_COUNTERS. */
  readonly counters: Float64Array;
  nowMs(): number;
  monotonicMs(): number;
  emit(message: CoordinatorMessage): void;
  observeLatencySeconds(seconds: number): void;
  deleteLogSegments(floor: LogFloor): void | Promise<void>;
  measureDisk(): DiskMeasure;
  randomBytes(count: number): Uint8Array;
  /** Resolves after a turn of the event loop. */
  yieldTurn(): Promise<void>;
  /** Resolves after so many milliseconds. */
  sleep(ms: number): Promise<void>;
  /** Has whoever steps do so: an edit was a step of its own, and it leaves more. */
  wake?(): void;
  /** Trains a service's model in another thread; where it is not given none is trained. */
  train?(input: TrainingInput): Promise<TrainingResult>;
}

/** What a step leaves: whether another may be done at once, else the monotonic time at which the next is due even without a command. */
export interface StepReport {
  readonly more: boolean;
  /** More is only what engines have sent meanwhile: a step a little later commits that with what comes until then. */
  readonly mayGather: boolean;
  /** The store does not take writes until `dueMs`: what engines have sent stays where it is. */
  readonly isPaused: boolean;
  /** Which frames are not to wait for `dueMs`. */
  readonly awaits: AwaitedFrames;
  readonly dueMs: number;
}

/** Steps that a query waits for at most, so that what an engine no longer holds has reached the store. */
const SETTLE_STEPS_MAX = 8;

/** One server's coordinator. Call `open` first, once. */
export class Coordinator {
  readonly #options: CoordinatorOptions;
  readonly #dependencies: CoordinatorDependencies;
  readonly #state: CommittedState;
  readonly #counters: CoordinatorCounters;
  readonly #committer: ControlCommitter;
  readonly #frames: FrameCommits;
  readonly #coldLoader: ColdStreamLoader;
  readonly #retention: Retention;
  readonly #guard: StoreGuard;
  readonly #disk: DiskUsage;
  readonly dataFaults: DataFaults;
  readonly #replay: ReplayRunner;
  readonly #vectorizer: Vectorizer;
  readonly #analysis: AnalysisRunner;
  readonly #wording: SummaryWording;
  readonly #watchdog: Watchdog;
  readonly outbox: Outbox;
  readonly #edits = new EditQueue();
  /** Of what is in `control` alone: it waits for no commit of `series`. */
  readonly #controlEdits = new EditQueue();
  readonly #runner: QueryRunner;
  #stepping: Promise<StepReport> | undefined;
  /** Whether the last step committed anything that engines had sent. */
  #tookFrames = false;
  /** Queries that wait for all that engines have sent. */
  #settling = 0;
  readonly listeners: Listeners = { otlp: { state: "closed", port: 0 }, alerts: { state: "closed", port: 0 } };
  #enginesReady = false;
  #lastRunMs = 0;
  #stopping: "no" | "asked" | "done" = "no";
  readonly #handlers: Handlers<CoordinatorCommand, Promise<void>> = {
    query: (call) => this.query(call),
    "replay-answer": async (answer) => this.takeReplayAnswer(answer),
    "summary-worded": async (worded) => this.#wording.take(worded),
    "engines-ready": async () => this.markEnginesReady(),
    listeners: async ({ listeners }) => void Object.assign(this.listeners, listeners),
    "data-fault": async ({ fault }) => this.dataFaults.add(fault),
    stop: async () => this.stop(),
  };

  constructor(options: CoordinatorOptions, dependencies: CoordinatorDependencies) {
    const { engines, controlStore, seriesStore, emit } = dependencies;
    this.#options = options;
    this.#dependencies = dependencies;
    const watchdog = { settings: environmentSettings(options), samplesMin: options.samplesMin };
    this.#counters = new CoordinatorCounters(dependencies.counters);
    const shares = { sharedLimits: options.sharedLimits, counters: this.#counters };
    this.#state = new CommittedState({ control: controlStore, series: seriesStore }, watchdog, shares, options.notification?.routing);
    this.#coldLoader = new ColdStreamLoader(seriesStore, engines);
    const log = logOf("store", (event) => emit({ type: "log", ...event }));
    const observeLatencySeconds = (seconds: number) => {
      dependencies.observeLatencySeconds(seconds);
      this.#replay.observeLatency(seconds);
    };
    const paging = liveSources(this.#state, { startedAtMs: dependencies.nowMs(), warmUpMinutes: options.warmUpMinutes });
    const shared = {
      ...dependencies,
      observeLatencySeconds,
      paging,
      state: this.#state,
      counters: this.#counters,
      pace: new CyclePace(options.watchdogIntervalMs ?? Number.POSITIVE_INFINITY),
      checkpointsStored: () => this.#coldLoader.retry(),
      ...storedNotices(engines, this.#state, log),
      analysisDue: (anomalies: readonly Anomaly[]) => this.#analysis.take(anomalies),
    };
    const { anomaliesMax = ANOMALIES_MAX, alertsMax = ALERTS_MAX, retentionMs, seriesRestMs = 0 } = options;
    this.#committer = new ControlCommitter({ anomaliesMax, alertsMax, retentionMs }, shared);
    this.#frames = new FrameCommits(engines, { retentionMs, seriesRestMs }, { ...shared, committer: this.#committer });
    this.#replay = new ReplayRunner({ ...shared, control: controlStore, replays: this.#state.replays });
    this.#retention = new Retention(retentionOptions(options), shared);
    this.#guard = new StoreGuard({ counters: this.#counters, log });
    this.dataFaults = new DataFaults({ ...dependencies, counters: this.#counters, log });
    this.#disk = new DiskUsage(options.diskLimitBytes ?? Number.POSITIVE_INFINITY, { ...dependencies, counters: this.#counters });
    const edit = <T>(work: () => Promise<T>) => this.#edit(work);
    this.outbox = new Outbox(options.notification, { ...shared, edit });
    const engineClient = new EngineClient(engines);
    const editControl = <T>(work: () => Promise<T>) => this.#edit(work, this.#controlEdits);
    const { gathering, runner } = makeAnalysis({ ...shared, control: controlStore, engines: engineClient, edit: editControl });
    this.#analysis = runner;
    this.#wording = new SummaryWording({ isOn: options.wordsSummaries === true, counters: this.#counters, emit });
    this.#vectorizer = new Vectorizer(
      { intervalMs: options.vectorizerIntervalMs },
      {
        ...shared,
        control: controlStore,
        serviceMap: this.#state.configured.serviceMap,
        engines: engineClient,
        edit,
      },
    );
    this.#watchdog = new Watchdog(
      { intervalMs: options.watchdogIntervalMs },
      watchdogStages(options, {
        ...shared,
        engines: engineClient,
        store: (operations) => this.#edit(() => controlStore.commit(operations)),
        declare: (frames) => this.#declare(frames),
        settle: () => this.#settle(),
        edit,
        isStopping: () => this.#stopping !== "no",
        log: (msg) => emit({ type: "log", level: "warn", component: "coordinator", msg }),
        alertsMax,
      }),
      { ...shared, cycleCompleted: (cycles) => emit({ type: "cycle-completed", cycles }) },
    );
    this.#runner = new QueryRunner({ ...shared, context: this.#queryContext(engineClient, gathering) });
  }

  /** Reads the store and removes what no checkpoint knows of. Everything else comes after it. */
  async open(): Promise<void> {
    const { randomBytes, nowMs, emit } = this.#dependencies;
    for (const msg of await this.#state.open(randomBytes, nowMs())) emit({ type: "log", level: "warn", component: "store", msg });
    await this.#state.configured.tenants.found(this.#state.control, this.#dependencies.nowMs());
    this.#lastRunMs = this.#dependencies.nowMs();
    this.outbox.load();
    this.#analysis.restore();
    countStored(this.#counters, this.#state);
  }

  /** Checkpoints for the engines that own their partitions; these ask for the states. */
  loadCheckpoints(): Iterable<StoredCheckpoint> {
    return this.#state.checkpoints();
  }

  /** A part of a stored state, with bytes of its own. */
  loadStatePart(wanted: StatePartWanted): StatePart {
    return { ...wanted, bytes: this.#state.statePart(wanted) };
  }

  /** Stored states of a detector of the Watchdog, with bytes of their own. */
  loadDetectorStates(wanted: DetectorStatesWanted): DetectorStates {
    return readDetectorStates(this.#state.series, wanted);
  }

  /** Delivers streams that an engine wants back, now or once they are stored. */
  returnStreams(engine: number, { wanted }: StreamsWanted): void {
    this.#coldLoader.ask(engine, wanted);
  }

  /** Types, units and helps of metrics, for all engines. */
  loadMetadata(): readonly MetricMetadataEnvelope[] {
    return this.#state.metadata.all;
  }

  /** Settings of the Watchdog, for all engines. */
  loadWatchdogSettings(): SettingsUpdate {
    return this.#state.configured.watchdog.update();
  }

  /** Tenants and credentials, for the front. */
  loadAccess(): readonly AccessChange[] {
    return this.#state.configured.accessChanges();
  }

  /** How far each lane's records and dead letters are stored: those logged behind have to be sent again. */
  loadLaneMarks(): readonly LaneMark[] {
    return this.#state.coverage.marks;
  }

  /**
   * Takes a command. A query is answered through `emit` before the promise resolves, and never rejects. After any other command the caller
   * steps for as long as there is `more`.
   */
  handle(command: CoordinatorCommand): Promise<void> {
    return dispatch(this.#handlers, command);
  }

  /** Does one round of work; a call during a round gets the round that runs. Rejects only on a defect of this program or a store that was closed. */
  step(): Promise<StepReport> {
    this.#stepping ??= this.#step().finally(() => {
      this.#stepping = undefined;
    });
    return this.#stepping;
  }

  /** Answers one call. */
  async query(call: QueryCall): Promise<void> {
    const answered = await this.#runner.answer(call);
    this.#dependencies.emit({ type: "answer", id: call.id, ...answered });
  }

  /** An engine has taken a batch of a replay, or has not. */
  takeReplayAnswer(answer: ReplayAnswer): void {
    this.#replay.take(answer);
  }

  markEnginesReady(): void {
    this.#enginesReady = true;
  }

  /** From now on `step` ends with `stopped`, once everything that the engines have sent is stored, or at once when the store does not take it. */
  stop(): void {
    if (this.#stopping === "no") this.#stopping = "asked";
    this.outbox.stop();
  }

  async #step(): Promise<StepReport> {
    const { monotonicMs } = this.#dependencies;
    const pausedUntilMs = this.#guard.pausedUntilMs(monotonicMs());
    if (pausedUntilMs !== undefined) for (const edits of [this.#edits, this.#controlEdits]) edits.refuse();
    const paused = { more: false, mayGather: false, isPaused: true, awaits: "any" } as const;
    if (pausedUntilMs !== undefined) return this.#finished({ ...paused, dueMs: pausedUntilMs });
    const { more, mayGather } = await this.#write();
    const isServing = this.#enginesReady && this.#stopping === "no";
    const ticksDueMs = isServing
      ? Math.min(this.#vectorizer.step(), this.#watchdog.step(), this.#analysis.step())
      : Number.POSITIVE_INFINITY;
    this.#disk.measure(monotonicMs());
    this.#guard.limit(this.#disk.isOverLimit);
    const retryMs = this.#guard.pausedUntilMs(monotonicMs());
    if (retryMs !== undefined) return this.#finished({ ...paused, dueMs: retryMs });
    const { isGathering } = this.#frames;
    const dueMs = Math.min(this.#retentionDueMs, this.#disk.dueMs, this.#replayDueMs, ticksDueMs, this.#frames.dueMs);
    return this.#finished({ more, mayGather, isPaused: false, awaits: isGathering ? "prompt" : "any", dueMs });
  }

  /** Retention is tried even where frames were refused: it may be what makes room. A part without work is passed over: some hundred rounds a second have one. */
  async #write(): Promise<Pick<StepReport, "more" | "mayGather">> {
    const { nowMs, monotonicMs } = this.#dependencies;
    const attempts = new Attempts();
    const { failures } = attempts;
    const { series } = this.#frames;
    if (series.hasFailed || this.#edits.isWaiting || this.#isUrgent) await attempts.make(() => series.end());
    if (this.#edits.isWaiting && !series.isUnderWay) await this.#edits.run();
    await this.#controlEdits.run();
    this.#lastRunMs = nowMs();
    this.#tookFrames = this.#frames.read(this.#isUrgent) && (await attempts.make(() => this.#frames.commitControl())) === true;
    const replayed = monotonicMs() >= this.#replayDueMs && (await attempts.make(() => this.#stepReplay()));
    const retains = monotonicMs() >= this.#retentionDueMs;
    const retention: RetentionOutcome | undefined = retains ? await attempts.make(() => this.#retention.step(nowMs())) : "idle";
    if (monotonicMs() >= this.#disk.trimDueMs) await attempts.make(() => this.#disk.trim(monotonicMs()));
    const isUrgent = this.#isUrgent;
    const begun = failures.length === 0 && series.begin(isUrgent);
    if (isUrgent) await attempts.make(() => series.end());
    this.#tookFrames ||= begun && isUrgent;
    // Work of retention that has come to no commit yet says nothing of the store.
    if (failures.length === 0 && (this.#tookFrames || retention !== "worked")) this.#guard.succeeded();
    if (failures.length > 0) this.#guard.failed(failures[0], monotonicMs());
    const works = replayed === true || retention !== "idle";
    const more = failures.length === 0 && (this.#tookFrames || works);
    return { more, mayGather: more && !works && this.#frames.isCaughtUp && this.#stopping === "no" };
  }

  /** Nobody else writes to `series` while a commit there is under way. Engines that start come first, but where the store takes nothing: they may need room. */
  get #retentionDueMs(): number {
    const mayRetain = this.#stopping === "no" && !this.#frames.series.isUnderWay && (this.#enginesReady || this.#guard.refusesWrites);
    return mayRetain ? this.#retention.dueMs : Number.POSITIVE_INFINITY;
  }

  /** Whether nothing may wait to be committed with others, or beside a step. */
  get #isUrgent(): boolean {
    return this.#settling > 0 || this.#stopping !== "no" || this.#guard.isReadOnly || this.#frames.series.isAwaited;
  }

  get #replayDueMs(): number {
    const mayReplay = this.#enginesReady && this.#stopping === "no" && !this.#guard.refusesWrites;
    return mayReplay ? this.#replay.dueMs : Number.POSITIVE_INFINITY;
  }

  /** True when it may go on at once. */
  async #stepReplay(): Promise<boolean> {
    await this.#replay.step(!this.#tookFrames && !this.#frames.isGathering);
    return this.#replay.dueMs <= this.#dependencies.monotonicMs();
  }

  #finished(report: StepReport): StepReport {
    this.#state.configured.count(this.#counters);
    const isDrained = !report.more || this.#guard.isReadOnly;
    if (this.#stopping !== "asked" || !isDrained) return report;
    this.#stopping = "done";
    this.#dependencies.emit({ type: "stopped" });
    return report;
  }

  #queryContext(engines: EngineClient, gathering: EvidenceGathering): QueryContext {
    const { nowMs, yieldTurn, emit, randomBytes, train } = this.#dependencies;
    const { audit } = this.#state.configured;
    const changes = new Changes({ store: this.#state.control, audit, nowMs, emit, edit: (work) => this.#edit(work) });
    return {
      options: { ...this.#options, exclusions: this.#options.exclusions ?? new FieldExclusions("") },
      state: this.#state,
      engines,
      gathering,
      dataFaults: this.dataFaults,
      outbox: this.outbox,
      nowMs,
      yieldTurn,
      facts: () => ({
        enginesReady: this.#enginesReady,
        storeRefusal: this.#guard.reason,
        disk: this.#disk.fill,
        lastRunMs: this.#lastRunMs,
        framesWaiting: this.#frames.waiting,
        queriesWaiting: this.#state.shares.ledger("queries_running").taken,
        listeners: this.listeners,
        vectorizer: this.#vectorizer.facts(),
        watchdog: this.#watchdog.facts(),
        analysis: this.#analysis.facts(),
      }),
      wordSummary: (analysis) => this.#wording.word(analysis),
      settle: () => this.#settle(),
      isStoreFailing: () => this.#guard.isReadOnly,
      edit: (work) => this.#edit(work),
      declare: (frames) => this.#declare(frames),
      change: (request, plan) => changes.make(request, plan),
      draftAlerts: () => this.#committer.draftAlerts(),
      draftVerdicts: (alerts) => this.#committer.draftVerdicts(alerts),
      takeAlerts: (draft) => this.#committer.takeAlerts(draft),
      takeVerdicts: (draft) => this.#committer.takeVerdicts(draft),
      tell: (events) => this.#committer.tell(events),
      ...(train !== undefined && { train }),
      randomBytes,
    };
  }

  /** What was found here and not by an engine: stored like an engine's frames. Rejects with StoreError where the store does not take it. */
  async #declare(frames: readonly EpisodeFrame[]): Promise<void> {
    if (frames.length === 0) return;
    await this.#edit(() =>
      this.#committer.commit(frames.map((frame) => ({ kind: FRAME_VERDICT, payload: Buffer.from(JSON.stringify(frame)) }))),
    );
  }

  /** Nothing else writes meanwhile: edits have their turn between transactions. */
  async #edit<T>(work: () => Promise<T>, edits = this.#edits): Promise<T> {
    const edited = edits.add(work);
    await this.#stepping;
    const { more, mayGather } = await this.step();
    if ((more && !mayGather) || this.#frames.isGathering) this.#dependencies.wake?.();
    return edited;
  }

  /** A round that runs already may have read the ring too early, so it does not count. */
  async #settle(): Promise<void> {
    this.#settling++;
    try {
      await this.#stepping;
      for (let steps = 0; steps < SETTLE_STEPS_MAX; steps++) {
        await this.step();
        if (!this.#tookFrames || this.#guard.isReadOnly) return;
      }
    } finally {
      this.#settling--;
      if (this.#frames.isGathering) this.#dependencies.wake?.();
    }
  }
}
