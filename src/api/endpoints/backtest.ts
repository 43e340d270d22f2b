import { z } from "zod";
import {
  BACKTEST_ANSWER_MS_MAX,
  BACKTEST_INCIDENTS_MAX,
  BACKTEST_SAMPLES_MAX,
  BACKTEST_SILENCES_MAX,
} from "../../core/config/backtest-limits.ts";
import { RULES_BODY_BYTES_MAX } from "../../core/config/body-limits.ts";
import { NAME_BYTES_MAX } from "../../core/config/limits.ts";
import { BACKTEST_LAYERS } from "../../domain/backtest/history.ts";
import { declared } from "../declared.ts";
import { timeField } from "../parameters.ts";
import { nameField, optionalName } from "../shapes/name.ts";
import { ROUTING_RULE_BODY } from "../shapes/routing.ts";
import { COUNT, COUNTS, EXAMPLE_TIME, TIMESTAMP } from "../shapes/scalars.ts";
import { SETTINGS_SOME } from "../shapes/watchdog-settings.ts";
import { INHIBITION_RULE } from "./inhibitions.ts";

const MATCHERS_MAX = 16;
const MATCHER = z.strictObject({
  name: nameField(),
  operator: z.enum(["=", "!=", "=~", "!~"]).default("="),
  value: z.string().max(NAME_BYTES_MAX),
});
const SILENCE = z.strictObject({
  matchers: z.array(MATCHER).min(1).max(MATCHERS_MAX),
  starts_at: timeField(),
  ends_at: timeField(),
});
const SILENCES = z.strictObject({
  add: z.array(SILENCE).max(BACKTEST_SILENCES_MAX).optional().describe("as if they had been there"),
  remove: z.array(z.string().max(NAME_BYTES_MAX)).max(BACKTEST_SILENCES_MAX).optional().describe("ids of silences, as if they had not"),
});
const INHIBITION_RULES = z.strictObject({
  add: z.array(INHIBITION_RULE).max(BACKTEST_SILENCES_MAX).optional().describe("as if they had been there"),
  remove: z.array(z.string().max(NAME_BYTES_MAX)).max(BACKTEST_SILENCES_MAX).optional().describe("ids of rules, as if they had not"),
});
const INCIDENT = z.strictObject({
  service_id: nameField(),
  environment: optionalName().optional(),
  starts_at: timeField(),
  ends_at: timeField(),
});
const ROUTING_RULES = z.strictObject({
  add: z.array(ROUTING_RULE_BODY).max(BACKTEST_SILENCES_MAX).optional().describe("as if they had been there"),
  remove: z.array(z.string().max(NAME_BYTES_MAX)).max(BACKTEST_SILENCES_MAX).optional().describe("ids of rules, as if they had not"),
});
const BODY = z.strictObject({
  service_id: nameField().optional(),
  metric_name: nameField().optional(),
  environment: optionalName().optional(),
  since: timeField(),
  until: timeField(),
  settings: SETTINGS_SOME.optional().describe("in place of those in force, for all series that are selected"),
  silences: SILENCES.optional(),
  inhibitions: INHIBITION_RULES.optional(),
  incidents: z
    .array(INCIDENT)
    .max(BACKTEST_INCIDENTS_MAX)
    .optional()
    .describe("known incidents, beside the anomalies that people have called true or false positives"),
  routing: ROUTING_RULES.optional(),
});

const PAGE = z.strictObject({
  timestamp: TIMESTAMP,
  service_id: z.string(),
  metric_name: z.string(),
  environment: z.string(),
  family: z.string(),
  detector: z.string(),
  severity: z.enum(["low", "medium", "high"]),
  z_score: z.number(),
  explanation: z.string(),
  reason: z.string().describe("why the other run has no such page: not_declared, logged, absorbed, or the gate that held it back"),
});
const LABELLED_RUN = z.strictObject({ found: COUNT, missed: COUNT, false_pages: COUNT });
const MISSED = z.strictObject({
  anomaly_id: z.string().nullable().describe("null for one that was given with the question"),
  service_id: z.string(),
  environment: z.string(),
  metric_name: z.string().nullable(),
  started_at: TIMESTAMP,
  ended_at: TIMESTAMP,
  found_before: z.boolean(),
  found_after: z.boolean(),
});
const ANSWER = z.strictObject({
  since: TIMESTAMP,
  until: TIMESTAMP,
  series: COUNT,
  samples: COUNT.describe("those before since included, of which the baselines are made"),
  pages: z.strictObject({ before: COUNT, after: COUNT, newly: COUNT, no_longer: COUNT }),
  findings: z
    .strictObject({ before: COUNTS, after: COUNTS })
    .describe("by what became of them: paged, absorbed, logged, or the gate that held them back"),
  analyses: z.strictObject({ before: COUNT, after: COUNT }).describe("root-cause analyses that would have begun, by the cooldown"),
  layers: z
    .array(
      z.strictObject({
        layer: z.enum(BACKTEST_LAYERS),
        evaluated: COUNT.describe("series, services or SLOs"),
        reason: z.string().nullable().describe("why it has not looked at all of them; null where it has"),
      }),
    )
    .describe("how each layer of detection took part"),
  labelled: z
    .strictObject({
      incidents: COUNT.describe("that people have labelled: anomalies called true positives, and those given with the question"),
      false_alarms: COUNT.describe("anomalies called false positives"),
      before: LABELLED_RUN,
      after: LABELLED_RUN,
      missed: z.array(MISSED).describe("the first of those that one of the runs misses"),
    })
    .describe("both runs by what people have labelled: a page from three cycles before an incident to twelve behind it finds it"),
  newly: z.array(PAGE).describe("the first pages of the changed run alone"),
  no_longer: z.array(PAGE).describe("the first pages of the present run alone"),
  routing: z
    .array(z.strictObject({ team: z.string(), channel: z.string(), before: COUNT, after: COUNT, newly: COUNT, no_longer: COUNT }))
    .describe("pages by team and channel, by the rules as they are and as the request would have them"),
  by_service: z.array(
    z.strictObject({
      service_id: z.string(),
      environment: z.string(),
      day: z.string(),
      before: COUNT,
      after: COUNT,
      newly: COUNT,
      no_longer: COUNT,
    }),
  ),
});

const GONE = {
  timestamp: EXAMPLE_TIME,
  service_id: "checkout",
  metric_name: "latency",
  environment: "",
  family: "metric",
  detector: "z_score",
  severity: "high",
  z_score: 4.2,
  explanation: "latency was 152 (equivalent z 4.2), above its usual 120 (expected 96 to 144 over the last 120 samples)",
  reason: "not_declared",
};

/** Backtest: pages under other settings. */
export const BACKTEST_ENDPOINTS = declared([
  {
    name: "backtest",
    method: "POST",
    path: "/api/v1/backtest",
    access: "operator",
    answerMsMax: BACKTEST_ANSWER_MS_MAX,
    isPatient: true,
    body: BODY,
    bodyBytesMax: RULES_BODY_BYTES_MAX,
    responses: { 200: ANSWER },
    errors: ["unprocessable", "overloaded"],
    examples: {
      body: { service_id: "checkout", since: "2026-01-30T00:00:00Z", until: EXAMPLE_TIME, settings: { z_threshold: 5 } },
      response: {
        since: "2026-01-30T00:00:00.000Z",
        until: EXAMPLE_TIME,
        series: 4,
        samples: 8640,
        pages: { before: 3, after: 2, newly: 0, no_longer: 1 },
        findings: { before: { paged: 3, absorbed: 1 }, after: { paged: 2 } },
        analyses: { before: 3, after: 2 },
        layers: [
          { layer: "statistical", evaluated: 4, reason: null },
          { layer: "isolation_forest", evaluated: 1, reason: null },
          { layer: "adaptive", evaluated: 4, reason: null },
          { layer: "stale", evaluated: 1, reason: null },
          { layer: "saturation", evaluated: 0, reason: null },
          { layer: "slo_burn", evaluated: 0, reason: null },
          { layer: "cascade", evaluated: 0, reason: "it looks at services that call each other; leave service_id and metric_name out" },
        ],
        labelled: {
          incidents: 2,
          false_alarms: 1,
          before: { found: 2, missed: 0, false_pages: 1 },
          after: { found: 2, missed: 0, false_pages: 0 },
          missed: [],
        },
        newly: [],
        no_longer: [GONE],
        routing: [{ team: "payments", channel: "pager:payments", before: 3, after: 2, newly: 0, no_longer: 1 }],
        by_service: [{ service_id: "checkout", environment: "", day: "2026-01-31", before: 3, after: 2, newly: 0, no_longer: 1 }],
      },
    },
    summary: `What changed settings, silences, inhibitions and routing would newly page, and what no longer, over stored samples (at most ${BACKTEST_SAMPLES_MAX})`,
  },
]);
