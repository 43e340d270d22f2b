// Where channels lead: destinations that the operator has configured, each for the tenants that it names. URLs and keys are secrets and not here; a
// destination is known by notifier, tenant of its configuration and name.

import { DEFAULT_TENANT } from "../access/access-policy.ts";
import { type Channel, channelText, type Notifier } from "./channel.ts";

/** Tenant of a destination that every tenant may use. */
const EVERY_TENANT = "*";

/** Configuration of one notifier. */
interface NotifierSettings {
  /** Named destinations in the order of their setting. */
  readonly named: ReadonlyArray<{ readonly tenant: string; readonly name: string }>;
  /** Whether the notifier works at all (a key, a mail server). */
  readonly enabled: boolean;
  /** Target of its default destination: an address, a team, "" for a default without a name; null for none. It is the tenant `default`'s. */
  readonly initial: string | null;
}

export interface DestinationSettings {
  readonly chat: NotifierSettings;
  /** Off without its default key, whatever is named. */
  readonly pager: NotifierSettings;
  /** No allowed domains: any. */
  readonly email: NotifierSettings & { readonly allowedDomains: readonly string[] };
  readonly oncall: NotifierSettings;
}

export interface Destination {
  readonly notifier: Notifier;
  /** Tenant of the configuration that it stands in; for an address or team the tenant that uses it. */
  readonly tenant: string;
  /** Name, address or team; "" for a default without a name. */
  readonly target: string;
}

export interface Resolution {
  readonly destination: Destination | null;
  /** Whether the target named none and the notifier's default is used. */
  readonly fallback: boolean;
}

/** One text for each destination: the queue of its messages. */
export function destinationKey({ notifier, tenant, target }: Destination): string {
  return JSON.stringify([notifier, tenant, target]);
}

/** Where a channel of a tenant leads: its target, else the notifier's default (`fallback`), else nowhere. */
export function resolveChannel(settings: DestinationSettings, tenant: string, { notifier, target }: Channel): Resolution {
  if (!settings[notifier].enabled) return { destination: null, fallback: false };
  if (target !== null) {
    const destination = targetOf(settings, tenant, notifier, target);
    if (destination !== null) return { destination, fallback: false };
  }
  const destination = defaultDestination(settings, tenant, notifier);
  return { destination, fallback: target !== null && destination !== null };
}

/** Channels of the catch-all of a tenant that names none itself: each notifier that has a default destination for it. */
export function defaultChannels(settings: DestinationSettings, tenant: string): Channel[] {
  const notifiers: readonly Notifier[] = ["chat", "pager", "email", "oncall"];
  return notifiers.flatMap((notifier) => {
    const destination = settings[notifier].enabled ? defaultDestination(settings, tenant, notifier) : null;
    if (destination === null) return [];
    const named = notifier === "email" || notifier === "oncall";
    return { notifier, target: named ? destination.target : null };
  });
}

/** Channels that lead somewhere for a tenant without a rule's saying so: names that are configured for it, and defaults. */
export function usableChannels(settings: DestinationSettings, tenant: string): string[] {
  const named = (["chat", "pager"] as const).flatMap((notifier) => {
    const { enabled, named: all } = settings[notifier];
    const own = enabled ? all.filter((one) => one.tenant === tenant || one.tenant === EVERY_TENANT) : [];
    return own.map(({ name }) => channelText({ notifier, target: name }));
  });
  return [...new Set([...defaultChannels(settings, tenant).map(channelText), ...named])];
}

/** Whether anything at all is configured that could tell somebody. */
export function isAnyConfigured(settings: DestinationSettings): boolean {
  return settings.chat.enabled || settings.pager.enabled || settings.email.enabled || settings.oncall.enabled;
}

function targetOf(settings: DestinationSettings, tenant: string, notifier: Notifier, target: string): Destination | null {
  if (notifier === "email") return isAllowed(target, settings.email.allowedDomains) ? { notifier, tenant, target } : null;
  // The on-call service has one account: its teams are the tenant default's.
  if (notifier === "oncall") return tenant === DEFAULT_TENANT ? { notifier, tenant, target } : null;
  const own = settings[notifier].named.find((named) => named.name === target && named.tenant === tenant);
  const found = own ?? settings[notifier].named.find((named) => named.name === target && named.tenant === EVERY_TENANT);
  return found === undefined ? null : { notifier, tenant: found.tenant, target };
}

function defaultDestination(settings: DestinationSettings, tenant: string, notifier: Notifier): Destination | null {
  const { initial, named } = settings[notifier];
  if (initial !== null && tenant === DEFAULT_TENANT) return { notifier, tenant, target: initial };
  if (notifier !== "chat") return null;
  const first = named.find((one) => one.tenant === tenant) ?? named.find((one) => one.tenant === EVERY_TENANT);
  return first === undefined ? null : { notifier, tenant: first.tenant, target: first.name };
}

function isAllowed(address: string, domains: readonly string[]): boolean {
  const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
  return domains.length === 0 || domains.some((allowed) => allowed.toLowerCase() === domain);
}
