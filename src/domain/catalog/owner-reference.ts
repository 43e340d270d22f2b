// The owner of a Backstage entity: [<kind>:][<namespace>/]<name>. https://backstage.io/docs/features/software-catalog/references

import { ownMember } from "../../core/collections/own-member.ts";
import type { RoutingKey } from "../labels/service-label.ts";
import { isName } from "../series/name-rule.ts";

/** The label that an owner gives. */
export interface OwnerLabel {
  readonly key: RoutingKey;
  readonly value: string;
}

const DEFAULT_NAMESPACE = "default";
const KEYS: Readonly<Record<string, RoutingKey>> = { group: "team", user: "owner" };

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
