// What the front says of the whole process: the sources of /metrics, and the two words of /healthz.
import type { Clock } from "../../adapters/platform/clock.ts";
import { COORDINATOR_COUNTERS, FRONT_SHARED_LIMITS, type FrontSharedLimit } from "../../core/layout/counters.ts";
import type { TenantShares } from "../../domain/access/tenant-shares.ts";
import type { AccessControl } from "./access/access-control.ts";
import type { BodyPort } from "./body-port.ts";
import type { FrontParts, Health } from "./front.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { Listeners } from "./listeners.ts";
import type { LogWatch } from "./log-watch.ts";
import type { MetricsSources } from "./metrics-page.ts";

/** Fill of a body ring above which /healthz says "full". */
const RING_FULL_RATIO = 0.9;
const DATA_FAULTS = COORDINATOR_COUNTERS.indexOf("dataFaults");
const STORES_UNCHECKED = COORDINATOR_COUNTERS.indexOf("storesUnchecked");
const STORE_READ_ONLY = COORDINATOR_COUNTERS.indexOf("storeReadOnly");

/** What query workers have to do, and have done since the start. */
interface QueryLoad {
  readonly running: number;
  readonly queued: number;
  readonly counts: { readonly answered: number; readonly refused: number; readonly samples: number; readonly usedMs: number };
}

export interface VitalsDependencies extends FrontParts {
  readonly clock: Clock;
  readonly startedMs: number;
  readonly listeners: Listeners;
  readonly residentBytes: () => number;
  readonly ports: readonly BodyPort[];
  readonly heartbeat: Heartbeat;
  readonly logWatch: LogWatch;
  readonly access: AccessControl;
  readonly engines: readonly Float64Array[];
  readonly coordinator: Float64Array;
  readonly shares: Pick<TenantShares<FrontSharedLimit>, "refusedTotal" | "ledger">;
  readonly promql: QueryLoad;
  readonly build: MetricsSources["build"];
  readonly log: MetricsSources["log"];
  readonly faults: MetricsSources["faults"];
}

/** Reads the process's vital signs. */
export class Vitals {
  readonly #dependencies: VitalsDependencies;

  constructor(dependencies: VitalsDependencies) {
    this.#dependencies = dependencies;
  }

  /** Where the page of metrics reads its values. */
  get metrics(): MetricsSources {
    const { build, engines, coordinator, requests, refusedBodies, ports, shares, log, faults } = this.#dependencies;
    const { limited } = this.#dependencies.tenants;
    const sharesRefused = FRONT_SHARED_LIMITS.map((limit) => ({ limit, read: () => shares.refusedTotal(limit) }));
    const sharesTaken = FRONT_SHARED_LIMITS.map((limit) => {
      const ledger = shares.ledger(limit);
      return { limit, most: ledger.most, read: () => ledger.taken };
    });
    return {
      build,
      engines,
      coordinator,
      streamed: this.#dependencies.streams.streamed,
      requests,
      refusedBodies,
      ports,
      limited,
      sharesRefused,
      sharesTaken,
      log,
      faults,
      front: this.#front(),
    };
  }

  #front(): MetricsSources["front"] {
    const { clock, startedMs, listeners, residentBytes, streams, queries, ingestion } = this.#dependencies;
    const { access, tenants, refusals, heartbeat, promql } = this.#dependencies;
    const { authenticator, jwks } = access;
    return {
      residentBytes,
      uptimeSeconds: () => (clock.wallMs() - startedMs) / 1000,
      openConnections: () => listeners.openConnections,
      certificateExpiry: () => listeners.certificateExpiry,
      eventStreams: () => streams.count,
      queriesWaiting: () => queries.waiting,
      promqlRunning: () => promql.running,
      promqlQueued: () => promql.queued,
      promqlAnswered: () => promql.counts.answered,
      promqlRefused: () => promql.counts.refused,
      promqlSeconds: () => promql.counts.usedMs / 1_000,
      promqlSamples: () => promql.counts.samples,
      credentialsCached: () => authenticator.cached,
      authenticationsWaiting: () => authenticator.waiting,
      jwksKeys: () => jwks?.state.keys ?? null,
      jwksFailing: () => (jwks === null ? null : jwks.state.failure === null ? 0 : 1),
      tenants: () => tenants.size,
      heartbeatLastSuccess: () => heartbeat.lastSuccessSeconds,
      refusalsWaiting: () => refusals.size,
      refusalsPaced: () => refusals.paced,
      bodiesInflating: () => ingestion.inflating,
      credentialsRefused: () => authenticator.refusedTotal,
      heartbeats: () => heartbeat.sent,
      heartbeatFailures: () => heartbeat.failed,
      overloaded: () => ingestion.overloaded,
      eventStreamMissed: () => streams.missedTotal,
    };
  }

  /** Whether the store refuses writes now. */
  get isReadOnly(): boolean {
    return this.#dependencies.coordinator[STORE_READ_ONLY] === 1;
  }

  /** Why telemetry is not taken though the server runs; null while it is. */
  get refusesWrites(): string | null {
    if (this.isReadOnly) return "the store does not take writes: the disk is full, or DISK_LIMIT_GIB is passed";
    return this.#dependencies.logWatch.isRefusing ? "the log does not take writes: its disk is full" : null;
  }

  health(): Health {
    const full = this.#dependencies.ports.some((port) => port.ringFill > RING_FULL_RATIO);
    const isDamaged = (this.#dependencies.coordinator[DATA_FAULTS] as number) > 0;
    const isUnchecked = this.#dependencies.coordinator[STORES_UNCHECKED] === 1;
    const isDegraded = isDamaged || isUnchecked || this.refusesWrites !== null;
    return {
      status: isDegraded ? "degraded" : "ok",
      store: this.isReadOnly ? "read_only" : "ok",
      log: this.#dependencies.logWatch.isRefusing ? "read_only" : "ok",
      queue: full ? "full" : "ok",
      data: isDamaged ? "damaged" : isUnchecked ? "unchecked" : "ok",
    };
  }
}
