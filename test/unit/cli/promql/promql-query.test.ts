import { expect, it } from "vitest";
import { queryLines } from "../../../../src/cli/promql/promql-query.ts";

it("shows values of a moment beside their series", () => {
  const result = [
    { metric: { __name__: "up", job: "a" }, value: [4, "1"] as const },
    { metric: { "a.b": "x\u001b[2J" }, value: [4, "+Inf"] as const },
  ];
  expect(queryLines({ resultType: "vector", result })).toEqual(["VALUE  SERIES", '1      up{job="a"}', '+Inf   {"a.b"="x\\x1b[2J"}']);
  expect(queryLines({ resultType: "vector", result: [] })).toEqual(["no series"]);
  expect(queryLines({ resultType: "scalar", result: [4, "2"] })).toEqual(["2"]);
});

it("draws a bar for each value of a range, and a gap for what is no number", () => {
  const values = ["0", "7", "NaN", "3.5"].map((text, index) => [index, text] as const);
  const [, line] = queryLines({ resultType: "matrix", result: [{ metric: { __name__: "up" }, values }] });
  expect(line?.split(/ {2,}/)).toEqual(["0", "7", "3.5", "▁█ ▅", "up"]);
});

it("draws long ranges in sixty columns", () => {
  const values = Array.from({ length: 600 }, (_, index) => [index, String(index)] as const);
  const [, line] = queryLines({ resultType: "matrix", result: [{ metric: {}, values }] });
  expect(line?.match(/[▁-█]+/)?.[0]).toHaveLength(60);
});
