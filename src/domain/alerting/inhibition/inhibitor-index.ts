// The firing alerts that keep others quiet by rules of people, by rule and the values of its equal labels: a finding asks for its own values and never goes
// through the alerts that fire. An index over another one reads through it, as the memory does that it belongs to.

import type { Hold } from "../hold.ts";
import type { Labels } from "../label-matcher.ts";
import { type Alert, isFiring } from "../paging/alert.ts";
import { type CompiledInhibition, type InhibitionRules, NO_INHIBITION_RULES } from "./inhibition-rule.ts";

/** Where an alert stands as a source. */
interface Entry {
  readonly alert: Alert;
  readonly places: readonly string[];
}

export class InhibitorIndex {
  readonly #base: InhibitorIndex | undefined;
  readonly #rules: InhibitionRules;
  /** Alerts that were put here, also those that stand nowhere: what the base says of them counts no more. */
  readonly #entries = new Map<string, Entry>();
  readonly #sources = new Map<string, Map<string, Alert>>();
  /** Entries with places, by tenant. */
  readonly #counts = new Map<string, number>();

  constructor(base?: InhibitorIndex, rules: InhibitionRules = base?.rules ?? NO_INHIBITION_RULES) {
    this.#base = base;
    this.#rules = rules;
  }

  get rules(): InhibitionRules {
    return this.#rules;
  }

  /** Takes an alert as it is now. */
  put(alert: Alert): void {
    this.remove(alert.state.id);
    const places = isFiring(alert) ? this.#placesOf(alert) : [];
    if (places.length === 0 && this.#base?.has(alert.state.id) !== true) return;
    this.#entries.set(alert.state.id, { alert, places });
    for (const key of places) {
      const alerts = this.#sources.get(key) ?? new Map<string, Alert>();
      this.#sources.set(key, alerts.set(alert.state.id, alert));
    }
    if (places.length > 0) this.#count(alert.state.key.tenant, 1);
  }

  /** Whether an alert stands here. */
  has(id: string): boolean {
    return this.#entries.has(id);
  }

  /** Forgets an alert; of a base alone. */
  remove(id: string): void {
    const entry = this.#entries.get(id);
    if (entry === undefined) return;
    this.#entries.delete(id);
    for (const key of entry.places) {
      const alerts = this.#sources.get(key);
      alerts?.delete(id);
      if (alerts?.size === 0) this.#sources.delete(key);
    }
    if (entry.places.length > 0) this.#count(entry.alert.state.key.tenant, -1);
  }

  /**
   * What keeps an alert with these labels quiet. An alert is never kept quiet by itself, and one that is a source of a rule as well only by those that are
   * no targets of it: two would keep each other quiet.
   */
  holdFor(tenant: string, labels: Labels): Hold | undefined {
    if (!this.hasSources(tenant)) return undefined;
    for (const compiled of this.#rules.rulesOf(tenant)) {
      const [oneSided, twoSided] = placesIn(compiled, labels);
      const pure = this.#sourceAt(oneSided, labels);
      const mixed = this.#sourceAt(twoSided, labels);
      if ((pure === undefined && mixed === undefined) || !compiled.isTarget(labels)) continue;
      const source = pure ?? (compiled.isSource(labels) ? undefined : mixed);
      if (source !== undefined) return holdOf(compiled, source);
    }
    return undefined;
  }

  hasSources(tenant: string): boolean {
    return this.#counts.has(tenant) || this.#base?.hasSources(tenant) === true;
  }

  #placesOf({ state, labels }: Alert): string[] {
    const found: string[] = [];
    for (const compiled of this.#rules.rulesOf(state.key.tenant)) {
      if (compiled.isSource(labels)) found.push(placesIn(compiled, labels)[compiled.isTarget(labels) ? 1 : 0]);
    }
    return found;
  }

  /** At most one alert fires under the key of the one that is asked about. */
  #sourceAt(key: string, labels: Labels): Alert | undefined {
    for (const alert of this.#sources.get(key)?.values() ?? []) if (!isOwn(alert, labels)) return alert;
    const stored = this.#base === undefined ? undefined : this.#base.#sources.get(key);
    for (const [id, alert] of stored ?? []) if (!this.#entries.has(id) && !isOwn(alert, labels)) return alert;
    return undefined;
  }

  #count(tenant: string, by: number): void {
    const count = (this.#counts.get(tenant) ?? 0) + by;
    if (count > 0) this.#counts.set(tenant, count);
    else this.#counts.delete(tenant);
  }
}

/** Places of sources that are no targets, and of those that are. */
function placesIn({ rule, scopeOf: keyOf }: CompiledInhibition, labels: Labels): readonly [oneSided: string, twoSided: string] {
  const key = keyOf(labels);
  return [`${rule.id}1${key}`, `${rule.id}2${key}`];
}

function holdOf({ rule }: CompiledInhibition, { state }: Alert): Hold {
  const { serviceId, environment, family } = state.key;
  const where = environment === "" ? serviceId : `${serviceId} in ${environment}`;
  const why = rule.comment === "" ? "" : `${rule.comment}: `;
  return { id: rule.id, comment: `${why}while the ${family} alert on ${where} fires` };
}

function isOwn({ state, labels: own }: Alert, labels: Labels): boolean {
  const { environment, serviceId, family } = state.key;
  if (family === "external" && own.fingerprint !== labels.fingerprint) return false;
  return environment === labels.environment && serviceId === labels.service_id && family === labels.family;
}
