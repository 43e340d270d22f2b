// Joins spans to their parents by key, in whatever order they come: the spans of one partition of traces, newest last, 5 minutes or SPANS_MAX of them.
// Sketch: 48 bytes a span in typed arrays, a ring with two chained hash indexes (own key; parent's key while the parent has not come). A span costs two to three
// cache misses, about 0.15 us. A span whose key is held changes nothing, so messages and requests may repeat.
import { JOIN_CHILD, JOIN_ERROR } from "./join-message.ts";

const PLACES_FIRST = 64;
const NONE = -1;
const WAITS = 4;

/** A span of one service that another service's span called. Services are the numbers that the owner gave. */
export interface JoinedCall {
  readonly caller: number;
  readonly callee: number;
  /** Of the called span: minutes since 1970 of its end. */
  readonly minute: number;
  readonly microseconds: number;
  readonly isError: boolean;
}

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
  readonly #onCall: (call: JoinedCall) => void;
  /** Numbers of the oldest span held and of the next one; a span lies at its number modulo the places. */
  #first = 0;
  #next = 0;
  #mask = 0;
  #keys = new Uint32Array(0);
  #parents = new Uint32Array(0);
  #arrivals = new Uint32Array(0);
  #minutes = new Uint32Array(0);
  #microseconds = new Float64Array(0);
  #flags = new Uint8Array(0);
  #services = new Uint32Array(0);
  /** Chains of places: of spans by key, and of waiting children by their parent's key. */
  #heads = new Int32Array(0);
  #links = new Int32Array(0);
  #waitHeads = new Int32Array(0);
  #waitLinks = new Int32Array(0);
  /** Spans that had to go before their time. */
  evictions = 0;

  constructor(spansMax: number, onCall: (call: JoinedCall) => void) {
    this.#spansMax = spansMax;
    this.#onCall = onCall;
    this.#allocate(PLACES_FIRST);
  }

  get size(): number {
    return this.#next - this.#first;
  }

  /** Takes a span that arrived at a time in seconds; false when it is held already. */
  add(span: JoinSpan, arrivalSeconds: number): boolean {
    if (this.#find(span.high, span.low) !== NONE) return false;
    const place = this.#put(span, arrivalSeconds);
    if ((span.flags & JOIN_CHILD) !== 0) {
      const parent = this.#find(span.parentHigh, span.parentLow);
      if (parent !== NONE) this.#join(parent, place);
      else this.#wait(place);
    }
    this.#joinWaiting(place);
    return true;
  }

  /** Puts back a span that was held, without joining it. */
  restore(span: JoinSpan, arrivalSeconds: number, waits: boolean): void {
    const place = this.#put(span, arrivalSeconds);
    if (waits) this.#wait(place);
  }

  /** Forgets spans that arrived before a time in seconds. */
  expire(beforeSeconds: number): void {
    while (this.#first < this.#next && this.#arrivals[this.#first & this.#mask]! < beforeSeconds) this.#drop();
  }

  /** Calls with every span held, oldest first. */
  forEach(visit: (span: JoinSpan, arrivalSeconds: number, waits: boolean) => void): void {
    for (let number = this.#first; number < this.#next; number++) {
      const place = number & this.#mask;
      visit(this.#spanAt(place), this.#arrivals[place]!, (this.#flags[place]! & WAITS) !== 0);
    }
  }

  #spanAt(place: number): JoinSpan {
    return {
      service: this.#services[place]!,
      flags: this.#flags[place]! & ~WAITS,
      high: this.#keys[2 * place]!,
      low: this.#keys[2 * place + 1]!,
      parentHigh: this.#parents[2 * place]!,
      parentLow: this.#parents[2 * place + 1]!,
      minute: this.#minutes[place]!,
      microseconds: this.#microseconds[place]!,
    };
  }

  #put(span: JoinSpan, arrivalSeconds: number): number {
    if (this.size === this.#services.length) this.#makeRoom();
    const place = this.#next++ & this.#mask;
    this.#keys[2 * place] = span.high;
    this.#keys[2 * place + 1] = span.low;
    this.#parents[2 * place] = span.parentHigh;
    this.#parents[2 * place + 1] = span.parentLow;
    this.#arrivals[place] = arrivalSeconds;
    this.#minutes[place] = span.minute;
    this.#microseconds[place] = span.microseconds;
    this.#flags[place] = span.flags;
    this.#services[place] = span.service;
    const bucket = span.low & this.#mask;
    this.#links[place] = this.#heads[bucket]!;
    this.#heads[bucket] = place;
    return place;
  }

  #find(high: number, low: number): number {
    const keys = this.#keys;
    let place = this.#heads[low & this.#mask]!;
    while (place !== NONE && (keys[2 * place] !== high || keys[2 * place + 1] !== low)) place = this.#links[place]!;
    return place;
  }

  #wait(place: number): void {
    const bucket = this.#parents[2 * place + 1]! & this.#mask;
    this.#flags[place]! |= WAITS;
    this.#waitLinks[place] = this.#waitHeads[bucket]!;
    this.#waitHeads[bucket] = place;
  }

  /** Children that came before this span. */
  #joinWaiting(parent: number): void {
    const high = this.#keys[2 * parent]!;
    const low = this.#keys[2 * parent + 1]!;
    const bucket = low & this.#mask;
    let before = NONE;
    for (let place = this.#waitHeads[bucket]!; place !== NONE; ) {
      const next = this.#waitLinks[place]!;
      if (this.#parents[2 * place] === high && this.#parents[2 * place + 1] === low) {
        if (before === NONE) this.#waitHeads[bucket] = next;
        else this.#waitLinks[before] = next;
        this.#flags[place]! &= ~WAITS;
        this.#join(parent, place);
      } else before = place;
      place = next;
    }
  }

  #join(parent: number, child: number): void {
    const caller = this.#services[parent]!;
    const callee = this.#services[child]!;
    if (caller === callee) return;
    const isError = (this.#flags[child]! & JOIN_ERROR) !== 0;
    this.#onCall({ caller, callee, minute: this.#minutes[child]!, microseconds: this.#microseconds[child]!, isError });
  }

  #makeRoom(): void {
    if (this.size >= this.#spansMax) {
      this.evictions++;
      this.#drop();
    } else this.#grow();
  }

  /** Forgets the oldest. */
  #drop(): void {
    const place = this.#first++ & this.#mask;
    unlink(this.#heads, this.#links, this.#keys[2 * place + 1]! & this.#mask, place);
    if ((this.#flags[place]! & WAITS) !== 0) unlink(this.#waitHeads, this.#waitLinks, this.#parents[2 * place + 1]! & this.#mask, place);
  }

  #grow(): void {
    const held: Array<readonly [JoinSpan, number, boolean]> = [];
    this.forEach((span, arrivalSeconds, waits) => held.push([span, arrivalSeconds, waits]));
    this.#allocate(2 * this.#services.length);
    this.#first = 0;
    this.#next = 0;
    for (const [span, arrivalSeconds, waits] of held) this.restore(span, arrivalSeconds, waits);
  }

  #allocate(places: number): void {
    this.#mask = places - 1;
    this.#keys = new Uint32Array(2 * places);
    this.#parents = new Uint32Array(2 * places);
    this.#arrivals = new Uint32Array(places);
    this.#minutes = new Uint32Array(places);
    this.#microseconds = new Float64Array(places);
    this.#flags = new Uint8Array(places);
    this.#services = new Uint32Array(places);
    this.#heads = new Int32Array(places).fill(NONE);
    this.#links = new Int32Array(places).fill(NONE);
    this.#waitHeads = new Int32Array(places).fill(NONE);
    this.#waitLinks = new Int32Array(places).fill(NONE);
  }
}

/** Takes a place out of its chain. */
function unlink(heads: Int32Array, links: Int32Array, bucket: number, place: number): void {
  if (heads[bucket] === place) {
    heads[bucket] = links[place]!;
    return;
  }
  let at = heads[bucket]!;
  while (links[at] !== place) at = links[at]!;
  links[at] = links[place]!;
}
