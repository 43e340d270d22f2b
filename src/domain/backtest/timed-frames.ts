// What a backtest goes over and what it finds there, with the time at which it is known.
import type { EpisodeFrame } from "../../core/protocol/coordinator-frame.ts";
import type { ConfirmedPair } from "../../core/protocol/engine-control.ts";
import type { BacktestFacts, BacktestOptions, BacktestSeries, Scored } from "./history.ts";
import type { WorkSlices } from "./work-slices.ts";

/** A series in the order of all. */
export interface PlacedSeries {
  readonly series: BacktestSeries;
  readonly key: string;
}

/** Where a finding comes from: of two at one time, that of the lower number comes first, as in a cycle (rule 1.1.1). */
export const STAGE_SAMPLES = 0;
export const STAGE_SERVICES = 1;
export const STAGE_PAIRS = 2;

/** A transition or a confirmation, and when it is known. */
export interface TimedFrame {
  readonly frame: EpisodeFrame | ConfirmedPair;
  readonly atMs: number;
  readonly stage: number;
  /** Place of its series, or service, among all. */
  readonly index: number;
}

/** Frames of the present and of the changed run. */
export type BothFrames = readonly [TimedFrame[], TimedFrame[]];

export interface SeriesFramesOptions extends BacktestOptions {
  readonly facts: BacktestFacts;
  readonly slices: WorkSlices;
  readonly scored?: Scored;
}
