// The instance of a stream: what splits a pair into instance series (decisions, section 1).
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { ownAttribute } from "./stream-identity.ts";

/** Attribute names that say the instance, in order of precedence. */
export const INSTANCE_NAMES = ["instance", "service.instance.id", "host.name", "k8s.pod.name", "pod"] as const;

/** The instance that attributes name; null where none does. */
export function instanceOf(attributes: Attributes): string | null {
  for (const name of INSTANCE_NAMES) {
    const value = ownAttribute(attributes, name);
    if (typeof value === "string" && value !== "") return value;
  }
  return null;
}
