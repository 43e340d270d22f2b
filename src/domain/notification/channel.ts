// A channel as rules name it: `<notifier>:<target>`, or the notifier alone where it has a default destination (contract 4.11.4).
import { CHANNEL_CHARACTERS_MAX } from "../../core/config/notification-limits.ts";

export const NOTIFIERS = ["chat", "pager", "email", "oncall"] as const;
export type Notifier = (typeof NOTIFIERS)[number];

export interface Channel {
  readonly notifier: Notifier;
  /** Name, address or team; null for the notifier's default destination. */
  readonly target: string | null;
}

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/;
const TEAM = /^[^\p{Cc}]{1,100}$/u;
/** One mailbox: what RFC 5322 calls a dot-atom, at a host name. */
const ADDRESS =
  /^[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+(\.[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+)*@[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?(\.[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?)*$/;
const ADDRESS_CHARACTERS_MAX = 254;
/** The form of a channel for those who read a schema; parseChannel says what is wrong with one. */
export const CHANNEL_PATTERN = `^((chat:#?|pager:)[A-Za-z0-9][A-Za-z0-9._-]{0,63}|chat|pager|email:${ADDRESS.source.slice(1, -1)}|oncall:[^\\u0000-\\u001f\\u007f-\\u009f]{1,100})$`;

/** The channel that a text names, or in a sentence why it names none. `chat:#ops` is `chat:ops`. */
export function parseChannel(text: string): Channel | string {
  if (text.length > CHANNEL_CHARACTERS_MAX) return `a channel has at most ${CHANNEL_CHARACTERS_MAX} characters, got ${text.length}`;
  const colon = text.indexOf(":");
  const notifier = colon < 0 ? text : text.slice(0, colon);
  const target = colon < 0 ? null : text.slice(colon + 1);
  switch (notifier) {
    case "chat":
    case "pager":
      return namedChannel(notifier, target);
    case "email":
      if (target === null) return `"${text}" names no address: write email:<address>`;
      if (target.length > ADDRESS_CHARACTERS_MAX || !ADDRESS.test(target)) return `"${target}" is no e-mail address`;
      return { notifier, target };
    case "oncall":
      if (target === null) return `"${text}" names no team: write oncall:<team>`;
      return TEAM.test(target) ? { notifier, target } : `"${target}" is no name of a team: 1 to 100 characters`;
    default:
      return `"${notifier}" is no notifier: a channel is one of chat:<name>, pager:<name>, email:<address>, oncall:<team>, chat, pager`;
  }
}

function namedChannel(notifier: "chat" | "pager", target: string | null): Channel | string {
  if (target === null) return { notifier, target };
  const name = notifier === "chat" && target.startsWith("#") ? target.slice(1) : target;
  if (!NAME.test(name)) return `"${target}" is no name of a destination: letters, digits, ".", "_" and "-", at most 64`;
  return { notifier, target: name };
}

/** The text that names a channel. */
export function channelText({ notifier, target }: Channel): string {
  return target === null ? notifier : `${notifier}:${target}`;
}
