// The long baselines of aggregate rings: as those of streams, over what several streams of a pair come to together.
import type { EpisodeFrame, StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../../../core/protocol/engine-control.ts";
import type { AcceptedLevels } from "../../../../domain/detection/pair/accepted-levels.ts";
import type { AggregateValue } from "../../../../domain/detection/pair/pair-aggregate.ts";
import type { PairArena } from "../../../../domain/detection/pair/pair-arena.ts";
import type { PairDetector } from "../../../../domain/detection/pair/pair-detector.ts";
import { PairEpisodes } from "../../../../domain/detection/pair/pair-episodes.ts";
import type { OffsetMs } from "../../../../domain/detection/seasonal/time-zone-hours.ts";
import { SILENT_STREAM_MS } from "../../../../domain/detection/service/silent-streams.ts";
import type { WatchdogSettings } from "../../../../domain/detection/watchdog-settings.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";
import { type AggregateRing, AggregateRings } from "./aggregate-rings.ts";
import type { ServiceAtHand } from "./service-at-hand.ts";

export interface AggregateScanDependencies {
  readonly records: StreamRecords;
  readonly arena: PairArena;
  readonly detector: PairDetector;
  readonly offsetMs: OffsetMs;
  readonly settings: { settingsOf(tenant: string, serviceId: string, metricName: string): WatchdogSettings };
  readonly levels: AcceptedLevels;
  readonly hashText: (text: string) => string;
  readonly send: (frame: EpisodeFrame) => void;
  /** The pair of a stream. */
  readonly pairOf: (slot: number) => number;
  /** A pair for a hash, 0 where there is no room. */
  readonly claim: (slots: Uint32Array, partition: number, tenant: string) => number;
  readonly confirm: (name: StreamName, direction: WatchdogSettings["direction"], reported: Pick<ConfirmedPair, "isAlone" | "side">) => void;
  /** Takes the episode of an aggregate that goes on. */
  readonly isFiring: (episodeId: string) => void;
}

const nameOfRing = ({ name }: AggregateRing) => name;

export class AggregateScan {
  readonly rings = new AggregateRings();
  readonly #dependencies: AggregateScanDependencies;
  readonly #episodes: PairEpisodes;
  #ring!: AggregateRing;

  constructor(dependencies: AggregateScanDependencies) {
    this.#dependencies = dependencies;
    this.#episodes = new PairEpisodes({
      ...dependencies,
      nameOf: () => this.#ring.name,
      streamsOf: () => this.#ring.streams,
      firstTimeMs: () => this.#ring.firstMs,
    });
  }

  /** Ends the cycle of a service: observes what its rings have come to. */
  cycle(service: ServiceAtHand, nowMs: number): void {
    const { arena, isFiring } = this.#dependencies;
    for (const ring of this.rings.of(service.key)) {
      this.#ring = ring;
      if (ring.pair === 0) ring.pair = this.#begin(ring);
      const value = ring.aggregate.cycle(nowMs);
      if (ring.pair === 0) continue;
      if (value !== undefined) this.#observe(ring, value, service);
      else if (!ring.aggregate.hasMembers || this.#isGone(ring, nowMs))
        this.#episodes.end(ring.pair, 0, arena.lastTimeMs(ring.pair), "end");
      if (arena.openedMs(ring.pair) !== 0) isFiring(this.#episodes.idOf(ring.pair));
    }
  }

  /** One stream alone is no aggregate: what was found of several has ended where there are none for as long as a stream may be silent. */
  #isGone({ pair }: AggregateRing, nowMs: number): boolean {
    const { arena } = this.#dependencies;
    return arena.openedMs(pair) !== 0 && nowMs - arena.lastTimeMs(pair) > SILENT_STREAM_MS;
  }

  #observe(ring: AggregateRing, { timeMs, value, streams }: AggregateValue, service: ServiceAtHand): void {
    const { arena, detector, settings, levels, confirm } = this.#dependencies;
    const { tenant, serviceId, metricName } = ring.name;
    ring.streams = streams;
    if (ring.firstMs === 0) ring.firstMs = timeMs;
    if (timeMs <= arena.lastTimeMs(ring.pair)) return;
    const { direction, zThreshold } = settings.settingsOf(tenant, serviceId, metricName);
    arena.load(ring.pair);
    const { deployedMs, knownDays } = service;
    const acceptedMs = levels.at(service.key, nameOfRing, ring);
    const around = { deployedMs, acceptedMs, streams: service.streams, zThreshold, knownDays, changedMs: ring.aggregate.changedMs };
    const verdict = detector.observe(timeMs, value, around);
    this.#episodes.take({ pair: ring.pair, slot: 0, direction, isReported: true }, timeMs, verdict);
    this.#episodes.flush();
    arena.setMarks(ring.pair, streams);
    arena.save(ring.pair, timeMs, detector.count);
    if (verdict.reports || verdict.shares) confirm(ring.name, direction, { isAlone: verdict.reports, side: verdict.side });
  }

  /** Goes on from what is stored, of as many streams as its marks say, or begins with the baseline of its first stream. */
  #begin({ hash, name, firstSlot, aggregate }: AggregateRing): number {
    const { arena, records, pairOf, claim } = this.#dependencies;
    const bytes = Uint8Array.from(Buffer.from(hash, "hex"));
    const pair = claim(new Uint32Array(bytes.buffer), records.partition(firstSlot), name.tenant);
    const first = pairOf(firstSlot);
    if (pair !== 0 && first !== 0 && arena.count(pair) === 0 && arena.count(first) > 0) arena.inherit(pair, first);
    if (pair !== 0) aggregate.goOn(arena.marks(pair));
    return pair;
  }
}
