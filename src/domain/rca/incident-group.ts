// Which anomalies are one incident, and when each incident is looked at: at once, after one and five minutes, since most symptoms follow the first alert, and
// at its end. Anomalies of one tenant and environment that begin within five minutes of each other and whose services calls join are one incident; where no
// calls are known, time alone joins.
import type { ShareLedger } from "../../core/base/share-ledger.ts";

export interface IncidentAnomaly {
  readonly id: string;
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly startedAtMs: number;
}

/** An incident that is being looked at. */
export interface RunningIncident {
  /** The anomaly that began it; its id is the incident's. */
  readonly first: IncidentAnomaly;
  onsetMs: number;
  readonly openedAtMs: number;
  lastJoinedMs: number;
  /** Ids of its anomalies up to the bound. */
  readonly members: Set<string>;
  /** Ids of those beyond it that are not stored yet, and how many were stored or wait; more are only counted. */
  readonly joined: string[];
  joinedCount: number;
  memberCount: number;
  readonly services: Set<string>;
  /** Services that calls join with it, and all that calls are known of; null before the first look. */
  graph: { readonly joined: ReadonlySet<string>; readonly known: ReadonlySet<string> } | null;
  revision: number;
  dueMs: number;
  ends: boolean;
  /** Anomalies have joined that its stored report does not name yet. */
  hasJoined: boolean;
  /** It was looked at before a restart: what was known of it then is in its report alone. */
  readonly isRestored: boolean;
}

/** State of an incident that is not over, by its stored report. */
export interface KeptIncident {
  readonly first: IncidentAnomaly;
  readonly onsetMs: number;
  readonly openedAtMs: number;
  readonly lastJoinedMs: number;
  readonly members: readonly string[];
  readonly memberCount: number;
  /** Number of those beyond the bound that are stored. */
  readonly joinedCount: number;
  readonly services: readonly string[];
  readonly revision: number;
}

const JOIN_MS = 5 * 60_000;
/** After the first look; then only its end is waited for. */
const REVISIONS_MS = [60_000, 300_000];
const END_LOOK_MS = 30_000;
/** Anomalies that join a report that is stored are named there so soon; one commit for all that come in that time. */
const JOINED_LOOK_MS = 1_000;
/** An alert of somebody else may have begun long ago: what is looked at begins no longer before its coming. */
const ONSET_AGE_MS_MAX = 15 * 60_000;
/** An incident that nobody ends is not looked at any longer. */
const LASTS_MS_MAX = 3_600_000;

export interface IncidentLimits {
  readonly membersMax: number;
  readonly joinedMax: number;
  /** Who has how many of the incidents. */
  readonly shares: Pick<ShareLedger, "take" | "give">;
}

/** The incidents of all tenants. */
export class RunningIncidents {
  readonly #limits: IncidentLimits;
  readonly #byTenant = new Map<string, Set<RunningIncident>>();
  /** When a tenant last had its turn. */
  readonly #turns = new Map<string, number>();
  #turn = 0;
  #size = 0;

  constructor(limits: IncidentLimits) {
    this.#limits = limits;
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes an anomaly in: the incident that it joins or begins. A tenant that has its share of incidents has it join the newest of its environment; undefined
   * where there is none either.
   */
  take(given: IncidentAnomaly, nowMs: number): { readonly incident: RunningIncident; readonly isNew: boolean } | undefined {
    const { id, tenant, environment, serviceId, metricName } = given;
    const anomaly = { id, tenant, environment, serviceId, metricName, startedAtMs: Math.max(given.startedAtMs, nowMs - ONSET_AGE_MS_MAX) };
    const known = this.#joined(anomaly, nowMs);
    if (known !== undefined) {
      this.#join(known, anomaly, nowMs);
      return { incident: known, isNew: false };
    }
    if (this.#limits.shares.take(tenant)) return { incident: this.#add(begun(anomaly, nowMs)), isNew: true };
    const newest = this.#newest(tenant, environment);
    if (newest === undefined) return undefined;
    this.#join(newest, anomaly, nowMs);
    return { incident: newest, isNew: false };
  }

  /** Goes on with an incident after a restart; not where there is no room. */
  restore({ first, members, services, ...kept }: KeptIncident, nowMs: number): void {
    if (!this.#limits.shares.take(first.tenant)) return;
    const { membersMax } = this.#limits;
    this.#add({
      ...begun(first, nowMs),
      ...kept,
      members: new Set(members.slice(0, membersMax)),
      services: new Set(services.slice(0, membersMax)),
      isRestored: true,
    });
  }

  /** The incident that an anomaly is a member of. */
  of(tenant: string, anomalyId: string): RunningIncident | undefined {
    for (const incident of this.#byTenant.get(tenant) ?? []) if (incident.members.has(anomalyId)) return incident;
    return undefined;
  }

  has(incident: RunningIncident): boolean {
    return this.#byTenant.get(incident.first.tenant)?.has(incident) === true;
  }

  /** When the next look is due. */
  get dueMs(): number {
    let dueMs = Number.POSITIVE_INFINITY;
    for (const incidents of this.#byTenant.values()) for (const incident of incidents) dueMs = Math.min(dueMs, incident.dueMs);
    return dueMs;
  }

  /** The next to look at: of the tenant whose last turn is longest ago, the one that is due the longest. */
  next(nowMs: number): RunningIncident | undefined {
    let best: RunningIncident | undefined;
    for (const [tenant, incidents] of this.#byTenant) {
      for (const incident of incidents) {
        if (incident.dueMs > nowMs) continue;
        const [turn, bestTurn] = [this.#turns.get(tenant) ?? 0, best === undefined ? 0 : (this.#turns.get(best.first.tenant) ?? 0)];
        if (best === undefined || turn < bestTurn || (turn === bestTurn && incident.dueMs < best.dueMs)) best = incident;
      }
    }
    if (best !== undefined) this.#turns.set(best.first.tenant, ++this.#turn);
    return best;
  }

  /** Schedules what follows a look: the incident's removal, its last look, or the next one. `isOver`: all its anomalies have ended. */
  looked(incident: RunningIncident, isOver: boolean, nowMs: number): void {
    if (incident.ends) {
      this.#remove(incident);
      return;
    }
    const age = nowMs - incident.openedAtMs;
    if (isOver || age >= LASTS_MS_MAX) {
      incident.ends = true;
      incident.dueMs = nowMs;
      return;
    }
    const next = REVISIONS_MS.find((after) => after > age);
    const soonestMs = nowMs + (incident.hasJoined ? JOINED_LOOK_MS : END_LOOK_MS);
    incident.dueMs = next === undefined ? soonestMs : Math.min(incident.openedAtMs + next, soonestMs);
  }

  /** Whether a look that is due now makes a revision: the first, after one minute, after five, and the last. */
  isRevision(incident: RunningIncident, nowMs: number): boolean {
    if (incident.revision === 0 || incident.ends) return true;
    const after = REVISIONS_MS[incident.revision - 1];
    return after !== undefined && nowMs >= incident.openedAtMs + after;
  }

  #joined({ tenant, environment, serviceId, startedAtMs }: IncidentAnomaly, nowMs: number): RunningIncident | undefined {
    for (const incident of this.#byTenant.get(tenant) ?? []) {
      if (incident.ends || incident.first.environment !== environment) continue;
      if (Math.min(nowMs, startedAtMs) - incident.lastJoinedMs > JOIN_MS || incident.onsetMs - startedAtMs > JOIN_MS) continue;
      const { graph, services } = incident;
      if (graph === null || services.has(serviceId) || graph.joined.has(serviceId) || !graph.known.has(serviceId)) return incident;
    }
    return undefined;
  }

  #join(incident: RunningIncident, { id, serviceId, startedAtMs }: IncidentAnomaly, nowMs: number): void {
    if (incident.members.has(id)) return;
    incident.memberCount++;
    incident.lastJoinedMs = nowMs;
    incident.onsetMs = Math.min(incident.onsetMs, startedAtMs);
    if (incident.services.size < this.#limits.membersMax) incident.services.add(serviceId);
    if (incident.members.size < this.#limits.membersMax) incident.members.add(id);
    else if (incident.joinedCount < this.#limits.joinedMax) {
      incident.joined.push(id);
      incident.joinedCount++;
    } else return;
    if (incident.revision === 0) return;
    incident.hasJoined = true;
    incident.dueMs = Math.min(incident.dueMs, nowMs + JOINED_LOOK_MS);
  }

  #add(incident: RunningIncident): RunningIncident {
    const { tenant } = incident.first;
    const ofTenant = this.#byTenant.get(tenant) ?? new Set();
    ofTenant.add(incident);
    this.#byTenant.set(tenant, ofTenant);
    this.#size++;
    return incident;
  }

  #newest(tenant: string, environment: string): RunningIncident | undefined {
    const ofTenant = [...(this.#byTenant.get(tenant) ?? [])];
    return ofTenant.findLast(({ ends, first }) => !ends && first.environment === environment);
  }

  #remove(incident: RunningIncident): void {
    const ofTenant = this.#byTenant.get(incident.first.tenant);
    if (ofTenant?.delete(incident) !== true) return;
    this.#size--;
    this.#limits.shares.give(incident.first.tenant);
    if (ofTenant.size > 0) return;
    this.#byTenant.delete(incident.first.tenant);
    this.#turns.delete(incident.first.tenant);
  }
}

function begun(first: IncidentAnomaly, nowMs: number): RunningIncident {
  return {
    first,
    onsetMs: first.startedAtMs,
    openedAtMs: nowMs,
    lastJoinedMs: nowMs,
    members: new Set([first.id]),
    joined: [],
    joinedCount: 0,
    memberCount: 1,
    services: new Set([first.serviceId]),
    graph: null,
    revision: 0,
    dueMs: nowMs,
    ends: false,
    hasJoined: false,
    isRestored: false,
  };
}
