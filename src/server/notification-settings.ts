// Settings of notifiers, as the coordinator and the notifier need them: the one knows the names of destinations, the other what is behind them. No message here
// holds a secret.
import { ConfigError } from "../core/config/config-error.ts";
import type { Config } from "../core/config/load-config.ts";
import { channelText, parseChannel } from "../domain/notification/channel.ts";
import { type DestinationSecrets, type NotifyLimits, parseNotifyLimits } from "../domain/notification/destination-secrets.ts";
import type { DestinationSettings } from "../domain/notification/destinations.ts";
import { type NamedSecret, parseNamedSecrets } from "../domain/notification/named-destinations.ts";

export type NotificationConfig = Pick<
  Config,
  | "CHAT_WEBHOOKS"
  | "CHAT_WEBHOOK_URL"
  | "PAGER_ROUTING_KEYS"
  | "PAGER_ROUTING_KEY"
  | "PAGER_URL"
  | "ALERTOPS_API_KEY"
  | "ONCALL_BASE_URL"
  | "ONCALL_DEFAULT_TEAM"
  | "SMTP_URL"
  | "SMTP_FROM"
  | "EMAIL_DEFAULT_TO"
  | "EMAIL_ALLOWED_DOMAINS"
  | "NOTIFY_LIMITS"
  | "WEBHOOK_ALLOW_PRIVATE"
  | "SANDBOX_PROCESSES"
  | "TRANSFORM_PYTHON"
  | "ROUTING_DEFAULT_CHANNELS"
  | "PUBLIC_URL"
  | "CHART_LINKS"
>;

export interface NotificationSettings {
  readonly destinations: DestinationSettings;
  readonly secrets: DestinationSecrets;
  readonly limits: NotifyLimits;
  /** WEBHOOK_ALLOW_PRIVATE. */
  readonly allowsPrivate: boolean;
  /** SANDBOX_PROCESSES and TRANSFORM_PYTHON. */
  readonly transforms: { readonly processes: number; readonly allowsPythonUnfiltered: boolean };
  /** ROUTING_DEFAULT_CHANNELS; null where it is not set. */
  readonly defaultChannels: readonly string[] | null;
  /** Without a slash at its end; null where it is not set. */
  readonly publicUrl: string | null;
  /** PUBLIC_URL where chat shows pictures (CHART_LINKS); null where it does not. */
  readonly chartOrigin: string | null;
  /** Warnings for the operator, for the log and the status. */
  readonly hints: readonly string[];
}

/** Throws ConfigError at the first setting that cannot be used. */
export function readNotification(config: NotificationConfig): NotificationSettings {
  const chatNamed = namedOf("CHAT_WEBHOOKS", config.CHAT_WEBHOOKS?.reveal());
  for (const { secret, name, tenant } of chatNamed) checkUrl("CHAT_WEBHOOKS", secret, ["http:", "https:"], ` of ${tenant}/${name}`);
  const chatInitial = config.CHAT_WEBHOOK_URL?.reveal();
  if (chatInitial !== undefined) checkUrl("CHAT_WEBHOOK_URL", chatInitial, ["http:", "https:"]);
  const pagerNamed = namedOf("PAGER_ROUTING_KEYS", config.PAGER_ROUTING_KEYS?.reveal());
  const pagerInitial = config.PAGER_ROUTING_KEY?.reveal();
  const oncallKey = config.ALERTOPS_API_KEY?.reveal();
  for (const name of ["PAGER_URL", "ONCALL_BASE_URL"] as const) checkUrl(name, config[name], ["http:", "https:"]);
  if (config.PUBLIC_URL !== "") checkUrl("PUBLIC_URL", config.PUBLIC_URL, ["http:", "https:"]);
  const smtp = smtpOf(config);
  const publicUrl = config.PUBLIC_URL === "" ? null : config.PUBLIC_URL.replace(/\/+$/, "");
  const names = (named: readonly NamedSecret[]) => named.map(({ tenant, name }) => ({ tenant, name }));
  const hasChat = chatNamed.length > 0 || chatInitial !== undefined;
  return {
    destinations: {
      chat: { named: names(chatNamed), enabled: hasChat, initial: chatInitial === undefined ? null : "" },
      pager: { named: names(pagerNamed), enabled: pagerInitial !== undefined, initial: pagerInitial === undefined ? null : "" },
      email: {
        named: [],
        enabled: smtp !== undefined,
        initial: addressOf("EMAIL_DEFAULT_TO", config.EMAIL_DEFAULT_TO),
        allowedDomains: domainsOf(config.EMAIL_ALLOWED_DOMAINS),
      },
      oncall: { named: [], enabled: oncallKey !== undefined, initial: config.ONCALL_DEFAULT_TEAM || null },
    },
    secrets: {
      chat: hasChat ? { named: chatNamed, initial: chatInitial } : undefined,
      pager: pagerInitial === undefined ? undefined : { url: config.PAGER_URL, named: pagerNamed, initial: pagerInitial },
      email: smtp,
      oncall: oncallKey === undefined ? undefined : { baseUrl: config.ONCALL_BASE_URL, key: oncallKey },
    },
    limits: limitsOf(config.NOTIFY_LIMITS),
    allowsPrivate: config.WEBHOOK_ALLOW_PRIVATE === "true",
    transforms: { processes: config.SANDBOX_PROCESSES, allowsPythonUnfiltered: config.TRANSFORM_PYTHON === "true" },
    defaultChannels: defaultChannelsOf(config.ROUTING_DEFAULT_CHANNELS),
    publicUrl,
    chartOrigin: config.CHART_LINKS === "true" ? publicUrl : null,
    hints: [
      ...(pagerNamed.length > 0 && pagerInitial === undefined ? [PAGER_OFF] : []),
      ...(config.CHART_LINKS === "true" && publicUrl === null ? [CHARTS_OFF] : []),
    ],
  };
}

const PAGER_OFF = "the pager is off: PAGER_ROUTING_KEYS is set and PAGER_ROUTING_KEY, which it needs, is not";
const CHARTS_OFF = "chat shows no pictures: CHART_LINKS is set and PUBLIC_URL, from which chat fetches them, is not";

function namedOf(setting: string, text: string | undefined): readonly NamedSecret[] {
  const named = parseNamedSecrets(text ?? "");
  if (typeof named === "string") throw new ConfigError(`${setting} ${named}`);
  return named;
}

/** The value may be a secret: the message does not show it. */
function checkUrl(setting: string, text: string, protocols: readonly string[], which = ""): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url !== undefined && protocols.includes(url.protocol) && url.hostname !== "") return url;
  throw new ConfigError(`${setting}${which} is no URL with ${protocols.map((name) => `${name}//`).join(" or ")}`);
}

function smtpOf({ SMTP_URL, SMTP_FROM }: NotificationConfig): DestinationSecrets["email"] {
  const url = SMTP_URL?.reveal();
  if (url === undefined) return undefined;
  checkUrl("SMTP_URL", url, ["smtp:", "smtps:"]);
  if (SMTP_FROM === "") throw new ConfigError("SMTP_URL needs SMTP_FROM, the address that mails come from");
  if (addressOf("SMTP_FROM", plainAddress(SMTP_FROM)) === null) return undefined;
  return { url, from: SMTP_FROM };
}

/** `Name <address>` is taken too. */
function plainAddress(text: string): string {
  return /<([^<>]*)>$/.exec(text)?.[1] ?? text;
}

function addressOf(setting: string, text: string): string | null {
  if (text === "") return null;
  const channel = parseChannel(`email:${text}`);
  if (typeof channel === "string") throw new ConfigError(`${setting} is no e-mail address: "${text.slice(0, 80)}"`);
  return text;
}

function domainsOf(list: string): string[] {
  return list
    .split(",")
    .map((domain) => domain.trim())
    .filter((domain) => domain !== "");
}

function limitsOf(text: string): NotifyLimits {
  const limits = parseNotifyLimits(text);
  if (typeof limits === "string") throw new ConfigError(`NOTIFY_LIMITS: ${limits}`);
  return limits;
}

function defaultChannelsOf(list: string): readonly string[] | null {
  if (list === "") return null;
  const parts = list.split(",").map((part) => part.trim());
  return parts
    .filter((part) => part !== "")
    .map((part) => {
      const channel = parseChannel(part);
      if (typeof channel === "string") throw new ConfigError(`ROUTING_DEFAULT_CHANNELS: ${channel}`);
      return channelText(channel);
    });
}
