// Firing alerts that wait for a group or that people know of, by the jump that they may be one of: in a storm, an alert whose wait is over asks for its own jump and
// never goes through all that fires. An index over another one reads through it, as the memory does that it belongs to.
import { baseNameOf } from "../../distribution/derived-values.ts";
import { type Alert, isFiring, isOfCascade } from "./alert.ts";
import { isWaiting } from "./waiting-alerts.ts";

export class JumpIndex {
  readonly #base: JumpIndex | undefined;
  /** The jump of each alert that was put here; null of one that is of none: what the base says of it counts no more. */
  readonly #jumpOf = new Map<string, string | null>();
  readonly #jumps = new Map<string, Map<string, Alert>>();

  constructor(base?: JumpIndex) {
    this.#base = base;
  }

  /** Takes an alert as it is now. */
  put(alert: Alert): void {
    const { id } = alert.state;
    this.remove(id);
    const jump = isOfJump(alert) ? jumpOf(alert) : null;
    if (jump === null && this.#base === undefined) return;
    this.#jumpOf.set(id, jump);
    if (jump === null) return;
    const alerts = this.#jumps.get(jump) ?? new Map<string, Alert>();
    this.#jumps.set(jump, alerts.set(id, alert));
  }

  /** Forgets an alert; of a base alone. */
  remove(id: string): void {
    const jump = this.#jumpOf.get(id);
    this.#jumpOf.delete(id);
    if (jump == null) return;
    const alerts = this.#jumps.get(jump);
    alerts?.delete(id);
    if (alerts?.size === 0) this.#jumps.delete(jump);
  }

  /** Alerts of the same jump as one, itself included where it is of one: that wait, or that people know of. */
  *of(alert: Alert): Generator<Alert> {
    yield* this.#at(jumpOf(alert));
  }

  *#at(jump: string): Generator<Alert> {
    if (this.#base !== undefined) for (const alert of this.#base.#at(jump)) if (!this.#jumpOf.has(alert.state.id)) yield alert;
    yield* this.#jumps.get(jump)?.values() ?? [];
  }
}

/** Whether people know of an alert, and all there is of it. */
export function isTold({ pages, heldBy }: Alert): boolean {
  return pages > 0 && heldBy === null;
}

function isOfJump(alert: Alert): boolean {
  return isFiring(alert) && !isOfCascade(alert) && (isWaiting(alert) || isTold(alert));
}

/** A text that two alerts share only if they say the same of one metric, in one environment of a tenant. */
function jumpOf({ state: { key }, peak }: Alert): string {
  const { tenant, environment, family } = key;
  const side = Math.sign(peak.z);
  return `${tenant.length} ${environment.length} ${tenant}${environment}${family} ${side} ${baseNameOf(peak.metricName)}`;
}
