import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatPlain } from "../../../../src/core/text/plain-number.ts";
import { Labels } from "../../../../src/domain/promql/labels/labels.ts";
import { MemoryStorage } from "../../../../src/domain/promql/memory-storage.ts";
import { parseExpression } from "../../../../src/domain/promql/parser/parser.ts";
import { ParseError } from "../../../../src/domain/promql/parser/position.ts";
import { printExpression } from "../../../../src/domain/promql/parser/printer.ts";
import { quote, unquote } from "../../../../src/domain/promql/parser/quoted-text.ts";
import { QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import { queryInstant, rangeSteps } from "../../../../src/domain/promql/query-engine.ts";
import { queryRange } from "../../../support/query-range.ts";

const leaf = fc.constantFrom("x", "y offset 20s", "1.5", "x @ 30", "sum_over_time(x[30s])", "rate(x[1m])", "y @ start()", "time()");
const query = fc.letrec<{ node: string }>((tie) => ({
  node: fc.oneof(
    { depthSize: "small" },
    leaf,
    fc.tuple(tie("node"), fc.constantFrom("+", "*", "- on (a)", "== bool", "^"), tie("node")).map((parts) => `(${parts.join(" ")})`),
    tie("node").map((inner) => `sum by (a) (vector(scalar(x)) + (${inner}))`),
    tie("node").map((inner) => `max_over_time((x + (${inner}))[40s:10s])`),
    tie("node").map((inner) => `-(${inner})`),
    tie("node").map((inner) => `topk(1, x * (${inner}))`),
  ),
})).node;
const samples = fc.array(fc.option(fc.double({ noNaN: true, min: -1e6, max: 1e6 })), { minLength: 1, maxLength: 20 });

function storageOf(series: ReadonlyArray<readonly [name: string, label: string, values: ReadonlyArray<number | null>]>): MemoryStorage {
  const storage = new MemoryStorage();
  for (const [name, label, values] of series) {
    const there = [...values.keys()].filter((index) => values[index] !== null);
    const labels = Labels.of([
      ["__name__", name],
      ["a", label],
    ]);
    storage.add(
      labels,
      Float64Array.from(there, (index) => index * 10_000),
      Float64Array.from(there, (index) => values[index] as number),
    );
  }
  return storage;
}

function tried<Result>(run: () => Result): Result | string {
  try {
    return run();
  } catch (error) {
    return error instanceof ParseError ? "parse error" : (error as Error).message.slice(0, 20);
  }
}

describe("a range query", () => {
  it("has at each step what an instant query has there", () => {
    fc.assert(
      fc.property(query, samples, samples, samples, (text, first, second, third) => {
        const storage = storageOf([
          ["x", "1", first],
          ["x", "2", second],
          ["y", "1", third],
        ]);
        // Moments of the query's own ends are others for an instant query.
        const whole = text.replaceAll("@ start()", "@ 0");
        const budget = new QueryBudget(() => 0);
        const range = tried(() => queryRange(whole, rangeSteps(0, 120_000, 20_000), { storage, budget }));
        for (let ms = 0; ms <= 120_000; ms += 20_000) {
          const instant = tried(() => queryInstant(whole, ms, { storage, budget: new QueryBudget(() => 0) }));
          if (typeof range === "string") continue;
          if (typeof instant === "string") throw new Error(`${whole}: ${instant}`);
          const series = range.value.type === "matrix" ? range.value.series : [];
          const fromRange = series.flatMap(({ labels, timesMs, values }) =>
            [...timesMs.keys()].filter((i) => timesMs[i] === ms).map((i) => `${labels} ${values[i]}`),
          );
          const { value } = instant;
          const fromInstant =
            value.type === "vector"
              ? value.samples.map((one) => `${one.labels} ${one.value}`)
              : value.type === "scalar"
                ? [`{} ${value.value}`]
                : [];
          expect(fromRange.sort()).toEqual(fromInstant.sort());
        }
      }),
    );
  });
});

describe("the canonical form of a query", () => {
  it("reads as the same query", () => {
    fc.assert(
      fc.property(query, (text) => {
        const once = tried(() => printExpression(parseExpression(text)));
        if (once !== "parse error") expect(printExpression(parseExpression(once))).toBe(once);
      }),
    );
  });

  it("is refused with a message, whatever the text is", () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom("sum(", "x[5m", "{a=", "}", "offset ", "@", " by ", "1e", "0x", "'\\", "#\n", "[", ":", "min_of("),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 8 }), (pieces) => {
        expect(["string", "parse error"]).toContain(typeof tried(() => printExpression(parseExpression(pieces.join("")))));
      }),
    );
  });
});

describe("texts and numbers", () => {
  it("are read as they were printed", () => {
    fc.assert(fc.property(fc.string({ unit: "grapheme" }), (text) => void expect(unquote(quote(text))).toBe(text)));
    fc.assert(fc.property(fc.double(), (value) => void expect(Number(formatPlain(value).replace("Inf", "Infinity"))).toBe(value)));
  });
});
