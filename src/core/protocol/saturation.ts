// What the coordinator and the engines tell each other for the Watchdog's pass over bounded series.
import type { StreamName } from "./coordinator-frame.ts";

/** A finding that is reported already; `key` is that of its series. */
export interface ReportedFinding {
  readonly key: string;
  readonly tier: "low" | "medium" | "high";
  readonly rule: "time_to_exhaustion" | "headroom_breach" | "resident_high";
}

/** A declared limit; `serviceId` null is the tenant-wide default. */
export interface SaturationLimit {
  readonly tenant: string;
  readonly serviceId: string | null;
  readonly metric: string;
  /** Positive and finite, in `unit`. */
  readonly limitValue: number;
  /** For texts: bytes, connections. */
  readonly unit: string;
  /** Milliseconds since 1970. */
  readonly updatedMs: number;
}

/** An open anomaly that may confirm a finding of saturation: of a service (serviceKey()) in an environment, by another detector on this metric. */
export type Corroboration = readonly [service: string, environment: string, metricName: string];

/** Before a pass: to every engine. */
export interface SaturationUpdate {
  readonly type: "saturation-update";
  /** All declarations, where they have changed since the last pass. */
  readonly limits: readonly SaturationLimit[] | null;
  /** Findings that were open when the coordinator started; reported once. */
  readonly restored: readonly ReportedFinding[] | null;
  /** Keys of the engine's series that have a finding which is told. */
  readonly open: readonly string[];
  readonly corroborations: readonly Corroboration[];
}

/** Stored samples of a series, aggregated: the numbers of a SaturationPosition. */
export interface AggregatedHistory {
  readonly key: string;
  /** As it was wanted: later values are not in it. */
  readonly untilMs: number;
  readonly head: Float64Array;
  readonly rings: Float32Array;
}

/** Histories that the engine has asked for. */
export interface SaturationHistories {
  readonly type: "saturation-histories";
  readonly histories: readonly AggregatedHistory[];
}

/** Asks for the history of a series: that of one stream, or of several averaged. */
export interface WantedHistory {
  readonly key: string;
  readonly partition: number;
  readonly streamIds: readonly Uint8Array[];
  readonly metricName: string;
  /** As its sender declares it, and the limit that is declared for it: what it is a breach of. */
  readonly unit: string | null;
  readonly limit: { readonly value: number; readonly unit: string } | null;
  /** From here on the rings of all its streams have everything. */
  readonly untilMs: number;
}

/** A series that has a finding. */
export interface SaturationReport extends StreamName {
  readonly key: string;
  /** Time of the newest sample that it rests on. */
  readonly sampleMs: number;
  /** SaturationFinding of domain/saturation. */
  readonly finding: unknown;
}

/** Report of a slice of the pass. */
export interface SaturationFound {
  readonly reports: readonly SaturationReport[];
  /** Series with a breach that is a habit. */
  readonly habitual: readonly SaturationReport[];
  /** Keys of series with a finding that is told: of which there is nothing new, that have new values without a finding, and that are not judged any more. */
  readonly waiting: readonly string[];
  readonly over: ReadonlyArray<Pick<SaturationReport, "key" | "sampleMs">>;
  readonly ended: readonly string[];
  readonly wanted: readonly WantedHistory[];
  /** Series that have a place. */
  readonly series: number;
}
