// GET /api/v1/routing/channels and POST /api/v1/routing/channels/test.

import { notificationView } from "../../api/notification-view.ts";
import { done, type Outcome, refused, shown } from "../../api/refusal.ts";
import { CHANNELS_LISTED_MAX } from "../../core/config/notification-limits.ts";
import { formatRfc3339 } from "../../core/time/rfc3339.ts";
import { parseChannel } from "../../domain/notification/channel.ts";
import { isFailing } from "../../domain/notification/channel-health.ts";
import { testMessages } from "../../domain/notification/channel-test.ts";
import { type DestinationSettings, resolveChannel, usableChannels } from "../../domain/notification/destinations.ts";
import type { Notification } from "../../domain/notification/notification-state.ts";
import type { QueryRequest } from "../queries/query-context.ts";
import { newId } from "../state/tables.ts";
import type { NotificationContext } from "./notification-context.ts";
import { TOO_MANY_CALLS } from "./outbound-calls.ts";

/** Channels that rules name or that are configured for the tenant, each once. */
export function listChannels(context: NotificationContext, { principal }: QueryRequest<"channels">): Outcome<unknown> {
  const { tenant } = principal;
  const { routing } = context.state.configured;
  const rules = new Map<string, string[]>();
  for (const channel of usableChannels(routing.destinations, tenant)) rules.set(channel, []);
  for (const rule of routing.rulesOf(tenant)) {
    for (const channel of rule.channels) rules.set(channel, [...(rules.get(channel) ?? []), rule.id]);
  }
  const channels = [...rules].slice(0, CHANNELS_LISTED_MAX).flatMap(([channel, ids]) => channelView(context, tenant, channel, ids) ?? []);
  return done({ channels, total: rules.size, configured: context.channels.routes.isAnyConfigured });
}

/** Sends a message that says it is a drill to one channel, or to all of a rule, and says who was told. */
export async function testChannels(context: NotificationContext, request: QueryRequest<"testChannels">): Promise<Outcome<unknown>> {
  const { tenant, subject } = request.principal;
  const channels = chosenChannels(context, tenant, request.body);
  if (!channels.ok) return channels;
  const outcomes = await Promise.all((channels.value ?? []).map((each) => tested(context, tenant, subject, each)));
  if (outcomes.includes("full")) return refused("overloaded", TOO_MANY_CALLS);
  return done({ results: outcomes.flatMap((one) => (one === "full" ? [] : [notificationView(one)])) });
}

/** The channels of a choice; undefined where nothing was chosen. */
export function chosenChannels(
  { state }: Pick<NotificationContext, "state">,
  tenant: string,
  { channel, rule_id }: { readonly channel?: string | undefined; readonly rule_id?: string | undefined },
): Outcome<readonly string[] | undefined> {
  const fault = channel === undefined ? undefined : parseChannel(channel);
  if (typeof fault === "string") return refused("invalid_field", fault, "channel");
  if (channel !== undefined) return done([channel]);
  if (rule_id === undefined) return done(undefined);
  const rule = state.configured.routing.find(tenant, rule_id);
  return rule === undefined ? refused("not_found", `no routing rule has the id ${shown(rule_id)}`, "rule_id") : done(rule.channels);
}

async function tested(context: NotificationContext, tenant: string, by: string, channel: string): Promise<Notification | "full"> {
  const { channels, calls, state, nowMs, randomBytes } = context;
  const failedTest = (reason: string): Notification => ({ state: "not_told", channel, atMs: null, reason });
  const destination = resolvedOf(state.configured.routing.destinations, tenant, channel)?.destination ?? null;
  if (destination === null) return failedTest(`${channel} leads nowhere: its notifier is not configured`);
  const id = newId({ randomBytes });
  const answer = await calls.tryChannel(tenant, destination, testMessages(destination.notifier, { tenant, by, id }, nowMs()));
  if (answer === "full") return "full";
  if (answer === undefined) return failedTest("the notifier gave no answer; try again in a moment");
  const { outcome } = answer;
  channels.noteTest(tenant, destination, nowMs(), outcome.kind === "delivered" ? null : outcome.error);
  return outcome.kind === "delivered" ? { state: "told", channel, atMs: nowMs(), reason: null } : failedTest(outcome.error);
}

function resolvedOf(settings: DestinationSettings, tenant: string, text: string) {
  const parsed = parseChannel(text);
  return typeof parsed === "string" ? undefined : { ...resolveChannel(settings, tenant, parsed), notifier: parsed.notifier };
}

function channelView({ state, channels, nowMs }: NotificationContext, tenant: string, channel: string, rules: readonly string[]) {
  const resolved = resolvedOf(state.configured.routing.destinations, tenant, channel);
  if (resolved === undefined) return undefined;
  const { destination, fallback, notifier } = resolved;
  const health = destination === null ? undefined : channels.health.of(tenant, destination);
  const tried = health === undefined ? ("untried" as const) : isFailing(health, nowMs()) ? ("failing" as const) : ("ok" as const);
  return {
    channel,
    notifier,
    target: destination?.target ?? null,
    fallback,
    rules,
    state: destination === null ? ("nowhere" as const) : tried,
    last_success_at: timeOf(health?.lastSuccessMs),
    failing_since: timeOf(health?.failingSinceMs),
    error: health?.error ?? null,
  };
}

function timeOf(ms: number | null | undefined): string | null {
  return ms == null ? null : formatRfc3339(ms);
}
