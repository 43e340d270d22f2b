/**
 * The Watchdog's pass over the arrivals of services: how often each usually sends, in each environment, and which are silent for too long. The rhythm is that
 * of the stream that has sent last: its ring has the arrivals that a cycle of a minute would blur, and has them again after a restart.
 */
import { WINDOW_MAX } from "../../../../core/layout/stream-record.ts";
import type { ArrivalsFound, StaleService } from "../../../../core/protocol/arrivals.ts";
import type { WatchdogCounts } from "../../../../core/protocol/engine-control.ts";
import { maturityOf } from "../../../../domain/detection/gates/baseline-maturity.ts";
import { ArrivalRhythm } from "../../../../domain/detection/service/arrival-rhythm.ts";
import type { ShardKernel } from "../../../../domain/kernel/shard-kernel.ts";
import type { EngineCounters } from "../../engine-counters.ts";
import type { WatchdogDetector } from "../engine-watchdog.ts";
import { EnvironmentSlots } from "./environment-slots.ts";
import { RequestTally } from "./request-tally.ts";

export interface ArrivalsPassOptions {
  readonly servicesMax: number;
  /** WATCHDOG_INTERVAL_SECONDS in ms. */
  readonly cycleMs: number;
}

export interface ArrivalsPassDependencies {
  readonly kernel: ShardKernel;
  readonly counters: EngineCounters;
  nameOf(slot: number): { readonly environment: string; readonly metricName: string };
  /** Whether a minimum of traffic may be set for a service or one of its metrics. */
  wantsTraffic(tenant: string, serviceId: string): boolean;
}

const LOOKED_PER_VISIT = 2_000;
const NAMES_PER_VISIT = 100;

interface Watched {
  readonly rhythm: ArrivalRhythm;
  pass: number;
  /** First sample of the service, of whichever environment; streams that leave memory do not make it younger. */
  firstSeenMs: number;
}

/** The pass of one engine. */
export class ArrivalsPass implements WatchdogDetector {
  readonly #dependencies: ArrivalsPassDependencies;
  readonly #servicesMax: number;
  readonly #environments: EnvironmentSlots;
  readonly #watched = new Map<string, Watched>();
  readonly #times = new Float64Array(WINDOW_MAX);
  readonly #values = new Float64Array(WINDOW_MAX);
  /** Of the service at hand: the slot that has sent last, by environment. */
  readonly #newest = new Map<number, number>();
  readonly #requests: RequestTally;
  #wantsTraffic = false;
  /** Of the service at hand. */
  #firstSeenMs = Number.POSITIVE_INFINITY;
  #young: Array<readonly [string, number]> = [];
  #traffic: Array<readonly [string, string, number]> = [];
  #startedMs = Number.NaN;
  #nowMs = 0;
  #pass = 0;
  #stale: StaleService[] = [];
  #unheard: Array<readonly [string, string]> = [];
  #counted: Record<string, number> = {};
  #evaluated = 0;
  #learning = 0;
  #skipped: Record<string, number> = {};

  constructor({ servicesMax, cycleMs }: ArrivalsPassOptions, dependencies: ArrivalsPassDependencies) {
    this.#servicesMax = servicesMax;
    this.#dependencies = dependencies;
    this.#environments = new EnvironmentSlots(dependencies.kernel.records, (slot) => dependencies.nameOf(slot).environment);
    this.#requests = new RequestTally(dependencies.kernel.records, cycleMs, (slot) => dependencies.nameOf(slot).metricName);
  }

  /** What nobody could receive before the first pass is no silence. */
  begin(nowMs: number): void {
    if (Number.isNaN(this.#startedMs)) this.#startedMs = nowMs;
    this.#nowMs = nowMs;
    this.#pass++;
    this.#newest.clear();
  }

  visit(key: string, slots: readonly number[], first: number): number {
    if (first === 0) this.#begin(key);
    const next = this.#look(slots, first);
    if (next < slots.length) return next;
    let firstSeenMs = this.#firstSeenMs;
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
    this.#newest.clear();
    this.#requests.begin();
    this.#firstSeenMs = Number.POSITIVE_INFINITY;
    this.#wantsTraffic = this.#dependencies.wantsTraffic(tenant, serviceId);
  }

  end(): void {
    for (const [key, { pass }] of this.#watched) if (pass !== this.#pass) this.#watched.delete(key);
    this.#dependencies.counters.set("arrivalServices", this.#watched.size);
  }

  takeCounts(): WatchdogCounts {
    const counts = { evaluated: this.#evaluated, learning: this.#learning, skipped: this.#skipped };
    [this.#evaluated, this.#learning, this.#skipped] = [0, 0, {}];
    return counts;
  }

  takeFound(): ArrivalsFound {
    const found = {
      stale: this.#stale,
      unheard: this.#unheard,
      watched: this.#counted,
      young: this.#young,
      requests: this.#traffic,
    };
    [this.#stale, this.#unheard, this.#counted, this.#young, this.#traffic] = [[], [], {}, [], []];
    return found;
  }

  #look(slots: readonly number[], first: number): number {
    const { records } = this.#dependencies.kernel;
    const stop = Math.min(slots.length, first + LOOKED_PER_VISIT);
    let names = 0;
    let at = first;
    for (; at < stop && names < NAMES_PER_VISIT; at++) {
      const slot = slots[at] as number;
      const { code, looked } = this.#environments.codeOf(slot);
      if (looked || this.#wantsTraffic) names++;
      if (this.#wantsTraffic) this.#requests.add(slot, code, this.#nowMs);
      const firstMs = records.firstTimeMs(slot);
      if (firstMs > 0 && firstMs < this.#firstSeenMs) this.#firstSeenMs = firstMs;
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
    watched.pass = this.#pass;
    watched.firstSeenMs = Math.min(watched.firstSeenMs, this.#firstSeenMs);
    this.#judgeSilence(service, environment, slot, watched.rhythm);
    return watched.firstSeenMs;
  }

  #judgeSilence(service: string, environment: string, slot: number, rhythm: ArrivalRhythm): void {
    this.#feed(rhythm, slot);
    const gates = rhythm.staleGates(this.#nowMs, this.#startedMs);
    // The first two gates say whether the rhythm is one.
    if (!gates.slice(0, 2).every(({ passed }) => passed)) {
      this.#learning++;
      return;
    }
    this.#evaluated++;
    const [tenant] = JSON.parse(service) as [string];
    this.#counted[tenant] = (this.#counted[tenant] ?? 0) + 1;
    if (!gates.every(({ passed }) => passed)) {
      if (rhythm.lastSeenMs < this.#startedMs) this.#unheard.push([service, environment]);
      return;
    }
    const [usualIntervalMs, limitMs] = [rhythm.usualIntervalMs(), rhythm.silenceLimitMs()];
    this.#stale.push({ service, environment, lastSeenMs: rhythm.lastSeenMs, usualIntervalMs, limitMs, gates });
  }

  #watchedOf(key: string): Watched | undefined {
    const known = this.#watched.get(key);
    if (known !== undefined || this.#watched.size >= this.#servicesMax) return known;
    const watched = { rhythm: new ArrivalRhythm(), pass: 0, firstSeenMs: Number.POSITIVE_INFINITY };
    this.#watched.set(key, watched);
    return watched;
  }

  #feed(rhythm: ArrivalRhythm, slot: number): void {
    const { records } = this.#dependencies.kernel;
    const seenMs = rhythm.lastSeenMs;
    if (records.lastTimeMs(slot) <= seenMs) return;
    const sinceMs = Number.isNaN(seenMs) ? Number.NEGATIVE_INFINITY : seenMs;
    const count = records.readSince(slot, sinceMs, Number.POSITIVE_INFINITY, this.#times, this.#values);
    for (let i = 0; i < count; i++) rhythm.observe(this.#times[i] as number);
    // A stale marker or a first cumulative value is an arrival without a place in the ring.
    rhythm.observe(records.lastTimeMs(slot));
  }
}
