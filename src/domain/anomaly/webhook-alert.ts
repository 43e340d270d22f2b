// An alert of an Alertmanager as an anomaly (decisions, section 6): it counts as manual override, and is distinguished by its labels and its start, so that a repeat
// changes nothing. Its names are mended and its texts cut, never refused: an Alertmanager that gets a 4xx drops the whole request, and its pages are lost.

import { hash128 } from "../../core/base/hash128.ts";
import { ownMember, setMember } from "../../core/base/own-member.ts";
import { parseRfc3339 } from "../../core/base/rfc3339.ts";
import { cutToBytes } from "../../core/base/utf8.ts";
import { RECORD_ATTRIBUTES_BYTES_MAX } from "../../core/config/body-limits.ts";
import { VALUE_BYTES_MAX } from "../../core/config/limits.ts";
import type { Attributes, EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import { type Tier, zOfScore } from "../detection/anomaly-score.ts";
import { holds } from "../detection/gates/gate-result.ts";
import { ruleVerdict } from "../detection/gates/rule-verdict.ts";
import { mendedName } from "../series/name-rule.ts";
import { environmentOf } from "../series/stream-identity.ts";

export interface WebhookAlert {
  readonly status: "firing" | "resolved";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt?: string | undefined;
}

/** Its family is reported as `alertmanager` where rules ask for a source. */
const DETECTOR_EXTERNAL = "external";

const SCORES: Readonly<Record<Tier, number>> = { low: 0.3, medium: 0.6, high: 0.9 };
const TIERS: Readonly<Record<string, Tier>> = { critical: "high", page: "high", warning: "medium", error: "medium" };
const SERVICE_LABELS = ["service_id", "service", "job"] as const;
const TEXT_CHARACTERS_MAX = 1_000;
/** Earlier starts are none: Alertmanager writes year 1 for them. */
const STARTS_MS_MIN = 0;

/** The opening or closing of its episode, as `by` has sent it, with as much of its labels as an event keeps of its attributes. `nowMs` stands for a start that is not told. */
export function webhookEpisode(
  tenant: string,
  by: string,
  { status, labels, annotations, startsAt }: WebhookAlert,
  nowMs: number,
): EpisodeFrame {
  const metricName = mendedName(labels.alertname || "alert");
  const serviceId = mendedName(
    SERVICE_LABELS.map((name) => labels[name]).find((value) => value !== undefined && value !== "") ?? "unknown",
  );
  const startsMs = startsAt === undefined ? undefined : parseRfc3339(startsAt);
  const startedAtMs = startsMs === undefined || startsMs <= STARTS_MS_MIN || startsMs > nowMs ? nowMs : startsMs;
  const tier = ownMember(TIERS, (labels.severity ?? "").toLowerCase()) ?? "low";
  const z = zOfScore(SCORES[tier]);
  const numbers = { observed: 0, expected: 0, lower: 0, upper: 0, threshold: 0, baselineValues: 0, baselineAgeSeconds: 0 };
  const text = annotations.summary ?? annotations.description ?? annotations.message ?? `${metricName} fires`;
  return {
    tenant,
    environment: mendedName(environmentOf(labels as Attributes)),
    serviceId,
    metricName,
    attributes: keptLabels(labels),
    transition: status === "resolved" ? "close" : "open",
    episodeId: alertEpisodeId(tenant, labels, startsMs === undefined ? 0 : startedAtMs),
    detector: DETECTOR_EXTERNAL,
    direction: "high",
    startedAtMs,
    observedAtMs: nowMs,
    z,
    verdict: { ...ruleVerdict({ detector: DETECTOR_EXTERNAL, z, gates: [holds("manual_override", true)], ...numbers }), declared_by: by },
    explanation: text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed(),
    arrivalMs: 0,
  };
}

/**
 * The first labels that have room together in what a record keeps of its attributes: their names are names, and their values well-formed texts that are cut where they
 * are longer than an attribute's may be.
 */
function keptLabels(labels: Readonly<Record<string, string>>): Attributes {
  let left = RECORD_ATTRIBUTES_BYTES_MAX;
  const kept: Record<string, string> = Object.create(null);
  for (const [label, text] of Object.entries(labels)) {
    const name = mendedName(label);
    const value = cutToBytes(text.slice(0, VALUE_BYTES_MAX), VALUE_BYTES_MAX).toWellFormed();
    left -= name.length + value.length;
    if (left < 0) break;
    setMember(kept, name, value);
  }
  return kept;
}

/** Of the labels as they came: two alerts that differ are two, whatever their names are mended to. */
function alertEpisodeId(tenant: string, labels: Readonly<Record<string, string>>, startedAtMs: number): string {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  return hash128(JSON.stringify(["alertmanager", tenant, sorted, startedAtMs]));
}
