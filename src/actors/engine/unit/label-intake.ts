// Labels that telemetry says of its services, on the way to the coordinator: looked for where a stream is defined or a resource is read, never per sample.
// What was reported once is not reported again while it is remembered.
import { BoundedMap } from "../../../core/collections/bounded-map.ts";
import { LABELS_REPORTED_MAX } from "../../../core/config/declaration-limits.ts";
import type { Attributes } from "../../../core/protocol/coordinator-frame.ts";
import { labelsOfAttributes, labelsOfSeries, ROUTING_KEYS, type RoutingLabels } from "../../../domain/labels/service-label.ts";
import type { FieldExclusions } from "../../../domain/series/field-exclusions.ts";
import { isName } from "../../../domain/series/name-rule.ts";
import type { WorkUnit } from "./work-unit.ts";

/** One engine's. */
export class LabelIntake {
  readonly #exclusions: FieldExclusions;
  /** Values by tenant, service and key. */
  readonly #reported = new BoundedMap<string, string>(LABELS_REPORTED_MAX);
  /** Labels reported since a report was last known to be logged. */
  #unsaved: string[] = [];
  /** Attributes that were looked at last: a decoder gives the same object for all items of one resource. */
  #last: Attributes | undefined;
  #lastTenant = "";

  /** No label is read from an attribute that must not be stored. */
  constructor(exclusions: FieldExclusions) {
    this.#exclusions = exclusions;
  }

  /** Takes the attributes of a resource, or of a JSON record. */
  takeAttributes(tenant: string, serviceId: string, attributes: Attributes, unit: WorkUnit): void {
    if (attributes === this.#last && tenant === this.#lastTenant) return;
    this.#last = attributes;
    this.#lastTenant = tenant;
    this.#report(tenant, serviceId, labelsOfAttributes(this.#allowed(attributes)), unit);
  }

  /** Takes the labels of a remote-write series. */
  takeSeries(tenant: string, serviceId: string, metricName: string, attributes: Attributes, unit: WorkUnit): void {
    this.#report(tenant, serviceId, labelsOfSeries(metricName, this.#allowed(attributes)), unit);
  }

  /** Notes that what was reported is in the log. */
  saved(): void {
    this.#unsaved = [];
  }

  /** The unit is not in the log: what it held is to be reported again. */
  forget(): void {
    for (const key of this.#unsaved) this.#reported.delete(key);
    this.#unsaved = [];
    this.#last = undefined;
  }

  #allowed(attributes: Attributes): Attributes {
    return this.#exclusions.isEmpty ? attributes : (this.#exclusions.strip({ attributes }).attributes ?? {});
  }

  #report(tenant: string, serviceId: string, said: RoutingLabels | undefined, unit: WorkUnit): void {
    if (said === undefined || !isName(serviceId)) return;
    let labels: RoutingLabels | undefined;
    for (const key of ROUTING_KEYS) {
      const value = said[key];
      if (value === undefined) continue;
      const labelKey = `${key}\0${tenant}\0${serviceId}`;
      if (this.#reported.get(labelKey) === value) continue;
      this.#reported.set(labelKey, value);
      this.#unsaved.push(labelKey);
      labels = { ...labels, [key]: value };
    }
    if (labels !== undefined) unit.addServiceLabels({ tenant, serviceId, labels });
  }
}
