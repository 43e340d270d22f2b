/**
 * The Watchdog's pass over the arrivals of services: how often each usually sends, in each environment, and which are silent for too long. The rhythm is that
 * of the stream that has sent last: its ring has the arrivals that a cycle of a minute would blur, and has them again after a restart. A service is missed as well
 * when its streams have left memory: that is what happens to one that is silent over a weekend.
 */
import { ownMember, setMember } from "../../../../core/collections/own-member.ts";
import type { ShareLedger } from "../../../../core/fairness/share-ledger.ts";
import { FLAG_HISTORY, SR_HASH, WINDOW_MAX } from "../../../../core/layout/stream-record.ts";
import type { ArrivalsFound, ServiceInEnvironment, SilentService } from "../../../../core/protocol/arrivals.ts";
import type { WatchdogCounts } from "../../../../core/protocol/engine-control.ts";
import { DRILL_SERVICE } from "../../../../core/protocol/own-telemetry.ts";
import { DAY_MS } from "../../../../core/time/durations.ts";
import { maturityOf } from "../../../../domain/detection/gates/baseline-maturity.ts";
import { OVERDUE_MS_MIN, overdueFromMs } from "../../../../domain/detection/service/arrival-rhythm.ts";
import { SilentStreams } from "../../../../domain/detection/service/silent-streams.ts";
import type { ShardKernel } from "../../../../domain/kernel/shard-kernel.ts";
import type { StreamRecords } from "../../../../domain/kernel/stream-records.ts";
import { RequestTally } from "../../../../domain/pillars/request-tally.ts";
import type { EngineCounters } from "../../report/engine-counters.ts";
import type { WatchdogDetector } from "../cycle/engine-watchdog.ts";
import type { ArrivalRhythms, KnownArrivals } from "./arrival-rhythms.ts";

/** Environments of one engine; further ones count as one. */
const ENVIRONMENTS_MAX = 65_535;

export interface ArrivalsDetectorOptions {
  /** WATCHDOG_INTERVAL_SECONDS in ms. */
  readonly cycleMs: number;
}

export interface ArrivalsDetectorDependencies {
  readonly kernel: ShardKernel;
  readonly counters: EngineCounters;
  /** Who holds how many services of this engine. */
  readonly shares: ShareLedger;
  /** All that is known, from before the start too. */
  readonly rhythms: ArrivalRhythms;
  nameOf(slot: number): { readonly environment: string; readonly metricName: string };
  /** Whether a minimum of traffic may be set for a service or one of its metrics. */
  wantsTraffic(tenant: string, serviceId: string): boolean;
  /** Whether a detector of the stream alone has an alert open on it; ends those. */
  isFiring(slot: number): boolean;
  endSilent(slot: number): void;
}

const INSPECTED_PER_VISIT = 2_000;
const NAMES_PER_VISIT = 100;

/** Passes after the start in which a service that is met for the first time was known before it. */
const RESTORED_PASSES = 2;

/** A service without streams in memory is watched for so long after its last arrival: nobody waits for it longer than a week, in which one that sends once a week is back. */
const ABSENT_MS_MAX = 8 * DAY_MS;

interface Watched {
  readonly tenant: string;
  readonly known: KnownArrivals;
  /** It has been heard in time, here or before the start: not all that came of it was past when it came. */
  isLive: boolean;
  generation: number;
}

/** The pass of one engine. */
export class ArrivalsDetector implements WatchdogDetector {
  readonly #dependencies: ArrivalsDetectorDependencies;
  readonly #environments: EnvironmentSlots;
  readonly #watched = new Map<string, Watched>();
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  /** Slot of the service at hand that has sent last, by environment. Streams that end with history do not count. */
  readonly #newest = new Map<number, number>();
  /** Environments of the service at hand in which a stream ends with history. */
  readonly #historic = new Set<number>();
  readonly #requests: RequestTally;
  readonly #silentStreams: SilentStreams;
  #wantsTraffic = false;
  #isDrill = false;
  /** Time of the first sample of the service at hand. */
  #firstSeenMs = Number.POSITIVE_INFINITY;
  #young: Array<readonly [string, number]> = [];
  #traffic: Array<readonly [string, string, number]> = [];
  #startedMs = Number.NaN;
  #nowMs = 0;
  #generation = 0;
  #silent: SilentService[] = [];
  #pending: Record<string, number[]> = {};
  #unheard: ServiceInEnvironment[] = [];
  #gone: ServiceInEnvironment[] = [];
  #counted: Record<string, number> = {};
  #evaluated = 0;
  #learning = 0;
  #skipped: Record<string, number> = {};

  constructor({ cycleMs }: ArrivalsDetectorOptions, dependencies: ArrivalsDetectorDependencies) {
    this.#dependencies = dependencies;
    this.#environments = new EnvironmentSlots(dependencies.kernel.records, (slot) => dependencies.nameOf(slot).environment);
    this.#silentStreams = new SilentStreams(dependencies);
    this.#requests = new RequestTally(dependencies.kernel.records, cycleMs, (slot) => dependencies.nameOf(slot).metricName);
  }

  /** Begins a pass; what nobody could receive before the first pass is no silence. */
  begin(nowMs: number): void {
    this.#nowMs = nowMs;
    this.#generation++;
    if (this.#generation === 1) this.#start();
    this.#newest.clear();
  }

  /** Takes up what is known from before the start. */
  #start(): void {
    this.#startedMs = this.#nowMs;
    const { rhythms } = this.#dependencies;
    for (const key of [...rhythms.keys()]) if (this.#watchedOf(key) === undefined) rhythms.delete(key);
  }

  visit(key: string, slots: readonly number[], first: number): number {
    if (first === 0) this.#begin(key);
    const next = this.#inspect(slots, first);
    if (next < slots.length) return next;
    let firstSeenMs = this.#firstSeenMs;
    this.#silentStreams.judge(key);
    if (this.#isDrill) return next; // it is silent between two drills
    for (const code of this.#historic) if (!this.#newest.has(code)) this.#judgeKnown(key, this.#environments.nameOf(code));
    for (const [code, slot] of this.#newest) {
      const environment = this.#environments.nameOf(code);
      firstSeenMs = Math.min(firstSeenMs, this.#judge(key, environment, slot));
      const count = this.#requests.of(code);
      if (count !== undefined) this.#traffic.push([key, environment, count]);
    }
    if (Number.isFinite(firstSeenMs) && maturityOf(firstSeenMs, this.#nowMs) !== "mature") this.#young.push([key, firstSeenMs]);
    return next;
  }

  #begin(key: string): void {
    const [tenant, serviceId] = JSON.parse(key) as [string, string];
    this.#isDrill = serviceId === DRILL_SERVICE;
    this.#newest.clear();
    this.#historic.clear();
    this.#requests.begin();
    this.#silentStreams.begin(key, this.#nowMs);
    this.#firstSeenMs = Number.POSITIVE_INFINITY;
    this.#wantsTraffic = this.#dependencies.wantsTraffic(tenant, serviceId);
  }

  end(): void {
    for (const [key, watched] of this.#watched) {
      if (watched.generation === this.#generation) continue;
      const end = key.indexOf("\0");
      const [service, environment] = [key.slice(end + 1), key.slice(0, end)];
      if (this.#nowMs - watched.known.rhythm.lastSeenMs < ABSENT_MS_MAX) this.#judgeSilence(service, environment, watched);
      else this.#forget(key, service, environment, watched.tenant);
    }
    this.#dependencies.counters.set("arrivalServices", this.#watched.size);
  }

  #forget(key: string, service: string, environment: string, tenant: string): void {
    this.#watched.delete(key);
    this.#dependencies.rhythms.delete(key);
    this.#dependencies.shares.give(tenant);
    this.#gone.push([service, environment]);
  }

  takeCounts(): WatchdogCounts {
    const counts = { evaluated: this.#evaluated, learning: this.#learning, skipped: this.#skipped };
    [this.#evaluated, this.#learning, this.#skipped] = [0, 0, {}];
    return counts;
  }

  takeFound(): ArrivalsFound {
    const found = {
      silent: this.#silent,
      pending: this.#pending,
      unheard: this.#unheard,
      gone: this.#gone,
      watched: this.#counted,
      young: this.#young,
      requests: this.#traffic,
    };
    [this.#silent, this.#unheard, this.#gone, this.#young, this.#traffic] = [[], [], [], [], []];
    [this.#pending, this.#counted] = [{}, {}];
    return found;
  }

  #inspect(slots: readonly number[], first: number): number {
    const { records } = this.#dependencies.kernel;
    const stop = Math.min(slots.length, first + INSPECTED_PER_VISIT);
    let names = 0;
    let at = first;
    for (; at < stop && names < NAMES_PER_VISIT; at++) {
      const slot = slots[at] as number;
      const { code, inspected } = this.#environments.codeOf(slot);
      if (inspected || this.#wantsTraffic || this.#silentStreams.wantsNames) names++;
      this.#silentStreams.inspect(slot);
      if (this.#wantsTraffic) this.#requests.add(slot, code, this.#nowMs);
      const firstMs = records.firstTimeMs(slot);
      if (firstMs > 0 && firstMs < this.#firstSeenMs) this.#firstSeenMs = firstMs;
      if ((records.flags(slot) & FLAG_HISTORY) !== 0) {
        this.#historic.add(code);
        continue;
      }
      const newest = this.#newest.get(code);
      if (newest === undefined || records.lastTimeMs(slot) > records.lastTimeMs(newest)) this.#newest.set(code, slot);
    }
    return at;
  }

  /** When the service was first heard of, as far as this environment knows. */
  #judge(service: string, environment: string, slot: number): number {
    const watched = this.#watchedOf(`${environment}\0${service}`);
    if (watched === undefined) {
      this.#skipped.service_limit = (this.#skipped.service_limit ?? 0) + 1;
      return this.#firstSeenMs;
    }
    watched.generation = this.#generation;
    const { known } = watched;
    known.firstSeenMs = Math.min(known.firstSeenMs, this.#firstSeenMs);
    this.#feed(known.rhythm, slot);
    this.#judgeSilence(service, environment, watched);
    return known.firstSeenMs;
  }

  /** Judges an environment whose streams all end with history: of what was heard live before, the silence goes on. */
  #judgeKnown(service: string, environment: string): void {
    const watched = this.#watched.get(`${environment}\0${service}`);
    if (watched === undefined) return;
    watched.generation = this.#generation;
    this.#judgeSilence(service, environment, watched);
  }

  #judgeSilence(service: string, environment: string, watched: Watched): void {
    const { rhythm } = watched.known;
    const { gates, isKnown, isStale, isUsual, limitMs, usualSilenceMs } = rhythm.judge(this.#nowMs, this.#startedMs);
    const usualIntervalMs = rhythm.usualIntervalMs();
    watched.isLive ||= this.#nowMs - rhythm.lastSeenMs <= limitMs;
    if (!watched.isLive || !isKnown) {
      this.#learning++;
      return;
    }
    this.#evaluated++;
    // One that is usually silent now says nothing of whether the way in works.
    if (isUsual) return;
    const [tenant] = JSON.parse(service) as [string];
    setMember(this.#counted, tenant, (ownMember(this.#counted, tenant) ?? 0) + 1);
    const { lastSeenMs } = rhythm;
    if (!isStale && lastSeenMs < this.#startedMs) this.#unheard.push([service, environment]);
    const sinceMs = Math.max(lastSeenMs, this.#startedMs);
    if (isStale || this.#nowMs > overdueFromMs(sinceMs, usualIntervalMs)) {
      this.#silent.push({ service, environment, lastSeenMs, sinceMs, usualIntervalMs, limitMs, usualSilenceMs, isStale, gates });
    } else if (this.#nowMs - sinceMs >= OVERDUE_MS_MIN) {
      const pending = ownMember(this.#pending, tenant) ?? [];
      pending.push(sinceMs, usualIntervalMs);
      setMember(this.#pending, tenant, pending);
    }
  }

  #watchedOf(key: string): Watched | undefined {
    const watched = this.#watched.get(key);
    if (watched !== undefined) return watched;
    const [tenant] = JSON.parse(key.slice(key.indexOf("\0") + 1)) as [string];
    if (!this.#dependencies.shares.take(tenant)) return undefined;
    const isLive = this.#generation <= RESTORED_PASSES;
    const begun = { tenant, known: this.#dependencies.rhythms.obtain(key), isLive, generation: 0 };
    this.#watched.set(key, begun);
    return begun;
  }

  #feed(rhythm: KnownArrivals["rhythm"], slot: number): void {
    const { records } = this.#dependencies.kernel;
    const seenMs = rhythm.lastSeenMs;
    if (records.lastTimeMs(slot) <= seenMs) return;
    const sinceMs = Number.isNaN(seenMs) ? Number.NEGATIVE_INFINITY : seenMs;
    const count = records.readSince(slot, sinceMs, Number.POSITIVE_INFINITY, this.#times, this.#values);
    // A full ring may have lost arrivals behind the newest one that is known.
    if (count > 0 && count === records.count(slot) && records.samples(slot) > count) rhythm.resume(this.#times[0] as number);
    for (let i = 0; i < count; i++) rhythm.observe(this.#times[i] as number);
    // A stale marker or a first cumulative value is an arrival without a place in the ring.
    rhythm.observe(records.lastTimeMs(slot));
  }
}

// The environment of each slot's stream, remembered since reading it means reading the identity. A slot that has another stream now is known by the first word
// of its identity hash.

class EnvironmentSlots {
  readonly #records: StreamRecords;
  readonly #read: (slot: number) => string;
  readonly #codes = new Map<string, number>();
  readonly #names: string[] = [];
  #tags = new Uint32Array(1024);
  /** One more than the place in #names; 0 = not read. */
  #places = new Uint16Array(1024);

  /** `read` reads the environment out of the slot's identity. */
  constructor(records: StreamRecords, read: (slot: number) => string) {
    this.#records = records;
    this.#read = read;
  }

  /** Code of the slot's environment; `looked` is true where its identity had to be read. */
  codeOf(slot: number): { readonly code: number; readonly inspected: boolean } {
    if (slot >= this.#tags.length) this.#grow(slot);
    const tag = this.#records.view.getUint32(this.#records.address(slot) + SR_HASH, true);
    const inspected = this.#tags[slot] !== tag || this.#places[slot] === 0;
    if (inspected) {
      this.#tags[slot] = tag;
      this.#places[slot] = this.#index(this.#read(slot)) + 1;
    }
    return { code: (this.#places[slot] as number) - 1, inspected };
  }

  nameOf(code: number): string {
    return this.#names[code] as string;
  }

  #index(name: string): number {
    const known = this.#codes.get(name);
    if (known !== undefined) return known;
    if (this.#names.length >= ENVIRONMENTS_MAX - 1) return this.#names.length - 1;
    this.#codes.set(name, this.#names.length);
    return this.#names.push(name) - 1;
  }

  #grow(slot: number): void {
    const size = 2 ** Math.ceil(Math.log2(slot + 1));
    const [tags, places] = [new Uint32Array(size), new Uint16Array(size)];
    tags.set(this.#tags);
    places.set(this.#places);
    [this.#tags, this.#places] = [tags, places];
  }
}
