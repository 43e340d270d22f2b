import { describe, expect, it } from "vitest";
import { RefusalQueue } from "../../src/actors/front/tenants/refusal-queue.ts";
import { errorAnswer } from "../../src/api/error-answer.ts";
import { StandingRefusal } from "../../src/api/standing-refusal.ts";
import { REFUSALS_PER_TURN } from "../../src/core/config/limits.ts";

const REFUSAL = { code: "rate_limit_exceeded", message: "too many" } as const;

/** A queue with turns that the test ends. */
function queue() {
  const ends: Array<() => void> = [];
  const answered: number[] = [];
  const refusals = new RefusalQueue((work) => ends.push(work));
  const put = (name: number, onAnswer = () => {}) =>
    refusals.put(
      {
        refuse: () => {
          answered.push(name);
          onAnswer();
        },
      },
      REFUSAL,
    );
  const endTurn = () => {
    const works = ends.splice(0);
    for (const work of works) work();
    return works.length;
  };
  return { refusals, answered, put, endTurn };
}

const upTo = (count: number, from = 0) => Array.from({ length: count }, (_, i) => from + i);

describe("the queue of refusals", () => {
  it("answers nothing within the turn, and then a few a turn in the order in which they came", () => {
    const { refusals, answered, put, endTurn } = queue();
    const count = 2 * REFUSALS_PER_TURN + 3;
    for (const name of upTo(count)) put(name);
    expect([answered.length, refusals.size]).toEqual([0, count]);
    for (const turn of [1, 2]) {
      expect(endTurn()).toBe(1);
      expect(answered).toEqual(upTo(turn * REFUSALS_PER_TURN));
    }
    expect([endTurn(), endTurn()]).toEqual([1, 0]);
    expect([answered, refusals.size]).toEqual([upTo(count), 0]);
  });

  it("takes what comes while it answers into a later turn", () => {
    const { refusals, answered, put, endTurn } = queue();
    put(0, () => put(1, () => put(2)));
    expect([endTurn(), answered]).toEqual([1, [0]]);
    expect([endTurn(), answered]).toEqual([1, [0, 1]]);
    for (const name of upTo(REFUSALS_PER_TURN, 3)) put(name);
    expect([endTurn(), answered.length, refusals.size]).toEqual([1, 2 + REFUSALS_PER_TURN, 1]);
    expect([endTurn(), endTurn(), refusals.size]).toEqual([1, 0, 0]);
  });
});

describe("a standing refusal", () => {
  it.each([undefined, "application/json", "application/problem+json"])(
    "is answered as one that is written anew, with Accept: %s",
    (accept) => {
      const message = 'tenant "a\u2028" of the plan \\free';
      const standing = new StandingRefusal("rate_limit_exceeded", message);
      for (const id of ["0000001-f000000000001", "0000001-f000000000002"])
        expect(errorAnswer(standing, id, accept)).toEqual(errorAnswer({ code: "rate_limit_exceeded", message }, id, accept));
    },
  );
});
