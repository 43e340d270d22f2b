// What retention keeps by, from the coordinator's options.
import {
  AUDIT_ROWS_MAX,
  DEAD_LETTER_AGE_MS_MAX,
  DEAD_LETTER_BYTES_MAX,
  EPISODES_MAX,
  RETENTION_BLOCKS_PER_STEP,
  RETENTION_INTERVAL_MS,
  RETENTION_ROWS_PER_STEP,
} from "../../../core/config/limits.ts";
import type { RetentionOptions } from "./retention.ts";

const AUDIT_RETENTION_MS = 365 * 24 * 3600 * 1000;

/** Options that operators set; the rest has its limits. */
type KeptByChoice = Pick<RetentionOptions, "retentionMs" | "rawRetentionMs"> &
  Partial<Pick<RetentionOptions, "auditRetentionMs" | "auditRowsMax" | "deadLetterBytesMax" | "episodesMax">>;

export function retentionOptions(options: KeptByChoice): RetentionOptions {
  return {
    retentionMs: options.retentionMs,
    rawRetentionMs: options.rawRetentionMs,
    auditRetentionMs: options.auditRetentionMs ?? AUDIT_RETENTION_MS,
    auditRowsMax: options.auditRowsMax ?? AUDIT_ROWS_MAX,
    deadLetterAgeMs: DEAD_LETTER_AGE_MS_MAX,
    deadLetterBytesMax: options.deadLetterBytesMax ?? DEAD_LETTER_BYTES_MAX,
    episodesMax: options.episodesMax ?? EPISODES_MAX,
    intervalMs: RETENTION_INTERVAL_MS,
    rowsPerStep: RETENTION_ROWS_PER_STEP,
    blocksPerStep: RETENTION_BLOCKS_PER_STEP,
  };
}
