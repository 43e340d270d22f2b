// The streams of one pair as one series: deltas summed, gauges averaged, of percentiles the largest. It goes on in rounds: one ends, and gives a value, once each of its
// members has had one; who joins does so between rounds, and who falls silent leaves, in a round without a value. So instances may come and go and none is counted twice.
import type { StreamName } from "../../../core/protocol/coordinator-frame.ts";
import { Aggregate, aggregationWord } from "../multivariate/service-vector.ts";

/** Streams of which there is an aggregate. */
const MEMBERS_MIN = 2;
/** A member that is waited for so long, or so many of the rounds before, has fallen silent. */
const WAIT_MS = 3 * 60_000;
const WAIT_CYCLES = 2.5;
/** Until rounds are known. */
const FIRST_WAIT_MS = 10 * 60_000;

/** Attribute of an anomaly on an aggregate: how its streams are taken together. No stored series has it. */
export const AGGREGATE_ATTRIBUTE = "vedette.aggregate";

/** The name of what streams of a pair come to together. */
export function aggregateName({ tenant, environment, serviceId, metricName }: StreamName, aggregation: number): StreamName {
  return { tenant, environment, serviceId, metricName, attributes: { [AGGREGATE_ATTRIBUTE]: aggregationWord(aggregation) } };
}

/** Label of an aggregate in sentences. */
export function aggregateLabel({ metricName, attributes }: Pick<StreamName, "metricName" | "attributes">, streams: number): string {
  return `${metricName} (${attributes[AGGREGATE_ATTRIBUTE]} of ${streams} streams)`;
}

interface Member {
  sum: number;
  count: number;
  /** It has joined, and a round waits for it. */
  isIn: boolean;
}

/** Result of a round. */
export interface AggregateValue {
  readonly timeMs: number;
  readonly value: number;
  readonly streams: number;
}

export class PairAggregate {
  readonly #aggregation: number;
  readonly #members = new Map<number, Member>();
  readonly #sum = new Aggregate();
  #newestMs = 0;
  #endedMs = 0;
  #cycleMs = 0;
  /** Streams of the newest value that its ring has seen; 0 where that holds what one of them alone has done. */
  #known = 0;
  /** When who is in last changed: as after a deployment, another level is what people wanted. */
  changedMs = 0;

  /** AGGREGATION_* of service-vector.ts. */
  constructor(aggregation: number) {
    this.#aggregation = aggregation;
  }

  /** Takes that its ring goes on from a value of so many streams: the first round waits for as many. */
  goOn(streams: number): void {
    this.#known = streams;
  }

  /** Whether any stream is in, or has had a value since. */
  get hasMembers(): boolean {
    return this.#members.size > 0;
  }

  /** Takes a value of a stream that has come since the last cycle. */
  take(stream: number, timeMs: number, value: number): void {
    const member = this.#members.get(stream);
    if (member === undefined) this.#members.set(stream, { sum: value, count: 1, isIn: false });
    else {
      member.sum += value;
      member.count++;
    }
    if (timeMs > this.#newestMs) this.#newestMs = timeMs;
  }

  /** Ends a cycle: the value of the round that it completes. */
  cycle(nowMs: number): AggregateValue | undefined {
    if (this.#members.size === 0) return undefined;
    if (this.#endedMs === 0) this.#endedMs = nowMs;
    let [inside, missing] = [0, 0];
    this.#sum.reset();
    for (const { isIn, count, sum } of this.#members.values()) {
      if (!isIn) continue;
      inside++;
      if (count === 0) missing++;
      else this.#sum.add(sum / count);
    }
    const hasWaited = nowMs - this.#endedMs > (this.#cycleMs === 0 ? FIRST_WAIT_MS : Math.max(WAIT_MS, WAIT_CYCLES * this.#cycleMs));
    const isGathering = inside === 0 && this.#members.size < this.#known;
    if ((missing > 0 || isGathering) && !hasWaited) return undefined;
    const isWhole = missing === 0 && inside >= MEMBERS_MIN;
    const found = isWhole ? { timeMs: this.#newestMs, value: this.#sum.value(this.#aggregation), streams: inside } : undefined;
    if (isWhole) this.#take(inside, nowMs);
    this.#endedMs = nowMs;
    this.#beginCycle(nowMs);
    return found;
  }

  /** A round of so many streams is whole. What the ring has seen before it was of others where their number is another one. */
  #take(streams: number, nowMs: number): void {
    if (streams !== this.#known) this.changedMs = Math.max(this.changedMs, this.#endedMs);
    this.#known = streams;
    this.#cycleMs = nowMs - this.#endedMs;
  }

  /** Who has had a value is in from now on, who has had none is out. Who is in at first shows with the first value. */
  #beginCycle(nowMs: number): void {
    const isKnown = this.#cycleMs > 0;
    let hasChanged = false;
    for (const [stream, member] of this.#members) {
      const isIn = member.count > 0;
      if (isIn !== member.isIn) hasChanged = true;
      if (!isIn) this.#members.delete(stream);
      member.isIn = isIn;
      member.sum = 0;
      member.count = 0;
    }
    if (hasChanged && isKnown) this.changedMs = nowMs;
  }
}
