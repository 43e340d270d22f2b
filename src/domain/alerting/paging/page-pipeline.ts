/**
 * The way from an anomaly to a page: gates in one order, then one alert per incident. Pure but for the memory that it is given; deterministic, and some microseconds
 * a finding, so that a backtest runs weeks of history through it.
 *
 *   finding   manual override | exclusion, direction, warm-up, threshold or feedback, minimum traffic     held back: no alert
 *   tier      the band of its score and its severity, each raised by the ensemble                         mild by its score: logged, no alert
 *   alert     confirmation, inhibition, silence, dedup, flapping, acknowledgement                                       the alert fires, and nobody is told
 *
 * The alert of a finding on a member of a firing cascade is the cascade's.
 */

import { DRILL_SERVICE } from "../../../core/protocol/own-telemetry.ts";
import { MINUTE_MS } from "../../../core/time/durations.ts";
import type { AcceptedLevel, Ending, EndReason } from "../../anomaly/ending.ts";
import type { PageOutcome } from "../../anomaly/page-outcome.ts";
import { anomalyScore, type Tier, tierOfScore } from "../../detection/anomaly-score.ts";
import { above, atLeast, firstFailed, type GateResult, holds } from "../../detection/gates/gate-result.ts";
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import type { WatchdogSettings } from "../../detection/watchdog-settings.ts";
import { applyFire, type FireEffect, resolveAlert } from "../alert-identity.ts";
import { type EnsembleVerdict, ensembleTier, isCorroborated } from "../ensemble.ts";
import { CALM, FLAPPING_GATE, paged, pauseGate } from "../flap-control.ts";
import type { Hold } from "../hold.ts";
import { holdGates, suppressedSentence } from "../inhibition/hold-gates.ts";
import type { Labels } from "../label-matcher.ts";
import { rcaCooldownGate } from "../rca-cooldown.ts";
import { severityOf } from "../severity.ts";
import { type Alert, type AlertChange, beginOfAlert, isFiring, isOfCascade, peakOf, withChange, withMember } from "./alert.ts";
import { chosenAlert, isOwnProblem, memberUpdate } from "./alert-choice.ts";
import { CONFIRMATION_GATE, confirmationGate, farOutFrom, isConfirmedAlert, needsConfirmation } from "./confirmation-gate.ts";
import { familyOfDetector } from "./detector-family.ts";
import { type Finding, labelsOf } from "./finding.ts";
import { type FindingCase, passesFindingGates } from "./finding-gates.ts";
import { confirmedGroupWait, GROUP_GATE, groupGate } from "./group-wait.ts";
import { SNOOZED_GATE, waitingSentence } from "./hold-text.ts";
import { memberAlerts, mergedAlert, withMembersOf } from "./merged-alerts.ts";
import { type OpenFindings, withOpenPeak } from "./open-peak.ts";
import type { PageDecision } from "./page-decision.ts";
import type { FiredSignal, PagingMemory } from "./paging-memory.ts";
import type { PagingSources } from "./paging-sources.ts";
import { isRelief, RELIEF } from "./relief.ts";
import { alsoOn, scopeText } from "./service-scope.ts";
import { isFarWorse, withNotifiedEffect, worseUpdate } from "./worse-update.ts";

const RANK: Readonly<Record<Tier, number>> = { low: 0, medium: 1, high: 2 };

/** An anomaly that has ended: recovered, resolved by somebody, or dropped. */
export interface AnomalyEnd {
  readonly anomalyId: string;
  readonly alertId: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly detector: string;
  readonly z: number;
  /** Who has resolved it; null where nobody did. */
  readonly by: string | null;
  /** How it ended; where it is absent by a person, or else recovered. */
  readonly reason?: EndReason;
  /** Of one that was accepted. */
  readonly level?: AcceptedLevel | undefined;
  readonly note?: string | null;
  /** Time of the value that showed its end, where one did. */
  readonly endedAtMs?: number | undefined;
  /** The alert ends with it, whatever else is open in it. */
  readonly endsAlert?: boolean;
  readonly atMs: number;
}

export interface FireOutcome {
  readonly decision: PageDecision;
  /** That the alert which the anomaly leaves for a newer one has resolved thereby. */
  readonly ended: PageDecision | undefined;
  /** Those that other alerts have closed into the finding's. */
  readonly merged: readonly PageDecision[];
}

/** With what became of the open findings that it has corroborated. */
export interface EnsembleOutcome extends FireOutcome {
  readonly raised: readonly FireOutcome[];
}

interface AskedCase extends FindingCase {
  readonly openFindings: OpenFindings;
  readonly memory: PagingMemory;
  /** Scope key of the finding's service. */
  readonly scope: string;
  readonly score: number;
  readonly rca: GateResult | null;
}

/** Decides on a finding and on those that it corroborates, the strongest first, and keeps in the memory what follows from it. */
export function decideFire(finding: Finding, sources: PagingSources, memory: PagingMemory, openFindings: OpenFindings): EnsembleOutcome {
  const of = caseOf(finding, sources, memory, openFindings);
  if (!passesFindingGates(of))
    return { decision: decisionOf(of, severityNow(of.finding), "suppressed", null), ended: undefined, merged: [], raised: [] };
  memory.addSignal(of.scope, signalOf(of, false));
  const others = corroborated(of).map((other) => caseOf(other, sources, memory, openFindings));
  const [stronger, weaker] = [
    others.filter((other) => compareStrength(other, of) < 0),
    others.filter((other) => compareStrength(other, of) > 0),
  ];
  const raisedFirst = stronger.flatMap(decideRaised);
  return { ...decideTier(of), raised: [...raisedFirst, ...weaker.flatMap(decideRaised)] };
}

/** Open findings of the service whose tier the ensemble raises only now, the strongest first. */
function corroborated({ finding, memory, scope: key, openFindings }: AskedCase): Finding[] {
  const signals = memory.signals(key);
  const found = signals.flatMap((signal) => {
    const isDue = !signal.isRaised && signal.anomalyId !== finding.anomalyId && isCorroborated(signal, signals);
    const open = isDue ? openFindings(signal.anomalyId) : undefined;
    return open === undefined || severityNow(open) === "high" ? [] : [open];
  });
  return found.sort((a, b) => compareStrength({ finding: a }, { finding: b }));
}

/** Negative where the first is the stronger. */
function compareStrength({ finding: one }: Pick<AskedCase, "finding">, { finding: other }: Pick<AskedCase, "finding">): number {
  return Math.abs(other.z) - Math.abs(one.z) || (one.anomalyId < other.anomalyId ? -1 : 1);
}

/** One that its own gates would not let through any more stays as it was decided. */
function decideRaised(of: AskedCase): FireOutcome[] {
  return passesFindingGates(of) ? [decideTier(of)] : [];
}

function caseOf(input: Finding, sources: PagingSources, memory: PagingMemory, openFindings: OpenFindings): AskedCase {
  const finding = input.alertId === null ? input : { ...input, alertId: memory.current(input.alertId)?.state.id ?? input.alertId };
  const family = familyOfDetector(finding.detector);
  const settings = sources.settingsOf(finding.tenant, finding.serviceId, finding.metricName);
  const key = scopeText(finding);
  const rca = finding.kind === "opened" && finding.serviceId !== DRILL_SERVICE ? rcaGate(finding, key, settings, memory) : null;
  return { finding, family, settings, sources, gates: [], memory, openFindings, scope: key, score: anomalyScore(finding.z), rca };
}

/** Tier of a finding that has passed its own gates. */
function decideTier(of: AskedCase): FireOutcome {
  const { finding, memory } = of;
  const raised = ensembleOf(of);
  const tier = severityWith(of, raised);
  // What is mild by its score alerts nobody (rule 1.1.6); severity says how bad the others are.
  const isAlert = atLeast("tier", RANK[raised(tierOfScore(of.score)).tier], RANK.medium);
  of.gates.push(isAlert);
  if (!isAlert.passed) return { decision: decisionOf(of, tier, "logged", null), ended: undefined, merged: [] };
  if (isRelief(of)) {
    of.gates.push(holds(RELIEF, false));
    return { decision: decisionOf(of, tier, "suppressed", null), ended: undefined, merged: [] };
  }
  const { alert, outcome, hold, others } = fire(of, tier);
  const merged = others.map((other) => {
    memory.keep(mergedAlert(other, alert, finding.atMs));
    return decisionOn(other, { ...other.peak, alertId: other.state.id, by: null, atMs: finding.atMs }, "resolved", []);
  });
  memory.keep(others.reduce(withMembersOf, alert));
  const hasMoved = finding.kind === "raised" && finding.alertId !== null && finding.alertId !== alert.state.id;
  const ended = hasMoved
    ? decideEnd({ ...finding, alertId: finding.alertId, by: null, reason: "ended" }, memory, of.openFindings)
    : undefined;
  return { decision: decisionOf(of, tier, outcome, alert.state.id, hold), ended, merged };
}

/** Takes an anomaly out of its alert; the decision where it was the last that was open. One that was held back keeps why nobody was told. */
export function decideEnd(end: AnomalyEnd, memory: PagingMemory, openFindings: OpenFindings): PageDecision | undefined {
  const alert = memory.current(end.alertId);
  if (alert === undefined) return undefined;
  memory.endSignal(scopeText({ ...alert.state.key, serviceId: end.serviceId }), end.anomalyId);
  const open = end.endsAlert === true ? 0 : Math.max(0, alert.open - 1);
  const reason = end.reason ?? (end.by === null ? "recovered" : "person");
  const ending: Ending = { reason, person: end.by, ...(end.level !== undefined && { level: end.level }) };
  if (open > 0 || !isFiring(alert)) {
    memory.keep({ ...(isFiring(alert) ? withOpenPeak(alert, { ...end, ending }, openFindings, memory) : alert), open });
    return undefined;
  }
  const { tier } = alert.state;
  const change = { atMs: end.atMs, kind: "resolved", tier, by: end.by, note: end.note ?? null } as const;
  // What a person has ended is not to wait for anything any more.
  const snooze = ending.reason === "person" || end.by !== null ? null : alert.snooze;
  const ended = { ...alert, open, snooze, ending, state: resolveAlert(alert.state, end.atMs) };
  memory.keep(withChange({ ...ended, ...(end.endedAtMs !== undefined && { endedAtMs: end.endedAtMs }) }, change));
  return decisionOn(alert, end, "resolved", []);
}

/** Asks again what has held back an alert that still fires: the decision where it pages now, or where something else holds it. To be called once a cycle. */
export function decideAgain(alert: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): PageDecision | undefined {
  if (!isAskedAgain(alert, nowMs)) return undefined;
  // A snooze that is over takes what people said before it along: nobody is at it any more.
  const woken = alert.snooze === null ? alert : { ...alert, snooze: null, acknowledged: null };
  const { key, createdAtMs } = alert.state;
  const asked = holdGates({ tenant: key.tenant, labels: alert.labels, openedAtMs: createdAtMs }, sources, memory, nowMs);
  const gates = [
    ...(alert.heldBy === CONFIRMATION_GATE && sources.confirmation !== false ? [alertConfirmation(alert, sources, memory, nowMs)] : []),
    ...asked.gates,
    pauseGate(alert.state.flap, nowMs),
  ];
  if (alert.heldBy === CONFIRMATION_GATE && alert.snooze === null && firstFailed(gates) === undefined)
    gates.push(...[confirmedGroupWait(alert, memory, sources.groupWaitMs, nowMs) ?? []].flat());
  const failed = firstFailed(gates)?.name;
  const by: AnomalyEnd = { ...alert.peak, alertId: alert.state.id, by: null, atMs: nowMs };
  if (failed === undefined) {
    memory.keep(notified(woken, nowMs));
    return decisionOn(alert, by, "paged", gates);
  }
  if (failed === woken.heldBy && woken === alert) return undefined;
  // What is confirmed once stays so, whatever else holds it back then.
  memory.keep({ ...woken, heldBy: failed, updatedAtMs: nowMs });
  return decisionOn(alert, by, "suppressed", gates, asked.hold);
}

/** Whether it is time to ask again: something else than a snooze holds it, or the snooze is over. */
function isAskedAgain(alert: Alert, nowMs: number): boolean {
  if (!isFiring(alert)) return false;
  return alert.snooze === null ? alert.heldBy !== null : nowMs >= alert.snooze.untilMs;
}

/** Confirmation of a finding: of its service, or of those of a cascade, whose alerts close into its own. */
function findingConfirmation({ finding, sources, memory }: AskedCase, members: readonly Alert[]): GateResult {
  const { services, serviceId, atMs } = finding;
  if (members.some(isConfirmedAlert)) return holds(CONFIRMATION_GATE, true);
  return confirmationOfAny(finding, services.length > 0 ? services : [serviceId], sources, memory, atMs);
}

/** Confirmation of the services whose findings an alert stands for: that of its peak, or all of a cascade's. */
function alertConfirmation({ state, peak, services }: Alert, sources: PagingSources, memory: PagingMemory, nowMs: number): GateResult {
  return confirmationOfAny(state.key, services.length > 0 ? services : [peak.serviceId], sources, memory, nowMs);
}

function confirmationOfAny(
  { tenant, environment }: Pick<Finding, "tenant" | "environment">,
  services: readonly string[],
  { confirmations }: PagingSources,
  memory: PagingMemory,
  nowMs: number,
): GateResult {
  const isConfirmed = services.some((serviceId) => {
    const key = scopeText({ tenant, environment, serviceId });
    return confirmationGate(key, confirmations, memory.signals(key), nowMs).passed;
  });
  return holds(CONFIRMATION_GATE, isConfirmed);
}

/** Analysis is due for every new anomaly outside the cooldown of its pair, whether it pages or not. */
function rcaGate({ metricName, atMs }: Finding, key: string, settings: WatchdogSettings, memory: PagingMemory): GateResult {
  const gate = rcaCooldownGate(memory.rcaDueMs(key, metricName), atMs, settings.rcaCooldownMinutes);
  if (gate.passed) memory.rcaIsDue(key, metricName, atMs);
  return gate;
}

/** What the ensemble makes of a tier. Only what has come this far corroborates others. */
function ensembleOf(of: AskedCase): (tier: Tier) => EnsembleVerdict {
  const { memory, scope: key } = of;
  const [own, others] = [signalOf(of, false), memory.signals(key)];
  return (tier) => ensembleTier(tier, own, others);
}

function severityNow(finding: Finding): Tier {
  return severityOf(finding, finding.atMs);
}

/** A single detector holds nothing back: the gate is reported where it has raised the severity. What was raised once stays so, whatever is remembered by then. */
function severityWith(of: AskedCase, ensemble: (tier: Tier) => EnsembleVerdict): Tier {
  const { finding, memory, scope: key, gates } = of;
  const tier = severityNow(finding);
  const raised = ensemble(tier);
  if (raised.gate.passed) memory.addSignal(key, signalOf(of, true));
  if (raised.tier !== tier) gates.push(raised.gate);
  const { kind, tierBefore } = finding;
  return kind === "raised" && tierBefore !== null && RANK[tierBefore] > RANK[raised.tier] ? tierBefore : raised.tier;
}

/** As the ensemble remembers the finding, from when it fired on: an anomaly that opened again has fired then. */
function signalOf({ finding, family, memory, scope: key }: AskedCase, isRaised: boolean): FiredSignal {
  const { kind, anomalyId, metricName, firedAtMs } = finding;
  const known = kind === "raised" ? memory.signals(key).find((signal) => signal.anomalyId === anomalyId) : undefined;
  const isRaisedNow = isRaised || known?.isRaised === true;
  const [size, farOutFromMs, intervalMs] = [Math.abs(finding.z), farOutFrom(finding, known), finding.effect?.intervalMs ?? 0];
  return { family, metricName, anomalyId, atMs: known?.atMs ?? firedAtMs, intervalMs, isRaised: isRaisedNow, farOutFromMs, size };
}

/** Alert that a finding has made, and the alerts that close into it. */
interface Fired {
  readonly alert: Alert;
  readonly outcome: PageOutcome;
  readonly hold?: Hold | undefined;
  readonly others: readonly Alert[];
}

function fire(of: AskedCase, tier: Tier): Fired {
  const { finding, family, settings, sources, memory, gates } = of;
  const { atMs } = finding;
  const { key: own, known } = chosenAlert(of);
  const firing = known !== undefined && isFiring(known) ? known : undefined;
  const { first, others } = memberAlerts(finding, family, { memory, known: firing, dedupMaxAgeMinutes: settings.dedupMaxAgeMinutes });
  const newest = first ?? known;
  const key = first?.state.key ?? own;
  const labels = labelsOf(finding, tier);
  const goesOn = finding.kind === "raised" && firing !== undefined && finding.alertId === firing.state.id;
  const applied = applyFire(newest?.state, key, tier, atMs, maxAgeMinutesOf(of, newest, goesOn || first !== undefined));
  // What has taken an identity over says something else of it: people are sent an update.
  const effect: FireEffect = first === undefined ? applied : { ...applied, kind: "raised" };
  const joins = effect.kind === "absorbed" || effect.kind === "raised" ? newest : undefined;
  const isReported = joins !== undefined && joins.pages > 0 && joins.heldBy === null;
  // What was confirmed once stays so, whatever joins it.
  const isConfirmed = joins !== undefined && isConfirmedAlert(joins);
  if (
    sources.confirmation !== false &&
    !isConfirmed &&
    needsConfirmation(family) &&
    finding.isRare !== true &&
    finding.serviceId !== DRILL_SERVICE
  )
    gates.push(findingConfirmation(of, first === undefined ? others : [first, ...others]));
  const asked = holdGates({ tenant: finding.tenant, labels, openedAtMs: effect.alert.createdAtMs }, sources, memory, atMs);
  gates.push(...asked.gates);
  const last = effect.kind === "renewed" ? undefined : newest;
  if (last?.snooze != null) gates.push(holds(SNOOZED_GATE, atMs >= last.snooze.untilMs));
  const suppressor = firstFailed(gates)?.name ?? null;
  const taken = joined(finding, newest, effect, labels);
  // What people hear later, they hear as it is then.
  const alert = isReported ? taken : withNotifiedEffect(taken, finding);
  if (suppressor !== null) {
    const state = { ...effect.alert, flap: newest?.state.flap ?? CALM };
    const isUnreported = !isReported || alert.pages === 0 || alert.heldBy !== null;
    return { alert: { ...alert, state, heldBy: isUnreported ? suppressor : null }, outcome: "suppressed", hold: asked.hold, others };
  }
  if (newest !== undefined) gates.push(dedupGate(effect, newest, atMs, settings.dedupMaxAgeMinutes));
  gates.push(...effect.gates.filter(({ name }) => name === FLAPPING_GATE));
  // An acknowledgement ends with its alert.
  if (last?.acknowledged != null && effect.kind !== "reopened" && firstFailed(gates) === undefined) {
    gates.push(holds("acknowledged", tier === "high" && RANK[tier] > RANK[last.state.tier]));
  }
  const failed = firstFailed(gates)?.name;
  const sinceMs = last !== undefined && effect.kind !== "reopened" && last.heldBy === GROUP_GATE ? memory.waitsSinceMs(last) : atMs;
  const group =
    failed === undefined && first === undefined
      ? groupGate({ finding, family, tier, sinceMs, alert }, memory, sources.groupWaitMs)
      : undefined;
  if (group?.passed === false) {
    gates.push(group);
    const state = { ...effect.alert, flap: newest?.state.flap ?? CALM };
    return { alert: { ...alert, state, heldBy: GROUP_GATE }, outcome: "suppressed", others };
  }
  if (failed === undefined) return { alert: notified(alert, atMs), outcome: "paged", others };
  const update = isReported && newest !== undefined ? updateOf(finding, tier, newest) : undefined;
  if (isReported && (effect.kind === "raised" || update !== undefined)) {
    const change = { atMs, tier: effect.alert.tier, by: null, ...(update ?? { kind: "updated", note: null }) } as const;
    return { alert: withChange(withNotifiedEffect(alert, finding), change), outcome: "absorbed", others };
  }
  return {
    // What held it back before it was resolved is over with it.
    alert: { ...alert, heldBy: failed === FLAPPING_GATE ? failed : effect.kind === "reopened" ? null : alert.heldBy },
    outcome: failed === "dedup" ? "absorbed" : "suppressed",
    others,
  };
}

/** What people who know of the alert are told of a finding in it: a further problem, or one that they know and that is far worse; undefined where it is neither. */
function updateOf(finding: Finding, tier: Tier, known: Alert): Pick<AlertChange, "kind" | "note" | "metricName"> | undefined {
  const { metricName, kind, services } = finding;
  const further = kind === "raised" || !isOfCascade(known) ? [] : services.filter((serviceId) => !known.services.includes(serviceId));
  if (further.length > 0) return { kind: "updated", note: alsoOn(further) };
  const note = memberUpdate(finding, tier, known);
  if (note !== null) return { kind: "updated", note, metricName };
  return tier === "high" && isFarWorse(finding, known) ? { kind: "worse", note: worseUpdate(finding), metricName } : undefined;
}

/** Age up to which the newest alert takes the finding in: what goes on at any, and a problem of its own at none. */
function maxAgeMinutesOf(of: AskedCase, newest: Alert | undefined, goesOn: boolean): number {
  if (goesOn) return Number.POSITIVE_INFINITY;
  // What others have raised is a part of what they say.
  return isOwnProblem(of, severityNow(of.finding), newest) ? Number.NEGATIVE_INFINITY : of.settings.dedupMaxAgeMinutes;
}

/** The alert, of which people are told. */
export function notified(alert: Alert, atMs: number): Alert {
  const state = { ...alert.state, flap: paged(alert.state.flap, atMs) };
  const change = { atMs, kind: "paged", tier: state.tier, by: null, note: null } as const;
  return withChange({ ...alert, state, pages: alert.pages + 1, heldBy: null }, change);
}

/** Fails where the alert takes the fire in: people have been informed of it, and a higher tier is shown and sent as an update of what they know. */
function dedupGate(effect: FireEffect, newest: Alert, atMs: number, maxAgeMinutes: number): GateResult {
  const minutes = (atMs - newest.state.createdAtMs) / MINUTE_MS;
  return {
    ...above("dedup", minutes, maxAgeMinutes),
    passed: (effect.kind !== "absorbed" && effect.kind !== "raised") || newest.pages === 0,
  };
}

/** The alert with the finding in it, before anybody is told. */
function joined(finding: Finding, newest: Alert | undefined, effect: FireEffect, labels: Labels): Alert {
  const { alert: state, kind } = effect;
  const known = kind === "renewed" ? undefined : newest;
  // What a cascade or a tenant's silence says goes before what any of its members does, and what the larger of two cascades says before the other.
  const isWithin = known !== undefined && isFiring(known) && isOfCascade(known) && Math.abs(finding.z) < Math.abs(known.peak.z);
  const isOfAll = (finding.services.length > 0 && !isWithin) || finding.serviceId === INGESTION_SERVICE;
  const isOfMember = known !== undefined && known.services.length > 0 && !isOfAll;
  // What was far from a level that is not the usual one any more says nothing of now.
  const isBeforeLevel = known?.ending?.reason === "accepted";
  const isHighest = known?.peak.anomalyId === finding.anomalyId || Math.abs(finding.z) >= Math.abs(known?.peak.z ?? 0);
  const isPeak = known === undefined || isOfAll || isBeforeLevel || (!isOfMember && isHighest);
  const isMember = known !== undefined && finding.alertId === state.id;
  // What fires again is as old as what it fires for; its history has the former times.
  const isNew = known === undefined || kind === "reopened";
  const alert: Alert = {
    state,
    labels: isPeak ? labels : known.labels,
    peak: isPeak ? peakOf(finding) : known.peak,
    members: isMember ? known.members : withMember(known?.members, finding),
    anomalies: (known?.anomalies ?? 0) + (isMember ? 0 : 1),
    open: (known?.open ?? 0) + (isMember && finding.kind === "raised" ? 0 : 1),
    services: kind === "reopened" ? finding.services : servicesOf(finding, known),
    pages: known?.pages ?? 0,
    heldBy: known?.heldBy ?? null,
    mergedInto: null,
    acknowledged: kind === "reopened" ? null : (known?.acknowledged ?? null),
    assignee: known?.assignee ?? null,
    snooze: known?.snooze ?? null,
    ending: null,
    ...(known?.notifiedEffects !== undefined && kind !== "reopened" && { notifiedEffects: known.notifiedEffects }),
    beganAtMs: isNew ? finding.startedAtMs : Math.min(finding.startedAtMs, beginOfAlert(known)),
    updatedAtMs: finding.atMs,
    history: known?.history ?? [],
  };
  if (kind === "absorbed") return alert;
  return withChange(alert, { atMs: finding.atMs, kind: kind === "renewed" ? "opened" : kind, tier: state.tier, by: null, note: null });
}

/** Services of a cascade, which may grow. */
function servicesOf(finding: Finding, alert: Alert | undefined): readonly string[] {
  const known = alert?.services ?? [];
  return finding.services.length === 0 ? known : [...new Set([...known, ...finding.services])];
}

function decisionOf(
  { finding, family, gates, score, rca }: AskedCase,
  tier: Tier,
  outcome: PageOutcome,
  alertId: string | null,
  hold?: Hold,
): PageDecision {
  const suppressedBy = firstFailed(gates)?.name ?? null;
  return {
    atMs: finding.atMs,
    tenant: finding.tenant,
    environment: finding.environment,
    serviceId: finding.serviceId,
    metricName: finding.metricName,
    detector: finding.detector,
    family,
    anomalyId: finding.anomalyId,
    alertId,
    tier,
    score,
    z: finding.z,
    outcome,
    suppressedBy,
    gates,
    rca,
    explanation: waitingSentence(suppressedSentence(finding.explanation, suppressedBy, hold), suppressedBy),
  };
}

/** Decision on an alert and not on a finding. */
export function decisionOn(
  alert: Alert,
  by: AnomalyEnd,
  outcome: "paged" | "suppressed" | "resolved",
  gates: readonly GateResult[],
  hold?: Hold,
): PageDecision {
  const { id, key, tier } = alert.state;
  const suppressedBy = firstFailed(gates)?.name ?? null;
  const { anomalyId, serviceId, metricName, detector, z, atMs } = by;
  return {
    atMs,
    tenant: key.tenant,
    environment: key.environment,
    serviceId,
    metricName,
    detector,
    family: familyOfDetector(detector),
    anomalyId,
    alertId: id,
    tier,
    score: anomalyScore(z),
    z,
    outcome,
    suppressedBy,
    gates,
    rca: null,
    explanation: suppressedSentence(alert.peak.explanation, suppressedBy, hold),
  };
}
