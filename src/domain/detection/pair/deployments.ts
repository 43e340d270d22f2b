// When services were deployed last, as event records say: for a while after it another level is what people wanted.
import { DEPLOYMENTS_REMEMBERED_MAX } from "../../../core/config/limits.ts";
import type { Deployment } from "../../../core/protocol/engine-control.ts";
import { serviceKey } from "../../series/stream-identity.ts";

/** A detector remembers by itself that a deployment settles; values that are later than this do not need to be informed of it. */
export const NOTICE_REMEMBERED_MS = 25 * 3600 * 1000;

/** The newest deployment of each service. */
export class Deployments {
  readonly #times = new Map<string, number>();

  take(deployments: readonly Deployment[]): void {
    for (const { tenant, serviceId, atMs } of deployments) {
      const key = serviceKey(tenant, serviceId);
      if ((this.#times.get(key) ?? 0) >= atMs) continue;
      this.#times.delete(key);
      this.#times.set(key, atMs);
      if (this.#times.size > DEPLOYMENTS_REMEMBERED_MAX) this.#times.delete(this.#times.keys().next().value as string);
    }
  }

  /** Time of a service's last deployment by serviceKey(), in ms; 0 where none is known. */
  of(key: string): number {
    return this.#times.get(key) ?? 0;
  }

  forgetBefore(nowMs: number): void {
    for (const [key, atMs] of this.#times) if (atMs < nowMs - NOTICE_REMEMBERED_MS) this.#times.delete(key);
  }
}
