// Services that are silent for too long, from their stored samples (actors/engine/watchdog/passes does so live).

import type { SilentService } from "../../../core/protocol/arrivals.ts";
import type { EpisodeFrame } from "../../../core/protocol/coordinator-frame.ts";
import type { OffsetMs } from "../../detection/seasonal/time-zone-hours.ts";
import { ArrivalRhythm, OVERDUE_MS_MIN, overdueFromMs } from "../../detection/service/arrival-rhythm.ts";
import { RuleEpisodeSet } from "../../detection/service/rule-episode-set.ts";
import { SilentTenants } from "../../detection/service/silent-tenants.ts";
import { DETECTOR_STALE } from "../../detection/service/stale-finding.ts";
import { serviceKey } from "../../series/stream-identity.ts";
import type { BacktestSeries } from "../history.ts";
import { indexAfter } from "../request-counts.ts";
import { servicesOf } from "../service-frames.ts";
import type { PlacedSeries } from "../timed-frames.ts";
import type { BacktestRule, RuleCycle } from "./rule.ts";

/** A ring's worth of arrivals is what a rhythm is read from. */
const RING_VALUES = 120;
/** Time of a stream whose newest value is looked for. */
const STREAM_US = 0.1;

interface WatchedService {
  readonly tenant: string;
  /** serviceKey() and environment. */
  readonly service: string;
  readonly environment: string;
  readonly streams: readonly BacktestSeries[];
  /** Number of values of each stream that have come. */
  readonly consumed: Uint32Array;
  readonly rhythm: ArrivalRhythm;
  /** All of its streams do. */
  readonly endsWithHistory: boolean;
}

/** Arrivals of one tenant, in one cycle. */
interface Arrivals {
  watched: number;
  readonly silent: SilentService[];
  readonly pending: number[];
  readonly isUnheard: boolean;
}

export class StaleRule implements BacktestRule {
  readonly costUs: number;
  readonly #services: readonly WatchedService[];
  readonly #episodes = new RuleEpisodeSet(DETECTOR_STALE);
  readonly #tenants = new SilentTenants((scope) => this.#episodes.isOpen(scope));
  #startedMs = Number.NaN;

  /** `offsetMs` is that of DETECTION_TIMEZONE. */
  constructor(all: readonly PlacedSeries[], offsetMs: OffsetMs) {
    this.#services = servicesOf(all).map((members) => {
      const { tenant, environment, serviceId } = (members[0] as PlacedSeries).series.name;
      const streams = members.map(({ series }) => series);
      const consumed = new Uint32Array(streams.length);
      const endsWithHistory = streams.every((series) => series.endsWithHistory === true);
      const service = serviceKey(tenant, serviceId);
      return { tenant, service, environment, streams, consumed, rhythm: new ArrivalRhythm(offsetMs), endsWithHistory };
    });
    this.costUs = 1 + STREAM_US * all.length;
  }

  get size(): number {
    return this.#services.length;
  }

  cycle({ nowMs }: RuleCycle): readonly EpisodeFrame[] {
    if (Number.isNaN(this.#startedMs)) this.#startedMs = nowMs;
    const tenants = new Map<string, Arrivals>();
    for (const service of this.#services) {
      this.#feed(service, nowMs);
      const arrivals = tenants.get(service.tenant) ?? { watched: 0, silent: [], pending: [], isUnheard: false };
      tenants.set(service.tenant, arrivals);
      this.#judge(service, arrivals, nowMs);
    }
    const isQuiet = [...tenants.values()].every(({ silent }) => silent.every(({ isStale }) => !isStale));
    if (isQuiet && this.#episodes.openCount === 0) return [];
    const findings = [...tenants].flatMap(([tenant, arrivals]) => this.#tenants.findings(tenant, arrivals, nowMs));
    this.#tenants.takeSuppressed();
    const { frames, apply } = this.#episodes.settle(findings, nowMs);
    apply();
    return frames;
  }

  /** The rhythm is that of the stream that has sent last. */
  #feed({ streams, consumed, rhythm }: WatchedService, nowMs: number): void {
    let newest = -1;
    let newestMs = Number.NEGATIVE_INFINITY;
    for (const [index, { times }] of streams.entries()) {
      let count = consumed[index] as number;
      while (count < times.length && (times[count] as number) <= nowMs) count++;
      consumed[index] = count;
      const lastMs = count === 0 ? Number.NEGATIVE_INFINITY : (times[count - 1] as number);
      if (lastMs > newestMs) [newest, newestMs] = [index, lastMs];
    }
    if (newest < 0 || newestMs <= rhythm.lastSeenMs) return;
    const { times } = streams[newest] as BacktestSeries;
    const count = consumed[newest] as number;
    const from = Number.isNaN(rhythm.lastSeenMs) ? 0 : indexAfter(times, rhythm.lastSeenMs);
    for (let at = Math.max(from, count - RING_VALUES); at < count; at++) rhythm.observe(times[at] as number);
  }

  /** A service of which nothing comes any more because what was imported ends there is not silent: it is as if it were not known from there on. */
  #judge({ service, environment, streams, rhythm, endsWithHistory }: WatchedService, arrivals: Arrivals, nowMs: number): void {
    const { gates, isKnown, isStale, isUsual, limitMs, usualSilenceMs } = rhythm.judge(nowMs, this.#startedMs);
    if (!isKnown || isUsual) return;
    const { lastSeenMs } = rhythm;
    if (endsWithHistory && streams.every(({ times }) => (times[times.length - 1] ?? 0) <= lastSeenMs)) return;
    arrivals.watched++;
    const sinceMs = Math.max(lastSeenMs, this.#startedMs);
    if (nowMs - sinceMs < OVERDUE_MS_MIN) return;
    const usualIntervalMs = rhythm.usualIntervalMs();
    if (isStale || nowMs > overdueFromMs(sinceMs, usualIntervalMs)) {
      arrivals.silent.push({ service, environment, lastSeenMs, sinceMs, usualIntervalMs, limitMs, usualSilenceMs, isStale, gates });
    } else arrivals.pending.push(sinceMs, usualIntervalMs);
  }
}
