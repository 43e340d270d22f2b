/**
 * The Watchdog's pass over bounded series (rule 1.1.11). A service's streams are looked through for bounded ones, then each series that they make is fed
 * from their rings and judged; findings go to the coordinator, which makes episodes of them. A series whose past is in the store and not in a ring waits for
 * it: the coordinator aggregates what is stored and tells it. So nothing has to be saved but breaches that samples no longer show (past-breaches.ts), and a restart or an import
 * loses nothing.
 */
import { ownMember, setMember } from "../../../../core/collections/own-member.ts";
import { SATURATION_ROLLUP_STREAMS_MAX, SATURATION_WANTED_PER_SLICE } from "../../../../core/config/limits.ts";
import type { ShareLedger } from "../../../../core/fairness/share-ledger.ts";
import type { StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import type { WatchdogCounts, WatchdogNotice } from "../../../../core/protocol/engine-control.ts";
import type {
  SaturationFound,
  SaturationHistories,
  SaturationReport,
  SaturationUpdate,
  WantedHistory,
} from "../../../../core/protocol/saturation.ts";
import { EVALUATED, LEARNING } from "../../../../domain/detection/coverage.ts";
import type { ShardKernel } from "../../../../domain/kernel/shard-kernel.ts";
import { kindOfName } from "../../../../domain/saturation/bounded-name.ts";
import { BoundedSlots } from "../../../../domain/saturation/bounded-slots.ts";
import { KnownSaturation } from "../../../../domain/saturation/known-saturation.ts";
import { SaturationArena } from "../../../../domain/saturation/saturation-arena.ts";
import { SaturationFeed } from "../../../../domain/saturation/saturation-feed.ts";
import { breachesOf, releaseTier, restoreTier, SaturationSeries } from "../../../../domain/saturation/saturation-series.ts";
import { type BoundedStream, type SaturationUnit, saturationUnits } from "../../../../domain/saturation/saturation-units.ts";
import { serviceKey } from "../../../../domain/series/stream-identity.ts";
import type { EngineCounters } from "../../report/engine-counters.ts";
import type { WatchdogDetector } from "../cycle/engine-watchdog.ts";
import type { PastBreaches } from "./past-breaches.ts";

export interface SaturationDetectorDependencies {
  /** Who holds how many series of this engine. */
  readonly shares: ShareLedger;
  /** From before the start too. */
  readonly breaches: PastBreaches;
  readonly kernel: ShardKernel;
  readonly counters: EngineCounters;
  nameOf(slot: number): StreamName;
  hashOf(slot: number): Uint8Array;
  /** Unit that senders report a metric; null where they do not. */
  unitOf(tenant: string, metricName: string): string | null;
}

/** Streams looked at in one visit, where names are known and where they have to be read. */
const INSPECTED_PER_VISIT = 2_000;
const NAMES_PER_VISIT = 100;

/** Age beyond which a value is not judged (domain/saturation/saturation-series.ts). */
const RECENT_MS_MAX = 16 * 60_000;

/** A bounded stream where it lies. */
interface SlotStream extends BoundedStream {
  readonly slot: number;
  readonly tag: number;
}
type SlotUnit = SaturationUnit<SlotStream>;

interface ServiceAtHand {
  readonly key: string;
  readonly streams: SlotStream[];
  next: number;
  units: readonly SlotUnit[] | undefined;
  unit: number;
}

/** The pass of one engine. */
export class SaturationDetector implements WatchdogDetector {
  readonly #dependencies: SaturationDetectorDependencies;
  readonly #arena: SaturationArena;
  readonly #slots: BoundedSlots;
  readonly #feed: SaturationFeed;
  readonly #reported = new KnownSaturation();
  #limitsVersion = 0;
  #generation = 0;
  #nowMs = 0;
  #service: ServiceAtHand | undefined;
  #reports: SaturationReport[] = [];
  #habitual: SaturationReport[] = [];
  #waiting: string[] = [];
  #over: Array<Pick<SaturationReport, "key" | "sampleMs">> = [];
  #ended: string[] = [];
  #wanted: WantedHistory[] = [];
  #evaluated = 0;
  #learning = 0;
  #skipped: Record<string, number> = {};

  constructor(dependencies: SaturationDetectorDependencies) {
    this.#dependencies = dependencies;
    this.#arena = new SaturationArena(dependencies.shares);
    this.#slots = new BoundedSlots(dependencies.kernel, (slot) => this.#isBounded(slot));
    this.#feed = new SaturationFeed(dependencies.kernel);
  }

  take(notice: WatchdogNotice): void {
    if (notice.type === "saturation-update") this.#takeUpdate(notice);
    else if (notice.type === "saturation-histories") this.#takeHistories(notice);
  }

  /** Before a pass. */
  #takeUpdate(reported: SaturationUpdate): void {
    this.#reported.take(reported);
    if (this.#reported.limitsVersion === this.#limitsVersion) return;
    this.#limitsVersion = this.#reported.limitsVersion;
    this.#slots.forget();
  }

  /** Takes what is stored of series that wait for it. What their rings hold beyond follows in the next pass. */
  #takeHistories({ histories }: SaturationHistories): void {
    for (const { key, untilMs, head, rings } of histories) {
      const index = this.#arena.find(key);
      if (index === undefined || this.#arena.isReady(index)) continue;
      const at = this.#arena.open(index);
      at.head.set(head);
      at.rings.set(rings);
      this.#arena.setFedMs(index, untilMs - 1);
      this.#begin(index, key);
    }
  }

  begin(nowMs: number): void {
    this.#generation++;
    this.#nowMs = nowMs;
    this.#service = undefined;
  }

  visit(key: string, slots: readonly number[]): number {
    if (this.#service?.key !== key) this.#service = { key, streams: [], next: 0, units: undefined, unit: 0 };
    const service = this.#service;
    if (service.next < slots.length) this.#inspect(service, slots);
    else this.#judgeNext(service);
    const isDone = service.next >= slots.length && (service.streams.length === 0 || service.unit >= (service.units?.length ?? 1));
    if (!isDone) return Math.min(service.next, slots.length - 1);
    this.#service = undefined;
    return slots.length;
  }

  end(): void {
    this.#arena.sweep(this.#generation);
    this.#dependencies.breaches.expire(this.#nowMs);
    this.#dependencies.counters.set("saturationSeries", this.#arena.size);
  }

  takeCounts(): WatchdogCounts {
    const counts = { evaluated: this.#evaluated, learning: this.#learning, skipped: this.#skipped };
    [this.#evaluated, this.#learning, this.#skipped] = [0, 0, {}];
    return counts;
  }

  takeFound(): SaturationFound | undefined {
    const found = {
      reports: this.#reports,
      habitual: this.#habitual,
      waiting: this.#waiting,
      over: this.#over,
      ended: this.#ended,
      wanted: this.#wanted,
    };
    if (Object.values(found).every(({ length }) => length === 0)) return undefined;
    [this.#reports, this.#habitual, this.#waiting, this.#over, this.#ended, this.#wanted] = [[], [], [], [], [], []];
    return { ...found, series: this.#arena.size };
  }

  streamState(slot: number): string {
    return this.#slots.state(slot);
  }

  #isBounded(slot: number): boolean {
    const { tenant, serviceId, metricName } = this.#dependencies.nameOf(slot);
    return kindOfName(metricName) !== null || this.#reported.limitFor(tenant, serviceId, metricName) !== null;
  }

  #inspect(service: ServiceAtHand, slots: readonly number[]): void {
    let names = 0;
    const stop = Math.min(slots.length, service.next + INSPECTED_PER_VISIT);
    while (service.next < stop && names < NAMES_PER_VISIT) {
      const slot = slots[service.next++] as number;
      const { bounded, inspected } = this.#slots.judge(slot);
      if (inspected || bounded) names++;
      if (!bounded) continue;
      const hash = Buffer.from(this.#dependencies.hashOf(slot)).toString("hex");
      service.streams.push({ slot, tag: this.#slots.tag(slot), name: this.#dependencies.nameOf(slot), hash });
    }
  }

  #judgeNext(service: ServiceAtHand): void {
    service.units ??= saturationUnits(service.streams);
    const unit = service.units[service.unit++];
    // A stream that has left its slot since it was looked at is found again when it is back.
    if (!unit?.streams.every(({ slot, tag }) => this.#slots.tag(slot) === tag)) return;
    const state = this.#judge(unit, service);
    if (state === EVALUATED) this.#evaluated++;
    else if (state === LEARNING) this.#learning++;
    else this.#skip(state);
    for (const { slot } of unit.streams) this.#slots.setState(slot, state);
  }

  /** Outcome for it, in the words of domain/detection/coverage.ts. */
  #judge(unit: SlotUnit, service: ServiceAtHand): string {
    const index = this.#arena.allocate(unit.key, unit.name.tenant);
    if (index === undefined) return this.#idle(unit, "series_limit");
    this.#arena.markGeneration(index, this.#generation);
    const slots = unit.streams.map(({ slot }) => slot);
    if (!this.#prepare(index, unit, slots)) return this.#idle(unit, LEARNING);
    const at = this.#arena.open(index);
    const names = { ...this.#boundsOf(unit.name), metricName: unit.name.metricName, instance: unit.instance };
    const series = SaturationSeries.attach(names, at);
    const sinceMs = this.#arena.fedMs(index);
    const fedMs = this.#feed.feed(series, slots, sinceMs);
    this.#arena.setFedMs(index, fedMs);
    const { hasEnded, isSilent, endsWithHistory } = this.#feed.stateOf(slots, this.#nowMs);
    const isGone = hasEnded || (isSilent && this.#goesOn(unit, service));
    const isJudged = !isGone && !endsWithHistory && fedMs > sinceMs;
    const state = isJudged ? this.#evaluate(unit, series, fedMs) : this.#idle(unit, this.#idleState(fedMs, hasEnded), isGone);
    series.detach(at);
    this.#dependencies.breaches.keep(
      unit.key,
      this.#dependencies.kernel.records.partition(slots[0] as number),
      breachesOf(at),
      this.#nowMs,
    );
    if (isGone) releaseTier(at);
    return state;
  }

  #evaluate(unit: SlotUnit, series: SaturationSeries, sampleMs: number): string {
    const { tenant, environment, serviceId, metricName } = unit.name;
    const { finding, habitual, gates } = series.evaluate(this.#nowMs, {
      limit: this.#reported.limitFor(tenant, serviceId, metricName),
      corroborated: this.#reported.isCorroborated(serviceKey(tenant, serviceId), environment, metricName),
    });
    const unknown = gates.find(({ name, passed }) => !passed && (name === "limit_known" || name === "recent_value"));
    if (unknown?.name === "recent_value") return this.#idle(unit, "no_recent_value");
    if (unknown !== undefined) return this.#idle(unit, "no_declared_limit", true);
    if (finding !== null) this.#reports.push({ ...unit.name, key: unit.key, sampleMs, finding });
    else if (this.#reported.isOpen(unit.key)) this.#over.push({ key: unit.key, sampleMs });
    if (habitual !== undefined) this.#habitual.push({ ...unit.name, key: unit.key, sampleMs, finding: habitual });
    return EVALUATED;
  }

  /** Without new values nothing is over: a finding that is told goes on, unless nothing more will come. */
  #idle(unit: SlotUnit, state: string, isGone = false): string {
    if (this.#reported.isOpen(unit.key)) (isGone ? this.#ended : this.#waiting).push(unit.key);
    return state;
  }

  #idleState(fedMs: number, hasEnded: boolean): string {
    if (hasEnded) return "ended";
    return this.#nowMs - fedMs <= RECENT_MS_MAX ? EVALUATED : "no_recent_value";
  }

  /** Whether other streams of the pair have sent within the day in which these were silent. */
  #goesOn(unit: SlotUnit, { streams }: ServiceAtHand): boolean {
    const { environment, metricName } = unit.name;
    return streams.some(
      ({ name, slot }) =>
        name.metricName === metricName && name.environment === environment && !this.#feed.stateOf([slot], this.#nowMs).isSilent,
    );
  }

  /** Whether a series has its past; asks for what is stored where the rings do not hold all of it, again after an import of older values. */
  #prepare(index: number, unit: SlotUnit, slots: readonly number[]): boolean {
    const arena = this.#arena;
    const firstMs = this.#feed.firstMs(slots);
    if (arena.isReady(index) && firstMs >= arena.firstMs(index)) return true;
    if (arena.isReady(index)) arena.clear(index);
    arena.markGeneration(index, this.#generation);
    arena.setFirstMs(index, firstMs);
    if (this.#feed.containAll(slots)) {
      this.#begin(index, unit.key);
      return true;
    }
    if (this.#wanted.length < SATURATION_WANTED_PER_SLICE) this.#wanted.push(this.#want(unit));
    return false;
  }

  #want({ key, name, streams }: SlotUnit): WantedHistory {
    const { kernel, hashOf } = this.#dependencies;
    const some = streams.slice(0, SATURATION_ROLLUP_STREAMS_MAX);
    const partition = kernel.records.partition((some[0] as SlotStream).slot);
    const untilMs = this.#feed.bufferedFromMs(
      some.map(({ slot }) => slot),
      this.#nowMs,
    );
    const streamIds = some.map(({ slot }) => hashOf(slot));
    return { key, partition, streamIds, metricName: name.metricName, ...this.#boundsOf(name), untilMs };
  }

  #boundsOf({ tenant, serviceId, metricName }: StreamName): Pick<WantedHistory, "unit" | "limit"> {
    const unit = this.#dependencies.unitOf(tenant, metricName);
    return { unit, limit: this.#reported.limitFor(tenant, serviceId, metricName) };
  }

  #begin(index: number, key: string): void {
    this.#arena.setReady(index);
    const breaches = this.#dependencies.breaches.of(key);
    if (breaches.length > 0) breachesOf(this.#arena.open(index)).recall(breaches);
    const restored = this.#reported.restored(key);
    if (restored === undefined) return;
    restoreTier(this.#arena.open(index), restored.tier, restored.rule);
    this.#reported.release(key);
  }

  #skip(reason: string): void {
    setMember(this.#skipped, reason, (ownMember(this.#skipped, reason) ?? 0) + 1);
  }
}
