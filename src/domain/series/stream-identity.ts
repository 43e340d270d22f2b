// The identity of a stream: (tenant, environment, service, metric, identity attributes), and its canonical bytes.
import { ownMember } from "../../core/collections/own-member.ts";
import { SERVICE_LABEL_ABSENT, SERVICE_LABEL_FOREIGN, SERVICE_LABEL_QUERY_ONLY } from "../../core/layout/stream-record.ts";
import type { Attributes, AttributeValue, StreamName } from "../../core/protocol/coordinator-frame.ts";
import { REPLICA_LABELS } from "./replica-labels.ts";

/** Attribute names that say the environment, in order of precedence. */
const ENVIRONMENT_NAMES = ["deployment.environment.name", "deployment.environment", "environment", "env"] as const;

/** Attributes whose value is a name: of the service, of the environment. */
export const NAMING_ATTRIBUTES: ReadonlySet<string> = new Set(["service.name", ...ENVIRONMENT_NAMES]);

/** Labels that name the service of a remote-write series, in order of precedence. */
const SERVICE_LABELS = ["service_id", "service", "service_name", "app", "job"] as const;

/** The number of a label as SR_SERVICE_LABEL has it. */
export function serviceLabelNumber(labels: ReadonlyArray<readonly [string, string]>): number {
  const present = new Set(labels.filter(([, value]) => value !== "").map(([label]) => label));
  const index = SERVICE_LABELS.findIndex((label) => present.has(label));
  return index < 0 ? SERVICE_LABEL_ABSENT : index + 1;
}

/** The label of a number that SR_SERVICE_LABEL has; undefined where none named the service, `service_id` where the stream came otherwise. */
export function serviceLabelOf(number: number): string | undefined {
  return isNamedHere(number) ? SERVICE_LABELS[0] : SERVICE_LABELS[number - 1];
}

/** Whether a stream has the labels that this server gives, since no labels came with it. */
export function isNamedHere(number: number): boolean {
  return number === SERVICE_LABEL_FOREIGN || number === SERVICE_LABEL_QUERY_ONLY;
}

/** Attributes that describe a value rather than identify its stream. */
const DESCRIPTIVE_NAMES: ReadonlySet<string> = new Set(["metric_type"]);

/** Reads an attribute of the object itself only, so that "__proto__" and the like are ordinary names. */
export function ownAttribute(attributes: Attributes, name: string): AttributeValue | undefined {
  return ownMember(attributes, name);
}

/** The name of the attribute that says the environment. */
export function environmentAttribute(attributes: Attributes): string | undefined {
  return ENVIRONMENT_NAMES.find((name) => {
    const value = ownAttribute(attributes, name);
    return typeof value === "string" && value !== "";
  });
}

/** The environment that attributes name, or "" when none does. */
export function environmentOf(attributes: Attributes): string {
  const name = environmentAttribute(attributes);
  return name === undefined ? "" : (ownMember(attributes, name) as string);
}

function canonicalValue(value: AttributeValue): string {
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonicalValue).join(",")}]`;
  return canonicalAttributes(value as Attributes);
}

/** JSON of attributes but those of `without`, with names sorted at every level: the same for every spelling of the same attributes. Depth is bounded by the caller. */
export function canonicalAttributes(attributes: Attributes, without: readonly string[] = []): string {
  const names = Object.keys(attributes);
  if (!isSorted(names)) names.sort();
  let text = "{";
  for (const name of names) {
    if (without.includes(name)) continue;
    text += `${text.length === 1 ? "" : ","}${JSON.stringify(name)}:${canonicalValue(ownMember(attributes, name) as AttributeValue)}`;
  }
  return `${text}}`;
}

/** Names that come from an identity are: to sort costs more memory than all the rest. */
function isSorted(names: readonly string[]): boolean {
  for (let at = 1; at < names.length; at++) if ((names[at] as string) < (names[at - 1] as string)) return false;
  return true;
}

/** The canonical text of an identity, `without` some attributes where it says so; `identityName` reads it back. */
export function identityText(name: StreamName, without?: readonly string[]): string {
  const head = JSON.stringify([name.tenant, name.environment, name.serviceId, name.metricName]);
  return `${head.slice(0, -1)},${canonicalAttributes(name.attributes, without)}]`;
}

/** The text that the identities of a tenant's streams begin with, up to the environment. */
export function identityHead(tenant: string): string {
  return `[${JSON.stringify(tenant)},`;
}

/** The key of a service: JSON, as tenant and service stand in an identity. */
export function serviceKey(tenant: string, serviceId: string): string {
  return JSON.stringify([tenant, serviceId]);
}

/** The service of a key that serviceKey() gave. */
export function serviceIdOf(key: string): string {
  return (JSON.parse(key) as [string, string])[1];
}

/** The names in an identity's canonical text. */
export function identityName(text: string): StreamName {
  const [tenant, environment, serviceId, metricName, attributes] = JSON.parse(text) as [string, string, string, string, Attributes];
  return { tenant, environment, serviceId, metricName, attributes };
}

/** The stream of a telemetry record that carries a value. */
export function nameOfRecord(tenant: string, serviceId: string, metricName: string, input: Attributes): StreamName {
  const identifies = (name: string) => !DESCRIPTIVE_NAMES.has(name) && ownMember(input, name) !== ""; // an empty attribute is none
  const isWhole = Object.keys(input).every(identifies);
  const attributes = isWhole ? input : Object.fromEntries(Object.entries(input).filter(([name]) => identifies(name)));
  return { tenant, environment: environmentOf(input), serviceId, metricName, attributes };
}

/** The stream of a remote-write series. `metricName` is "" when the series has no __name__. */
export function nameOfLabels(tenant: string, labels: ReadonlyArray<readonly [string, string]>, replicaLabels = REPLICA_LABELS): StreamName {
  const present = labels.filter(([, value]) => value !== ""); // a label without a value is none
  const byName = new Map(present);
  const serviceLabel = SERVICE_LABELS.find((label) => byName.has(label));
  const isAttribute = (label: string) => label !== "__name__" && label !== serviceLabel && !replicaLabels.has(label);
  const attributes = Object.fromEntries(present.filter(([label]) => isAttribute(label)));
  return {
    tenant,
    environment: environmentOf(attributes),
    serviceId: serviceLabel === undefined ? "unknown" : (byName.get(serviceLabel) as string),
    metricName: byName.get("__name__") ?? "",
    attributes,
  };
}
