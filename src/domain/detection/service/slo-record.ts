/** Data of an SLO in a record. */
export interface SloRecord {
  readonly tenant: string;
  readonly environment: string;
  readonly serviceId: string;
  readonly metricName: string;
  readonly timeMs: number;
  /** Good ratio of its period, 0..1; what a sender gives beyond that is kept and not judged. */
  readonly ratio: number;
  /** Null where the record names none. */
  readonly objective: number | null;
}

/** Whether a value can be the good ratio of a period. */
export function isRatio(value: number): boolean {
  return value >= 0 && value <= 1;
}
