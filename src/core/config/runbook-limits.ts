// Bounds of runbooks and their runs, each with its reason.

import { DAY_MS, HOUR_MS, SECOND_MS } from "../time/durations.ts";

/** Runbooks of a tenant and of all, some 4 KB each: asked one after another for each anomaly. */
export const RUNBOOKS_PER_TENANT_MAX = 100;
export const RUNBOOKS_TOTAL_MAX = 5_000;
/** Steps of a runbook. */
export const RUNBOOK_STEPS_MAX = 20;
/** Runs of one runbook in an hour; dry runs, which send nothing, are counted apart. */
export const RUNBOOK_RUNS_PER_HOUR_MAX = 10;
export const RUNBOOK_DRY_RUNS_PER_HOUR_MAX = 60;
/** Runs of a tenant and of all that are not over: some 20 KB each in memory. */
export const RUNBOOK_RUNS_OPEN_PER_TENANT_MAX = 200;
export const RUNBOOK_RUNS_OPEN_MAX = 2_000;
/** Http steps under way, of all tenants and of one: each has a socket, and up to 64 KiB of a body. */
export const RUNBOOK_REQUESTS_MAX = 100;
export const RUNBOOK_REQUESTS_PER_TENANT_MAX = 10;
/** Runs that one step of the coordinator moves on: some 20 KB each. */
export const RUNBOOK_RUNS_PER_STEP = 50;
/** Wait of a run for an approval, bound. */
export const RUNBOOK_APPROVAL_MS_MAX = DAY_MS;
/** Longest wait step; longest silence of a silence step. */
export const RUNBOOK_WAIT_SECONDS_MAX = 3_600;
export const RUNBOOK_SILENCE_SECONDS_MAX = 86_400;
/** Longest wait for an answer to an http step, and how long one waits that names no time. */
export const RUNBOOK_TIMEOUT_SECONDS_MAX = 20;
export const RUNBOOK_TIMEOUT_SECONDS_DEFAULT = 10;
/** Attempts of an idempotent http step whose outcome is not known. */
export const RUNBOOK_ATTEMPTS_MAX = 3;
/** Characters: of names, of a URL, of a body as it is written and as it is sent, of messages. */
export const RUNBOOK_NAME_CHARACTERS_MAX = 200;
export const RUNBOOK_URL_CHARACTERS_MAX = 2_048;
export const RUNBOOK_BODY_CHARACTERS_MAX = 16_384;
export const RUNBOOK_SENT_BODY_CHARACTERS_MAX = 65_536;
export const RUNBOOK_TEXT_CHARACTERS_MAX = 2_000;
export const RUNBOOK_HEADERS_MAX = 32;
export const RUNBOOK_SECRETS_MAX = 16;
export const RUNBOOK_SECRET_CHARACTERS_MAX = 4_096;
export const RUNBOOK_CHANNELS_MAX = 10;
/** Characters of what a step says came of it. */
export const RUNBOOK_RESULT_CHARACTERS_MAX = 500;
/** Retention of runs, and their number for a tenant: some 10 KB each. */
export const RUNBOOK_RUNS_MS = 30 * DAY_MS;
export const RUNBOOK_RUNS_PER_TENANT_MAX = 5_000;
/** A window of the bounds per hour. */
export const RUNBOOK_HOUR_MS = HOUR_MS;
/** Runs that wait for a time are looked at no later than so. */
export const RUNBOOK_CHECK_MS_MAX = 60 * SECOND_MS;

const ties: Array<[boolean, string]> = [
  [RUNBOOK_RUNS_OPEN_PER_TENANT_MAX < RUNBOOK_RUNS_OPEN_MAX, "one tenant leaves room for others"],
  [RUNBOOK_REQUESTS_PER_TENANT_MAX < RUNBOOK_REQUESTS_MAX, "requests of one tenant leave room for others"],
  [RUNBOOK_APPROVAL_MS_MAX < RUNBOOK_RUNS_MS, "what waits is kept"],
];
for (const [holds, what] of ties) if (!holds) throw new Error(`runbook-limits.ts: it must hold that ${what}`);
/** Body of a runbook: 20 steps with a body of 16 KiB and 32 headers of 4 KiB each, and its secrets. */
export const RUNBOOK_DEFINITION_BYTES_MAX = 4 * 1024 * 1024;
