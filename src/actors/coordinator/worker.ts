// The thread of the coordinator: opens the stores, hands the checkpoints to main, then steps the coordinator whenever there is work or time is due.
import { randomBytes } from "node:crypto";
import { forbiddenTarget } from "../../adapters/http-client/address-guard.ts";
import { DataFaultFile } from "../../adapters/log/data-fault-file.ts";
import { FlushCycles } from "../../adapters/log/flush-cycles.ts";
import { archiveDirectory, LogArchive } from "../../adapters/log/log-archive.ts";
import { LogFlusher } from "../../adapters/log/log-flusher.ts";
import { InventoryKeeper } from "../../adapters/log/log-inventory.ts";
import { LogRemover } from "../../adapters/log/log-remover.ts";
import { coveredSegments, measureSegments } from "../../adapters/log/log-segment.ts";
import { logDirectory } from "../../adapters/log/meta-file.ts";
import { SetAsideFolder } from "../../adapters/log/set-aside-folder.ts";
import { systemClock } from "../../adapters/platform/clock.ts";
import { freeDiskBytes } from "../../adapters/platform/disk-space.ts";
import { collectWhenIdle } from "../../adapters/platform/idle-collection.ts";
import { nameSources } from "../../adapters/platform/source-positions.ts";
import type { EngineMemory } from "../../adapters/shared-memory/engine-memory.ts";
import { viewMemories } from "../../adapters/shared-memory/engine-threads.ts";
import { ReaderCount } from "../../adapters/shared-memory/reader-count.ts";
import { RowTrace, TracedStore } from "../../adapters/storage/traced-store.ts";
import { Signal } from "../../adapters/threads/actor-handle.ts";
import { dispatch, type Handlers, Mailbox, type MessagePort } from "../../adapters/threads/mailbox.ts";
import { threadData } from "../../adapters/threads/threads.ts";
import { WorkerPool } from "../../adapters/threads/worker-pool.ts";
import { SERIES_GATHER_MS_MAX, TRAINING_HEAP_MB_MAX, TRAINING_IDLE_MS, TRAINING_MS_MAX } from "../../core/config/limits.ts";
import { COMPUTATION_HEAP_MB_MAX, COMPUTATION_MS_MAX, COMPUTATIONS_WAITING_MAX } from "../../core/config/prediction-limits.ts";
import { type CoordinatorSlice, coordinatorSettings, folderSettings } from "../../core/config/thread-settings.ts";
import { background, fatal, listen, reportFaults, sleep, task, turnEnd } from "../../core/faults/guard.ts";
import { observeLatency, SLOT_LATENCY } from "../../core/layout/counters.ts";
import type { CoordinatorReport, LoadedState, LogLost } from "../../core/protocol/coordinator-report.ts";
import type { DataFault } from "../../core/protocol/data-fault.ts";
import type { EngineAnswer, EngineReply, EngineRequest, FramesPlaced } from "../../core/protocol/engine-control.ts";
import type { CoordinatorCommand, CoordinatorMessage } from "../../core/protocol/query.ts";
import type { SourceAnswer, SourceQuestion } from "../../core/protocol/query-worker.ts";
import type { SetAsideItem } from "../../core/protocol/set-aside.ts";
import { faultReport } from "../../core/telemetry/fault-report.ts";
import { logOf } from "../../core/telemetry/log-event.ts";
import type { TrainingResult } from "../../domain/detection/multivariate/service-training.ts";
import type { TrainingInput } from "../../domain/detection/multivariate/training-input.ts";
import type { Computation, ComputationResult } from "../../domain/prediction/computation.ts";
import { FieldExclusions } from "../../domain/series/field-exclusions.ts";
import { BackupRunner, type BackupRunnerDependencies } from "../../modules/backup/backup-runner.ts";
import { EngineThreadLink } from "../../modules/engines/engine-thread-link.ts";
import type { NotificationOptions } from "../../modules/notification/routes.ts";
import { type LogGap, lostLog } from "../../modules/state/log-coverage.ts";
import type { DiskMeasure } from "../../modules/status/disk-usage.ts";
import { Coordinator } from "./coordinator.ts";
import type { CoordinatorDependencies, CoordinatorOptions } from "./coordinator-options.ts";
import { EventIds, eventChunks } from "./loop/event-chunks.ts";
import { endOverRow, noteRow, takeNoted } from "./loop/noted-rows.ts";
import { type OpenedStores, openStores, type StoresToOpen } from "./loop/opened-stores.ts";
import { Pacer } from "./loop/pacer.ts";
import { startWithoutRows } from "./loop/start-without-rows.ts";
import { NotifierLink } from "./notifier-link.ts";

/** Start data of the coordinator's thread, from main. */
export interface CoordinatorThreadData {
  readonly dataDir: string;
  readonly epoch: number;
  readonly version: string;
  readonly memories: readonly WebAssembly.Memory[];
  /** Number of threads of the engines. */
  readonly threads: number;
  readonly enginePorts: readonly MessagePort[];
  /** COORDINATOR_SLOTS f64. */
  readonly counters: SharedArrayBuffer;
  /** Memory of a ReaderCount. */
  readonly readerCount: Int32Array<ArrayBufferLike>;
  readonly mainPort: MessagePort;
  /** Gap of the log, by what was noted of it. */
  readonly gap: LogGap;
  readonly acceptsLoss: boolean;
  readonly settings: CoordinatorSlice;
  readonly notification: NotificationOptions;
  /** Whether main words summaries. */
  readonly phrasesSummaries: boolean;
}

/** Main has started a notifier, whose end of their channel this is, or one has ended. */
export interface NotifierChange {
  readonly type: "notifier";
  readonly port: MessagePort | null;
}

/** Main has started a query worker, whose channel's other end this is. */
export interface QueryWorkerStarted {
  readonly type: "query-worker";
  readonly port: MessagePort;
}

/** What main sends: commands, and its ends of channels to other threads. */
export type MainCommand = CoordinatorCommand | NotifierChange | QueryWorkerStarted;

type MainMailbox = Mailbox<MainCommand, CoordinatorReport | LoadedState | LogLost | { readonly type: "stopped" }>;

const COMMANDS = fatal("a command to the coordinator");
const ENGINES = fatal("a message of an engine");
const NOTIFIER = task("the connection to another thread");

/** Named in a fault. */
const LOST_NAMES_MAX = 4;

/** DURABILITY=process: a loss of power costs at most what was written since the last flush. */
const LOG_FLUSH_MS = 1_000;

/** Measures the folder; where that fails, for want of descriptors say, the last measure stands. */
function diskMeter(dataDir: string): () => DiskMeasure {
  let last: DiskMeasure = { logBytes: 0, logSegments: 0, freeBytes: 0 };
  return () => {
    try {
      const { bytes, segments } = measureSegments(logDirectory(dataDir));
      last = { logBytes: bytes, logSegments: segments, freeBytes: freeDiskBytes(dataDir) };
    } catch (error) {
      if (!(error instanceof Error && "syscall" in error)) throw error;
    }
    return last;
  };
}

function pacerOf(coordinator: Coordinator, engines: readonly EngineThreadLink[]): Pacer {
  return new Pacer({
    step: () => coordinator.step(),
    awaitFrames: (awaited) => engines.map((engine) => engine.awaitFrames(awaited)).includes(true),
    monotonicMs: () => systemClock.monotonicMs(),
  });
}

function coordinatorOptions({ version, settings, notification, phrasesSummaries }: CoordinatorThreadData): CoordinatorOptions {
  const { fieldExclusions, ...options } = coordinatorSettings(settings);
  const exclusions = new FieldExclusions(fieldExclusions);
  return { version, ...options, exclusions, notification, phrasesSummaries, seriesGatherMs: SERIES_GATHER_MS_MAX };
}

function trainingPool(): WorkerPool<TrainingInput, TrainingResult> {
  const file = new URL("../training/worker.js", import.meta.url);
  return new WorkerPool({ file, task: "train", heapMbMax: TRAINING_HEAP_MB_MAX, idleMs: TRAINING_IDLE_MS, jobMsMax: TRAINING_MS_MAX });
}

/** A thread of its own, so that a question does not wait for a training. */
function computationPool(): WorkerPool<Computation, ComputationResult> {
  const file = new URL("../training/worker.js", import.meta.url);
  return new WorkerPool({
    file,
    task: "compute",
    heapMbMax: COMPUTATION_HEAP_MB_MAX,
    idleMs: TRAINING_IDLE_MS,
    jobMsMax: COMPUTATION_MS_MAX,
    waitingMax: COMPUTATIONS_WAITING_MAX,
  });
}

/** Gives an engine what it asks for, or whoever asked it the answer. */
function engineHandlers(
  coordinator: Coordinator,
  { engine, link, wake }: { readonly engine: number; readonly link: EngineThreadLink; readonly wake: () => void },
): Handlers<EngineReply | FramesPlaced> {
  const settle = (answer: EngineAnswer) => link.settle(answer);
  return {
    frames: wake,
    "state-part": (wanted) => link.sendState(coordinator.loadStatePart(wanted)),
    "detector-states-wanted": (wanted) => link.deliver(coordinator.loadDetectorStates(wanted)),
    "streams-wanted": (wanted) => coordinator.returnStreams(engine, wanted),
    series: settle,
    "series-data": settle,
    "service-list": settle,
    "stream-page": settle,
    "stream-changes": settle,
    "stream-values": settle,
    "stream-count": settle,
    "pending-chunks": settle,
    "log-mark": settle,
    behaviour: settle,
    evidence: settle,
    coverage: settle,
    watchdog: settle,
    "service-history": settle,
    shares: settle,
  };
}

function connectQueryWorker(coordinator: Coordinator, raw: MessagePort, wake: () => void): void {
  const mailbox = new Mailbox<SourceQuestion, SourceAnswer>(raw);
  const take = async (question: SourceQuestion) => {
    mailbox.send(await coordinator.source.answer(question));
    wake();
  };
  const handlers = { "stream-page": take, "stream-changes": take, "stream-values": take, settle: take, metadata: take };
  mailbox.serve(handlers, task("a question of a query worker"));
}

/** Each command wakes whoever steps, once it has been taken. */
function mainHandlers(
  coordinator: Coordinator,
  wake: () => void,
  {
    notifierLink,
    inventory,
    enginesReady,
  }: { readonly notifierLink: NotifierLink; readonly inventory: InventoryKeeper; readonly enginesReady: Signal },
): Handlers<MainCommand, unknown> {
  const take = (command: CoordinatorCommand) => coordinator.handle(command).then(wake);
  const notifier = ({ port }: NotifierChange) => notifierLink.connect(port);
  return {
    notifier,
    "query-worker": ({ port }) => connectQueryWorker(coordinator, port, wake),
    query: take,
    "replay-answer": take,
    "own-telemetry-answer": take,
    "rule-files": take,
    "rule-samples-taken": take,
    "rule-work-done": take,
    "summary-worded": take,
    "engines-ready": (command) => {
      inventory.takeRead(command.tornEnds);
      enginesReady.give();
      return take(command);
    },
    listeners: take,
    "data-fault": take,
    "set-aside": take,
    stop: (command) => {
      notifierLink.stop();
      return take(command);
    },
  };
}

/** Messages of the coordinator go to main as they are, but for events: they leave as the bytes that readers are sent, which are moved. */
function reportHandlers(main: MainMailbox, close: () => Promise<void>): Handlers<CoordinatorMessage> {
  const report = (message: CoordinatorReport) => main.send(message);
  const ids = new EventIds();
  return {
    answer: report,
    access: report,
    "replay-batch": report,
    "own-telemetry": report,
    "rule-samples": report,
    "rule-work": report,
    "cycle-ended": report,
    "summary-wanted": report,
    "notifier-wanted": report,
    "notifier-hung": report,
    log: report,
    events: ({ events, arrivalsMs }) => {
      const chunks = eventChunks(events, ids, systemClock.wallMs());
      main.send(
        { type: "event-chunks", chunks, arrivalsMs },
        chunks.map(({ bytes }) => bytes.buffer),
      );
    },
    fault: report,
    stopped: () => background(fatal("the stop of the coordinator"), close()),
  };
}

function acceptedLoss(names: readonly string[], epoch: number): DataFault {
  const which = names.length === 0 ? "all of its segments" : names.length > LOST_NAMES_MAX ? `${names.length} segments` : names.join(", ");
  const what = `the log was missing (${which}) and the loss was accepted: what was in it and not in a checkpoint is gone`;
  return { id: `log missing, start ${epoch}`, kind: "data_missing", what };
}

function storesToOpen({ dataDir, settings }: CoordinatorThreadData): Omit<StoresToOpen, "log"> {
  return { dataDir, bytesMaxNow: folderSettings(settings).storeCheckWaitBytes };
}

/** Flushes the log again and again, and notes how far. */
function logFlushes(dataDir: string, inventory: InventoryKeeper, memories: readonly EngineMemory[]): FlushCycles {
  const flusher = new LogFlusher(logDirectory(dataDir));
  const flush = async () => {
    const placed = memories.map((memory) => memory.placed());
    await flusher.flush();
    await inventory.note(flusher.flushed, placed);
  };
  return new FlushCycles(flush, LOG_FLUSH_MS);
}

/** Archive and removal of the log's segments that the stores no longer need. */
function retiredLog({ dataDir, settings }: CoordinatorThreadData) {
  const directory = logDirectory(dataDir);
  const remover = new LogRemover([directory, archiveDirectory(dataDir)]);
  const archive = new LogArchive(dataDir, folderSettings(settings).archiveBytesMax, remover);
  const deleteLogSegments: CoordinatorDependencies["deleteLogSegments"] = (floor) => {
    for (const { path } of coveredSegments(directory, floor)) archive.retire(path);
  };
  return { archive, deleteLogSegments, stop: () => remover.stop() };
}

function backupRunner({ dataDir, version, settings }: CoordinatorThreadData, world: Omit<BackupRunnerDependencies, "nowMs">): BackupRunner {
  return new BackupRunner({ ...folderSettings(settings).backup, dataDir, version }, { ...world, nowMs: () => systemClock.wallMs() });
}

/** What is measured and kept in the data folder beside the stores. */
function ofFolder({ dataDir }: CoordinatorThreadData): Pick<CoordinatorDependencies, "measureDisk" | "faultKeeper" | "setAsideKeeper"> {
  return {
    measureDisk: diskMeter(dataDir),
    faultKeeper: new DataFaultFile(dataDir, systemClock.wallMs()),
    setAsideKeeper: new SetAsideFolder(dataDir),
  };
}

/** The way to main, where the faults of this thread go too. */
function mailboxOf({ mainPort }: CoordinatorThreadData): MainMailbox {
  const main: MainMailbox = new Mailbox(mainPort);
  reportFaults(endOverRow((fault) => main.send(faultReport(fault))));
  return main;
}

async function run(data: CoordinatorThreadData): Promise<void> {
  const main = mailboxOf(data);
  const log = logOf("store", (event) => main.send({ type: "log", ...event }));
  const trace = new RowTrace();
  const opened = await openStores({ ...storesToOpen(data), log });
  const [controlStore, seriesStore] = [new TracedStore(opened.controlStore, trace), new TracedStore(opened.seriesStore, trace)];
  listen(process, "uncaughtExceptionMonitor", fatal("the note of a crash"), (error: Error) =>
    noteRow(error, { ...data, trace, control: opened.controlStore }),
  );
  const mailboxes = data.enginePorts.map((port) => new Mailbox<EngineReply | FramesPlaced, EngineRequest>(port));
  const memories = viewMemories(data.memories, data.threads);
  const engines = mailboxes.map((mailbox, engine) => new EngineThreadLink(memories[engine] as EngineMemory, mailbox));
  const slots = new Float64Array(data.counters);
  const readers = new ReaderCount(data.readerCount);
  const { archive, deleteLogSegments, ...retired } = retiredLog(data);
  let backups: BackupRunner | undefined;
  let pacer: Pacer | undefined;
  const inventory = new InventoryKeeper(data.dataDir, data.epoch);
  const flushing = logFlushes(data.dataDir, inventory, memories);
  const training = trainingPool();
  const computations = computationPool();
  const close = async () => {
    pacer?.stop();
    await backups?.stop();
    await Promise.all([flushing.stop(), controlStore.close(), seriesStore.close(), training.close(), computations.close(), retired.stop()]);
    for (const engine of engines) engine.close();
    main.send({ type: "stopped" });
    main.close();
  };
  const reports = reportHandlers(main, close);
  const world: CoordinatorDependencies = {
    controlStore,
    seriesStore,
    engines,
    counters: slots,
    nowMs: () => systemClock.wallMs(),
    monotonicMs: () => systemClock.monotonicMs(),
    emit: (message) => dispatch(reports, message),
    hasSubscribers: () => readers.value > 0,
    observeLatencySeconds: (seconds) => observeLatency(slots, SLOT_LATENCY, seconds),
    deleteLogSegments,
    makeBackups: (ended) => {
      backups = backupRunner(data, { archive, ended });
      return backups;
    },
    ...ofFolder(data),
    randomBytes: (count) => randomBytes(count),
    yieldToLoop: turnEnd,
    sleep,
    wake: () => pacer?.nudge(), // what is due before it is there is done by the first step
    train: (input) => training.run(input),
    compute: (computation) => computations.run(computation),
    forbiddenTarget: (url) => forbiddenTarget(url, folderSettings(data.settings).allowsPrivate),
  };
  const coordinator = await openCoordinator(data, world, trace);
  pacer = pacerOf(coordinator, engines);
  serve(data, {
    coordinator,
    pacer,
    main,
    mailboxes,
    engines,
    inventory,
    startFlushing: () => flushing.start(),
    checkLater: opened.checkLater,
  });
  collectWhenIdle();
}

/** A coordinator that has read the stores; rows that stand in its way are left out and told. */
async function openCoordinator(data: CoordinatorThreadData, world: CoordinatorDependencies, trace: RowTrace): Promise<Coordinator> {
  const start = async () => {
    const coordinator = new Coordinator(coordinatorOptions(data), world);
    await coordinator.open();
    return coordinator;
  };
  const keep = (item: SetAsideItem) => world.setAsideKeeper?.keep(item, world.nowMs()) != null;
  const noted = await takeNoted(data.dataDir, { control: world.controlStore, series: world.seriesStore }, keep);
  const { started, leftOut } = await startWithoutRows(start, { trace, keep });
  for (const item of [...noted, ...leftOut]) started.dataFaults.setAside(item);
  return started;
}

interface Opened {
  readonly coordinator: Coordinator;
  readonly pacer: Pacer;
  readonly main: MainMailbox;
  readonly mailboxes: ReadonlyArray<Mailbox<EngineReply | FramesPlaced, EngineRequest>>;
  readonly engines: readonly EngineThreadLink[];
  readonly inventory: InventoryKeeper;
  startFlushing(): void;
  readonly checkLater: OpenedStores["checkLater"];
}

/** Tells main what is stored, and takes what others send. */
function serve(
  data: CoordinatorThreadData,
  { coordinator, pacer, main, mailboxes, engines, inventory, startFlushing, checkLater }: Opened,
): void {
  const [checkpoints, logMarks, metadata] = [[...coordinator.loadCheckpoints()], coordinator.loadLogMarks(), coordinator.loadMetadata()];
  const metricScopes = coordinator.loadMetricScopes();
  const reported = { access: coordinator.loadAccess(), watchdogSettings: coordinator.loadWatchdogSettings(), metricScopes };
  const lost = lostLog(data.gap, checkpoints, logMarks);
  if (lost !== null && !data.acceptsLoss) return main.send({ type: "log-lost", names: lost });
  if (lost !== null) coordinator.dataFaults.add(acceptedLoss(lost, data.epoch));
  // Not before: a start that ends here leaves the inventory as it is, so that the next one ends too.
  startFlushing();
  main.send({ type: "loaded", checkpoints, logMarks, metadata, ...reported });
  const wake = () => pacer.wake();
  const notifierLink = new NotifierLink({
    outbound: coordinator.outbound,
    hung: () => main.send({ type: "notifier-hung" }),
    reportFault: (fault) => main.send(fault),
  });
  mailboxes.forEach((mailbox, engine) => {
    mailbox.serve(engineHandlers(coordinator, { engine, link: engines[engine] as EngineThreadLink, wake }), ENGINES);
  });
  const enginesReady = new Signal();
  main.serve(mainHandlers(coordinator, wake, { notifierLink, inventory, enginesReady }), ({ type }) =>
    type === "notifier" || type === "query-worker" ? NOTIFIER : COMMANDS,
  );
  wake();
  background(task("the check of the stores"), coordinator.dataFaults.checkStores(checkLater, enginesReady.resolved));
  collectWhenIdle();
}

nameSources();
background(fatal("the start of the coordinator"), run(threadData<CoordinatorThreadData>()));
