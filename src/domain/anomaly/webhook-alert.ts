// An alert of an Alertmanager as an anomaly (decisions, section 6): it counts as manual override, and is distinguished by its labels and its start, so that a repeat
// changes nothing. Of one fingerprint one is open at a time, whatever start is sent with it: the servers of a pair send each its own. Its names are mended and its texts cut, never refused: an Alertmanager that gets a 4xx drops the whole request, and its pages are lost.
import { ownMember, setMember } from "../../core/collections/own-member.ts";
import { RECORD_ATTRIBUTES_BYTES_MAX } from "../../core/config/body-limits.ts";
import { VALUE_BYTES_MAX } from "../../core/config/limits.ts";
import { hash128 } from "../../core/hashing/hash128.ts";
import type { Attributes, EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import { cutToBytes } from "../../core/text/utf8.ts";
import { parseRfc3339 } from "../../core/time/rfc3339.ts";
import { type Tier, zOfScore } from "../detection/anomaly-score.ts";
import { holds } from "../detection/gates/gate-result.ts";
import { ruleVerdict } from "../detection/gates/rule-verdict.ts";
import { mendedName } from "../series/name-rule.ts";
import { REPLICA_LABELS } from "../series/replica-labels.ts";
import { environmentOf } from "../series/stream-identity.ts";

/** Whatever an Alertmanager sends; its family is reported as `alertmanager` where rules ask for a source. */
export const DETECTOR_EXTERNAL = "external";

export interface WebhookAlert {
  readonly status: "firing" | "resolved";
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  readonly startsAt?: string | undefined;
  readonly endsAt?: string | undefined;
}

const SCORES: Readonly<Record<Tier, number>> = { low: 0.3, medium: 0.6, high: 0.9 };
/** Severities by which other tools speak (decisions, section 6); any other, and none at all, is medium: what is not known is told. */
const TIERS: Readonly<Record<string, Tier>> = {
  ...tiersOf("high", ["critical", "page", "high", "fatal", "emergency", "disaster", "p1", "sev1"]),
  ...tiersOf("medium", ["warning", "error", "average", "medium", "p2", "p3"]),
  ...tiersOf("low", ["low", "info", "notice", "debug", "none", "p4", "p5"]),
};
const TIER_UNKNOWN: Tier = "medium";
const SERVICE_LABELS = ["service_id", "service", "job"] as const;
const TEXT_CHARACTERS_MAX = 1_000;
/** Of labels by which alerts are told apart. */
const IDENTITY_CHARACTERS_MAX = 512 * 1024;
/** Earlier starts are none: Alertmanager writes year 1 for them. */
const STARTS_MS_MIN = 0;

/** The opening or closing of its episode, as `by` has sent it, with as much of its labels as an event keeps of its attributes. `nowMs` stands for a start that is not told. */
export function webhookEpisode(
  tenant: string,
  by: string,
  { status, labels, annotations, startsAt, endsAt }: WebhookAlert,
  nowMs: number,
): EpisodeFrame {
  const metricName = mendedName(labels.alertname || "alert");
  const serviceId = mendedName(
    SERVICE_LABELS.map((name) => labels[name]).find((value) => value !== undefined && value !== "") ?? "unknown",
  );
  const startsMs = startsAt === undefined ? undefined : parseRfc3339(startsAt);
  const startedAtMs = startsMs === undefined || startsMs <= STARTS_MS_MIN || startsMs > nowMs ? nowMs : startsMs;
  const tier = ownMember(TIERS, (labels.severity ?? "").trim().toLowerCase()) ?? TIER_UNKNOWN;
  const z = zOfScore(SCORES[tier]);
  const numbers = { observed: 0, expected: 0, lower: 0, upper: 0, threshold: 0, baselineValues: 0, baselineAgeSeconds: 0 };
  const known = distinguishing(labels);
  const text = annotations.summary ?? annotations.description ?? annotations.message ?? `${metricName} fires`;
  return {
    tenant,
    environment: mendedName(environmentOf(labels as Attributes)),
    serviceId,
    metricName,
    attributes: retainedLabels(labels),
    transition: status === "resolved" ? "close" : "open",
    episodeId: alertEpisodeId(tenant, known, startsMs === undefined ? 0 : startedAtMs),
    fingerprint: fingerprintOf(tenant, known),
    detector: DETECTOR_EXTERNAL,
    direction: "high",
    startedAtMs,
    observedAtMs: status === "resolved" ? Math.min(nowMs, endOf(endsAt)) : nowMs,
    z,
    verdict: { ...ruleVerdict({ detector: DETECTOR_EXTERNAL, z, gates: [holds("manual_override", true)], ...numbers }), declared_by: by },
    explanation: text.slice(0, TEXT_CHARACTERS_MAX).toWellFormed(),
    arrivalMs: 0,
  };
}

/** A label by which alerts are told apart. */
type KnownLabel = readonly [name: string, value: unknown];

/** What of an open episode says whether an alert speaks of it. */
type OpenAlert = Pick<EpisodeFrame, "episodeId" | "startedAtMs">;

/**
 * The frame as one of each episode that it speaks of, among those `open` under its fingerprint. A repeat speaks of what is open; an end ends it whatever start it was
 * sent with, unless `endsAt` lies before it began: the end of an older episode ends nothing.
 */
export function ofOpenEpisodes(frame: EpisodeFrame, { endsAt }: WebhookAlert, open: readonly OpenAlert[]): EpisodeFrame[] {
  const isOwn = ({ episodeId }: OpenAlert) => episodeId === frame.episodeId;
  const endsMs = endOf(endsAt);
  const ended = open.filter((one) => isOwn(one) || endsMs >= one.startedAtMs);
  const meant = frame.transition === "open" ? (open.find(isOwn) ?? open[0]) : ended;
  const of = [meant ?? []].flat().map(({ episodeId, startedAtMs }) => ({ ...frame, episodeId, startedAtMs }));
  return of.length === 0 ? [frame] : of;
}

/** When it ended, as its sender says; infinite where it does not. */
function endOf(endsAt: string | undefined): number {
  const endedMs = endsAt === undefined ? undefined : parseRfc3339(endsAt);
  return endedMs === undefined || endedMs <= STARTS_MS_MIN ? Number.POSITIVE_INFINITY : endedMs;
}

/** What an alert is known by, whenever it began: its labels, without those that tell the servers of a pair apart. */
export function alertFingerprint(tenant: string, labels: Readonly<Record<string, unknown>>): string {
  return fingerprintOf(tenant, distinguishing(labels));
}

function fingerprintOf(tenant: string, known: readonly KnownLabel[]): string {
  return hash128(JSON.stringify(["alert fingerprint", tenant, known.filter(([name]) => !REPLICA_LABELS.has(name))]));
}

function tiersOf(tier: Tier, names: readonly string[]): Record<string, Tier> {
  return Object.fromEntries(names.map((word) => [word, tier]));
}

/**
 * The first labels that have room together in what a record keeps of its attributes: their names are names, and their values well-formed texts that are cut where they
 * are longer than an attribute's may be.
 */
function retainedLabels(labels: Readonly<Record<string, string>>): Attributes {
  let left = RECORD_ATTRIBUTES_BYTES_MAX;
  const retained: Record<string, string> = Object.create(null);
  for (const [label, text] of Object.entries(labels)) {
    const name = mendedName(label);
    const value = cutToBytes(text.slice(0, VALUE_BYTES_MAX), VALUE_BYTES_MAX).toWellFormed();
    left -= name.length + value.length;
    if (left < 0) break;
    setMember(retained, name, value);
  }
  return retained;
}

/** Of the labels as they came: two alerts that differ are two, whatever their names are mended to. */
function alertEpisodeId(tenant: string, known: readonly KnownLabel[], startedAtMs: number): string {
  return hash128(JSON.stringify(["alertmanager", tenant, known, startedAtMs]));
}

/** Labels that tell alerts apart, by name: megabytes of them would hold the thread, so what comes behind half a megabyte is left out. */
function distinguishing(labels: Readonly<Record<string, unknown>>): readonly KnownLabel[] {
  const sorted = Object.entries(labels).sort(([a], [b]) => (a < b ? -1 : 1));
  let left = IDENTITY_CHARACTERS_MAX;
  const end = sorted.findIndex(([name, value]) => {
    left -= name.length + String(value).length;
    return left < 0;
  });
  return end < 0 ? sorted : sorted.slice(0, end);
}
