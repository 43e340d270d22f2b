// How old a service is for the bar of its series (rule 1.1.13): counted from its first value to the value that is judged, so that a log that is read again gives
// the same verdicts. Read by both compilers: integer constants only.

/** Below the first a service is young, below the second settling, from then on mature. */
export const SETTLING_FROM_MS = 86400000; // 24 h
export const MATURE_FROM_MS = 604800000; // 7 days

/** What a stream's flags say of the time before its first value is in these, and at most so many. */
export const SERVICE_HOUR_MS = 3600000;
export const SERVICE_HOURS_MAX = 168; // 7 days

/** Places in MATURITIES (domain/detection/gates/baseline-maturity.ts), by which tables are found. */
export const MATURITY_MATURE = 0;
export const MATURITY_SETTLING = 1;
export const MATURITY_YOUNG = 2;
