// Event records that report that somebody changed a service: a deployment, its configuration, a flag. All of them are evidence of causes; a deployment alone, of which
// backtest-facts.ts knows, is borne in mind by detectors.
import type { RecordEnvelope } from "../../core/protocol/coordinator-frame.ts";
import type { Deployment } from "../../core/protocol/engine-control.ts";
import { environmentOf } from "../series/stream-identity.ts";

/** A change of a service, as an event record says. */
export interface ServiceChange extends Deployment {
  /** Absent where the record names none: then it is of all. */
  readonly environment?: string;
  /** What was changed; absent of a deployment. */
  readonly what?: string;
}

/** Values of `event_type`, in small letters and with underscores, and what each is called. */
const CHANGES: ReadonlyMap<string, string> = new Map([
  ["rollback", "a rollback"],
  ["release", "a release"],
  ["migration", "a migration"],
  ["config", "a configuration change"],
  ["config_change", "a configuration change"],
  ["config_update", "a configuration change"],
  ["configuration", "a configuration change"],
  ["configuration_change", "a configuration change"],
  ["configuration_update", "a configuration change"],
  ["feature_flag", "a change of a feature flag"],
  ["feature_flag_change", "a change of a feature flag"],
  ["flag_change", "a change of a feature flag"],
]);
const SEPARATORS = /[\s.-]+/g;

/** The change that a record reports; undefined for any other record. */
export function changeOf({ tenant, timeMs, record }: Pick<RecordEnvelope, "tenant" | "timeMs" | "record">): ServiceChange | undefined {
  const { type, service_id: serviceId, attributes } = record;
  if (type !== "event" || typeof serviceId !== "string" || typeof attributes !== "object" || attributes === null) return undefined;
  const input = attributes as Record<string, unknown>;
  const eventType = input.event_type;
  if (typeof eventType !== "string") return undefined;
  const what = CHANGES.get(eventType.toLowerCase().replace(SEPARATORS, "_"));
  if (what === undefined && eventType !== "deployment") return undefined;
  const environment = environmentOf(input as Parameters<typeof environmentOf>[0]);
  return {
    tenant,
    serviceId,
    atMs: timeMs,
    ...(environment === "" ? {} : { environment }),
    ...(what === undefined ? {} : { what }),
  };
}

/** Changes that detectors bear in mind. */
export function deploymentsAmong(changes: readonly ServiceChange[]): Deployment[] {
  return changes.filter(({ what }) => what === undefined).map(({ tenant, serviceId, atMs }) => ({ tenant, serviceId, atMs }));
}
