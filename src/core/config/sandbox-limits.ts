// Bounds of the programs of tenants, each with its reason.

import { MINUTE_MS, SECOND_MS } from "../time/durations.ts";

const MIB = 1 << 20;

/** Characters of a program: it is compiled at each run, some 1 ms at most. */
export const TRANSFORM_PROGRAM_CHARACTERS_MAX = 65_536;
/** Event that a program is given, and what it may answer: a receiver of alerts takes 512 KB at most (PagerDuty). */
export const TRANSFORM_INPUT_BYTES_MAX = MIB;
export const TRANSFORM_OUTPUT_BYTES_MAX = MIB / 4;
/** Levels of an answer: whoever writes it out again does so by recursion, which 10,000 levels exhaust. */
export const TRANSFORM_OUTPUT_LEVELS_MAX = 200;
/** Run of a program by the interpreter's own clock; it is killed once it is so much over it. */
export const TRANSFORM_RUN_MS_MAX = SECOND_MS;
export const TRANSFORM_KILL_GRACE_MS = 250;
/** Memory of a program by the interpreter's own count. */
export const TRANSFORM_MEMORY_BYTES_MAX = 64 * MIB;
/** Memory that a process may take beyond what it has when it is locked: the program's 64 MiB, its event in both forms, and room for the collector. */
export const SANDBOX_DATA_BYTES_MORE = 96 * MIB;
/** Processes that tenants hold, beside the spare: some 75 MB each. A tenant holds half of them at most. */
export const SANDBOX_PROCESSES_DEFAULT = 4;
export const SANDBOX_PROCESSES_MAX = 64;
/** A process without a run ends after so long, and is looked for so often. */
export const SANDBOX_IDLE_MS = MINUTE_MS;
export const SANDBOX_IDLE_CHECK_MS = 10 * SECOND_MS;
/** A process loads the interpreters and locks itself: 0.7 s of a quiet core, 75 MB. */
export const SANDBOX_START_MS_MAX = 20 * SECOND_MS;
/** Starts in a row that fail in a wrapper before processes start without it, and how long until it is looked for again: a full disk or memory passes. */
export const SANDBOX_WRAPPER_FAILURES_MAX = 3;
export const SANDBOX_WRAPPER_CHECK_MS = 10 * MINUTE_MS;
/** Waits before a process that did not start is tried again, doubled from the first to the last. */
export const SANDBOX_RETRY_MS = SECOND_MS;
export const SANDBOX_RETRY_MS_MAX = MINUTE_MS;
/** Runs that wait for a process, of a tenant and of all: each holds an event, 2 KB as a rule. Beyond, a run is to be tried again. */
export const SANDBOX_WAITING_PER_TENANT_MAX = 1_000;
export const SANDBOX_WAITING_MAX = 10_000;
/** Runs that overran their limits within the period, from which on a program is suspended until the first of them is so old. */
export const TRANSFORM_KILLS_MAX = 3;
export const TRANSFORM_KILLS_PERIOD_MS = 10 * MINUTE_MS;
/** Programs whose overruns are counted, some 200 bytes each; the oldest is forgotten. */
export const TRANSFORM_PENALTIES_MAX = 10_000;
/** Stored events that a program is tried on when it is saved, and how long that may take: a query is given 15 s. */
export const TRANSFORM_TRIAL_EVENTS_MAX = 20;
export const TRANSFORM_TRIAL_MS_MAX = 5 * SECOND_MS;
/** Interval, at least, between reports of changes of a sandbox. */
export const SANDBOX_REPORT_MS = 250;
/** Characters of what a failure says. */
export const TRANSFORM_ERROR_CHARACTERS_MAX = 500;
