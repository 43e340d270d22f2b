// The parts of a coordinator, made and tied together: what commits, what keeps, what runs in cycles, what answers.
import { UPDATES_UNREAD_MS } from "../../core/config/interface-limits.ts";
import {
  ALERTS_MAX,
  ANOMALIES_MAX,
  AUDIT_ROWS_MAX,
  DEAD_LETTER_AGE_MS_MAX,
  DEAD_LETTER_BYTES_MAX,
  EPISODES_MAX,
  RETENTION_BLOCKS_PER_STEP,
  RETENTION_INTERVAL_MS,
  RETENTION_ROWS_PER_STEP,
} from "../../core/config/limits.ts";
import { type EpisodeFrame, FRAME_VERDICT } from "../../core/protocol/coordinator-frame.ts";
import type { Listeners } from "../../core/protocol/query.ts";
import { logOf } from "../../core/telemetry/log-event.ts";
import { environmentSettings } from "../../domain/detection/watchdog-settings.ts";
import { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import { Changes } from "../../modules/access/changes.ts";
import { liveSources } from "../../modules/alerts/live-sources.ts";
import type { EvidenceGathering } from "../../modules/analysis/evidence-gathering.ts";
import { makeAnalysis } from "../../modules/analysis/make-analysis.ts";
import { SummaryWording } from "../../modules/analysis/summary-wording.ts";
import { noteBackup } from "../../modules/backup/backup-module.ts";
import { replayEvent } from "../../modules/dead-letters/replay-handlers.ts";
import { ReplayRunner } from "../../modules/dead-letters/replay-runner.ts";
import { EngineClient } from "../../modules/engines/engine-client.ts";
import { storedNotices } from "../../modules/engines/engine-link.ts";
import { OwnBodies } from "../../modules/engines/own-bodies.ts";
import { trainingEvent } from "../../modules/models/job-handlers.ts";
import { incidentTimes } from "../../modules/models/labelled-times.ts";
import { ModelMessages } from "../../modules/models/model-messages.ts";
import { ServiceInputs } from "../../modules/models/service-inputs.ts";
import { TrainingJobs } from "../../modules/models/training-jobs.ts";
import { Drills } from "../../modules/notification/drills.ts";
import { Vectorizer } from "../../modules/pillars/vectorizer.ts";
import type { QueryContext } from "../../modules/queries/query-context.ts";
import { QueryRunner } from "../../modules/queries/query-runner.ts";
import { makeRules } from "../../modules/rules/make-rules.ts";
import { ColdStreamLoader } from "../../modules/series/cold/cold-stream-loader.ts";
import { QuerySource } from "../../modules/series/query-source.ts";
import { CoordinatorCounters } from "../../modules/state/coordinator-counters.ts";
import { countPlaces } from "../../modules/state/coordinator-shares.ts";
import { PartList } from "../../modules/state/part.ts";
import { DataFaults } from "../../modules/status/data-faults.ts";
import { DiskUsage } from "../../modules/status/disk-usage.ts";
import { detectionLatency } from "../../modules/status/latency-quantile.ts";
import { sharedState } from "../../modules/status/status-handler.ts";
import { StreamUpdates } from "../../modules/status/stream-updates.ts";
import { CyclePace } from "../../modules/watchdog/cycle-pace.ts";
import { Watchdog } from "../../modules/watchdog/watchdog.ts";
import { CommitFollowers } from "./commits/commit-followers.ts";
import { ControlCommitter } from "./commits/control-committer.ts";
import { FrameCommits } from "./commits/frame-commits.ts";
import { SetAsideFrames } from "./commits/set-aside-frames.ts";
import type { CoordinatorDependencies, CoordinatorOptions } from "./coordinator-options.ts";
import { Loop } from "./loop/loop.ts";
import { Retention, type RetentionOptions } from "./loop/retention.ts";
import { StoreGuard } from "./loop/store-guard.ts";
import { CommittedState } from "./nouns/committed-state.ts";
import { HANDLERS, type NounsContext, retentionWork, setGauges } from "./nouns/modules.ts";
import { Outbound } from "./outbound.ts";
import { watchdogStages } from "./watchdog-stages.ts";

const AUDIT_RETENTION_MS = 365 * 24 * 3600 * 1000;

/** Parts that store: the state, the commits that change it, and what keeps the store in bounds. */
type StoringParts = ReturnType<typeof storingParts>;
/** Parts that run beside the commits, at a pace of their own. */
type RunningParts = ReturnType<typeof runningParts>;

export interface CoordinatorParts extends Omit<StoringParts, "shared" | "followers">, Omit<RunningParts, "gathering" | "changes"> {
  readonly loop: Loop;
  /** What is started, stepped and stopped. */
  readonly list: PartList;
  readonly runner: QueryRunner<NounsContext>;
  readonly source: QuerySource;
  readonly updates: StreamUpdates;
  readonly listeners: Listeners;
}

/** Makes them, each with those that it uses: what stores, the rounds, what the rounds step, what answers. */
export function makeParts(options: CoordinatorOptions, dependencies: CoordinatorDependencies): CoordinatorParts {
  const { shared, followers, ...storing } = storingParts(options, dependencies);
  const list = new PartList();
  const count = () => countState(storing);
  const loop = new Loop({ ...storing, list, count }, dependencies);
  const engines = new EngineClient(dependencies.engines);
  const { gathering, changes, ...running } = runningParts(options, { ...shared, engines }, storing, loop);
  const { replay, analysis, outbound } = running;
  followers.add({ latencyObserved: (seconds) => replay.observeLatency(seconds), analysisDue: (anomalies) => analysis.take(anomalies) });
  followers.add(outbound);
  const listeners: Listeners = {
    otlp: { state: "closed", port: 0 },
    otlp_grpc: { state: "closed", port: 0 },
    alerts: { state: "closed", port: 0 },
  };
  const parts = { ...storing, ...running, loop, list, listeners };
  const context = queryContext(options, dependencies, { ...parts, gathering, changes, engines });
  const streamed = { updates: streamUpdates(dependencies, context) };
  addParts(list, { ...running, ...streamed });
  return {
    ...parts,
    runner: new QueryRunner<NounsContext>({ ...shared, nouns: HANDLERS, context }),
    source: new QuerySource(context),
    ...streamed,
  };
}

/** Adds what has a life of its own to the list, in the order of its start and of its steps. */
function addParts(list: PartList, parts: Omit<RunningParts, "gathering" | "changes"> & Pick<CoordinatorParts, "updates">): void {
  const { outbound, vectorizer, watchdog, groupWaits, analysis, drills, trainings, updates, rules, replay } = parts;
  for (const part of [outbound, vectorizer, watchdog, groupWaits, analysis, drills, trainings, updates, rules.schedule]) list.add(part);
  list.addWork(replay);
}

/** Notes how much there is. */
function countState({ state, counters }: Pick<StoringParts, "state" | "counters">): void {
  setGauges(state, counters);
  countPlaces(state.shares, counters);
}

function streamUpdates(world: CoordinatorDependencies, context: NounsContext): StreamUpdates {
  const { replays, configured } = context.state;
  const replayOf = (tenant: string, id: string) => {
    const job = replays.find(tenant, id);
    return job && replayEvent(job);
  };
  const trainingOf = (tenant: string, id: string) => {
    const job = configured.trainings.find(tenant, id);
    return job && trainingEvent(job);
  };
  return new StreamUpdates({
    ...world,
    jobs: () => [
      ...replays.lately(world.nowMs() - UPDATES_UNREAD_MS).map((job) => ({ tenant: job.tenant, event: replayEvent(job) })),
      ...configured.trainings
        .oldest()
        .filter(({ state }) => state === "running")
        .map((job) => ({ tenant: job.tenant, event: trainingEvent(job) })),
    ],
    job: (tenant, id) => replayOf(tenant, id) ?? trainingOf(tenant, id),
    state: () => sharedState(context),
    publish: context.publish,
  });
}

function storingParts(options: CoordinatorOptions, dependencies: CoordinatorDependencies) {
  const { engines, controlStore, seriesStore, emit } = dependencies;
  const counters = new CoordinatorCounters(dependencies.counters);
  const state = new CommittedState(
    { control: controlStore, series: seriesStore },
    { settings: environmentSettings(options), samplesMin: options.samplesMin, confirmation: options.confirmation },
    { sharedLimits: options.sharedLimits, counters },
    options.notification?.routing,
  );
  const coldLoader = new ColdStreamLoader(seriesStore, engines);
  const log = logOf("store", (event) => emit({ type: "log", ...event }));
  const followers = new CommitFollowers();
  followers.add({ latencyObserved: (seconds) => dependencies.observeLatencySeconds(seconds) });
  const shared = {
    ...dependencies,
    ...followers.all,
    paging: liveSources(state, {
      startedAtMs: dependencies.nowMs(),
      warmUpMinutes: options.warmUpMinutes,
      confirmation: options.confirmation,
      groupWaitMs: options.groupWaitMs,
      repeatMs: options.repeatMs,
    }),
    state,
    counters,
    pace: new CyclePace(options.watchdogIntervalMs ?? Number.POSITIVE_INFINITY),
    checkpointsStored: () => coldLoader.retry(),
    ...storedNotices(engines, state.analyses.changes, log),
  };
  const { anomaliesMax = ANOMALIES_MAX, alertsMax = ALERTS_MAX, retentionMs, seriesGatherMs = 0 } = options;
  const committer = new ControlCommitter({ anomaliesMax, alertsMax, retentionMs }, shared);
  const dataFaults = new DataFaults({ ...dependencies, counters, log });
  const setAside = new SetAsideFrames({ ...dependencies, counters, dataFaults, log });
  return {
    shared,
    followers,
    state,
    counters,
    coldLoader,
    committer,
    frames: new FrameCommits(engines, { retentionMs, seriesGatherMs }, { ...shared, committer, setAside }),
    retention: new Retention(retentionOptions(options), { ...shared, work: retentionWork(shared) }),
    guard: new StoreGuard({ counters, log }),
    dataFaults,
    backups: dependencies.makeBackups?.((ended) => noteBackup(ended, counters, log)),
    disk: new DiskUsage(options.diskLimitBytes ?? Number.POSITIVE_INFINITY, { ...dependencies, counters }),
  };
}

function runningParts(
  options: CoordinatorOptions,
  shared: Omit<StoringParts["shared"], "engines"> & { readonly engines: EngineClient },
  { committer, state }: Pick<StoringParts, "committer" | "state">,
  loop: Loop,
) {
  const { controlStore: control, emit } = shared;
  const edit = <T>(work: () => Promise<T>) => loop.edit(work);
  const { gathering, runner: analysis } = makeAnalysis({ ...shared, control, edit: (work) => loop.editControl(work) });
  const { inputs, messages, trainings } = requestedModels(options, { ...shared, edit }, loop);
  const { stages, groupWaits } = watchdogStages(options, {
    ...shared,
    requested: {
      production: (service, columns) => messages.production(service, columns),
      shadow: (service) => messages.shadow(service),
      incidents: (service, nowMs) => incidentTimes(state, service, nowMs),
      takeCounts: (shadows) => trainings.takeCounts(shadows),
    },
    store: (operations) => edit(() => control.commit(operations)),
    declare: (frames) => declareFindings(committer, edit, frames),
    settle: () => loop.settle(),
    edit,
    isStopping: () => loop.isStopping,
    log: (msg) => emit({ type: "log", level: "warn", component: "coordinator", msg }),
    commits: committer,
    ending: {
      state,
      nowMs: () => shared.nowMs(),
      publish: (events) => committer.publish(events),
      draftAlerts: () => committer.draftAlerts(),
      takeAlerts: (draft) => committer.takeAlerts(draft),
    },
  });
  const outbound = new Outbound(options.notification, { ...shared, edit });
  const changes = new Changes({ ...shared, store: control, audit: state.configured.audit, edit });
  const own = new OwnBodies({ emit });
  const cycleEnded = (completed: number) => emit({ type: "cycle-ended", completed });
  return {
    gathering,
    inputs,
    messages,
    trainings,
    changes,
    own,
    drills: new Drills(
      { intervalMs: options.drillIntervalMs },
      { ...shared, own, routes: outbound.channels.routes, changes, isStopping: () => loop.isStopping },
    ),
    analysis,
    wording: new SummaryWording({ isOn: options.phrasesSummaries === true, counters: shared.counters, emit }),
    replay: new ReplayRunner({ ...shared, events: outbound.replays, control, replays: state.replays }),
    outbound,
    rules: ruleParts(options, shared, committer, changes),
    vectorizer: new Vectorizer(
      { intervalMs: options.vectorizerIntervalMs },
      { ...shared, control, serviceMap: state.configured.serviceMap, edit },
    ),
    groupWaits,
    watchdog: new Watchdog({ intervalMs: options.watchdogIntervalMs }, stages, { ...shared, cycleEnded }),
  };
}

/** Parts that evaluate rules of Prometheus and send their alerts on. */
function ruleParts(
  options: CoordinatorOptions,
  shared: Omit<StoringParts["shared"], "engines">,
  committer: ControlCommitter,
  changes: Changes,
) {
  const { rulesTenant: tenant, notification } = options;
  const dependencies = {
    ...shared,
    options,
    change: changes.make.bind(changes),
    draftAlerts: () => committer.draftAlerts(),
    draftVerdicts: committer.draftVerdicts.bind(committer),
    takeAlerts: committer.takeAlerts.bind(committer),
    takeVerdicts: committer.takeVerdicts.bind(committer),
    log: logOf("rules", (event) => shared.emit({ type: "log", ...event })),
  };
  return makeRules({ tenant, publicUrl: notification?.publicUrl ?? "" }, dependencies);
}

/** Parts for models that people have had trained. */
function requestedModels(
  options: CoordinatorOptions,
  shared: Omit<StoringParts["shared"], "engines"> & { readonly engines: EngineClient; readonly edit: Loop["edit"] },
  loop: Loop,
) {
  const { state, engines, controlStore: control, train = () => Promise.reject(new Error("there is no thread for trainings")) } = shared;
  const isStopping = () => loop.isStopping;
  const inputs = new ServiceInputs({ ...shared, series: state.series, settle: () => loop.settle(), isStopping });
  const messages = new ModelMessages({ models: state.configured.models, series: state.series, engines });
  const timing = { intervalMs: options.watchdogIntervalMs, rawRetentionMs: options.rawRetentionMs };
  const trainings = new TrainingJobs(timing, { ...shared, control, inputs, messages, isStopping, train: (input) => train(input) });
  return { inputs, messages, trainings };
}

/** Stores findings made here and not by an engine like an engine's frames. Rejects with StoreError where the store does not take them. */
async function declareFindings(committer: ControlCommitter, edit: Loop["edit"], frames: readonly EpisodeFrame[]): Promise<void> {
  if (frames.length === 0) return;
  const verdicts = frames.map((frame) => ({ kind: FRAME_VERDICT, payload: Buffer.from(JSON.stringify(frame)) }) as const);
  await edit(() => committer.commit(verdicts));
}

interface ContextParts extends Omit<CoordinatorParts, "runner" | "source" | "updates" | "list"> {
  readonly gathering: EvidenceGathering;
  readonly changes: Changes;
  readonly engines: EngineClient;
}

function queryContext(options: CoordinatorOptions, world: CoordinatorDependencies, parts: ContextParts): NounsContext & QueryContext {
  const { nowMs, yieldToLoop, randomBytes, train, compute } = world;
  const { state, committer, counters, guard, engines, gathering, inputs, messages, changes, dataFaults, outbound, drills, own, loop } =
    parts;
  const edit = <T>(work: () => Promise<T>) => loop.edit(work);
  return {
    options: { ...options, exclusions: options.exclusions ?? new FieldExclusions("") },
    state,
    engines,
    gathering,
    counters,
    inputs,
    messages,
    dataFaults,
    ...(parts.backups !== undefined && { backups: parts.backups }),
    ...outbound.parts(),
    drills,
    ruleWorkers: parts.rules.workers,
    own,
    ruleRuns: parts.rules.schedule,
    nowMs,
    yieldToLoop,
    pause: () => undefined,
    facts: () => ({
      enginesReady: loop.enginesReady,
      storeRefusal: guard.reason,
      disk: parts.disk.fill,
      lastRunMs: loop.lastRunMs,
      framesWaiting: parts.frames.waiting,
      queriesWaiting: state.shares.ledger("queries_running").taken,
      listeners: parts.listeners,
      vectorizer: parts.vectorizer.facts(),
      watchdog: parts.watchdog.facts(),
      analysis: parts.analysis.facts(),
      detection: detectionLatency(world.counters),
    }),
    wordSummary: (analysis) => parts.wording.word(analysis),
    settle: () => loop.settle(),
    isStoreFailing: () => guard.isReadOnly,
    edit,
    declare: (frames) => declareFindings(committer, edit, frames),
    change: (request, plan) => changes.make(request, plan),
    changeBeside: (tenant, work) => changes.beside(tenant, work),
    changeAlone: (tenant, work) => changes.alone(tenant, work),
    draftAlerts: () => committer.draftAlerts(),
    draftVerdicts: (alerts) => committer.draftVerdicts(alerts),
    takeAlerts: (draft) => committer.takeAlerts(draft),
    takeVerdicts: (draft) => committer.takeVerdicts(draft),
    publish: (events) => committer.publish(events),
    ...(train !== undefined && { train }),
    ...(compute !== undefined && { compute }),
    randomBytes,
  };
}

// What retention keeps by, from the coordinator's options.

/** Options that operators set; the rest has its limits. */
type RetainedByChoice = Pick<RetentionOptions, "retentionMs" | "rawRetentionMs"> &
  Partial<Pick<RetentionOptions, "auditRetentionMs" | "auditRowsMax" | "deadLetterBytesMax" | "episodesMax">>;

function retentionOptions(options: RetainedByChoice): RetentionOptions {
  return {
    retentionMs: options.retentionMs,
    rawRetentionMs: options.rawRetentionMs,
    auditRetentionMs: options.auditRetentionMs ?? AUDIT_RETENTION_MS,
    auditRowsMax: options.auditRowsMax ?? AUDIT_ROWS_MAX,
    deadLetterAgeMs: DEAD_LETTER_AGE_MS_MAX,
    deadLetterBytesMax: options.deadLetterBytesMax ?? DEAD_LETTER_BYTES_MAX,
    episodesMax: options.episodesMax ?? EPISODES_MAX,
    intervalMs: RETENTION_INTERVAL_MS,
    rowsPerStep: RETENTION_ROWS_PER_STEP,
    blocksPerStep: RETENTION_BLOCKS_PER_STEP,
  };
}
