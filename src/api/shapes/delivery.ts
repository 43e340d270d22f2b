import { z } from "zod";
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
