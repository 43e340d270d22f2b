#!/usr/bin/env -S node --no-memory-reducer
// Composition root: reads the settings, builds the actors, connects them, and takes them down again in order. It decides nothing else.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { coordinatorSettings } from "./actors/coordinator/thread-settings.ts";
import type { CoordinatorThreadData, LoadedState } from "./actors/coordinator/worker.ts";
import { EngineGroup } from "./actors/engine/engine-group.ts";
import type { EngineOptions } from "./actors/engine/engine-options.ts";
import { AccessDesk } from "./actors/front/access/access-desk.ts";
import { CredentialDirectory } from "./actors/front/access/credential-directory.ts";
import { BodyPort } from "./actors/front/body-port.ts";
import { EventStreams, KEEP_ALIVE_MS } from "./actors/front/event-streams.ts";
import { Front } from "./actors/front/front.ts";
import { Heartbeat } from "./actors/front/heartbeat.ts";
import { Ingestion } from "./actors/front/ingestion.ts";
import { QueryLink } from "./actors/front/query-link.ts";
import { ReplayCourier } from "./actors/front/replay-courier.ts";
import { RequestHistogram } from "./actors/front/request-histogram.ts";
import { RefusalQueue } from "./actors/front/tenants/refusal-queue.ts";
import { TenantGate } from "./actors/front/tenants/tenant-gate.ts";
import { Vitals } from "./actors/front/vitals.ts";
import { readSettingFile } from "./adapters/credentials/setting-file.ts";
import { createHttpServer } from "./adapters/http/http-engine.ts";
import type { HttpHandler, HttpRequest, HttpServer, RefusalCode } from "./adapters/http/http-server.ts";
import { lockFolder } from "./adapters/log/folder-lock.ts";
import { type Meta, openMeta } from "./adapters/log/meta-file.ts";
import { systemClock } from "./adapters/runtime/clock.ts";
import { hashSeeds } from "./adapters/runtime/hash-seeds.ts";
import { Signal } from "./adapters/runtime/signal.ts";
import { createChannel, type MessagePort, type Port, spawn, type Thread } from "./adapters/runtime/threads.ts";
import { applyV8Policy } from "./adapters/runtime/v8-policy.ts";
import { errorAnswer } from "./api/error-answer.ts";
import { otlpDialect, otlpError } from "./api/otlp-answer.ts";
import { runBacktest } from "./cli/backtest/backtest.ts";
import { checkSettings, readPlanRates } from "./cli/checked-settings.ts";
import { runDemo } from "./cli/demo.ts";
import { describeError } from "./cli/error-description.ts";
import { helpFor } from "./cli/help.ts";
import { runImport } from "./cli/import/import.ts";
import { runReplay } from "./cli/replay/replay.ts";
import { writeLine } from "./cli/terminal.ts";
import { runToken } from "./cli/token.ts";
import { ConfigError } from "./core/config/config-error.ts";
import { DRAIN_MS_MAX } from "./core/config/limits.ts";
import { type Config, loadConfig } from "./core/config/load-config.ts";
import { COORDINATOR_SLOTS } from "./core/layout/counters.ts";
import type { AccessChange } from "./core/protocol/access.ts";
import type { EngineReport } from "./core/protocol/engine-control.ts";
import type { CoordinatorCommand, CoordinatorMessage, ListenerState } from "./core/protocol/query.ts";
import { engineOf } from "./domain/placement/partition.ts";

const VERSION = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;

/** An orderly stop that takes longer is ended: nothing that was acknowledged depends on it. */
const STOP_MS_MAX = 18_000;

const HOUR_MS = 3600 * 1000;

const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
type LogLevel = (typeof LOG_LEVELS)[number];

/** The coordinator as main sees it. */
interface CoordinatorHandle {
  readonly port: Port<CoordinatorMessage | LoadedState, CoordinatorCommand>;
  readonly thread: Thread;
  readonly loaded: Promise<LoadedState>;
  readonly stopped: Signal;
}

/** Everything that runs. */
class Server {
  readonly #config: Config;
  readonly #meta: Meta;
  readonly #desk: AccessDesk;
  #port = 0;
  readonly #startedMs = systemClock.wallMs();
  readonly #credentials = new CredentialDirectory();
  readonly #tenants: TenantGate;
  readonly #engines: EngineGroup;
  readonly #bodyPorts: readonly BodyPort[];
  readonly #coordinatorSlots = new Float64Array(new SharedArrayBuffer(COORDINATOR_SLOTS * 8));
  readonly #streams = new EventStreams(systemClock);
  readonly #heartbeat: Heartbeat;
  readonly #coordinator: CoordinatorHandle;
  readonly #queries: QueryLink;
  readonly #courier: ReplayCourier;
  readonly #http: HttpServer;
  readonly #front: Front;
  /** While it listens. */
  #otlpHttp: HttpServer | undefined;
  #streamsStored = 0;
  #admissions = 0;
  #requestIds = 0;
  #publishScheduled = false;
  #stopping = false;

  constructor(config: Config, meta: Meta) {
    this.#config = config;
    this.#meta = meta;
    this.#desk = new AccessDesk(config, {
      clock: systemClock,
      directory: this.#credentials,
      tenantExists: (tenant) => this.#tenants.number(tenant) !== undefined,
      randomHex: (bytes) => randomBytes(bytes).toString("hex"),
      log: (level, line) => this.#log(level, line),
      port: () => this.#port,
      onTokenKeys: () => this.#streams.review(),
    });
    this.#heartbeat = new Heartbeat(config.DEADMAN_HEARTBEAT_URL, { clock: systemClock, log: (level, line) => this.#log(level, line) });
    this.#tenants = new TenantGate({
      monotonicMs: () => systemClock.monotonicMs(),
      rates: readPlanRates(config.PLAN_LIMITS),
      announce: (index, name) => this.#announceTenant(index, name),
    });
    this.#engines = new EngineGroup(config.ENGINES > 0 ? config.ENGINES : Math.max(1, availableParallelism() - 1));
    const { smallPages } = this.#engines;
    if (smallPages !== undefined) this.#log("info", `many series will be slower: no large pages of memory (${smallPages})`);
    this.#bodyPorts = this.#engines.views.map((memory) => new BodyPort(memory, () => ++this.#admissions));
    this.#coordinator = this.#startCoordinator();
    this.#queries = new QueryLink((command) => this.#coordinator.port.send(command));
    this.#courier = new ReplayCourier({
      clock: systemClock,
      ports: this.#lanes,
      schedulePublish: () => this.#schedulePublish(),
      tenantIndex: (name) => this.#tenants.numberOfAny(name) as number,
      answer: (answer) => this.#coordinator.port.send(answer),
    });
    this.#front = this.#makeFront();
    this.#http = this.#makeHttp((exchange) => this.#front.handle(exchange));
  }

  #log(level: LogLevel, line: string): void {
    if (LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(this.#config.LOG_LEVEL as LogLevel)) writeLine(`${level}: ${line}`);
  }

  /** Where bodies go: to the first engine of each thread. */
  get #lanes(): readonly BodyPort[] {
    return this.#bodyPorts.slice(0, this.#engines.threadCount);
  }

  get engineText(): string {
    return this.#engines.text;
  }

  /** Starts all actors; resolves with the address once requests are served, with null where it was to stop before. */
  async start(): Promise<string | null> {
    const { HOST: host, PORT: wanted } = this.#config;
    const { port } = await this.#http.listen(host, wanted);
    this.#port = port;
    await this.#listenOtlp(host);
    setInterval(() => this.#streams.keepAlive(), KEEP_ALIVE_MS).unref();
    const state = await this.#coordinator.loaded;
    if (this.#stopping) return null;
    this.#takeAccess(state.access);
    this.#streamsStored = state.checkpoints.reduce((sum, { streams }) => sum + streams, 0);
    const seeds = hashSeeds(this.#meta.seed, randomBytes(16));
    await this.#engines.start({
      dataDir: this.#config.DATA_DIR,
      syncEach: this.#config.DURABILITY === "power",
      options: (engine) => this.#engineOptions(engine, state, seeds),
      spawn: spawnActor,
      onReport: (engine, report) => this.#fromEngine(engine, report),
    });
    this.#coordinator.port.send({ type: "engines-ready" });
    return `http://${host.includes(":") ? `[${host}]` : host}:${port}`;
  }

  /** Path and query of the sign-in link; null where the operator has keys of their own. */
  get signInTarget(): string | null {
    return this.#desk.signInTarget;
  }

  #startCoordinator(): CoordinatorHandle {
    const config = this.#config;
    const { first: port, second } = createChannel<CoordinatorMessage | LoadedState, CoordinatorCommand>();
    const { memories, threadCount: threads, coordinatorPorts: enginePorts } = this.#engines;
    const data: CoordinatorThreadData = {
      dataDir: config.DATA_DIR,
      epoch: this.#meta.epoch,
      version: VERSION,
      memories,
      threads,
      enginePorts,
      counters: this.#coordinatorSlots.buffer as SharedArrayBuffer,
      readerCount: this.#streams.readerCount.word,
      mainPort: second.raw,
      settings: coordinatorSettings(config),
    };
    const thread = spawnActor("coordinator", "./actors/coordinator/worker.js", data, [second.raw, ...enginePorts]);
    const stopped = new Signal();
    const loaded = new Promise<LoadedState>((resolve) => {
      port.onMessage((message) => {
        if (message.type === "loaded") resolve(message);
        else if (message.type === "stopped") stopped.give();
        else this.#fromCoordinator(message);
      });
    });
    return { port, thread, loaded, stopped };
  }

  #fromCoordinator(message: CoordinatorMessage): void {
    if (message.type === "answer") this.#queries.answer(message);
    else if (message.type === "replay-batch") this.#courier.take(message);
    else if (message.type === "access") this.#takeAccess(message.changes);
    else if (message.type === "event-chunks") this.#streams.push(message.chunks);
    else if (message.type === "cycle-completed") this.#heartbeat.cycleCompleted(message.cycles);
    else if (message.type === "log") this.#log(message.level, message.line);
  }

  #takeAccess(changes: readonly AccessChange[]): void {
    this.#tenants.take(changes);
    this.#credentials.takeAll(changes);
    this.#streams.review();
  }

  /** Engines have it before any body of the tenant, which is published later. */
  #announceTenant(index: number, name: string): void {
    this.#engines.tell({ type: "tenant", index, name });
  }

  /** Opens the second port; one that is not to be had is told, and the start goes on. */
  async #listenOtlp(host: string): Promise<void> {
    const wanted = this.#config.OTLP_PORT;
    if (wanted === 0) return;
    const server = this.#makeHttp((exchange) => this.#front.handleOtlp(exchange));
    let state: ListenerState["state"] = "listening";
    try {
      await server.listen(host, wanted);
      this.#otlpHttp = server;
    } catch (error) {
      state = "unavailable";
      this.#log(
        "warn",
        `OTLP_PORT is not served: ${error instanceof Error ? error.message : String(error)}; OTLP is taken on the main port`,
      );
    }
    this.#coordinator.port.send({ type: "listeners", listeners: { otlp: { state, port: wanted } } });
  }

  #makeHttp(handler: HttpHandler): HttpServer {
    const options = {
      refusal: (_status: number, code: RefusalCode, message: string, request?: HttpRequest) => this.#refusal(code, message, request),
      onHandlerFault: (error: unknown) => this.#log("error", `a request failed: ${error instanceof Error ? error.stack : String(error)}`),
    };
    return createHttpServer(this.#config.HTTP_ENGINE as "auto" | "uws" | "node", options, handler, (line) => this.#log("info", line));
  }

  #makeFront(): Front {
    const startedMs = this.#startedMs;
    const requests = new RequestHistogram();
    const ingestion = new Ingestion({ clock: systemClock, ports: this.#lanes, schedulePublish: () => this.#schedulePublish() });
    const refusals = new RefusalQueue({ endOfTurn: setImmediate, after: setTimeout, monotonicMs: systemClock.monotonicMs });
    const vitals = new Vitals({
      clock: systemClock,
      startedMs,
      openConnections: () => this.#http.openConnections + (this.#otlpHttp?.openConnections ?? 0),
      residentBytes: () => process.memoryUsage.rss(),
      ports: this.#bodyPorts,
      ingestion,
      queries: this.#queries,
      streams: this.#streams,
      tenants: this.#tenants,
      refusals,
      requests,
      heartbeat: this.#heartbeat,
      access: this.#desk,
      engines: this.#engines.counters,
      coordinator: this.#coordinatorSlots,
    });
    return new Front(
      { version: VERSION, startedMs },
      {
        clock: systemClock,
        gate: this.#desk.gate,
        signIn: this.#desk.signIn,
        ingestion,
        queries: this.#queries,
        streams: this.#streams,
        tenants: this.#tenants,
        refusals,
        requests,
        metrics: () => vitals.metrics(),
        health: () => vitals.health(),
        isReadOnly: () => vitals.isReadOnly,
        notReady: () => this.#notReady(),
        nextRequestId: () => this.#nextRequestId(),
      },
    );
  }

  #notReady(): string | null {
    if (this.#stopping) return "it is stopping";
    const { isStarted, unready, count } = this.#engines;
    if (!isStarted) return "it opens its store";
    if (unready === 0) return null;
    return `${unready} of ${count} engines still read what is stored: ${this.#progress()}`;
  }

  /** How far the start is. */
  #progress(): string {
    const restored = Math.min(this.#engines.sum("streams"), this.#streamsStored);
    return `${restored} of ${this.#streamsStored} streams restored, ${this.#engines.sum("rowsReplayed")} rows of the logs applied`;
  }

  #nextRequestId(): string {
    return `${this.#meta.epoch.toString(16).padStart(7, "0")}-f${(++this.#requestIds).toString(16).padStart(12, "0")}`;
  }

  /** The answers that the HTTP adapter gives by itself look like all others. */
  #refusal(code: RefusalCode, message: string, request: HttpRequest | undefined) {
    const refusal = { code: code === "body_too_large" ? "payload_too_large" : code, message } as const;
    const dialect = request === undefined ? undefined : otlpDialect(request.path, request.header("content-type"));
    const answer = dialect === undefined ? errorAnswer(refusal, this.#nextRequestId(), undefined) : otlpError(dialect, refusal);
    const headers: Array<readonly [string, string]> = [["Content-Type", answer.contentType]];
    if (answer.status === 503) headers.push(["Retry-After", "1"]);
    return { headers, body: answer.body };
  }

  /** Once per turn of the event loop: one doorbell for all bodies of the turn. */
  #schedulePublish(): void {
    if (this.#publishScheduled) return;
    this.#publishScheduled = true;
    setImmediate(() => {
      this.#publishScheduled = false;
      for (const port of this.#bodyPorts) port.publish();
    });
  }

  #engineOptions(engine: number, state: LoadedState, seeds: EngineOptions["seeds"]): EngineOptions {
    const config = this.#config;
    const engines = this.#engines.count;
    return {
      engine,
      engines,
      epoch: this.#meta.epoch,
      seeds,
      tenants: this.#tenants.names,
      fieldExclusions: config.LOG_FIELD_EXCLUSIONS,
      seriesLimit: config.SERIES_LIMIT,
      normalizeTemporality: config.OTEL_TEMPORALITY_NORMALIZE === "true",
      threshold: config.WATCHDOG_Z_SCORE_THRESHOLD,
      minSamples: config.WATCHDOG_MIN_SAMPLES,
      window: config.WATCHDOG_WINDOW,
      checkpoints: state.checkpoints.filter(({ partition }) => engineOf(partition, engines) === engine),
      laneMarks: state.laneMarks,
      metadata: state.metadata,
      timeZone: config.DETECTION_TIMEZONE,
      pairsMax: config.WATCHDOG_PAIRS_MAX,
      watchdogSettings: state.watchdogSettings,
      idleMs: config.STREAM_IDLE_HOURS * HOUR_MS,
      keptMs: config.RETENTION_DAYS * 24 * HOUR_MS,
      servicesMax: config.WATCHDOG_SERVICES_MAX,
      watchdogIntervalMs: config.WATCHDOG_INTERVAL_SECONDS * 1000,
    };
  }

  #fromEngine(engine: number, report: Exclude<EngineReport, { type: "stopped" }>): void {
    if (report.type === "answers") (this.#bodyPorts[engine] as BodyPort).answer(report);
    else {
      if (report.cutBytes > 0)
        this.#log(
          "warn",
          `engine ${engine}: ${report.cutBytes} bytes at the torn end of a log were left out; nobody was answered for them`,
        );
      if (report.streams === 0) return;
      this.#log(
        "info",
        `engine ${engine}: ${report.streams} streams, ${report.replayedRows} rows replayed from the log in ${report.replayMs.toFixed(0)} ms`,
      );
    }
  }

  /** Stops in order: no new requests, answers out, engines checkpointed, store closed. */
  async stop(): Promise<void> {
    this.#streams.end();
    this.#heartbeat.close();
    await Promise.all([this.#http.drain(DRAIN_MS_MAX), this.#otlpHttp?.drain(DRAIN_MS_MAX)]);
    this.#stopping = true;
    await this.#engines.stop();
    this.#coordinator.port.send({ type: "stop" });
    await this.#coordinator.stopped.given;
    await Promise.all([this.#engines.ended(), this.#coordinator.thread.ended]);
  }
}

/** Starts an actor's thread. A broken invariant there ends the process: what was acknowledged is in the log, and the next start reads it. */
function spawnActor(name: string, file: string, data: unknown, ports: readonly MessagePort[]): Thread {
  return spawn(new URL(file, import.meta.url), name, data, ports, (error) => {
    writeLine(`fatal: ${name} ended: ${error.stack ?? error.message}`);
    process.exit(1);
  });
}

async function serve(config: Config): Promise<void> {
  checkSettings(config);
  applyV8Policy();
  const lock = lockFolder(config.DATA_DIR);
  const meta = openMeta(config.DATA_DIR, () => randomBytes(32).toString("hex"));
  const server = new Server(config, meta);
  const stop = async () => {
    writeLine("stopping: answering what is under way, then writing checkpoints");
    setTimeout(() => {
      writeLine("stopped late: not every checkpoint was written; the next start reads the log instead");
      process.exit(1);
    }, STOP_MS_MAX).unref();
    await server.stop();
    lock.release();
    writeLine("stopped");
    process.exit(0);
  };
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) return;
    isStopping = true;
    void stop();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, onSignal);
  const address = await server.start();
  if (address === null) return;
  writeLine(`vedette ${VERSION} listens on ${address}  (data in ${config.DATA_DIR}, ${server.engineText})`);
  if (server.signInTarget !== null) writeLine(`sign in, once within 15 minutes:  ${address}${server.signInTarget}`);
  writeLine(`try first:  curl ${address}/healthz    or, in another terminal:  make demo`);
}

function readConfig(): Config {
  return loadConfig(process.env, readSettingFile);
}

async function main(): Promise<void> {
  const [command = "serve", ...rest] = process.argv.slice(2);
  const help = helpFor(command, rest);
  if (help !== undefined) writeLine(help);
  else if (command === "--version") writeLine(VERSION);
  else if (command === "demo") process.exitCode = await runDemo(rest, process.env);
  else if (command === "import") process.exitCode = await runImport(rest, process.env, process.stdout.isTTY === true);
  else if (command === "token") process.exitCode = await runToken(rest, readConfig());
  else if (command === "backtest") process.exitCode = await runBacktest(rest, process.env, readConfig);
  else if (command === "replay") process.exitCode = await runReplay(rest);
  else if (command === "serve") await serve(readConfig());
  else throw new ConfigError(`unknown command ${JSON.stringify(command)}; vedette --help lists them`);
}

main().catch((error: unknown) => {
  writeLine(`vedette: ${describeError(error)}`);
  process.exit(1);
});
