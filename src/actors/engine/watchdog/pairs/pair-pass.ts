// The pass over long baselines: gives the detector of each stream the values that came since its last pass, from the stream's ring, in order and none twice.
import { longEnough } from "../../../../core/collections/growing-arrays.ts";
import {
  LONG_BASELINE_STREAMS_PER_VISIT,
  LONG_BASELINE_UNCLAIMED_CYCLES,
  LONG_BASELINE_VALUES_PER_VISIT,
} from "../../../../core/config/limits.ts";
import { FLAG_BUCKET, FLAG_COUNTER, FLAG_ENDED, PROFILE_EXCLUDED, SR_HASH, WINDOW_MAX } from "../../../../core/layout/stream-record.ts";
import type { StreamName } from "../../../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair, FiringEpisodes, WatchdogCounts } from "../../../../core/protocol/engine-control.ts";
import { EVALUATED, LEARNING, NOT_VISITED } from "../../../../domain/detection/coverage.ts";
import { countsEach } from "../../../../domain/detection/departure/counted-values.ts";
import { JUDGED_BY_OTHERS, type LongBaselineSays } from "../../../../domain/detection/departure/own-tail.ts";
import { YOUNG_VALUES, youngDeparture } from "../../../../domain/detection/departure/young-departure.ts";
import { mayJoin, newestLevel, warmUntil } from "../../../../domain/detection/pair/instance-family.ts";
import { reachOf } from "../../../../domain/detection/pair/own-reach.ts";
import { hashNumber, PairArena } from "../../../../domain/detection/pair/pair-arena.ts";
import { CONFIRMED_MS_MAX } from "../../../../domain/detection/pair/pair-confirmation.ts";
import { LEARNING_VALUES, PairDetector } from "../../../../domain/detection/pair/pair-detector.ts";
import { PairEpisodes } from "../../../../domain/detection/pair/pair-episodes.ts";
import { type PairSurroundings, SURROUNDED_BY_NOTHING, Z_THRESHOLD_DEFAULT } from "../../../../domain/detection/pair/pair-surroundings.ts";
import { DETECTOR_ADAPTIVE } from "../../../../domain/detection/pair/pair-verdict.ts";
import { groupObservations, groupWithPending } from "../../../../domain/detection/rolling/observation-groups.ts";
import { perUsualInterval, restartedValue } from "../../../../domain/detection/rolling/usual-deltas.ts";
import { lastFullHour } from "../../../../domain/detection/service/live-streams.ts";
import type { WatchdogSettings } from "../../../../domain/detection/watchdog-settings.ts";
import { kindOfName } from "../../../../domain/saturation/bounded-name.ts";
import { isOfCounts } from "../../../../domain/series/classification.ts";
import { serviceKey } from "../../../../domain/series/stream-identity.ts";
import type { WatchdogDetector } from "../cycle/engine-watchdog.ts";
import { AggregateScan } from "./aggregate-pass.ts";
import { InstanceFamilies } from "./instance-families.ts";
import type { PairScanDependencies, PairScanOptions } from "./pair-pass-options.ts";
import { NO_SERVICE, type ServiceAtHand } from "./service-at-hand.ts";

type Skipped = "ended" | "histogram_bucket" | "excluded" | "pair_limit";

/** Age before the cycle beyond which a beginning is not told: it is history that an import has brought, or so late that ingestion would refuse it. */
const REPORTED_MS_MAX = 24 * 3600 * 1000;
/** Marks of a pair: its stream counts; it has begun with the baseline of another instance. */
const COUNTS = 1;
const INHERITED = 2;

/** The pairs of one engine. */
export class PairScan implements WatchdogDetector {
  readonly arena: PairArena;
  readonly #dependencies: PairScanDependencies;
  readonly #detector: PairDetector;
  readonly #episodes: PairEpisodes;
  readonly #families: InstanceFamilies;
  readonly #aggregates: AggregateScan;
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  /** A ring of which one value began anew. */
  readonly #had = { times: new Float64Array(WINDOW_MAX), values: new Float64Array(WINDOW_MAX) };
  /** Pairs by slot; 0 for none. */
  #pairs = new Uint32Array(1024);
  /** 1 where the name of a slot's stream says that it counts. */
  #namedCounts = new Uint8Array(1024);
  /** Pairs from the store whose streams have not been seen yet, by the number of their hash. */
  readonly #unclaimed = new Map<number, number>();
  #cyclesLoaded = 0;
  /** By service: streams that are alive, and the hour for which they were counted; 0 where all of them count. */
  readonly #live = new Map<string, { readonly hourMs: number; readonly streams: number }>();
  #service = NO_SERVICE;
  /** Of the stream at hand: one for all, since a cycle comes by each of hundreds of thousands. */
  readonly #around = {
    ...SURROUNDED_BY_NOTHING,
    acceptedMs: 0,
    warmUntilMs: 0,
    knownDays: NO_SERVICE.knownDays,
    isCounter: false,
    counts: 0,
  };
  #nowMs = 0;
  #evaluated = 0;
  #learning = 0;
  #skipped: Partial<Record<Skipped, number>> = {};
  #firing: string[] = [];
  #confirmed: ConfirmedPair[] = [];
  /** A stream found no room in the last cycle, in this one. */
  #wasLimited = false;
  #isLimited = false;

  constructor(options: PairScanOptions, dependencies: PairScanDependencies) {
    this.#dependencies = dependencies;
    this.#detector = new PairDetector(undefined, options.offsetMs);
    this.arena = new PairArena(this.#detector.state);
    const { nameOf, hashText, send, records } = dependencies;
    this.#episodes = new PairEpisodes({
      arena: this.arena,
      detector: this.#detector,
      offsetMs: options.offsetMs,
      firstTimeMs: (slot) => records.firstTimeMs(slot),
      nameOf,
      hashText,
      send,
    });
    this.#families = new InstanceFamilies(this.arena, this.#detector);
    this.#aggregates = new AggregateScan({
      ...dependencies,
      offsetMs: options.offsetMs,
      arena: this.arena,
      detector: this.#detector,
      pairOf: (slot) => this.#pairs[slot] ?? 0,
      claim: (slots, partition, tenant) => this.#take(slots, 0, partition, tenant),
      confirm: (name, direction, reported) => this.#confirm(name, direction, reported),
      isFiring: (episodeId) => this.#firing.push(episodeId),
    });
  }

  get isReady(): boolean {
    return this.#dependencies.load();
  }

  begin(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#service = NO_SERVICE;
    this.#wasLimited = this.#isLimited;
    this.#isLimited = false;
    this.#dependencies.deployments.forgetBefore(nowMs);
    this.#dependencies.levels.forgetBefore(nowMs);
  }

  visit(key: string, slots: readonly number[], first: number): number {
    if (key !== this.#service.key) this.#service = this.#serviceOf(key, slots);
    let values = LONG_BASELINE_VALUES_PER_VISIT;
    const stop = Math.min(slots.length, first + LONG_BASELINE_STREAMS_PER_VISIT);
    let next = first;
    for (; next < stop && values > 0; next++) values -= this.#inspect(slots[next] as number);
    if (next === slots.length) this.#aggregates.cycle(this.#service, this.#nowMs);
    return next;
  }

  /** Alerts of pairs whose streams are not in memory yet go on. */
  end(): void {
    this.#cyclesLoaded++;
    if (this.#cyclesLoaded > LONG_BASELINE_UNCLAIMED_CYCLES) {
      for (const pair of this.#unclaimed.values()) this.#free(pair);
      this.#unclaimed.clear();
    }
    for (const pair of this.#unclaimed.values()) this.#report(pair);
  }

  takeCounts(): WatchdogCounts {
    const counts = { evaluated: this.#evaluated, learning: this.#learning, skipped: this.#skipped as Record<string, number> };
    this.#evaluated = 0;
    this.#learning = 0;
    this.#skipped = {};
    return counts;
  }

  takeFound(): FiringEpisodes | undefined {
    if (this.#firing.length === 0 && this.#confirmed.length === 0) return undefined;
    const found = { detector: DETECTOR_ADAPTIVE, firing: this.#firing, confirmed: this.#confirmed };
    this.#firing = [];
    this.#confirmed = [];
    return found;
  }

  streamState(slot: number): string {
    const pair = this.#pairs[slot] ?? 0;
    if (pair === 0) return this.#isLimited || this.#wasLimited ? "pair_limit" : NOT_VISITED;
    return this.arena.count(pair) < LEARNING_VALUES ? LEARNING : EVALUATED;
  }

  /** Takes a pair from the store. */
  restored(pair: number, hash: number): void {
    if (this.#dependencies.places.restore()) this.#unclaimed.set(hash, pair);
    else this.arena.free(pair);
  }

  /** Streams leave memory, and their baselines with them. */
  removeSlots(slots: readonly number[]): void {
    for (const slot of slots) {
      const pair = this.#pairs[slot] ?? 0;
      if (pair === 0) continue;
      this.#families.leave(pair);
      this.#aggregates.rings.leave(slot);
      this.#free(pair);
      this.#pairs[slot] = 0;
    }
    this.#live.clear();
  }

  /** Whether an alert of the stream is open. */
  isFiring(slot: number): boolean {
    const pair = this.#pairs[slot] ?? 0;
    return pair !== 0 && this.arena.openedMs(pair) !== 0;
  }

  /** Ends the alert of a stream of which nothing more is heard. */
  endSilent(slot: number): void {
    this.#episodes.end(this.#pairs[slot] as number, slot, this.#dependencies.records.lastTimeMs(slot), "end");
  }

  /** Finding to be reported at once for a stream whose newest value layer 1 has declared; undefined where it has no long baseline and gets none. */
  reportsNow(slot: number, side: 1 | -1): LongBaselineSays | undefined {
    const pair = this.#pairs[slot] ?? 0;
    const { records, nameOf, settings } = this.#dependencies;
    if ((records.flags(slot) & FLAG_BUCKET) !== 0) return JUDGED_BY_OTHERS;
    if ((records.flags(slot) & FLAG_ENDED) !== 0 || (pair === 0 && (this.#isLimited || this.#wasLimited))) return undefined;
    const isKnown = pair !== 0 && this.#isSameKind(slot, pair);
    const { tenant, serviceId, metricName } = nameOf(slot);
    const key = serviceKey(tenant, serviceId);
    const own = settings.settingsOf(tenant, serviceId, metricName);
    if (own.excluded) return undefined;
    const streams = this.#live.get(key)?.streams ?? 1;
    const known = { values: isKnown ? this.arena.count(pair) : 0, streams, evidence: undefined };
    if (own.evaluationDelaySeconds > 0) return known;
    const sinceMs = isKnown ? this.arena.lastTimeMs(pair) : 0;
    const read = this.#readSince(slot, sinceMs, Number.POSITIVE_INFINITY);
    const { groups: count, pending } = groupWithPending(this.#times, this.#values, read, sinceMs);
    if (count === 0 && pending === undefined) return known;
    const [deployedMs, knownDays] = [this.#dependencies.deployments.of(key), settings.knownDaysOf(tenant)];
    const warmUntilMs = isKnown ? this.#warmUntilMs(slot, pair) : 0;
    const [isCounter, counts] = [this.#kindOf(slot) === COUNTS, this.#countsOf(slot)];
    const around = { deployedMs, streams, zThreshold: own.zThreshold, warmUntilMs, knownDays, isCounter, counts };
    // Of a stream that no cycle has seen the ring is all that is known.
    if (isKnown) this.arena.load(pair);
    else new Uint8Array(this.#detector.state).fill(0);
    const evidence = this.#detector.foresee({ times: this.#times, values: this.#values, count, pending }, around, side);
    return { ...known, evidence, reach: evidence === undefined ? reachOf(this.#detector, side, around) : undefined };
  }

  /** Takes history of a stream in that its ring holds, and judges none of it. Only once what is stored is here. */
  learn(slot: number): void {
    const { records } = this.#dependencies;
    if ((records.flags(slot) & (FLAG_ENDED | FLAG_BUCKET)) !== 0) return;
    const pair = this.#pairAt(slot);
    const around = { ...SURROUNDED_BY_NOTHING, counts: this.#countsOf(slot) };
    if (pair !== 0) this.#observe(slot, pair, Number.POSITIVE_INFINITY, around, undefined);
  }

  /** Until when a stream that has inherited its baseline warms up. */
  #warmUntilMs(slot: number, pair: number): number {
    return (this.arena.marks(pair) & INHERITED) === 0 ? 0 : warmUntil(this.#dependencies.records.firstTimeMs(slot));
  }

  /** Streams of a service that are alive, counted once an hour. */
  #liveOf(key: string, slots: readonly number[]): number {
    const { records } = this.#dependencies;
    const { fromMs, toMs } = lastFullHour(this.#nowMs);
    const known = this.#live.get(key);
    if (known?.hourMs === toMs) return known.streams;
    let streams = 0;
    for (const slot of slots) if (records.lastTimeMs(slot) >= fromMs && records.firstTimeMs(slot) < toMs) streams++;
    const live = { hourMs: streams === 0 ? 0 : toMs, streams: streams === 0 ? slots.length : streams };
    this.#live.set(key, live);
    return live.streams;
  }

  #serviceOf(key: string, slots: readonly number[]): ServiceAtHand {
    const { settings, deployments } = this.#dependencies;
    const [tenant, serviceId] = JSON.parse(key) as [string, string];
    return {
      key,
      tenant,
      serviceId,
      settings: settings.settingsOf(tenant, serviceId, ""),
      hasMetrics: settings.hasMetrics(tenant, serviceId),
      deployedMs: deployments.of(key),
      streams: this.#liveOf(key, slots),
      knownDays: settings.knownDaysOf(tenant),
    };
  }

  /** Brings a stream's pair up to date; the values that it took. */
  #inspect(slot: number): number {
    const { records, nameOf, settings } = this.#dependencies;
    const { tenant, serviceId, hasMetrics, deployedMs } = this.#service;
    const own = hasMetrics ? settings.settingsOf(tenant, serviceId, nameOf(slot).metricName) : this.#service.settings;
    const flags = records.flags(slot);
    if (own.excluded || records.profile(slot) === PROFILE_EXCLUDED) return this.#skip("excluded", slot);
    if ((flags & FLAG_ENDED) !== 0) return this.#skip("ended", slot);
    if ((flags & FLAG_BUCKET) !== 0) return this.#skip("histogram_bucket", slot);
    const pair = this.#pairAt(slot);
    if (pair === 0) {
      this.#isLimited = true;
      return this.#skip("pair_limit", slot);
    }
    const delayMs = own.evaluationDelaySeconds * 1000;
    const untilMs = delayMs > 0 ? this.#nowMs - delayMs : Number.POSITIVE_INFINITY;
    const around = this.#around;
    around.deployedMs = deployedMs;
    around.acceptedMs = this.#dependencies.levels.at(this.#service.key, nameOf, slot);
    around.streams = this.#service.streams;
    around.zThreshold = own.zThreshold;
    around.knownDays = this.#service.knownDays;
    around.isCounter = (flags & FLAG_COUNTER) !== 0;
    around.counts = this.#countsOf(slot);
    around.warmUntilMs = 0;
    this.#join(slot, pair, untilMs, around);
    around.warmUntilMs = this.#warmUntilMs(slot, pair);
    const taken = this.#observe(slot, pair, untilMs, around, own.direction);
    if (this.arena.count(pair) < YOUNG_VALUES) this.#observeYoung(slot, pair, untilMs, around, own.direction);
    if (this.arena.count(pair) < LEARNING_VALUES) this.#learning++;
    else this.#evaluated++;
    this.#report(pair);
    return taken;
  }

  #skip(reason: Skipped, slot: number): number {
    this.#skipped[reason] = (this.#skipped[reason] ?? 0) + 1;
    const pair = this.#pairs[slot] ?? 0;
    if (pair !== 0) this.#episodes.end(pair, slot, this.#dependencies.records.lastTimeMs(slot), "end");
    return 0;
  }

  /** Gives the detector the values of the ring that it has not seen; `direction` says which of them may be reported. */
  #observe(
    slot: number,
    pair: number,
    untilMs: number,
    around: PairSurroundings,
    direction: WatchdogSettings["direction"] | undefined,
  ): number {
    const { arena } = this;
    this.#matchKind(slot, pair);
    const count = this.#readNew(slot, pair, untilMs);
    if (count === 0) return 0;
    arena.load(pair);
    let reported: { readonly isAlone: boolean; readonly side: 1 | -1 } | undefined;
    for (let i = 0; i < count; i++) {
      const timeMs = this.#times[i] as number;
      const verdict = this.#detector.observe(timeMs, this.#values[i] as number, around);
      if (verdict.reports || verdict.shares) reported = { isAlone: verdict.reports || reported?.isAlone === true, side: verdict.side };
      if (direction !== undefined)
        this.#episodes.take({ pair, slot, direction, isReported: timeMs >= this.#nowMs - REPORTED_MS_MAX }, timeMs, verdict);
    }
    this.#episodes.flush();
    const lastMs = this.#times[count - 1] as number;
    arena.save(pair, lastMs, this.#detector.count);
    if (direction !== undefined && lastMs >= this.#nowMs - CONFIRMED_MS_MAX && reported !== undefined)
      this.#confirm(this.#dependencies.nameOf(slot), direction, reported);
    if (direction !== undefined) this.#aggregates.rings.take(slot, lastMs, this.#values, count);
    return count;
  }

  /** Looks at the newest values of a stream together, where it is too young for single ones to depart. */
  #observeYoung(slot: number, pair: number, untilMs: number, around: PairSurroundings, direction: WatchdogSettings["direction"]): void {
    const { records, nameOf } = this.#dependencies;
    if (Math.min(untilMs, records.lastTimeMs(slot)) < this.#nowMs - CONFIRMED_MS_MAX) return;
    this.arena.load(pair);
    if (!this.#detector.isYoung) return;
    const { acceptedMs = 0 } = around;
    const read = this.#readSince(slot, acceptedMs, untilMs);
    const isRemaining = kindOfName(nameOf(slot).metricName) === "remaining";
    const strictness = around.zThreshold / Z_THRESHOLD_DEFAULT;
    const young = { streams: around.streams, strictness, ageMs: this.#detector.ageMs, isRemaining };
    const departure = youngDeparture(this.#times, this.#values, young, read);
    if (departure === undefined || (acceptedMs > 0 && this.#detector.departure.hasHadLevel(departure.observed))) return;
    if (this.#detector.departure.isWayBack(this.#times[0] as number, departure.observed)) return;
    this.#episodes.take({ pair, slot, direction, isReported: true }, departure.timeMs, this.#detector.depart(departure));
    this.#episodes.flush();
    this.arena.save(pair, this.arena.lastTimeMs(pair), this.#detector.count);
    this.#confirm(nameOf(slot), direction, { isAlone: true, side: departure.side });
  }

  /** Puts the observations that the detector has not seen into #times and #values; how many they are. */
  #readNew(slot: number, pair: number, untilMs: number): number {
    const { records } = this.#dependencies;
    const sinceMs = this.arena.lastTimeMs(pair);
    if (records.lastTimeMs(slot) <= sinceMs) return 0;
    return groupObservations(this.#times, this.#values, this.#readSince(slot, sinceMs, untilMs), sinceMs);
  }

  /** The values after a time, deltas of a counter per usual interval, with no more of one that began anew than it says; how many they are. */
  #readSince(slot: number, sinceMs: number, untilMs: number): number {
    const { records } = this.#dependencies;
    const read = records.readSince(slot, sinceMs, untilMs, this.#times, this.#values);
    if (this.#kindOf(slot) === COUNTS) perUsualInterval(this.#times, this.#values, read, sinceMs, records.usualIntervalMs(slot));
    if (records.restartedMs(slot) > sinceMs) this.#tameRestart(slot, read);
    return read;
  }

  #tameRestart(slot: number, read: number): void {
    const { records } = this.#dependencies;
    const at = this.#times.subarray(0, read).indexOf(records.restartedMs(slot));
    if (at < 0) return;
    const { times, values } = this.#had;
    const had = values.subarray(0, records.readNewest(slot, WINDOW_MAX, times, values));
    this.#values[at] = restartedValue(this.#values[at] as number, this.#kindOf(slot) === COUNTS, had);
  }

  /** Tells of a departure that people are to be informed of. */
  #confirm(
    { tenant, environment, serviceId, metricName }: StreamName,
    direction: WatchdogSettings["direction"],
    reported: Pick<ConfirmedPair, "isAlone" | "side">,
  ): void {
    const override = direction === "both" ? null : direction;
    this.#confirmed.push({ tenant, environment, serviceId, metricName, ...reported, direction: override });
  }

  /** A stream that counts now and did not before, or the reverse, has begun anew. */
  #matchKind(slot: number, pair: number): void {
    if (this.#isSameKind(slot, pair)) return;
    if (this.arena.count(pair) > 0) {
      this.#episodes.end(pair, slot, this.arena.lastTimeMs(pair), "end");
      this.arena.reset(pair);
    }
    this.arena.setMarks(pair, this.#kindOf(slot));
  }

  #kindOf(slot: number): number {
    return (this.#dependencies.records.flags(slot) & FLAG_COUNTER) === 0 ? 0 : COUNTS;
  }

  /** Counts that an observation is the mean of. */
  #countsOf(slot: number): number {
    const isOf = this.#kindOf(slot) === COUNTS || this.#namedCounts[slot] === 1;
    return countsEach(isOf, this.#dependencies.records.usualIntervalMs(slot));
  }

  #isSameKind(slot: number, pair: number): boolean {
    return (this.arena.marks(pair) & COUNTS) === this.#kindOf(slot);
  }

  #report(pair: number): void {
    if (this.arena.openedMs(pair) !== 0) this.#firing.push(this.#episodes.idOf(pair));
  }

  /** The pair of a stream: known, from the store, or new; 0 where there is no room. */
  #pairAt(slot: number): number {
    const known = this.#pairs[slot] ?? 0;
    if (known !== 0) return known;
    const { records, uint32s: slots, nameOf } = this.#dependencies;
    const name = nameOf(slot);
    const pair = this.#take(slots, (records.address(slot) + SR_HASH) >>> 2, records.partition(slot), name.tenant);
    if (pair === 0) return 0;
    this.#setPair(slot, pair);
    this.#namedCounts[slot] = isOfCounts(name.metricName, records.flags(slot) & ~FLAG_COUNTER) ? 1 : 0;
    this.#families.enter(pair, name);
    this.#aggregates.rings.enter(slot, name, this.#kindOf(slot) === COUNTS);
    return pair;
  }

  /** A new instance whose newest values are as another's would be goes on from the baseline of that, with what comes behind those that it has taken. */
  #join(slot: number, pair: number, untilMs: number, around: PairSurroundings): void {
    const { arena } = this;
    const { records } = this.#dependencies;
    const newestMs = Math.min(untilMs, records.lastTimeMs(slot));
    if (!mayJoin(records.firstTimeMs(slot), newestMs) || (arena.marks(pair) & INHERITED) !== 0) return;
    const kind = this.#kindOf(slot);
    const ancestor = this.#families.ancestorOf(pair, newestMs, (other) => (arena.marks(other) & COUNTS) === kind);
    if (ancestor === 0 || arena.openedMs(pair) !== 0) return;
    const level = newestLevel(this.#times, this.#values, this.#readSince(slot, 0, untilMs));
    arena.load(ancestor);
    if (!this.#detector.isLike(newestMs, level, around)) return;
    this.arena.inherit(pair, ancestor);
    this.arena.setMarks(pair, kind | INHERITED);
  }

  /** The pair of a hash, from the store or new; 0 where there is no room. */
  #take(slots: Uint32Array, at: number, partition: number, tenant: string): number {
    const { places } = this.#dependencies;
    const hash = hashNumber(slots, at);
    const stored = this.#unclaimed.get(hash) ?? 0;
    if (stored !== 0 && this.arena.isOf(stored, slots, at)) {
      this.#unclaimed.delete(hash);
      places.claim(stored, tenant);
      return stored;
    }
    if (!places.take(tenant)) return 0;
    const pair = this.arena.take(partition, slots, at);
    places.enter(pair, tenant);
    return pair;
  }

  #setPair(slot: number, pair: number): void {
    this.#pairs = longEnough(this.#pairs, slot);
    this.#namedCounts = longEnough(this.#namedCounts, slot);
    this.#pairs[slot] = pair;
  }

  #free(pair: number): void {
    this.arena.free(pair);
    this.#dependencies.places.give(pair);
  }
}
