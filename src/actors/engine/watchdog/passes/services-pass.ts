// The pass over services: one vector of each service and environment a cycle, judged by its joint detector. It visits services in the order of the index; names
// are read in slices where a service's streams have changed, everything else is done in one visit.
import { ownMember, setMember } from "../../../../core/collections/own-member.ts";
import {
  SERVICE_ASKS_AGAIN_CYCLES,
  SERVICE_COLUMNS_RETAINED_MS,
  SERVICE_NAMES_PER_VISIT,
  SERVICE_STATE_STORE_MS,
  SERVICE_STREAMS_INSPECTED_MAX,
  SERVICE_VECTORS_MIN,
} from "../../../../core/config/limits.ts";
import type { ShareLedger } from "../../../../core/fairness/share-ledger.ts";
import { DETECTOR_SERVICE_MODELS, DETECTOR_SERVICES, type StatesPage } from "../../../../core/protocol/coordinator-frame.ts";
import type {
  ServiceHistoryAnswer,
  ServiceHistoryQuery,
  ServicesWanting,
  ServiceWanting,
  ShadowCounts,
  WatchdogCounts,
  WatchdogNotice,
} from "../../../../core/protocol/engine-control.ts";
import { servicePage } from "../../../../core/protocol/service-rows.ts";
import { EVALUATED, LEARNING, NOT_VISITED } from "../../../../domain/detection/coverage.ts";
import { MonitoredService } from "../../../../domain/detection/monitored-service/monitored-service.ts";
import { ServiceEpisodes, type ServiceEpisodesDependencies } from "../../../../domain/detection/monitored-service/service-episodes.ts";
import { ServicePlanner, type ServicePlannerDependencies } from "../../../../domain/detection/monitored-service/service-plan.ts";
import { ServiceVectorReader } from "../../../../domain/detection/monitored-service/service-vector-reader.ts";
import { ShadowModel } from "../../../../domain/detection/monitored-service/shadow-model.ts";
import { isVectorFull } from "../../../../domain/detection/multivariate/service-vector.ts";
import { SILENT_STREAM_MS } from "../../../../domain/detection/service/silent-streams.ts";
import type { WatchdogDetector } from "../cycle/engine-watchdog.ts";
import { noHistory, type ServiceHistoryDependencies, serviceHistory } from "../cycle/service-history.ts";

export interface ServicesDetectorOptions {
  /** WATCHDOG_INTERVAL_SECONDS in ms. */
  readonly intervalMs: number;
}

export interface ServicesDetectorDependencies extends ServicePlannerDependencies, ServiceHistoryDependencies, ServiceEpisodesDependencies {
  /** Who holds how many of the services of this engine that are judged, each environment for itself. */
  readonly shares: ShareLedger;
  /** Has a row of the table of states stored; no bytes delete it. */
  readonly store: (at: StatesPage, row: Uint8Array) => void;
  /** Told at the end of a cycle. */
  readonly publish: (facts: { readonly services: number; readonly bytes: number }) => void;
}

/** Services by their key, and what their streams were when their plans were made. */
interface KnownService {
  /** Below 0: plans are to be made anew. */
  signature: number;
  readonly environments: readonly MonitoredService[];
  /** An environment of it found no place. */
  readonly isLimited: boolean;
  visitedCycle: number;
}

const METRICS_MIN = 2;
const NO_ROW = new Uint8Array(0);

export class ServicesDetector implements WatchdogDetector {
  readonly #options: ServicesDetectorOptions;
  readonly #dependencies: ServicesDetectorDependencies;
  readonly #planner: ServicePlanner;
  readonly #reader: ServiceVectorReader;
  readonly #episodes: ServiceEpisodes;
  readonly #known = new Map<string, KnownService>();
  #cycle = 0;
  #nowMs = 0;
  #bytes = 0;
  /** Signature of the service at hand while its names are read. */
  #signature = 0;
  #wanting: ServiceWanting[] = [];
  #shadows: ShadowCounts[] = [];
  #evaluated = 0;
  #learning = 0;
  #skipped: Record<string, number> = {};

  constructor(options: ServicesDetectorOptions, dependencies: ServicesDetectorDependencies) {
    this.#options = options;
    this.#dependencies = dependencies;
    this.#planner = new ServicePlanner(dependencies);
    this.#reader = new ServiceVectorReader(dependencies.records, options.intervalMs);
    this.#episodes = new ServiceEpisodes(dependencies);
  }

  begin(nowMs: number): void {
    this.#cycle++;
    this.#nowMs = nowMs;
    this.#bytes = 0;
  }

  visit(key: string, slots: readonly number[], first: number): number {
    const inspected = Math.min(slots.length, SERVICE_STREAMS_INSPECTED_MAX);
    if (first === 0) {
      this.#signature = this.#signatureOf(slots, inspected);
      const known = this.#known.get(key);
      const hasCapacity = this.#dependencies.shares.available(tenantOf(key)) > 0;
      if (known?.signature === this.#signature && !(known.isLimited && hasCapacity)) {
        this.#judgeAll(known);
        return slots.length;
      }
      this.#planner.begin();
    }
    const next = Math.min(inspected, first + SERVICE_NAMES_PER_VISIT);
    for (let index = first; index < next; index++) this.#planner.add(slots[index] as number);
    if (next < inspected) return next;
    if (slots.length > inspected) this.#skip("too_many_streams");
    this.#judgeAll(this.#plan(key, slots[0] as number));
    return slots.length;
  }

  /** Gives up services that have no streams any more. */
  end(): void {
    for (const [key, known] of this.#known) {
      if (known.visitedCycle === this.#cycle) continue;
      for (const service of known.environments) this.#giveUp(service);
      this.#known.delete(key);
    }
    this.#dependencies.publish({ services: this.#dependencies.shares.taken, bytes: this.#bytes });
  }

  takeCounts(): WatchdogCounts {
    const counts = { evaluated: this.#evaluated, learning: this.#learning, skipped: this.#skipped };
    this.#evaluated = 0;
    this.#learning = 0;
    this.#skipped = {};
    return counts;
  }

  takeFound(): ServicesWanting | undefined {
    const [services, shadows] = [this.#wanting, this.#shadows];
    if (services.length === 0 && shadows.length === 0) return undefined;
    this.#wanting = [];
    this.#shadows = [];
    return { services, ...(shadows.length > 0 && { shadows }) };
  }

  /** Takes what the coordinator has of a service. */
  take(notice: WatchdogNotice): void {
    if (notice.type !== "service-model" && notice.type !== "shadow-model") return;
    const service = this.#find(notice);
    if (service === undefined) return;
    if (notice.type === "service-model") {
      if (service.take(notice)) this.#planAnew(notice.key);
      return;
    }
    const { model } = notice;
    if (model === null) {
      if (service.shadow?.modelId === notice.modelId) service.shadow = undefined;
      return;
    }
    service.shadow = new ShadowModel({ ...notice, model });
    // Mostly of the metrics that are judged already: then it can be compared at once.
    service.shadow.setPlan(service.plan);
    this.#planAnew(notice.key);
  }

  /** With the next visit: names of streams are read then. */
  #planAnew(key: string): void {
    const known = this.#known.get(key);
    if (known !== undefined) known.signature = -1;
  }

  history(query: ServiceHistoryQuery): ServiceHistoryAnswer {
    const service = this.#find(query);
    if (service === undefined) return noHistory(query.id);
    const { partition, shadow } = service;
    const plan = shadow !== undefined && shadow.modelId === query.modelId ? shadow.plan : service.plan;
    return plan === undefined ? noHistory(query.id) : serviceHistory(query.id, { plan, partition }, this.#dependencies);
  }

  /** Has the states of all services stored, before the end. */
  storeAll(): void {
    for (const { environments } of this.#known.values()) for (const service of environments) this.#store(service);
  }

  serviceStates(key: string, environment: string | null): readonly string[] {
    const known = this.#known.get(key);
    if (known === undefined) return [NOT_VISITED];
    const states = known.environments
      .filter((service) => (environment ?? service.environment) === service.environment)
      .map(({ state }) => state);
    if (states.length === 0) return [known.isLimited ? "services_limit" : "too_few_metrics"];
    return known.isLimited && environment === null ? [...states, "services_limit"] : states;
  }

  #find({ key, environment }: { readonly key: string; readonly environment: string }): MonitoredService | undefined {
    return this.#known.get(key)?.environments.find((service) => service.environment === environment);
  }

  /** Changes when streams come, go or are excluded: of slots, places of their identities and profiles (FNV-1a). */
  #signatureOf(slots: readonly number[], inspected: number): number {
    const { records } = this.#dependencies;
    let hash = 0x811c9dc5 ^ slots.length;
    for (let index = 0; index < inspected; index++) {
      const slot = slots[index] as number;
      hash = Math.imul(hash ^ slot, 16777619);
      hash = Math.imul(hash ^ records.identityAddress(slot), 16777619);
      hash = Math.imul(hash ^ records.profile(slot), 16777619);
    }
    return hash >>> 0;
  }

  /** Makes the plans of the service whose names have been read. */
  #plan(key: string, slot: number): KnownService {
    const before = this.#known.get(key);
    const environments: MonitoredService[] = [];
    let isLimited = false;
    for (const environment of this.#planner.environments) {
      const known = before?.environments.find((service) => service.environment === environment);
      if (known !== undefined) {
        this.#replan(known);
        const { shadow } = known;
        if (shadow !== undefined && !shadow.setPlan(known.plan)) shadow.setPlan(this.#planner.plan(environment, shadow.names));
        environments.push(known);
        continue;
      }
      const plan = this.#planner.plan(environment, undefined);
      if (plan.shape.names.length < METRICS_MIN) continue;
      isLimited ||= !this.#dependencies.shares.take(tenantOf(key));
      if (isLimited) continue;
      const partition = this.#dependencies.records.partition(slot);
      environments.push(new MonitoredService({ key, environment, partition }, plan, this.#nowMs));
    }
    for (const service of before?.environments ?? []) if (!environments.includes(service)) this.#giveUp(service);
    const known = { signature: this.#signature, environments, isLimited, visitedCycle: this.#cycle };
    this.#known.set(key, known);
    return known;
  }

  /** Metrics are chosen anew at most once an hour, and not while they are part of an alert. */
  #replan(service: MonitoredService): void {
    const isRetained = this.#nowMs - service.plannedMs < SERVICE_COLUMNS_RETAINED_MS || service.detector()?.isFiring === true;
    const keeps = isRetained && service.phase === "judged";
    const retained = service.pinned ?? (keeps ? service.plan.shape.names : undefined);
    service.setPlan(this.#planner.plan(service.environment, retained), this.#nowMs);
  }

  #judgeAll(known: KnownService): void {
    known.visitedCycle = this.#cycle;
    if (known.isLimited) this.#skip("services_limit");
    else if (known.environments.length === 0) this.#skip("too_few_metrics");
    for (const service of known.environments) {
      if (service.plan.metricsLeftOut > 0) this.#skip("metrics_left_out", service.plan.metricsLeftOut);
      this.#judge(service);
      this.#score(service);
      this.#bytes += service.bytes;
    }
  }

  #judge(service: MonitoredService): void {
    const reader = this.#reader;
    const { names } = service.plan.shape;
    if (names.length < METRICS_MIN) return this.#skipService(service, "too_few_metrics");
    this.#wantWhatIsDue(service);
    if (service.phase !== "judged") {
      this.#learning++;
      service.state = LEARNING;
      return;
    }
    reader.read(service.plan, this.#nowMs);
    const isNew = reader.newestMs > service.sampleMs;
    if (!isNew || !isVectorFull(reader.present, names.length)) {
      this.#endSilent(service);
      return this.#skipService(service, isNew ? "too_few_values" : "no_new_values");
    }
    const detector = service.detector();
    if (detector === undefined || this.#nowMs <= detector.newestMs) return this.#skipService(service, "clock_went_back");
    service.sampleMs = reader.newestMs;
    detector.model.parts.levels.fillGaps(reader.values);
    const wasFiring = detector.isFiring;
    const verdict = detector.observe(this.#nowMs, reader.values);
    this.#evaluated++;
    service.state = EVALUATED;
    const { suppressedBy } = verdict.firing;
    if (suppressedBy !== null) this.#skip(suppressedBy);
    const isReported = this.#episodes.take(service, detector, verdict, wasFiring);
    if (isReported || this.#nowMs - service.storedMs >= SERVICE_STATE_STORE_MS) this.#store(service);
  }

  /** Scores the shadow, of which nobody is told more than numbers. */
  #score({ shadow }: MonitoredService): void {
    if (shadow === undefined) return;
    shadow.score(this.#reader, this.#nowMs);
    const counts = shadow.takeCounts();
    if (counts !== undefined) this.#shadows.push(counts);
  }

  #wantWhatIsDue(service: MonitoredService): void {
    if (this.#cycle - service.askedCycle < SERVICE_ASKS_AGAIN_CYCLES) return;
    const { intervalMs } = this.#options;
    // From its streams it follows when there are vectors enough.
    if (service.phase === "learning" && service.dueMs === 0) {
      service.dueMs = this.#reader.firstMs(service.plan) + SERVICE_VECTORS_MIN * intervalMs;
    }
    if (service.phase !== "unknown" && this.#nowMs < service.dueMs) return;
    const { key, environment, partition } = service;
    const wants = service.phase === "unknown" ? "stored" : "model";
    service.askedCycle = this.#cycle;
    this.#wanting.push({ key, environment, partition, columns: service.plan.shape.columns, wants });
  }

  /** Without values nothing is over. Where the service goes on for a day and its vector is never full, what was found of it has ended. */
  #endSilent(service: MonitoredService): void {
    const silentFromMs = this.#nowMs - SILENT_STREAM_MS;
    if (service.sampleMs > silentFromMs || this.#reader.newestMs <= silentFromMs) return;
    if (this.#episodes.end(service)) this.#store(service);
  }

  #giveUp(service: MonitoredService): void {
    this.#dependencies.shares.give(tenantOf(service.key));
    this.#episodes.end(service);
    const at = { partition: service.partition, page: servicePage(service.hash) };
    for (const detector of [DETECTOR_SERVICES, DETECTOR_SERVICE_MODELS]) this.#dependencies.store({ ...at, detector }, NO_ROW);
  }

  #store(service: MonitoredService): void {
    const row = service.stateRow();
    if (row === undefined) return;
    service.storedMs = this.#nowMs;
    this.#dependencies.store({ partition: service.partition, detector: DETECTOR_SERVICES, page: servicePage(service.hash) }, row);
  }

  #skipService(service: MonitoredService, reason: string): void {
    service.state = reason;
    this.#skip(reason);
  }

  #skip(reason: string, count = 1): void {
    setMember(this.#skipped, reason, (ownMember(this.#skipped, reason) ?? 0) + count);
  }
}

function tenantOf(key: string): string {
  const [tenant] = JSON.parse(key) as [string];
  return tenant;
}
