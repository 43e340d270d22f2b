// What engines hold of an incident: asked for in slices by the analysis of root causes, answered in a packed shape (domain/rca/evidence-packing.ts).

/** Asks for the next slice of a scan over a tenant's services; another number begins a new scan. */
export interface EvidenceQuery {
  readonly type: "evidence";
  readonly id: number;
  readonly scan: number;
  /** Names of series that this engine has told and that are known still. */
  readonly namesKnown: number;
  readonly tenant: string;
  readonly environment: string;
  /** Wall clock: from when on the incident is, and up to where it is looked at. */
  readonly onsetMs: number;
  readonly untilMs: number;
  /** Departures of series, the newest values of the two that stand best for each service, or whom series of calls name. */
  readonly wants: "departures" | "rings" | "callees";
  /** Only these services; null for all. */
  readonly services: readonly string[] | null;
}

/** Log lines of one template by minute. */
export interface LineCounts {
  readonly serviceId: string;
  readonly template: string;
  readonly severity: number;
  readonly past: readonly number[];
  readonly now: number;
}

/** Requests and errors of one service by minute, as spans tell them. */
export interface RequestCounts {
  readonly serviceId: string;
  readonly pastRequests: readonly number[];
  readonly pastErrors: readonly number[];
  readonly requests: number;
  readonly errors: number;
}

/** The newest values of a series, oldest first. */
export interface RingValues {
  readonly serviceId: string;
  readonly metricName: string;
  readonly times: Float64Array;
  readonly values: Float64Array;
}

export interface EvidenceAnswer {
  readonly type: "evidence";
  readonly id: number;
  /** Names that are told for the first time, JSON of [service, metric, instance, peer, node], and the number of the first (domain/rca/series-names.ts). */
  readonly names: readonly string[];
  readonly namesFrom: number;
  /** Series, packed. */
  readonly numbers: Float64Array<ArrayBuffer>;
  readonly lines: readonly LineCounts[];
  /** Services that the scan has passed. */
  readonly services: readonly string[];
  readonly requests: readonly RequestCounts[];
  readonly rings: readonly RingValues[];
  /** Callees that series of calls name, under whatever name a caller has for them. */
  readonly callees: ReadonlyArray<readonly [caller: string, callee: string]>;
  /** Self times of operations of the traces that the engine joins: the service of each, and numbers (domain/rca/operation-packing.ts). */
  readonly operations: readonly string[];
  readonly operationNumbers: Float64Array;
  /** Names of the operations of its own services. */
  readonly named: ReadonlyArray<{ readonly serviceId: string; readonly names: readonly string[] }>;
  /** Streams looked at, and what that took. */
  readonly streams: number;
  readonly tookMs: number;
  /** The scan is at its end. */
  readonly done: boolean;
}
