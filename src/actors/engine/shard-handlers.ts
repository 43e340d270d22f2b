// The handlers of one shard, and their time: what is due is done once everything that came before is taken.
import type { Clock } from "../../adapters/platform/clock.ts";
import type { EngineMemory, ProcessSlots } from "../../adapters/shared-memory/engine-memory.ts";
import { AcceptedLevels } from "../../domain/detection/pair/accepted-levels.ts";
import type { ShardKernel } from "../../domain/kernel/shard-kernel.ts";
import { OperationTimes } from "../../domain/trace/operation-times.ts";
import { BucketFamilies } from "./distributions/bucket-families.ts";
import { DistributionHandler } from "./distributions/distribution-handler.ts";
import { LogHandler } from "./logs/log-handler.ts";
import type { EngineCounters } from "./report/engine-counters.ts";
import type { EngineShares } from "./report/engine-shares.ts";
import type { Outbox } from "./report/outbox.ts";
import { DerivedSeries, type DerivedSeriesDependencies } from "./shard/derived-series.ts";
import { LevelHandler } from "./shard/level-handler.ts";
import { LimitedSeries } from "./shard/limited-series.ts";
import type { Shard } from "./shard/shard.ts";
import { SpanHandler } from "./spans/span-handler.ts";
import type { ServiceIndex } from "./streams/service-index.ts";

/** Wait, at most, of what is due for rows and messages that have come before. */
const DUE_SLACK_MS = 50;

export interface ShardHandlersDependencies extends Omit<DerivedSeriesDependencies, "shard"> {
  readonly shard: Shard;
  readonly counters: EngineCounters;
  readonly outbox: Outbox;
  readonly clock: Clock;
  readonly shares: EngineShares;
  readonly services: ServiceIndex;
}

/** Registers the handlers of this build with a shard. */
export class ShardHandlers {
  readonly families: BucketFamilies;
  readonly logs: LogHandler;
  readonly spans: SpanHandler;
  readonly operationTimes: OperationTimes;
  /** Levels that people have taken for the usual ones. */
  readonly levels = new AcceptedLevels();
  readonly #shard: Shard;
  readonly #clock: Clock;

  constructor(options: DistributionsOptions, dependencies: ShardHandlersDependencies) {
    const { shard, counters, outbox, clock, shares, services, kernel } = dependencies;
    this.#shard = shard;
    this.#clock = clock;
    const series = new DerivedSeries(dependencies);
    const send = (kind: number, payload: Uint8Array) => outbox.send(kind, payload);
    const generation = (partition: number) => shard.streams.partition(partition).generation;
    this.families = addDistributions(options, dependencies);
    const limited = new LimitedSeries(options.seriesLimit, { series, counters });
    const windowShares = (items: "span" | "log") => ({
      services: shares.ledger(`${items}_services`),
      cells: shares.ledger(`${items}_cells`),
      ids: shares.ledger(`${items}_ids`),
    });
    const ofSpans = {
      windowShares: windowShares("span"),
      joinedServices: shares.ledger("call_services"),
      callEdges: shares.ledger("call_edges"),
    };
    this.operationTimes = new OperationTimes(shares.ledger("timed_operations"));
    this.spans = new SpanHandler({ series: limited, counters, send, generation, times: this.operationTimes, ...ofSpans });
    shard.addHandler(this.spans);
    this.logs = new LogHandler({ series: limited, counters, shares: windowShares("log") });
    shard.addHandler(this.logs);
    const nameOf = (slot: number) => shard.nameOf(slot);
    shard.addHandler(new LevelHandler({ levels: this.levels, services, records: kernel.records, nameOf }));
  }

  /** Does a slice of what is due by time, such as closing windows; while the engine is busy a little later. False when there was nothing. */
  doDue(isBusy: boolean): boolean {
    const wallMs = this.#clock.wallMs();
    let did = false;
    for (const handler of this.#shard.handlers) {
      if (handler.dueMs === undefined || wallMs < handler.dueMs + (isBusy ? DUE_SLACK_MS : 0)) continue;
      handler.due?.(wallMs, this.#clock.monotonicMs());
      did = true;
    }
    return did;
  }

  /** Milliseconds until something is due, at least 1. */
  get dueInMs(): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const handler of this.#shard.handlers) dueMs = Math.min(dueMs, handler.dueMs ?? dueMs);
    return Math.max(1, dueMs - this.#clock.wallMs());
  }
}

// Histograms and summaries in one engine's shard: points that come as messages, and families of classic buckets that come as streams.

interface DistributionsOptions {
  readonly seriesLimit: number;
  /** STREAM_IDLE_HOURS in ms. */
  readonly idleMs: number;
  /** OTEL_TEMPORALITY_NORMALIZE. */
  readonly normalize: boolean;
}

interface DistributionsDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly processSlots: ProcessSlots;
  readonly counters: EngineCounters;
  readonly tenantIndex: (tenant: string) => number;
  readonly shard: Shard;
  readonly shares: EngineShares;
}

/** Gives a shard the handlers of histograms and summaries; the families are to be settled after rows have been applied. */
function addDistributions(options: DistributionsOptions, dependencies: DistributionsDependencies): BucketFamilies {
  const { shard, kernel, counters, shares } = dependencies;
  const series = new DerivedSeries(dependencies);
  const families = new BucketFamilies(options, { kernel, series, counters, shares: shares.ledger("bucket_families") });
  const ofPoints = { series: shares.ledger("histograms"), bytes: shares.ledger("histogram_bytes") };
  shard.addHandler(new DistributionHandler(options, { series, counters, streams: () => kernel.streams, shares: ofPoints }));
  shard.addHandler(families);
  shard.collectBucketsWith(() => families.collect());
  return families;
}
