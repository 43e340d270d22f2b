// An anomaly: one episode of one pair (tenant, environment, service, metric) and direction; how full the pair is has an episode of its own. Streams of the pair
// whose own episodes open in the same direction while it is open are its members; it is resolved when the last of them has closed. Pure: what is known comes in,
// what is to be kept goes out. Everything here may be applied again after a replay without a change.
import { hash128 } from "../../core/hashing/hash128.ts";
import { type Attributes, type EpisodeFrame, isClosing } from "../../core/protocol/coordinator-frame.ts";
import type { Explanation } from "../../core/protocol/explanation-facts.ts";
import type { Tier } from "../detection/anomaly-score.ts";
import { HOLD_ENDS } from "../detection/departure/own-tail.ts";
import type { GateResult } from "../detection/gates/gate-result.ts";
import { DETECTOR_SATURATION } from "../saturation/saturation-finding.ts";
import { canonicalAttributes } from "../series/stream-identity.ts";
import type { AcceptedLevel, EndReason } from "./ending.ts";
import type { PageOutcome } from "./page-outcome.ts";
import { saysAnother } from "./sentence.ts";
import { alertFingerprint, DETECTOR_EXTERNAL } from "./webhook-alert.ts";

/** Outcome of an anomaly on its way to a page, when it was last decided on. */
export interface AnomalyPaging {
  /** With what the ensemble raised it by. */
  readonly tier: Tier;
  /** The alert that it belongs to. */
  readonly alertId: string | null;
  readonly outcome: PageOutcome;
  readonly suppressedBy: string | null;
  readonly decidedAtMs: number;
  /** Decisions before this one. */
  readonly serial: number;
  /** It triggered root-cause analysis: its pair's cooldown had passed. Absent where not, and in rows of before. */
  readonly rcaTriggered?: true;
}

/** Feedback of a user on an anomaly. */
export interface AnomalyFeedback {
  readonly opinion: "true_positive" | "false_positive";
  readonly note: string | null;
  readonly by: string;
  readonly atMs: number;
}

/** An anomaly as it is stored. `z`, `verdict`, `explanation`, `attributes` and `observedAtMs` belong to its peak. */
export interface Anomaly {
  /** 32 hex digits. */
  readonly id: string;
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly attributes: Attributes;
  readonly direction: "high" | "low";
  readonly detector: string;
  /** Time of the sample with which the first member's episode began. */
  readonly startedAtMs: number;
  /** Wall clock of the commit that stored it first. */
  readonly detectedAtMs: number;
  readonly observedAtMs: number;
  /** Wall clock of the commit that stored its end. */
  readonly resolvedAtMs: number | null;
  /** Time of the value that showed its end; absent while it is open, where no value did, where it is `resolvedAtMs`, and in rows of before. */
  readonly endedAtMs?: number;
  /** How it ended, as `endWord` says it (ending.ts). */
  readonly resolvedBy: string | null;
  /** Of one that was accepted as the new level. */
  readonly level?: AcceptedLevel;
  /** Signed. */
  readonly z: number;
  readonly verdict: unknown;
  /** Of which its sentence is made (sentence.ts). */
  readonly explanation: Explanation;
  /** Member episodes so far, and those still open. */
  readonly streams: number;
  readonly openStreams: number;
  /** Null for one that was stored before alerts were. */
  readonly paging: AnomalyPaging | null;
  readonly feedback: AnomalyFeedback | null;
  /** The episode that opened it, which has no row of its own; null where it has one. */
  readonly founder: Founder | null;
}

/** Subject of who has declared an anomaly, or sent it as an alert; null where it was found. */
export function declarerOf({ verdict }: Pick<Anomaly, "verdict">): string | null {
  const by = typeof verdict === "object" && verdict !== null && "declared_by" in verdict ? verdict.declared_by : null;
  return typeof by === "string" ? by : null;
}

/** When it was over: by the value that showed it, else when it was ended; null while it is open. */
export function endOfAnomaly({ resolvedAtMs, endedAtMs }: Pick<Anomaly, "resolvedAtMs" | "endedAtMs">): number | null {
  return resolvedAtMs === null ? null : (endedAtMs ?? resolvedAtMs);
}

/** Data of an anomaly's first episode that has to be remembered beside the anomaly itself. */
export interface Founder {
  readonly episodeId: string;
  readonly open: boolean;
}

/** One stream's episode as it is remembered: whose member it is, and whether it is still open. */
export interface Episode {
  readonly tenant: string;
  readonly anomalyId: string;
  /** Detection time of its anomaly, whose key it is a part of. */
  readonly detectedAtMs: number;
  readonly open: boolean;
}

/** State known when a frame comes: the episode, and the anomaly that it belongs to or would join. */
export interface KnownState {
  readonly episode: Episode | undefined;
  readonly anomaly: Anomaly | undefined;
  /** `anomalyIdOf` the frame, where it is known. */
  readonly id?: string;
}

/** Changes by a frame; an absent part stays as it was. `ignored` changes nothing. */
export interface EpisodeEffect {
  readonly kind: "ignored" | "opened" | "joined" | "updated" | "left" | "resolved";
  readonly episode?: Episode;
  readonly anomaly?: Anomaly;
}

const IGNORED: EpisodeEffect = { kind: "ignored" };

/** The episode as far as its anomaly remembers it. */
export function foundingEpisode(anomaly: Anomaly | undefined, episodeId: string): Episode | undefined {
  if (anomaly === undefined || anomaly.founder?.episodeId !== episodeId) return undefined;
  return { tenant: anomaly.tenant, anomalyId: anomaly.id, detectedAtMs: anomaly.detectedAtMs, open: anomaly.founder.open };
}

/** Key of an anomaly while it is open. */
export type AnomalyKey = Pick<Anomaly, "tenant" | "environment" | "serviceId" | "metricName" | "direction" | "detector" | "attributes">;

/**
 * The key under which at most one anomaly is open, hashed so that a map of them has short keys: its pair and direction, and what is asked of the pair. Detectors
 * that look for departures from the usual share one; how full a resource is, is another question with an answer of its own (value, limit, time). Alerts of an
 * Alertmanager are told apart by their fingerprints.
 */
export function openKeyOf({ tenant, environment, serviceId, metricName, direction, detector, attributes }: AnomalyKey): string {
  const pair = [tenant, environment, serviceId, metricName, direction];
  if (detector === DETECTOR_EXTERNAL) return hash128(JSON.stringify([...pair, detector, alertFingerprint(tenant, attributes)]));
  return hash128(JSON.stringify(detector === DETECTOR_SATURATION ? [...pair, detector] : pair));
}

/** The id that an anomaly opened by this frame has. */
export function anomalyIdOf(frame: EpisodeFrame): string {
  const { tenant, detector, attributes } = frame;
  return idOf(frame, detector === DETECTOR_EXTERNAL ? [alertFingerprint(tenant, attributes)] : []);
}

/** The id that an earlier version gave it: of an Alertmanager's alerts with the same name and start one for all. */
export function earlierIdOf(frame: EpisodeFrame): string {
  return idOf(frame, []);
}

function idOf(
  { tenant, environment, serviceId, metricName, direction, detector, startedAtMs }: EpisodeFrame,
  more: readonly string[],
): string {
  return hash128(JSON.stringify([tenant, environment, serviceId, metricName, direction, detector, startedAtMs, ...more]));
}

/**
 * Applies one frame. `known.anomaly` is the episode's own anomaly when the episode is known; else the open anomaly of the pair and direction;
 * else the anomaly that already has the id which this frame would give (a stream that fires late on the same start opens it again).
 */
export function applyEpisode(known: KnownState, frame: EpisodeFrame, wallNowMs: number): EpisodeEffect {
  // An update of an unknown episode: a gate held its opening back, and now it passes.
  if (known.episode === undefined) return isClosing(frame.transition) ? IGNORED : open(known, frame, wallNowMs);
  if (frame.transition === "open" || !known.episode.open) return IGNORED;
  return frame.transition === "update" ? update(known.anomaly, frame) : close(known.episode, known.anomaly, frame, wallNowMs);
}

function open({ anomaly, id }: KnownState, frame: EpisodeFrame, wallNowMs: number): EpisodeEffect {
  if (anomaly === undefined) {
    const opened = newAnomaly(id ?? anomalyIdOf(frame), frame, wallNowMs);
    return { kind: "opened", anomaly: opened, episode: memberOf(opened) };
  }
  const members = { streams: anomaly.streams + 1, openStreams: anomaly.openStreams + 1 };
  const episode = memberOf(anomaly);
  if (isQuiet(anomaly)) return { kind: "left", anomaly: { ...anomaly, ...members }, episode };
  const after = isOfRecord(anomaly, frame) ? atPeak(anomaly, frame) : raised(anomaly, frame);
  return { kind: "joined", anomaly: { ...reopened(after), ...members }, episode };
}

/** Detectors whose findings are what somebody says, and end with the word. */
const DECLARED: ReadonlySet<string> = new Set(["manual", DETECTOR_EXTERNAL]);

/** Whether it was ended from outside while its streams say that it goes on: until it was over once, further ones of the kind are no news. */
export function isQuiet({ resolvedAtMs, openStreams, detector }: Pick<Anomaly, "resolvedAtMs" | "openStreams" | "detector">): boolean {
  return resolvedAtMs !== null && openStreams > 0 && !DECLARED.has(detector);
}

/** Whether an episode begins on the stream that an anomaly was found by, whose own is over: slower looks at its pair may go on for minutes, and it was back. */
export function isOfStreamBack({ founder, detector, attributes }: Anomaly, frame: EpisodeFrame): boolean {
  return (
    founder?.open === false && frame.detector === detector && canonicalAttributes(frame.attributes) === canonicalAttributes(attributes)
  );
}

/** The anomaly as one that goes on. */
export function reopened({ level: _level, endedAtMs: _endedAtMs, ...anomaly }: Anomaly): Anomaly {
  return { ...anomaly, resolvedAtMs: null, resolvedBy: null };
}

function update(anomaly: Anomaly | undefined, frame: EpisodeFrame): EpisodeEffect {
  if (anomaly === undefined) return IGNORED;
  // It ended for want of values, and here is one that is worse than ever.
  const isBack = anomaly.resolvedBy === "ended" && isQuiet(anomaly) && Math.abs(frame.z) > Math.abs(anomaly.z);
  if (isBack) return { kind: "joined", anomaly: reopened(raised(anomaly, frame)) };
  if (anomaly.resolvedAtMs !== null) return IGNORED;
  const lasting = lastingGate(frame.verdict);
  if (lasting !== undefined && !isLasting(anomaly)) return { kind: "updated", anomaly: withLasting(raised(anomaly, frame), lasting) };
  const after = frame.z === anomaly.z && saysAnother(anomaly, frame) ? atPeak(anomaly, frame) : raised(anomaly, frame);
  return after === anomaly ? IGNORED : { kind: "updated", anomaly: after };
}

/** Whether what the anomaly says was said by an episode of this detector and stream. Of these one is open at a time: where another begins, that is so no more. */
function isOfRecord({ verdict, attributes }: Anomaly, frame: EpisodeFrame): boolean {
  const detector = typeof verdict === "object" && verdict !== null && "detector" in verdict ? verdict.detector : undefined;
  return detector === frame.detector && canonicalAttributes(attributes) === canonicalAttributes(frame.attributes);
}

/** Gate of a verdict by which a hold has ended. */
function lastingGate(verdict: unknown): GateResult | undefined {
  const gates = typeof verdict === "object" && verdict !== null && "gates" in verdict ? verdict.gates : [];
  return Array.isArray(gates) ? (gates as readonly GateResult[]).find(({ name, passed }) => HOLD_ENDS.has(name) && passed) : undefined;
}

/** Whether it has lasted for so long, or goes so far, that no hold waits for more of it. */
export function isLasting({ verdict }: Pick<Anomaly, "verdict">): boolean {
  return lastingGate(verdict) !== undefined;
}

/** The anomaly with the gate in the record of its peak. */
function withLasting(anomaly: Anomaly, gate: GateResult): Anomaly {
  const verdict = anomaly.verdict as { readonly gates?: readonly GateResult[] } | null;
  if (verdict === null || isLasting(anomaly)) return anomaly;
  return { ...anomaly, verdict: { ...verdict, gates: [...(verdict.gates ?? []), gate] } };
}

/** The episode closes even where its anomaly is gone or was resolved by somebody. */
function close(episode: Episode, anomaly: Anomaly | undefined, frame: EpisodeFrame, wallNowMs: number): EpisodeEffect {
  const { episodeId } = frame;
  const closed = { ...episode, open: false };
  if (anomaly === undefined) return { kind: "left", episode: closed };
  const openStreams = Math.max(0, anomaly.openStreams - 1);
  const founder = anomaly.founder?.episodeId === episodeId ? { episodeId, open: false } : anomaly.founder;
  const left = { ...anomaly, openStreams, founder };
  if (openStreams > 0 || anomaly.resolvedAtMs !== null) return { kind: "left", episode: closed, anomaly: left };
  // What is not heard of any more has no value that shows an end.
  const endedAtMs = frame.transition === "close" ? Math.max(frame.observedAtMs, anomaly.startedAtMs) : wallNowMs;
  return {
    kind: "resolved",
    episode: closed,
    anomaly: {
      ...left,
      resolvedAtMs: wallNowMs,
      ...(endedAtMs !== wallNowMs && { endedAtMs }),
      resolvedBy: endOf(frame),
      ...(frame.level !== undefined && { level: frame.level }),
    },
  };
}

/** How an episode says that its anomaly has ended. */
function endOf({ transition, detector, level }: EpisodeFrame): EndReason {
  if (transition === "end") return "ended";
  if (level !== undefined) return "accepted";
  return detector === DETECTOR_EXTERNAL ? "upstream" : "recovered";
}

/** The anomaly with the frame's peak where that is higher; the same object where it is not. */
function raised(anomaly: Anomaly, frame: EpisodeFrame): Anomaly {
  return Math.abs(frame.z) <= Math.abs(anomaly.z) ? anomaly : atPeak(anomaly, frame);
}

function atPeak(anomaly: Anomaly, { z, verdict, explanation, attributes, observedAtMs }: EpisodeFrame): Anomaly {
  return { ...anomaly, z, verdict, explanation, attributes, observedAtMs };
}

function memberOf(anomaly: Anomaly): Episode {
  return { tenant: anomaly.tenant, anomalyId: anomaly.id, detectedAtMs: anomaly.detectedAtMs, open: true };
}

function newAnomaly(id: string, frame: EpisodeFrame, wallNowMs: number): Anomaly {
  return {
    id,
    tenant: frame.tenant,
    environment: frame.environment,
    serviceId: frame.serviceId,
    metricName: frame.metricName,
    attributes: frame.attributes,
    direction: frame.direction,
    detector: frame.detector,
    startedAtMs: frame.startedAtMs,
    detectedAtMs: wallNowMs,
    observedAtMs: frame.observedAtMs,
    resolvedAtMs: null,
    resolvedBy: null,
    z: frame.z,
    verdict: frame.verdict,
    explanation: frame.explanation,
    streams: 1,
    openStreams: 1,
    founder: { episodeId: frame.episodeId, open: true },
    paging: null,
    feedback: null,
  };
}
