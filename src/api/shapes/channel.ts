// Channels, how they fare, and their tests, as clients see them.
import { z } from "zod";
import { CHANNEL_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";
import { NOTIFIERS } from "../../domain/notification/channel.ts";
import { nameField } from "./name.ts";
import { NOTIFICATION } from "./notification.ts";
import { COUNT, TIMESTAMP } from "./scalars.ts";

export const CHANNEL_LIST = z.strictObject({
  channels: z.array(
    z.strictObject({
      channel: z.string(),
      notifier: z.enum(NOTIFIERS),
      target: z.string().nullable().describe("where it leads; empty for a default without a name, null where it leads nowhere"),
      fallback: z.boolean().describe("its target is not configured, and its notifier's default is told"),
      rules: z.array(z.string()).describe("ids of the rules that name it"),
      state: z.enum(["ok", "failing", "untried", "nowhere"]).describe("of the attempts since the server started"),
      last_success_at: TIMESTAMP.nullable(),
      failing_since: TIMESTAMP.nullable(),
      error: z.string().nullable().describe("of the last attempt"),
    }),
  ),
  total: COUNT,
  configured: z.boolean().describe("whether any channel is; where none is, nobody is told"),
});

/** Who is to be told by a test or a drill. */
const CHANNEL_CHOICE = z.strictObject({
  channel: z.string().max(CHANNEL_CHARACTERS_MAX).optional().describe("a channel as rules name it"),
  rule_id: nameField().optional().describe("all channels of a rule; catch-all for the one behind all others"),
});

/** A choice, or none: then the rules decide. */
export const DRILL_BODY = CHANNEL_CHOICE.refine(
  ({ channel, rule_id }) => channel === undefined || rule_id === undefined,
  "give channel or rule_id, not both",
).meta({ not: { required: ["channel", "rule_id"] } });

/** One of its members. */
export const CHANNEL_TEST_BODY = CHANNEL_CHOICE.refine(
  ({ channel, rule_id }) => (channel === undefined) !== (rule_id === undefined),
  "give channel or rule_id",
).meta({
  oneOf: [{ required: ["channel"] }, { required: ["rule_id"] }],
});

export const CHANNEL_TEST_ANSWER = z.strictObject({
  results: z.array(NOTIFICATION.omit({ channel: true }).extend({ channel: z.string() })).describe("who was told, by channel"),
});
