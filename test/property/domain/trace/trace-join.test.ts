// Held spans in a ring with an index, and those that wait apart from them, beside a list that is searched.
import fc from "fast-check";
import { expect, it } from "vitest";
import { JoinBatch } from "../../../../src/domain/trace/join-batch.ts";
import { JOIN_CHILD, JOIN_CLIENT, JOIN_ERROR } from "../../../../src/domain/trace/join-message.ts";
import { type JoinSpan, TraceJoin } from "../../../../src/domain/trace/trace-join.ts";

/** More than the first places of the ring, so that it grows before spans are pushed out. */
const SPANS_MAX = 128;

interface Held {
  readonly span: JoinSpan;
  readonly seconds: number;
  waits: boolean;
}

/** The same by search. */
class PlainJoin {
  held: Held[] = [];
  evictions = 0;
  readonly #onCall: (call: string) => void;

  constructor(onCall: (call: string) => void) {
    this.#onCall = onCall;
  }

  add(span: JoinSpan, seconds: number): void {
    if (this.#find(span.high, span.low) !== undefined) return;
    if (this.held.length >= SPANS_MAX) {
      this.held.shift();
      this.evictions++;
    }
    const added: Held = { span, seconds, waits: false };
    this.held.push(added);
    if ((span.flags & JOIN_CHILD) !== 0) {
      const parent = this.#find(span.parentHigh, span.parentLow);
      added.waits = parent === undefined;
      if (parent !== undefined) this.#join(parent.span, span);
    }
    for (const child of this.held.filter((each) => each.waits && each.span.parentHigh === span.high && each.span.parentLow === span.low)) {
      child.waits = false;
      this.#join(span, child.span);
    }
  }

  expire(before: number): void {
    while (this.held.length > 0 && (this.held[0] as Held).seconds < before) this.held.shift();
  }

  #find(high: number, low: number): Held | undefined {
    return this.held.find(({ span }) => span.high === high && span.low === low);
  }

  #join(parent: JoinSpan, child: JoinSpan): void {
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
  minute: fc.integer({ min: 0, max: 2 ** 30 }),
  microseconds: fc.integer({ min: 0, max: 2 ** 40 }),
});

function spanOf({
  key,
  parent,
  service,
  isError,
  isClient,
  minute,
  microseconds,
}: typeof spanArbitrary extends fc.Arbitrary<infer T> ? T : never): JoinSpan {
  const flags = (parent === undefined ? 0 : JOIN_CHILD) | (isError ? JOIN_ERROR : 0) | (isClient ? JOIN_CLIENT : 0);
  return { service, flags, high: key[0], low: key[1], parentHigh: parent?.[0] ?? 0, parentLow: parent?.[1] ?? 0, minute, microseconds };
}

/** What is said of held spans: of those that wait for no parent, no more than what a checkpoint keeps, and of a client's among them how long it took. */
function heldText({ span, seconds, waits }: Held): string {
  const { service, flags, high, low, parentHigh, parentLow, minute, microseconds } = span;
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
      const fresh = () => new TraceJoin(SPANS_MAX, (...call) => calls.push(callText(...call)));
      const plain = new PlainJoin((call) => plainCalls.push(call));
      let join = fresh();
      let evictions = 0;
      let stranger = 1;
      steps.forEach(({ spans, strangers, expires, restores }, seconds) => {
        const batch = new JoinBatch();
        const all = spans.map(spanOf);
        const service = { service: 5, flags: 0, high: 7, parentHigh: 0, parentLow: 0, minute: 0, microseconds: 0 };
        for (let i = 0; i < strangers; i++) all.push({ ...service, low: stranger++ });
        for (const span of all) {
          const { service: number, flags, high, low, parentHigh, parentLow, minute, microseconds } = span;
          batch.push(number, flags, high, low, parentHigh, parentLow, minute, microseconds);
          plain.add(span, seconds);
        }
        join.addBatch(batch, seconds);
        if (expires) for (const each of [join, plain]) each.expire(seconds - 2);
        if (restores) {
          const held = heldBy(join);
          evictions += join.evictions;
          join = fresh();
          for (const { span, seconds: arrival, waits } of held) join.restore(span, arrival, waits);
        }
        expect(heldBy(join).map(heldText)).toEqual(plain.held.map(heldText));
        expect(calls.toSorted()).toEqual(plainCalls.toSorted());
        expect([join.size, evictions + join.evictions]).toEqual([plain.held.length, plain.evictions]);
      });
    }),
    { numRuns: 200 },
  );
});
