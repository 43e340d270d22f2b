// When most services of a tenant fall silent at once, it is the way in that is broken: one alert on ingestion instead of one for each (decisions, section 2).
// "At once" goes by when they fell silent, and not by when each one's own limit has passed: a service that sends every ten seconds reaches its limit long before
// one that sends every minute, which has missed samples by then all the same.
//
//   silent    has missed samples: stale, or overdue by an interval or more      pending   has sent nothing since, and need not have yet
//   alive     has sent since                                                    covered   silent since the silence that is reported already
import type { SilentService } from "../../../core/protocol/arrivals.ts";
import { above, atLeast, type GateResult } from "../gates/gate-result.ts";
import { overdueFromMs } from "./arrival-rhythm.ts";

/** The service that a tenant's silence is reported under. */
export const INGESTION_SERVICE = "ingestion";
/** "At once": onsets within this of each other, besides the interval in which each may have fallen silent. */
const TOGETHER_MS = 60_000;
const MOST = 0.5;
/** Fewer are a tenant's silence only where they are all that it has. */
const SERVICES_MIN = 3;
const SERVICES_ALL_MIN = 2;
/** Findings of their own wait so long at most for services that may tell more. */
const HOLD_MS_MAX = 5 * 60_000;

/** Arrivals of one tenant, of its services whose rhythm is known. */
export interface TenantArrivals {
  readonly watched: number;
  readonly silent: readonly SilentService[];
  /** Start of each pending silence and its usual interval, in turns. */
  readonly pending: readonly number[];
}

/** Silence known from before. */
export interface KnownSilence {
  /** Whether a service has an alert of its own, which goes on. */
  isReported(service: SilentService): boolean;
  /** When the silence began that is reported already; undefined where none is. */
  readonly onsetMs: number | undefined;
  /** Since when findings are held; undefined where none are. */
  readonly suppressedSinceMs: number | undefined;
}

export interface TenantSilence {
  /** Services of the one alert on ingestion, in order of name; empty where there is none. */
  readonly ingestion: readonly SilentService[];
  /** When they fell silent, of several such moments the last. */
  readonly onsetMs: number;
  /** Services with an alert of their own. */
  readonly single: readonly SilentService[];
  /** Services of which it is not known yet whether they are part of a tenant's silence, and until when that is waited for. */
  readonly suppressed: readonly SilentService[];
  readonly suppressedUntilMs: number;
  readonly gates: readonly GateResult[];
}

/** Services that fell silent together, and what the others did since. */
interface Together {
  readonly members: readonly SilentService[];
  readonly onsetMs: number;
  readonly alive: number;
  /** When the pending ones will be overdue. */
  readonly dueMs: readonly number[];
}

export function tenantSilence(arrivals: TenantArrivals, known: KnownSilence, nowMs: number): TenantSilence {
  const [reported, unreported] = split(arrivals.silent, (service) => known.isReported(service));
  const coveredUntilMs = known.onsetMs === undefined ? Number.NEGATIVE_INFINITY : known.onsetMs + TOGETHER_MS;
  const [covered, rest] = split(unreported, ({ lastSeenMs }) => lastSeenMs <= coveredUntilMs);
  const together = largestTogether({ reported, rest }, arrivals.pending, arrivals.watched - covered.length);
  const { isSilence, gates, suppressedUntilMs } = judge(together, known.suppressedSinceMs ?? nowMs, nowMs);
  const isSuppressed = !isSilence && suppressedUntilMs >= nowMs;
  const [updates, others] = split(rest, (service) => isMember(service, together.onsetMs));
  const alone = isSilence || isSuppressed ? others : rest;
  const onsetMs = isSilence ? Math.max(together.onsetMs, known.onsetMs ?? 0) : (known.onsetMs ?? 0);
  // A service that was told alone and fell silent with the others is one of them, and stays told.
  const reportedWith = reported.filter((service) => isMember({ ...service, sinceMs: service.lastSeenMs }, onsetMs));
  const isReported = isSilence || covered.length > 0;
  return {
    ingestion: isReported ? byName([...covered, ...(isSilence ? updates : []), ...reportedWith]) : [],
    onsetMs,
    single: byName([...reported, ...alone].filter(({ isStale }) => isStale)),
    suppressed: isSuppressed ? byName(updates.filter(({ isStale }) => isStale)) : [],
    suppressedUntilMs: isSuppressed ? suppressedUntilMs : 0,
    gates,
  };
}

/** Most of what was heard before, or of what could have been heard since. Where those that are still pending may decide, they are waited for. */
function judge({ members, alive, dueMs }: Together, suppressedSinceMs: number, nowMs: number) {
  const silent = members.length;
  const gates = gatesOf(silent, silent + alive + dueMs.length);
  if (passes(gates)) return { isSilence: true, gates, suppressedUntilMs: 0 };
  const untilMs = suppressedSinceMs + HOLD_MS_MAX;
  const soon = dueMs.filter((due) => due >= nowMs && due <= untilMs);
  const mayBe = silent >= SERVICES_ALL_MIN && soon.length > 0 && passes(gatesOf(silent + soon.length, silent + alive + dueMs.length));
  if (mayBe) return { isSilence: false, gates, suppressedUntilMs: soon.reduce((latest, due) => Math.max(latest, due), 0) };
  const heard = gatesOf(silent, silent + alive);
  return { isSilence: passes(heard), gates: heard, suppressedUntilMs: 0 };
}

function gatesOf(silent: number, services: number): readonly GateResult[] {
  const least = Math.min(SERVICES_MIN, Math.max(SERVICES_ALL_MIN, services));
  return [atLeast("silent_services", silent, least), above("silent_share", silent / Math.max(1, services), MOST)];
}

function passes(gates: readonly GateResult[]): boolean {
  return gates.every((gate) => gate.passed);
}

/** Silent services with an alert of their own, and those without one that are not covered. */
interface Uncovered {
  readonly reported: readonly SilentService[];
  readonly rest: readonly SilentService[];
}

/** The most services that may have fallen silent at one moment, one that is stale and one that is not told among them; `sending` services sent before. */
function largestTogether(uncovered: Uncovered, pending: TenantArrivals["pending"], sending: number): Together {
  const onsetMs = onsetOfMost(uncovered);
  const all = [...uncovered.reported, ...uncovered.rest];
  const members = all.filter((service) => isMember(service, onsetMs));
  const dueMs: number[] = [];
  for (let at = 0; at < pending.length; at += 2) {
    const [sinceMs, intervalMs] = [pending[at] as number, pending[at + 1] as number];
    if (sinceMs <= onsetMs + TOGETHER_MS) dueMs.push(overdueFromMs(sinceMs, intervalMs));
  }
  const before = all.filter((service) => latestMs(service) < onsetMs).length;
  return { members, onsetMs, alive: Math.max(0, sending - members.length - dueMs.length - before), dueMs };
}

/** The moment at which the most may have fallen silent: one at which one of them was last heard. */
function onsetOfMost({ reported, rest }: Uncovered): number {
  const edges = [...reported.map((service) => ({ service, isNews: 0 })), ...rest.map((service) => ({ service, isNews: 1 }))];
  const begins = [...edges].sort((a, b) => a.service.sinceMs - b.service.sinceMs);
  const ends = edges.sort((a, b) => latestMs(a.service) - latestMs(b.service));
  const count = { all: 0, stale: 0, news: 0 };
  const add = ({ service, isNews: unreported }: (typeof edges)[number], by: 1 | -1): void => {
    count.all += by;
    count.news += by * unreported;
    if (service.isStale) count.stale += by;
  };
  let [onsetMs, most, ended] = [Number.NEGATIVE_INFINITY, 0, 0];
  for (const begin of begins) {
    const { sinceMs } = begin.service;
    for (let end = ends[ended]; end !== undefined && latestMs(end.service) < sinceMs; end = ends[++ended]) add(end, -1);
    add(begin, 1);
    if (count.stale > 0 && count.news > 0 && count.all >= most) [onsetMs, most] = [sinceMs, count.all];
  }
  return onsetMs;
}

/** The latest moment at which a service may have fallen silent. */
function latestMs({ sinceMs, usualIntervalMs }: SilentService): number {
  return sinceMs + usualIntervalMs + TOGETHER_MS;
}

function isMember(service: SilentService, onsetMs: number): boolean {
  return service.sinceMs <= onsetMs && onsetMs <= latestMs(service);
}

function split(services: readonly SilentService[], isFirst: (service: SilentService) => boolean): [SilentService[], SilentService[]] {
  const parts: [SilentService[], SilentService[]] = [[], []];
  for (const service of services) parts[isFirst(service) ? 0 : 1].push(service);
  return parts;
}

function byName(services: readonly SilentService[]): readonly SilentService[] {
  const nameOf = ({ environment, service }: SilentService) => `${service}\0${environment}`;
  return [...services].sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}
