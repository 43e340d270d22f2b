/**
 * What the pipeline remembers: alerts that fire or may fire again, what was found on each service in the last minutes, and when analysis was last due for each pair.
 * A memory made over another one reads through it and keeps its own changes until they are taken over: what a transaction does to alerts can be thrown away.
 */
import { ownMember } from "../../../core/collections/own-member.ts";
import { ALERTS_RESOLVED_RETAINED_MAX, RCA_PAIRS_MAX, SIGNAL_SERVICES_MAX, SIGNALS_PER_SERVICE_MAX } from "../../../core/config/limits.ts";
import { baseNameOf } from "../../distribution/derived-values.ts";
import type { AlertKey } from "../alert-identity.ts";
import { sourceOf } from "../ensemble.ts";
import { mayInhibit } from "../inhibition/built-in-inhibitions.ts";
import type { InhibitionRules } from "../inhibition/inhibition-rule.ts";
import { InhibitorIndex } from "../inhibition/inhibitor-index.ts";
import { type Alert, isFiring } from "./alert.ts";
import { AlertsByState } from "./alerts-by-state.ts";
import type { ConfirmingSignal } from "./confirmation-gate.ts";
import { OWN_IDENTITY } from "./detector-family.ts";
import { JumpIndex, jumpsOf } from "./jump-index.ts";
import { scopeText } from "./service-scope.ts";
import { WaitingAlerts } from "./waiting-alerts.ts";

/** A metric's alert closes into a group of services, and that into a cascade. */
const MERGES_MAX = 4;

/** A finding as the ensemble remembers it. */
export interface FiredSignal extends ConfirmingSignal {
  readonly anomalyId: string;
  /** The ensemble has raised it. */
  readonly isRaised: boolean;
}

export class PagingMemory {
  readonly #base: PagingMemory | undefined;
  readonly #alerts = new Map<string, Alert>();
  /** Firing alerts that keep others quiet by rules of people. */
  readonly ruleInhibitors: InhibitorIndex;
  /** Firing alerts by the jump that they may be one of. */
  readonly jumps: JumpIndex;
  /** Alerts whose page waits for a group; of a base alone. */
  readonly waiting = new WaitingAlerts();
  /** The newest alert of each key, by its id. */
  readonly #newest = new Map<string, string>();
  readonly #signals = new Map<string, readonly FiredSignal[]>();
  readonly #rcaMs = new Map<string, number>();
  /** When people were last told of anything in a tenant's environment that we have found. */
  readonly #notifiedMs = new Map<string, number>();
  /** The same of cascades and groups, and of what has joined them. */
  readonly #groupsMs = new Map<string, number>();
  /** The cascade or group that each service was last a member of. */
  readonly #cascades = new Map<string, string>();
  /** Alerts by state, of a base alone: a memory over it is made for every transaction, and goes through the few that it has changed. */
  readonly #byState: AlertsByState | undefined;

  readonly #retained: ((before: Alert | undefined, after: Alert) => void) | undefined;

  /** `rules` are those of the base where there is one; `kept` hears of each change. */
  constructor(base?: PagingMemory, rules?: InhibitionRules, retained?: (before: Alert | undefined, after: Alert) => void) {
    this.#base = base;
    this.#retained = retained;
    this.#byState = base === undefined ? new AlertsByState() : undefined;
    this.ruleInhibitors = new InhibitorIndex(base?.ruleInhibitors, rules);
    this.jumps = new JumpIndex(base?.jumps);
  }

  /** Alerts changed here; of a memory over another one what is to be stored. */
  get changed(): Iterable<Alert> {
    return this.#alerts.values();
  }

  get firingCount(): number {
    return this.#byState?.firingCount ?? 0;
  }

  /** An alert that fires or was resolved lately. */
  alert(id: string): Alert | undefined {
    return this.#alerts.get(id) ?? this.#base?.alert(id);
  }

  /** The alert that one of this id goes on in: itself, or the one that it has closed into, which may have closed into another. */
  current(id: string): Alert | undefined {
    let alert = this.alert(id);
    for (let i = 0; i < MERGES_MAX && alert?.mergedInto != null; i++) alert = this.alert(alert.mergedInto);
    return alert;
  }

  newest(key: AlertKey): Alert | undefined {
    const id = this.#newestId(keyText(key));
    return id === undefined ? undefined : this.alert(id);
  }

  /** The newest alert of the same identity as another. */
  newestLike(alert: Alert): Alert | undefined {
    return this.newest(identityOf(alert));
  }

  /** The tenant's firing alerts. */
  *firing(tenant: string): Generator<Alert> {
    for (const alert of this.#base?.firing(tenant) ?? []) if (!this.#alerts.has(alert.state.id)) yield alert;
    if (this.#byState !== undefined) yield* this.#byState.firing(tenant);
    else for (const alert of this.#alerts.values()) if (alert.state.key.tenant === tenant && isFiring(alert)) yield alert;
  }

  /** Those of them that may hold others back, in the same order. */
  *inhibitors(tenant: string): Generator<Alert> {
    for (const alert of this.#base?.inhibitors(tenant) ?? []) if (!this.#alerts.has(alert.state.id)) yield alert;
    if (this.#byState !== undefined) yield* this.#byState.inhibitors(tenant);
    else
      for (const alert of this.#alerts.values()) if (alert.state.key.tenant === tenant && isFiring(alert) && mayInhibit(alert)) yield alert;
  }

  /** Whether anybody was told since of something in the environment of a finding. */
  isNotifiedSince({ tenant, environment }: { readonly tenant: string; readonly environment: string }, sinceMs: number): boolean {
    const key = scopeText({ tenant, environment, serviceId: "" });
    return this.#notifiedAt(key) > sinceMs;
  }

  /** Whether anybody was told since of a group of services in that environment, or one has grown that people know of. */
  isGroupKnownSince({ tenant, environment }: { readonly tenant: string; readonly environment: string }, sinceMs: number): boolean {
    return this.#groupAt(scopeText({ tenant, environment, serviceId: "" })) > sinceMs;
  }

  /** Whether people were told since of another service of that environment on which a metric of an alert moved to the same side. */
  isJumpKnownSince(alert: Alert, sinceMs: number): boolean {
    return jumpsOf(alert).some(({ name }) => this.jumps.isKnownSince(name, alert.state.key.serviceId, sinceMs));
  }

  /** When an alert that waits for a group began to; it is as old as its last change where it began just now. */
  waitsSinceMs({ state, updatedAtMs }: Alert): number {
    return this.waiting.sinceMs(state.id) ?? this.#base?.waiting.sinceMs(state.id) ?? updatedAtMs;
  }

  /** Tenants with firing alerts; of a base alone. */
  get tenantsFiring(): readonly string[] {
    return this.#byState?.tenants ?? [];
  }

  /** Rules of the tenant have changed. */
  rulesChanged(tenant: string): void {
    for (const alert of this.firing(tenant)) this.ruleInhibitors.put(alert);
  }

  keep(alert: Alert): void {
    const { id, key } = alert.state;
    this.#retained?.(this.alert(id), alert);
    this.#alerts.set(id, alert);
    this.ruleInhibitors.put(alert);
    this.jumps.put(alert);
    const text = keyText(identityOf(alert));
    const newestId = this.#newestId(text);
    const known = newestId === undefined || newestId === id ? undefined : this.alert(newestId);
    if (known === undefined || known.state.createdAtMs <= alert.state.createdAtMs) this.#newest.set(text, id);
    for (const serviceId of alert.services) this.#cascades.set(scopeText({ ...key, serviceId }), id);
    this.#noteNotified(alert);
    if (this.#byState === undefined) return;
    this.waiting.put(alert);
    this.#byState.put(alert);
    const longest = this.#byState.longestResolved(ALERTS_RESOLVED_RETAINED_MAX);
    if (longest !== undefined) this.forget(longest);
  }

  /** Forgets an alert that was deleted; of a base alone. */
  forget(id: string): void {
    const alert = this.#alerts.get(id);
    if (alert === undefined) return;
    const { key } = alert.state;
    this.#alerts.delete(id);
    this.ruleInhibitors.remove(id);
    this.jumps.remove(id);
    this.waiting.remove(id);
    this.#byState?.remove(key.tenant, id);
    const text = keyText(identityOf(alert));
    if (this.#newest.get(text) === id) this.#newest.delete(text);
    for (const serviceId of alert.services) {
      const scopeId = scopeText({ ...key, serviceId });
      if (this.#cascades.get(scopeId) === id) this.#cascades.delete(scopeId);
    }
  }

  /** The firing cascade or group that a service is a member of; `place` is its `placeText`, here and below. */
  cascadeOf(key: string): Alert | undefined {
    const id = this.#cascadeId(key);
    const alert = id === undefined ? undefined : this.alert(id);
    return alert !== undefined && isFiring(alert) ? alert : undefined;
  }

  /** Signals that fired on a service last, of each detector and metric; the oldest first. */
  signals(key: string): readonly FiredSignal[] {
    return this.#signalsOf(key);
  }

  /** Remembers a signal in place of that of its detector and metric, if that has not fired later. */
  addSignal(key: string, signal: FiredSignal): void {
    const known = this.#signalsOf(key);
    const isOfSource = (other: FiredSignal) =>
      sourceOf(other) === sourceOf(signal) && baseNameOf(other.metricName) === baseNameOf(signal.metricName);
    if (known.some((other) => isOfSource(other) && other.atMs > signal.atMs)) return;
    const fired = [...known.filter((other) => !isOfSource(other)), signal].sort((a, b) => a.atMs - b.atMs);
    putLast(this.#signals, key, fired.slice(-SIGNALS_PER_SERVICE_MAX), SIGNAL_SERVICES_MAX);
  }

  /** Remembers that an anomaly of a service has ended. */
  endSignal(key: string, anomalyId: string): void {
    const signal = this.#signalsOf(key).find((known) => known.anomalyId === anomalyId && known.farOutFromMs !== null);
    if (signal !== undefined) this.addSignal(key, { ...signal, farOutFromMs: null });
  }

  /** When analysis of a pair was last due; null where it was not for as long as is remembered. */
  rcaDueMs(key: string, metricName: string): number | null {
    return this.#rcaOf(pairText(key, metricName));
  }

  rcaIsDue(key: string, metricName: string, atMs: number): void {
    putLast(this.#rcaMs, pairText(key, metricName), atMs, RCA_PAIRS_MAX);
  }

  /** Takes over what a memory over this one has changed. */
  take(changes: PagingMemory): void {
    for (const alert of changes.#alerts.values()) this.keep(alert);
    for (const [text, signals] of changes.#signals) putLast(this.#signals, text, signals, SIGNAL_SERVICES_MAX);
    for (const [text, atMs] of changes.#rcaMs) putLast(this.#rcaMs, text, atMs, RCA_PAIRS_MAX);
  }

  #noteNotified(alert: Alert): void {
    const { state, pages, services, history } = alert;
    const { tenant, environment, family } = state.key;
    const { pagedMs } = state.flap;
    if (pages === 0 || pagedMs === null || OWN_IDENTITY.has(family)) return;
    const key = scopeText({ tenant, environment, serviceId: "" });
    if (pagedMs > this.#notifiedAt(key)) putLast(this.#notifiedMs, key, pagedMs, SIGNAL_SERVICES_MAX);
    const changedMs = services.length > 0 && alert.heldBy === null && state.resolvedAtMs === null ? (history.at(-1)?.atMs ?? pagedMs) : 0;
    if (changedMs > this.#groupAt(key)) putLast(this.#groupsMs, key, changedMs, SIGNAL_SERVICES_MAX);
  }

  #groupAt(scope: string): number {
    return this.#groupsMs.get(scope) ?? (this.#base === undefined ? Number.NEGATIVE_INFINITY : this.#base.#groupAt(scope));
  }

  #notifiedAt(key: string): number {
    return this.#notifiedMs.get(key) ?? (this.#base === undefined ? Number.NEGATIVE_INFINITY : this.#base.#notifiedAt(key));
  }

  #newestId(text: string): string | undefined {
    return this.#newest.get(text) ?? (this.#base === undefined ? undefined : this.#base.#newestId(text));
  }

  #cascadeId(key: string): string | undefined {
    return this.#cascades.get(key) ?? (this.#base === undefined ? undefined : this.#base.#cascadeId(key));
  }

  #signalsOf(key: string): readonly FiredSignal[] {
    return this.#signals.get(key) ?? (this.#base === undefined ? [] : this.#base.#signalsOf(key));
  }

  #rcaOf(pair: string): number | null {
    return this.#rcaMs.get(pair) ?? (this.#base === undefined ? null : this.#base.#rcaOf(pair));
  }
}

/** Puts an entry behind all others; the first goes where there are too many. */
function putLast<V>(map: Map<string, V>, key: string, value: V, most: number): void {
  map.delete(key);
  map.set(key, value);
  if (map.size <= most) return;
  for (const first of map.keys()) {
    map.delete(first);
    return;
  }
}

function keyText({ tenant, environment, serviceId, family, fingerprint = "" }: AlertKey): string {
  return `${tenant.length} ${environment.length} ${tenant}${environment}${family} ${fingerprint} ${serviceId}`;
}

/** The key of an alert, with the fingerprint that its labels have where it is an Alertmanager's. */
function identityOf({ state: { key }, labels }: Alert): AlertKey {
  const fingerprint = key.family === "external" ? ownMember(labels, "fingerprint") : undefined;
  return fingerprint === undefined ? key : { ...key, fingerprint };
}

function pairText(key: string, metricName: string): string {
  return `${key.length} ${key}${metricName}`;
}
