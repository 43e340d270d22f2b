// Deliveries that are to be sent: those that wait, by receiver of one tenant, and those in the notifier's hands. For a receiver what is urgent leaves first, then the
// others, each in the order in which they came; receivers take turns. 150 B a delivery.
import { tenantOfKey } from "./delivery-key.ts";
import type { DeliveryKind } from "./delivery-kind.ts";

/** Where a delivery belongs. */
export interface QueuePosition {
  readonly kind: DeliveryKind;
  readonly receiver: string;
  readonly isUrgent: boolean;
}

/** A delivery in the notifier's hands: outcomes of an earlier serial are of an earlier run. */
interface HandedPosition extends QueuePosition {
  readonly serial: number;
  readonly tenant: string;
  isRecalled: boolean;
}

interface ReceiverRows {
  readonly kind: DeliveryKind;
  readonly urgent: Set<string>;
  readonly other: Set<string>;
  handed: number;
}

export class DeliveryQueue {
  readonly #receivers = new Map<string, ReceiverRows>();
  readonly #handed = new Map<string, HandedPosition>();
  readonly #sizes = new Map<DeliveryKind, number>();

  /** Deliveries of a kind, in the notifier's hands or not. */
  size(kind: DeliveryKind): number {
    return this.#sizes.get(kind) ?? 0;
  }

  /** Receivers for whom something waits, those with something urgent first, each in its turn. Deliveries may be removed meanwhile. */
  waitingReceivers(): Array<{ readonly name: string; readonly kind: DeliveryKind }> {
    const receivers = [...this.#receivers].map(([name, receiver]) => ({ name, ...receiver }));
    return [
      ...receivers.filter(({ urgent }) => urgent.size > 0),
      ...receivers.filter(({ urgent, other }) => urgent.size === 0 && other.size > 0),
    ];
  }

  /** What leaves first of a receiver; undefined where nothing waits. */
  first(receiver: string): { readonly key: string; readonly isUrgent: boolean } | undefined {
    const { urgent, other } = this.#receivers.get(receiver) ?? {};
    for (const key of urgent ?? []) return { key, isUrgent: true };
    for (const key of other ?? []) return { key, isUrgent: false };
    return undefined;
  }

  /** Number of deliveries of a receiver in the notifier's hands. */
  handedOf(receiver: string): number {
    return this.#receivers.get(receiver)?.handed ?? 0;
  }

  /** A delivery that waits already keeps its turn among those of its urgency. */
  add(key: string, { kind, receiver, isUrgent }: QueuePosition): void {
    if (this.#handed.has(key)) return; // its outcome says where it belongs
    const rows = this.#receivers.get(receiver) ?? { kind, urgent: new Set(), other: new Set(), handed: 0 };
    this.#receivers.set(receiver, rows);
    const [own, others] = isUrgent ? [rows.urgent, rows.other] : [rows.other, rows.urgent];
    if (!others.delete(key) && !own.has(key)) this.#sized(kind, 1);
    own.add(key);
  }

  /** It does not wait any more. */
  remove(key: string, receiver: string): void {
    const rows = this.#receivers.get(receiver);
    if (rows === undefined || !(rows.urgent.delete(key) || rows.other.delete(key))) return;
    this.#sized(rows.kind, -1);
    this.#tidy(receiver, rows);
  }

  /** Nothing of a receiver waits any more. */
  clear(receiver: string): void {
    for (let next = this.first(receiver); next !== undefined; next = this.first(receiver)) this.remove(next.key, receiver);
  }

  /** The receiver's turn is over: others come first. */
  served(receiver: string): void {
    const rows = this.#receivers.get(receiver);
    if (rows === undefined) return;
    this.#receivers.delete(receiver);
    this.#receivers.set(receiver, rows);
  }

  /** Undefined for what the notifier does not have. */
  handed(key: string): HandedPosition | undefined {
    return this.#handed.get(key);
  }

  /** What waited is in the notifier's hands now, in a place of its tenant's share. */
  hand(key: string, position: QueuePosition, serial: number): void {
    const { kind, receiver } = position;
    const tenant = tenantOfKey(key);
    kind.places.add(tenant);
    this.add(key, position);
    this.#handed.set(key, { ...position, serial, tenant, isRecalled: false });
    const rows = this.#receivers.get(receiver) as ReceiverRows;
    rows.urgent.delete(key);
    rows.other.delete(key);
    rows.handed += 1;
  }

  /** The notifier does not have it any more. */
  release(key: string): void {
    const position = this.#handed.get(key);
    if (position === undefined) return;
    const { kind, receiver, tenant } = position;
    this.#handed.delete(key);
    kind.places.give(tenant);
    this.#sized(kind, -1);
    const rows = this.#receivers.get(receiver) as ReceiverRows;
    rows.handed -= 1;
    this.#tidy(receiver, rows);
  }

  /** What the notifier has waits again. */
  giveBack(keys: Iterable<string>): void {
    for (const key of keys) {
      const position = this.#handed.get(key);
      this.release(key);
      if (position !== undefined) this.add(key, position);
    }
  }

  /** Keys of what the notifier has, of one receiver or of all. */
  allHanded(receiver?: string): string[] {
    return [...this.#handed].flatMap(([key, position]) => (receiver === undefined || position.receiver === receiver ? [key] : []));
  }

  #sized(kind: DeliveryKind, change: number): void {
    this.#sizes.set(kind, this.size(kind) + change);
  }

  #tidy(receiver: string, { urgent, other, handed }: ReceiverRows): void {
    if (urgent.size + other.size + handed === 0) this.#receivers.delete(receiver);
  }
}
