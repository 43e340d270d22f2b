/**
 * Milliseconds that a test waits for what is to come, an answer, a start or an end. It says nothing of how fast that is to be: a machine that others
 * use as well may stand still for many seconds, and a long wait takes time only where a test fails. A whole test has three of them (vitest.config.ts).
 */
export const PATIENCE_MS = 120_000;
