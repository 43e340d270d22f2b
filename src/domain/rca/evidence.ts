// What is known of an incident: of each series, line of a log, operation and call what it was like in windows before, and what it is like since the onset.
// Made by the engines from what they hold in memory, and by the tests from labelled data; whatever the source, ranking reads nothing else.
// Windows before ("past") are as long as the window since the onset, so that what is unusual now can be held against what was usual then.
import type { TimeMoments } from "../trace/time-sums.ts";

/** How far a series has left what it was (departure.ts). */
export interface Departure {
  /** Mean and standard deviation of the values before. */
  readonly mean: number;
  readonly sd: number;
  /** The value farthest from the mean, and its place in the window. */
  readonly peak: number;
  readonly peakAt: number;
  /** Place of the first value that is as unusual as half of the peak. */
  readonly onsetAt: number;
  /** Standard spreads above the usual peak, at least 0. */
  readonly novelty: number;
  /** Mean of the window, in standard deviations from the mean before. */
  readonly shift: number;
  /** The same novelty of each window before. */
  readonly past: Float32Array;
}

/** One stream of values. */
export interface SeriesEvidence {
  readonly serviceId: string;
  readonly metricName: string;
  /** Instance of a pair that is split by instance, else null. */
  readonly instance: string | null;
  /** Host or node that it is from; null where it does not say. */
  readonly node: string | null;
  /** Callee of a series of calls that names it (`server.address`, `peer.service`); else null. */
  readonly peer: string | null;
  readonly departure: Departure;
  /** When it departed. */
  readonly onsetMs: number;
  /** Between its values, as they came last. */
  readonly intervalMs: number;
}

/** Log lines of one template of one service, counted by window. */
export interface LineEvidence {
  readonly serviceId: string;
  /** Masked. */
  readonly template: string;
  /** Place in SEVERITIES, 0 where unknown. */
  readonly severity: number;
  readonly past: ArrayLike<number>;
  readonly now: number;
}

/** Spans of one operation in one window; what of a span's duration no child explains is its self time. */
export interface OperationWindow {
  readonly spans: number;
  readonly errors: number;
  readonly self: TimeMoments;
}

export interface OperationEvidence {
  readonly serviceId: string;
  readonly operation: string;
  /** Called from another service, or by nobody. */
  readonly isEntry: boolean;
  readonly past: readonly OperationWindow[];
  readonly now: OperationWindow;
}

/** Calls from one service to another in one window; the gap is what of the caller's span the callee's does not explain: network, queues. */
export interface CallWindow {
  readonly calls: number;
  readonly errors: number;
  readonly duration: TimeMoments;
  readonly gap: TimeMoments;
}

export interface CallEvidence {
  readonly caller: string;
  /** A service; of a call that leaves what is observed the name of the peer. */
  readonly callee: string;
  /** Whether the callee sends no spans, so that what its callers say of the call is all that is known of it. */
  readonly isPeer: boolean;
  readonly past: readonly CallWindow[];
  readonly now: CallWindow;
}

/** A change that somebody made. */
export interface ChangeEvidence {
  readonly serviceId: string;
  readonly atMs: number;
  readonly text: string;
}

/** A resource near its end. */
export interface SaturationEvidence {
  readonly serviceId: string;
  readonly metricName: string;
  readonly instance: string | null;
  /** 0 to 1. */
  readonly used: number;
}

/** All that is known. */
export interface IncidentEvidence {
  readonly onsetMs: number;
  readonly untilMs: number;
  /** Metric that was told first, where one was: the anomaly that asks. */
  readonly target: { readonly serviceId: string; readonly metricName: string } | null;
  /** Services that are known to send something, whether or not it has come since. */
  readonly senders: readonly string[];
  /** Services of the incident's anomalies so far. */
  readonly members: readonly string[];
  readonly series: readonly SeriesEvidence[];
  readonly lines: readonly LineEvidence[];
  readonly operations: readonly OperationEvidence[];
  readonly calls: readonly CallEvidence[];
  /** Who calls whom, whether or not their calls are measured. */
  readonly edges: ReadonlyArray<readonly [caller: string, callee: string]>;
  readonly changes: readonly ChangeEvidence[];
  readonly saturated: readonly SaturationEvidence[];
  /** Services that fell silent since the onset. */
  readonly silent: readonly string[];
}
