// Event records that report a deployment (attribute event_type = deployment).
import type { RecordEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { Deployment } from "../../core/protocol/engine-control.ts";

/** The deployment that a record reports; undefined for any other record. */
export function deploymentOf({ tenant, timeMs, record }: Pick<RecordEnvelope, "tenant" | "timeMs" | "record">): Deployment | undefined {
  const { type, service_id: serviceId, attributes } = record;
  if (type !== "event" || typeof serviceId !== "string" || typeof attributes !== "object" || attributes === null) return undefined;
  return (attributes as Record<string, unknown>).event_type === "deployment" ? { tenant, serviceId, atMs: timeMs } : undefined;
}
