// Shapes of groups of rules, as files of Prometheus have them.
import { z } from "zod";
import { COUNT, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";

const TEXTS = z.record(z.string(), z.string());
const DURATION = z.string().describe("as Prometheus writes durations, such as 1m30s");

const RULE_DEFINITION = z.strictObject({
  record: z.string().optional(),
  alert: z.string().optional(),
  expr: z.string(),
  for: DURATION.optional(),
  keep_firing_for: DURATION.optional(),
  labels: TEXTS.optional(),
  annotations: TEXTS.optional(),
});

const GROUP_DEFINITION = z
  .strictObject({
    name: z.string(),
    interval: DURATION.optional(),
    query_offset: DURATION.optional(),
    limit: z.int().optional(),
    labels: TEXTS.optional(),
    rules: z.array(RULE_DEFINITION),
  })
  .meta({ id: "RuleGroupDefinition", description: "a group as a file of rules has it" });

/** A group with where it comes from. */
export const RULE_GROUP = z
  .strictObject({
    name: z.string(),
    source: z.enum(["api", "directory"]).describe("directory: from a file of RULES_DIR, which the API does not change"),
    file: z.string().describe("of RULES_DIR; empty where it came by the API"),
    changed_by: z.string().nullable(),
    changed_at: TIMESTAMP,
    definition: GROUP_DEFINITION,
  })
  .meta({ id: "RuleGroup" });

/** A page of the groups of a tenant. */
export const RULE_GROUP_LIST = z.strictObject({ rule_groups: z.array(RULE_GROUP), total: COUNT, page_token: NEXT_PAGE });
