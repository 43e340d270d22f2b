// Deployments of the last hours, by tenant: what somebody changed before an incident.
import { CHANGES_PER_TENANT_MAX } from "../../../core/config/analysis-limits.ts";
import type { Deployment } from "../../../core/protocol/engine-control.ts";
import type { ChangeEvidence } from "../../../domain/rca/evidence.ts";

export class ChangeBook {
  readonly #changes = new Map<string, ChangeEvidence[]>();

  take(deployments: readonly Deployment[]): void {
    for (const { tenant, serviceId, atMs } of deployments) {
      const known = this.#changes.get(tenant) ?? [];
      known.push({ serviceId, atMs, text: "a deployment" });
      this.#changes.set(tenant, known.slice(-CHANGES_PER_TENANT_MAX));
    }
  }

  of(tenant: string): readonly ChangeEvidence[] {
    return this.#changes.get(tenant) ?? [];
  }
}
