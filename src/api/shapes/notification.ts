// Whether people were told, in alerts, anomalies and events.
import { z } from "zod";
import { EXAMPLE_TIME, TIMESTAMP } from "./scalars.ts";

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
