// Deliveries that are to be sent: those that wait, by lane (a receiver, of one tenant), and those in the notifier's hands. In a lane what is urgent leaves first, then the
// others, each in the order in which they came; lanes take turns. 150 B a delivery.
import { tenantOfKey } from "./delivery-key.ts";
import type { DeliveryKind } from "./delivery-kind.ts";

/** Where a delivery belongs. */
export interface QueuePosition {
  readonly kind: DeliveryKind;
  readonly lane: string;
  readonly isUrgent: boolean;
}

/** A delivery in the notifier's hands: outcomes of an earlier serial are of an earlier run. */
interface HandedPosition extends QueuePosition {
  readonly serial: number;
  readonly tenant: string;
  isRecalled: boolean;
}

interface Lane {
  readonly kind: DeliveryKind;
  readonly urgent: Set<string>;
  readonly other: Set<string>;
  handed: number;
}

export class DeliveryQueue {
  readonly #lanes = new Map<string, Lane>();
  readonly #handed = new Map<string, HandedPosition>();
  readonly #sizes = new Map<DeliveryKind, number>();

  /** Deliveries of a kind, in the notifier's hands or not. */
  size(kind: DeliveryKind): number {
    return this.#sizes.get(kind) ?? 0;
  }

  /** Lanes in which something waits, those with something urgent first, each in its turn. Deliveries may be removed meanwhile. */
  waitingLanes(): Array<{ readonly name: string; readonly kind: DeliveryKind }> {
    const lanes = [...this.#lanes].map(([name, lane]) => ({ name, ...lane }));
    return [...lanes.filter(({ urgent }) => urgent.size > 0), ...lanes.filter(({ urgent, other }) => urgent.size === 0 && other.size > 0)];
  }

  /** What leaves first of a lane; undefined where nothing waits. */
  first(lane: string): { readonly key: string; readonly isUrgent: boolean } | undefined {
    const { urgent, other } = this.#lanes.get(lane) ?? {};
    for (const key of urgent ?? []) return { key, isUrgent: true };
    for (const key of other ?? []) return { key, isUrgent: false };
    return undefined;
  }

  /** Number of deliveries of a lane in the notifier's hands. */
  handedOf(lane: string): number {
    return this.#lanes.get(lane)?.handed ?? 0;
  }

  /** A delivery that waits already keeps its turn among those of its urgency. */
  add(key: string, { kind, lane, isUrgent }: QueuePosition): void {
    if (this.#handed.has(key)) return; // its outcome says where it belongs
    const rows = this.#lanes.get(lane) ?? { kind, urgent: new Set(), other: new Set(), handed: 0 };
    this.#lanes.set(lane, rows);
    const [own, others] = isUrgent ? [rows.urgent, rows.other] : [rows.other, rows.urgent];
    if (!others.delete(key) && !own.has(key)) this.#sized(kind, 1);
    own.add(key);
  }

  /** It does not wait any more. */
  remove(key: string, lane: string): void {
    const rows = this.#lanes.get(lane);
    if (rows === undefined || !(rows.urgent.delete(key) || rows.other.delete(key))) return;
    this.#sized(rows.kind, -1);
    this.#tidy(lane, rows);
  }

  /** Nothing of a lane waits any more. */
  clear(lane: string): void {
    for (let next = this.first(lane); next !== undefined; next = this.first(lane)) this.remove(next.key, lane);
  }

  /** The lane's turn is over: others come first. */
  served(lane: string): void {
    const rows = this.#lanes.get(lane);
    if (rows === undefined) return;
    this.#lanes.delete(lane);
    this.#lanes.set(lane, rows);
  }

  /** Undefined for what the notifier does not have. */
  handed(key: string): HandedPosition | undefined {
    return this.#handed.get(key);
  }

  /** What waited is in the notifier's hands now, in a place of its tenant's share. */
  hand(key: string, place: QueuePosition, serial: number): void {
    const { kind, lane } = place;
    const tenant = tenantOfKey(key);
    kind.places.add(tenant);
    this.add(key, place);
    this.#handed.set(key, { ...place, serial, tenant, isRecalled: false });
    const rows = this.#lanes.get(lane) as Lane;
    rows.urgent.delete(key);
    rows.other.delete(key);
    rows.handed += 1;
  }

  /** The notifier does not have it any more. */
  release(key: string): void {
    const place = this.#handed.get(key);
    if (place === undefined) return;
    const { kind, lane, tenant } = place;
    this.#handed.delete(key);
    kind.places.give(tenant);
    this.#sized(kind, -1);
    const rows = this.#lanes.get(lane) as Lane;
    rows.handed -= 1;
    this.#tidy(lane, rows);
  }

  /** What the notifier has waits again. */
  giveBack(keys: Iterable<string>): void {
    for (const key of keys) {
      const place = this.#handed.get(key);
      this.release(key);
      if (place !== undefined) this.add(key, place);
    }
  }

  /** Keys of what the notifier has, of one lane or of all. */
  allHanded(lane?: string): string[] {
    return [...this.#handed].flatMap(([key, place]) => (lane === undefined || place.lane === lane ? [key] : []));
  }

  #sized(kind: DeliveryKind, change: number): void {
    this.#sizes.set(kind, this.size(kind) + change);
  }

  #tidy(lane: string, { urgent, other, handed }: Lane): void {
    if (urgent.size + other.size + handed === 0) this.#lanes.delete(lane);
  }
}
