/** What a record says of an SLO. */
export interface SloRecord {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly timeMs: number;
  /** Good ratio of its period, 0..1. */
  readonly ratio: number;
  /** Null where the record names none. */
  readonly objective: number | null;
}
