// From an event of the shard kernel to the frame that tells the coordinator of an episode: verdict record and identity.
import {
  EVENT_CLOSE,
  EVENT_FLAG_ACCEPTED,
  EVENT_FLAG_AFTER_GAP,
  EVENT_FLAG_CONSTANT,
  EVENT_FLAG_HIGH,
  EVENT_FLAG_LASTING,
  EVENT_FLAG_RESET,
  EVENT_OPEN,
} from "../../core/layout/kernel-event.ts";
import { FLAG_OPERATION, FLAG_PERCENT } from "../../core/layout/stream-record.ts";
import type { WatchdogSettings } from "../../core/protocol/watchdog-settings.ts";
import type { LongBaselineSays } from "../detection/departure/own-tail.ts";
import { type DeclarationRule, zOfRatio } from "../detection/thresholds.ts";
import { DETECTOR_Z_SCORE, passesGates, type Verdict, zScoreVerdict } from "../detection/verdict.ts";
import type { ShardEvent } from "../kernel/shard-events.ts";
import type { BaselineWindow } from "../kernel/shard-kernel.ts";
import type { PackedEpisode } from "./episode-codec.ts";

/** Stream state in the shard at the moment of the event. */
export interface EpisodeContext extends DeclarationRule {
  /** Canonical bytes. */
  readonly identity: Uint8Array;
  readonly hash: Uint8Array;
  readonly streamFlags: number;
  /** Whether the stream counts events (domain/series/classification.ts). */
  readonly isOfCounts?: () => boolean;
  /** In force for the stream. */
  readonly threshold: number;
  /** Departures that may alert. */
  readonly direction: () => WatchdogSettings["direction"];
  /** Bucket width of a histogram's quantile (SR_WIDTH); 0 for other streams. Not given where buckets are not known any more. */
  readonly bucketWidth?: number;
  readonly baseline: () => BaselineWindow;
  /** Verdict of the stream's long baseline on the value at once. */
  readonly longBaseline?: (side: 1 | -1) => LongBaselineSays | undefined;
  /** 16 bytes of a text. */
  readonly hashText: (text: string) => Uint8Array;
}

const LAYERS = ["statistical"] as const;

/**
 * The frame of an event, or undefined when a gate holds it back; a closing always goes out, for one held back nobody knows, and without a verdict: the
 * anomaly keeps that of its peak.
 */
export function episodeFrame(event: ShardEvent, context: EpisodeContext): PackedEpisode | undefined {
  const { kind, flags } = event;
  const isHigh = (flags & EVENT_FLAG_HIGH) !== 0;
  const verdict = kind === EVENT_CLOSE ? null : verdictOf(event, context);
  if (verdict !== null && !passesGates(verdict)) return undefined;
  const direction = isHigh ? "high" : "low";
  const startedAtMs = event.startMs;
  return {
    identity: context.identity,
    transition: kind === EVENT_OPEN ? "open" : kind === EVENT_CLOSE ? "close" : "update",
    episodeId: context.hashText(`${Buffer.from(context.hash).toString("hex")} ${DETECTOR_Z_SCORE} ${direction} ${startedAtMs}`),
    detector: DETECTOR_Z_SCORE,
    direction,
    startedAtMs,
    observedAtMs: event.timeMs,
    z: isOfFewCounts(verdict) ? (verdict?.z as number) : peakZ(event, isHigh),
    verdict,
    arrivalMs: event.arrivalMs,
    ...((flags & EVENT_FLAG_ACCEPTED) !== 0 && { level: { from: event.mean, to: event.value } }),
  };
}

function verdictOf(event: ShardEvent, context: EpisodeContext): Verdict {
  const { flags } = event;
  const { values, ageSeconds } = context.baseline();
  return zScoreVerdict({
    value: event.value,
    mean: event.mean,
    sd: event.sd,
    rawSd: event.rawSd,
    ratio: event.ratio,
    count: event.count,
    window: values,
    ageSeconds,
    declared: true,
    constant: (flags & EVENT_FLAG_CONSTANT) !== 0,
    afterGap: (flags & EVENT_FLAG_AFTER_GAP) !== 0,
    reset: (flags & EVENT_FLAG_RESET) !== 0,
    lasting: (flags & EVENT_FLAG_LASTING) !== 0,
    threshold: context.threshold,
    direction: context.direction(),
    minimumSamples: context.samplesMin,
    confirmation: context.confirmation,
    operation: (context.streamFlags & FLAG_OPERATION) !== 0,
    isOfCounts: context.isOfCounts?.() === true,
    percent: (context.streamFlags & FLAG_PERCENT) !== 0,
    bucketWidth: context.bucketWidth ?? 0,
    longBaseline: context.longBaseline?.((flags & EVENT_FLAG_HIGH) === 0 ? -1 : 1),
    layers: LAYERS,
  });
}

/** Whether its z is that of few counts, which says less than a deviation does. */
function isOfFewCounts(verdict: Verdict | null): boolean {
  return verdict?.gates.some(({ name }) => name === "counts") === true;
}

/** Signed equivalent z of the episode's peak so far. */
function peakZ(event: ShardEvent, isHigh: boolean): number {
  const peak = isHigh ? event.peak : -event.peak;
  return (event.flags & EVENT_FLAG_CONSTANT) !== 0 ? peak : zOfRatio(peak, event.count);
}
