/**
 * Looks at each incident when it is due: asks the engines for evidence, analyses it, stores the revision. One look after another, beside the steps of the
 * coordinator; what the store does not take, or an engine does not answer, is tried again with the next look. Sketch: 200 services of 40 series take the
 * engines 25 to 40 ms in slices of 0.2 ms, 10 where they are minutes old, and this thread 5 to 9 ms.
 *
 * A ring forgets: the evidence of a series that no longer has enough before the onset is that of the look before, and a departure that was larger stays.
 * After a restart the looks before are gone: what a stored report says stays, unless what is seen now says more.
 *
 * What a restart interrupts: reports that are not final, anomalies that triggered analysis and are in no report, and the cooldown of pairs. The cooldown is in force
 * again with the start; the others wait until the server serves (interrupted-analyses.ts).
 */
import { type KeyValueStore, StoreError } from "../../adapters/storage/key-value-store.ts";
import {
  INCIDENT_MEMBERS_PER_INCIDENT_MAX,
  JOINED_MEMBERS_PER_COMMIT_MAX,
  JOINED_MEMBERS_PER_INCIDENT_MAX,
  PENDING_INCIDENTS_PER_TENANT_MAX,
  WAITING_ANOMALIES_PER_TENANT_MAX,
} from "../../core/config/analysis-limits.ts";
import { RCA_PAIRS_MAX } from "../../core/config/limits.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { background, task } from "../../core/faults/guard.ts";
import { scopeText } from "../../domain/alerting/paging/service-scope.ts";
import type { Anomaly } from "../../domain/anomaly/anomaly.ts";
import { type Analysis, analyse } from "../../domain/rca/analysis.ts";
import { withEarlier } from "../../domain/rca/earlier-evidence.ts";
import type { IncidentEvidence, SeriesEvidence } from "../../domain/rca/evidence.ts";
import { type RetainedIncident, type RunningIncident, RunningIncidents } from "../../domain/rca/incident-group.ts";
import { joinedWith } from "../../domain/topology/reach.ts";
import type { AlertBooks } from "../alerts/alerts-context.ts";
import type { AnomalyBooks } from "../anomalies/anomalies-context.ts";
import type { AnomalyKey } from "../anomalies/anomaly-book.ts";
import { EngineUnavailableError } from "../engines/engine-client.ts";
import type { CoordinatorCounters } from "../state/coordinator-counters.ts";
import type { StateWith } from "../state/stored-state.ts";
import type { AnalysisBooks } from "./analysis-context.ts";
import type { EvidenceGathering } from "./evidence-gathering.ts";
import { InterruptedAnalyses } from "./interrupted-analyses.ts";
import { explainedBy, packSignature, type RcaReport, reportIdOf } from "./report-row.ts";
import type { ThreadTime } from "./thread-time.ts";

/** An anomaly that was missed so long ago is looked at no more: nothing of its beginning is left in memory. */
const MISSED_MS = 15 * 60_000;

/** Cooldowns are remembered as far back. */
const COOLDOWN_READ_MS = 3_600_000;

/** Time of a step in which it goes on with what was interrupted. */
const RESUME_MS = 2;
/** The same where as many wait as may: more than a commit brings is taken up in it. */
const RESUME_FULL_MS = 10;

const TOP = 3;
const RETRY_MS = 5_000;

export interface AnalysisRunnerDependencies {
  readonly state: StateWith<AnalysisBooks & AnomalyBooks & AlertBooks>;
  readonly control: KeyValueStore;
  readonly gathering: EvidenceGathering;
  readonly counters: CoordinatorCounters;
  readonly shares: ShareLedger;
  readonly time: ThreadTime;
  nowMs(): number;
  monotonicMs(): number;
  yieldToLoop(): Promise<void>;
  /** Gives work its turn between transactions. */
  edit<T>(work: () => Promise<T>): Promise<T>;
  /** Has whoever steps do so. */
  wake?(): void;
  /** A revision of a report is stored, or names more anomalies. */
  reportStored?(report: RcaReport): void;
}

/** Facts of the analysis that the status tells. */
export interface AnalysisFacts {
  readonly state: "ok" | "behind";
  readonly incidents: number;
}

/** State of one incident between looks. */
interface Inspected {
  series: readonly SeriesEvidence[];
  report: RcaReport | undefined;
}

/** From when on a look is late. */
const LATE_MS = 30_000;

export class AnalysisRunner {
  readonly #dependencies: AnalysisRunnerDependencies;
  readonly #incidents: RunningIncidents;
  readonly #inspected = new Map<RunningIncident, Inspected>();
  /** What waits to be taken up again, and behind it what is stored meanwhile. */
  readonly #interrupted = new InterruptedAnalyses();
  #running = false;

  constructor(dependencies: AnalysisRunnerDependencies) {
    this.#dependencies = dependencies;
    this.#incidents = new RunningIncidents({
      membersMax: INCIDENT_MEMBERS_PER_INCIDENT_MAX,
      joinedMax: JOINED_MEMBERS_PER_INCIDENT_MAX,
      pendingMax: PENDING_INCIDENTS_PER_TENANT_MAX,
      waitingMax: WAITING_ANOMALIES_PER_TENANT_MAX,
      shares: dependencies.shares,
    });
  }

  /** Notes what a restart has interrupted; the first steps go on with it. */
  start(): void {
    const { state, counters, nowMs } = this.#dependencies;
    this.#interrupted.add(state.analyses.reports.takeRunning(), missedAnomalies(state, nowMs()));
    counters.set("rcaInterrupted", this.#interrupted.size);
  }

  /** Anomalies that have been stored and trigger analysis; the round that has stored them steps the runner behind it. */
  take(anomalies: readonly Anomaly[]): void {
    if (anomalies.length === 0) return;
    const { counters, time } = this.#dependencies;
    counters.add("rcaTriggered", anomalies.length);
    if (this.#interrupted.size > 0) {
      this.#interrupted.add([], anomalies);
      counters.set("rcaInterrupted", this.#interrupted.size);
      if (this.#interrupted.isFull) this.#resume(this.#dependencies.monotonicMs() + RESUME_FULL_MS);
    } else
      time.spend(() => {
        for (const anomaly of anomalies) this.#take(anomaly);
      });
    counters.set("rcaIncidents", this.#incidents.size);
  }

  #take(anomaly: Anomaly): void {
    const { counters, nowMs } = this.#dependencies;
    const taken = this.#incidents.take(anomaly, nowMs());
    if (taken?.isNew === false) counters.add("rcaJoined", 1);
    counters.set("rcaRefused", this.#incidents.dropped);
  }

  /** Goes on with what a restart has interrupted, until a monotonic time. */
  #resume(untilMs: number): void {
    const { counters, time, monotonicMs } = this.#dependencies;
    time.spend(() =>
      this.#interrupted.takeUp(
        { report: (report) => this.#restore(report), anomaly: (key) => this.#takeStored(key) },
        () => monotonicMs() < untilMs,
      ),
    );
    counters.set("rcaInterrupted", this.#interrupted.size);
    counters.set("rcaIncidents", this.#incidents.size);
  }

  #restore(report: RcaReport): void {
    const { state, nowMs } = this.#dependencies;
    this.#incidents.restore(retainedIncident(report, state), nowMs());
    const incident = this.#incidents.of(report.tenant, report.anomalyId);
    if (incident !== undefined) this.#inspected.set(incident, { series: [], report });
  }

  /** Not one that has gone meanwhile. */
  #takeStored(key: AnomalyKey): void {
    const anomaly = this.#dependencies.state.anomalies.read(key);
    if (anomaly !== undefined) this.#take(anomaly);
  }

  facts(): AnalysisFacts {
    const lateMs = this.#dependencies.nowMs() - this.#incidents.dueMs;
    const isBehind = lateMs > LATE_MS || this.#interrupted.size > 0;
    return { state: isBehind ? "behind" : "ok", incidents: this.#incidents.size };
  }

  /** Begins a look when one is due; the monotonic time at which to call again. */
  step(): number {
    const { nowMs, monotonicMs } = this.#dependencies;
    if (this.#interrupted.size > 0) this.#resume(monotonicMs() + RESUME_MS);
    if (this.#interrupted.size > 0) return monotonicMs();
    const inMs = this.#incidents.dueMs - nowMs();
    if (inMs > 0 || this.#running) return this.#running ? Number.POSITIVE_INFINITY : monotonicMs() + inMs;
    const incident = this.#incidents.next(nowMs());
    if (incident === undefined) return Number.POSITIVE_INFINITY;
    this.#running = true;
    background(task("the analyses of incidents"), this.#analyze(incident));
    return Number.POSITIVE_INFINITY;
  }

  async #analyze(incident: RunningIncident): Promise<void> {
    const { counters, nowMs, monotonicMs, wake } = this.#dependencies;
    const startMs = monotonicMs();
    try {
      if (this.#incidents.isRevision(incident, nowMs())) await this.#revise(incident);
      else if (incident.hasJoined) await this.#nameJoined(incident);
      this.#incidents.inspected(incident, this.#isOver(incident), nowMs());
    } catch (error) {
      if (!(error instanceof EngineUnavailableError || error instanceof StoreError)) throw error;
      counters.add("rcaFailures", 1);
      incident.dueMs = nowMs() + RETRY_MS;
    } finally {
      this.#running = false;
      if (!this.#incidents.has(incident)) this.#inspected.delete(incident);
      this.#incidents.takeWaiting(nowMs());
      counters.set("rcaRefused", this.#incidents.dropped);
      counters.add("rcaSeconds", (monotonicMs() - startMs) / 1000);
      counters.set("rcaIncidents", this.#incidents.size);
      wake?.();
    }
  }

  #isOver({ first, members }: RunningIncident): boolean {
    const { anomalies } = this.#dependencies.state;
    return [...members].every((id) => {
      const anomaly = anomalies.find(first.tenant, id);
      return anomaly === undefined || anomaly.resolvedAtMs !== null;
    });
  }

  async #revise(incident: RunningIncident): Promise<void> {
    const { gathering, counters, time, nowMs, yieldToLoop } = this.#dependencies;
    const { first, onsetMs, services } = incident;
    const untilMs = nowMs();
    const { tenant, environment } = first;
    const target = { serviceId: first.serviceId, metricName: first.metricName };
    const fresh = await gathering.gather({ tenant, environment, onsetMs, untilMs, target, services });
    await yieldToLoop();
    // What calls join with an incident that has a report, and what its cause explains, is named there.
    if (this.#incidents.settle(incident, { joined: joinedWith(fresh.edges, services) }, untilMs) !== incident) return;
    const inspected = this.#inspected.get(incident) ?? { series: [], report: undefined };
    this.#inspected.set(incident, inspected);
    // What is over by now, as most of a replay and of a storm is before its turn comes, needs no second look to say so.
    const isOver = !incident.ends && this.#isOver(incident);
    incident.ends ||= isOver;
    const made = time.spend(() => {
      inspected.series = withEarlier(inspected.series, fresh.series);
      const evidence = { ...fresh, series: inspected.series };
      return this.#reportOf(incident, inspected.report, analyse(evidence), evidence);
    });
    if (this.#incidents.explained(incident, explainedBy(made.analysis), untilMs) !== incident) return;
    // Its cause may have joined others with it that go on.
    if (isOver) incident.ends = this.#isOver(incident);
    const report = { ...made, isFinal: incident.ends };
    await this.#store(incident, inspected, report);
    this.#incidents.revised(incident, report.revision, untilMs);
    counters.add("rcaRevisions", 1);
    if (!report.analysis.enough) counters.add("rcaNotEnough", 1);
  }

  /** Anomalies have joined between two revisions: the report names them. */
  async #nameJoined(incident: RunningIncident): Promise<void> {
    const inspected = this.#inspected.get(incident);
    if (inspected?.report === undefined) return;
    const { members, memberCount } = incident;
    await this.#store(incident, inspected, { ...inspected.report, anomalies: [...members].sort(), anomalyCount: memberCount });
  }

  async #store(incident: RunningIncident, inspected: Inspected, report: RcaReport): Promise<void> {
    const { edit, control, state, counters, reportStored } = this.#dependencies;
    const { reports, memory } = state.analyses;
    const { tenant, anomalyId } = report;
    const joined = incident.joined.slice(0, JOINED_MEMBERS_PER_COMMIT_MAX);
    await edit(async () => {
      const remembered = rememberedOf(report, memory.find(tenant, anomalyId)?.resolution ?? null);
      await control.commit([...reports.operations(report, joined), ...memory.operations(remembered)]);
      reports.put(report, joined);
      memory.put(remembered);
    });
    inspected.report = report;
    incident.joined.splice(0, joined.length);
    incident.hasJoined = incident.members.size > report.anomalies.length || incident.joined.length > 0;
    counters.set("rcaReports", reports.size);
    reportStored?.(report);
  }

  #reportOf(incident: RunningIncident, before: RcaReport | undefined, analysis: Analysis, { untilMs }: IncidentEvidence): RcaReport {
    const { first, members, memberCount, onsetMs, openedAtMs, ends } = incident;
    const isRetained = incident.isRestored && before !== undefined && saysMore(before.analysis, analysis);
    const { signature, ...fresh } = analysis;
    const said = isRetained ? before.analysis : fresh;
    const evidenceUntilMs = isRetained ? before.evidenceUntilMs : untilMs;
    const revision = (before?.revision ?? 0) + 1;
    const top = said.candidates.slice(0, TOP).map(({ serviceId }) => serviceId);
    const note = { revision, evidenceUntilMs, top, confidence: said.confidence, enough: said.enough };
    return {
      id: reportIdOf(first.tenant, first.id),
      tenant: first.tenant,
      environment: first.environment,
      anomalyId: first.id,
      serviceId: first.serviceId,
      metricName: first.metricName,
      anomalies: [...members].sort(),
      anomalyCount: memberCount,
      createdAtMs: openedAtMs,
      onsetMs,
      evidenceUntilMs,
      revision,
      isFinal: ends,
      analysis: said,
      revisions: [...(before?.revisions ?? []), note],
      signature: isRetained ? before.signature : packSignature(signature),
    };
  }
}

/** Whether a report names a cause that more speaks for than for what is seen now. */
function saysMore(before: RcaReport["analysis"], now: Analysis): boolean {
  if (!before.enough) return false;
  return !now.enough || (before.candidates[0]?.score ?? 0) > (now.candidates[0]?.score ?? 0);
}

function rememberedOf(report: RcaReport, resolution: ReturnType<AnalysisBooks["analyses"]["memory"]["all"]>[number]["resolution"]) {
  const { tenant, environment, anomalyId: incidentId, id: reportId, createdAtMs: atMs, analysis, signature } = report;
  const [first] = analysis.candidates;
  const affected = analysis.impact.map(({ serviceId }) => serviceId);
  const serviceId = first?.serviceId ?? report.serviceId;
  const { category, enough } = analysis;
  return { tenant, environment, incidentId, reportId, serviceId, category, atMs, enough, affected, signature, resolution };
}

/** Incident that goes on, made of its report that is not final. */
function retainedIncident(report: RcaReport, { anomalies, analyses }: AnomalyBooks & AnalysisBooks): RetainedIncident {
  const { tenant, environment, anomalyId: id, serviceId, metricName, onsetMs, createdAtMs: openedAtMs, revision } = report;
  const members = report.anomalies.flatMap((member) => anomalies.find(tenant, member) ?? []);
  return {
    first: { id, tenant, environment, serviceId, metricName, startedAtMs: onsetMs },
    onsetMs,
    openedAtMs,
    revisedAtMs: report.evidenceUntilMs,
    members: report.anomalies,
    memberCount: report.anomalyCount,
    joinedCount: analyses.reports.joinedCount(tenant, report.id),
    services: [...new Set([serviceId, ...members.map((member) => member.serviceId)])],
    revision,
    cause: explainedBy(report.analysis),
  };
}

/** Restores the cooldown of pairs; anomalies that triggered analysis not long ago and that no report names, the oldest first. */
function missedAnomalies({ anomalies, alerts, analyses }: AnomalyBooks & AlertBooks & AnalysisBooks, nowMs: number): AnomalyKey[] {
  const missed: AnomalyKey[] = [];
  for (const tenant of anomalies.tenants) {
    const recent = anomalies.index(tenant).page({ sinceMs: nowMs - COOLDOWN_READ_MS }, undefined, RCA_PAIRS_MAX);
    for (const { id, environment, serviceId, metricName, detectedAtMs, triggersAnalysis } of recent.reverse()) {
      if (!triggersAnalysis) continue;
      alerts.memory.rcaIsDue(scopeText({ tenant, environment, serviceId }), metricName, detectedAtMs);
      if (nowMs - detectedAtMs <= MISSED_MS && !analyses.reports.has(tenant, id)) missed.push({ tenant, id, detectedAtMs });
    }
  }
  return missed;
}
