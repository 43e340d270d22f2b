// The long baselines of one engine, put together: their pass, their store, and the deployments that they bear in mind.
import type { EngineMemory, ProcessSlots } from "../../../../adapters/shared-memory/engine-memory.ts";
import { PAIRS_MAX_INITIAL } from "../../../../core/config/shared-limits.ts";
import { PARTITIONS } from "../../../../core/layout/memory-map.ts";
import { episodeKind } from "../../../../core/protocol/coordinator-frame.ts";
import type { DetectorStates, DetectorStatesWanted, StoredDeployments } from "../../../../core/protocol/engine-control.ts";
import type { AcceptedLevels } from "../../../../domain/detection/pair/accepted-levels.ts";
import { Deployments } from "../../../../domain/detection/pair/deployments.ts";
import { TimeZoneHours } from "../../../../domain/detection/seasonal/time-zone-hours.ts";
import type { ShardKernel } from "../../../../domain/kernel/shard-kernel.ts";
import { engineOf } from "../../../../domain/placement/partition.ts";
import type { EngineCounters } from "../../report/engine-counters.ts";
import type { EngineShares } from "../../report/engine-shares.ts";
import type { Outbox } from "../../report/outbox.ts";
import type { Shard } from "../../shard/shard.ts";
import { PairScan } from "./pair-pass.ts";
import { PairPlaces } from "./pair-places.ts";
import { PairStore } from "./pair-store.ts";

export interface LongBaselinesOptions {
  readonly engine: number;
  readonly engines: number;
  /** DETECTION_TIMEZONE; throws RangeError for a zone that is unknown. */
  readonly timeZone?: string;
  readonly pairsMax?: number;
}

export interface LongBaselinesDependencies {
  readonly memory: EngineMemory;
  readonly kernel: ShardKernel;
  readonly shard: Shard;
  readonly outbox: Outbox;
  readonly counters: EngineCounters;
  readonly processSlots: ProcessSlots;
  readonly shares: EngineShares;
  readonly levels: AcceptedLevels;
  readonly tenantIndex: (tenant: string) => number;
  readonly tenants: () => number;
  readonly ask: (wanted: DetectorStatesWanted) => void;
}

export class LongBaselines {
  readonly #deployments = new Deployments();
  readonly pairScan: PairScan;
  readonly #store: PairStore;
  readonly #counters: EngineCounters;

  constructor(
    { engine, engines, timeZone = "UTC", pairsMax = PAIRS_MAX_INITIAL }: LongBaselinesOptions,
    dependencies: LongBaselinesDependencies,
  ) {
    const { memory, kernel, shard, outbox, counters, shares, levels, ask } = dependencies;
    this.#counters = counters;
    this.pairScan = new PairScan(
      { offsetMs: new TimeZoneHours(timeZone).offsetMs },
      {
        records: kernel.records,
        uint32s: memory.uint32s,
        settings: shard.profiles,
        deployments: this.#deployments,
        levels,
        places: new PairPlaces(pairsMax, { ...dependencies, shares: shares.ledger("long_baselines") }),
        nameOf: (slot) => shard.nameOf(slot),
        hashText: (text) => shard.hashText(text),
        send: (frame) => outbox.sendJson(episodeKind(frame), frame),
        load: () => this.#store.load(),
      },
    );
    const own = Array.from({ length: PARTITIONS }, (_, partition) => partition).filter((one) => engineOf(one, engines) === engine);
    const restored = (pair: number, hash: number) => this.pairScan.restored(pair, hash);
    this.#store = new PairStore(own, { arena: this.pairScan.arena, outbox, ask, restored });
    shard.learnHistoryWith((slot) => this.pairScan.learn(slot));
    shard.reportAtOnceWith((slot, side) => this.pairScan.reportsNow(slot, side));
  }

  /** Takes states that were stored, or deployments. */
  take(reported: DetectorStates | StoredDeployments): void {
    if (reported.type === "deployments") this.#deployments.take(reported.deployments);
    else this.#store.take(reported);
  }

  /** Asks for what is stored; true once all is here. No history is applied before. */
  load(): boolean {
    return this.#store.load();
  }

  /** A few times a second. */
  onInterval(nowMs: number): void {
    this.#store.onInterval(nowMs);
    this.#counters.set("watchdogPairs", this.pairScan.arena.size);
  }

  /** Stores all that has changed, before the end; true once that is on its way. */
  storeAll(): boolean {
    return this.#store.storeAll();
  }
}
