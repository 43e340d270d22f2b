// Spans whose parent has not come, by the parent's key: few at a time, so what they need beyond their place among the held spans stays in a cache.
// Sketch: 32 bytes a span and 4 to 8 of chain heads.
import { HIGH_WORD } from "./join-batch.ts";

const PLACES_FIRST = 16;
const NONE = -1;
/** A child as words; a free one is linked to the next free one. */
const PARENT_HIGH = 0;
const PARENT_LOW = 1;
const LINK = 2;
const SPAN = 3;
const SERVICE = 4;
const MINUTE = 5;
const MICROSECONDS = 6;
const MICROSECONDS_HIGH = 7;
const CHILD_LENGTH = 8;

/** The children of one partition. Each has a number from `add` to `remove`. */
export class WaitingChildren {
  #places = 0;
  #slots = new Int32Array(0);
  #heads = new Int32Array(0);
  /** The first that is free; NONE where all are taken. */
  #free = NONE;

  constructor() {
    this.#grow();
  }

  /** Adds a child of a service, with its number among the held spans; answers its own. */
  add(span: number, service: number, parentHigh: number, parentLow: number, minute: number, microseconds: number): number {
    if (this.#free === NONE) this.#grow();
    const slots = this.#slots;
    const number = this.#free;
    const at = number * CHILD_LENGTH;
    this.#free = slots[at + LINK]!;
    slots[at + PARENT_HIGH] = parentHigh;
    slots[at + PARENT_LOW] = parentLow;
    slots[at + SPAN] = span;
    slots[at + SERVICE] = service;
    slots[at + MINUTE] = minute;
    slots[at + MICROSECONDS] = microseconds;
    slots[at + MICROSECONDS_HIGH] = Math.floor(microseconds / HIGH_WORD);
    this.#chain(number);
    return number;
  }

  /** The child of a parent that was added last and comes behind `after` in its chain, NONE to begin with; NONE where there is none. */
  next(after: number, parentHigh: number, parentLow: number): number {
    const slots = this.#slots;
    const high = parentHigh | 0;
    const low = parentLow | 0;
    let number = after === NONE ? this.#heads[low & (this.#places - 1)]! : slots[after * CHILD_LENGTH + LINK]!;
    for (; number !== NONE; number = slots[number * CHILD_LENGTH + LINK]!) {
      const at = number * CHILD_LENGTH;
      if (slots[at + PARENT_HIGH] === high && slots[at + PARENT_LOW] === low) break;
    }
    return number;
  }

  remove(number: number): void {
    const slots = this.#slots;
    const at = number * CHILD_LENGTH;
    const head = slots[at + PARENT_LOW]! & (this.#places - 1);
    if (this.#heads[head] === number) this.#heads[head] = slots[at + LINK]!;
    else {
      let before = this.#heads[head]! * CHILD_LENGTH;
      while (slots[before + LINK] !== number) before = slots[before + LINK]! * CHILD_LENGTH;
      slots[before + LINK] = slots[at + LINK]!;
    }
    slots[at + LINK] = this.#free;
    this.#free = number;
  }

  /** The number of a child among the held spans, in 32 bits. */
  spanNumber(number: number): number {
    return this.#slots[number * CHILD_LENGTH + SPAN]!;
  }

  service(number: number): number {
    return this.#slots[number * CHILD_LENGTH + SERVICE]!;
  }

  /** Writes what is known of a child beyond its service. */
  read(number: number, into: { parentHigh: number; parentLow: number; minute: number; microseconds: number }): void {
    const at = number * CHILD_LENGTH;
    into.parentHigh = this.#slots[at + PARENT_HIGH]! >>> 0;
    into.parentLow = this.#slots[at + PARENT_LOW]! >>> 0;
    into.minute = this.minute(number);
    into.microseconds = this.microseconds(number);
  }

  minute(number: number): number {
    return this.#slots[number * CHILD_LENGTH + MINUTE]!;
  }

  microseconds(number: number): number {
    const at = number * CHILD_LENGTH;
    return this.#slots[at + MICROSECONDS_HIGH]! * HIGH_WORD + (this.#slots[at + MICROSECONDS]! >>> 0);
  }

  /** Puts a child in front of the chain that its parent's key belongs to. */
  #chain(number: number): void {
    const at = number * CHILD_LENGTH;
    const head = this.#slots[at + PARENT_LOW]! & (this.#places - 1);
    this.#slots[at + LINK] = this.#heads[head]!;
    this.#heads[head] = number;
  }

  /** All places are taken: as many more are free. */
  #grow(): void {
    const before = this.#places;
    this.#places = Math.max(PLACES_FIRST, 2 * before);
    const slots = new Int32Array(this.#places * CHILD_LENGTH);
    slots.set(this.#slots);
    this.#slots = slots;
    const chains = this.#chainsInOrder(before);
    this.#heads = new Int32Array(this.#places).fill(NONE);
    for (const number of chains) this.#chain(number);
    for (let number = this.#places - 1; number >= before; number--) {
      slots[number * CHILD_LENGTH + LINK] = this.#free;
      this.#free = number;
    }
  }

  /** Children chain by chain, last first, so that chaining them again leaves those of one parent in their order. */
  #chainsInOrder(places: number): number[] {
    const order: number[] = [];
    for (let head = 0; head < places; head++) {
      const chain: number[] = [];
      for (let number = this.#heads[head]!; number !== NONE; number = this.#slots[number * CHILD_LENGTH + LINK]!) chain.push(number);
      order.push(...chain.reverse());
    }
    return order;
  }
}
