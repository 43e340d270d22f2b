import { describe, expect, it } from "vitest";
import { RefusalQueue } from "../../../../../src/actors/front/tenants/refusal-queue.ts";
import { Excess, TenantAdmission } from "../../../../../src/actors/front/tenants/tenant-admission.ts";
import { errorAnswer } from "../../../../../src/api/error-answer.ts";
import { PreparedRefusal } from "../../../../../src/api/refusal.ts";
import {
  PACED_REFUSAL_WAIT_MS,
  PACED_REFUSALS_MAX,
  PACED_REFUSALS_PER_INTERVAL,
  REFUSAL_INTERVAL_MS,
  REFUSALS_PER_SLICE,
} from "../../../../../src/core/config/refusal-limits.ts";
import { parsePlanRates } from "../../../../../src/domain/access/plans.ts";

const REFUSAL = { code: "rate_limit_exceeded", message: "too many" } as const;
const PROMPT = { refusal: REFUSAL, isPrompt: () => true };
const PACED = { refusal: REFUSAL, isPrompt: () => false };

/** A queue with turns that the test ends and a clock that it sets. */
function queue() {
  const clock = { ms: 1_000 };
  const ends: Array<() => void> = [];
  const timers: Array<{ atMs: number; work: () => void }> = [];
  const answered: number[] = [];
  const refusals = new RefusalQueue({
    monotonicMs: () => clock.ms,
    immediate: (work) => ends.push(work),
    after: (work, ms) => timers.push({ atMs: clock.ms + ms, work }),
  });
  const put = (name: number, exceeded = PROMPT, onAnswer = () => {}) =>
    refusals.put(
      {
        refuse: () => {
          answered.push(name);
          onAnswer();
        },
      },
      exceeded,
    );
  const endTurn = () => {
    const works = ends.splice(0);
    for (const work of works) work();
    return works.length;
  };
  /** Lets the time pass until the next timer, and runs it; whether there was one. */
  const tick = () => {
    const timer = timers.shift();
    clock.ms = timer?.atMs ?? clock.ms;
    timer?.work();
    return timer !== undefined;
  };
  return { clock, refusals, answered, put, endTurn, tick, timers };
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

describe("the queue of refusals", () => {
  it("answers nothing within the turn, and then a few a turn in the order in which they came", () => {
    const { refusals, answered, put, endTurn } = queue();
    const count = 2 * REFUSALS_PER_SLICE + 3;
    for (const name of upTo(count)) put(name);
    expect([answered.length, refusals.size]).toEqual([0, count]);
    for (const turn of [1, 2]) {
      expect(endTurn()).toBe(1);
      expect(answered).toEqual(upTo(turn * REFUSALS_PER_SLICE));
    }
    expect([endTurn(), endTurn()]).toEqual([1, 0]);
    expect([answered, refusals.size]).toEqual([upTo(count), 0]);
  });

  it("takes what comes while it answers into a later turn", () => {
    const { refusals, answered, put, endTurn } = queue();
    put(0, PROMPT, () => put(1, PROMPT, () => put(2)));
    expect([endTurn(), answered]).toEqual([1, [0]]);
    expect([endTurn(), answered]).toEqual([1, [0, 1]]);
    for (const name of upTo(REFUSALS_PER_SLICE, 3)) put(name);
    expect([endTurn(), answered.length, refusals.size]).toEqual([1, 2 + REFUSALS_PER_SLICE, 1]);
    expect([endTurn(), endTurn(), refusals.size]).toEqual([1, 0, 0]);
  });

  it("does not grow without end where more are put a turn than are usually answered", () => {
    const { refusals, answered, put, endTurn } = queue();
    const perTurn = 5 * REFUSALS_PER_SLICE;
    for (const turn of upTo(500)) {
      for (const name of upTo(perTurn, turn * perTurn)) put(name);
      endTurn();
      expect(refusals.size).toBeLessThanOrEqual(16 * perTurn);
    }
    expect(answered).toEqual(upTo(answered.length));
  });

  it("paces those that are not prompt: a few a tick, whatever else is answered, and no timer where nobody waits", () => {
    const { clock, refusals, answered, put, endTurn, tick, timers } = queue();
    const count = 3 * PACED_REFUSALS_PER_INTERVAL + 1;
    for (const name of upTo(count)) put(name, PACED);
    put(1_000);
    expect([endTurn(), answered, refusals.size, refusals.paced]).toEqual([1, [1_000], count, count]);
    for (const ticks of [1, 2, 3]) {
      expect(tick()).toBe(true);
      expect([clock.ms, answered.slice(1)]).toEqual([1_000 + ticks * REFUSAL_INTERVAL_MS, upTo(ticks * PACED_REFUSALS_PER_INTERVAL)]);
    }
    put(count, PACED); // joins those that wait, with the timer that runs
    expect([timers.length, tick(), answered.slice(1), tick(), refusals.size]).toEqual([1, true, upTo(count + 1), false, 0]);
    put(0, PACED, () => put(1, PACED));
    expect([tick(), answered.at(-1), tick(), answered.at(-1), tick()]).toEqual([true, 0, true, 1, false]);
  });

  it("answers a share where many wait, so that each sender in a closed loop waits about as long as it was asked to", () => {
    const { clock, answered, put, tick } = queue();
    const senders = 2_000;
    const waitedMs: number[] = [];
    const send = (name: number): void => {
      const sentMs = clock.ms;
      put(name, PACED, () => {
        waitedMs.push(clock.ms - sentMs);
        send(name);
      });
    };
    for (const name of upTo(senders)) send(name);
    while (clock.ms < 11_000) tick();
    expect(Math.max(...waitedMs)).toBe(PACED_REFUSAL_WAIT_MS);
    expect(new Set(answered).size).toBe(senders);
    expect(answered.length).toBe(senders * 10);
  });

  it("holds no more than its bound: beyond, the first is let go as the next comes", () => {
    const { refusals, answered, put, endTurn } = queue();
    for (const name of upTo(PACED_REFUSALS_MAX + 3)) put(name, PACED);
    expect([refusals.paced, refusals.size, answered]).toEqual([PACED_REFUSALS_MAX, PACED_REFUSALS_MAX + 3, []]);
    expect([endTurn(), answered, refusals.size]).toEqual([1, [0, 1, 2], PACED_REFUSALS_MAX]);
  });
});

describe("a tenant far beyond its rate", () => {
  const ANSWER_MS = 0.4;

  /** Senders in a closed loop for ten seconds, on a virtual clock with turns of 0.1 ms. */
  function flood(connections: number, plan: string, rate: number) {
    const { clock, refusals, endTurn, timers } = queue();
    const tenants = new TenantAdmission({ monotonicMs: () => clock.ms, rates: parsePlanRates(`${plan}=${rate}`), announce: () => {} });
    tenants.take([{ type: "tenant", tenant: { tenant: "greedy", plan } }]);
    const startMs = clock.ms;
    const takenMs: number[] = [];
    const refusedMs: number[] = [];
    let due = Array.from({ length: connections }, () => startMs);
    let open = connections;
    while (clock.ms < startMs + 10_000) {
      const now = clock.ms;
      const next: number[] = [];
      for (const dueMs of due) {
        if (dueMs > now) next.push(dueMs);
        else {
          const excess = tenants.admit({ tenant: "greedy" }, true);
          open--;
          if (excess === undefined) {
            takenMs.push(now);
            next.push(now + ANSWER_MS);
            open++;
          } else {
            const again = () => {
              refusedMs.push(clock.ms);
              due.push(clock.ms + 0.1);
              open++;
            };
            refusals.put({ refuse: again }, excess);
          }
        }
      }
      due = next;
      endTurn();
      clock.ms = now + 0.1;
      for (const timer of timers.splice(0))
        if (timer.atMs <= clock.ms) timer.work();
        else timers.push(timer);
    }
    return { taken: takenMs.length, refused: refusedMs.length, lost: connections - open - refusals.size };
  }

  it.each([
    [1, "starter", 100],
    [64, "starter", 100],
    [1_000, "starter", 100],
    [64, "free", 10],
    [64, "pro", 1_000],
  ] as const)(
    "over %d connections of plan %s: is allowed its rate exactly, refused at a bounded rate, and always answered",
    (connections, plan, rate) => {
      const { taken, refused, lost } = flood(connections, plan, rate);
      expect(taken / (11 * rate)).toBeGreaterThanOrEqual(0.99);
      expect(taken / (11 * rate)).toBeLessThanOrEqual(1.01);
      const pacedPerSecond = Math.max(
        (PACED_REFUSALS_PER_INTERVAL * 1_000) / REFUSAL_INTERVAL_MS,
        (connections * 1_000) / PACED_REFUSAL_WAIT_MS,
      );
      expect(refused).toBeLessThanOrEqual(11 * rate + 10 * pacedPerSecond + REFUSALS_PER_SLICE);
      expect(lost).toBe(0);
    },
  );

  it("is refused as often without delay as it may send, and paced beyond", () => {
    const refusal = new PreparedRefusal("rate_limit_exceeded", "too many");
    const excess = new Excess(refusal, 100, 0);
    const prompt = (count: number, nowMs: number) => upTo(count).filter(() => excess.isPrompt(nowMs)).length;
    expect([prompt(500, 0), prompt(500, 100), prompt(500, 5_000)]).toEqual([100, 10, 100]);
  });
});

describe("a prepared refusal", () => {
  it.each([undefined, "application/json", "application/problem+json"])(
    "is answered as one that is written anew, with Accept: %s",
    (accept) => {
      const message = 'tenant "a\u2028" of the plan \\free';
      const prepared = new PreparedRefusal("rate_limit_exceeded", message);
      for (const id of ["0000001-f000000000001", "0000001-f000000000002"])
        expect(errorAnswer(prepared, id, accept)).toEqual(errorAnswer({ code: "rate_limit_exceeded", message }, id, accept));
    },
  );
});
