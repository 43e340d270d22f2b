// What the front says of the whole process: the sources of /metrics, and the two words of /healthz.
import type { Clock } from "../../adapters/runtime/clock.ts";
import { COORDINATOR_COUNTERS, type FrontSharedLimit } from "../../core/layout/counters.ts";
import type { TenantShares } from "../../domain/access/tenant-shares.ts";
import type { AccessDesk } from "./access/access-desk.ts";
import type { BodyPort } from "./body-port.ts";
import type { EventStreams } from "./event-streams.ts";
import type { Health } from "./front.ts";
import type { Heartbeat } from "./heartbeat.ts";
import type { Ingestion } from "./ingestion.ts";
import type { LogWatch } from "./log-watch.ts";
import type { MetricsSources } from "./metrics-page.ts";
import type { QueryLink } from "./query-link.ts";
import type { RefusedBodies } from "./refused-bodies.ts";
import type { RequestHistogram } from "./request-histogram.ts";
import type { RefusalQueue } from "./tenants/refusal-queue.ts";
import type { TenantGate } from "./tenants/tenant-gate.ts";

/** Fill of a body ring above which /healthz says "full". */
const RING_FULL_RATIO = 0.9;
const DATA_FAULTS = COORDINATOR_COUNTERS.indexOf("dataFaults");
const STORES_UNCHECKED = COORDINATOR_COUNTERS.indexOf("storesUnchecked");
const STORE_READ_ONLY = COORDINATOR_COUNTERS.indexOf("storeReadOnly");

export interface VitalsDependencies {
  readonly clock: Clock;
  readonly startedMs: number;
  readonly openConnections: () => number;
  readonly residentBytes: () => number;
  readonly ports: readonly BodyPort[];
  readonly ingestion: Ingestion;
  readonly queries: QueryLink;
  readonly streams: EventStreams;
  readonly tenants: TenantGate;
  readonly refusals: RefusalQueue;
  readonly requests: RequestHistogram;
  readonly refusedBodies: RefusedBodies;
  readonly heartbeat: Heartbeat;
  readonly logWatch: LogWatch;
  readonly access: AccessDesk;
  readonly engines: readonly Float64Array[];
  readonly coordinator: Float64Array;
  readonly shares: Pick<TenantShares<FrontSharedLimit>, "totals">;
}

type Row = readonly [name: string, help: string, value: number];

/** Reads the process's vital signs. */
export class Vitals {
  readonly #dependencies: VitalsDependencies;

  constructor(dependencies: VitalsDependencies) {
    this.#dependencies = dependencies;
  }

  metrics(): MetricsSources {
    const { engines, coordinator, requests, refusedBodies, ports, shares } = this.#dependencies;
    const { limited } = this.#dependencies.tenants;
    const own = { gauges: this.#gauges(), counters: this.#counters() };
    return { engines, coordinator, requests, refusedBodies, ports, limited, sharesRefused: shares.totals(), ...own };
  }

  #gauges(): Row[] {
    const { clock, startedMs, openConnections, residentBytes, streams, queries, ingestion } = this.#dependencies;
    const { access, tenants, refusals, heartbeat } = this.#dependencies;
    return [
      ["vedette_resident_bytes", "Resident memory of the process", residentBytes()],
      ["vedette_uptime_seconds", "Seconds since the start", (clock.wallMs() - startedMs) / 1000],
      ["vedette_open_connections", "Open HTTP connections", openConnections()],
      ["vedette_event_streams", "Open event streams", streams.count],
      ["vedette_queries_waiting", "Queries waiting for the coordinator", queries.waiting],
      ...access.gauges,
      ["vedette_tenants", "Tenants", tenants.size],
      ["vedette_heartbeat_last_success_timestamp_seconds", "Last heartbeat that was answered, 0 for none", heartbeat.lastSuccessSeconds],
      ["vedette_refusals_waiting", "Requests beyond a rate that are still to be answered so", refusals.size],
      ["vedette_refusals_paced", "Of these, requests of tenants that are refused more than they are allowed", refusals.paced],
      ["vedette_bodies_inflating", "Bodies being inflated", ingestion.inflating],
    ];
  }

  #counters(): Row[] {
    const { streams, ingestion, access, heartbeat } = this.#dependencies;
    return [
      ["vedette_credentials_refused_total", "Requests whose credential was wrong", access.authenticator.refusedTotal],
      ["vedette_heartbeats_total", "Pings of the dead-man's switch", heartbeat.sent],
      ["vedette_heartbeat_failures_total", "Pings of the dead-man's switch that were not answered with success", heartbeat.failed],
      ["vedette_overloaded_total", "Write requests answered 503 because queues were full", ingestion.overloaded],
      ["vedette_event_stream_missed_total", "Events that slow readers of the stream missed", streams.missedTotal],
    ];
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
