// What the notifier alone knows: the URLs, keys and logins behind the names of destinations.

import type { Notifier } from "./channel.ts";
import type { NamedSecret } from "./named-destinations.ts";

/** Undefined where the notifier is not configured. */
export interface DestinationSecrets {
  readonly chat: { readonly named: readonly NamedSecret[]; readonly initial: string | undefined } | undefined;
  /** `url` is the whole enqueue URL. */
  readonly pager: { readonly url: string; readonly named: readonly NamedSecret[]; readonly initial: string } | undefined;
  readonly email: { readonly url: string; readonly from: string } | undefined;
  readonly oncall: { readonly baseUrl: string; readonly key: string } | undefined;
}

/** Messages a second for each destination of a notifier. */
export type NotifyLimits = Readonly<Record<Notifier, number>>;

/** Defaults of NOTIFY_LIMITS: about what each service takes for good. */
const NOTIFY_LIMITS_INITIAL: NotifyLimits = { chat: 1, pager: 2, email: 10, oncall: 5 };
const LIMIT_LEAST = 0.1;
const LIMIT_MOST = 1_000;

/** Reads `chat=1,pager=2`; a sentence where it cannot be read. */
export function parseNotifyLimits(text: string): NotifyLimits | string {
  const limits: Record<Notifier, number> = { ...NOTIFY_LIMITS_INITIAL };
  for (const entry of text.split(",").map((part) => part.trim())) {
    if (entry === "") continue;
    const [name = "", input = ""] = entry.split("=").map((part) => part.trim());
    const value = input === "" ? Number.NaN : Number(input);
    if (!Object.hasOwn(limits, name)) return `"${name}" is no notifier; give chat, pager, email or oncall`;
    if (!(value >= LIMIT_LEAST && value <= LIMIT_MOST))
      return `${name} must be a number from ${LIMIT_LEAST} to ${LIMIT_MOST}, not "${input}"`;
    limits[name as Notifier] = value;
  }
  return limits;
}
