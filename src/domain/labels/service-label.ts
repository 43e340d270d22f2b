// Labels of services (contract, sections 2.9 and 4.11.9): where they come from, which source wins, and what may stand in one.
// Labels in what telemetry says of its source (docs/adr/0026-pillar-scores.md). Pure, and cheap where there is none: a few look-ups.
import { LABEL_KEY_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";
import type { Attributes } from "../../core/protocol/coordinator-frame.ts";
import { isName } from "../series/name-rule.ts";
import { ownAttribute } from "../series/stream-identity.ts";

/** Attributes that say a label, the first present wins: the order of the contract's list. */
const ATTRIBUTES: Readonly<Record<RoutingKey, readonly string[]>> = {
  team: ["team", "service.team", "k8s.pod.label.team"],
  owner: ["service.owner", "owner"],
};

/** Series whose labels are those of a Prometheus target itself, and not dimensions of a value: the scrape's own, and OpenTelemetry's resource attributes. */
const TARGET_SERIES: ReadonlySet<string> = new Set(["up", "target_info"]);

/** Where a label comes from; a later one wins. */
export const LABEL_SOURCES = ["telemetry", "catalog", "manual"] as const;
export type LabelSource = (typeof LABEL_SOURCES)[number];

/** The keys that telemetry and catalogs set, and that matter for routing. */
export const ROUTING_KEYS = ["team", "owner"] as const;
export type RoutingKey = (typeof ROUTING_KEYS)[number];

/** Labels by key, as one source says them. */
export type RoutingLabels = Readonly<Partial<Record<RoutingKey, string>>>;

const KEY = /^[A-Za-z_][A-Za-z0-9_./-]*$/;

/** Whether a key may be used: a letter or underscore, then letters, digits and _ . / - up to LABEL_KEY_CHARACTERS_MAX. */
export function isLabelKey(key: string): boolean {
  return key.length <= LABEL_KEY_CHARACTERS_MAX && KEY.test(key);
}

/** The labels that attributes of a source say; undefined where they say none. A text that may be no label is passed over. */
export function labelsOfAttributes(attributes: Attributes): RoutingLabels | undefined {
  return labelsBy((name) => ownAttribute(attributes, name));
}

/** The same for a remote-write series: of `up` and `target_info` alone, with dots written as underscores, as Prometheus does. */
export function labelsOfSeries(metricName: string, attributes: Attributes): RoutingLabels | undefined {
  if (!TARGET_SERIES.has(metricName)) return undefined;
  return labelsBy((name) => ownAttribute(attributes, name) ?? ownAttribute(attributes, name.replaceAll(".", "_")));
}

function labelsBy(read: (name: string) => unknown): RoutingLabels | undefined {
  let labels: Partial<Record<RoutingKey, string>> | undefined;
  for (const key of ROUTING_KEYS) {
    for (const name of ATTRIBUTES[key]) {
      const value = read(name);
      const text = typeof value === "string" ? value.trim() : "";
      if (!isName(text)) continue;
      labels ??= {};
      labels[key] = text;
      break;
    }
  }
  return labels;
}
