// The pool of sandbox processes on a clock of its own: processes here are ready when the test says so, and end when they are killed.
import { expect, test } from "vitest";
import { ProcessPool } from "../../../../src/adapters/sandbox/process-pool.ts";

class FakeProcess {
  isEnded = false;
  lock: () => void = () => undefined;
  refuse: (why: Error) => void = () => undefined;
  readonly ready = new Promise<void>((resolve, reject) => {
    this.lock = resolve;
    this.refuse = reject;
  });
  kill(): void {
    this.isEnded = true;
  }
}

function world(max = 4) {
  const started: FakeProcess[] = [];
  const later: Array<() => void> = [];
  const clock = { nowMs: 0 };
  let isAutomatic = true;
  const pool = new ProcessPool<FakeProcess>(max, {
    start: () => {
      const process = new FakeProcess();
      started.push(process);
      if (isAutomatic) process.lock();
      return process;
    },
    monotonicMs: () => clock.nowMs,
    later: (_ms, call) => {
      later.push(call);
      return () => undefined;
    },
  });
  const alive = () => started.filter(({ isEnded }) => !isEnded).length;
  return { pool, started, later, clock, alive, byHand: () => (isAutomatic = false) };
}

/** What a promise came to by now. */
async function settled<T>(promise: Promise<T>): Promise<T | "waits"> {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
  return Promise.race([promise, Promise.resolve("waits" as const)]);
}

test("no process before somebody has a transform, a spare once somebody has", async () => {
  const { pool, started, alive, clock } = world();
  pool.endIdle();
  expect(started).toHaveLength(0);
  pool.want(true);
  expect(alive()).toBe(1);
  pool.want(false);
  clock.nowMs = 60_001;
  pool.endIdle();
  expect(alive()).toBe(0);
});

test("a process is never given to a second tenant", async () => {
  const { pool, clock } = world();
  const seen = new Map<FakeProcess, string>();
  for (let round = 0; round < 200; round++) {
    const tenant = `t${(round * 7) % 9}`;
    const process = await pool.take(tenant);
    expect(process.isEnded).toBe(false);
    expect(seen.get(process) ?? tenant).toBe(tenant);
    seen.set(process, tenant);
    clock.nowMs += 10;
    pool.giveBack(process);
  }
});

test("a tenant has half of the processes at most, and the fifth tenant waits until one is free", async () => {
  const { pool } = world();
  const first = await pool.take("a");
  await pool.take("a");
  expect(await settled(pool.take("a"))).toBe("waits");
  await pool.take("b");
  await pool.take("c");
  const fifth = pool.take("d");
  expect(await settled(fifth)).toBe("waits");
  expect(pool.waiting).toBe(2);
  pool.giveBack(first);
  // The turn of `a` comes first: its run was waiting before.
  expect(await settled(fifth)).toBe("waits");
  pool.giveBack(first);
  expect(await settled(fifth)).not.toBe("waits");
  expect(first.isEnded).toBe(true);
  expect(pool.processes).toBe(5);
});

test("a killed process makes place, and its tenant gets a new one", async () => {
  const { pool } = world(2);
  const killed = await pool.take("a");
  await pool.take("b");
  const next = pool.take("a");
  expect(await settled(next)).toBe("waits");
  killed.kill();
  pool.giveBack(killed);
  expect(await settled(next)).not.toBe("waits");
  expect(await next).not.toBe(killed);
});

test("who waits is refused where no process starts, and another start is tried later", async () => {
  const { pool, started, later, byHand } = world();
  byHand();
  const taken = pool.take("a");
  started[0]?.refuse(new Error("no memory"));
  await expect(taken).rejects.toThrow("no memory");
  const again = pool.take("a");
  expect(started).toHaveLength(1);
  later[0]?.();
  started[1]?.lock();
  expect(await settled(again)).toBe(started[1]);
});

test("idle processes end, busy ones do not; beyond the bound of waiting runs one is refused", async () => {
  const { pool, clock, alive } = world();
  const idle = await pool.take("a");
  const busy = await pool.take("b");
  pool.giveBack(idle);
  clock.nowMs = 60_000;
  pool.endIdle();
  expect([idle.isEnded, busy.isEnded, alive()]).toEqual([true, false, 2]);
  await pool.take("b");
  const waiting = Array.from({ length: 1_000 }, () => pool.take("b").catch(() => "refused"));
  await expect(pool.take("b")).rejects.toThrow("too many");
  pool.close();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(["refused"]));
  expect(alive()).toBe(0);
});
