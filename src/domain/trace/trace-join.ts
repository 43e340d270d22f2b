// Joins spans to their parents by key, in whatever order they come: the spans of one partition of traces, newest last, 5 minutes or SPANS_MAX of them.
// Sketch: 48 bytes a span in a ring of words, with two chained hash indexes whose heads lie side by side (own key; parent's key while the parent has not come). A
// span costs two to three cache misses, about 0.15 us. A span whose key is held changes nothing, so messages and requests may repeat.
import {
  ARRIVAL,
  FLAGS_SHIFT,
  HIGH_MASK,
  HIGH_WORD,
  JoinBatch,
  KEY_HIGH,
  KEY_LOW,
  LINK,
  MICROSECONDS,
  MICROSECONDS_HIGH,
  MINUTE,
  PARENT_HIGH,
  PARENT_LOW,
  SERVICE,
  SPAN_WORDS,
  WAIT_LINK,
} from "./join-batch.ts";
import { JOIN_CHILD, JOIN_ERROR } from "./join-message.ts";

const PLACES_FIRST = 64;
const NONE = -1;
const WAITS = 4;

/**
 * Is told of a span of one service that another service's span called. Services are the numbers that the owner gave; `minute` and `microseconds` are those of the
 * called span: minutes since 1970 of its end, and its duration.
 */
export type OnCall = (caller: number, callee: number, minute: number, microseconds: number, isError: boolean) => void;

/** A span as it is added. */
export interface JoinSpan {
  readonly service: number;
  readonly flags: number;
  readonly high: number;
  readonly low: number;
  readonly parentHigh: number;
  readonly parentLow: number;
  readonly minute: number;
  readonly microseconds: number;
}

/** The spans of one partition. */
export class TraceJoin {
  readonly #spansMax: number;
  readonly #onCall: OnCall;
  /** Numbers of the oldest span held and of the next one; a span lies at its number modulo the places. */
  #first = 0;
  #next = 0;
  #mask = 0;
  #places = 0;
  #words = new Int32Array(0);
  /** By bucket the heads of two chains of places: spans by key, and waiting children by their parent's key. */
  #heads = new Int32Array(0);
  readonly #one = new JoinBatch();
  /** Of no meaning: keeps the loads of #touch() from being left out. */
  touched = 0;
  /** Spans that had to go before their time. */
  evictions = 0;

  constructor(spansMax: number, onCall: OnCall) {
    this.#spansMax = spansMax;
    this.#onCall = onCall;
    this.#allocate(PLACES_FIRST);
  }

  get size(): number {
    return this.#next - this.#first;
  }

  /** Takes a span that arrived at a time in seconds; false when it is held already. */
  add(span: JoinSpan, arrivalSeconds: number): boolean {
    return this.#add(this.#single(span), 0, arrivalSeconds);
  }

  /** Takes the spans of a batch, in their order. */
  addBatch({ words, count }: JoinBatch, arrivalSeconds: number): void {
    this.#touch(words, count);
    for (let i = 0; i < count; i++) this.#add(words, i * SPAN_WORDS, arrivalSeconds);
  }

  /** Puts back a span that was held, without joining it. */
  restore(span: JoinSpan, arrivalSeconds: number, waits: boolean): void {
    const at = this.#put(this.#single(span), 0, arrivalSeconds);
    if (waits) this.#wait(at);
  }

  #single({ service, flags, high, low, parentHigh, parentLow, minute, microseconds }: JoinSpan): Int32Array {
    this.#one.count = 0;
    this.#one.push(service, flags, high, low, parentHigh, parentLow, minute, microseconds);
    return this.#one.words;
  }

  /** Loads what a batch will look at: loads that do not hang on each other take the time of one. */
  #touch(words: Int32Array, count: number): void {
    let sum = 0;
    const end = count * SPAN_WORDS;
    for (let at = 0; at < end; at += SPAN_WORDS) {
      sum += this.#heads[this.#head(LINK, words[at + KEY_LOW]!)]! + this.#heads[this.#head(LINK, words[at + PARENT_LOW]!)]!;
    }
    for (let at = 0; at < end; at += SPAN_WORDS) {
      const held = this.#heads[this.#head(LINK, words[at + KEY_LOW]!)]!;
      if (held !== NONE) sum += this.#words[held]!;
    }
    this.touched = sum;
  }

  #add(words: Int32Array, from: number, arrivalSeconds: number): boolean {
    if (this.#find(words[from + KEY_HIGH]!, words[from + KEY_LOW]!) !== NONE) return false;
    const at = this.#put(words, from, arrivalSeconds);
    if ((this.#flags(at) & JOIN_CHILD) !== 0) {
      const parent = this.#find(words[from + PARENT_HIGH]!, words[from + PARENT_LOW]!);
      if (parent !== NONE) this.#join(parent, at);
      else this.#wait(at);
    }
    this.#joinWaiting(at);
    return true;
  }

  /** Forgets spans that arrived before a time in seconds. */
  expire(beforeSeconds: number): void {
    while (this.#first < this.#next && this.#words[this.#at(this.#first) + ARRIVAL]! >>> 0 < beforeSeconds) this.#drop();
  }

  /** Calls with every span held, oldest first. */
  forEach(visit: (span: JoinSpan, arrivalSeconds: number, waits: boolean) => void): void {
    for (let number = this.#first; number < this.#next; number++) {
      const at = this.#at(number);
      visit(this.#spanAt(at), this.#words[at + ARRIVAL]! >>> 0, (this.#flags(at) & WAITS) !== 0);
    }
  }

  /** Where the words of a span begin, by its number. */
  #at(number: number): number {
    return (number & this.#mask) * SPAN_WORDS;
  }

  #flags(at: number): number {
    return this.#words[at + MICROSECONDS_HIGH]! >>> FLAGS_SHIFT;
  }

  #microseconds(at: number): number {
    return (this.#words[at + MICROSECONDS_HIGH]! & HIGH_MASK) * HIGH_WORD + (this.#words[at + MICROSECONDS]! >>> 0);
  }

  #spanAt(at: number): JoinSpan {
    const words = this.#words;
    return {
      service: words[at + SERVICE]!,
      flags: this.#flags(at) & ~WAITS,
      high: words[at + KEY_HIGH]! >>> 0,
      low: words[at + KEY_LOW]! >>> 0,
      parentHigh: words[at + PARENT_HIGH]! >>> 0,
      parentLow: words[at + PARENT_LOW]! >>> 0,
      minute: words[at + MINUTE]!,
      microseconds: this.#microseconds(at),
    };
  }

  #put(from: Int32Array, fromAt: number, arrivalSeconds: number): number {
    if (this.size === this.#places) this.#makeRoom();
    const words = this.#words;
    const at = this.#at(this.#next++);
    for (let word = 0; word < LINK; word++) words[at + word] = from[fromAt + word]!;
    words[at + ARRIVAL] = arrivalSeconds;
    this.#chain(at, LINK, words[at + KEY_LOW]!);
    return at;
  }

  /** Puts a span in front of the chain that a key belongs to. */
  #chain(at: number, link: typeof LINK | typeof WAIT_LINK, low: number): void {
    const head = this.#head(link, low);
    this.#words[at + link] = this.#heads[head]!;
    this.#heads[head] = at;
  }

  #head(link: typeof LINK | typeof WAIT_LINK, low: number): number {
    return 2 * (low & this.#mask) + (link === LINK ? 0 : 1);
  }

  #find(high: number, low: number): number {
    const words = this.#words;
    const [wantedHigh, wantedLow] = [high | 0, low | 0];
    let at = this.#heads[this.#head(LINK, low)]!;
    while (at !== NONE && (words[at + KEY_HIGH] !== wantedHigh || words[at + KEY_LOW] !== wantedLow)) at = words[at + LINK]!;
    return at;
  }

  #wait(at: number): void {
    this.#words[at + MICROSECONDS_HIGH]! |= WAITS << FLAGS_SHIFT;
    this.#chain(at, WAIT_LINK, this.#words[at + PARENT_LOW]!);
  }

  /** Children that came before this span. */
  #joinWaiting(parent: number): void {
    const words = this.#words;
    const high = words[parent + KEY_HIGH]!;
    const low = words[parent + KEY_LOW]!;
    const head = this.#head(WAIT_LINK, low);
    let before = NONE;
    for (let at = this.#heads[head]!; at !== NONE; ) {
      const next = words[at + WAIT_LINK]!;
      if (words[at + PARENT_HIGH] === high && words[at + PARENT_LOW] === low) {
        if (before === NONE) this.#heads[head] = next;
        else words[before + WAIT_LINK] = next;
        words[at + MICROSECONDS_HIGH]! &= ~(WAITS << FLAGS_SHIFT);
        this.#join(parent, at);
      } else before = at;
      at = next;
    }
  }

  #join(parent: number, child: number): void {
    const caller = this.#words[parent + SERVICE]!;
    const callee = this.#words[child + SERVICE]!;
    if (caller === callee) return;
    const isError = (this.#flags(child) & JOIN_ERROR) !== 0;
    this.#onCall(caller, callee, this.#words[child + MINUTE]!, this.#microseconds(child), isError);
  }

  #makeRoom(): void {
    if (this.size >= this.#spansMax) {
      this.evictions++;
      this.#drop();
    } else this.#grow();
  }

  /** Forgets the oldest. */
  #drop(): void {
    const at = this.#at(this.#first++);
    this.#unlink(at, LINK, this.#words[at + KEY_LOW]!);
    if ((this.#flags(at) & WAITS) !== 0) this.#unlink(at, WAIT_LINK, this.#words[at + PARENT_LOW]!);
  }

  /** Takes a span out of its chain. */
  #unlink(at: number, link: typeof LINK | typeof WAIT_LINK, low: number): void {
    const words = this.#words;
    const head = this.#head(link, low);
    if (this.#heads[head] === at) {
      this.#heads[head] = words[at + link]!;
      return;
    }
    let before = this.#heads[head]!;
    while (words[before + link] !== at) before = words[before + link]!;
    words[before + link] = words[at + link]!;
  }

  /** Spans keep their numbers; chains are made anew, oldest first. */
  #grow(): void {
    const before = this.#words;
    const beforeMask = this.#mask;
    this.#allocate(2 * this.#places);
    for (let number = this.#first; number < this.#next; number++) {
      const from = (number & beforeMask) * SPAN_WORDS;
      const at = this.#at(number);
      for (let word = 0; word < SPAN_WORDS; word++) this.#words[at + word] = before[from + word]!;
      this.#chain(at, LINK, this.#words[at + KEY_LOW]!);
      if ((this.#flags(at) & WAITS) !== 0) this.#chain(at, WAIT_LINK, this.#words[at + PARENT_LOW]!);
    }
  }

  #allocate(places: number): void {
    this.#mask = places - 1;
    this.#places = places;
    this.#words = new Int32Array(SPAN_WORDS * places);
    this.#heads = new Int32Array(2 * places).fill(NONE);
  }
}
