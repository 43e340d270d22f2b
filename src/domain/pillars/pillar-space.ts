// All mapped services and the pillar values they count for. A tick goes: changes of the map are applied, each service's deviations are taken, then all values
// are scored. Both long parts are generators that yield after some 2,000 services, about 0.5 ms, so that others get their turn.
import { sortedSteps } from "../../core/collections/sorted-search.ts";
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import { compareTexts } from "../../core/text/text-order.ts";
import { FAMILIES } from "../series/metric-family.ts";
import { serviceIdOf, serviceKey } from "../series/stream-identity.ts";
import { MemberTable } from "./member-table.ts";
import { type MemberSource, PillarValue } from "./pillar-value.ts";
import { placesOf, type ServiceEntry } from "./service-entry.ts";

const COORDINATES = FAMILIES.length;
/** Services between two yields; entries that are applied, and values that are scored, take longer. */
const SLICE = 2_000;
const CHANGES_SLICE = 50;
const VALUES_SLICE = 100;
const CAPACITY_FIRST = 1_024;

/** Counts of the last tick. */
export interface PillarCounts {
  readonly services: number;
  readonly evaluated: number;
  readonly values: number;
  /** Places of services that count for no value, because there are as many values as may be. */
  readonly valuesRefused: number;
}

export class PillarSpace implements MemberSource {
  readonly #shares: ShareLedger;
  /** Changes of the map for the next tick; last wins. */
  readonly #changes = new Map<string, { readonly tenant: string; readonly entry: ServiceEntry }>();
  readonly #members = new MemberTable();
  /** By the number that members know them by; those of values that are gone are given again. */
  readonly #numbered: Array<PillarValue | undefined> = [];
  readonly #freeNumbers: number[] = [];
  /** By tenant of the API, then by pillar and value. */
  readonly #values = new Map<string, Map<string, PillarValue>>();
  /** Values of a tenant in the order of lists; made when it is asked for. */
  readonly #sorted = new Map<string, PillarValue[]>();
  /** Changes of the map that were applied: an order that was being made meanwhile is not kept. */
  #changesApplied = 0;
  /** Deviations, four a member: of the tick that was scored last, and of the one under way; and the tick that a member was taken in. */
  #vectors = new Float32Array(CAPACITY_FIRST * COORDINATES);
  #taking = new Float32Array(CAPACITY_FIRST * COORDINATES);
  #usedAt = new Uint32Array(CAPACITY_FIRST);
  #clock = 0;
  /** Services taken in this tick. */
  #taken = 0;
  #evaluated = 0;
  #refused = 0;

  /** `shares` say who holds how many values. */
  constructor(shares: ShareLedger) {
    this.#shares = shares;
  }

  /** An entry of the map; it counts from the next tick on. */
  change(tenant: string, entry: ServiceEntry): void {
    this.#changes.set(serviceKey(tenant, entry.serviceId), { tenant, entry });
  }

  /** A value as it was before the start. */
  restore(value: PillarValue): void {
    this.#enter(value);
  }

  /** Whether a tick has anything to do. */
  get isEmpty(): boolean {
    return this.#members.size === 0 && this.#changes.size === 0;
  }

  get counts(): PillarCounts {
    return { services: this.#members.size, evaluated: this.#evaluated, values: this.#shares.taken, valuesRefused: this.#refused };
  }

  /** Begins a tick: applies what has changed in the map. */
  *begin(): Generator<void> {
    this.#clock++;
    this.#taken = 0;
    let applied = 0;
    for (const [key, { tenant, entry }] of this.#changes) {
      this.#changes.delete(key);
      this.#apply(key, tenant, entry);
      if (++applied % CHANGES_SLICE === 0) yield;
    }
  }

  /** Takes the deviations of a service at `at`, by the key that serviceKey() gives; one that is not mapped is left out. */
  take(key: string, deviations: Float32Array, at: number): void {
    const member = this.#members.find(key);
    if (member === undefined) return;
    for (let i = 0; i < COORDINATES; i++) this.#taking[member * COORDINATES + i] = deviations[at + i] as number;
    if (this.#usedAt[member] !== this.#clock) this.#taken++;
    this.#usedAt[member] = this.#clock;
  }

  /** Scores all values by what was taken in this tick. */
  *score(nowMs: number): Generator<void> {
    const values = [...this.#values.values()].flatMap((ofTenant) => [...ofTenant.values()]);
    yield* inPieces(values, SLICE, (value) => value.reset());
    [this.#vectors, this.#taking] = [this.#taking, this.#vectors];
    yield* this.#eachEvaluated((value, member) => value.add(this.#vectors, member * COORDINATES));
    yield* inPieces(values, SLICE, (value) => value.settle());
    yield* this.#eachEvaluated((value, member) => value.weigh(member, this.#vectors, member * COORDINATES));
    yield* inPieces(values, VALUES_SLICE, (value) => {
      if (value.members > 0) value.finish(nowMs, this);
    });
    this.#evaluated = this.#taken;
  }

  *#eachEvaluated(visit: (value: PillarValue, member: number) => void): Generator<void> {
    for (let member = 0; member < this.#members.size; member++) {
      if (this.#usedAt[member] === this.#clock)
        this.#members.eachValue(member, (number) => visit(this.#numbered[number] as PillarValue, member));
      if (member % SLICE === SLICE - 1) yield;
    }
  }

  /** A service by its number, with its deviations at the last tick. */
  driver(index: number) {
    const deviations: Array<number | null> = [];
    for (let i = 0; i < COORDINATES; i++) {
      const deviation = this.#vectors[index * COORDINATES + i] as number;
      deviations.push(Number.isNaN(deviation) ? null : deviation);
    }
    return { serviceId: serviceIdOf(this.#members.key(index)), deviations };
  }

  /** Values of a tenant that services are mapped to, by pillar and value; yields between steps. */
  *valuesOf(tenant: string): Generator<void, readonly PillarValue[]> {
    const known = this.#sorted.get(tenant);
    if (known !== undefined) return known;
    const changes = this.#changesApplied;
    const values = [...(this.#values.get(tenant)?.values() ?? [])].filter(({ members }) => members > 0);
    const sorted = yield* sortedSteps(values, (a, b) => compareTexts(a.pillar, b.pillar) || compareTexts(a.value, b.value));
    if (changes === this.#changesApplied) this.#sorted.set(tenant, sorted);
    return sorted;
  }

  /** Up to `most` values whose history has grown since `storedMs`, at least `ageMs` ago; those that have waited longest first. */
  unstored(nowMs: number, ageMs: number, most: number): PillarValue[] {
    const due: PillarValue[] = [];
    for (const ofTenant of this.#values.values())
      for (const value of ofTenant.values()) if (value.history.lastMs > value.storedMs && nowMs - value.storedMs >= ageMs) due.push(value);
    return due.sort((a, b) => a.storedMs - b.storedMs).slice(0, most);
  }

  /** Forgets up to `most` values that nothing is mapped to and that were last observed before `beforeMs`. */
  forget(beforeMs: number, most: number): PillarValue[] {
    const gone: PillarValue[] = [];
    for (const ofTenant of this.#values.values())
      for (const [key, value] of ofTenant)
        if (gone.length < most && value.members === 0 && value.history.lastMs < beforeMs) {
          ofTenant.delete(key);
          this.#numbered[value.number] = undefined;
          this.#freeNumbers.push(value.number);
          this.#shares.give(value.tenant);
          gone.push(value);
        }
    return gone;
  }

  #apply(key: string, tenant: string, entry: ServiceEntry): void {
    const member = this.#members.enter(key);
    this.#members.eachValue(member, (number) => {
      (this.#numbered[number] as PillarValue).members--;
    });
    this.#members.clearValues(member);
    for (const [pillar, name] of placesOf(entry)) {
      const value = this.#valueFor(tenant, pillar, name);
      if (value === undefined) continue;
      value.members++;
      this.#members.addValue(member, value.number);
    }
    if (member >= this.#usedAt.length) this.#grow();
    this.#sorted.delete(tenant);
    this.#changesApplied++;
  }

  #valueFor(tenant: string, pillar: string, value: string): PillarValue | undefined {
    const known = this.#values.get(tenant)?.get(valueKey(pillar, value));
    if (known !== undefined) return known;
    if (this.#shares.available(tenant) < 1) {
      this.#shares.refuse(tenant);
      this.#refused++;
      return undefined;
    }
    return this.#enter(new PillarValue(tenant, pillar, value));
  }

  #enter(value: PillarValue): PillarValue {
    const ofTenant = this.#values.get(value.tenant) ?? new Map<string, PillarValue>();
    this.#values.set(value.tenant, ofTenant);
    ofTenant.set(valueKey(value.pillar, value.value), value);
    value.number = this.#freeNumbers.pop() ?? this.#numbered.length;
    this.#numbered[value.number] = value;
    this.#shares.add(value.tenant);
    return value;
  }

  #grow(): void {
    const [vectors, taking] = [this.#vectors, this.#taking];
    this.#vectors = new Float32Array(2 * vectors.length);
    this.#vectors.set(vectors);
    this.#taking = new Float32Array(2 * taking.length);
    this.#taking.set(taking);
    const usedAt = new Uint32Array(2 * this.#usedAt.length);
    usedAt.set(this.#usedAt);
    this.#usedAt = usedAt;
  }
}

function valueKey(pillar: string, value: string): string {
  return JSON.stringify([pillar, value]);
}

/** Does something with each value, so many of them at a time. */
function* inPieces(values: readonly PillarValue[], slice: number, work: (value: PillarValue) => void): Generator<void> {
  for (const [index, value] of values.entries()) {
    work(value);
    if (index % slice === slice - 1) yield;
  }
}
