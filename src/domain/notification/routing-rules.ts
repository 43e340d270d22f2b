// The rules of one tenant as they are asked: its own in their order, then the catch-all.
import { ROUTING_CATCH_ALL_PRIORITY } from "../../core/config/notification-limits.ts";
import { DEFAULT_TENANT } from "../access/access-policy.ts";
import { channelText, parseChannel } from "./channel.ts";
import { type DestinationSettings, defaultChannels, resolveChannel } from "./destinations.ts";
import type { RoutingRule } from "./routing-rule.ts";

/** Id of each tenant's catch-all. */
export const CATCH_ALL_ID = "catch-all";

/** Edit of a tenant's catch-all; null where it is as it came. */
export interface CatchAllEdit {
  readonly name: string;
  readonly channels: readonly string[] | null;
}

/** The rule behind all others. `given` is ROUTING_DEFAULT_CHANNELS. */
export function catchAllRule(
  settings: DestinationSettings,
  tenant: string,
  edit: CatchAllEdit | undefined,
  input: readonly string[] | null,
): RoutingRule {
  return {
    id: CATCH_ALL_ID,
    name: edit?.name ?? "catch-all",
    priority: ROUTING_CATCH_ALL_PRIORITY,
    labelMatchers: {},
    servicePattern: null,
    severity: null,
    source: null,
    environment: null,
    channels: edit?.channels ?? ownedChannels(settings, tenant, input) ?? defaultChannels(settings, tenant).map(channelText),
    createdAtMs: 0,
  };
}

/** Addresses and teams of the setting are the operator's, the tenant `default`'s; of names others have those that are configured for them. */
function ownedChannels(settings: DestinationSettings, tenant: string, input: readonly string[] | null): readonly string[] | null {
  if (input === null || tenant === DEFAULT_TENANT) return input;
  return input.filter((text) => {
    const channel = parseChannel(text);
    if (typeof channel === "string" || channel.notifier === "email" || channel.notifier === "oncall") return false;
    const { destination, fallback } = resolveChannel(settings, tenant, channel);
    return destination !== null && !fallback;
  });
}
