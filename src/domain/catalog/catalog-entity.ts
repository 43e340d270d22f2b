// What one entity of a Backstage catalog says of a service: a Component's owner. https://backstage.io/docs/features/software-catalog/descriptor-format
// The owner of a Backstage entity: [<kind>:][<namespace>/]<name>. https://backstage.io/docs/features/software-catalog/references
import { isObject, ownMember } from "../../core/collections/own-member.ts";
import type { RoutingKey } from "../labels/service-label.ts";
import { isName } from "../series/name-rule.ts";

const DEFAULT_NAMESPACE = "default";
const KEYS: Readonly<Record<string, RoutingKey>> = { group: "team", user: "owner" };

/** Why an entity sets nothing. */
export type SkipReason =
  | "unreadable"
  | "too_large"
  | "not_an_entity"
  | "other_kind"
  | "missing_name"
  | "invalid_name"
  | "missing_owner"
  | "invalid_owner"
  | "duplicate";

/** An entity that sets nothing; `kind` and `name` as far as they could be read. */
export interface SkippedEntity {
  readonly reason: SkipReason;
  readonly message: string;
  readonly kind: string | null;
  readonly name: string | null;
}

/** The label that a component sets: its name is the service_id, whatever its namespace. */
export interface ComponentLabel {
  readonly kind: string;
  readonly name: string;
  readonly key: RoutingKey;
  readonly value: string;
}

/** Characters of what is shown of an entity that is skipped. */
const SHOWN_CHARACTERS = 120;

/** A member of the object itself: "__proto__" is a name like any other. */
function member(value: unknown, name: string): unknown {
  return isObject(value) ? ownMember(value, name) : undefined;
}

function shownText(value: unknown): string | null {
  return typeof value === "string" ? value.slice(0, SHOWN_CHARACTERS) : null;
}

/** Reads a decoded entity. Pure; never throws. */
export function readEntity(entity: unknown): ComponentLabel | SkippedEntity {
  const kind = member(entity, "kind");
  const metadata = member(entity, "metadata");
  const name = member(metadata, "name");
  const skip = (reason: SkipReason, message: string) => ({ reason, message, kind: shownText(kind), name: shownText(name) });
  if (!isObject(entity) || typeof kind !== "string") return skip("not_an_entity", "is no entity: it needs kind, metadata and spec");
  if (kind.toLowerCase() !== "component")
    return skip("other_kind", `is of kind ${JSON.stringify(shownText(kind))}; only components are services`);
  if (typeof name !== "string" || name === "") return skip("missing_name", "has no metadata.name, which would be its service_id");
  if (!isName(name)) return skip("invalid_name", "metadata.name holds control characters or is too long");
  const owner = member(member(entity, "spec"), "owner");
  if (owner === undefined || owner === null || owner === "") return skip("missing_owner", "has no spec.owner");
  if (typeof owner !== "string") return skip("invalid_owner", "spec.owner is no text");
  const namespace = member(metadata, "namespace");
  const label = labelOfOwner(owner, typeof namespace === "string" && namespace !== "" ? namespace : "default");
  return typeof label === "string" ? skip("invalid_owner", `spec.owner ${label}`) : { kind, name, ...label };
}

/** The label that an owner gives. */
interface OwnerLabel {
  readonly key: RoutingKey;
  readonly value: string;
}

/**
 * The label of an owner of an entity in `namespace`, or what is wrong with the reference. Without a kind it is a group, without a namespace one of the
 * entity's own. The default namespace is left out, another kept: "group:default/payments" is payments, "group:retail/payments" is retail/payments.
 */
export function labelOfOwner(reference: string, namespace: string): OwnerLabel | string {
  const [, kind = "group", prefix, name = ""] = /^(?:([^:/]*):)?(?:([^:/]*)\/)?([^:/]*)$/.exec(reference.trim()) ?? [];
  const lowerKind = kind.toLowerCase();
  const key = ownMember(KEYS, lowerKind);
  if (name === "" || kind === "" || prefix === "") return `is no reference of the form [kind:][namespace/]name`;
  if (key === undefined) return `names an owner of kind ${JSON.stringify(kind.slice(0, 40))}; a group or a user is needed`;
  const space = prefix ?? namespace;
  const value = space.toLowerCase() === DEFAULT_NAMESPACE ? name : `${space}/${name}`;
  return isName(value) ? { key, value } : "holds control characters or is too long for a label";
}
