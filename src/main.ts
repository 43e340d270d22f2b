#!/usr/bin/env -S node --no-memory-reducer
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { CoordinatorThread } from "./actors/coordinator/coordinator-thread.ts";
import { EngineGroup, type ServingReport } from "./actors/engine/engine-group.ts";
import type { EngineOptions } from "./actors/engine/engine-options.ts";
import { AccessControl } from "./actors/front/access/access-control.ts";
import { CredentialDirectory } from "./actors/front/access/credential-directory.ts";
import { ALERT_CHART, AlertCharts } from "./actors/front/alert-charts.ts";
import { BodyPort } from "./actors/front/body-port.ts";
import { EventStreams, KEEP_ALIVE_MS } from "./actors/front/event-streams.ts";
import { Front } from "./actors/front/front.ts";
import { Heartbeat } from "./actors/front/heartbeat.ts";
import { Ingestion } from "./actors/front/ingestion.ts";
import { Listeners } from "./actors/front/listeners.ts";
import { LogFlaws } from "./actors/front/log-flaws.ts";
import { LOG_CHECK_MS, LogWatch, tryWriting } from "./actors/front/log-watch.ts";
import { RequestHistogram, registerMetrics } from "./actors/front/metrics-page.ts";
import { QueryLink } from "./actors/front/query-link.ts";
import { RefusedBodies } from "./actors/front/refused-bodies.ts";
import { ReplayForwarder } from "./actors/front/replay-forwarder.ts";
import { RuleForwarder } from "./actors/front/rule-forwarder.ts";
import { type SummaryLink, summaryLink } from "./actors/front/summary-link.ts";
import { RefusalQueue } from "./actors/front/tenants/refusal-queue.ts";
import { TenantAdmission } from "./actors/front/tenants/tenant-admission.ts";
import { Vitals } from "./actors/front/vitals.ts";
import { WebFiles } from "./actors/front/web-files.ts";
import { type NotifierConnections, NotifierStart } from "./actors/notifier/notifier-thread.ts";
import { QueryWorkers } from "./actors/query/query-workers.ts";
import { readSettingFile } from "./adapters/credentials/setting-file.ts";
import { BodyShares } from "./adapters/http/body-shares.ts";
import { hasCrashNote } from "./adapters/log/crash-notes.ts";
import { damagedDirectory } from "./adapters/log/damaged-bytes.ts";
import { logDirectory, type Meta, noteStores } from "./adapters/log/meta-file.ts";
import { systemClock } from "./adapters/platform/clock.ts";
import { nameSources } from "./adapters/platform/source-positions.ts";
import type { SystemdLink } from "./adapters/platform/systemd-link.ts";
import { hashSeeds } from "./adapters/shared-memory/engine-memory.ts";
import { FaultBook } from "./adapters/telemetry/fault-book.ts";
import { MetricsRegistry } from "./adapters/telemetry/metrics-registry.ts";
import type { ProcessLog } from "./adapters/telemetry/process-log.ts";
import { type ActorFailure, type ActorStart, ActorThread } from "./adapters/threads/actor-thread.ts";
import type { Handlers } from "./adapters/threads/mailbox.ts";
import { readCommandLine } from "./cli/command-arguments.ts";
import { helpFor } from "./cli/help.ts";
import { runCommand, SettingsReader } from "./commands.ts";
import { ConfigError } from "./core/config/config-error.ts";
import { DRAIN_MS_MAX } from "./core/config/limits.ts";
import { type Config, loadConfig } from "./core/config/load-config.ts";
import { FRONT_LIMITS } from "./core/config/shared-limits.ts";
import { coordinatorSlice, engineSettings, engineSlice, querySettings } from "./core/config/thread-settings.ts";
// Composition root: reads the settings, builds the actors, connects them, and takes them down again in order. It decides nothing else.
import {
  after,
  afterTurn,
  background,
  endOnUncaught,
  every,
  failedPart,
  fatal,
  type Home,
  lastInTurn,
  reportFaults,
  task,
} from "./core/faults/guard.ts";
import { COORDINATOR_SLOTS } from "./core/layout/counters.ts";
import type { AccessChange } from "./core/protocol/access.ts";
import type { CoordinatorReport, LoadedState } from "./core/protocol/coordinator-report.ts";
import type { CrashNote } from "./core/protocol/crash-note.ts";
import { faultReport } from "./core/telemetry/fault-report.ts";
import { errorFields, type Log } from "./core/telemetry/log-event.ts";
import { TenantShares } from "./domain/access/tenant-shares.ts";
import { engineOf } from "./domain/placement/partition.ts";
import { notificationOptions } from "./modules/notification/routes.ts";
import { readPlanRates } from "./server/checked-settings.ts";
import { EXIT, exitCodeOf } from "./server/exit-code.ts";
import { describeError, endStart, isPlain } from "./server/failed-start.ts";
import { type FoundData, missingLogLine } from "./server/found-data.ts";
import { type NotificationSettings, readNotification } from "./server/notification-settings.ts";
import { type ServerBasis, serve } from "./server/serve.ts";
import { writeError, writeLine } from "./server/terminal.ts";

const VERSION = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;

/** Reads the settings as they are now; main sets it once it knows the file. */
let readConfig: () => Config;

/** Doorbells of bodies that engines have: without them nobody would be answered. */
const PUBLISHING = fatal("the hand-over of bodies to engines");
const REFUSALS = task("the refusals of requests beyond a rate");

/** Everything that runs. */
class Server {
  readonly #config: Config;
  readonly #manager: SystemdLink;
  readonly #compileSoon: () => void;
  readonly #meta: Meta;
  readonly #processLog: ProcessLog;
  readonly #log: Log;
  readonly #faults: FaultBook;
  readonly #accessControl: AccessControl;
  readonly #startedMs = systemClock.wallMs();
  readonly #startThread = threadStarter((failure) => this.#failed(failure));
  readonly #credentials = new CredentialDirectory();
  readonly #tenants: TenantAdmission;
  readonly #engines: EngineGroup;
  readonly #bodyPorts: readonly BodyPort[];
  readonly #coordinatorSlots = new Float64Array(new SharedArrayBuffer(COORDINATOR_SLOTS * 8));
  readonly #refusedBodies = new RefusedBodies();
  /** What tenants hold of the limits that they share here. */
  readonly #shares = new TenantShares(FRONT_LIMITS, { tenants: () => this.#tenants.size });
  readonly #streams = new EventStreams(systemClock, this.#shares.ledger("event_streams"));
  readonly #heartbeat: Heartbeat;
  readonly #coordinator: CoordinatorThread;
  readonly #notification: NotificationSettings;
  readonly #notifier: NotifierStart;
  readonly #logFlaws: LogFlaws;
  /** What threads have thrown over before. */
  readonly #notes: readonly CrashNote[];
  readonly #queries: QueryLink;
  readonly #promql: QueryWorkers;
  readonly #rules: RuleForwarder;
  readonly #summaries: SummaryLink;
  readonly #forwarder: ReplayForwarder;
  readonly #listeners: Listeners;
  readonly #front: Front;
  #streamsStored = 0;
  #admissions = 0;
  #requestIds = 0;
  #publishScheduled = false;
  #stopping = false;

  constructor(config: Config, { meta, found, log, manager, compileSoon }: ServerBasis) {
    this.#config = config;
    this.#compileSoon = compileSoon;
    this.#manager = manager;
    this.#processLog = log;
    this.#log = log.of("server");
    this.#faults = new FaultBook({ monotonicMs: systemClock.monotonicMs, log: this.#log });
    reportFaults((fault) => this.#faults.take(faultReport(fault)));
    endOnUncaught((error) => endProcess({ actor: "the main thread", error }, log));
    this.#meta = meta;
    this.#logFlaws = new LogFlaws();
    this.#notes = found.notes;
    this.#logFlaws.add(found.cutOff);
    this.#listeners = new Listeners(config, {
      front: () => this.#front,
      bodies: new BodyShares(this.#shares.ledger("body_bytes")),
      refusedBodies: this.#refusedBodies,
      nextRequestId: () => this.#nextRequestId(),
      log: (component) => log.of(component),
      wallMs: systemClock.wallMs,
      report: (listeners) => this.#coordinator.send({ type: "listeners", listeners }),
      lost: (error) => endProcess({ actor: "front", error }, log),
    });
    this.#accessControl = new AccessControl(config, {
      clock: systemClock,
      directory: this.#credentials,
      tenantExists: (tenant) => this.#tenants.number(tenant) !== undefined,
      randomHex: (bytes) => randomBytes(bytes).toString("hex"),
      log: log.of("access"),
      port: () => this.#listeners.port,
      onTokenKeys: () => this.#streams.review(),
    });
    this.#heartbeat = new Heartbeat(config.DEADMAN_HEARTBEAT_URL, { clock: systemClock, log: log.of("heartbeat") });
    this.#tenants = new TenantAdmission({
      monotonicMs: () => systemClock.monotonicMs(),
      rates: readPlanRates(config.PLAN_LIMITS),
      // Engines have it before any body of the tenant, which is published later.
      announce: (index, name) => this.#engines.send({ type: "tenant", index, name }),
    });
    this.#engines = new EngineGroup(config.ENGINES > 0 ? config.ENGINES : Math.max(1, availableParallelism() - 1));
    const { smallPages } = this.#engines;
    if (smallPages !== undefined) this.#log("info", `many series will be slower: no large pages of memory (${smallPages})`);
    this.#bodyPorts = this.#engines.views.map((memory) => new BodyPort(memory, () => ++this.#admissions));
    this.#notification = readNotification(config);
    this.#coordinator = this.#startCoordinator(found);
    this.#engines.load({ dataDir: config.DATA_DIR, syncEach: config.DURABILITY === "power", startThread: this.#startThread });
    const connections: NotifierConnections = {
      connect: (port) => this.#coordinator.sendNotifier(port),
      drawn: (tenant, alertId, answer) => this.#drawn(tenant, alertId, answer),
      chartKey: this.#accessControl.chartKey,
    };
    this.#notifier = new NotifierStart(this.#notification, connections, log.of("notifier"));
    this.#queries = new QueryLink((command) => this.#coordinator.send(command), this.#shares);
    this.#promql = new QueryWorkers(querySettings(config, this.#engines.count), {
      connect: (port) => this.#coordinator.sendQueryWorker(port),
      places: this.#shares.ledger("promql_queries"),
      log: log.of("queries"),
      fault: (fault) => this.#faults.take(fault),
    });
    this.#rules = new RuleForwarder(this.#promql, (message) => this.#coordinator.send(message));
    this.#summaries = summaryLink(config, { clock: systemClock, log: this.#log, answer: (worded) => this.#coordinator.send(worded) });
    this.#forwarder = new ReplayForwarder({
      clock: systemClock,
      ports: this.#ingestPorts,
      schedulePublish: () => this.#schedulePublish(),
      tenantIndex: (name) => this.#tenants.numberOfAny(name) as number,
      answer: (answer) => this.#coordinator.send(answer),
    });
    this.#front = this.#makeFront();
  }

  /** Where bodies go: to the first engine of each thread. */
  get #ingestPorts(): readonly BodyPort[] {
    return this.#bodyPorts.slice(0, this.#engines.threadCount);
  }

  get engineText(): string {
    return this.#engines.text;
  }

  /** Starts all actors; resolves with the address once requests are served, with null where it was to stop before. */
  async start(): Promise<string | null> {
    await this.#listeners.open();
    every(KEEP_ALIVE_MS, task("the event streams"), () => this.#streams.keepAlive()).unref();
    const state = await this.#coordinator.loaded;
    if (this.#stopping) return null;
    this.#compileSoon();
    noteStores(this.#config.DATA_DIR, this.#meta);
    this.#takeAccess(state.access);
    this.#streamsStored = state.checkpoints.reduce((sum, { streams }) => sum + streams, 0);
    const seeds = hashSeeds(this.#meta.seed, randomBytes(16));
    await this.#engines.start({
      options: (engine) => this.#engineOptions(engine, state, seeds),
      handlers: (engine) => this.#engineHandlers(engine),
    });
    this.#coordinator.send({ type: "engines-ready", tornEnds: this.#logFlaws.tornEnds() });
    this.#rules.follow(this.#config.RULES_DIR);
    return this.#listeners.address;
  }

  /** Path and query of the sign-in link; null where the operator has keys of their own. */
  get signInTarget(): string | null {
    return this.#accessControl.signInTarget;
  }

  /** A start that ended over something that the next leaves out is worth another at once. */
  #failed(failure: ActorFailure): never {
    const again = !this.#stopping && this.notReady() !== null && hasCrashNote(this.#config.DATA_DIR, this.#meta.epoch);
    return endProcess(failure, this.#processLog, again ? EXIT.again : undefined);
  }

  #startCoordinator({ segments, isLogEmpty }: FoundData): CoordinatorThread {
    const config = this.#config;
    const { memories, threadCount: threads, coordinatorPorts: enginePorts } = this.#engines;
    const data = {
      dataDir: config.DATA_DIR,
      epoch: this.#meta.epoch,
      version: VERSION,
      memories,
      threads,
      enginePorts,
      counters: this.#coordinatorSlots.buffer as SharedArrayBuffer,
      readerCount: this.#streams.readerCount.word,
      gap: { segments, isLogEmpty },
      acceptsLoss: config.ACCEPT_DATA_LOSS === "true",
      settings: coordinatorSlice(config),
      notification: notificationOptions(this.#notification),
      phrasesSummaries: config.LLM_BASE_URL !== "",
    };
    const logLost = (names: readonly string[]) => new ConfigError(missingLogLine(names, logDirectory(config.DATA_DIR)));
    return new CoordinatorThread(data, {
      startThread: this.#startThread,
      handlers: this.#coordinatorHandlers(),
      logLost,
    });
  }

  #coordinatorHandlers(): Handlers<CoordinatorReport> {
    return {
      answer: (answer) => this.#queries.answer(answer),
      "replay-batch": (batch) => this.#forwarder.take(batch),
      "own-telemetry": (own) => this.#forwarder.takeOwn(own),
      "rule-samples": (samples) => this.#forwarder.takeSamples(samples),
      "rule-work": (wanted) => this.#rules.take(wanted),
      access: ({ changes }) => this.#takeAccess(changes),
      "event-chunks": ({ chunks, arrivalsMs }) => this.#streams.push(chunks, arrivalsMs),
      "summary-wanted": (wanted) => this.#summaries.word(wanted),
      "notifier-wanted": () => this.#notifier.want(),
      "notifier-hung": () => this.#notifier.replace(),
      "cycle-ended": ({ completed }) => {
        this.#heartbeat.cycleCompleted(completed);
        this.#manager.cycleEnded();
      },
      log: (event) => this.#processLog.take(event),
      fault: (fault) => this.#faults.take(fault),
    };
  }

  /** What is drawn of an alert in a message. */
  #drawn(tenant: string, alertId: string, answer: (body: string | null) => void): void {
    const principal = { tenant, subject: "notifier", role: "viewer" } as const;
    const call = { endpoint: ALERT_CHART, principal, path: { alert_id: alertId }, query: {}, body: null, requestId: this.#nextRequestId() };
    if (!this.#queries.call(call, (status, body) => answer(status === 200 ? body : null))) answer(null);
  }

  #takeAccess(changes: readonly AccessChange[]): void {
    this.#tenants.take(changes);
    this.#credentials.takeAll(changes);
    this.#streams.review();
  }

  #makeFront(): Front {
    const startedMs = this.#startedMs;
    const requests = new RequestHistogram();
    const ingestion = new Ingestion({ clock: systemClock, ports: this.#ingestPorts, schedulePublish: () => this.#schedulePublish() });
    const refusals = new RefusalQueue({
      immediate: (work) => afterTurn(REFUSALS, work),
      after: (work, ms) => after(ms, REFUSALS, work),
      monotonicMs: systemClock.monotonicMs,
    });
    const logWatch = new LogWatch({
      refusals: () => this.#engines.sum("logErrors"),
      trial: () => tryWriting(logDirectory(this.#config.DATA_DIR)),
    });
    every(LOG_CHECK_MS, task("the look at the log"), () => logWatch.check()).unref();
    const shared = {
      clock: systemClock,
      ingestion,
      queries: this.#queries,
      promql: this.#promql,
      streams: this.#streams,
      tenants: this.#tenants,
      refusals,
      requests,
      refusedBodies: this.#refusedBodies,
    };
    const vitals = new Vitals({
      ...shared,
      startedMs,
      listeners: this.#listeners,
      residentBytes: () => process.memoryUsage.rss(),
      ports: this.#bodyPorts,
      heartbeat: this.#heartbeat,
      logWatch,
      access: this.#accessControl,
      engines: this.#engines.counters,
      coordinator: this.#coordinatorSlots,
      shares: this.#shares,
      build: { version: VERSION, node_version: process.versions.node },
      log: this.#processLog,
      faults: this.#faults.counts,
    });
    const metrics = new MetricsRegistry();
    registerMetrics(metrics, vitals.metrics);
    return new Front(
      { version: VERSION, startedMs, guardsMetrics: this.#config.METRICS_AUTH === "required" },
      {
        ...shared,
        ...this.#accessControl.ofFront,
        charts: new AlertCharts(this.#accessControl.chartKey, systemClock.wallMs),
        web: WebFiles.ofBuild(),
        metrics: () => metrics.page(),
        health: () => vitals.health(),
        isReadOnly: () => vitals.isReadOnly,
        refusesWrites: () => vitals.refusesWrites,
        notReady: () => this.notReady(),
        nextRequestId: () => this.#nextRequestId(),
      },
    );
  }

  /** Reason for which requests wait; null once they are served. */
  notReady(): string | null {
    if (this.#stopping) return "stopping";
    const { isStarted, unready, count } = this.#engines;
    if (!isStarted) return "opening the store";
    if (unready === 0) return null;
    return `${unready} of ${count} engines are still reading stored data: ${this.#progress()}`;
  }

  /** Progress of the start. */
  #progress(): string {
    const restored = Math.min(this.#engines.sum("streams"), this.#streamsStored);
    return `${restored} of ${this.#streamsStored} streams restored, ${this.#engines.sum("rowsReplayed")} log rows applied`;
  }

  #nextRequestId(): string {
    return `${this.#meta.epoch.toString(16).padStart(7, "0")}-f${(++this.#requestIds).toString(16).padStart(12, "0")}`;
  }

  /** Once per turn of the event loop: one doorbell for all bodies of the turn. */
  #schedulePublish(): void {
    if (this.#publishScheduled) return;
    this.#publishScheduled = true;
    lastInTurn(PUBLISHING, () => {
      this.#publishScheduled = false;
      for (const port of this.#bodyPorts) port.publish();
    });
  }

  #engineOptions(engine: number, state: LoadedState, seeds: EngineOptions["seeds"]): EngineOptions {
    const engines = this.#engines.count;
    return {
      engine,
      engines,
      epoch: this.#meta.epoch,
      seeds,
      tenants: this.#tenants.names,
      ...engineSettings(engineSlice(this.#config)),
      checkpoints: state.checkpoints.filter(({ partition }) => engineOf(partition, engines) === engine),
      logMarks: state.logMarks,
      leaveOut: this.#notes,
      metadata: state.metadata,
      metricScopes: state.metricScopes,
      watchdogSettings: state.watchdogSettings,
    };
  }

  #engineHandlers(engine: number): Handlers<ServingReport> {
    return {
      answers: (answers) => (this.#bodyPorts[engine] as BodyPort).answer(answers),
      ready: ({ flaws, leftOut, streams, replayedRows: replayed_rows, replayMs }) => {
        for (const item of leftOut) this.#coordinator.send({ type: "set-aside", item });
        this.#logFlaws.add(flaws);
        if (this.#engines.unready === 0) this.#reportLogFlaws();
        if (streams === 0) return;
        const fields = { engine, streams, replayed_rows, replay_ms: Math.round(replayMs) };
        this.#processLog.of("engine")("info", "an engine has read what is stored", fields);
      },
    };
  }

  /** Once the logs have been read by all. */
  #reportLogFlaws(): void {
    const { faults, warning, tornBytes } = this.#logFlaws.findings(damagedDirectory(this.#config.DATA_DIR));
    const torn = `${tornBytes} bytes that end a log are no whole block: a kill broke a write off, or the file was cut`;
    if (tornBytes > 0) this.#log("warn", torn);
    if (warning !== null) this.#log("error", warning);
    for (const fault of faults) this.#coordinator.send({ type: "data-fault", fault });
  }

  reload(): void {
    this.#accessControl.reload(readConfig);
    this.#listeners.reload();
  }

  /** Stops in order: no new requests, answers out, engines checkpointed, store closed. */
  async stop(): Promise<void> {
    this.#streams.end();
    this.#heartbeat.close();
    await this.#listeners.drain(DRAIN_MS_MAX);
    this.#stopping = true;
    await Promise.all([this.#notifier.stop(), this.#promql.stop(), this.#summaries.close()]);
    await this.#engines.stop();
    await this.#coordinator.stop();
    await Promise.all([this.#engines.ended(), this.#coordinator.ended]);
  }
}

/** Starts threads of actors that are not started again. */
function threadStarter(failed: (failure: ActorFailure) => never) {
  return (name: string, file: string, start: () => ActorStart): ActorThread =>
    new ActorThread({ name, file: new URL(file, import.meta.url), failed }, start);
}

/** A broken invariant ends the process: what was acknowledged is in the log, and the next start reads it. */
function endProcess({ actor, error }: ActorFailure, log: ProcessLog, code = exitCodeOf(error)): never {
  if (isPlain(error)) endStart(error, log);
  else log.take({ level: "fatal", component: "server", msg: `${actor} ended${partText(error)}`, fields: errorFields(error) });
  process.exit(code);
}

/** Which of its parts has failed. */
function partText(error: Error): string {
  const part = failedPart(error);
  return part === undefined ? "" : `: ${part} has failed`;
}

/** Runs the server until a signal ends it. */
async function runServer(config: Config): Promise<void> {
  await serve(config, VERSION, (basis) => new Server(config, basis));
}

async function main(): Promise<void> {
  const argv = process.argv.slice(2);
  const help = helpFor(argv);
  if (help !== undefined) return writeLine(help);
  if (argv[0] === "--version") return writeLine(VERSION);
  const line = readCommandLine(argv);
  const settings = new SettingsReader(process.env, line.configFile);
  readConfig = () => loadConfig(settings.resolve().environment, readSettingFile);
  if (line.entry.name !== "check-config") for (const warning of settings.resolve().warnings) writeError(`vedette: warning: ${warning}`);
  if (line.entry.name === "serve") return runServer(readConfig());
  const isTerminal = process.stdout.isTTY === true;
  process.exitCode = await runCommand(line, { settings, version: VERSION, readConfig, isTerminal, nowMs: systemClock.wallMs });
}

const ENDS: Home = {
  where: "task",
  name: "the command",
  answer: (error) => {
    writeError(`vedette: ${describeError(error)}`);
    process.exit(exitCodeOf(error));
  },
};
nameSources();
background(ENDS, main());
