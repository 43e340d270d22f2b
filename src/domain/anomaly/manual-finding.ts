// An anomaly that somebody declares by hand (rule 1.1.9): no statistics are asked for it.
import { hash128 } from "../../core/hashing/hash128.ts";
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import { type Tier, zOfScore } from "../detection/anomaly-score.ts";
import { holds } from "../detection/gates/gate-result.ts";
import { ruleVerdict } from "../detection/gates/rule-verdict.ts";

export interface ManualDeclaration {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly severity: Tier;
  readonly explanation: string;
  readonly by: string;
}

/** Scores by severity, as the alerts of an Alertmanager have them (decisions, section 6). */
const SCORES: Readonly<Record<Tier, number>> = { low: 0.3, medium: 0.6, high: 0.9 };

/** The opening of its episode; it stays open until somebody resolves it. */
export function manualEpisode(of: ManualDeclaration, nowMs: number): EpisodeFrame {
  const { tenant, environment, serviceId, metricName, severity, explanation, by } = of;
  const z = zOfScore(SCORES[severity]);
  const gates = [holds("manual_override", true)];
  const numbers = { observed: 0, expected: 0, lower: 0, upper: 0, threshold: 0, baselineValues: 0, baselineAgeSeconds: 0 };
  return {
    tenant,
    environment,
    serviceId,
    metricName,
    attributes: { declared_by: by },
    transition: "open",
    episodeId: hash128(JSON.stringify(["manual", tenant, environment, serviceId, metricName, nowMs])),
    detector: "manual",
    direction: "high",
    startedAtMs: nowMs,
    observedAtMs: nowMs,
    z,
    verdict: { ...ruleVerdict({ detector: "manual", z, gates, ...numbers }), declared_by: by },
    explanation,
    arrivalMs: 0,
  };
}
