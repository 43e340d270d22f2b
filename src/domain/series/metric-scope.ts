// Scopes of OpenTelemetry in the identity of a stream: where several scopes of a service send one metric in one environment, the first that was seen keeps the plain identity, and each
// other carries its name. A scope's version is no part of it.
import { setMember } from "../../core/collections/own-member.ts";
import type { Attributes, AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import { environmentOf, ownAttribute } from "./stream-identity.ts";

const SCOPE_ATTRIBUTE = "otel.scope.name";
/** What a scope without a name carries, for an empty attribute is none. */
const UNNAMED_SCOPE = "unknown";

/** The scope that a series of the past came from. */
export interface MetricScope {
  /** "" for one without a name. */
  readonly name: string;
  /** The metric that it sent: of a series that is derived from a histogram the histogram. */
  readonly metricName: string;
}

/** Attributes of a point whose scope was not the first; one that names a scope itself keeps that. */
export function scopedAttributes(attributes: Attributes, scope: string): Attributes {
  if (ownAttribute(attributes, SCOPE_ATTRIBUTE) !== undefined) return attributes;
  const scoped: Record<string, AttributeValue> = { ...attributes };
  setMember(scoped, SCOPE_ATTRIBUTE, scope === "" ? UNNAMED_SCOPE : scope);
  return scoped;
}

/** Identity attributes of the series of a file, of which nothing else is known: the first scope in it keeps the plain identity. */
export class ScopesOfFile {
  readonly #first = new Map<string, string>();

  attributesOf(serviceId: string, attributes: Attributes, scope: MetricScope | undefined): Attributes {
    if (scope === undefined) return attributes;
    const key = JSON.stringify([serviceId, environmentOf(attributes), scope.metricName]);
    const first = this.#first.get(key) ?? scope.name;
    this.#first.set(key, first);
    return first === scope.name ? attributes : scopedAttributes(attributes, scope.name);
  }
}
