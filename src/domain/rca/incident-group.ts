// Which anomalies are one incident (incident-joins.ts says by which evidence), and when each incident is looked at: at once, after one and five minutes, since
// most symptoms follow the first alert, each minute of these five while its report names no cause, a minute after it has grown by a service, and at its end. The first look
// learns the calls: incidents that they join are one.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import {
  addAllTraits,
  addTraits,
  areOne,
  type IncidentAnomaly,
  type IncidentTraits,
  isEvident,
  isOfOnset,
  isOfTime,
  ofOneJump,
  traitsOf,
} from "./incident-joins.ts";
import { WaitingAnomalies } from "./waiting-anomalies.ts";

/** An incident that is being looked at. */
export interface RunningIncident extends IncidentTraits {
  /** The anomaly that began it; its id is the incident's. */
  readonly first: IncidentAnomaly;
  onsetMs: number;
  readonly openedAtMs: number;
  /** Ids of its anomalies up to the bound. */
  readonly members: Set<string>;
  /** Ids of those beyond it that are not stored yet, and how many were stored or wait; more are only counted. */
  readonly joined: string[];
  joinedCount: number;
  memberCount: number;
  revision: number;
  /** End of the evidence of that revision. */
  revisedAtMs: number;
  /** A service has joined since. */
  hasGrown: boolean;
  dueMs: number;
  ends: boolean;
  /** Anomalies have joined that its stored report does not name yet. */
  hasJoined: boolean;
  /** It was looked at before a restart: what was known of it then is in its report alone. */
  readonly isRestored: boolean;
}

/** State of an incident that is not over, by its stored report. */
export interface RetainedIncident {
  readonly first: IncidentAnomaly;
  readonly onsetMs: number;
  readonly openedAtMs: number;
  readonly revisedAtMs: number;
  readonly members: readonly string[];
  readonly memberCount: number;
  /** Number of those beyond the bound that are stored. */
  readonly joinedCount: number;
  readonly services: readonly string[];
  readonly revision: number;
  readonly cause: IncidentTraits["cause"];
}

/** After the first look; then only its end is waited for. */
const REVISIONS_MS = [60_000, 300_000];
/** While there is no cause it is looked for each minute, so long. */
const UNCLEAR_REVISION_MS = 60_000;
/** An incident that grows is revised no sooner after its last revision. */
const GROWN_REVISION_MS = 60_000;
const END_CHECK_MS = 30_000;
/** Anomalies that join a report that is stored are named there so soon; one commit for all that come in that time. */
const JOINED_CHECK_MS = 1_000;
/** An alert of somebody else may have begun long ago: what is looked at begins no longer before its coming. */
const ONSET_AGE_MS_MAX = 15 * 60_000;
/** An incident that nobody ends is not looked at any longer. */
const LASTS_MS_MAX = 3_600_000;

export interface IncidentLimits {
  readonly membersMax: number;
  readonly joinedMax: number;
  /** Incidents of a tenant that wait for their first look; what evidence joins with none waits beyond them. */
  readonly pendingMax: number;
  /** Anomalies of a tenant that wait for room to begin an incident. */
  readonly waitingMax: number;
  /** Who has how many of the incidents. */
  readonly shares: Pick<ShareLedger, "take" | "give">;
}

/** The incidents of all tenants. */
export class RunningIncidents {
  readonly #limits: IncidentLimits;
  readonly #waiting: WaitingAnomalies;
  readonly #byTenant = new Map<string, Set<RunningIncident>>();
  /** When a tenant last had its turn. */
  readonly #selectedAt = new Map<string, number>();
  #selections = 0;
  #size = 0;
  #dropped = 0;
  /** The incident that was given out last, until it has been looked at. */
  #lookedAt: RunningIncident | undefined;

  constructor(limits: IncidentLimits) {
    this.#limits = limits;
    this.#waiting = new WaitingAnomalies(limits.waitingMax, ONSET_AGE_MS_MAX);
  }

  get size(): number {
    return this.#size;
  }

  /**
   * Takes an anomaly in: the incident that evidence joins it with, or that it begins. Where a tenant has its share of incidents it is undefined: the anomaly waits for
   * room, and joins nothing by its time.
   */
  take(input: IncidentAnomaly, nowMs: number): { readonly incident: RunningIncident; readonly isNew: boolean } | undefined {
    const anomaly = { ...input, startedAtMs: Math.max(input.startedAtMs, nowMs - ONSET_AGE_MS_MAX) };
    const taken = this.#takeNow(anomaly, nowMs);
    if (taken === undefined && !this.#waiting.add(anomaly, nowMs)) this.#dropped++;
    return taken;
  }

  /** Takes in what waits, as far as there is room by now. To be called behind a look. */
  takeWaiting(nowMs: number): void {
    this.#dropped += this.#waiting.handOver((anomaly) => this.#takeNow(anomaly, nowMs) !== undefined, nowMs);
  }

  /** Number of anomalies that have no analysis: they found no room in time, nor any to wait for it. */
  get dropped(): number {
    return this.#dropped;
  }

  #takeNow(anomaly: IncidentAnomaly, nowMs: number): { readonly incident: RunningIncident; readonly isNew: boolean } | undefined {
    const { tenant } = anomaly;
    const known = this.#joined(anomaly) ?? this.#jumped(anomaly, nowMs);
    if (known !== undefined) {
      this.#join(known, anomaly, nowMs);
      return { incident: known, isNew: false };
    }
    const hasCapacity = this.#pendingCount(tenant) < this.#limits.pendingMax && this.#limits.shares.take(tenant);
    return hasCapacity ? { incident: this.#add(begun(anomaly, nowMs)), isNew: true } : undefined;
  }

  /** Goes on with an incident after a restart; not where there is no room. */
  restore({ first, members, services, ...stored }: RetainedIncident, nowMs: number): void {
    if (!this.#limits.shares.take(first.tenant)) return;
    const { membersMax } = this.#limits;
    this.#add({
      ...begun(first, nowMs),
      ...stored,
      members: new Set(members.slice(0, membersMax)),
      services: new Set(services.slice(0, membersMax)),
      isRestored: true,
    });
  }

  /**
   * Takes in what a look has learned of calls: incidents that evidence joins with this one become one, and what has a report already goes on. Returns the incident
   * that goes on: where it is another one, this one is gone.
   */
  settle(incident: RunningIncident, graph: NonNullable<IncidentTraits["graph"]>, nowMs: number): RunningIncident {
    incident.graph = graph;
    const others = this.#near(incident).filter((other) => isOfOnset(other.onsetMs, incident.onsetMs) && areOne(incident, other));
    return this.#unite(incident, others, nowMs);
  }

  /** The same for what an analysis has learned: a cause that explains both makes them one, and not one that is named for either because it began at the same time. */
  explained(incident: RunningIncident, cause: IncidentTraits["cause"], nowMs: number): RunningIncident {
    incident.cause = cause;
    const isOne = (other: RunningIncident) => other.cause?.serviceId === cause?.serviceId && explainsOwn(other);
    return this.#unite(incident, explainsOwn(incident) ? this.#near(incident).filter(isOne) : [], nowMs);
  }

  /** A revision of its report is stored. */
  revised(incident: RunningIncident, revision: number, nowMs: number): void {
    incident.revision = revision;
    incident.revisedAtMs = nowMs;
    incident.hasGrown = false;
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
        const [selectedAt, bestSelectedAt] = [
          this.#selectedAt.get(tenant) ?? 0,
          best === undefined ? 0 : (this.#selectedAt.get(best.first.tenant) ?? 0),
        ];
        if (best === undefined || selectedAt < bestSelectedAt || (selectedAt === bestSelectedAt && incident.dueMs < best.dueMs))
          best = incident;
      }
    }
    if (best !== undefined) this.#selectedAt.set(best.first.tenant, ++this.#selections);
    this.#lookedAt = best;
    return best;
  }

  /** Schedules what follows a look: the incident's removal, its last look, or the next one. `isOver`: all its anomalies have ended. */
  inspected(incident: RunningIncident, isOver: boolean, nowMs: number): void {
    this.#lookedAt = undefined;
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
    const unclearMs = next !== undefined && incident.cause === null ? incident.revisedAtMs + UNCLEAR_REVISION_MS : Number.POSITIVE_INFINITY;
    const soonestMs = nowMs + (incident.hasJoined ? JOINED_CHECK_MS : END_CHECK_MS);
    incident.dueMs = next === undefined ? soonestMs : Math.min(incident.openedAtMs + next, soonestMs, unclearMs);
  }

  /** Whether a look that is due now makes a revision: the first, after one minute, after five, a minute after it has grown or found no cause, and the last. */
  isRevision({ revision, ends, openedAtMs, revisedAtMs, hasGrown, cause }: RunningIncident, nowMs: number): boolean {
    if (revision === 0 || ends || (hasGrown && nowMs - revisedAtMs >= GROWN_REVISION_MS)) return true;
    const isUnclear = cause === null && nowMs - openedAtMs < REVISIONS_MS.at(-1)!;
    if (isUnclear && nowMs - revisedAtMs >= UNCLEAR_REVISION_MS) return true;
    return REVISIONS_MS.some((after) => revisedAtMs < openedAtMs + after && nowMs >= openedAtMs + after);
  }

  #joined(anomaly: IncidentAnomaly): RunningIncident | undefined {
    for (const incident of this.#byTenant.get(anomaly.tenant) ?? []) {
      if (incident.ends || incident.first.environment !== anomaly.environment) continue;
      if (isEvident(incident, incident.onsetMs, anomaly)) return incident;
    }
    return undefined;
  }

  /** Incidents that the anomaly makes one with it, as one metric has jumped on all of their services. */
  #jumped(anomaly: IncidentAnomaly, nowMs: number): RunningIncident | undefined {
    const near = [...(this.#byTenant.get(anomaly.tenant) ?? [])].filter(
      ({ ends, first, onsetMs }) => !ends && first.environment === anomaly.environment && isOfOnset(onsetMs, anomaly.startedAtMs),
    );
    const having = ofOneJump(near, anomaly);
    // One whose first report is being made stays by itself.
    const [first = having[0], ...others] = having.filter((one) => one !== this.#lookedAt || one.revision > 0);
    return first === undefined ? undefined : this.#unite(first, others, nowMs);
  }

  /** Others of its environment that began at about the same time. */
  #near({ first, onsetMs }: RunningIncident): RunningIncident[] {
    const { tenant, environment } = first;
    return [...(this.#byTenant.get(tenant) ?? [])].filter(
      (other) => other.first !== first && !other.ends && other.first.environment === environment && isOfTime(other.onsetMs, onsetMs),
    );
  }

  /** What has no report yet closes into what has one, or into this one. */
  #unite(incident: RunningIncident, others: readonly RunningIncident[], nowMs: number): RunningIncident {
    const reported = incident.revision === 0 ? others.find(({ revision }) => revision > 0) : undefined;
    const into = reported ?? incident;
    for (const other of [incident, ...others]) if (other !== into && other.revision === 0) this.#absorb(into, other, nowMs);
    return into;
  }

  #absorb(into: RunningIncident, other: RunningIncident, nowMs: number): void {
    this.#remove(other);
    into.onsetMs = Math.min(into.onsetMs, other.onsetMs);
    into.hasGrown ||= into.revision > 0 && [...other.services].some((serviceId) => !into.services.has(serviceId));
    addAllTraits(into, other, this.#limits.membersMax);
    for (const id of [...other.members, ...other.joined]) this.#count(into, id, nowMs);
    into.memberCount += other.memberCount - other.members.size - other.joined.length;
  }

  #join(incident: RunningIncident, anomaly: IncidentAnomaly, nowMs: number): void {
    if (incident.members.has(anomaly.id)) return;
    incident.onsetMs = Math.min(incident.onsetMs, anomaly.startedAtMs);
    const isNew = addTraits(incident, anomaly, this.#limits.membersMax);
    incident.hasGrown ||= isNew && incident.revision > 0;
    this.#count(incident, anomaly.id, nowMs);
  }

  #count(incident: RunningIncident, id: string, nowMs: number): void {
    incident.memberCount++;
    if (incident.members.size < this.#limits.membersMax) incident.members.add(id);
    else if (incident.joinedCount < this.#limits.joinedMax) {
      incident.joined.push(id);
      incident.joinedCount++;
    } else return;
    if (incident.revision === 0) return;
    incident.hasJoined = true;
    incident.dueMs = Math.min(incident.dueMs, nowMs + JOINED_CHECK_MS);
  }

  #pendingCount(tenant: string): number {
    let count = 0;
    for (const { revision } of this.#byTenant.get(tenant) ?? []) if (revision === 0) count++;
    return count;
  }

  #add(incident: RunningIncident): RunningIncident {
    const { tenant } = incident.first;
    const ofTenant = this.#byTenant.get(tenant) ?? new Set();
    ofTenant.add(incident);
    this.#byTenant.set(tenant, ofTenant);
    this.#size++;
    return incident;
  }

  #remove(incident: RunningIncident): void {
    const ofTenant = this.#byTenant.get(incident.first.tenant);
    if (ofTenant?.delete(incident) !== true) return;
    this.#size--;
    this.#limits.shares.give(incident.first.tenant);
    if (ofTenant.size > 0) return;
    this.#byTenant.delete(incident.first.tenant);
    this.#selectedAt.delete(incident.first.tenant);
  }
}

/** Whether the cause of an incident is one of its services, or reaches one. */
function explainsOwn({ cause, services }: RunningIncident): boolean {
  return cause !== null && [...services].some((serviceId) => cause.explained.has(serviceId));
}

function begun(first: IncidentAnomaly, nowMs: number): RunningIncident {
  return {
    first,
    onsetMs: first.startedAtMs,
    openedAtMs: nowMs,
    ...traitsOf(first),
    members: new Set([first.id]),
    joined: [],
    joinedCount: 0,
    memberCount: 1,
    revision: 0,
    revisedAtMs: Number.NEGATIVE_INFINITY,
    hasGrown: false,
    dueMs: nowMs,
    ends: false,
    hasJoined: false,
    isRestored: false,
  };
}
