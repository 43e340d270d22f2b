// Alerts that keep others quiet while they fire: a cascade the alerts of its members, as long as it takes their findings in. What opens later is another incident. What it holds back is kept, and asked about again while it fires. A tenant's
// silence needs no such rule: services whose silence it tells have no alerts of their own (domain/detection/service/tenant-silence.ts), and one that falls silent
// later, for its own reason, is told.
import { ownMember } from "../../../core/collections/own-member.ts";
import type { Hold } from "../hold.ts";
import type { Labels } from "../label-matcher.ts";
import { type Alert, takesIn } from "../paging/alert.ts";
import { isConfirmedAlert } from "../paging/confirmation-gate.ts";
import type { ActiveInhibitions } from "../paging/paging-sources.ts";

/** The rules that hold for every tenant. */
export const INHIBITIONS: ActiveInhibitions = {
  inhibited: (_tenant, labels, inhibitors, opened) => {
    if (!isOfMember(labels)) return undefined;
    for (const alert of inhibitors()) {
      if (isSame(alert.labels, labels) || !takesIn(alert, opened.atMs, opened.dedupMaxAgeMinutes)) continue;
      const hold = holdOf(alert, labels);
      if (hold !== undefined) return hold;
    }
    return undefined;
  },
};

/** Whether an alert may hold others back while it fires: few may, and every finding asks them. One that waits for its confirmation itself, by what is found of its members, does not. */
export function mayInhibit(alert: Pick<Alert, "state" | "heldBy">): boolean {
  return alert.state.key.family === "cascade" && isConfirmedAlert(alert);
}

function holdOf({ state, services }: Alert, labels: Labels): Hold | undefined {
  const { environment, serviceId } = state.key;
  if (environment !== labels.environment || !services.includes(labels.service_id ?? "")) return undefined;
  return { id: state.id, comment: `a member of the cascade of ${serviceId}` };
}

/** An alert does not keep itself quiet. */
function isSame(one: Labels, other: Labels): boolean {
  return ["service_id", "metric_name", "environment", "detector"].every((name) => ownMember(one, name) === ownMember(other, name));
}

function isOfMember({ family }: Labels): boolean {
  return family !== "cascade" && family !== "manual" && family !== "external";
}
