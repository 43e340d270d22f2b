// The range of time that lists share: `since` inclusive, `until` exclusive.
import { done, type Outcome, refused } from "../../api/refusal.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";

/** A range in ms; unbounded where infinite. */
export interface TimeRange {
  readonly fromMs: number;
  readonly toMs: number;
}

/** The range of a query; refused when it runs backwards. */
export function timeRange(since: number | undefined, until: number | undefined): Outcome<TimeRange> {
  if (since !== undefined && until !== undefined && since > until) {
    return refused("invalid_parameter", `since must not be after until, got ${formatRfc3339(since)} and ${formatRfc3339(until)}`, "since");
  }
  return done({ fromMs: since ?? Number.NEGATIVE_INFINITY, toMs: until ?? Number.POSITIVE_INFINITY });
}
