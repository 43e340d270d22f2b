// Requests that somebody waits for, made by the notifier: the test of a webhook or a channel, the trial of a transform. Tenants have shares of them; who finds no place
// waits for its turn. What the notifier has in its hands when it ends has an outcome that nobody knows.
import { Requests } from "../../adapters/threads/requests.ts";
import { OUTBOUND_CALL_MS_MAX, OUTBOUND_CALLS_SHARE, OUTBOUND_WAIT_MS_MAX } from "../../core/config/notification-limits.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { SlotQueue } from "../../core/fairness/slot-queue.ts";
import { after, task } from "../../core/faults/guard.ts";
import type { AlertMessage } from "../../domain/notification/alert-message.ts";
import type { Destination } from "../../domain/notification/destinations.ts";
import type { OutboundCommand, OutboundReport, WebhookTarget } from "../../domain/webhooks/outbound-messages.ts";
import type { Transform } from "../../domain/webhooks/transform.ts";

type Tried = Extract<OutboundReport, { type: "tried" }>;
type TransformTried = Extract<OutboundReport, { type: "transform-tried" }>;
type CallAnswer = Tried | TransformTried;

/** Says why a test was refused. */
export const TOO_MANY_CALLS = "too many tests and trials of this tenant are under way; try again in a moment";

/** The notifier's end. */
export interface OutboundLink {
  send(command: OutboundCommand): void;
}

export class OutboundCalls {
  readonly #calls = new Requests<CallAnswer>();
  readonly #waiting = new Map<number, () => void>();
  readonly #want: () => void;
  /** Who holds how many, and who waits for one. */
  readonly places: SlotQueue;
  #link: OutboundLink | undefined;
  #queued: OutboundCommand[] = [];
  /** Tests that wait for a place, by tenant. */
  readonly #capacityWanted = new Map<string, number>();

  /** `want` has the notifier started where it does not run. */
  constructor(want: () => void, shares: ShareLedger) {
    this.#want = want;
    this.places = new SlotQueue(shares);
  }

  connect(link: OutboundLink): void {
    this.#link = link;
    for (const command of this.#queued.splice(0)) link.send(command);
  }

  /** The notifier has ended: whoever waits is told that no answer came. */
  disconnect(): void {
    this.#link = undefined;
    this.#calls.drop();
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const ended of waiting) ended();
  }

  take(report: CallAnswer): void {
    this.#calls.settle(report);
  }

  /** One attempt of a webhook; undefined where no answer came. */
  async tryWebhook(tenant: string, target: WebhookTarget, eventId: string, event: string): Promise<Tried | "full" | undefined> {
    if (!(await this.#reserve(tenant))) return "full";
    const answer = await this.#call(tenant, (id) => ({ type: "webhook-try", id, target, eventId, event }));
    return answer?.type === "tried" ? answer : undefined;
  }

  /** Messages to one destination; undefined where no answer came. */
  async tryChannel(tenant: string, destination: Destination, messages: readonly AlertMessage[]): Promise<Tried | "full" | undefined> {
    if (!(await this.#reserve(tenant))) return "full";
    const answer = await this.#call(tenant, (id) => ({ type: "channel-try", id, destination, messages }));
    return answer?.type === "tried" ? answer : undefined;
  }

  /** Runs of a transform on events; undefined where no answer came. */
  async tryTransform(tenant: string, transform: Transform, events: readonly string[]): Promise<TransformTried | "full" | undefined> {
    if (!(await this.#reserve(tenant))) return "full";
    const answer = await this.#call(tenant, (id) => ({ type: "transform-trial", id, tenant, transform, events }));
    return answer?.type === "transform-tried" ? answer : undefined;
  }

  /** Waits for a place, a few seconds at most and a few of each tenant at once. */
  async #reserve(tenant: string): Promise<boolean> {
    const { places } = this;
    if (places.take(tenant)) return true;
    const waiting = this.#capacityWanted.get(tenant) ?? 0;
    const isGranted = waiting < OUTBOUND_CALLS_SHARE && (await this.#waitForSlot(tenant, waiting));
    if (!isGranted) places.refuse(tenant);
    return isGranted;
  }

  async #waitForSlot(tenant: string, waiting: number): Promise<boolean> {
    this.#capacityWanted.set(tenant, waiting + 1);
    const key = String(this.#calls.next());
    const isGranted = await new Promise<boolean>((resolve) => {
      const late = after(OUTBOUND_WAIT_MS_MAX, task("a call that waits for its turn"), () => {
        if (this.places.forget(tenant, key)) resolve(false);
      });
      this.places.wait(tenant, key, () => {
        clearTimeout(late);
        resolve(true);
      });
    });
    const left = (this.#capacityWanted.get(tenant) ?? 1) - 1;
    if (left > 0) this.#capacityWanted.set(tenant, left);
    else this.#capacityWanted.delete(tenant);
    return isGranted;
  }

  #call(tenant: string, command: (id: number) => OutboundCommand): Promise<CallAnswer | undefined> {
    const id = this.#calls.next();
    return new Promise((resolve) => {
      const end = (answer: CallAnswer | undefined) => {
        this.#waiting.delete(id);
        this.places.give(tenant);
        resolve(answer);
      };
      this.#waiting.set(id, () => end(undefined));
      this.#calls.add(id, OUTBOUND_CALL_MS_MAX, { answered: end, late: () => end(undefined) });
      const made = command(id);
      if (this.#link !== undefined) this.#link.send(made);
      else {
        this.#queued.push(made);
        this.#want();
      }
    });
  }
}
