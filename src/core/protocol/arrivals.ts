// What an engine says about the arrivals of its services, in the Watchdog's pass over them.

/** A service that has missed samples; gates are those of domain/detection/service/arrival-rhythm.ts. */
export interface SilentService {
  /** JSON of [tenant, service]. */
  readonly service: string;
  readonly environment: string;
  readonly lastSeenMs: number;
  /** From when on its silence counts: its newest sample, or the start of the process where that is later. */
  readonly sinceMs: number;
  readonly usualIntervalMs: number;
  /** Silence that is none of its ordinary gaps, and up to which one that began then is usual for it; 0 where it is not. */
  readonly limitMs: number;
  readonly usualSilenceMs: number;
  /** Silent for longer than it ever is; else it is overdue by an interval or more, and alone no news. */
  readonly isStale: boolean;
  readonly gates: ReadonlyArray<{ readonly name: string; readonly passed: boolean; readonly value: number; readonly limit: number }>;
}

export type ServiceInEnvironment = readonly [service: string, environment: string];

/** Report of a slice of the pass. */
export interface ArrivalsFound {
  readonly silent: readonly SilentService[];
  /** Services that have sent nothing of late and need not have yet, by tenant: since when, and their usual interval, in turns. */
  readonly pending: Readonly<Record<string, readonly number[]>>;
  /** Services that have not sent since the engine began, and of which that is too early to be news. */
  readonly unheard: readonly ServiceInEnvironment[];
  /** Services that are not watched any more: they have no streams in memory. */
  readonly gone: readonly ServiceInEnvironment[];
  /** Services (one for each environment) whose rhythm is known, by tenant. */
  readonly watched: Readonly<Record<string, number>>;
  /** Services that are not mature yet, with the time of their first sample (rule 1.1.13). */
  readonly young: ReadonlyArray<readonly [service: string, firstSeenMs: number]>;
  /** Requests in a cycle, of services that count them and for which a minimum is set. */
  readonly requests: ReadonlyArray<readonly [service: string, environment: string, count: number]>;
}
