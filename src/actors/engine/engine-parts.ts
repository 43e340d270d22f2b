// The parts of an engine, made and tied together: what takes bodies, what applies rows, what reads the logs, what asks and answers.
import type { EngineMemory } from "../../adapters/shared-memory/engine-memory.ts";
import { InboxReader } from "../../adapters/shared-memory/inbox-ring.ts";
import { dispatch, type Handlers } from "../../adapters/threads/mailbox.ts";
import { BLOCK_BYTES } from "../../core/config/limits.ts";
import { finished } from "../../core/fairness/serial-work.ts";
import { PROFILE_ENVIRONMENT } from "../../core/layout/stream-record.ts";
import type { MetricScopeEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { EngineCommand } from "../../core/protocol/engine-control.ts";
import { KnownTenants } from "../../domain/access/known-tenants.ts";
import { profileTableSteps } from "../../domain/detection/thresholds.ts";
import { environmentSettings } from "../../domain/detection/watchdog-settings.ts";
import { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { partitionOf } from "../../domain/placement/partition.ts";
import { MetadataBook } from "../../domain/series/metadata-book.ts";
import { EngineInbox } from "./engine-inbox.ts";
import type { EngineDependencies, EngineOptions } from "./engine-options.ts";
import { makeBodyDecoders } from "./ingest/body-decoders.ts";
import { IngestPipeline } from "./ingest/ingest-pipeline.ts";
import { Placement } from "./ingest/placement.ts";
import { BehaviourScan } from "./queries/behaviour-scan.ts";
import { DelayedQueries } from "./queries/delayed-queries.ts";
import { EvidenceScan } from "./queries/evidence-scan.ts";
import { SeriesQueries } from "./queries/series-queries.ts";
import { Recovery } from "./recovery/recovery.ts";
import { DetectionStages } from "./report/detection-stages.ts";
import { EngineCounters } from "./report/engine-counters.ts";
import { makeEngineShares } from "./report/engine-shares.ts";
import { Outbox } from "./report/outbox.ts";
import { Shard } from "./shard/shard.ts";
import { ShardHandlers } from "./shard-handlers.ts";
import { ServiceIndex } from "./streams/service-index.ts";
import { runsOfAnswers } from "./unit/answer-runs.ts";
import { MetricScopes } from "./unit/metric-scopes.ts";
import type { WorkUnit } from "./unit/work-unit.ts";
import { makeEngineWatchdog } from "./watchdog/detectors.ts";
import { LongBaselines } from "./watchdog/pairs/long-baselines.ts";

export type EngineParts = ReturnType<typeof makeParts>;

/** Parts of the base: memory, counters, the kernel and the shard that applies rows with it. */
type Base = ReturnType<typeof makeBase>;

/** Makes them. `markLog` stores how far the log's records are, once there are checkpoints. */
export function makeParts(options: EngineOptions, dependencies: EngineDependencies, markLog: () => void) {
  const base = makeBase(options, dependencies);
  const { memory, kernel, outbox, shard, counters, shares, services, metadata, commands } = base;
  const { tenants } = commands;
  const tenantIndex = (name: string) => tenants.number(name);
  const { seriesLimit, idleMs, normalizeTemporality: normalize = true } = options;
  const { reply } = dependencies;
  const shared = { ...dependencies, memory, kernel, outbox, tenantIndex, tenants: () => tenants.count, counters, shard, shares };
  const handlers = new ShardHandlers({ seriesLimit, idleMs, normalize }, { ...shared, services });
  const delayed = new DelayedQueries({
    returns: shard.returns,
    outbox,
    queries: new SeriesQueries({ ...shared, services }),
    reply,
    monotonicMs: () => dependencies.clock.monotonicMs(),
  });
  const baselines = new LongBaselines(options, { ...shared, levels: handlers.levels, ask: reply });
  const watchdog = makeEngineWatchdog(options, { pairs: baselines.pairScan }, { ...shared, services, metadata });
  const recovery = makeRecovery(options, dependencies, base);
  const ingest = makeIngest(options, dependencies, { ...base, baselines });
  const evidence = makeEvidence(dependencies, base, handlers, ingest);
  const inbox = new EngineInbox({
    ...shared,
    metadata,
    behaviour: makeBehaviour(dependencies, base),
    evidence,
    baselines,
    watchdog,
    delayed,
    restore: (part) => recovery.restore(part),
    markLog,
  });
  return {
    ...base,
    handlers,
    delayed,
    baselines,
    watchdog,
    evidence,
    recovery,
    inbox,
    ingest,
  };
}

function makeBase(options: EngineOptions, dependencies: EngineDependencies) {
  const { engine, engines, zThreshold, samplesMin, confirmation, window } = options;
  const { processSlots, memories } = dependencies;
  const commands = new EngineCommands(options.tenants, dependencies.takeCommand);
  const { tenants } = commands;
  const memory = memories[engine] as EngineMemory;
  const counters = new EngineCounters(memory);
  const shares = makeEngineShares(options, tenants, counters);
  const metadata = new MetadataBook(shares.ledger("metric_metadata"));
  metadata.take(options.metadata ?? []);
  const scopes = makeScopes(options, dependencies, { memory, tenants, shares });
  const outbox = new Outbox(memory, dependencies.ringCoordinator);
  const placement = new Placement(engine, memories);
  const readers = memories.map((_, writer) => (writer === engine ? undefined : new InboxReader(memory, writer)));
  dependencies.kernel.setSeeds(...options.seeds);
  const kernel = new ShardKernel({ window }, { kernel: dependencies.kernel, buffer: memory.memory.buffer });
  kernel.setProfileTables(PROFILE_ENVIRONMENT, finished(profileTableSteps(zThreshold, { samplesMin, confirmation })));
  const settings = environmentSettings(options);
  const services = new ServiceIndex(memory, dependencies.kernel);
  const tenantIndex = (name: string) => tenants.number(name);
  const stages = new DetectionStages(counters, () => dependencies.clock.monotonicMs());
  const shard = new Shard(
    { engine, engines, settings, samplesMin, confirmation, blockBytes: options.blockBytes ?? BLOCK_BYTES },
    {
      memory,
      kernel,
      processSlots,
      outbox,
      counters,
      stages,
      services,
      tenantIndex,
      askForStreams: dependencies.reply,
      monotonicMs: () => dependencies.clock.monotonicMs(),
    },
  );
  if (options.watchdogSettings !== undefined) shard.profiles.take(options.watchdogSettings);
  return { commands, memory, counters, stages, shares, metadata, scopes, outbox, placement, readers, kernel, services, shard };
}

function makeScopes(
  options: EngineOptions,
  { kernel, processSlots }: EngineDependencies,
  { memory, tenants, shares }: Pick<Base, "memory" | "shares"> & Pick<Base["commands"], "tenants">,
): MetricScopes {
  const scopes = new MetricScopes({
    memory,
    kernel,
    processSlots,
    shares: shares.ledger("metric_scopes"),
    tenantName: (index) => tenants.name(index),
    tenantIndex: (name) => tenants.number(name),
    tenants: () => tenants.count,
  });
  for (const stored of options.metricScopes ?? []) scopes.restore(stored);
  return scopes;
}

function makeEvidence({ clock }: EngineDependencies, base: Base, handlers: ShardHandlers, ingest: IngestPipeline): EvidenceScan {
  const { kernel, services, shard, readers } = base;
  return new EvidenceScan({
    kernel,
    services,
    nameOf: (slot) => shard.nameOf(slot),
    lines: (tenant, name, minutes) => handlers.logs.lines(partitionOf(tenant, name.serviceId), name, minutes),
    operationNames: (tenant, name) => handlers.spans.operationNames(partitionOf(tenant, name.serviceId), name),
    times: handlers.operationTimes,
    isWaitedFor: () => ingest.waiting > 0 || readers.some((reader) => reader?.peek() !== undefined),
    monotonicMs: () => clock.monotonicMs(),
  });
}

function makeBehaviour({ clock }: EngineDependencies, { kernel, services, shard }: Base): BehaviourScan {
  const metricNameOf = (slot: number) => shard.nameOf(slot).metricName;
  return new BehaviourScan({ kernel, services, metricNameOf, monotonicMs: () => clock.monotonicMs() });
}

function makeRecovery(
  options: EngineOptions,
  dependencies: EngineDependencies,
  { memory, shard, kernel, outbox, commands, scopes }: Base,
): Recovery {
  const { engine, engines, logMarks, checkpoints, leaveOut = [] } = options;
  const { processSlots, kernel: ingest, reply: askForPart } = dependencies;
  const tenantIndex = (name: string) => commands.tenants.number(name);
  const takeScope = (payload: Uint8Array) => scopes.restore(JSON.parse(new TextDecoder().decode(payload)) as MetricScopeEnvelope);
  return new Recovery(
    { engine, engines, logMarks, checkpoints, leaveOut },
    { memory, shard, kernel, ingest, outbox, processSlots, tenantIndex, askForPart, takeScope },
  );
}

function makeIngest(
  options: EngineOptions,
  dependencies: EngineDependencies,
  parts: Base & { readonly baselines: LongBaselines },
): IngestPipeline {
  const { kernel, log, clock, processSlots, memories, report } = dependencies;
  const { memory, counters, stages, metadata, scopes, placement, outbox, shard, commands, baselines } = parts;
  const requestId = (admission: number) => `${options.epoch.toString(16).padStart(7, "0")}-${admission.toString(16).padStart(13, "0")}`;
  const shared = { memory, memories, processSlots, kernel, counters, requestId, metadata, scopes };
  const decoders = makeBodyDecoders(options, {
    ...shared,
    wallMs: () => clock.wallMs(),
    tenantName: (index) => commands.tenants.name(index),
    tenantIndex: (name) => commands.tenants.number(name),
  });
  return new IngestPipeline(
    { engines: options.engines },
    {
      ...decoders,
      memory,
      kernel,
      log,
      counters,
      stages,
      requestId,
      placement,
      outbox,
      takesHistory: () => baselines.load(),
      monotonicMs: () => clock.monotonicMs(),
      applyOwn: (unit, rowBytes) => {
        shard.work.beginBlock(options.epoch, options.engine, log.position);
        shard.owed.within(unit.debts, () => applyOwn(shard, options.engine, unit, rowBytes));
        shard.work.endBlock();
      },
      answer: (answers) => report({ type: "answers", ...runsOfAnswers(answers) }),
    },
  );
}

/** Rows of the ingest's own engine need no ring. */
function applyOwn(shard: Shard, engine: number, unit: WorkUnit, rowBytes: number): void {
  shard.define(unit);
  if (rowBytes > 0) shard.applyStaged(unit, rowBytes, engine);
  shard.takeOwnMessages(unit);
}

// What main tells an engine: tenants, and to stop.

/** Commands of one engine, and what is known by them. */
class EngineCommands {
  readonly tenants: KnownTenants;
  readonly #take: () => EngineCommand | undefined;
  #isStopAsked = false;
  readonly #handlers: Handlers<EngineCommand> = {
    tenant: ({ index, name }) => this.tenants.learn(index, name),
    stop: () => {
      this.#isStopAsked = true;
    },
  };

  /** `names` are those of the tenants that are known at the start, by number. */
  constructor(names: readonly string[], take: () => EngineCommand | undefined) {
    this.#take = take;
    this.tenants = new KnownTenants(names, () => this.takeAll());
  }

  get isStopAsked(): boolean {
    return this.#isStopAsked;
  }

  /** Takes all that have come; true when there were any. */
  takeAll(): boolean {
    let any = false;
    for (let command = this.#take(); command !== undefined; command = this.#take()) {
      any = true;
      dispatch(this.#handlers, command);
    }
    return any;
  }
}
