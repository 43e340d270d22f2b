// The moments at which a group is evaluated: those of its interval, a little apart from those of other groups, and the same behind a restart.
import { RULE_INTERVAL_MS } from "../../core/config/rule-limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import { groupOfDocument } from "../../domain/rules/file/group-document.ts";
import { groupIdOf, type RuleGroupEntry } from "./rule-group-row.ts";

/** What a group is found by among those of all tenants. */
export function runKey({ tenant, file, document }: Pick<RuleGroupEntry, "tenant" | "file" | "document">): string {
  return JSON.stringify([tenant, groupIdOf(file, document.name)]);
}

/** A group's interval, and its first moment behind `nowMs`. */
export function evaluationsOf(entry: Pick<RuleGroupEntry, "tenant" | "file" | "document">, nowMs: number) {
  const group = groupOfDocument(entry.document);
  const intervalMs = group.intervalMs === undefined || group.intervalMs === 0 ? RULE_INTERVAL_MS : group.intervalMs;
  const offsetMs = Number.parseInt(hash128(runKey(entry)).slice(0, 8), 16) % intervalMs;
  return { group, intervalMs, nextMs: Math.floor((nowMs - offsetMs) / intervalMs) * intervalMs + offsetMs + intervalMs };
}
