// Alerts and decisions as clients see them.
import { z } from "zod";
import { ALERT_CHANGE_KINDS, TIMELINE_KINDS } from "../../domain/alerting/alert-changes.ts";
import { DETECTOR_FAMILIES } from "../../domain/alerting/ensemble.ts";
import { END_REASONS } from "../../domain/anomaly/ending.ts";
import { CATEGORY } from "./analysis.ts";
import { DELIVERY, NOTIFICATION, NOTIFICATION_EXAMPLE } from "./notification.ts";
import { COUNT, EXAMPLE_TIME, NEXT_PAGE, SEVERITY_COUNTS, TIMESTAMP } from "./scalars.ts";

export const SEVERITY = z.enum(["low", "medium", "high"]);
const FAMILY = z.enum(DETECTOR_FAMILIES);
const GATE = z.strictObject({
  name: z.string(),
  passed: z.boolean(),
  value: z.number().nullable().describe("null: without end, such as the time since what never was"),
  limit: z.number().nullable(),
});

const ALERT_FIELDS = {
  alert_id: z.string(),
  state: z.enum(["firing", "resolved"]),
  severity: SEVERITY,
  service_id: z.string(),
  environment: z.string(),
  family: FAMILY,
  started_at: TIMESTAMP,
  updated_at: TIMESTAMP,
  resolved_at: TIMESTAMP.nullable(),
  anomaly_ids: z.array(z.string()).describe("the first fifty"),
  anomalies: COUNT.describe("all that ever belonged to it"),
  open_anomalies: COUNT,
  services: z.array(z.string()).describe("of a cascade"),
  merged_into: z.string().nullable().describe("alert that it has closed into, as a part of its incident"),
  explanation: z.string(),
  labels: z.record(z.string(), z.string()),
  resolved_by: z
    .enum(END_REASONS)
    .nullable()
    .describe(
      "recovered: values are usual again; accepted: they stay, and are the new level; ended: nothing more is heard of it; person; upstream: who sent it says so; cascade: it goes on in another alert",
    ),
  resolved_by_name: z.string().nullable().describe("who has resolved it"),
  accepted_level: z
    .strictObject({ from: z.number(), to: z.number() })
    .nullable()
    .describe("of one that was accepted: what was usual before it, and the level that is usual now"),
  resolution: z.string().nullable().describe("how it ended, in words"),
  acknowledged_by: z.string().nullable(),
  acknowledged_at: TIMESTAMP.nullable(),
  note: z.string().nullable(),
  assignee: z.string().nullable(),
  snoozed_until: TIMESTAMP.nullable().describe("nobody is called before; then it is asked again"),
  snoozed_by: z.string().nullable(),
  pages: COUNT,
  held_back_by: z
    .string()
    .nullable()
    .describe(
      "the gate that keeps its page back; asked again every cycle while the alert fires, and kept where it was resolved before anybody was told",
    ),
  held_back_until: z.string().nullable().describe("what the gate waits for, in words; null where nothing holds its page, or it is over"),
  notification: NOTIFICATION,
};

/** Why a finding did or did not page. */
export const DECISION = z
  .strictObject({
    at: TIMESTAMP,
    service_id: z.string(),
    metric_name: z.string(),
    environment: z.string(),
    detector: z.string(),
    family: FAMILY,
    anomaly_id: z.string(),
    alert_id: z.string().nullable(),
    severity: SEVERITY,
    anomaly_score: z.number().min(0).max(1),
    z_score: z.number(),
    outcome: z.enum(["paged", "absorbed", "suppressed", "logged", "resolved"]),
    suppressed_by: z.string().nullable(),
    gates: z.array(GATE).describe("in the order in which they were asked; the first that fails decides"),
    rca: GATE.nullable().describe("cooldown of root-cause analysis; null for what is no new anomaly"),
    explanation: z.string(),
  })
  .meta({ id: "PageDecision" });

export const ALERT = z.strictObject(ALERT_FIELDS).meta({ id: "Alert" });
export const ALERT_LIST = z.strictObject({
  alerts: z.array(ALERT),
  total: COUNT,
  page_token: NEXT_PAGE,
  counts: SEVERITY_COUNTS.optional(),
});
export const ALERT_DETAIL = z
  .strictObject({
    ...ALERT_FIELDS,
    members: z.array(
      z.strictObject({
        anomaly_id: z.string(),
        service_id: z.string(),
        metric_name: z.string(),
        severity: SEVERITY.nullable().describe("null where the anomaly is no longer kept"),
        resolved: z.boolean().nullable(),
      }),
    ),
    history: z.array(
      z.strictObject({
        at: TIMESTAMP,
        change: z.enum(ALERT_CHANGE_KINDS),
        severity: SEVERITY,
        by: z.string().nullable(),
        note: z.string().nullable(),
      }),
    ),
    root_cause: z
      .strictObject({
        report_id: z.string(),
        revision: z.int(),
        anomaly_id: z.string().describe("that began the incident"),
        enough: z.boolean().describe("whether the evidence is enough to name a cause"),
        category: CATEGORY,
        confidence: z.number().min(0).max(1),
        summary: z.string(),
      })
      .nullable()
      .describe(
        "as messages name it: of the incident of what stands for the alert, else the newest of its members that has one; null before an analysis",
      ),
    deliveries: z.array(DELIVERY).describe("what channels have received of it, or are to be"),
    delivery_note: z.string().nullable().describe("why nobody is notified, where it is for want of settings"),
    decisions: z.array(DECISION).describe("oldest first"),
    decisions_complete: z.boolean(),
  })
  .meta({ id: "AlertDetail" });

/** A page of an alert's timeline. */
export const TIMELINE = z.strictObject({
  entries: z
    .array(
      z
        .strictObject({
          at: TIMESTAMP,
          kind: z.enum(TIMELINE_KINDS),
          by: z.string().nullable().describe("who did it, or the channel that took it; null where the service did"),
          text: z.string(),
        })
        .meta({ id: "TimelineEntry" }),
    )
    .describe("oldest first"),
  page_token: NEXT_PAGE,
});

/** What became of each of several alerts. */
export const ALERT_ACTION_RESULTS = z.strictObject({
  results: z.array(
    z.strictObject({
      alert_id: z.string(),
      status: z.int().describe("as the answer about this alert alone would have it"),
      error: z.string().nullable().describe("error code; null where it was done, or was so already"),
    }),
  ),
});

export const ALERT_EXAMPLE = {
  alert_id: "9a3c0f1e5b7d42468ace13579bdf0246",
  state: "firing",
  severity: "high",
  service_id: "checkout",
  environment: "production",
  family: "metric",
  started_at: EXAMPLE_TIME,
  updated_at: EXAMPLE_TIME,
  resolved_at: null,
  anomaly_ids: ["3b1f0c5a9d2e47f6a8b0c1d2e3f40516"],
  anomalies: 1,
  open_anomalies: 1,
  services: [],
  merged_into: null,
  explanation: "request.duration_ms.p95 was 412 (equivalent z 7.4), above its usual 180 (expected 86 to 274 over the last 120 samples)",
  labels: { service_id: "checkout", metric_name: "request.duration_ms.p95", severity: "high" },
  resolved_by: null,
  resolved_by_name: null,
  accepted_level: null,
  resolution: null,
  acknowledged_by: null,
  acknowledged_at: null,
  note: null,
  assignee: null,
  snoozed_until: null,
  snoozed_by: null,
  pages: 1,
  held_back_by: null,
  held_back_until: null,
  notification: NOTIFICATION_EXAMPLE,
};

export const DECISION_EXAMPLE = {
  at: EXAMPLE_TIME,
  service_id: "checkout",
  metric_name: "request.duration_ms.p95",
  environment: "production",
  detector: "z_score",
  family: "metric",
  anomaly_id: "3b1f0c5a9d2e47f6a8b0c1d2e3f40516",
  alert_id: "9a3c0f1e5b7d42468ace13579bdf0246",
  severity: "high",
  anomaly_score: 0.82,
  z_score: 7.4,
  outcome: "paged",
  suppressed_by: null,
  gates: [{ name: "threshold", passed: true, value: 7.4, limit: 3 }],
  rca: { name: "rca_cooldown", passed: true, value: null, limit: 15 },
  explanation: "request.duration_ms.p95 was 412 (equivalent z 7.4), above its usual 180 (expected 86 to 274 over the last 120 samples)",
};
