// Joins spans to their parents by key, in whatever order they come: the spans of one partition of traces, newest last, 5 minutes or SPANS_MAX of them.
// A span's self time is what is left of its duration ten seconds after its arrival, when those that it called have come; sums of them are kept by its owner.
// Sketch: 28 bytes a span in a ring of words, with a chained hash index of 4 to 8 more, so that most of what is looked for lies in a cache; what a child needs until its
// parent comes is kept apart (waiting-children.ts). A span costs one to two cache misses, about 0.1 us. A span whose key is held changes nothing, so messages and requests may
// repeat.
import {
  FLAGS_SHIFT,
  HIGH_MASK,
  HIGH_WORD,
  JoinBatch,
  KEY_HIGH,
  KEY_LOW,
  MICROSECONDS,
  MICROSECONDS_HIGH,
  MINUTE,
  OPERATION,
  PARENT_HIGH,
  PARENT_LOW,
  SERVICE,
  SPAN_LENGTH,
} from "./join-batch.ts";
import { JOIN_CHILD, JOIN_CLIENT, JOIN_ERROR, JOIN_PEER } from "./join-message.ts";
import { NO_OPERATION } from "./operation-times.ts";
import { WaitingChildren } from "./waiting-children.ts";

const PLACES_FIRST = 64;
const NONE = -1;
/**
 * A held span as words: its key, the place of the next in its chain, when it arrived, its flags with, above them, its service or, while it waits, its number among those that wait; of a
 * client's its duration in microseconds, DURATION_MAX where it is longer, of another what its children have left of it so far; and the number of its operation with, below it, how many
 * minutes before its arrival it ended, NO_OPERATION once its self time is told or where there is none to tell. A span that names whom it calls has the number of that one in place of an
 * operation's: where nobody has answered by then, the call was to somebody who sends no spans.
 */
const ENTRY_HIGH = 0;
const ENTRY_LOW = 1;
const LINK = 2;
const ARRIVAL = 3;
const OWNER = 4;
const DURATION = 5;
const TIMED = 6;
const ENTRY_LENGTH = 7;
const DURATION_MAX = 2 ** 31 - 1;
const OWNER_SHIFT = 5;
const WAITS = 4;
/** Flags that are kept with a span. */
const FLAGS = JOIN_CHILD | JOIN_ERROR | JOIN_CLIENT | JOIN_PEER;
/** Minutes from a span's end to its arrival, and the other way round where its sender's clock is ahead: others have no self time. */
const AGE_BITS = 8;
const AGE_MASK = 2 ** AGE_BITS - 1;
const AHEAD_MAX = 16;
const OPERATIONS_MAX = 2 ** 22;
/** Between the arrival of a span and that of those that it called. */
const SELF_TIME_SECONDS = 10;
/** A gap that nobody knows: the caller's span is not a client's, or too long. */
const NO_GAP = -1;

/**
 * Is informed of a span of one service that another service's span called. Services are the numbers that the owner gave; `minute` and `microseconds` are those of the
 * called span: minutes since 1970 of its end, and its duration. `gapMicroseconds` is what the caller's span took beyond that, on the network and in queues; negative where
 * the caller's span is not that of a client.
 */
export type OnCall = (
  caller: number,
  callee: number,
  minute: number,
  microseconds: number,
  isError: boolean,
  gapMicroseconds: number,
) => void;

/** Is told what a span of an operation took by itself, and the minute of its end. */
export type OnSelfTime = (operation: number, minute: number, microseconds: number) => void;

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
  /** Its number in OperationTimes, NO_OPERATION where there is none, as of a client's; with JOIN_PEER the service that it calls. */
  readonly operation: number;
}

/** The spans of one partition. */
export class TraceJoin {
  readonly #spansMax: number;
  readonly #onCall: OnCall;
  readonly #onSelfTime: OnSelfTime;
  /** Numbers of the oldest span held and of the next one; a span lies at its number modulo the places. */
  #first = 0;
  #next = 0;
  /** Number of the first span whose self time is not told yet. */
  #timed = 0;
  #mask = 0;
  #places = 0;
  #slots = new Int32Array(0);
  /** By bucket the place of the newest span whose key belongs there. */
  #heads = new Int32Array(0);
  readonly #waiting = new WaitingChildren();
  readonly #one = new JoinBatch();
  /** Sum of no meaning: keeps the loads of #touch() from being left out. */
  touched = 0;
  /** Spans that had to go before their time. */
  evictions = 0;

  constructor(spansMax: number, onCall: OnCall, onSelfTime: OnSelfTime) {
    this.#spansMax = spansMax;
    this.#onCall = onCall;
    this.#onSelfTime = onSelfTime;
    this.#allocate(PLACES_FIRST);
  }

  get size(): number {
    return this.#next - this.#first;
  }

  /** Takes a span that arrived at a time in seconds; false when it is held already. */
  add(span: JoinSpan, arrivalSeconds: number): boolean {
    this.reportSelfTimes(arrivalSeconds);
    return this.#add(this.#single(span), 0, arrivalSeconds);
  }

  /** Takes the spans of a batch, in their order. */
  addBatch({ int32s: slots, count }: JoinBatch, arrivalSeconds: number): void {
    this.reportSelfTimes(arrivalSeconds);
    this.#touch(slots, count);
    for (let i = 0; i < count; i++) this.#add(slots, i * SPAN_LENGTH, arrivalSeconds);
  }

  /** Puts back a span that was held, without joining it. */
  restore(span: JoinSpan, arrivalSeconds: number, waits: boolean): void {
    const slots = this.#single(span);
    const at = this.#put(slots, 0, arrivalSeconds);
    if (waits) this.#wait(at, slots, 0);
  }

  /** Tells self times of spans whose children have had their time to come, and calls that nobody answered. */
  reportSelfTimes(nowSeconds: number): void {
    const slots = this.#slots;
    for (; this.#timed < this.#next; this.#timed++) {
      const at = this.#at(this.#timed);
      if (slots[at + ARRIVAL]! >>> 0 > nowSeconds - SELF_TIME_SECONDS) return;
      this.#reportSelfTime(at);
    }
  }

  #reportSelfTime(at: number): void {
    const slots = this.#slots;
    const timed = slots[at + TIMED]!;
    if (timed === NO_OPERATION) return;
    const minute = arrivalMinute(slots[at + ARRIVAL]!) + AHEAD_MAX - (timed & AGE_MASK);
    slots[at + TIMED] = NO_OPERATION;
    const owner = slots[at + OWNER]!;
    const microseconds = slots[at + DURATION]!;
    if ((owner & JOIN_PEER) === 0) this.#onSelfTime(timed >> AGE_BITS, minute, Math.max(0, microseconds));
    else if (this.#service(at) !== timed >> AGE_BITS)
      this.#onCall(this.#service(at), timed >> AGE_BITS, minute, microseconds, (owner & JOIN_ERROR) !== 0, NO_GAP);
  }

  #single({ service, flags, high, low, parentHigh, parentLow, minute, microseconds, operation }: JoinSpan): Int32Array {
    this.#one.count = 0;
    this.#one.push(service, flags, high, low, parentHigh, parentLow, minute, microseconds, operation);
    return this.#one.int32s;
  }

  /** Loads what a batch will look at: loads that do not hang on each other take the time of one. */
  #touch(slots: Int32Array, count: number): void {
    const heads = this.#heads;
    const stored = this.#slots;
    const mask = this.#mask;
    let sum = 0;
    const end = count * SPAN_LENGTH;
    for (let at = 0; at < end; at += SPAN_LENGTH) sum += heads[slots[at + KEY_LOW]! & mask]! + heads[slots[at + PARENT_LOW]! & mask]!;
    for (let at = 0; at < end; at += SPAN_LENGTH) {
      const head = heads[slots[at + KEY_LOW]! & mask]!;
      if (head !== NONE) sum += stored[head * ENTRY_LENGTH]!;
    }
    this.touched = sum;
  }

  #add(slots: Int32Array, from: number, arrivalSeconds: number): boolean {
    const high = slots[from + KEY_HIGH]!;
    const low = slots[from + KEY_LOW]!;
    if (this.#find(high, low) !== NONE) return false;
    const at = this.#put(slots, from, arrivalSeconds);
    if ((this.#slots[at + OWNER]! & JOIN_CHILD) !== 0) {
      const parent = this.#find(slots[from + PARENT_HIGH]!, slots[from + PARENT_LOW]!);
      if (parent === NONE) this.#wait(at, slots, from);
      else {
        this.#join(parent, slots[from + SERVICE]!, slots[from + MINUTE]!, microsecondsOf(slots, from), this.#slots[at + OWNER]! & FLAGS);
      }
    }
    this.#joinWaiting(at, high, low);
    return true;
  }

  /** Forgets spans that arrived before a time in seconds. */
  expire(beforeSeconds: number): void {
    while (this.#first < this.#next && this.#slots[this.#at(this.#first) + ARRIVAL]! >>> 0 < beforeSeconds) this.#drop();
  }

  /** Calls with every span held, oldest first, without operations; parent and minute are known of one that waits alone, microseconds of such a one and of a client's. The span is valid during the call. */
  forEach(visit: (span: JoinSpan, arrivalSeconds: number, waits: boolean) => void): void {
    const span = { ...NO_SPAN };
    for (let number = this.#first; number < this.#next; number++) {
      const at = this.#at(number);
      const owner = this.#slots[at + OWNER]!;
      const waits = (owner & WAITS) !== 0;
      span.service = this.#service(at);
      span.flags = owner & FLAGS & ~JOIN_PEER;
      span.high = this.#slots[at + ENTRY_HIGH]! >>> 0;
      span.low = this.#slots[at + ENTRY_LOW]! >>> 0;
      span.microseconds = (owner & JOIN_CLIENT) === 0 ? 0 : this.#slots[at + DURATION]!;
      if (waits) this.#waiting.read(owner >> OWNER_SHIFT, span);
      visit(span, this.#slots[at + ARRIVAL]! >>> 0, waits);
    }
  }

  /** Where the words of a span begin, by its number. */
  #at(number: number): number {
    return (number & this.#mask) * ENTRY_LENGTH;
  }

  #service(at: number): number {
    const owner = this.#slots[at + OWNER]!;
    return (owner & WAITS) === 0 ? owner >> OWNER_SHIFT : this.#waiting.service(owner >> OWNER_SHIFT);
  }

  #put(from: Int32Array, fromAt: number, arrivalSeconds: number): number {
    if (this.size === this.#places) this.#evict();
    const slots = this.#slots;
    const at = this.#at(this.#next++);
    slots[at + ENTRY_HIGH] = from[fromAt + KEY_HIGH]!;
    slots[at + ENTRY_LOW] = from[fromAt + KEY_LOW]!;
    slots[at + ARRIVAL] = arrivalSeconds;
    const flags = (from[fromAt + MICROSECONDS_HIGH]! >>> FLAGS_SHIFT) & FLAGS;
    slots[at + OWNER] = (from[fromAt + SERVICE]! << OWNER_SHIFT) | flags;
    slots[at + DURATION] = Math.min(DURATION_MAX, microsecondsOf(from, fromAt));
    slots[at + TIMED] = timedOf(from[fromAt + OPERATION]!, arrivalMinute(arrivalSeconds) - from[fromAt + MINUTE]!, slots[at + DURATION]!);
    this.#chain(at);
    return at;
  }

  /** Puts a span in front of the chain that its key belongs to. */
  #chain(at: number): void {
    const head = this.#slots[at + ENTRY_LOW]! & this.#mask;
    this.#slots[at + LINK] = this.#heads[head]!;
    this.#heads[head] = at / ENTRY_LENGTH;
  }

  /** Where the words of the span of a key begin; NONE where none is held. */
  #find(high: number, low: number): number {
    const slots = this.#slots;
    for (let index = this.#heads[low & this.#mask]!; index !== NONE; ) {
      const at = index * ENTRY_LENGTH;
      if (slots[at + ENTRY_LOW] === low && slots[at + ENTRY_HIGH] === high) return at;
      index = slots[at + LINK]!;
    }
    return NONE;
  }

  /** Has the span that was put last, whose words are given, wait for its parent. */
  #wait(at: number, slots: Int32Array, from: number): void {
    const high = slots[from + PARENT_HIGH]!;
    const low = slots[from + PARENT_LOW]!;
    const child = this.#waiting.add(this.#next - 1, slots[from + SERVICE]!, high, low, slots[from + MINUTE]!, microsecondsOf(slots, from));
    this.#slots[at + OWNER] = (child << OWNER_SHIFT) | (this.#slots[at + OWNER]! & FLAGS) | WAITS;
  }

  /** Children that came before this span. */
  #joinWaiting(parent: number, high: number, low: number): void {
    const waiting = this.#waiting;
    for (let child = waiting.next(NONE, high, low); child !== NONE; ) {
      const next = waiting.next(child, high, low);
      const service = waiting.service(child);
      const at = this.#at(waiting.spanNumber(child));
      const flags = this.#slots[at + OWNER]! & FLAGS;
      this.#slots[at + OWNER] = (service << OWNER_SHIFT) | flags;
      this.#join(parent, service, waiting.minute(child), waiting.microseconds(child), flags);
      waiting.remove(child);
      child = next;
    }
  }

  #join(parent: number, callee: number, minute: number, microseconds: number, flags: number): void {
    const slots = this.#slots;
    const caller = this.#service(parent);
    if ((slots[parent + OWNER]! & JOIN_PEER) !== 0) {
      if (isAnswer(slots[parent + OWNER]!, flags, caller !== callee)) slots[parent + TIMED] = NO_OPERATION;
    } else if (slots[parent + TIMED] !== NO_OPERATION)
      slots[parent + DURATION] = Math.max(-DURATION_MAX, slots[parent + DURATION]! - microseconds);
    if (caller !== callee) this.#onCall(caller, callee, minute, microseconds, (flags & JOIN_ERROR) !== 0, this.#gap(parent, microseconds));
  }

  #gap(parent: number, microseconds: number): number {
    const duration = this.#slots[parent + DURATION]!;
    if ((this.#slots[parent + OWNER]! & JOIN_CLIENT) === 0 || duration === DURATION_MAX) return NO_GAP;
    return Math.max(0, duration - microseconds);
  }

  #evict(): void {
    if (this.size >= this.#spansMax) {
      this.evictions++;
      this.#drop();
    } else this.#grow();
  }

  /** Forgets the oldest. */
  #drop(): void {
    const at = this.#at(this.#first++);
    const slots = this.#slots;
    this.#reportSelfTime(at);
    this.#timed = Math.max(this.#timed, this.#first);
    this.#unchain(at);
    if ((slots[at + OWNER]! & WAITS) !== 0) this.#waiting.remove(slots[at + OWNER]! >> OWNER_SHIFT);
  }

  #unchain(at: number): void {
    const slots = this.#slots;
    const head = slots[at + ENTRY_LOW]! & this.#mask;
    const index = at / ENTRY_LENGTH;
    if (this.#heads[head] === index) {
      this.#heads[head] = slots[at + LINK]!;
      return;
    }
    let before = this.#heads[head]! * ENTRY_LENGTH;
    while (slots[before + LINK] !== index) before = slots[before + LINK]! * ENTRY_LENGTH;
    slots[before + LINK] = slots[at + LINK]!;
  }

  /** Spans keep their numbers; chains are made anew, oldest first. */
  #grow(): void {
    const before = this.#slots;
    const beforeMask = this.#mask;
    this.#allocate(2 * this.#places);
    for (let number = this.#first; number < this.#next; number++) {
      const from = (number & beforeMask) * ENTRY_LENGTH;
      const at = this.#at(number);
      for (let word = 0; word < ENTRY_LENGTH; word++) this.#slots[at + word] = before[from + word]!;
      this.#chain(at);
    }
  }

  #allocate(places: number): void {
    this.#mask = places - 1;
    this.#places = places;
    this.#slots = new Int32Array(ENTRY_LENGTH * places);
    this.#heads = new Int32Array(places).fill(NONE);
  }
}

const NO_SPAN = { service: 0, flags: 0, high: 0, low: 0, parentHigh: 0, parentLow: 0, minute: 0, microseconds: 0, operation: NO_OPERATION };

function arrivalMinute(seconds: number): number {
  return Math.floor((seconds >>> 0) / 60);
}

/**
 * Whether a span below one that names whom it calls makes that call known: of a client's the called one's, whoever it is, and of either a call of the same service that
 * names somebody itself. What a consumer does says nothing of the broker in between.
 */
function isAnswer(parentFlags: number, childFlags: number, isOther: boolean): boolean {
  return isOther ? (parentFlags & JOIN_CLIENT) !== 0 : (childFlags & JOIN_PEER) !== 0;
}

/** Operation and age in one word; NO_OPERATION where the age, or the duration, is out of bounds. */
function timedOf(operation: number, ageMinutes: number, duration: number): number {
  const age = ageMinutes + AHEAD_MAX;
  if (operation < 0 || operation >= OPERATIONS_MAX || age < 0 || age > AGE_MASK || duration === DURATION_MAX) return NO_OPERATION;
  return (operation << AGE_BITS) | age;
}

function microsecondsOf(slots: Int32Array, at: number): number {
  return (slots[at + MICROSECONDS_HIGH]! & HIGH_MASK) * HIGH_WORD + (slots[at + MICROSECONDS]! >>> 0);
}
