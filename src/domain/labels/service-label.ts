// Labels of services (contract, sections 2.9 and 4.11.9): where they come from, which source wins, and what may stand in one.
import { LABEL_KEY_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";

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
