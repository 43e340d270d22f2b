// The coordinator's time between tenants that ask, on a clock that moves with the work.
import { describe, expect, it } from "vitest";
import { QUERY_WAIT_MS_MAX } from "../../../../src/core/config/limits.ts";
import { FairMutex } from "../../../../src/core/fairness/fair-mutex.ts";
import { FairQueue } from "../../../../src/core/fairness/fair-queue.ts";
import { EngineAsks } from "../../../../src/modules/engines/engine-client.ts";
import { QueryScheduler, ShareOfTimeError } from "../../../../src/modules/queries/query-scheduler.ts";

const immediate = () => new Promise<void>((resolve) => setImmediate(resolve));

/** Queries that work in slices of so many ms of a clock that only they move. */
class Thread {
  nowMs = 0;
  readonly turns = new QueryScheduler({ monotonicMs: () => this.nowMs, yieldToLoop: immediate });
  /** Time that each tenant has had when another's query ended. */
  readonly worked = new Map<string, number>();

  async query(tenant: string, slices: number, sliceMs: number, isHurried = true): Promise<number> {
    const ticket = this.turns.begin(tenant, isHurried);
    try {
      for (let slice = 0; slice < slices; slice++) {
        await this.turns.resume(ticket, true);
        this.nowMs += sliceMs;
        this.worked.set(tenant, (this.worked.get(tenant) ?? 0) + sliceMs);
      }
      return this.nowMs;
    } finally {
      this.turns.end(ticket);
    }
  }
}

describe("the time for queries", () => {
  it("goes to a tenant that comes while another has many queries, half of it at least", async () => {
    const thread = new Thread();
    const many = Array.from({ length: 25 }, () => thread.query("evil", 4, 10));
    await immediate();
    const fromMs = thread.nowMs;
    const endMs = await thread.query("acme", 5, 10);
    expect(thread.worked.get("acme")).toBe(50);
    expect(endMs - fromMs).toBeLessThanOrEqual(2 * 50 + 10);
    await Promise.all(many);
    expect(thread.worked.get("evil")).toBe(1_000);
  });

  it("goes first to a tenant's own queries that are quick, before its import or backtest", async () => {
    const thread = new Thread();
    const slow = thread.query("acme", 100, 5, false);
    await immediate();
    const fromMs = thread.nowMs;
    expect((await thread.query("acme", 3, 1)) - fromMs).toBeLessThanOrEqual(5 + 3);
    expect((await slow) - fromMs).toBeGreaterThan(400);
  });

  it("is by what slices took and not by how many they are", async () => {
    const thread = new Thread();
    const long = Array.from({ length: 4 }, () => thread.query("evil", 20, 20));
    await immediate();
    const fromMs = thread.nowMs;
    const endMs = await thread.query("acme", 100, 1);
    expect(endMs - fromMs).toBeLessThanOrEqual(2 * 100 + 20);
    await Promise.all(long);
  });

  it("is had by each of three in a third", async () => {
    const thread = new Thread();
    const all = ["a", "b", "c"].map((tenant) => thread.query(tenant, 30, 5));
    await Promise.race(all);
    const worked = [...thread.worked.values()];
    expect(Math.max(...worked) - Math.min(...worked)).toBeLessThanOrEqual(10);
    await Promise.all(all);
  });

  it("is not owed for what a tenant did while it was alone", async () => {
    const thread = new Thread();
    await thread.query("evil", 100, 50);
    const ends = await Promise.all([thread.query("evil", 10, 1), thread.query("acme", 10, 1)]);
    expect(Math.abs((ends[0] as number) - (ends[1] as number))).toBeLessThanOrEqual(2);
  });

  it("ends for a query that has waited for its turns too long while others had theirs", async () => {
    const thread = new Thread();
    const others = thread.query("acme", 1_000, 20);
    const outcomes = await Promise.allSettled(Array.from({ length: 50 }, () => thread.query("evil", 40, 20)));
    const refused = outcomes.filter((outcome) => outcome.status === "rejected");
    expect(refused.length).toBeGreaterThan(0);
    expect(refused.every(({ reason }) => reason instanceof ShareOfTimeError)).toBe(true);
    expect(thread.nowMs).toBeGreaterThan(QUERY_WAIT_MS_MAX);
    await others.catch(() => undefined);
  });
});

describe("questions to engines", () => {
  it("are one of a tenant at a time to each engine, also after one that failed", async () => {
    const asks = new EngineAsks();
    const log: string[] = [];
    const ask =
      (name: string, fails = false) =>
      async () => {
        log.push(`${name} asked`);
        await immediate();
        log.push(`${name} answered`);
        if (fails) throw new Error(name);
        return name;
      };
    const outcomes = await Promise.allSettled([
      asks.one(0, "evil", ask("first", true)),
      asks.one(0, "evil", ask("second")),
      asks.one(0, "acme", ask("other")),
      asks.one(1, "evil", ask("elsewhere")),
    ]);
    expect(outcomes.map(({ status }) => status)).toEqual(["rejected", "fulfilled", "fulfilled", "fulfilled"]);
    expect(log.slice(0, 3)).toEqual(["first asked", "other asked", "elsewhere asked"]);
    expect(log.indexOf("second asked")).toBeGreaterThan(log.indexOf("first answered"));
  });
});

describe("work of which one runs at a time", () => {
  it("goes by turns between tenants, and a tenant has a few waiting at most", async () => {
    const gate = new FairMutex({ perTenantMax: 3, waitMsMax: 1_000 }, () => 0);
    const order: string[] = [];
    let running = 0;
    const work = (name: string) => async () => {
      expect(++running).toBe(1);
      order.push(name);
      await immediate();
      running--;
      return name;
    };
    const all = [
      ...["evil 1", "evil 2", "evil 3", "evil 4"].map((name) => gate.run("evil", work(name))),
      ...["acme 1", "acme 2"].map((name) => gate.run("acme", work(name))),
    ];
    expect(await Promise.all(all)).toEqual(["evil 1", "evil 2", "evil 3", "full", "acme 1", "acme 2"]);
    expect(order).toEqual(["evil 1", "evil 2", "acme 1", "evil 3", "acme 2"]);
  });

  it("is not begun once its turn comes too late, and goes on after work that failed", async () => {
    let nowMs = 0;
    const gate = new FairMutex({ perTenantMax: 3, waitMsMax: 1_000 }, () => nowMs);
    const first = gate.run("evil", async () => {
      await immediate();
      nowMs += 1_001;
      throw new Error("broken");
    });
    const second = gate.run("acme", async () => "done");
    await expect(first).rejects.toThrow("broken");
    expect(await second).toBe("late");
    expect(await gate.run("acme", async () => "done")).toBe("done");
  });
});

describe("a queue by turns", () => {
  it("gives tenants their turns, the oldest of each first, and forgets what is removed", () => {
    const queue = new FairQueue<number>();
    for (const [tenant, key, item] of [
      ["a", "x", 1],
      ["a", "y", 2],
      ["a", "z", 3],
      ["b", "x", 4],
      ["a", "x", 5],
    ] as const)
      queue.put(tenant, key, item);
    expect(queue.size).toBe(4);
    expect(queue.remove("a", "y")).toBe(true);
    expect(queue.has("a", "y")).toBe(false);
    expect([queue.take(), queue.take(), queue.take(), queue.take()].map((each) => each?.item)).toEqual([5, 4, 3, undefined]);
    expect(queue.size).toBe(0);
  });
});
