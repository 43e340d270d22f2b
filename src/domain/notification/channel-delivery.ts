// What one channel has been told about one alert, and what it is still to be told. Messages of an alert reach a channel strictly in their order: one is under way at
// a time. A newer state takes the place of one that has not arrived; an end reaches every channel that was, or may have been, informed of the alert.
//
// Messages of several alerts may leave in one; nothing else of their fates is shared. One that is refused for good is sent apart. A mail is known by its Message-ID,
// so that one which may have arrived is repeated as it was: alone, or with all that was joined in it, until its outcome is known.
import { type AttemptEnd, type AttemptOutcome, attemptBegun, attemptEnded, type Delivery, NEW_DELIVERY } from "../delivery/delivery.ts";
import { retryForADay } from "../delivery/retry-policies.ts";
import type { AlertMessage, MessageKind } from "./alert-message.ts";
import type { Notifier } from "./channel.ts";

/** A mail of several messages, stored before it leaves: the same in the delivery of each. */
export interface JoinedMail {
  /** Alerts in the order of their messages. */
  readonly alertIds: readonly string[];
  /** Hash of its messages, which its Message-ID follows from. */
  readonly name: string;
  readonly sinceMs: number;
  readonly attempts: number;
  /** An attempt of it may have arrived. */
  readonly mayHaveArrived: boolean;
}

/** Dropped is what a newer state left nothing to tell of; attempts are those of the message at hand, or of the last one. */
export interface ChannelDelivery extends Delivery {
  /** The message that is to be sent, or under way; null where nothing is. */
  readonly message: AlertMessage | null;
  readonly inFlight: boolean;
  /** Messages decided on while one was under way, in their order: the newest state, and a cause behind it. */
  readonly waiting: readonly AlertMessage[];
  /** Whether the channel knows of the alert: `unknown` after an attempt that may have arrived. */
  readonly notified: "no" | "unknown" | "yes";
  /** Whether what it was reported last is the end. */
  readonly endNotified: boolean;
  readonly sentAtMs: number | null;
  readonly deliveredAtMs: number | null;
  /** When the channel was told of the alert as it fires since it opened last; null while it was not. */
  readonly notifiedAtMs: number | null;
  /** The message at hand leaves with no other: it was refused with others, or may have arrived alone. */
  readonly alone?: true;
  /** The mail that the message at hand is a part of. */
  readonly joined?: JoinedMail;
}

/** End of an attempt, with the number of messages that left in it. */
export interface SharedAttemptEnd extends AttemptEnd {
  readonly messages: number;
}

const NEW: ChannelDelivery = {
  ...NEW_DELIVERY,
  state: "dropped",
  message: null,
  inFlight: false,
  waiting: [],
  notified: "no",
  endNotified: false,
  sentAtMs: null,
  deliveredAtMs: null,
  notifiedAtMs: null,
};

const PAGES: ReadonlySet<MessageKind> = new Set(["opened", "raised", "reopened", "renewed", "notice"]);

/** Whether a message of this kind is sent to a channel that knows nothing of the alert. */
export function isPage(kind: MessageKind): boolean {
  return PAGES.has(kind);
}

/** The delivery once `message` is decided; undefined where the channel neither knows of the alert nor is to. */
export function withMessage(known: ChannelDelivery | undefined, message: AlertMessage, notifier: Notifier): ChannelDelivery | undefined {
  if (known === undefined) return isPage(message.kind) ? pending(NEW, message) : undefined;
  // A mail that was joined and may have arrived is repeated as it was.
  if (known.inFlight || known.joined !== undefined) return { ...known, waiting: queued(known.waiting, message) };
  return known.message === null ? behind(known, message, notifier) : instead(known, known.message, message, notifier);
}

/** The delivery when an attempt begins. */
export function withAttempt(delivery: ChannelDelivery, nowMs: number): ChannelDelivery {
  const joined = delivery.joined && { joined: { ...delivery.joined, attempts: delivery.joined.attempts + 1 } };
  return { ...attemptBegun(delivery, nowMs), ...joined, inFlight: true, sentAtMs: nowMs };
}

/** The delivery when its attempt has ended. */
export function withOutcome(delivery: ChannelDelivery, end: SharedAttemptEnd, notifier: Notifier): ChannelDelivery {
  const { message, waiting } = delivery;
  if (message === null) return delivery;
  const ended = afterAttempt({ ...delivery, inFlight: false, waiting: [] }, message, end, notifier);
  return waiting.reduce((now, later) => withMessage(now, later, notifier) ?? now, ended);
}

/** The delivery once its message has come back from the notifier, which had not begun to send it. */
export function withRecall(delivery: ChannelDelivery, notifier: Notifier): ChannelDelivery {
  const back = { ...delivery, inFlight: false, waiting: [] };
  return delivery.waiting.reduce<ChannelDelivery>((now, later) => withMessage(now, later, notifier) ?? now, back);
}

/** The delivery once its message is a part of a mail. */
export function withJoined(delivery: ChannelDelivery, joined: JoinedMail): ChannelDelivery {
  return { ...apart(delivery), joined };
}

/** A delivery that cannot be: its channel leads nowhere. */
export function undeliverable(error: string): ChannelDelivery {
  return { ...NEW, state: "exhausted", error };
}

/** The delivery as a start finds it: an attempt that was cut may have arrived, and is made again under the same key. */
export function afterRestart(delivery: ChannelDelivery, notifier: Notifier): ChannelDelivery {
  if (!delivery.inFlight) return delivery;
  const notified = delivery.notified === "yes" ? "yes" : "unknown";
  const cut = { ...asSent(delivery, true, notifier), notified, inFlight: false, waiting: [], nextAttemptAtMs: 0 } as const;
  const next = delivery.waiting.reduce<ChannelDelivery>((now, later) => withMessage(now, later, notifier) ?? now, cut);
  // What waited may have been sent by a run that ended before it stored so much as an outcome.
  return next.message === null ? next : asSent(next, true, notifier);
}

function afterAttempt(delivery: ChannelDelivery, message: AlertMessage, end: SharedAttemptEnd, notifier: Notifier): ChannelDelivery {
  const { outcome, messages, nowMs } = end;
  // Which of them it was that was refused, nobody knows.
  if (outcome.kind === "failed" && messages > 1) return { ...apart(delivery), alone: true, error: outcome.error, nextAttemptAtMs: nowMs };
  const sent = outcome.kind === "retry" ? asRepeated(delivery, outcome, notifier) : delivery;
  const ended = attemptEnded(sent, end, retryOf(sent));
  if (ended.state === "pending") return ended;
  if (ended.state !== "delivered") return { ...apart(ended), message: null };
  const endNotified = message.kind === "resolved";
  return {
    ...apart(ended),
    message: null,
    notified: "yes",
    endNotified,
    deliveredAtMs: nowMs,
    notifiedAtMs: delivery.notifiedAtMs ?? nowMs,
  };
}

/** A mail is as old as it is as a whole. */
function retryOf({ joined }: ChannelDelivery): typeof retryForADay {
  if (joined === undefined) return retryForADay;
  return (failed) => retryForADay({ ...failed, attempts: joined.attempts, firstTriedAtMs: joined.sinceMs });
}

function asRepeated(
  delivery: ChannelDelivery,
  { mayHaveArrived }: Extract<AttemptOutcome, { kind: "retry" }>,
  notifier: Notifier,
): ChannelDelivery {
  const notified = mayHaveArrived && delivery.notified === "no" ? "unknown" : delivery.notified;
  return { ...asSent(delivery, mayHaveArrived, notifier), notified };
}

/** How its message is repeated: as it was, where it is known by how it was sent and may have arrived. */
function asSent(delivery: ChannelDelivery, mayHaveArrived: boolean, notifier: Notifier): ChannelDelivery {
  const { joined } = delivery;
  if (joined === undefined) return mayHaveArrived && notifier === "email" ? { ...delivery, alone: true } : delivery;
  if (mayHaveArrived || joined.mayHaveArrived) return { ...delivery, joined: { ...joined, mayHaveArrived: true } };
  return apart(delivery);
}

/** The delivery without what its message was sent with. */
function apart({ alone: _, joined: _joined, ...delivery }: ChannelDelivery): ChannelDelivery {
  return delivery;
}

/** Nothing is to be sent: a page always is, anything else to a channel that knows of the alert and not of its end. */
function behind(known: ChannelDelivery, message: AlertMessage, notifier: Notifier): ChannelDelivery {
  if (isPage(message.kind)) return pending(known.endNotified ? { ...known, endNotified: false, notifiedAtMs: null } : known, message);
  // It fires again, and somebody had it before that was reported here: who reads hears of it, nobody is woken.
  const isUpdate = message.kind === "acknowledged" && known.endNotified && !wakes(notifier);
  if (isUpdate) return pending({ ...known, endNotified: false }, message);
  return known.notified === "no" || known.endNotified ? known : pending(known, message);
}

/** `unsent` has not arrived: the newer state takes its place, or nothing is sent where the channel need never hear of it. */
function instead(known: ChannelDelivery, unsent: AlertMessage, message: AlertMessage, notifier: Notifier): ChannelDelivery {
  if (message.kind === "cause") {
    // It goes with what waits; behind an end nobody asks for it.
    return unsent.kind === "resolved" ? known : { ...known, message: { ...unsent, cause: message.cause } };
  }
  const newest = { ...message, cause: message.cause ?? unsent.cause };
  // What only says more takes nothing away: a page that waits stays one.
  if (message.kind === "updated") return pending(known, { ...newest, kind: unsent.kind });
  if (isPage(message.kind) || known.notified !== "no") return pending(known, newest);
  // It ended, or somebody has it, before anything was told: chat and mail hear of it in one message, nobody is woken.
  if (wakes(notifier)) return { ...apart(known), state: "dropped", message: null };
  return pending(known, { ...newest, both: message.kind === "resolved" });
}

/** Whether a message of this notifier wakes people. */
function wakes(notifier: Notifier): boolean {
  return notifier === "pager" || notifier === "oncall";
}

function pending(known: ChannelDelivery, message: AlertMessage): ChannelDelivery {
  return { ...apart(known), ...NEW_DELIVERY, message };
}

/** At most two wait: the newest state, and a cause where the alert goes on. */
function queued(waiting: readonly AlertMessage[], message: AlertMessage): readonly AlertMessage[] {
  const state = waiting.find(({ kind }) => kind !== "cause");
  const cause = waiting.find(({ kind }) => kind === "cause");
  if (message.kind === "cause") {
    if (state?.kind === "resolved") return waiting;
    return state === undefined ? [message] : [state, message];
  }
  // What only says more takes nothing away: a page that waits stays one.
  const newest = message.kind === "updated" && state !== undefined ? { ...message, kind: state.kind } : message;
  return cause === undefined || newest.kind === "resolved" ? [newest] : [newest, cause];
}
