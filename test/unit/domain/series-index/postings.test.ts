/** Lists of series: a single one and several are read alike. */
import { expect, it } from "vitest";
import { Postings } from "../../../../src/domain/series-index/postings.ts";

it("has the series of each list in their order", () => {
  const postings = new Postings();
  postings.add(0, 3);
  postings.add(1, 4);
  postings.add(0, 5);
  postings.add(0, 9);
  expect([...postings.of(0)]).toEqual([3, 5, 9]);
  expect([...postings.of(1)]).toEqual([4]);
  expect([postings.length(0), postings.length(1)]).toEqual([3, 1]);
});
