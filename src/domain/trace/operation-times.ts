// Time that spans took by themselves, by operation and minute, of the last twenty minutes: what the analysis of incidents compares. One table an engine, of the
// traces that it joins; additive, so that what several engines hold is one sum. Sketch: 800 bytes an operation, 40 ns a span.
//
// Operations are found by the number of their service and the hash of their name, in a table of words with linear probing: no text and no object a span.
import type { ShareLedger } from "../../core/fairness/share-ledger.ts";
import type { ServiceName } from "../window/window-message.ts";
import { MINUTES_RETAINED } from "../window/window-time.ts";
import { addSums, addTime, TIME_SUM_NUMBERS } from "./time-sums.ts";

/** An operation that has no place. */
export const NO_OPERATION = -1;
const PLACES_FIRST = 256;
const FREE = -1;
/** A place of the table as words: service, hash, number of the operation, FREE where there is none. */
const SERVICE = 0;
const HASH = 1;
const NUMBER = 2;
const ENTRY_SLOTS = 3;
const SPREADING = 0x9e3779b1;
/** Numbers of a minute: its own, then its sum. */
const MINUTE_NUMBERS = 1 + TIME_SUM_NUMBERS;

interface Operation {
  readonly service: number;
  readonly name: ServiceName;
  readonly hash: number;
  /** The newest minute that a span of it arrived in. */
  lastMinute: number;
  readonly minutes: Float64Array;
}

/** Self times of one operation: sums of the minutes before, oldest first, and behind them that of those since. */
export interface OperationSums {
  readonly name: ServiceName;
  readonly hash: number;
  readonly sums: Float64Array;
}

/** Minutes since 1970 that are asked for: `past` of them before the onset one by one, and from the onset's on together. */
export interface OperationMinutes {
  readonly onset: number;
  readonly until: number;
  readonly past: number;
}

export class OperationTimes {
  readonly #shares: ShareLedger;
  /** By number; a hole is free. */
  readonly #operations: Array<Operation | undefined> = [];
  readonly #free: number[] = [];
  #slots = emptyTable(PLACES_FIRST);
  #mask = PLACES_FIRST - 1;

  /** `shares` counts who holds how many operations. */
  constructor(shares: ShareLedger) {
    this.#shares = shares;
  }

  /** Operations at hand. */
  get size(): number {
    return this.#operations.length - this.#free.length;
  }

  /** The number of an operation that a span arrived of in a minute; NO_OPERATION where the tenant has no place left. `service` is always the same `name`. */
  number(service: number, name: ServiceName, hash: number, minute: number): number {
    const slots = this.#slots;
    let at = this.#index(service, hash);
    for (; slots[at + NUMBER] !== FREE; at = this.#next(at)) {
      if (slots[at + HASH] === hash && slots[at + SERVICE] === service) return this.#seen(slots[at + NUMBER]!, minute);
    }
    if (!this.#shares.take(name.tenant)) return NO_OPERATION;
    const number = this.#free.pop() ?? this.#operations.length;
    const minutes = new Float64Array(MINUTES_RETAINED * MINUTE_NUMBERS);
    this.#operations[number] = { service, name, hash, lastMinute: minute, minutes };
    if (2 * this.size > this.#mask) this.#rebuild(2 * (this.#mask + 1));
    else this.#enter(number);
    return number;
  }

  #seen(number: number, minute: number): number {
    const operation = this.#operations[number] as Operation;
    if (operation.lastMinute < minute) operation.lastMinute = minute;
    return number;
  }

  /** Adds what a span took by itself; one of a minute that is too old is passed over. */
  add(number: number, minute: number, microseconds: number): void {
    const operation = this.#operations[number];
    if (operation === undefined) return;
    const { minutes } = operation;
    const at = (minute % MINUTES_RETAINED) * MINUTE_NUMBERS;
    if (minutes[at] !== minute) {
      if (minutes[at]! > minute) return;
      minutes.fill(0, at, at + MINUTE_NUMBERS);
      minutes[at] = minute;
    }
    addTime(minutes, at + 1, microseconds);
  }

  /** Forgets operations that nothing came of since a minute; their numbers are given to others, so what was not told yet must have been. */
  expire(beforeMinute: number): void {
    const size = this.size;
    for (const [number, operation] of this.#operations.entries()) {
      if (operation === undefined || operation.lastMinute >= beforeMinute) continue;
      this.#operations[number] = undefined;
      this.#free.push(number);
      this.#shares.give(operation.name.tenant);
    }
    if (this.size < size) this.#rebuild(this.#mask + 1);
  }

  /** Sums of a tenant's operations in an environment, of those that something came of since the onset. */
  *of(tenant: string, environment: string, minutes: OperationMinutes): Generator<OperationSums> {
    for (const operation of this.#operations) {
      if (operation === undefined || operation.lastMinute < minutes.onset) continue;
      const { name, hash } = operation;
      if (name.tenant === tenant && name.environment === environment) yield { name, hash, sums: sumsOf(operation, minutes) };
    }
  }

  #index(service: number, hash: number): number {
    return ((Math.imul(hash ^ Math.imul(service, SPREADING), SPREADING) >>> 8) & this.#mask) * ENTRY_SLOTS;
  }

  #next(at: number): number {
    return at + ENTRY_SLOTS < this.#slots.length ? at + ENTRY_SLOTS : 0;
  }

  #enter(number: number): void {
    const { service, hash } = this.#operations[number] as Operation;
    let at = this.#index(service, hash);
    while (this.#slots[at + NUMBER] !== FREE) at = this.#next(at);
    this.#slots[at + SERVICE] = service;
    this.#slots[at + HASH] = hash;
    this.#slots[at + NUMBER] = number;
  }

  #rebuild(places: number): void {
    this.#slots = emptyTable(places);
    this.#mask = places - 1;
    for (const [number, operation] of this.#operations.entries()) if (operation !== undefined) this.#enter(number);
  }
}

function emptyTable(places: number): Int32Array {
  return new Int32Array(places * ENTRY_SLOTS).fill(FREE);
}

function sumsOf({ minutes }: Operation, { onset, until, past }: OperationMinutes): Float64Array {
  const sums = new Float64Array((past + 1) * TIME_SUM_NUMBERS);
  for (let minute = onset - past; minute <= until; minute++) {
    const at = (minute % MINUTES_RETAINED) * MINUTE_NUMBERS;
    if (minutes[at] !== minute) continue;
    const window = Math.min(past, minute - onset + past) * TIME_SUM_NUMBERS;
    addSums(sums.subarray(window, window + TIME_SUM_NUMBERS), minutes.subarray(at + 1, at + MINUTE_NUMBERS));
  }
  return sums;
}
