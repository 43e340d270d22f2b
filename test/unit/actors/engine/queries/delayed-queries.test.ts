import { describe, expect, test } from "vitest";
import { DelayedQueries, type DelayedQuery } from "../../../../../src/actors/engine/queries/delayed-queries.ts";
import type { AnswerScan } from "../../../../../src/actors/engine/queries/series-queries.ts";
import { partitionOf } from "../../../../../src/domain/placement/partition.ts";

/** Questions of an engine; an answer takes as many slices as `slices` was when it was begun, 1 ms each. */
class Rig {
  readonly answered: number[] = [];
  /** Rows that wait for streams, and how many of them have been applied, by partition. */
  readonly parked = new Map<number, number>();
  readonly applied = new Map<number, number>();
  readonly outbox = { flush: () => false, isCarrying: false };
  slices = 1;
  nowMs = 0;
  readonly queries = new DelayedQueries({
    returns: {
      end: (partition) => this.parked.get(partition) ?? 0,
      hasReached: (partition, end) => (this.applied.get(partition) ?? 0) >= end,
    },
    outbox: this.outbox,
    queries: { answer: ({ id }) => this.#scan(id, this.slices) },
    reply: (reply) => this.answered.push("id" in reply ? reply.id : Number.NaN),
    monotonicMs: () => this.nowMs,
  });

  *#scan(id: number, slices: number): AnswerScan {
    for (let left = slices; left > 0; left--) {
      this.nowMs++;
      if (left > 1) yield;
    }
    return { type: "pending-chunks", id, chunks: [] };
  }

  ask(...queries: readonly DelayedQuery[]): void {
    for (const query of queries) this.queries.add(query);
  }

  /** Answers what can be answered, and returns it. */
  settle(): readonly number[] {
    while (this.queries.answerSome(false));
    return this.answered.splice(0);
  }
}

const count = (id: number, tenant: string): DelayedQuery => ({ type: "stream-count", id, tenant });
const chunks = (id: number, tenant: string): DelayedQuery => ({
  type: "pending-chunks",
  id,
  tenant,
  partition: 0,
  streamId: new Uint8Array(16),
});
const data = (id: number, tenant: string): DelayedQuery => {
  const any = { environment: null, attributes: null };
  return { type: "series-data", id, tenant, serviceId: "checkout", metricName: "latency", ...any };
};

describe("questions to an engine", () => {
  test("are answered once each, whatever their tenants are called", () => {
    const rig = new Rig();
    const names = ["", "a", "constructor", "__proto__", "1", "log-mark"];
    rig.slices = 3;
    rig.ask(...names.flatMap((tenant, at) => [count(3 * at, tenant), chunks(3 * at + 1, tenant), data(3 * at + 2, tenant)]));
    expect(rig.settle().toSorted((a, b) => a - b)).toEqual(names.flatMap((_, at) => [3 * at, 3 * at + 1, 3 * at + 2]));
  });

  test.each([
    ["streams", count],
    ["chunks of streams that left memory", chunks],
  ])("a tenant that asks much about %s delays another by one of its own", (_, question) => {
    const rig = new Rig();
    for (let id = 0; id < 100; id++) rig.ask(question(id, "loud"));
    rig.ask(question(100, "quiet"));
    expect(rig.settle().indexOf(100)).toBe(1);
  });

  test("a long answer does not hold up a short one", () => {
    const rig = new Rig();
    rig.slices = 1_000;
    rig.ask(count(1, "long"));
    rig.queries.answerSome(false);
    rig.slices = 1;
    rig.ask(count(2, "short"), count(3, "long"));
    expect(rig.settle()).toEqual([2, 3, 1]);
  });

  test("wait for the rows of their partition that came before them, and hold up no others", () => {
    const rig = new Rig();
    const partition = partitionOf("a", "checkout");
    rig.parked.set(partition, 5);
    rig.ask(data(1, "a"), { type: "log-mark", id: 2 }, count(3, "a"));
    rig.parked.set(partition, 9);
    rig.ask(data(4, "a"));
    expect(rig.settle()).toEqual([2, 3]);
    rig.applied.set(partition, 5);
    expect(rig.settle()).toEqual([1]);
    rig.applied.set(partition, 9);
    expect(rig.settle()).toEqual([4]);
  });

  test("the log's mark is not behind a long answer, and nothing is answered while frames are on their way", () => {
    const rig = new Rig();
    rig.slices = 1_000;
    rig.ask(count(1, "a"));
    rig.queries.answerSome(false);
    rig.outbox.isCarrying = true;
    rig.ask({ type: "log-mark", id: 2 });
    expect(rig.settle()).toEqual([]);
    rig.outbox.isCarrying = false;
    expect(rig.queries.answerSome(true)).toBe(false);
    rig.queries.answerSome(false);
    expect(rig.answered).toEqual([2]);
    expect(rig.settle()).toEqual([2, 1]);
  });
});
