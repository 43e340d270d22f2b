// Firing alerts that wait for a group or that people know of, by the jumps that they may be a part of: in a storm, an alert whose wait is over asks for its own jumps and
// never goes through all that fires. An index over another one reads through it, as the memory does that it belongs to.
import { baseNameOf } from "../../distribution/derived-values.ts";
import { JUMP_SERVICES_MIN } from "../../rca/incident-joins.ts";
import type { AlertKey } from "../alert-identity.ts";
import { CASCADE_METRIC } from "../cascade-finding.ts";
import { type Alert, isFiring, isOfCascade } from "./alert.ts";
import { GROUP_LATELY_MS } from "./group-wait.ts";
import { isWaiting } from "./waiting-alerts.ts";

/** Metrics of one alert by which it may be a part of a jump: the first that departed stand for the others. */
const JUMPS_PER_ALERT_MAX = 16;
/** Jumps of which it is known when people were told; one that is forgotten makes nobody wait for it. */
const KNOWN_JUMPS_MAX = 4_096;

export class JumpIndex {
  readonly #base: JumpIndex | undefined;
  /** The jumps of each alert that was put here; none of one that is of none: what the base says of it counts no more. */
  readonly #jumpsOf = new Map<string, readonly string[]>();
  readonly #jumps = new Map<string, Map<string, Alert>>();
  /** Of each jump the newest that people were told of, the oldest first. */
  readonly #known = new Map<string, KnownJump>();

  constructor(base?: JumpIndex) {
    this.#base = base;
  }

  /** Takes an alert as it is now. */
  put(alert: Alert): void {
    const { id } = alert.state;
    this.remove(id);
    const names = isOfJump(alert) ? jumpsOf(alert).map(({ name }) => name) : [];
    if (names.length === 0 && this.#base === undefined) return;
    this.#jumpsOf.set(id, names);
    for (const name of names) this.#jumps.set(name, (this.#jumps.get(name) ?? new Map<string, Alert>()).set(id, alert));
    if (isNotified(alert)) for (const name of names) this.#note(name, alert);
  }

  #note(name: string, { state }: Alert): void {
    const atMs = state.flap.pagedMs ?? 0;
    if (atMs < (this.#known.get(name)?.atMs ?? 0)) return;
    this.#known.delete(name);
    this.#known.set(name, { atMs, serviceId: state.key.serviceId });
    if (this.#known.size > KNOWN_JUMPS_MAX) this.#known.delete(this.#known.keys().next().value as string);
  }

  /** Whether the newest of a jump that people were told of, here or in the base, is of another service, and of later. */
  isKnownSince(name: string, serviceId: string, sinceMs: number): boolean {
    const known = this.#known.get(name);
    if (known !== undefined && known.serviceId !== serviceId && known.atMs > sinceMs) return true;
    return this.#base?.isKnownSince(name, serviceId, sinceMs) === true;
  }

  /** Forgets an alert; of a base alone. */
  remove(id: string): void {
    for (const name of this.#jumpsOf.get(id) ?? []) {
      const alerts = this.#jumps.get(name);
      alerts?.delete(id);
      if (alerts?.size === 0) this.#jumps.delete(name);
    }
    this.#jumpsOf.delete(id);
  }

  /** Alerts of a jump, by its name: those that wait, or that people know of. */
  *of(name: string): Generator<Alert> {
    if (this.#base !== undefined) for (const alert of this.#base.of(name)) if (!this.#jumpsOf.has(alert.state.id)) yield alert;
    yield* this.#jumps.get(name)?.values() ?? [];
  }
}

interface KnownJump {
  readonly atMs: number;
  readonly serviceId: string;
}

/** What an alert may be a part of: a metric that moved to one side. */
export interface Jump {
  /** Of a tenant's environment and a family of detectors; equal of two alerts only if they say the same of one metric. */
  readonly name: string;
  readonly metric: string;
}

/** The jumps of an alert: of the metric that departs most, and of the others that it names, to the same side; of a cascade those that its services rise by. */
export function jumpsOf(alert: Alert): readonly Jump[] {
  const { state, peak, members } = alert;
  const key = isOfCascade(alert) ? { ...state.key, family: "metric" } : state.key;
  const metrics = new Set([peak, ...members].map(({ metricName }) => baseNameOf(metricName)));
  metrics.delete(CASCADE_METRIC);
  return [...metrics].slice(0, JUMPS_PER_ALERT_MAX).map((metric) => ({ name: jumpName(key, peak.z, metric), metric }));
}

/** Name of the jump that a metric's departure is a part of. */
function jumpName({ tenant, environment, family }: Omit<AlertKey, "serviceId">, z: number, metricName: string): string {
  return `${tenant.length} ${environment.length} ${tenant}${environment}${family} ${Math.sign(z)} ${baseNameOf(metricName)}`;
}

/** Whether several alerts are of as many services, on which a metric departs, as make it one event. */
export function isOfEnough(alerts: readonly Alert[], metric: string): boolean {
  return new Set(alerts.flatMap((alert) => servicesOfMetric(alert, metric))).size >= JUMP_SERVICES_MIN;
}

/** Services of an alert on which a metric departs. */
function servicesOfMetric({ peak, members }: Alert, metric: string): readonly string[] {
  return [peak, ...members].filter(({ metricName }) => baseNameOf(metricName) === metric).map(({ serviceId }) => serviceId);
}

/** Whether people know of an alert, and all there is of it. */
export function isNotified({ pages, heldBy }: Alert): boolean {
  return pages > 0 && heldBy === null;
}

/** Whether people were told of an alert so lately that what departs with it is a part of it: as long as the onsets of a cascade may be apart. */
export function isKnownLately(alert: Alert, nowMs: number): boolean {
  return isNotified(alert) && (alert.state.flap.pagedMs ?? 0) >= nowMs - GROUP_LATELY_MS;
}

function isOfJump(alert: Alert): boolean {
  return isFiring(alert) && (isNotified(alert) || (isWaiting(alert) && !isOfCascade(alert)));
}
