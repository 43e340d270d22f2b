// Telemetry that the server sends itself, for fire drills: it takes the way of anybody's, and is not billed.

/** The service of fire drills: not watched for silence, not analysed, in no budget of pages. */
export const DRILL_SERVICE = "vedette.drill";

/** A body of records (JSON, as POST /api/v1/telemetry/batch takes it) for an engine; it is answered by an OwnTelemetryAnswer. */
export interface OwnTelemetry {
  readonly type: "own-telemetry";
  readonly id: number;
  readonly tenant: string;
  readonly body: Uint8Array;
}

/** Answer of an engine, or of the way to it: 200 with the answer of a batch, or a refusal of the whole. */
export interface OwnTelemetryAnswer {
  readonly type: "own-telemetry-answer";
  readonly id: number;
  readonly status: number;
  readonly body: string | null;
}
