// What an engine tells of the arrivals of its services, in the Watchdog's pass over them.

/** A service that is silent for longer than it ever is; gates are those of domain/detection/service/arrival-rhythm.ts. */
export interface StaleService {
  /** JSON of [tenant, service]. */
  readonly service: string;
  readonly environment: string;
  readonly lastSeenMs: number;
  readonly usualIntervalMs: number;
  readonly limitMs: number;
  readonly gates: ReadonlyArray<{ readonly name: string; readonly passed: boolean; readonly value: number; readonly limit: number }>;
}

/** What a slice of the pass tells. */
export interface ArrivalsFound {
  readonly stale: readonly StaleService[];
  /** Services with their environments that have not sent since the engine began, and of which that is too early to be news. */
  readonly unheard: ReadonlyArray<readonly [service: string, environment: string]>;
  /** Services (one for each environment) whose rhythm is known, by tenant. */
  readonly watched: Readonly<Record<string, number>>;
  /** Services that are not mature yet, with the time of their first sample (rule 1.1.13). */
  readonly young: ReadonlyArray<readonly [service: string, firstSeenMs: number]>;
  /** Requests in a cycle, of services that count them and for which a minimum is set. */
  readonly requests: ReadonlyArray<readonly [service: string, environment: string, count: number]>;
}
