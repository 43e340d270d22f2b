// What one channel has been told about one alert, and what it is still to be told. Messages of an alert reach a channel strictly in their order: one is under way at
// a time. A newer state takes the place of one that has not arrived; an end reaches every channel that was, or may have been, informed of the alert.
import type { AlertMessage, MessageKind } from "./alert-message.ts";
import type { Notifier } from "./channel.ts";
import { nextRetry } from "./retry-schedule.ts";

/** `superseded`: nothing of it was sent, since a newer state left nothing to tell; `exhausted`: it could not be delivered. */
export type DeliveryState = "pending" | "delivered" | "superseded" | "exhausted";

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
  /** Error of the last attempt; null where it succeeded. */
  readonly error: string | null;
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
  if (known.inFlight) return { ...known, waiting: queued(known.waiting, message) };
  return known.message === null ? behind(known, message, notifier) : instead(known, known.message, message, notifier);
}

/** The delivery when an attempt begins. */
export function withAttempt(delivery: ChannelDelivery, nowMs: number): ChannelDelivery {
  const firstTriedAtMs = delivery.firstTriedAtMs ?? nowMs;
  return { ...delivery, inFlight: true, attempts: delivery.attempts + 1, firstTriedAtMs, sentAtMs: nowMs };
}

/** The delivery when its attempt has ended. `random` is 0..1. */
export function withOutcome(
  delivery: ChannelDelivery,
  outcome: AttemptOutcome,
  notifier: Notifier,
  nowMs: number,
  random: number,
): ChannelDelivery {
  const { message, waiting } = delivery;
  if (message === null) return delivery;
  const ended = afterAttempt({ ...delivery, inFlight: false, waiting: [] }, message, outcome, nowMs, random);
  return waiting.reduce((now, later) => withMessage(now, later, notifier) ?? now, ended);
}

/** The delivery once its message has come back from the notifier, which had not begun to send it. */
export function withRecall(delivery: ChannelDelivery, notifier: Notifier): ChannelDelivery {
  const back = { ...delivery, inFlight: false, waiting: [] };
  return delivery.waiting.reduce<ChannelDelivery>((now, later) => withMessage(now, later, notifier) ?? now, back);
}

/** A delivery that cannot be: its channel leads nowhere. */
export function undeliverable(error: string): ChannelDelivery {
  return { ...NEW, state: "exhausted", error };
}

/** The delivery as a start finds it: an attempt that was cut may have arrived, and is made again under the same key. */
export function afterRestart(delivery: ChannelDelivery, notifier: Notifier): ChannelDelivery {
  if (!delivery.inFlight) return delivery;
  const told = delivery.told === "yes" ? "yes" : "unknown";
  const cut = { ...delivery, told, inFlight: false, waiting: [], nextAttemptAtMs: 0 } as const;
  return delivery.waiting.reduce<ChannelDelivery>((now, later) => withMessage(now, later, notifier) ?? now, cut);
}

function afterAttempt(
  delivery: ChannelDelivery,
  message: AlertMessage,
  outcome: AttemptOutcome,
  nowMs: number,
  random: number,
): ChannelDelivery {
  if (outcome.kind === "delivered") {
    const endTold = message.kind === "resolved";
    return { ...delivery, state: "delivered", message: null, told: "yes", endTold, deliveredAtMs: nowMs, error: null };
  }
  const { error } = outcome;
  if (outcome.kind === "failed") return { ...delivery, state: "exhausted", message: null, error };
  const told = outcome.mayHaveArrived && delivery.told === "no" ? "unknown" : delivery.told;
  const atMs = nextRetry(delivery.attempts, delivery.firstTriedAtMs ?? nowMs, nowMs, random, outcome.afterMs);
  if (atMs === null) return { ...delivery, told, state: "exhausted", message: null, error };
  return { ...delivery, told, error, nextAttemptAtMs: atMs };
}

/** Nothing is to be sent: a page always is, anything else to a channel that knows of the alert and not of its end. */
function behind(known: ChannelDelivery, message: AlertMessage, notifier: Notifier): ChannelDelivery {
  if (isPage(message.kind)) return pending({ ...known, endTold: false }, message);
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
  if (wakes(notifier)) return { ...known, state: "superseded", message: null };
  return pending(known, { ...newest, both: message.kind === "resolved" });
}

/** Whether a message of this notifier wakes people. */
function wakes(notifier: Notifier): boolean {
  return notifier === "pager" || notifier === "oncall";
}

function pending(known: ChannelDelivery, message: AlertMessage): ChannelDelivery {
  return { ...known, state: "pending", message, attempts: 0, firstTriedAtMs: null, nextAttemptAtMs: 0, error: null };
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
