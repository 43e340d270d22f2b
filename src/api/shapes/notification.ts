// Whether people were told, in alerts, anomalies and events.
// Fire drills, as clients see them.

import { z } from "zod";
import { DRILL_STAGES } from "../../domain/notification/drill.ts";
import { COUNT, EXAMPLE_TIME, TIMESTAMP } from "./scalars.ts";

/** Deliveries of an alert to a channel. */
export const DELIVERY = z
  .strictObject({
    channel: z.string(),
    rule_id: z.string().nullable(),
    state: z.enum(["pending", "delivered", "superseded", "exhausted"]),
    attempts: COUNT.describe("of the message at hand, or of the last"),
    error: z.string().nullable(),
    sent_at: TIMESTAMP.nullable().describe("when the last attempt began"),
    delivered_at: TIMESTAMP.nullable(),
    fallback: z.boolean().describe("it was notified in the place of a target that is not configured, or that failed"),
  })
  .meta({ id: "Delivery" });
export const DELIVERY_EXAMPLE = {
  channel: "chat:ops",
  rule_id: "catch-all",
  state: "delivered",
  attempts: 1,
  error: null,
  sent_at: EXAMPLE_TIME,
  delivered_at: EXAMPLE_TIME,
  fallback: false,
} as const;

export const NOTIFICATION = z
  .strictObject({
    state: z
      .enum(["to_be_told", "told", "not_told"])
      .describe("told: a receiver took it; to_be_told: it waits, or is held; not_told: nobody was told, and why"),
    channel: z.string().nullable().describe("the channel that took it, is tried, or was given up"),
    at: TIMESTAMP.nullable().describe("when it was taken"),
    reason: z.string().nullable().describe("why nobody was told, or what it waits for"),
  })
  .meta({ id: "Notification" });

export const NOTIFICATION_EXAMPLE = { state: "told", channel: "pager", at: EXAMPLE_TIME, reason: null };

export const DRILL_RESULT = z.strictObject({
  drill_id: z.string(),
  result: z.enum(["passed", "failed"]),
  failed_stage: z.enum(DRILL_STAGES).nullable(),
  reason: z.string().nullable().describe("why the stage failed"),
  started_at: TIMESTAMP,
  duration_ms: COUNT,
  stages: z.array(
    z.strictObject({
      stage: z.enum(DRILL_STAGES),
      state: z.enum(["passed", "failed", "not_reached"]),
      after_ms: COUNT.nullable().describe("milliseconds from the beginning of the drill"),
    }),
  ),
  environment: z.string().describe("each drill has one of its own, and so a baseline and an alert of its own"),
  anomaly_id: z.string().nullable(),
  alert_id: z.string().nullable(),
});
export const DRILL_ANSWER = DRILL_RESULT.extend({ deliveries: z.array(DELIVERY).describe("who was told") }).meta({ id: "Drill" });
