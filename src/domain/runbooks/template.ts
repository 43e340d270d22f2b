// Placeholders in the texts of a runbook: {{service_id}} stands for the finding's service. What is put in is written for its place, so that no value of a
// finding, which a sender of telemetry chooses, ends a quotation or a line.

import { ownMember } from "../../core/collections/own-member.ts";
import { HIDDEN } from "../../core/text/secret.ts";

/** Values by the names of placeholders. */
export type Facts = Readonly<Record<string, string>>;

/** Names that runs of an anomaly know, `attributes.<name>` beside them: in a run without one a step that needs them fails. */
const ANOMALY_FACTS = [
  "anomaly_id",
  "alert_id",
  "service_id",
  "metric_name",
  "environment",
  "severity",
  "anomaly_score",
  "explanation",
  "root_cause.category",
  "root_cause.summary",
] as const;
/** Names that every run knows; `secrets.<name>` beside them. */
const FACT_NAMES = [...ANOMALY_FACTS, "tenant_id", "runbook_id", "runbook_name", "execution_id", "started_by"] as const;

/** Context that a value is written into, which decides on its escaping. */
export type EscapeContext = "url" | "json" | "form" | "xml" | "line" | "header" | "text";

const PLACEHOLDER = /\{\{\s*([A-Za-z0-9_.\-/]{1,200})\s*\}\}/g;
const CONTROL = /\p{Cc}/gu;
const LONE_SURROGATES = /[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

/** A text with its placeholders filled. Names that are not known give nothing; of a run without an anomaly those of one stay as they are. */
export function rendered(text: string, facts: Facts, key: EscapeContext): string {
  const hasAnomaly = facts.anomaly_id !== undefined;
  return text.replace(PLACEHOLDER, (input: string, name: string) =>
    written(ownMember(facts, name) ?? (isOfAnomaly(name) && !hasAnomaly ? input : ""), key),
  );
}

/** The place of a body, by its content type and else by how it begins: values are written into quotations of JSON, as one value of a form, as text of XML, on one line. */
export function keyOfBody(body: string, contentType = ""): EscapeContext {
  const type = contentType.toLowerCase();
  if (/[/+]json\b/.test(type)) return "json";
  if (type.includes("x-www-form-urlencoded")) return "form";
  if (/[/+](xml|html)\b/.test(type)) return "xml";
  if (type === "" && /^\s*[[{"]/.test(body)) return "json";
  return type === "" && /^\s*</.test(body) ? "xml" : "line";
}

/** Names of the placeholders in a text. */
export function placeholdersOf(text: string): string[] {
  return [...text.matchAll(PLACEHOLDER)].map(([, name]) => name as string);
}

/** The first placeholder that nothing is known of; undefined where there is none. */
export function unknownPlaceholder(text: string, secrets: readonly string[]): string | undefined {
  for (const name of placeholdersOf(text)) {
    const isKnown =
      (FACT_NAMES as readonly string[]).includes(name) ||
      name.startsWith("attributes.") ||
      secrets.some((secret) => name === `secrets.${secret}`);
    if (!isKnown) return name;
  }
  return undefined;
}

/** The first placeholder of an anomaly in a text; undefined where there is none. */
export function anomalyPlaceholder(text: string): string | undefined {
  return placeholdersOf(text).find(isOfAnomaly);
}

function isOfAnomaly(name: string): boolean {
  return name.startsWith("attributes.") || (ANOMALY_FACTS as readonly string[]).includes(name);
}

/** Facts with the secrets beside them; `***` in their place where they are to be shown. */
export function withSecrets(facts: Facts, secrets: Readonly<Record<string, string>>, isShown: boolean): Facts {
  const named = Object.entries(secrets).map(([name, value]) => [`secrets.${name}`, isShown ? HIDDEN : value]);
  return { ...facts, ...Object.fromEntries(named) };
}

function written(value: string, key: EscapeContext): string {
  if (key === "url") return value === HIDDEN ? HIDDEN : inUrl(value);
  if (key === "json") return JSON.stringify(value).slice(1, -1);
  if (key === "form") return encodeURIComponent(value.replace(LONE_SURROGATES, "\ufffd"));
  if (key === "xml") return value.replace(CONTROL, " ").replace(/[&<>"']/g, (one) => `&#${one.charCodeAt(0)};`);
  if (key === "line") return value.replace(/[\p{Cc}\u2028\u2029]/gu, " ");
  if (key === "header") return value.replace(/[^\t\u0020-\u007e\u0080-\u00ff]/g, "?");
  return value.replace(CONTROL, (one) => (one === "\n" || one === "\t" ? one : " "));
}

/** Text of a path's part: of dots alone it would lead to the part above it. */
function inUrl(value: string): string {
  return encodeURIComponent(/^[.]+$/.test(value) ? value.replaceAll(".", "-") : value.replace(LONE_SURROGATES, "\ufffd"));
}
