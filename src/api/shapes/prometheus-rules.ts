// Shapes of groups of rules, as files of Prometheus have them.
import { z } from "zod";
import { COUNT, COUNTS, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";

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

/** What a trial of a group has found. */
export const RULE_TRIAL = z
  .strictObject({
    since: TIMESTAMP,
    until: TIMESTAMP,
    interval_seconds: z.number(),
    evaluations: COUNT.describe("moments at which the group was evaluated; they begin the longest `for` before since"),
    rules: z.array(
      z.strictObject({
        name: z.string(),
        type: z.enum(["alerting", "recording"]),
        fired: COUNT,
        failed: COUNT.describe("moments at which it failed"),
        last_error: z.string().nullable(),
      }),
    ),
    fired: COUNT.describe("alerts that fired"),
    pages: COUNT.describe("of them those that people would have been told"),
    outcomes: COUNTS.describe(
      "alerts by what became of them: paged, absorbed, logged, open_already (one of the same labels, sent by a Prometheus or of another group, was open then and still is), or the gate that held them back",
    ),
    routing: z.array(z.strictObject({ team: z.string().nullable(), channel: z.string(), pages: COUNT })),
    alerts: z
      .array(
        z.strictObject({
          rule: z.string(),
          labels: TEXTS,
          annotations: TEXTS.describe("as they were when it fired"),
          active_at: TIMESTAMP,
          fired_at: TIMESTAMP,
          ended_at: TIMESTAMP.nullable(),
          outcome: z.string().nullable().describe("null for one that fired before since"),
          channels: z.array(z.string()),
        }),
      )
      .describe("the first hundred"),
  })
  .meta({ id: "RuleGroupTrial" });
