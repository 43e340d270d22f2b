// Alerts that keep others quiet while they fire: a cascade the alerts of its members, and a tenant's silence (one alert on ingestion) those of services that are
// said to be silent. What they hold back is kept, and asked about again while it fires.
import { INGESTION_SERVICE } from "../../detection/service/tenant-silence.ts";
import type { Hold } from "../hold.ts";
import type { Labels } from "../label-matcher.ts";
import type { Alert } from "../paging/alert.ts";
import type { ActiveInhibitions } from "../paging/paging-sources.ts";

/** The rules that hold for every tenant. */
export const INHIBITIONS: ActiveInhibitions = {
  inhibited: (_tenant, labels, inhibitors) => {
    if (!isOfMember(labels) && !isOfSilence(labels)) return undefined;
    for (const alert of inhibitors()) {
      if (isSame(alert.labels, labels)) continue;
      const hold = holdOf(alert, labels);
      if (hold !== undefined) return hold;
    }
    return undefined;
  },
};

/** Whether an alert may hold others back while it fires: few may, and every finding asks them. */
export function mayInhibit({ state }: Alert): boolean {
  const { family, serviceId } = state.key;
  return family === "cascade" || (family === "stale" && serviceId === INGESTION_SERVICE);
}

function holdOf({ state, services, peak }: Alert, labels: Labels): Hold | undefined {
  const { environment, serviceId, family } = state.key;
  const service = labels.service_id ?? "";
  if (family === "cascade" && isOfMember(labels) && environment === labels.environment && services.includes(service)) {
    return { id: state.id, comment: `a member of the cascade of ${serviceId}` };
  }
  const isIngestion = family === "stale" && serviceId === INGESTION_SERVICE;
  const isThere = environment === "" || environment === labels.environment;
  if (isIngestion && isOfSilence(labels) && isThere) return { id: state.id, comment: peak.explanation };
  return undefined;
}

/** An alert does not keep itself quiet. */
function isSame(one: Labels, other: Labels): boolean {
  return ["service_id", "metric_name", "environment", "detector"].every((name) => one[name] === other[name]);
}

function isOfMember({ family }: Labels): boolean {
  return family !== "cascade" && family !== "manual";
}

function isOfSilence({ family, service_id }: Labels): boolean {
  return family === "stale" && service_id !== INGESTION_SERVICE;
}
