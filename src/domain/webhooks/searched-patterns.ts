// Room of a tenant for the regular expressions of its webhooks, and of its runbooks: each anomaly is matched against all of them.
import { SEARCHED_TABLE_BYTES_PER_TENANT_MAX } from "../../core/config/pattern-limits.ts";
import type { PatternCache } from "../alerting/pattern/pattern-cache.ts";
import { searched } from "./webhook.ts";

/** Regular expressions of what matches findings, null where it has none. */
export interface SearchedPatterns {
  readonly serviceIdRegex: string | null;
  readonly metricNameRegex: string | null;
}

/** Why the tables of these patterns are too large to be matched together, in a sentence; null where they are not. `what` names their holders. */
export function searchedRoomProblem(
  patterns: Pick<PatternCache, "tableBytes">,
  holders: readonly SearchedPatterns[],
  what: string,
): string | null {
  const used = new Set(holders.flatMap(({ serviceIdRegex, metricNameRegex }) => [serviceIdRegex, metricNameRegex]));
  used.delete(null);
  const bytes = [...used].reduce((sum, regex) => sum + patterns.tableBytes(searched(regex as string)), 0);
  if (bytes <= SEARCHED_TABLE_BYTES_PER_TENANT_MAX) return null;
  const needed = `the patterns of your ${what} need ${Math.ceil(bytes / 1024)} KiB of memory with these`;
  return `${needed}; there are ${SEARCHED_TABLE_BYTES_PER_TENANT_MAX / 1024}: give shorter ones, with smaller numbers in {}, or delete some`;
}
