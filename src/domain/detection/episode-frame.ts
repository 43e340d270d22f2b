// From an event of the shard kernel to the frame that tells the coordinator of an episode: verdict record, explanation, identity.
import {
  EVENT_CLOSE,
  EVENT_FLAG_AFTER_GAP,
  EVENT_FLAG_CONSTANT,
  EVENT_FLAG_HIGH,
  EVENT_FLAG_RESET,
  EVENT_OPEN,
} from "../../core/layout/kernel-event.ts";
import { FLAG_OPERATION, FLAG_PERCENT } from "../../core/layout/stream-record.ts";
import type { EpisodeFrame, StreamName } from "../../core/protocol/coordinator-frame.ts";
import type { WatchdogSettings } from "../../core/protocol/watchdog-settings.ts";
import type { ShardEvent } from "../kernel/shard-events.ts";
import type { BaselineWindow } from "../kernel/shard-kernel.ts";
import { zOfRatio } from "./thresholds.ts";
import { DETECTOR_Z_SCORE, explain, passesGates, zScoreVerdict } from "./verdict.ts";

/** What the shard knows of the stream at the moment of the event. */
export interface EpisodeContext {
  readonly name: StreamName;
  readonly hash: Uint8Array;
  readonly streamFlags: number;
  /** In force for the stream. */
  readonly threshold: number;
  /** Departures that may alert. */
  readonly direction: WatchdogSettings["direction"];
  readonly minSamples: number;
  readonly baseline: BaselineWindow;
  /** 32 hex digits of a text. */
  readonly hashText: (text: string) => string;
}

const LAYERS = ["statistical"] as const;

/** The frame of an event, or undefined when a gate holds it back; a closing always goes out, for one held back nobody knows. */
export function episodeFrame(event: ShardEvent, context: EpisodeContext): EpisodeFrame | undefined {
  const { kind, flags } = event;
  const constant = (flags & EVENT_FLAG_CONSTANT) !== 0;
  const isHigh = (flags & EVENT_FLAG_HIGH) !== 0;
  const verdict = zScoreVerdict({
    value: event.value,
    mean: event.mean,
    sd: event.sd,
    rawSd: event.rawSd,
    ratio: event.ratio,
    count: event.count,
    window: context.baseline.values,
    ageSeconds: context.baseline.ageSeconds,
    declared: true,
    constant,
    afterGap: (flags & EVENT_FLAG_AFTER_GAP) !== 0,
    reset: (flags & EVENT_FLAG_RESET) !== 0,
    threshold: context.threshold,
    direction: context.direction,
    minimumSamples: context.minSamples,
    operation: (context.streamFlags & FLAG_OPERATION) !== 0,
    percent: (context.streamFlags & FLAG_PERCENT) !== 0,
    layers: LAYERS,
  });
  if (kind !== EVENT_CLOSE && !passesGates(verdict)) return undefined;
  const direction = isHigh ? "high" : "low";
  const startedAtMs = event.startMs;
  return {
    ...context.name,
    transition: kind === EVENT_OPEN ? "open" : kind === EVENT_CLOSE ? "close" : "update",
    episodeId: context.hashText(`${Buffer.from(context.hash).toString("hex")} ${DETECTOR_Z_SCORE} ${direction} ${startedAtMs}`),
    detector: DETECTOR_Z_SCORE,
    direction,
    startedAtMs,
    observedAtMs: event.timeMs,
    z: peakZ(event, isHigh, constant),
    verdict,
    explanation: explain(verdict, { metricName: context.name.metricName }),
    arrivalMs: event.arrivalMs,
  };
}

/** Signed equivalent z of the episode's peak so far. */
function peakZ(event: ShardEvent, isHigh: boolean, constant: boolean): number {
  const peak = isHigh ? event.peak : -event.peak;
  return constant ? peak : zOfRatio(peak, event.count);
}
