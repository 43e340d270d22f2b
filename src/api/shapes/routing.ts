// Routing rules and where an alert goes, as clients see them (contract 2.8 and 4.11).
import { z } from "zod";
import {
  CHANNEL_CHARACTERS_MAX,
  CHANNELS_PER_RULE_MAX,
  PAGES_PER_WEEK_MAX,
  ROUTING_CATCH_ALL_PRIORITY,
  ROUTING_LABEL_MATCHERS_MAX,
  ROUTING_NAME_CHARACTERS_MAX,
  SERVICE_PATTERN_CHARACTERS_MAX,
} from "../../core/config/notification-limits.ts";
import { DETECTOR_FAMILIES } from "../../domain/alerting/ensemble.ts";
import { CHANNEL_PATTERN, channelText, parseChannel } from "../../domain/notification/channel.ts";
import { type RoutingRule, sourceOf } from "../../domain/notification/routing-rule.ts";
import { SEVERITY } from "./alert.ts";
import { labelValue } from "./matcher.ts";
import { nameField, optionalName } from "./name.ts";
import { COUNT, NEXT_PAGE, TIMESTAMP } from "./scalars.ts";

const SOURCES = DETECTOR_FAMILIES.map(sourceOf) as [string, ...string[]];

const CHANNEL = z
  .string()
  .max(CHANNEL_CHARACTERS_MAX)
  .refine((text) => typeof parseChannel(text) !== "string", {
    error: ({ input }) => {
      const problem = typeof input === "string" ? parseChannel(input) : "";
      return typeof problem === "string" ? problem : "is no channel";
    },
  })
  .meta({ pattern: CHANNEL_PATTERN, examples: ["chat:ops"] });

const LABEL_MATCHERS = z
  .record(nameField(), labelValue())
  .refine((matchers) => Object.keys(matchers).length <= ROUTING_LABEL_MATCHERS_MAX, `may have ${ROUTING_LABEL_MATCHERS_MAX} members`)
  .meta({ maxProperties: ROUTING_LABEL_MATCHERS_MAX })
  .describe("labels of the alert, and labels team and owner of its service, that must have these values");

/** Contents of a rule; matchers that are absent or null match everything. */
export const ROUTING_RULE_BODY = z.strictObject({
  name: nameField().max(ROUTING_NAME_CHARACTERS_MAX),
  priority: z
    .int()
    .min(0)
    .max(ROUTING_CATCH_ALL_PRIORITY)
    .describe("the lowest is asked first, then the oldest; 0 to 9999, and 10000 of the catch-all alone"),
  label_matchers: LABEL_MATCHERS.default({}),
  service_pattern: z
    .string()
    .min(1)
    .max(SERVICE_PATTERN_CHARACTERS_MAX)
    .nullable()
    .default(null)
    .describe("a glob over service ids: * is any characters, ? one, all else stands for itself"),
  severity: SEVERITY.nullable().default(null),
  source: z.enum(SOURCES).nullable().default(null).describe("the family of detectors, or alertmanager"),
  environment: optionalName().nullable().default(null),
  channels: z
    .array(CHANNEL)
    .min(1)
    .max(CHANNELS_PER_RULE_MAX)
    .describe("chat:<name>, pager:<name>, email:<address>, oncall:<team>, chat, pager"),
});

const ROUTING_RULE = z
  .strictObject({
    id: z.string().describe("catch-all: of the rule behind all others, which every tenant has"),
    name: z.string(),
    priority: COUNT,
    label_matchers: z.record(z.string(), z.string()),
    service_pattern: z.string().nullable(),
    severity: SEVERITY.nullable(),
    source: z.string().nullable(),
    environment: z.string().nullable(),
    channels: z.array(z.string()),
    unresolved_targets: z
      .array(z.string())
      .describe("channels whose target is not configured: the notifier's default is told, if there is one"),
    created_at: TIMESTAMP.nullable().describe("null for the catch-all"),
  })
  .meta({ id: "RoutingRule" });

/** A rule that was stored. */
export const ROUTING_RULE_STORED = z
  .strictObject({ ...ROUTING_RULE.shape, warnings: z.array(z.string()) })
  .meta({ id: "StoredRoutingRule" });

export const ROUTING_RULE_LIST = z.strictObject({
  rules: z.array(ROUTING_RULE),
  unresolved_targets: z.array(z.string()).describe("of all rules"),
  total: COUNT,
  page_token: NEXT_PAGE,
});

/** Question to the rules: an alert, or one that might be. */
export const ROUTING_TEST_BODY = z
  .strictObject({
    alert_id: z.string().optional(),
    service_id: nameField().optional(),
    severity: SEVERITY.optional().describe("high where it is absent"),
    source: z.enum(SOURCES).optional().describe("metric where it is absent"),
    environment: optionalName().optional(),
    labels: LABEL_MATCHERS.optional(),
  })
  .refine(({ alert_id, service_id }) => (alert_id === undefined) !== (service_id === undefined), {
    path: ["service_id"],
    message: "give service_id, or alert_id of an alert, one of both",
  })
  .meta({ oneOf: [{ required: ["alert_id"] }, { required: ["service_id"] }] });

export const ROUTING_TEST_ANSWER = z.strictObject({
  rule: ROUTING_RULE.nullable(),
  channels: z.array(z.string()),
  resolved: z.array(
    z.strictObject({
      channel: z.string(),
      target: z.string().nullable().describe('where it leads: a name, address or team, "" for a default without a name; null for nowhere'),
      fallback: z.boolean(),
    }),
  ),
  skipped: z
    .array(
      z.strictObject({
        rule_id: z.string(),
        failed_matcher: z.enum(["label_matchers", "service_pattern", "severity", "source", "environment"]),
      }),
    )
    .describe("rules that were asked before, in their order"),
});

/** The rule that a body says. */
export function ruleFrom(id: string, body: z.output<typeof ROUTING_RULE_BODY>, createdAtMs: number): RoutingRule {
  return {
    id,
    name: body.name,
    priority: body.priority,
    labelMatchers: body.label_matchers,
    servicePattern: body.service_pattern,
    severity: body.severity,
    source: body.source,
    environment: body.environment,
    channels: channelTexts(body.channels),
    createdAtMs,
  };
}

/** Each once, in one spelling. */
export function channelTexts(channels: readonly string[]): string[] {
  const texts = channels.map((text) => {
    const channel = parseChannel(text);
    return typeof channel === "string" ? text : channelText(channel);
  });
  return [...new Set(texts)];
}

/** A limit on how many pages a team means to have. */
export const PAGE_BUDGET_BODY = z.strictObject({
  pages_per_week: z
    .number()
    .min(0)
    .max(PAGES_PER_WEEK_MAX)
    .nullable()
    .describe("null: none any more. No page is ever dropped because of it"),
});
export const PAGE_BUDGET = z.strictObject({ team: z.string(), pages_per_week: z.number().nullable(), updated_at: TIMESTAMP });

export const PAGE_REPORT = z.strictObject({
  since: TIMESTAMP,
  until: TIMESTAMP,
  days: z.number(),
  pages: COUNT,
  rows: z
    .array(
      z.strictObject({
        team: z.string().describe("label team of the service; empty where it has none"),
        service_id: z.string(),
        pages: COUNT,
        per_service_day: z.number().describe("pages in a day"),
        not_told: COUNT.describe("alerts that paged, of which no receiver has taken anything, or not yet"),
        acknowledged: COUNT.describe("alerts that paged and somebody has taken"),
        median_ack_seconds: z.number().nullable().describe("from the first page to whoever has taken it; null where nobody has"),
        false_positives: COUNT.describe("alerts that paged, of which people said that nothing was wrong"),
        budget: z.number().nullable().describe("pages in a week that the team means to have; null where it has said nothing"),
      }),
    )
    .describe("most pages first"),
  teams: z.array(
    z.strictObject({
      team: z.string(),
      pages: COUNT,
      pages_last_week: COUNT.describe("of the seven days before until"),
      budget: z.number().nullable(),
      over_budget: z.boolean(),
    }),
  ),
});
