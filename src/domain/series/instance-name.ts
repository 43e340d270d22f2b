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

/** Attribute names that say the machine, in order of precedence. */
const NODE_NAMES = ["k8s.node.name", "host.name", "node", "host", "nodename"] as const;
const PORT = /:\d{1,5}$/;

/** The machine that attributes name, else the host of an instance with a port; null where none does. */
export function nodeOf(attributes: Attributes): string | null {
  for (const name of NODE_NAMES) {
    const value = ownAttribute(attributes, name);
    if (typeof value === "string" && value !== "") return value.replace(PORT, "");
  }
  const instance = ownAttribute(attributes, "instance");
  return typeof instance === "string" && PORT.test(instance) ? instance.replace(PORT, "") : null;
}
