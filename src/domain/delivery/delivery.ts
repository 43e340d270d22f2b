// One thing on its way out of the server: a message for a channel, an event for a webhook, a request of a runbook. It is stored with what decided it, tried until it
// is taken, refused for good or given up, and repeated under its own key. When it is tried again is the policy of its kind; all else is the same for every kind.

/** `held`: it waits for what it is to say; `pending`: it is sent, or is to be; `dropped`: nothing of it is sent; `exhausted`: refused for good, or given up. */
export const DELIVERY_STATES = ["held", "pending", "delivered", "dropped", "exhausted"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface Delivery {
  readonly state: DeliveryState;
  /** Attempts of what is at hand, or of what was last. */
  readonly attempts: number;
  readonly firstTriedAtMs: number | null;
  /** Zero: at once. */
  readonly nextAttemptAtMs: number;
  /** Error of the last attempt; null where it succeeded. */
  readonly error: string | null;
}

export const NEW_DELIVERY: Delivery = { state: "pending", attempts: 0, firstTriedAtMs: null, nextAttemptAtMs: 0, error: null };

/** Answer of a receiver, as far as there was one. */
export interface ReceiverAnswer {
  readonly statusCode: number | null;
  readonly responseTimeMs: number;
  /** Its text, of a request that asks for it. */
  readonly text?: string;
  /** It wants no more (410). */
  readonly gone?: boolean;
  /** It could not be sent by the fault of who set it up: a program that throws, a target that cannot be. */
  readonly fault?: boolean;
}

/** Outcome of an attempt. `dropped`: there was nothing to send; `failed`: another attempt would end alike. `mayHaveArrived`: no answer came to what was sent. */
export type AttemptOutcome = { readonly answer?: ReceiverAnswer } & (
  | { readonly kind: "delivered" }
  | { readonly kind: "dropped"; readonly error: string }
  | { readonly kind: "retry"; readonly error: string; readonly afterMs: number | null; readonly mayHaveArrived: boolean }
  | { readonly kind: "failed"; readonly error: string }
);

/** What a policy decides by. */
export interface FailedAttempts extends Pick<Delivery, "attempts" | "firstTriedAtMs"> {
  readonly nowMs: number;
  /** 0..1. */
  readonly random: number;
  /** What the receiver asked for (`Retry-After`). */
  readonly afterMs: number | null;
}

/** Time of the attempt behind those that failed; null where it is given up. */
export type RetryPolicy = (failed: FailedAttempts) => number | null;

export interface AttemptEnd {
  readonly outcome: AttemptOutcome;
  readonly nowMs: number;
  readonly random: number;
}

/** The delivery when an attempt begins. */
export function attemptBegun<D extends Delivery>(delivery: D, nowMs: number): D {
  return { ...delivery, attempts: delivery.attempts + 1, firstTriedAtMs: delivery.firstTriedAtMs ?? nowMs };
}

/** The delivery when its attempt has ended. One that is done with stays as it is. */
export function attemptEnded<D extends Delivery>(delivery: D, { outcome, nowMs, random }: AttemptEnd, retry: RetryPolicy): D {
  if (delivery.state !== "pending") return delivery;
  if (outcome.kind === "delivered") return { ...delivery, state: "delivered", nextAttemptAtMs: 0, error: null };
  const { error } = outcome;
  if (outcome.kind === "dropped") return { ...delivery, state: "dropped", nextAttemptAtMs: 0, error };
  const { attempts, firstTriedAtMs } = delivery;
  const atMs = outcome.kind === "failed" ? null : retry({ attempts, firstTriedAtMs, nowMs, random, afterMs: outcome.afterMs });
  return atMs === null ? { ...delivery, state: "exhausted", nextAttemptAtMs: 0, error } : { ...delivery, nextAttemptAtMs: atMs, error };
}

/** Whether something of it is still to be done. */
export function isOpen({ state }: Pick<Delivery, "state">): boolean {
  return state === "held" || state === "pending";
}
