// Services that are silent for too long, from their stored samples (actors/engine/watchdog/arrivals does so live).

import { groupBy } from "../../../core/base/grouping.ts";
import type { StaleService } from "../../../core/protocol/arrivals.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import { ArrivalRhythm, SILENCE_MS_MIN } from "../../detection/service/arrival-rhythm.ts";
import { RuleEpisodeSet } from "../../detection/service/rule-episode-set.ts";
import { DETECTOR_STALE, staleFindings } from "../../detection/service/stale-finding.ts";
import { serviceKey } from "../../series/stream-identity.ts";
import type { BacktestSeries } from "../history.ts";
import { placeAfter } from "../request-counts.ts";
import { type PlacedSeries, servicesOf } from "../service-frames.ts";
import type { BacktestRule, RuleCycle } from "./rule.ts";

/** A ring's worth of arrivals is what a rhythm is read from. */
const RING_VALUES = 120;
/** Of a stream whose newest value is looked for. */
const STREAM_US = 0.1;

interface WatchedService {
  readonly tenant: string;
  /** serviceKey() and environment. */
  readonly service: string;
  readonly environment: string;
  readonly streams: readonly BacktestSeries[];
  /** Of each stream how many values have come. */
  readonly passed: Uint32Array;
  readonly rhythm: ArrivalRhythm;
}

export class StaleRule implements BacktestRule {
  readonly costUs: number;
  readonly #services: readonly WatchedService[];
  readonly #episodes = new RuleEpisodeSet(DETECTOR_STALE);
  #startedMs = Number.NaN;

  constructor(all: readonly PlacedSeries[]) {
    this.#services = servicesOf(all).map((members) => {
      const { tenant, environment, serviceId } = (members[0] as PlacedSeries).series.name;
      const streams = members.map(({ series }) => series);
      const passed = new Uint32Array(streams.length);
      return { tenant, service: serviceKey(tenant, serviceId), environment, streams, passed, rhythm: new ArrivalRhythm() };
    });
    this.costUs = 1 + STREAM_US * all.length;
  }

  get size(): number {
    return this.#services.length;
  }

  cycle({ nowMs }: RuleCycle): readonly EpisodeFrame[] {
    if (Number.isNaN(this.#startedMs)) this.#startedMs = nowMs;
    const stale: Array<StaleService & { readonly tenant: string }> = [];
    for (const service of this.#services) {
      this.#feed(service, nowMs);
      const found = this.#judge(service, nowMs);
      if (found !== undefined) stale.push({ ...found, tenant: service.tenant });
    }
    if (stale.length === 0 && this.#episodes.openCount === 0) return [];
    const byTenant = groupBy(stale, ({ tenant }) => tenant);
    const findings = [...byTenant].flatMap(([tenant, found]) => staleFindings(tenant, found, this.#watched(tenant, nowMs), nowMs));
    const { frames, apply } = this.#episodes.settle(findings, nowMs);
    apply();
    return frames;
  }

  /** The rhythm is that of the stream that has sent last. */
  #feed({ streams, passed, rhythm }: WatchedService, nowMs: number): void {
    let newest = -1;
    let newestMs = Number.NEGATIVE_INFINITY;
    for (const [place, { times }] of streams.entries()) {
      let count = passed[place] as number;
      while (count < times.length && (times[count] as number) <= nowMs) count++;
      passed[place] = count;
      const lastMs = count === 0 ? Number.NEGATIVE_INFINITY : (times[count - 1] as number);
      if (lastMs > newestMs) [newest, newestMs] = [place, lastMs];
    }
    if (newest < 0 || newestMs <= rhythm.lastSeenMs) return;
    const { times } = streams[newest] as BacktestSeries;
    const count = passed[newest] as number;
    const from = Number.isNaN(rhythm.lastSeenMs) ? 0 : placeAfter(times, rhythm.lastSeenMs);
    for (let at = Math.max(from, count - RING_VALUES); at < count; at++) rhythm.observe(times[at] as number);
  }

  #judge({ service, environment, rhythm }: WatchedService, nowMs: number): StaleService | undefined {
    if (!(nowMs - rhythm.lastSeenMs > SILENCE_MS_MIN)) return undefined;
    const gates = rhythm.staleGates(nowMs, this.#startedMs);
    if (!gates.every(({ passed }) => passed)) return undefined;
    const [usualIntervalMs, limitMs] = [rhythm.usualIntervalMs(), rhythm.silenceLimitMs()];
    return { service, environment, lastSeenMs: rhythm.lastSeenMs, usualIntervalMs, limitMs, gates };
  }

  /** Services whose rhythm is known. */
  #watched(tenant: string, nowMs: number): number {
    const known = ({ rhythm }: WatchedService) =>
      rhythm
        .staleGates(nowMs, this.#startedMs)
        .slice(0, 2)
        .every(({ passed }) => passed);
    return this.#services.filter((service) => service.tenant === tenant && known(service)).length;
  }
}
