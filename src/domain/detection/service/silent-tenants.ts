// The silences of tenants from cycle to cycle: which services have an alert of their own, which share one on ingestion, and which wait for more to be known.
// An alert on ingestion goes on for as long as one of its services is silent: what has been told with it is not reported again service by service.
import type { SilentService } from "../../../core/protocol/arrivals.ts";
import type { Attributes } from "../../../core/protocol/coordinator-frame.ts";
import { parseRfc3339 } from "../../../core/time/rfc3339.ts";
import { SILENCE_MS_MIN } from "./arrival-rhythm.ts";
import type { RuleFinding, RuleScope } from "./rule-episode-set.ts";
import { ingestionFinding, type ReportedSilence, staleFinding, staleScope } from "./stale-finding.ts";
import { INGESTION_SERVICE, type TenantArrivals, type TenantSilence, tenantSilence } from "./tenant-silence.ts";

/** A service whose finding waits. */
export interface SuppressedService {
  readonly tenant: string;
  readonly service: SilentService;
  readonly untilMs: number;
  readonly gates: TenantSilence["gates"];
}

/** Arrivals of a tenant known in a cycle. */
export interface KnownArrivals extends TenantArrivals {
  /** After a restart services are still to be heard of: what is said about a silence of all stands until then. */
  readonly isUnheard: boolean;
}

export interface OpenAlert extends RuleScope {
  readonly attributes: Attributes;
  readonly startedAtMs: number;
}

interface OpenSilence extends ReportedSilence {
  /** Services that were named last. */
  readonly members: string;
}

/** All tenants of one server, or of one backtest. */
export class SilentTenants {
  readonly #isOpen: (scope: RuleScope) => boolean;
  readonly #open = new Map<string, OpenSilence>();
  readonly #suppressedSinceMs = new Map<string, number>();
  #suppressed: SuppressedService[] = [];

  /** `isOpen` says of a place whether an alert of it is open. */
  constructor(isOpen: (scope: RuleScope) => boolean) {
    this.#isOpen = isOpen;
  }

  /** Tenants of which something is known besides the arrivals of a cycle. */
  get tenants(): Iterable<string> {
    return this.#open.keys();
  }

  /** Takes the alert on ingestion that was open before a restart. One of an earlier version does not say since when: it was reported once the least limit had passed. */
  restore({ tenant, environment, serviceId, attributes, startedAtMs }: OpenAlert): void {
    if (serviceId !== INGESTION_SERVICE) return;
    const { silent, silent_since, silent_most = silent, watched, services } = attributes;
    const reported = typeof silent_since === "string" ? parseRfc3339(silent_since) : undefined;
    const onsetMs = reported ?? startedAtMs - SILENCE_MS_MIN;
    const counts = { most: Number(silent_most), watched: Number(watched), members: JSON.stringify(services) };
    this.#open.set(tenant, { tenant, environment, onsetMs, gates: [], ...counts });
  }

  /** Services held since the last call. */
  takeSuppressed(): readonly SuppressedService[] {
    const suppressed = this.#suppressed;
    this.#suppressed = [];
    return suppressed;
  }

  /** Findings on a tenant in this cycle. */
  findings(tenant: string, arrivals: KnownArrivals, nowMs: number): RuleFinding[] {
    const open = this.#open.get(tenant);
    const isReported = ({ service, environment }: SilentService) =>
      this.#isOpen(staleScope(tenant, (JSON.parse(service) as [string, string])[1], environment));
    const silence = tenantSilence(
      arrivals,
      { isReported, onsetMs: open?.onsetMs, suppressedSinceMs: this.#suppressedSinceMs.get(tenant) },
      nowMs,
    );
    this.#hold(tenant, silence, nowMs);
    const single = silence.single.map((service) => staleFinding(tenant, service, nowMs));
    const isWaiting = open !== undefined && arrivals.isUnheard;
    if (isWaiting) return single;
    if (silence.ingestion.length === 0) {
      this.#open.delete(tenant);
      return single;
    }
    const reported = reportedOf(tenant, silence, arrivals.watched, open);
    this.#open.set(tenant, reported);
    return [ingestionFinding(reported, silence.ingestion, nowMs), ...single];
  }

  #hold(tenant: string, { suppressed, suppressedUntilMs, gates }: TenantSilence, nowMs: number): void {
    if (suppressed.length === 0) this.#suppressedSinceMs.delete(tenant);
    else if (!this.#suppressedSinceMs.has(tenant)) this.#suppressedSinceMs.set(tenant, nowMs);
    for (const service of suppressed) this.#suppressed.push({ tenant, service, untilMs: suppressedUntilMs, gates });
  }
}

/** The environment is that of the opening, where all had one: an alert keeps its place. How many were watched is counted anew when services come or go. */
function reportedOf(
  tenant: string,
  { ingestion, onsetMs, gates }: TenantSilence,
  watched: number,
  open: OpenSilence | undefined,
): OpenSilence {
  const members = JSON.stringify(ingestion.map(({ service }) => (JSON.parse(service) as [string, string])[1]));
  const isSame = open?.members === members;
  const isJudged = gates.every(({ passed }) => passed);
  const environments = new Set(ingestion.map(({ environment }) => environment));
  const shared = environments.size === 1 ? ([...environments][0] as string) : "";
  return {
    tenant,
    environment: open?.environment ?? shared,
    onsetMs,
    most: Math.max(open?.most ?? 0, ingestion.length),
    watched: isSame ? open.watched : watched,
    // Of what is reported already there is nothing to judge.
    gates: open === undefined || isJudged ? gates : open.gates,
    members,
  };
}
