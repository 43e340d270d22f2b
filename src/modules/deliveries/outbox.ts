/**
 * The outbox of all that leaves the server: hands stored deliveries to the notifier and stores what becomes of them. A delivery is stored in the transaction that stores
 * what decided it, so it leaves at least once, whatever dies in between, and under the same key each time.
 *
 * A delivery is either in the notifier's hands or waits for its receiver. A receiver has at most so many in the notifier's hands, and each tenant its share of all, so that a
 * dead receiver fills neither. All of it happens between transactions: a draft and what it was made over never differ.
 */
import type { KeyValueStore } from "../../adapters/storage/key-value-store.ts";
import { DELIVERIES_HANDED_PER_STEP, REPORTS_PER_COMMIT } from "../../core/config/notification-limits.ts";
import type { AttemptOutcome } from "../../domain/delivery/delivery.ts";
import type { DeliveryReport, HandedDelivery, HandedKey } from "../../domain/webhooks/outbound-messages.ts";
import { tenantOfKey } from "./delivery-key.ts";
import type { DeliveryKind, DeliveryLink } from "./delivery-kind.ts";
import { DeliveryQueue } from "./delivery-queue.ts";
import { type StoreAccess, StoreWork } from "./store-work.ts";

export interface OutboxDependencies extends StoreAccess {
  readonly control: KeyValueStore;
  nowMs(): number;
  randomBytes(count: number): Uint8Array;
}

const LOST: AttemptOutcome = { kind: "retry", error: "the notifier has ended, or gave no answer", afterMs: null, mayHaveArrived: true };
/** Random bytes of the name of a run, which no earlier one had. */
const RUN_BYTES = 8;

export class Outbox {
  readonly queue = new DeliveryQueue();
  readonly #dependencies: OutboxDependencies;
  readonly #kinds: DeliveryKind[] = [];
  readonly #work: StoreWork;
  #reports: DeliveryReport[] = [];
  #link: DeliveryLink | undefined;
  #run: string;
  #runs = 0;
  #serial = 0;

  constructor(dependencies: OutboxDependencies) {
    const { randomBytes, nowMs } = dependencies;
    this.#dependencies = dependencies;
    this.#run = `${Buffer.from(randomBytes(RUN_BYTES)).toString("hex")}-${nowMs()}`;
    this.#work = new StoreWork("the deliveries", () => this.#step(), dependencies);
  }

  /** Name of this run of the notifier: what is stored under another one may have been sent by it. */
  get run(): string {
    return this.#run;
  }

  get isConnected(): boolean {
    return this.#link !== undefined;
  }

  get isStopped(): boolean {
    return this.#work.isStopped;
  }

  /** Takes in a kind of deliveries. */
  register(kind: DeliveryKind): void {
    this.#kinds.push(kind);
  }

  /** Reads the deliveries that wait in the store. */
  start(): void {
    for (const kind of this.#kinds) {
      kind.load?.();
      kind.count?.();
    }
  }

  /** A notifier is there. */
  connect(link: DeliveryLink): void {
    this.disconnect();
    this.#link = link;
    for (const kind of this.#kinds) kind.connected?.();
    this.want();
  }

  /** The notifier has ended: what it had in its hands may have been sent, and is sent again under the same key. */
  disconnect(): void {
    if (this.#link === undefined) return;
    this.#link = undefined;
    this.#run = `${this.#run.split(".", 1)[0]}.${++this.#runs}`;
    const handed = this.queue.allHanded();
    this.#reports = handed.flatMap((key) => this.#lost(key));
    this.queue.giveBack(handed.filter((key) => this.queue.handed(key)?.kind.isStoredFirst !== true));
    for (const kind of this.#kinds) kind.disconnected?.();
    this.want();
  }

  /** Takes what the notifier reports. */
  take(reports: readonly DeliveryReport[]): void {
    this.#reports.push(...reports);
    this.want();
  }

  /** There is something to store, or to hand over. */
  want(): void {
    this.#work.want();
  }

  /** Nothing is handed over any more. */
  stop(): void {
    this.#work.stop();
  }

  /** Tells the notifier, where it is there. */
  send: DeliveryLink["send"] = (command) => this.#link?.send(command);

  /** Hands over what there is room for, a receiver after the other; true where more could be. */
  handOver(): boolean {
    const handed: HandedDelivery[] = [];
    for (const { name, kind } of this.#openReceivers()) {
      if (handed.length >= DELIVERIES_HANDED_PER_STEP) break;
      if (kind.isStoredFirst !== true) this.#handReceiver(kind, name, handed);
      else if (this.#next(kind, name) !== undefined) this.want();
    }
    this.#sendHanded(handed);
    for (const kind of this.#kinds) kind.count?.();
    return handed.length >= DELIVERIES_HANDED_PER_STEP;
  }

  /** Receivers for which something may leave now. */
  #openReceivers() {
    if (this.#link === undefined || this.isStopped) return [];
    return this.queue.waitingReceivers().filter(({ name, kind }) => kind.mayLeave(name));
  }

  /** A command for each kind: a fault in one is none of the others'. */
  #sendHanded(handed: readonly HandedDelivery[]): void {
    for (const { name } of this.#kinds) {
      const deliveries = handed.filter(({ kind }) => kind === name);
      if (deliveries.length > 0) this.send({ type: "send", deliveries });
    }
  }

  #handReceiver(kind: DeliveryKind, receiver: string, handed: HandedDelivery[]): void {
    const before = handed.length;
    while (handed.length < DELIVERIES_HANDED_PER_STEP) {
      const next = this.#handFirst(kind, receiver);
      if (next === undefined) break;
      handed.push(...next);
    }
    if (handed.length > before) this.queue.served(receiver);
  }

  /** What leaves first to a receiver; undefined where there is no room, or nothing. */
  #next(kind: DeliveryKind, receiver: string): { readonly key: string; readonly isUrgent: boolean } | undefined {
    const first = this.queue.first(receiver);
    if (first === undefined || this.queue.handedOf(receiver) >= kind.handedMost(first.isUrgent)) return undefined;
    return kind.places.available(tenantOfKey(first.key)) < 1 ? undefined : first;
  }

  #handFirst(kind: DeliveryKind, receiver: string): HandedDelivery[] | undefined {
    const first = this.#next(kind, receiver);
    if (first === undefined) return undefined;
    const leaving = kind.leaving(first.key);
    if (leaving.length === 0) this.queue.remove(first.key, receiver);
    const dueAtMs = Math.max(...leaving.map((part) => part.dueAtMs));
    return leaving.map((part) => {
      const serial = ++this.#serial;
      this.queue.hand(part.key, { kind, receiver, isUrgent: first.isUrgent }, serial);
      return { ...part, dueAtMs, serial };
    });
  }

  /** Keys of what is in the notifier's hands from now on, and leaves once it is stored as begun. */
  #begin(): string[] {
    const keys: string[] = [];
    for (const { name: receiver, kind } of this.#openReceivers()) {
      if (kind.isStoredFirst !== true) continue;
      for (let next = this.#next(kind, receiver); next !== undefined; next = this.#next(kind, receiver)) {
        if (keys.length >= DELIVERIES_HANDED_PER_STEP) break;
        this.queue.hand(next.key, { kind, receiver, isUrgent: next.isUrgent }, ++this.#serial);
        keys.push(next.key);
      }
      this.queue.served(receiver);
    }
    return keys;
  }

  /** What is stored as begun leaves. */
  #sendBegun(keys: readonly string[]): void {
    const begun = keys.flatMap((key) => {
      const { kind, serial = 0 } = this.queue.handed(key) ?? {};
      return (kind?.leaving(key) ?? []).map((part) => ({ ...part, serial }));
    });
    this.#sendHanded(begun);
  }

  /** One commit of what there is to store, one run of handing over; true where there is more of either. */
  async #step(): Promise<boolean> {
    const run = this.#run;
    const reports = this.#reports.splice(0, REPORTS_PER_COMMIT);
    const current = reports.flatMap((report) => this.#current(report));
    const begun = this.#begin();
    const works = this.#kinds.map((kind) => {
      const own = begun.filter((key) => this.queue.handed(key)?.kind === kind);
      return kind.work(
        current.filter(({ of }) => of === kind.name),
        own,
      );
    });
    try {
      const operations = works.flatMap((work) => work.operations());
      // What a loss of power takes of the others is sent again under the same key.
      const flushLater = !works.some(({ isFlushed }) => isFlushed === true);
      if (operations.length > 0) await this.#dependencies.control.commit(operations, { flushLater });
    } catch (error) {
      if (run === this.#run) this.#reports.unshift(...this.#answered(reports));
      this.queue.giveBack(begun);
      for (const work of works) work.undone();
      throw error;
    }
    for (const work of works) work.apply();
    if (run === this.#run) this.#sendBegun(begun);
    return this.#reports.length > 0 || this.handOver();
  }

  /** The end of an attempt that the notifier has taken with it, where it was stored as begun. */
  #lost(key: string): DeliveryReport[] {
    const { kind, serial = 0 } = this.queue.handed(key) ?? {};
    if (kind?.isStoredFirst !== true) return [];
    const nowMs = this.#dependencies.nowMs();
    return [{ of: kind.name, kind: "attempted", deliveries: [{ key, serial }], sentAtMs: nowMs, endedAtMs: nowMs, outcome: LOST }];
  }

  /** A report as far as it is of deliveries that are still handed over. */
  #current(report: DeliveryReport): DeliveryReport[] {
    const isHanded = ({ key, serial }: HandedKey) => this.queue.handed(key)?.serial === serial;
    if (report.kind === "recalled") return isHanded(report) ? [report] : [];
    const deliveries = report.deliveries.filter(isHanded);
    // A mail of which a part is not here any more is not joined.
    const isPart = report.kind === "joining" && deliveries.length < report.deliveries.length;
    return [{ ...report, deliveries: isPart ? [] : deliveries }];
  }

  /** Reports that are to be stored later. Where nothing can be stored no mail waits for it: each message leaves by itself. */
  #answered(reports: readonly DeliveryReport[]): DeliveryReport[] {
    for (const report of reports) {
      if (report.kind === "joining") this.send({ type: "join", id: report.id, destination: report.destination, name: null });
    }
    return reports.filter(({ kind }) => kind !== "joining");
  }
}
