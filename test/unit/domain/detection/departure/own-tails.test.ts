/** Both tails of a series: values to each side go to their own, and a row of far ones is one event by its furthest. */
import { expect, it } from "vitest";
import { OWN_TAIL_LENGTH, OwnTail } from "../../../../../src/domain/detection/departure/own-tail.ts";
import { OwnTails } from "../../../../../src/domain/detection/departure/own-tails.ts";

const state = () => [new Float64Array(OWN_TAIL_LENGTH), new Float64Array(OWN_TAIL_LENGTH)] as const;

it("learns a row of far values as its furthest, once it is over", () => {
  const [above, below] = state();
  const tails = new OwnTails(above, below, new Float64Array(1));
  for (const size of [6, 9, 7, -1]) tails.learn(size, 5);
  const [expected, unused] = state();
  const once = new OwnTails(expected, unused, new Float64Array(1));
  once.add(9);
  expect(above).toEqual(expected);
  expect(below).toEqual(unused);
});

it("has a tail for each side", () => {
  const [above, below] = state();
  const tails = new OwnTails(above, below, new Float64Array(1));
  tails.add(-3);
  const [expected] = state();
  new OwnTail(expected).add(3);
  expect(below).toEqual(expected);
  expect(tails.to(-1)).not.toBe(tails.to(1));
});
