// Where a page goes: the channels of the rule that matches, each led to a destination. A target that names none goes to its notifier's default; where there is
// none, to the channels of the catch-all.
import { type Channel, channelText, parseChannel } from "./channel.ts";
import { type Destination, type DestinationSettings, destinationKey, resolveChannel } from "./destinations.ts";

/** A channel of a rule and where it leads. */
export interface RoutedChannel {
  readonly channel: string;
  /** Null where it leads nowhere. */
  readonly destination: Destination | null;
  /** It leads elsewhere than it says. */
  readonly fallback: boolean;
}

/** Where the channels of a rule of a tenant lead, each destination once; `catchAll` are the channels of the catch-all. */
export function routedChannels(
  settings: DestinationSettings,
  tenant: string,
  channels: readonly string[],
  catchAll: readonly string[],
): RoutedChannel[] {
  const found = new Map<string, RoutedChannel>();
  const keep = (routed: RoutedChannel) => {
    const key = routed.destination === null ? `none ${routed.channel}` : destinationKey(routed.destination);
    const known = found.get(key);
    // Named by its own name it is no fallback.
    if (known === undefined || (known.fallback && !routed.fallback)) found.set(key, routed);
  };
  for (const channel of channels) {
    const own = routedChannel(settings, tenant, channel);
    if (own.destination !== null) {
      keep(own);
      continue;
    }
    const others = catchAll.map((other) => routedChannel(settings, tenant, other)).filter(({ destination }) => destination !== null);
    if (others.length === 0) keep(own);
    for (const { destination } of others) keep({ channel, destination, fallback: true });
  }
  return [...found.values()];
}

/** Channels whose target names no destination: the notifier's default is notified in its place, if there is one. */
export function unresolvedChannels(settings: DestinationSettings, tenant: string, channels: readonly string[]): string[] {
  return channels.filter((channel) => {
    const { destination, fallback } = routedChannel(settings, tenant, channel);
    return destination === null || fallback;
  });
}

function routedChannel(settings: DestinationSettings, tenant: string, text: string): RoutedChannel {
  const parsed: Channel | string = parseChannel(text);
  if (typeof parsed === "string") return { channel: text, destination: null, fallback: false };
  return { channel: channelText(parsed), ...resolveChannel(settings, tenant, parsed) };
}
