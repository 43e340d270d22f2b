#!/usr/bin/env -S node --no-memory-reducer
// Composition root: reads the settings, builds the actors, connects them, and takes them down again in order. It decides nothing else.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { type CoordinatorHandle, startCoordinator } from "./actors/coordinator/coordinator-thread.ts";
import { coordinatorSettings } from "./actors/coordinator/thread-settings.ts";
import type { LoadedState } from "./actors/coordinator/worker.ts";
import { EngineGroup } from "./actors/engine/engine-group.ts";
import type { EngineOptions } from "./actors/engine/engine-options.ts";
import { AccessDesk } from "./actors/front/access/access-desk.ts";
import { CredentialDirectory } from "./actors/front/access/credential-directory.ts";
import { BodyPort } from "./actors/front/body-port.ts";
import { EventStreams, KEEP_ALIVE_MS } from "./actors/front/event-streams.ts";
import { Front } from "./actors/front/front.ts";
import { Heartbeat } from "./actors/front/heartbeat.ts";
import { Ingestion } from "./actors/front/ingestion.ts";
import { LogFlaws } from "./actors/front/log-flaws.ts";
import { LOG_LOOK_MS, LogWatch, tryWriting } from "./actors/front/log-watch.ts";
import { QueryLink } from "./actors/front/query-link.ts";
import { RefusedBodies } from "./actors/front/refused-bodies.ts";
import { ReplayCourier } from "./actors/front/replay-courier.ts";
import { RequestHistogram } from "./actors/front/request-histogram.ts";
import { RefusalQueue } from "./actors/front/tenants/refusal-queue.ts";
import { TenantGate } from "./actors/front/tenants/tenant-gate.ts";
import { Vitals } from "./actors/front/vitals.ts";
import { removeSignInLink } from "./adapters/credentials/own-secret.ts";
import { readSettingFile } from "./adapters/credentials/setting-file.ts";
import { createHttpServer } from "./adapters/http/http-engine.ts";
import type { HttpHandler, HttpHeaders, HttpRequest, HttpServer, RefusalCode } from "./adapters/http/http-server.ts";
import { damagedDirectory } from "./adapters/log/damaged-bytes.ts";
import { lockFolder } from "./adapters/log/folder-lock.ts";
import { ownFolder } from "./adapters/log/folder-owner.ts";
import { logDirectory, type Meta, noteStores, openMeta } from "./adapters/log/meta-file.ts";
import { systemClock } from "./adapters/runtime/clock.ts";
import { hashSeeds } from "./adapters/runtime/hash-seeds.ts";
import { type MessagePort, spawn, type Thread } from "./adapters/runtime/threads.ts";
import { applyV8Policy } from "./adapters/runtime/v8-policy.ts";
import { errorAnswer } from "./api/error-answer.ts";
import { otlpDialect, otlpError } from "./api/otlp-answer.ts";
import { checkSettings, readPlanRates } from "./cli/checked-settings.ts";
import { describeError, isPlain } from "./cli/error-description.ts";
import { closeDataFolder, type FoundData, findData, keepFaults, missingLogLine } from "./cli/found-data.ts";
import { helpFor } from "./cli/help.ts";
import { signInLine } from "./cli/sign-in-link.ts";
import { type LogLevel, logLine, writeError, writeLine } from "./cli/terminal.ts";
import { runCommand } from "./commands.ts";
import { ConfigError } from "./core/config/config-error.ts";
import { DRAIN_MS_MAX } from "./core/config/limits.ts";
import { type Config, loadConfig } from "./core/config/load-config.ts";
import { FRONT_LIMITS } from "./core/config/shared-limits.ts";
import { COORDINATOR_SLOTS } from "./core/layout/counters.ts";
import type { AccessChange } from "./core/protocol/access.ts";
import type { EngineReport } from "./core/protocol/engine-control.ts";
import type { CoordinatorMessage, ListenerState } from "./core/protocol/query.ts";
import { TenantShares } from "./domain/access/tenant-shares.ts";
import { engineOf } from "./domain/placement/partition.ts";

const VERSION = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;

/** An orderly stop that takes longer is ended: nothing that was acknowledged depends on it. */
const STOP_MS_MAX = 18_000;

const HOUR_MS = 3600 * 1000;

/** Nothing that the server says is to be taken for another kind of file, or kept by a cache. */
const COMMON_HEADERS: HttpHeaders = [
  ["X-Content-Type-Options", "nosniff"],
  ["Cache-Control", "no-store"],
];

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
  readonly #refusedBodies = new RefusedBodies();
  /** What tenants hold of the limits that they share here. */
  readonly #shares = new TenantShares(FRONT_LIMITS, { tenants: () => this.#tenants.size });
  readonly #streams = new EventStreams(systemClock, this.#shares.ledger("event_streams"));
  readonly #heartbeat: Heartbeat;
  readonly #coordinator: CoordinatorHandle;
  readonly #logFlaws: LogFlaws;
  readonly #queries: QueryLink;
  readonly #courier: ReplayCourier;
  readonly #http: HttpServer;
  readonly #front: Front;
  /** While it listens. */
  #otlpHttp: HttpServer | undefined;
  #alertsHttp: HttpServer | undefined;
  #socketHttp: HttpServer | undefined;
  #streamsStored = 0;
  #admissions = 0;
  #requestIds = 0;
  #publishScheduled = false;
  #stopping = false;

  constructor(config: Config, meta: Meta, found: FoundData) {
    this.#config = config;
    this.#meta = meta;
    this.#logFlaws = new LogFlaws(found.inventory);
    this.#logFlaws.add(found.cutOff);
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
    this.#coordinator = this.#startCoordinator(found);
    this.#queries = new QueryLink((command) => this.#coordinator.port.send(command), this.#shares);
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
    logLine(this.#config.LOG_LEVEL as LogLevel, level, line);
  }

  /** Where bodies go: to the first engine of each thread. */
  get #lanes(): readonly BodyPort[] {
    return this.#bodyPorts.slice(0, this.#engines.threadCount);
  }

  /** Those that listen. */
  get #servers(): readonly HttpServer[] {
    return [this.#http, this.#otlpHttp, this.#alertsHttp, this.#socketHttp].filter((server) => server !== undefined);
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
    await this.#listenAlerts();
    await this.#listenSocket();
    setInterval(() => this.#streams.keepAlive(), KEEP_ALIVE_MS).unref();
    const state = await this.#coordinator.loaded;
    if (this.#stopping) return null;
    noteStores(this.#config.DATA_DIR, this.#meta);
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

  #startCoordinator({ segments, isLogEmpty }: FoundData): CoordinatorHandle {
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
      settings: coordinatorSettings(config),
    };
    const logLost = (names: readonly string[]) => new ConfigError(missingLogLine(names, logDirectory(config.DATA_DIR)));
    return startCoordinator(data, { spawn: spawnActor, onMessage: (message) => this.#fromCoordinator(message), logLost });
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

  /** Opens the port of OTLP. */
  async #listenOtlp(host: string): Promise<void> {
    const port = this.#config.OTLP_PORT;
    const server = this.#makeHttp((exchange) => this.#front.handleOtlp(exchange));
    const state = await this.#listenBeside(server, host, port, "OTLP_PORT", "OTLP is taken on the main port");
    if (state === "listening") this.#otlpHttp = server;
    this.#coordinator.port.send({ type: "listeners", listeners: { otlp: { state, port } } });
  }

  /** Opens the port of alerts, which takes no credential. */
  async #listenAlerts(): Promise<void> {
    const { ALERTS_PORT: port, ALERTS_HOST: host, ALERTS_TENANT: tenant } = this.#config;
    const server = this.#makeHttp((exchange) => this.#front.handleAlerts(exchange, tenant));
    const state = await this.#listenBeside(server, host, port, "ALERTS_PORT", "alerts are taken on the main port, with a credential");
    if (state === "listening") this.#alertsHttp = server;
    this.#coordinator.port.send({ type: "listeners", listeners: { alerts: { state, port } } });
  }

  /** Opens a port beside the main one; one that is not to be had is told, and the start goes on. */
  async #listenBeside(server: HttpServer, host: string, port: number, setting: string, instead: string): Promise<ListenerState["state"]> {
    if (port === 0) return "closed";
    try {
      await server.listen(host, port);
      return "listening";
    } catch (error) {
      this.#log("warn", `${setting} is not served: ${error instanceof Error ? error.message : String(error)}; ${instead}`);
      return "unavailable";
    }
  }

  /** Opens the Unix socket. Unlike OTLP's port it was asked for, so the start ends where it is not to be had. */
  async #listenSocket(): Promise<void> {
    const path = this.#config.SOCKET;
    if (path === "") return;
    const server = this.#makeHttp((exchange) => this.#front.handle(exchange));
    await server.listenUnix(path).catch((error: Error) => {
      throw new ConfigError(`SOCKET: ${error.message}`);
    });
    this.#socketHttp = server;
  }

  #makeHttp(handler: HttpHandler): HttpServer {
    const options = {
      commonHeaders: COMMON_HEADERS,
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
    const logWatch = new LogWatch({
      refusals: () => this.#engines.sum("logErrors"),
      trial: () => tryWriting(logDirectory(this.#config.DATA_DIR)),
    });
    setInterval(() => void logWatch.look(), LOG_LOOK_MS).unref();
    const vitals = new Vitals({
      clock: systemClock,
      startedMs,
      openConnections: () => this.#servers.reduce((sum, { openConnections }) => sum + openConnections, 0),
      residentBytes: () => process.memoryUsage.rss(),
      ports: this.#bodyPorts,
      ingestion,
      queries: this.#queries,
      streams: this.#streams,
      tenants: this.#tenants,
      refusals,
      requests,
      refusedBodies: this.#refusedBodies,
      heartbeat: this.#heartbeat,
      logWatch,
      access: this.#desk,
      engines: this.#engines.counters,
      coordinator: this.#coordinatorSlots,
      shares: this.#shares,
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
        refusedBodies: this.#refusedBodies,
        metrics: () => vitals.metrics(),
        health: () => vitals.health(),
        isReadOnly: () => vitals.isReadOnly,
        refusesWrites: () => vitals.refusesWrites,
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
    if (request !== undefined) this.#refusedBodies.count(refusal.code, request);
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
      this.#logFlaws.add(report.flaws);
      if (this.#engines.unready === 0) this.#tellLogFlaws();
      if (report.streams === 0) return;
      this.#log(
        "info",
        `engine ${engine}: ${report.streams} streams, ${report.replayedRows} rows replayed from the log in ${report.replayMs.toFixed(0)} ms`,
      );
    }
  }

  /** Once the logs have been read by all. */
  #tellLogFlaws(): void {
    const { faults, warning, tornBytes } = this.#logFlaws.findings(damagedDirectory(this.#config.DATA_DIR));
    if (tornBytes > 0)
      this.#log("warn", `${tornBytes} bytes that end a log are no whole block: a kill broke a write off, or the file was cut`);
    if (warning !== null) this.#log("error", warning);
    for (const fault of faults) this.#coordinator.port.send({ type: "data-fault", fault });
  }

  reload(): void {
    this.#desk.reload(readConfig);
  }

  /** Stops in order: no new requests, answers out, engines checkpointed, store closed. */
  async stop(): Promise<void> {
    this.#streams.end();
    this.#heartbeat.close();
    await Promise.all(this.#servers.map((server) => server.drain(DRAIN_MS_MAX)));
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
    writeError(isPlain(error) ? `vedette: ${describeError(error)}` : `fatal: ${name} ended: ${error.stack ?? error.message}`);
    process.exit(1);
  });
}

async function serve(config: Config): Promise<void> {
  checkSettings(config);
  applyV8Policy();
  let reload: () => void = () => undefined;
  process.on("SIGHUP", () => reload());
  closeDataFolder(config.DATA_DIR);
  const lock = lockFolder(config.DATA_DIR);
  const owner = await ownFolder(config.DATA_DIR);
  if (owner === null)
    writeError(
      `${config.DATA_DIR} takes no socket (its path is too long, or its file system has none): a server in another container is not seen`,
    );
  const meta = openMeta(config.DATA_DIR, () => randomBytes(32).toString("hex"));
  const found = findData(config.DATA_DIR, meta, config.ACCEPT_DATA_LOSS === "true");
  keepFaults(config.DATA_DIR, found.faults);
  const server = new Server(config, meta, found);
  reload = () => server.reload();
  const stop = async () => {
    writeLine("stopping: answering what is under way, then writing checkpoints");
    setTimeout(() => {
      writeError("stopped late: not every checkpoint was written; the next start reads the log instead");
      process.exit(1);
    }, STOP_MS_MAX).unref();
    await server.stop();
    removeSignInLink(config.DATA_DIR);
    owner?.release();
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
  const socket = config.SOCKET === "" ? "" : ` and ${config.SOCKET}`;
  writeLine(`vedette ${VERSION} listens on ${address}${socket}  (data in ${config.DATA_DIR}, ${server.engineText})`);
  const { signInTarget } = server;
  if (signInTarget !== null) writeLine(signInLine(`${address}${signInTarget}`, config.DATA_DIR, process.stdout.isTTY === true));
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
  else if (command === "serve") await serve(readConfig());
  else
    process.exitCode = await runCommand(command, rest, { environment: process.env, isTerminal: process.stdout.isTTY === true, readConfig });
}

main().catch((error: unknown) => {
  writeError(`vedette: ${describeError(error)}`);
  process.exit(1);
});
