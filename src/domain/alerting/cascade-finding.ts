// Services that fail together, as a finding on the one that calls none of the others, or least of all. It names no cause: that is what the report of the incident does.
import { momentText } from "../../core/time/rfc3339.ts";
import { ruleVerdict, TIER_Z } from "../detection/gates/rule-verdict.ts";
import type { RuleFinding } from "../detection/service/rule-episode-set.ts";
import { CASCADE_SERVICES_MIN, type Cascade } from "./cascade.ts";

export const DETECTOR_CASCADE = "cascade";
export const CASCADE_METRIC = "service.cascade";
/** Calls of so long join services. */
export const CASCADE_CALLS_MINUTES = 60;
/** Members that are named in an attribute and in the text. */
const NAMED_MAX = 50;
const REPORTED_MAX = 8;

/** Cascade finding of a tenant's environment. */
export function cascadeFinding(
  { tenant, environment }: Pick<RuleFinding, "tenant" | "environment">,
  { root, members, firstOnsetMs, orderedShare, gates }: Cascade,
  nowMs: number,
): RuleFinding {
  const named = members.slice(0, REPORTED_MAX).join(", ");
  const rest = members.length > REPORTED_MAX ? ` and ${members.length - REPORTED_MAX} more` : "";
  return {
    tenant,
    environment,
    serviceId: root,
    metricName: CASCADE_METRIC,
    attributes: { members: members.slice(0, NAMED_MAX), ordered_share: orderedShare },
    direction: "high",
    startedAtMs: nowMs,
    observedAtMs: firstOnsetMs,
    verdict: ruleVerdict({
      detector: DETECTOR_CASCADE,
      observed: members.length,
      expected: 0,
      lower: 0,
      upper: CASCADE_SERVICES_MIN - 1,
      // A cascade is high, and tells more the more it takes down.
      z: TIER_Z.high + Math.log2(members.length / CASCADE_SERVICES_MIN),
      threshold: CASCADE_SERVICES_MIN,
      baselineValues: 0,
      baselineAgeSeconds: (nowMs - firstOnsetMs) / 1000,
      gates,
    }),
    explanation: `${members.length} services that call each other fail together since ${momentText(firstOnsetMs)}: ${named}${rest}`,
  };
}
