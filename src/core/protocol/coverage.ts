// What the coordinator asks engines about what detection looks at, and what they answer.

/** Counts of what was looked at: evaluated, learning, and skipped by reason. */
export interface LayerCounts {
  readonly evaluated: number;
  readonly learning: number;
  readonly skipped: Readonly<Record<string, number>>;
}

/** Layers of detection. `isolation_forest` counts services, each environment for itself; the others count streams. */
export const COVERAGE_LAYERS = ["statistical", "adaptive", "isolation_forest", "saturation"] as const;
export type CoverageLayer = (typeof COVERAGE_LAYERS)[number];

/** Layers that judge streams, of which a metric's coverage can be told. */
export const STREAM_LAYERS = ["statistical", "adaptive", "saturation"] as const;
export type StreamLayer = (typeof STREAM_LAYERS)[number];

/** Asks for the next slice of a scan over a tenant's services. Another number begins a new scan. */
export interface CoverageQuery {
  readonly type: "coverage";
  readonly id: number;
  readonly scan: number;
  readonly tenant: string;
  /** Null for all. */
  readonly serviceId: string | null;
  readonly environment: string | null;
  /** Streams to look at. */
  readonly most: number;
}

/** Streams of a metric; `layers` only where a service was asked for, and else all environments count as one, "". */
export interface MetricCoverage {
  readonly metricName: string;
  readonly environment: string;
  readonly streams: number;
  readonly layers: Readonly<Record<StreamLayer, LayerCounts>> | null;
}

/** A slice of a scan. */
export interface CoverageAnswer {
  readonly type: "coverage";
  readonly id: number;
  readonly layers: Readonly<Record<CoverageLayer, LayerCounts>>;
  readonly lookedAt: number;
  /** Number of those that match. */
  readonly streams: number;
  /** Streams that match by service. */
  readonly services: ReadonlyArray<readonly [serviceId: string, streams: number]>;
  readonly metrics: readonly MetricCoverage[];
  /** Streams that have an attribute, and hashes of its different values (hashOfValue() of domain/series/distinct-count.ts). */
  readonly attributes: ReadonlyArray<readonly [key: string, streams: number, values: Uint32Array]>;
  /** The scan is at its end. */
  readonly done: boolean;
}
