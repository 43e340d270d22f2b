// What one channel has been told about one alert, and what it is still to be told. Messages of an alert reach a channel strictly in their order: one is under way at
// a time. A newer state takes the place of one that has not arrived; an end reaches every channel that was, or may have been, informed of the alert.
//
// Messages of several alerts may leave in one; nothing else of their fates is shared. One that is refused for good is sent apart. A mail is known by its Message-ID,
// so that one which may have arrived is repeated as it was: alone, or with all that was joined in it, until its outcome is known.
import type { AlertMessage, MessageKind } from "./alert-message.ts";
import type { Notifier } from "./channel.ts";
import { nextRetry } from "./retry-schedule.ts";

/** `superseded`: nothing of it was sent, since a newer state left nothing to tell; `exhausted`: it could not be delivered. */
export type DeliveryState = "pending" | "delivered" | "superseded" | "exhausted";

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

export interface ChannelDelivery {
  readonly state: DeliveryState;
  /** The message that is to be sent, or under way; null where nothing is. */
  readonly message: AlertMessage | null;
  readonly inFlight: boolean;
  /** Messages decided on while one was under way, in their order: the newest state, and a cause behind it. */
  readonly waiting: readonly AlertMessage[];
  /** Attempts of the message at hand, or of the last one. */
  readonly attempts: number;
  /** Whether the channel knows of the alert: `unknown` after an attempt that may have arrived. */
  readonly told: "no" | "unknown" | "yes";
  /** Whether what it was reported last is the end. */
  readonly endTold: boolean;
  readonly firstTriedAtMs: number | null;
  readonly nextAttemptAtMs: number;
  readonly sentAtMs: number | null;
  readonly deliveredAtMs: number | null;
  /** When the channel was told of the alert as it fires since it opened last; null while it was not. Absent in rows of before. */
  readonly toldAtMs?: number | null;
  /** Error of the last attempt; null where it succeeded. */
  readonly error: string | null;
  /** The message at hand leaves with no other: it was refused with others, or may have arrived alone. */
  readonly alone?: true;
  /** The mail that the message at hand is a part of. */
  readonly joined?: JoinedMail;
}

/** End of an attempt. `random` is 0..1. */
export interface AttemptEnd {
  readonly outcome: AttemptOutcome;
  /** Number of messages that left in it. */
  readonly messages: number;
  readonly nowMs: number;
  readonly random: number;
}

/** Outcome of an attempt. `mayHaveArrived`: no answer came to what was sent. */
export type AttemptOutcome =
  | { readonly kind: "delivered" }
  | { readonly kind: "retry"; readonly error: string; readonly afterMs: number | null; readonly mayHaveArrived: boolean }
  | { readonly kind: "failed"; readonly error: string };

const NEW: ChannelDelivery = {
  state: "superseded",
  message: null,
  inFlight: false,
  waiting: [],
  attempts: 0,
  told: "no",
  endTold: false,
  firstTriedAtMs: null,
  nextAttemptAtMs: 0,
  sentAtMs: null,
  deliveredAtMs: null,
  toldAtMs: null,
  error: null,
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
  const firstTriedAtMs = delivery.firstTriedAtMs ?? nowMs;
  const joined = delivery.joined && { joined: { ...delivery.joined, attempts: delivery.joined.attempts + 1 } };
  return { ...delivery, ...joined, inFlight: true, attempts: delivery.attempts + 1, firstTriedAtMs, sentAtMs: nowMs };
}

/** The delivery when its attempt has ended. */
export function withOutcome(delivery: ChannelDelivery, end: AttemptEnd, notifier: Notifier): ChannelDelivery {
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
  const told = delivery.told === "yes" ? "yes" : "unknown";
  const cut = { ...asSent(delivery, true, notifier), told, inFlight: false, waiting: [], nextAttemptAtMs: 0 } as const;
  const next = delivery.waiting.reduce<ChannelDelivery>((now, later) => withMessage(now, later, notifier) ?? now, cut);
  // What waited may have been sent by a run that ended before it stored so much as an outcome.
  return next.message === null ? next : asSent(next, true, notifier);
}

function afterAttempt(delivery: ChannelDelivery, message: AlertMessage, end: AttemptEnd, notifier: Notifier): ChannelDelivery {
  const { outcome, messages, nowMs } = end;
  if (outcome.kind === "delivered") {
    const endTold = message.kind === "resolved";
    const toldAtMs = toldSinceMs(delivery) ?? nowMs;
    return { ...apart(delivery), state: "delivered", message: null, told: "yes", endTold, deliveredAtMs: nowMs, toldAtMs, error: null };
  }
  const { error } = outcome;
  // Which of them it was that was refused, nobody knows.
  if (outcome.kind === "failed" && messages > 1) return { ...apart(delivery), alone: true, error, nextAttemptAtMs: nowMs };
  if (outcome.kind === "failed") return { ...apart(delivery), state: "exhausted", message: null, error };
  return afterFailure({ ...delivery, error }, outcome, end, notifier);
}

/** When the channel was told of the alert as it fires; null while it was not. Rows of before hold only when it was told last. */
export function toldSinceMs({ told, toldAtMs, deliveredAtMs }: ChannelDelivery): number | null {
  return toldAtMs === undefined ? (told === "yes" ? deliveredAtMs : null) : toldAtMs;
}

/** Tried again, until it is too old. */
function afterFailure(
  delivery: ChannelDelivery,
  { mayHaveArrived, afterMs }: Extract<AttemptOutcome, { kind: "retry" }>,
  { nowMs, random }: AttemptEnd,
  notifier: Notifier,
): ChannelDelivery {
  const told = mayHaveArrived && delivery.told === "no" ? "unknown" : delivery.told;
  const after = { ...asSent(delivery, mayHaveArrived, notifier), told } as const;
  const { attempts, sinceMs } = after.joined ?? { attempts: after.attempts, sinceMs: after.firstTriedAtMs };
  const atMs = nextRetry(attempts, sinceMs ?? nowMs, nowMs, random, afterMs);
  return atMs === null ? { ...apart(after), state: "exhausted", message: null } : { ...after, nextAttemptAtMs: atMs };
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
  if (isPage(message.kind)) return pending(known.endTold ? { ...known, endTold: false, toldAtMs: null } : known, message);
  // It fires again, and somebody had it before that was reported here: who reads hears of it, nobody is woken.
  const isNews = message.kind === "acknowledged" && known.endTold && !wakes(notifier);
  if (isNews) return pending({ ...known, endTold: false }, message);
  return known.told === "no" || known.endTold ? known : pending(known, message);
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
  if (isPage(message.kind) || known.told !== "no") return pending(known, newest);
  // It ended, or somebody has it, before anything was told: chat and mail hear of it in one message, nobody is woken.
  if (wakes(notifier)) return { ...apart(known), state: "superseded", message: null };
  return pending(known, { ...newest, both: message.kind === "resolved" });
}

/** Whether a message of this notifier wakes people. */
function wakes(notifier: Notifier): boolean {
  return notifier === "pager" || notifier === "oncall";
}

function pending(known: ChannelDelivery, message: AlertMessage): ChannelDelivery {
  return { ...apart(known), state: "pending", message, attempts: 0, firstTriedAtMs: null, nextAttemptAtMs: 0, error: null };
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
