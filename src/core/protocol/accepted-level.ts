// Levels that people take for the usual ones, on their way to the engines: logged like telemetry, so that a replay judges by them at the same sample.

/** A pair whose newest level is the usual one from now on: what of it is open, and began by `atMs` on the clock of its samples, ends as accepted. */
export interface AcceptedPair {
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly atMs: number;
}

/** Body of BODY_ACCEPTED_LEVELS. */
export interface AcceptedPairs {
  readonly pairs: readonly AcceptedPair[];
}
