// Fire drills, as clients see them.
import { z } from "zod";
import { DRILL_STAGES } from "../../domain/notification/drill.ts";
import { DELIVERY } from "./delivery.ts";
import { COUNT, TIMESTAMP } from "./scalars.ts";

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
