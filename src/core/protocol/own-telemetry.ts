// Bodies that the server sends its engines itself: telemetry of fire drills, and levels that people take for the usual ones. They take the way of anybody's, and are
// not billed.

/** The service of fire drills: not watched for silence, not analysed, in no budget of pages. */
export const DRILL_SERVICE = "vedette.drill";

/**
 * A body for an engine: records (JSON, as POST /api/v1/telemetry/batch takes it), or the AcceptedPairs of accepted-level.ts. It is answered by an
 * OwnTelemetryAnswer.
 */
export interface OwnTelemetry {
  readonly type: "own-telemetry";
  readonly id: number;
  readonly tenant: string;
  readonly holds: "records" | "accepted_levels";
  readonly body: Uint8Array;
}

/** Answer of an engine, or of the way to it: 200 with the answer of a batch, or a refusal of the whole. */
export interface OwnTelemetryAnswer {
  readonly type: "own-telemetry-answer";
  readonly id: number;
  readonly status: number;
  readonly body: string | null;
}
