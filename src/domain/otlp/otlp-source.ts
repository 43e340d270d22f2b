// The source of telemetry as its resource attributes say it: service, environment, instance (decisions of identity are those of series/stream-identity.ts).
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { RESOURCE_ATTRIBUTES_BYTES_MAX } from "../../core/config/body-limits.ts";
import type { Attributes, AttributeValue } from "../../core/protocol/coordinator-frame.ts";
import { INSTANCE_NAMES } from "../series/instance-name.ts";
import { retainedAttributes } from "../series/retained-attributes.ts";
import { environmentAttribute, ownAttribute } from "../series/stream-identity.ts";
import type { OtlpSource } from "./otlp-items.ts";
import { refuseSource } from "./otlp-limits.ts";

const UNKNOWN_SERVICE = "unknown_service";

function textOf(attributes: Attributes, name: string): string {
  const value = ownAttribute(attributes, name);
  return typeof value === "string" ? value : "";
}

/** Attribute of a resource that says how many others are missing. */
const RESOURCE_DROPPED_COUNT = "resource.dropped_attributes_count";

/** The service of a resource; `prefixes`: as namespace/name where it has a namespace, as Prometheus' job is (OTEL_SERVICE_NAMESPACE). */
function serviceOf(input: Attributes, prefixes: boolean): string {
  const [name, namespace] = [textOf(input, "service.name") || UNKNOWN_SERVICE, textOf(input, "service.namespace")];
  return prefixes && namespace !== "" ? `${namespace}/${name}` : name;
}

/** Reads the attributes of a resource, of which its sender has dropped `dropped` more. */
export function sourceOf(input: Attributes, dropped = 0, prefixes = false): OtlpSource {
  const bounds = { countName: RESOURCE_DROPPED_COUNT, bytesMax: RESOURCE_ATTRIBUTES_BYTES_MAX };
  const { attributes: resourceAttributes, loss } = retainedAttributes(input, dropped, bounds);
  const environmentName = environmentAttribute(input);
  const instanceName = INSTANCE_NAMES.find((name) => textOf(input, name) !== "");
  const identity: Record<string, AttributeValue> = {};
  for (const name of [instanceName, environmentName])
    if (name !== undefined) setMember(identity, name, ownMember(input, name) as AttributeValue);
  const serviceId = serviceOf(input, prefixes);
  return {
    serviceId,
    environment: environmentName === undefined ? "" : textOf(input, environmentName),
    identity,
    resourceAttributes,
    loss,
    resourceRefusal: refuseSource(serviceId, environmentName, input),
  };
}

/** Identity attributes of a point: its own, but for empty ones, win over those of its resource. A point that names an instance or an environment itself needs no other. */
export function identityAttributes(source: OtlpSource, own: Attributes): Attributes {
  const attributes: Record<string, AttributeValue> = {};
  for (const name of Object.keys(own)) {
    const value = ownMember(own, name) as AttributeValue;
    if (value !== "") setMember(attributes, name, value);
  }
  const hasInstance = INSTANCE_NAMES.some((name) => textOf(own, name) !== "");
  const hasEnvironment = environmentAttribute(own) !== undefined;
  for (const name of Object.keys(source.identity)) {
    const isInstance = (INSTANCE_NAMES as readonly string[]).includes(name);
    if (isInstance ? !hasInstance : !hasEnvironment) setMember(attributes, name, ownMember(source.identity, name) as AttributeValue);
  }
  return attributes;
}
