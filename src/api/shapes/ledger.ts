// The ledger as clients see it (decisions.md section 6).
import { z } from "zod";
import { DECISION } from "./alert.ts";
import { VERDICT } from "./anomaly.ts";
import { ATTRIBUTES, TIMESTAMP } from "./scalars.ts";

/** What was decided on a pair, and what a moment of it was. */
export const LEDGER = z.strictObject({
  decisions: z.array(DECISION).describe("newest first"),
  moments: z
    .array(
      z.strictObject({
        environment: z.string(),
        attributes: ATTRIBUTES,
        sample_at: TIMESTAMP.nullable().describe("of the sample that the moment is judged by; null where none came in the hour before"),
        declared: z.boolean(),
        reason: z
          .string()
          .nullable()
          .describe("why it was not declared: within_threshold, too_few_samples, not_persistent, ..., no_sample"),
        verdict: VERDICT.nullable(),
      }),
    )
    .describe("with at: each stream of the pair, judged again from its stored samples"),
  complete: z.boolean().describe("false: there are more decisions than one answer holds"),
});
