// Labels of services (contract, sections 2.9 and 4.11.9): where they come from, which source wins, and what may stand in one.
import { isLongerThan } from "../../core/base/utf8.ts";
import { LABEL_KEY_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";

/** Where a label comes from; a later one wins. */
export const LABEL_SOURCES = ["telemetry", "catalog", "manual"] as const;
export type LabelSource = (typeof LABEL_SOURCES)[number];

/** The keys that telemetry and catalogs set, and that matter for routing. */
export const ROUTING_KEYS = ["team", "owner"] as const;
export type RoutingKey = (typeof ROUTING_KEYS)[number];

/** Labels by key, as one source says them. */
export type RoutingLabels = Readonly<Partial<Record<RoutingKey, string>>>;

const KEY = /^[A-Za-z_][A-Za-z0-9_./-]*$/;
/** Controls, line separators, halves of surrogate pairs: a label ends up in headers, subjects and messages. */
const FORBIDDEN = /[\p{Cc}\p{Cs}\u2028\u2029]/u;

/** Whether a key may be used: a letter or underscore, then letters, digits and _ . / - up to LABEL_KEY_CHARACTERS_MAX. */
export function isLabelKey(key: string): boolean {
  return key.length <= LABEL_KEY_CHARACTERS_MAX && KEY.test(key);
}

/** Whether a text may be a label's value, or the name of a service that has labels: 1 to NAME_BYTES_MAX bytes without control characters. */
export function isLabelText(text: string): boolean {
  return text !== "" && !FORBIDDEN.test(text) && !isLongerThan(text, NAME_BYTES_MAX);
}
