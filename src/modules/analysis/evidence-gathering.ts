// Asks the engines what they hold of an incident, and puts it together with what the coordinator knows: calls, changes, saturation, silence. An engine has one
// scan at a time, so questions have their turn one after another, tenants by turns; those of people wait within their share of a bound, incidents in any case.
import {
  EVIDENCE_EDGES_PER_INCIDENT_MAX,
  EVIDENCE_SERVICES_PER_INCIDENT_MAX,
  EVIDENCE_STREAMS_PER_TENANT_MAX,
} from "../../core/config/analysis-limits.ts";
import { FairMutex } from "../../core/fairness/fair-mutex.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { EvidenceAnswer, EvidenceQuery, RingValues } from "../../core/protocol/evidence.ts";
import { MINUTE_MS } from "../../core/time/durations.ts";
import { STALE_METRIC } from "../../domain/detection/service/stale-finding.ts";
import type { CallEvidence, ChangeEvidence, IncidentEvidence } from "../../domain/rca/evidence.ts";
import { namedEdges } from "../../domain/rca/peers.ts";
import { type ReportedName, ReportedNames } from "../../domain/rca/series-names.ts";
import type { CallGraph, GraphCall } from "../../domain/topology/blast-radius.ts";
import { joinedWith } from "../../domain/topology/reach.ts";
import { addTotals, type CallTotals, NO_CALLS } from "../../domain/trace/call-edges.ts";
import { meanMoments } from "../../domain/trace/time-sums.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import { readCalls } from "../calls/stored-calls.ts";
import type { EngineClient } from "../engines/engine-client.ts";
import type { SaturationBooks } from "../saturation/saturation-context.ts";
import type { StateWith } from "../state/stored-state.ts";
import { GatheredEvidence } from "./gathered-evidence.ts";
import type { ThreadTime } from "./thread-time.ts";

/** Calls of the last hour make the graph. */
const GRAPH_MINUTES = 60;
/** Minutes of calls before the onset that are compared with those since. */
const CALL_MINUTES_BEFORE = 15;

export interface EvidencePosition {
  readonly tenant: string;
  readonly environment: string;
}

/** Place, times, target and services that are looked at. */
export interface EvidenceWanted extends EvidencePosition {
  readonly onsetMs: number;
  readonly untilMs: number;
  readonly target: IncidentEvidence["target"];
  /** Services of the incident so far. */
  readonly services: Iterable<string>;
}

export interface EvidenceDependencies {
  readonly state: StateWith<AnomalyBooks, Pick<SaturationBooks, "fires">>;
  readonly engines: EngineClient;
  readonly changes: (position: EvidencePosition) => readonly ChangeEvidence[];
  readonly time: ThreadTime;
  /** Questions that wait for their turn or have it. */
  readonly shares: ShareLedger;
  yieldToLoop(): Promise<void>;
}

type ScanQuery = Omit<EvidenceQuery, "type" | "id" | "scan" | "namesKnown">;

interface CallMinutes extends GraphCall {
  readonly minutes: Map<number, CallTotals>;
}

export class EvidenceGathering {
  readonly #dependencies: EvidenceDependencies;
  /** Names that each engine has told. */
  readonly #names = new Map<number, ReportedNames>();
  #scan = 0;
  readonly #mutex: FairMutex;

  constructor(dependencies: EvidenceDependencies) {
    this.#dependencies = dependencies;
    // Nobody is refused here: people ask isFull before, and what an incident needs waits as long as it takes.
    const options = { perTenantMax: Number.POSITIVE_INFINITY, waitMsMax: Number.POSITIVE_INFINITY, shares: dependencies.shares };
    this.#mutex = new FairMutex(options, () => 0);
  }

  /** Whether so many of a tenant's questions wait that its people are to ask again later, which is counted. */
  isFull(tenant: string): boolean {
    return !this.#dependencies.shares.admits(tenant);
  }

  /** Evidence of an incident. Rejects with EngineUnavailableError. */
  gather(wanted: EvidenceWanted): Promise<IncidentEvidence> {
    return this.#mutex.runAnyway(wanted.tenant, () => this.#gather(wanted));
  }

  /** The series that stand best for each service. Rejects with EngineUnavailableError. */
  rings({ tenant, environment }: EvidencePosition, nowMs: number): Promise<RingValues[]> {
    const query = { tenant, environment, onsetMs: nowMs, untilMs: nowMs, services: null, wants: "rings" as const };
    const found: RingValues[] = [];
    return this.#mutex.runAnyway(tenant, async () => {
      await this.#ask(query, ({ rings }) => found.push(...rings));
      return found;
    });
  }

  /** Calls between a tenant's services in the last hour. */
  async calls({ tenant, environment }: EvidencePosition, untilMs: number): Promise<CallMinutes[]> {
    const to = Math.ceil(untilMs / MINUTE_MS) + 1;
    const found = new Map<string, CallMinutes & { calls: number; errors: number }>();
    await readCalls(this.#dependencies, tenant, { from: to - GRAPH_MINUTES, to }, ({ caller, callee, minute, ...totals }) => {
      if (callee.tenant !== tenant || callee.environment !== environment || minute < to - GRAPH_MINUTES || minute >= to) return;
      const key = JSON.stringify([caller.serviceId, callee.serviceId]);
      let edge = found.get(key);
      if (edge === undefined) {
        if (found.size >= EVIDENCE_EDGES_PER_INCIDENT_MAX) return;
        edge = { caller: caller.serviceId, callee: callee.serviceId, calls: 0, errors: 0, minutes: new Map() };
        found.set(key, edge);
      }
      edge.calls += totals.calls;
      edge.errors += totals.errors;
      const of = { ...(edge.minutes.get(minute) ?? NO_CALLS) };
      addTotals(of, totals);
      edge.minutes.set(minute, of);
    });
    return [...found.values()];
  }

  /** Calls of the last hour, and those that series name by their attributes. Rejects with EngineUnavailableError. */
  async graph(position: EvidencePosition, nowMs: number): Promise<CallGraph> {
    const calls = await this.calls(position, nowMs);
    const query = { ...position, onsetMs: nowMs - GRAPH_MINUTES * MINUTE_MS, untilMs: nowMs, services: null, wants: "callees" as const };
    const named: Array<readonly [string, string]> = [];
    const services = new Set<string>();
    const take = ({ callees, services: passed }: EvidenceAnswer) => {
      for (const edge of callees) if (named.length < EVIDENCE_EDGES_PER_INCIDENT_MAX) named.push(edge);
      for (const serviceId of passed) services.add(serviceId);
    };
    await this.#mutex.runAnyway(position.tenant, () => this.#ask(query, take));
    const called = calls.map(({ callee }) => callee);
    return { calls, named: namedEdges(named, services, called) };
  }

  async #gather(wanted: EvidenceWanted): Promise<IncidentEvidence> {
    const { tenant, environment, onsetMs, untilMs, target } = wanted;
    const calls = await this.calls(wanted, untilMs);
    const edges = calls.map(({ caller, callee }) => [caller, callee] as const);
    const services = await this.#servicesOf(wanted, edges);
    const { time } = this.#dependencies;
    const gathered = new GatheredEvidence();
    const query = { tenant, environment, onsetMs, untilMs, services, wants: "departures" as const };
    await this.#ask(query, (answer, nameOf) => time.spend(() => gathered.add(answer, nameOf)));
    return time.spend(() => ({
      onsetMs,
      untilMs,
      target,
      members: [...wanted.services],
      ...gathered.evidence(calls, wanted),
      calls: calls.map((call) => callEvidence(call, onsetMs, untilMs)),
      edges,
      changes: this.#dependencies.changes(wanted),
      saturated: this.#saturated(wanted),
      silent: this.#silent(wanted),
    }));
  }

  /** All services of a tenant, or of one with very many streams those that calls join with the incident. */
  async #servicesOf({ tenant, services }: EvidenceWanted, edges: ReadonlyArray<readonly [string, string]>): Promise<string[] | null> {
    const { engines } = this.#dependencies;
    let streams = 0;
    await engines.withEach(async (engine) => {
      streams += await engines.streamCount(engine, tenant);
    });
    if (streams <= EVIDENCE_STREAMS_PER_TENANT_MAX) return null;
    return [...joinedWith(edges, services)].slice(0, EVIDENCE_SERVICES_PER_INCIDENT_MAX);
  }

  /** Scans over all engines; each goes on while what it has told before is taken in. */
  async #ask(
    query: ScanQuery,
    take: (answer: EvidenceAnswer, nameOf: (number: number) => ReportedName | undefined) => void,
  ): Promise<void> {
    const { engines } = this.#dependencies;
    const scan = ++this.#scan;
    await engines.withEach(async (engine) => {
      const names = this.#names.get(engine) ?? new ReportedNames();
      this.#names.set(engine, names);
      const ask = () => engines.evidence(engine, { ...query, scan, namesKnown: names.count });
      for (let next: Promise<EvidenceAnswer> | undefined = ask(); next !== undefined; ) {
        const answer: EvidenceAnswer = await next;
        names.learn(answer);
        next = answer.done ? undefined : ask();
        take(answer, (number) => names.of(number));
      }
    });
  }

  #saturated({ tenant, environment }: EvidencePosition): IncidentEvidence["saturated"] {
    const fires = [...this.#dependencies.state.configured.fires.open()];
    return fires
      .filter((fire) => fire.tenant === tenant && fire.environment === environment)
      .map(({ serviceId, metricName }) => ({ serviceId, metricName, instance: null, used: 1 }));
  }

  /** Services that fell silent before the onset or with it; one that sent still when symptoms were there is no cause of them. */
  #silent({ tenant, environment, onsetMs }: EvidenceWanted): string[] {
    const found = new Set<string>();
    const { anomalies } = this.#dependencies.state;
    for (const anomaly of anomalies.openAnomalies()) {
      if (anomaly.tenant !== tenant || anomaly.environment !== environment || anomaly.metricName !== STALE_METRIC) continue;
      const lastSeenMs = anomalies.find(tenant, anomaly.id)?.observedAtMs ?? anomaly.startedAtMs;
      if (lastSeenMs >= onsetMs - CALL_MINUTES_BEFORE * MINUTE_MS && lastSeenMs <= onsetMs + MINUTE_MS) found.add(anomaly.serviceId);
    }
    return [...found].sort();
  }
}

function callEvidence({ caller, callee, minutes }: CallMinutes, onsetMs: number, untilMs: number): CallEvidence {
  const onset = Math.floor(onsetMs / MINUTE_MS);
  const windowOf = (from: number, to: number) => {
    const sum = { ...NO_CALLS };
    for (let minute = from; minute <= to; minute++) {
      const of = minutes.get(minute);
      if (of !== undefined) addTotals(sum, of);
    }
    const { calls, errors } = sum;
    return { calls, errors, duration: meanMoments(sum.microseconds, calls), gap: meanMoments(sum.gapMicroseconds, sum.gapCalls) };
  };
  const past = Array.from({ length: CALL_MINUTES_BEFORE }, (_, i) =>
    windowOf(onset - CALL_MINUTES_BEFORE + i, onset - CALL_MINUTES_BEFORE + i),
  );
  return { caller, callee, isPeer: false, past, now: windowOf(onset, Math.floor(untilMs / MINUTE_MS)) };
}
