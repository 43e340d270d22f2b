import { z } from "zod";
import { ALERT_ACTIONS_MAX, SNOOZE_DAYS_MAX } from "../../core/config/alert-limits.ts";
import { LABEL_KEY_CHARACTERS_MAX } from "../../core/config/declaration-limits.ts";
import { NAME_BYTES_MAX, NOTE_CHARACTERS_MAX } from "../../core/config/limits.ts";
import { DETECTOR_FAMILIES } from "../../domain/alerting/ensemble.ts";
import { declared } from "../declared.ts";
import {
  bucketsParameter,
  choiceParameter,
  environmentParameter,
  partParameter,
  textParameter,
  timeField,
  timeParameter,
} from "../parameters.ts";
import { ALERT, ALERT_ACTION_RESULTS, ALERT_DETAIL, ALERT_EXAMPLE, ALERT_LIST, DECISION_EXAMPLE, TIMELINE } from "../shapes/alert.ts";
import { ANOMALY_EXAMPLE } from "../shapes/anomaly.ts";
import { LEDGER } from "../shapes/ledger.ts";
import { nameField } from "../shapes/name.ts";
import { DELIVERY_EXAMPLE } from "../shapes/notification.ts";
import { PAGE, TIME_RANGE } from "./query-shapes.ts";

const PERSON = nameField().max(LABEL_KEY_CHARACTERS_MAX);
const COMMENT = z.string().max(NOTE_CHARACTERS_MAX);
const TEXT = COMMENT.min(1);
const UNTIL = timeField()
  .nullable()
  .meta({ description: `at most ${SNOOZE_DAYS_MAX} days ahead; null ends the snooze` });
const PARAMETERS = { alert_id: "alert_id of the alert" };

const MANY = { alert_ids: z.array(z.string().min(1).max(NAME_BYTES_MAX)).min(1).max(ALERT_ACTIONS_MAX) };
const RESOLVED_EXAMPLE = {
  ...ALERT_EXAMPLE,
  state: "resolved",
  resolved_at: ALERT_EXAMPLE.started_at,
  open_anomalies: 0,
  resolved_by: "person",
  resolved_by_name: "ada@example.com",
  resolution: "resolved by ada@example.com",
};

const ACCEPTED_EXAMPLE = {
  ...RESOLVED_EXAMPLE,
  resolved_by: "accepted",
  accepted_level: { from: 180, to: 402 },
  resolution: "new level: from 180 to 402, accepted by ada@example.com",
};

export const ALERTS_ENDPOINTS = declared([
  {
    name: "alerts",
    method: "GET",
    path: "/api/v1/alerts",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject({
      state: choiceParameter("state", ["firing", "resolved"]).optional(),
      severity: choiceParameter("severity", ["low", "medium", "high"]).optional(),
      service_id: textParameter("service_id").optional(),
      environment: environmentParameter().optional(),
      family: choiceParameter("family", DETECTOR_FAMILIES).optional(),
      q: partParameter().optional(),
      team: textParameter("team").optional(),
      acknowledged: choiceParameter("acknowledged", ["true", "false"]).optional(),
      sort: choiceParameter("sort", ["newest", "severity"]).optional(),
      buckets: bucketsParameter().optional(),
      ...TIME_RANGE,
      ...PAGE,
    }),
    responses: { 200: ALERT_LIST },
    examples: { response: { alerts: [ALERT_EXAMPLE], total: 1, page_token: "" } },
    summary:
      "Alerts by when they were found, as anomalies are, newest first, or with `sort=severity` the most severe first; `since` and `until` are of that time, so what came late is among what is new",
  },
  {
    name: "alertLedger",
    method: "GET",
    path: "/api/v1/alerts/ledger",
    access: "viewer",
    query: z.strictObject({
      service_id: textParameter("service_id"),
      metric_name: textParameter("metric_name").optional(),
      environment: environmentParameter().optional(),
      at: timeParameter("at").optional(),
      ...TIME_RANGE,
    }),
    responses: { 200: LEDGER },
    examples: {
      response: {
        decisions: [DECISION_EXAMPLE],
        moments: [
          {
            environment: "production",
            attributes: { route: "/pay" },
            sample_at: ALERT_EXAMPLE.started_at,
            declared: false,
            reason: "not_persistent",
            verdict: { ...ANOMALY_EXAMPLE.verdict, suppressed_by: "not_persistent" },
            layers: [
              {
                layer: "adaptive",
                state: "evaluated",
                reason: "ordinary",
                declared: false,
                at: ALERT_EXAMPLE.started_at,
                value: 0.41,
                bar: 1,
                verdict: null,
                made_again_since: "2026-01-17T12:00:00.000Z",
              },
            ],
          },
        ],
        services: [
          {
            environment: "production",
            layer: "isolation_forest",
            state: "learning",
            reason: "learning",
            declared: false,
            at: null,
            value: 120,
            bar: 256,
            verdict: null,
            made_again_since: "2026-01-31T10:00:00.000Z",
          },
        ],
        complete: true,
      },
    },
    summary:
      "Why a pair did or did not page: what was decided in a range of time, or at a moment with what each layer of detection said of it",
  },
  {
    name: "alert",
    method: "GET",
    path: "/api/v1/alerts/{alert_id}",
    access: "viewer",
    answersCommitted: true,
    parameters: PARAMETERS,
    responses: { 200: ALERT_DETAIL },
    examples: {
      response: {
        ...ALERT_EXAMPLE,
        members: [
          {
            anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
            service_id: "checkout",
            metric_name: "request.duration_ms.p95",
            severity: "high",
            resolved: false,
          },
        ],
        history: [{ at: ALERT_EXAMPLE.started_at, change: "opened", severity: "high", by: null, note: null }],
        root_cause: {
          report_id: "1f0c5a9d2e47f6a8b0c1d2e3f405163b",
          revision: 2,
          anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
          enough: true,
          category: "infrastructure",
          confidence: 0.93,
          summary: "db, infrastructure (confidence 0.93): pool.used_percent rose.",
        },
        deliveries: [DELIVERY_EXAMPLE],
        delivery_note: null,
        decisions: [DECISION_EXAMPLE],
        decisions_complete: true,
      },
    },
    summary: "One alert with its anomalies, its history and what was decided on it",
  },
  {
    name: "alertChart",
    method: "GET",
    path: "/api/v1/alerts/{alert_id}/chart.png",
    access: "viewer",
    query: z.strictObject({
      expires: textParameter("expires")
        .meta({ description: "end of an address that is read without a session, in seconds since 1970" })
        .optional(),
      signature: textParameter("signature").optional(),
      tenant_id: textParameter("tenant_id").optional(),
    }),
    parameters: PARAMETERS,
    responses: {},
    media: { 200: [{ mediaType: "image/png", holds: "Picture of the alert's series with the band of what was ordinary" }] },
    errors: ["not_found", "overloaded"],
    summary: "Picture of an alert's series for messages; without a session by an address that the server has signed, for seven days",
  },
  {
    name: "acknowledgeAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/acknowledge",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ by: PERSON.optional(), note: COMMENT.optional() }),
    bodyOptional: true,
    responses: { 200: ALERT },
    errors: ["conflict"],
    examples: {
      body: { note: "looking at it" },
      response: { ...ALERT_EXAMPLE, acknowledged_by: "ada@example.com", acknowledged_at: ALERT_EXAMPLE.started_at, note: "looking at it" },
    },
    summary: "Acknowledges an alert that fires: it pages again only where its severity rises to high; ends with the alert",
  },
  {
    name: "unacknowledgeAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/unacknowledge",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ comment: COMMENT.optional() }),
    bodyOptional: true,
    responses: { 200: ALERT },
    examples: { body: { comment: "not mine after all" }, response: ALERT_EXAMPLE },
    summary: "Takes an acknowledgement back",
  },
  {
    name: "resolveAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/resolve",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ comment: COMMENT.optional() }),
    bodyOptional: true,
    responses: { 200: ALERT },
    examples: { body: { comment: "rolled back" }, response: RESOLVED_EXAMPLE },
    summary:
      "Ends an alert with all that is open in it, and tells its channels. Nothing is learned as normal; what is still so stays quiet until it was over once, or for the dedup age",
  },
  {
    name: "acceptAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/accept",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ comment: COMMENT.optional() }),
    bodyOptional: true,
    responses: { 200: ALERT },
    errors: ["conflict", "overloaded"],
    examples: { body: { comment: "the cache is off for good" }, response: ACCEPTED_EXAMPLE },
    summary:
      "Takes the levels of an alert's metrics for the usual ones: they end as accepted, and their series are judged by the new levels from the next value on. The alert ends unless something else is open in it. 409 where it has none",
  },
  {
    name: "snoozeAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/snooze",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ until: UNTIL, comment: COMMENT.optional() }),
    responses: { 200: ALERT },
    examples: {
      body: { until: "2026-01-31T18:00:00Z", comment: "the supplier is at it" },
      response: { ...ALERT_EXAMPLE, snoozed_until: "2026-01-31T18:00:00.000Z", snoozed_by: "ada@example.com" },
    },
    summary: "Calls nobody about an alert until then; where it still fires by then, it is asked again",
  },
  {
    name: "commentAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/comments",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ text: TEXT }),
    responses: { 201: ALERT },
    examples: { body: { text: "the disk of db-2 is being replaced" }, response: ALERT_EXAMPLE },
    summary: "Adds a comment to an alert's timeline",
  },
  {
    name: "alertTimeline",
    method: "GET",
    path: "/api/v1/alerts/{alert_id}/timeline",
    access: "viewer",
    answersCommitted: true,
    query: z.strictObject(PAGE),
    parameters: PARAMETERS,
    responses: { 200: TIMELINE },
    examples: {
      response: {
        entries: [{ at: ALERT_EXAMPLE.started_at, kind: "found", by: null, text: `high: ${ALERT_EXAMPLE.explanation}` }],
        page_token: "",
      },
    },
    summary: "What happened to an alert, who did what, and who was told: oldest first",
  },
  {
    name: "actOnAlerts",
    method: "POST",
    path: "/api/v1/alerts/actions",
    access: "operator",
    body: z.discriminatedUnion("action", [
      z.strictObject({ ...MANY, action: z.literal("acknowledge"), note: COMMENT.optional() }),
      z.strictObject({ ...MANY, action: z.literal("unacknowledge"), comment: COMMENT.optional() }),
      z.strictObject({ ...MANY, action: z.literal("resolve"), comment: COMMENT.optional() }),
      z.strictObject({ ...MANY, action: z.literal("accept"), comment: COMMENT.optional() }),
      z.strictObject({ ...MANY, action: z.literal("snooze"), until: UNTIL, comment: COMMENT.optional() }),
      z.strictObject({ ...MANY, action: z.literal("comment"), text: TEXT }),
      z.strictObject({ ...MANY, action: z.literal("assign"), assignee: PERSON.nullable() }),
    ]),
    responses: { 200: ALERT_ACTION_RESULTS },
    examples: {
      body: { alert_ids: [ALERT_EXAMPLE.alert_id], action: "resolve", comment: "rolled back" },
      response: { results: [{ alert_id: ALERT_EXAMPLE.alert_id, status: 200, error: null }] },
    },
    summary: "Does to several alerts what the endpoint of each would do; each by itself, in their order",
  },
  {
    name: "assignAlert",
    method: "POST",
    path: "/api/v1/alerts/{alert_id}/assign",
    access: "operator",
    parameters: PARAMETERS,
    body: z.strictObject({ assignee: PERSON.nullable() }),
    responses: { 200: ALERT },
    examples: { body: { assignee: "ada@example.com" }, response: { ...ALERT_EXAMPLE, assignee: "ada@example.com" } },
    summary: "Says who looks after an alert; null: nobody",
  },
]);
