// How destinations fare: when each took something last, and since when it has taken nothing, which counts from the start of the server on.
import { CHANNEL_FAILING_MS, EXHAUSTED_REPORTED_MS, TRACKED_DESTINATIONS_MAX } from "../../core/config/notification-limits.ts";
import { channelText } from "./channel.ts";
import { type Destination, destinationKey } from "./destinations.ts";

/** How a destination of a tenant fares. */
export interface ChannelState {
  readonly tenant: string;
  readonly channel: string;
  readonly lastSuccessMs: number | null;
  /** First attempt that failed since; null where the last one succeeded. */
  readonly failingSinceMs: number | null;
  readonly lastAttemptMs: number;
  /** Error of the last attempt. */
  readonly error: string | null;
}

/** A destination that nothing is known of any more. */
export interface ForgottenChannel {
  readonly tenant: string;
  readonly destination: Destination;
}

/** Its channel as a rule would name it. */
function channelOf({ notifier, target }: Destination): string {
  return channelText({ notifier, target: target === "" ? null : target });
}

export class ChannelHealth {
  readonly #states = new Map<string, ChannelState & ForgottenChannel>();

  /** Notes an attempt; `error` is null where it was taken. Gives a destination that is forgotten for it, if there are too many. */
  note(tenant: string, destination: Destination, atMs: number, error: string | null): ForgottenChannel | undefined {
    const key = keyOf(tenant, destination);
    const known = this.#states.get(key);
    const lastSuccessMs = error === null ? atMs : (known?.lastSuccessMs ?? null);
    const failingSinceMs = error === null ? null : (known?.failingSinceMs ?? atMs);
    this.#states.delete(key);
    const state = { tenant, channel: channelOf(destination), lastSuccessMs, failingSinceMs, lastAttemptMs: atMs, error };
    this.#states.set(key, { ...state, destination });
    if (this.#states.size <= TRACKED_DESTINATIONS_MAX) return undefined;
    for (const [oldest, forgotten] of this.#states) {
      this.#states.delete(oldest);
      return forgotten;
    }
    return undefined;
  }

  /** Undefined where nothing was tried yet. */
  of(tenant: string, destination: Destination): ChannelState | undefined {
    return this.#states.get(keyOf(tenant, destination));
  }

  /** Number of those of all tenants that have taken nothing for minutes. */
  failingCount(nowMs: number): number {
    let count = 0;
    for (const state of this.#states.values()) if (isFailing(state, nowMs)) count++;
    return count;
  }

  /** Those of a tenant that have taken nothing for minutes, and were tried of late. */
  failing(tenant: string, nowMs: number): ChannelState[] {
    return [...this.#states.values()].filter((state) => state.tenant === tenant && isFailing(state, nowMs));
  }
}

/** Whether a destination has taken nothing for so long that people should know. */
export function isFailing({ failingSinceMs, lastAttemptMs }: ChannelState, nowMs: number): boolean {
  return failingSinceMs !== null && nowMs - failingSinceMs >= CHANNEL_FAILING_MS && nowMs - lastAttemptMs < EXHAUSTED_REPORTED_MS;
}

function keyOf(tenant: string, destination: Destination): string {
  return JSON.stringify([tenant, destinationKey(destination)]);
}
