#!/usr/bin/env node
// Composition root: reads the settings, builds the actors, connects them, and takes them down again in order. It decides nothing else.
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { availableParallelism } from "node:os";
import { join } from "node:path";
import type { CoordinatorThreadData, LoadedState } from "./actors/coordinator/worker.ts";
import type { EngineThreadData } from "./actors/engine/worker.ts";
import { BodyPort } from "./actors/front/body-port.ts";
import { EVENT_FLUSH_MS, EventStreams } from "./actors/front/event-streams.ts";
import { Front } from "./actors/front/front.ts";
import { Ingestion } from "./actors/front/ingestion.ts";
import { QueryLink } from "./actors/front/query-link.ts";
import { RequestHistogram } from "./actors/front/request-histogram.ts";
import { createHttpServer } from "./adapters/http/http-engine.ts";
import type { HttpServer, RefusalCode } from "./adapters/http/http-server.ts";
import { lockFolder } from "./adapters/log/folder-lock.ts";
import { type Meta, openMeta } from "./adapters/log/meta-file.ts";
import { systemClock } from "./adapters/runtime/clock.ts";
import { createEngineMemory, EngineMemory } from "./adapters/runtime/engine-memory.ts";
import { createChannel, type Port, spawn, type Thread } from "./adapters/runtime/threads.ts";
import { errorAnswer } from "./api/error-answer.ts";
import type { ErrorCode } from "./api/refusal.ts";
import { runDemo } from "./cli/demo.ts";
import { HELP } from "./cli/help.ts";
import { writeLine } from "./cli/terminal.ts";
import { DRAIN_MS_MAX } from "./core/config/limits.ts";
import { type Config, ConfigError, loadConfig } from "./core/config/load-config.ts";
import { COORDINATOR_SLOTS, ENGINE_SLOTS, COORDINATOR_COUNTERS } from "./core/layout/counters.ts";
import { PROCESS_WORDS_BYTES } from "./core/layout/memory-map.ts";
import type { EngineAnswer, EngineCommand, EngineQuery, EngineReport } from "./core/protocol/engine-control.ts";
import type { CoordinatorCommand, CoordinatorMessage } from "./core/protocol/query.ts";
import { DEFAULT_TENANT } from "./domain/access/access-policy.ts";
import { engineOf } from "./domain/placement/partition.ts";

const VERSION = (JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as { version: string }).version;

/** One engine as main sees it. */
interface EngineHandle {
  readonly memory: EngineMemory;
  readonly bodies: BodyPort;
  readonly port: Port<EngineReport, EngineCommand>;
  readonly thread: Thread;
  ready: boolean;
  stopped: () => void;
  readonly hasStopped: Promise<void>;
}

/** Everything that runs. */
class Server {
  readonly #config: Config;
  readonly #meta: Meta;
  readonly #startedMs = systemClock.wallMs();
  readonly #coordinatorSlots = new Float64Array(new SharedArrayBuffer(COORDINATOR_SLOTS * 8));
  readonly #streams = new EventStreams();
  readonly #requests = new RequestHistogram();
  #engines: EngineHandle[] = [];
  #coordinator: Port<CoordinatorMessage | LoadedState, CoordinatorCommand> | undefined;
  #coordinatorThread: Thread | undefined;
  #coordinatorStopped: () => void = () => {};
  #queries: QueryLink | undefined;
  #http: HttpServer | undefined;
  #ingestion: Ingestion | undefined;
  #admissions = 0;
  #requestIds = 0;
  #publishScheduled = false;
  #stopping = false;

  constructor(config: Config, meta: Meta) {
    this.#config = config;
    this.#meta = meta;
  }

  get engineCount(): number {
    return this.#config.ENGINES > 0 ? this.#config.ENGINES : Math.max(1, availableParallelism() - 1);
  }

  /** Starts all actors; resolves with the address once requests are served. */
  async start(): Promise<string> {
    const memories = Array.from({ length: this.engineCount }, createEngineMemory);
    const channels = memories.map(() => createChannel<EngineAnswer | CoordinatorCommand, EngineQuery>());
    const loaded = this.#startCoordinator(memories, channels.map(({ first }) => first.raw));
    const address = await this.#listen(memories);
    this.#startEngines(memories, channels.map(({ second }) => second.raw), await loaded);
    await this.#untilReady();
    this.#coordinator?.send({ type: "engines-ready" });
    return address;
  }

  #startCoordinator(memories: WebAssembly.Memory[], enginePorts: CoordinatorThreadData["enginePorts"]): Promise<LoadedState> {
    const { first, second } = createChannel<CoordinatorMessage | LoadedState, CoordinatorCommand>();
    const data: CoordinatorThreadData = {
      dataDir: this.#config.DATA_DIR, epoch: this.#meta.epoch, version: VERSION, memories, enginePorts,
      counters: this.#coordinatorSlots.buffer as SharedArrayBuffer, mainPort: second.raw,
      settings: {
        threshold: this.#config.WATCHDOG_Z_SCORE_THRESHOLD, minSamples: this.#config.WATCHDOG_MIN_SAMPLES, window: this.#config.WATCHDOG_WINDOW,
        retentionDays: this.#config.RETENTION_DAYS, retentionRawDays: this.#config.RETENTION_RAW_DAYS,
      },
    };
    const file = new URL("./actors/coordinator/worker.js", import.meta.url);
    this.#coordinatorThread = spawn(file, "coordinator", data, [second.raw, ...enginePorts], (error) => fail("coordinator", error));
    this.#coordinator = first;
    this.#queries = new QueryLink((command) => first.send(command));
    return new Promise((resolve) => {
      first.onMessage((message) => {
        if (message.type === "loaded") resolve(message);
        else this.#fromCoordinator(message);
      });
    });
  }

  #fromCoordinator(message: CoordinatorMessage): void {
    if (message.type === "answer") this.#queries?.answer(message);
    else if (message.type === "events") this.#streams.push(message.events);
    else if (message.type === "log") writeLine(`${message.level}: ${message.line}`);
    else if (message.type === "stopped") this.#coordinatorStopped();
  }

  async #listen(memories: readonly WebAssembly.Memory[]): Promise<string> {
    const ports = memories.map((memory) => new BodyPort(new EngineMemory(memory), () => ++this.#admissions));
    const ingestion = new Ingestion({ clock: systemClock, ports, schedulePublish: () => this.#schedulePublish(ports) });
    this.#ingestion = ingestion;
    this.#bodyPorts = ports;
    const front = this.#makeFront(ingestion, ports, memories.map((memory) => new EngineMemory(memory).counters(ENGINE_SLOTS)));
    const options = {
      refusal: (status: number, code: RefusalCode, message: string) => this.#refusal(status, code, message),
      onHandlerFault: (error: unknown) => writeLine(`error: a request failed: ${error instanceof Error ? error.stack : String(error)}`),
    };
    this.#http = createHttpServer(this.#config.HTTP_ENGINE as "auto", options, (exchange) => front.handle(exchange), writeLine);
    const { port } = await this.#http.listen(this.#config.HOST, this.#config.PORT);
    setInterval(() => this.#streams.flush(), EVENT_FLUSH_MS).unref();
    return `http://${this.#config.HOST.includes(":") ? `[${this.#config.HOST}]` : this.#config.HOST}:${port}`;
  }

  #bodyPorts: readonly BodyPort[] = [];

  #makeFront(ingestion: Ingestion, ports: readonly BodyPort[], engineSlots: readonly Float64Array[]): Front {
    const access = { ingestAuth: this.#config.INGEST_AUTH, readAuth: this.#config.READ_AUTH, boundHost: this.#config.HOST };
    return new Front({ version: VERSION, access, startedMs: this.#startedMs }, {
      clock: systemClock,
      ingestion,
      queries: this.#queries as QueryLink,
      streams: this.#streams,
      requests: this.#requests,
      metrics: () => this.#metricsSources(ports, engineSlots),
      health: () => this.#health(ports),
      notReady: () => this.#notReady(),
      nextRequestId: () => `${this.#meta.epoch.toString(16).padStart(7, "0")}-f${(++this.#requestIds).toString(16).padStart(12, "0")}`,
    });
  }

  #metricsSources(ports: readonly BodyPort[], engines: readonly Float64Array[]) {
    const gauges: Array<readonly [string, string, number]> = [
      ["vedette_resident_bytes", "Resident memory of the process", process.memoryUsage.rss()],
      ["vedette_open_connections", "Open HTTP connections", this.#http?.openConnections ?? 0],
      ["vedette_event_streams", "Open event streams", this.#streams.count],
      ["vedette_queries_waiting", "Queries waiting for the coordinator", this.#queries?.waiting ?? 0],
      ["vedette_uptime_seconds", "Seconds since the start", (systemClock.wallMs() - this.#startedMs) / 1000],
    ];
    const counters: Array<readonly [string, string, number]> = [
      ["vedette_overloaded_total", "Write requests answered 503 because queues were full", this.#ingestion?.overloaded ?? 0],
      ["vedette_event_stream_missed_total", "Events that slow readers of the stream missed", this.#streams.missedTotal],
    ];
    return { engines, coordinator: this.#coordinatorSlots, requests: this.#requests, gauges, counters, ports };
  }

  #health(ports: readonly BodyPort[]) {
    const readOnly = this.#coordinatorSlots[COORDINATOR_COUNTERS.indexOf("storeReadOnly")] === 1;
    const full = ports.some((port) => port.ringFill > 0.9);
    return { store: readOnly ? "read_only" : "ok", queue: full ? "full" : "ok" };
  }

  #notReady(): string | null {
    if (this.#stopping) return "it is stopping";
    const waiting = this.#engines.filter((engine) => !engine.ready).length;
    if (this.#engines.length === 0) return "it opens its store";
    return waiting > 0 ? `${waiting} of ${this.#engines.length} engines still read their logs` : null;
  }

  #refusal(_status: number, code: RefusalCode, message: string) {
    const known: ErrorCode = code === "body_too_large" ? "payload_too_large" : code;
    const id = `${this.#meta.epoch.toString(16).padStart(7, "0")}-f${(++this.#requestIds).toString(16).padStart(12, "0")}`;
    const answer = errorAnswer({ code: known, message }, id, undefined);
    const headers: Array<readonly [string, string]> = [["Content-Type", answer.contentType]];
    if (answer.status === 503) headers.push(["Retry-After", "1"]);
    return { headers, body: answer.body };
  }

  #schedulePublish(ports: readonly BodyPort[]): void {
    if (this.#publishScheduled) return;
    this.#publishScheduled = true;
    setImmediate(() => {
      this.#publishScheduled = false;
      for (const port of ports) port.publish();
    });
  }

  #startEngines(memories: WebAssembly.Memory[], coordinatorPorts: EngineThreadData["coordinatorPort"][], state: LoadedState): void {
    const kernelModule = new WebAssembly.Module(readFileSync(new URL("./domain/kernel/kernel.wasm", import.meta.url)));
    const processWords = new SharedArrayBuffer(PROCESS_WORDS_BYTES);
    const seeds = makeSeeds(this.#meta.seed);
    this.#engines = memories.map((memory, engine) => {
      const { first, second } = createChannel<EngineReport, EngineCommand>();
      const coordinatorPort = coordinatorPorts[engine] as EngineThreadData["coordinatorPort"];
      const data: EngineThreadData = {
        options: { ...this.#engineOptions(engine, state), seeds },
        dataDir: this.#config.DATA_DIR, syncEach: this.#config.DURABILITY === "power", kernelModule, memories, processWords, mainPort: second.raw, coordinatorPort,
      };
      const file = new URL("./actors/engine/worker.js", import.meta.url);
      const thread = spawn(file, `engine ${engine}`, data, [second.raw, coordinatorPort], (error) => fail(`engine ${engine}`, error));
      let stopped = () => {};
      const hasStopped = new Promise<void>((resolve) => {
        stopped = resolve;
      });
      const handle: EngineHandle = { memory: new EngineMemory(memory), bodies: this.#bodyPorts[engine] as BodyPort, port: first, thread, ready: false, stopped, hasStopped };
      first.onMessage((report) => this.#fromEngine(handle, engine, report));
      return handle;
    });
  }

  #engineOptions(engine: number, state: LoadedState): Omit<EngineThreadData["options"], "seeds"> {
    const engines = this.engineCount;
    return {
      engine, engines, epoch: this.#meta.epoch,
      seriesLimit: this.#config.SERIES_LIMIT, threshold: this.#config.WATCHDOG_Z_SCORE_THRESHOLD,
      minSamples: this.#config.WATCHDOG_MIN_SAMPLES, window: this.#config.WATCHDOG_WINDOW,
      tenants: [DEFAULT_TENANT],
      checkpoints: state.checkpoints.filter(({ partition }) => engineOf(partition, engines) === engine),
      laneMarks: state.laneMarks,
    };
  }

  #fromEngine(handle: EngineHandle, engine: number, report: EngineReport): void {
    if (report.type === "answers") handle.bodies.answer(report.statuses, report.bodies);
    else if (report.type === "log") writeLine(`${report.level}: engine ${engine}: ${report.line}`);
    else if (report.type === "stopped") handle.stopped();
    else {
      handle.ready = true;
      if (report.streams > 0) writeLine(`engine ${engine}: ${report.streams} streams, ${report.replayedRows} rows replayed in ${report.replayMs.toFixed(0)} ms`);
      this.#readyListener();
    }
  }

  #readyListener: () => void = () => {};

  #untilReady(): Promise<void> {
    return new Promise((resolve) => {
      this.#readyListener = () => {
        if (this.#engines.every((engine) => engine.ready)) resolve();
      };
      this.#readyListener();
    });
  }

  /** Stops in order: no new requests, answers out, engines checkpointed, store closed. */
  async stop(): Promise<void> {
    if (this.#stopping) return;
    this.#streams.end();
    await this.#http?.drain(DRAIN_MS_MAX);
    this.#stopping = true;
    for (const engine of this.#engines) {
      engine.port.send({ type: "stop" });
      engine.memory.ringBell();
    }
    await Promise.all(this.#engines.map((engine) => engine.hasStopped));
    const stopped = new Promise<void>((resolve) => {
      this.#coordinatorStopped = resolve;
    });
    this.#coordinator?.send({ type: "stop" });
    await stopped;
    for (const engine of this.#engines) engine.port.close();
    this.#coordinator?.close();
    await Promise.all([...this.#engines.map((engine) => engine.thread.ended), this.#coordinatorThread?.ended]);
  }
}

/** Seeds of the lane table (new at every start) and of identities (the data folder's). */
function makeSeeds(identitySeed: string): EngineThreadData["options"]["seeds"] {
  const lane = randomBytes(16);
  return [lane.readBigUInt64LE(0), lane.readBigUInt64LE(8), BigInt(`0x${identitySeed.slice(0, 16)}`), BigInt(`0x${identitySeed.slice(16, 32)}`)];
}

/** A broken invariant ends the process: what was acknowledged is in the log, and the next start reads it. */
function fail(actor: string, error: Error): never {
  writeLine(`fatal: ${actor} ended: ${error.stack ?? error.message}`);
  process.exit(1);
}

async function serve(config: Config): Promise<void> {
  const lock = lockFolder(config.DATA_DIR);
  const server = new Server(config, openMeta(config.DATA_DIR, () => randomBytes(32).toString("hex")));
  const stop = async () => {
    writeLine("stopping: answering what is under way, then writing checkpoints");
    await server.stop();
    lock.release();
    writeLine("stopped");
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void stop().then(() => process.exit(0)));
  const address = await server.start();
  writeLine(`vedette ${VERSION} listens on ${address}  (data in ${join(config.DATA_DIR)}, ${server.engineCount} engine${server.engineCount === 1 ? "" : "s"})`);
  writeLine(`try first:  curl ${address}/healthz    or, in another terminal:  make demo`);
}

async function main(): Promise<void> {
  const [command = "serve", ...rest] = process.argv.slice(2);
  if (command === "--help" || command === "help" || command === "-h") writeLine(HELP);
  else if (command === "--version") writeLine(VERSION);
  else if (command === "demo") process.exitCode = await runDemo(rest, process.env);
  else if (command === "serve") await serve(loadConfig(process.env));
  else throw new ConfigError(`unknown command ${JSON.stringify(command)}; vedette --help lists them`);
}

main().catch((error: unknown) => {
  const known = error instanceof ConfigError || (error instanceof Error && ["FolderLockedError", "MetaError"].includes(error.name)) || (error as NodeJS.ErrnoException).code === "EADDRINUSE";
  writeLine(known ? `vedette: ${(error as Error).message}` : `vedette: ${error instanceof Error ? error.stack : String(error)}`);
  process.exit(1);
});
