// The ledger as clients see it.
import { z } from "zod";
import { COVERAGE_LAYERS } from "../../core/protocol/coverage.ts";
import { DECISION } from "./alert.ts";
import { VERDICT } from "./anomaly.ts";
import { ATTRIBUTES, TIMESTAMP } from "./scalars.ts";

const LAYER = {
  layer: z.enum(COVERAGE_LAYERS),
  state: z.enum(["evaluated", "learning", "skipped"]),
  reason: z
    .string()
    .nullable()
    .describe(
      "why it declared nothing, is learning, or has skipped: ordinary, excluded, evaluation_delay, no_sample, ...; null where it declared",
    ),
  declared: z.boolean(),
  at: TIMESTAMP.nullable().describe("newest sample of what was judged"),
  value: z.number().nullable().describe("what was judged: |z|, evidence in bars, evidence; while learning what there is of a baseline"),
  bar: z.number().nullable().describe("what it must exceed, or while learning reach"),
  verdict: VERDICT.nullable(),
  made_again_since: TIMESTAMP.nullable().describe(
    "oldest stored sample from which the layer's state was made again, with the settings in force now",
  ),
};

/** Decision on a pair, and one moment of it. */
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
        layers: z.array(z.strictObject(LAYER)).describe("what each layer that judges streams said of the moment"),
      }),
    )
    .describe("with at: each stream of the pair, judged again from its stored samples"),
  services: z
    .array(z.strictObject({ environment: z.string(), ...LAYER }))
    .describe("with at: the model of the pair's service, by environment, trained on what came until an hour before the moment"),
  complete: z.boolean().describe("false: there are more decisions than one answer holds"),
});
