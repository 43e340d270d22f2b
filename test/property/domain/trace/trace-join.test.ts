// Held spans in a ring with an index, and those that wait apart from them, beside a list that is searched.
import fc from "fast-check";
import { expect, it } from "vitest";
import { JoinBatch } from "../../../../src/domain/trace/join-batch.ts";
import { JOIN_CHILD, JOIN_CLIENT, JOIN_ERROR, JOIN_PEER } from "../../../../src/domain/trace/join-message.ts";
import { type JoinSpan, TraceJoin } from "../../../../src/domain/trace/trace-join.ts";

/** More than the first places of the ring, so that it grows before spans are pushed out. */
const SPANS_MAX = 128;

interface Held {
  readonly span: JoinSpan;
  readonly seconds: number;
  waits: boolean;
  /** What its children have left of it; undefined once that is told, or where it is not to be. */
  self?: number | undefined;
}

/** The same by search. */
class PlainJoin {
  held: Held[] = [];
  evictions = 0;
  readonly selfTimes: string[] = [];
  readonly #onCall: (call: string) => void;

  constructor(onCall: (call: string) => void) {
    this.#onCall = onCall;
  }

  tell(seconds: number): void {
    for (const held of this.held) if (held.seconds <= seconds - 10) this.#tell(held);
  }

  /** As after a restart. */
  forgetSelfTimes(): void {
    for (const held of this.held) held.self = undefined;
  }

  #tell(held: Held | undefined): void {
    if (held?.self === undefined) return;
    const { service, operation, minute, microseconds, flags } = held.span;
    if ((flags & JOIN_PEER) === 0) this.selfTimes.push(callText(operation, minute, Math.max(0, held.self)));
    else if (service !== operation) this.#onCall(callText(service, operation, minute, microseconds, (flags & JOIN_ERROR) !== 0, -1));
    held.self = undefined;
  }

  add(span: JoinSpan, seconds: number): void {
    if (this.#find(span.high, span.low) !== undefined) return;
    if (this.held.length >= SPANS_MAX) {
      this.#tell(this.held.shift());
      this.evictions++;
    }
    const isTimed = span.operation >= 0 && Math.abs(span.minute - MINUTE) <= AGE_MAX && span.microseconds < HELD_MICROSECONDS_MAX;
    const added: Held = { span, seconds, waits: false, self: isTimed ? span.microseconds : undefined };
    this.held.push(added);
    if ((span.flags & JOIN_CHILD) !== 0) {
      const parent = this.#find(span.parentHigh, span.parentLow);
      added.waits = parent === undefined;
      if (parent !== undefined) this.#join(parent, span);
    }
    for (const child of this.held.filter((each) => each.waits && each.span.parentHigh === span.high && each.span.parentLow === span.low)) {
      child.waits = false;
      this.#join(added, child.span);
    }
  }

  expire(before: number): void {
    while (this.held.length > 0 && (this.held[0] as Held).seconds < before) this.#tell(this.held.shift());
  }

  #find(high: number, low: number): Held | undefined {
    return this.held.find(({ span }) => span.high === high && span.low === low);
  }

  #join(held: Held, child: JoinSpan): void {
    const parent = held.span;
    const isOther = parent.service !== child.service;
    const isAnswered = isOther ? (parent.flags & JOIN_CLIENT) !== 0 : (child.flags & JOIN_PEER) !== 0;
    if ((parent.flags & JOIN_PEER) === 0 && held.self !== undefined)
      held.self = Math.max(-HELD_MICROSECONDS_MAX, held.self - child.microseconds);
    else if (isAnswered) held.self = undefined;
    if (parent.service === child.service) return;
    const { service, minute, microseconds, flags } = child;
    this.#onCall(callText(parent.service, service, minute, microseconds, (flags & JOIN_ERROR) !== 0, gapOf(parent, microseconds)));
  }
}

/** Longest duration of a client's span that is held. */
const HELD_MICROSECONDS_MAX = 2 ** 31 - 1;

function gapOf(parent: JoinSpan, microseconds: number): number {
  const isKnown = (parent.flags & JOIN_CLIENT) !== 0 && parent.microseconds < HELD_MICROSECONDS_MAX;
  return isKnown ? Math.max(0, parent.microseconds - microseconds) : -1;
}

const callText = (...call: readonly (number | boolean)[]) => call.join(" ");

/** Minute of the arrivals, and how far from it spans end that have self times, those that ended in it. */
const MINUTE = 1_000;
const AGE_MAX = 16;
const START_SECONDS = MINUTE * 60;

/** Few keys, of which many share the low bits that a chain goes by, some with the highest bits set. */
const keyArbitrary = fc.tuple(
  fc.constantFrom(1, 0x80000000, 0xffffffff),
  fc.integer({ min: 0, max: 15 }).map((low) => ((low % 8) + (low >> 3) * 0x20000000) >>> 0),
);
const spanArbitrary = fc.record({
  key: keyArbitrary,
  parent: fc.option(keyArbitrary, { nil: undefined }),
  service: fc.integer({ min: 0, max: 199_999 }),
  isError: fc.boolean(),
  isClient: fc.boolean(),
  /** Whom it calls by its attributes: a service of the spans' own, or another. */
  peer: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
  minute: fc.oneof(
    fc.constantFrom(0, MINUTE - AGE_MAX, MINUTE, MINUTE + AGE_MAX, MINUTE + AGE_MAX + 1),
    fc.integer({ min: 0, max: 2 ** 30 }),
  ),
  microseconds: fc.oneof(fc.integer({ min: 0, max: 100 }), fc.integer({ min: 0, max: 2 ** 40 })),
  operation: fc.integer({ min: -1, max: 3 }),
});

function spanOf({
  key,
  parent,
  service,
  isError,
  isClient,
  peer,
  minute,
  microseconds,
  operation,
}: typeof spanArbitrary extends fc.Arbitrary<infer T> ? T : never): JoinSpan {
  const flags =
    (parent === undefined ? 0 : JOIN_CHILD) |
    (isError ? JOIN_ERROR : 0) |
    (isClient ? JOIN_CLIENT : 0) |
    (peer === undefined ? 0 : JOIN_PEER);
  const [parentHigh, parentLow] = [parent?.[0] ?? 0, parent?.[1] ?? 0];
  return {
    service,
    flags,
    high: key[0],
    low: key[1],
    parentHigh,
    parentLow,
    minute,
    microseconds,
    operation: peer ?? (isClient ? -1 : operation),
  };
}

/** What is said of held spans: of those that wait for no parent, no more than what a checkpoint keeps, and of a client's among them how long it took. */
function suppressionText({ span, seconds, waits }: Held): string {
  const { service, high, low, parentHigh, parentLow, minute, microseconds } = span;
  const flags = span.flags & ~JOIN_PEER;
  const isClient = (flags & JOIN_CLIENT) !== 0;
  return callText(
    service,
    flags,
    high,
    low,
    seconds,
    waits,
    ...(waits ? [parentHigh, parentLow, minute, microseconds] : isClient ? [Math.min(HELD_MICROSECONDS_MAX, microseconds)] : []),
  );
}

function heldBy(join: TraceJoin): Held[] {
  const held: Held[] = [];
  join.forEach((span, seconds, waits) => held.push({ span: { ...span }, seconds, waits }));
  return held;
}

const stepArbitrary = fc.record({
  spans: fc.array(spanArbitrary, { minLength: 1, maxLength: 30 }),
  /** Spans of other keys, which push the others out. */
  strangers: fc.integer({ min: 0, max: 80 }),
  expires: fc.boolean(),
  restores: fc.boolean(),
});

it("joins what a search joins, whatever is pushed out, expires or is put back", () => {
  fc.assert(
    fc.property(fc.array(stepArbitrary, { minLength: 1, maxLength: 12 }), (steps) => {
      const calls: string[] = [];
      const plainCalls: string[] = [];
      const selfTimes: string[] = [];
      const fresh = () =>
        new TraceJoin(
          SPANS_MAX,
          (...call) => calls.push(callText(...call)),
          (...time) => selfTimes.push(callText(...time)),
        );
      const plain = new PlainJoin((call) => plainCalls.push(call));
      let join = fresh();
      let evictions = 0;
      let stranger = 1;
      steps.forEach(({ spans, strangers, expires, restores }, step) => {
        const seconds = START_SECONDS + 4 * step;
        const batch = new JoinBatch();
        const all = spans.map(spanOf);
        const service = { service: 5, flags: 0, high: 7, parentHigh: 0, parentLow: 0, minute: 0, microseconds: 0, operation: -1 };
        for (let i = 0; i < strangers; i++) all.push({ ...service, low: stranger++ });
        plain.tell(seconds);
        for (const span of all) {
          const { service: number, flags, high, low, parentHigh, parentLow, minute, microseconds, operation } = span;
          batch.push(number, flags, high, low, parentHigh, parentLow, minute, microseconds, operation);
          plain.add(span, seconds);
        }
        join.addBatch(batch, seconds);
        if (expires) for (const each of [join, plain]) each.expire(seconds - 8);
        if (restores) {
          const held = heldBy(join);
          evictions += join.evictions;
          join = fresh();
          plain.forgetSelfTimes();
          for (const { span, seconds: arrival, waits } of held) join.restore(span, arrival, waits);
        }
        expect(heldBy(join).map(suppressionText)).toEqual(plain.held.map(suppressionText));
        expect(calls.toSorted()).toEqual(plainCalls.toSorted());
        expect(selfTimes.toSorted()).toEqual(plain.selfTimes.toSorted());
        expect([join.size, evictions + join.evictions]).toEqual([plain.held.length, plain.evictions]);
      });
    }),
    { numRuns: 200 },
  );
});
