import { describe, expect, it } from "vitest";
import { PROMQL_NESTING_MAX, PROMQL_OPERATORS_MAX, PROMQL_STEPS_MAX } from "../../../../src/core/config/promql-limits.ts";
import { MemoryStorage } from "../../../../src/domain/promql/memory-storage.ts";
import { type QueryBounds, QueryBudget } from "../../../../src/domain/promql/query-budget.ts";
import { evaluateRange, parseQuery, queryInstant, rangeSteps } from "../../../../src/domain/promql/query-engine.ts";
import { QueryError } from "../../../../src/domain/promql/query-error.ts";
import { loadSeries } from "../../../../src/domain/promql/series-description.ts";
import { queryRange } from "../../../support/query-range.ts";

function stored(text: string): MemoryStorage {
  const storage = new MemoryStorage();
  loadSeries(text, storage);
  return storage;
}

const budget = (bounds: Partial<QueryBounds> = {}) => new QueryBudget(() => 0, bounds);

/** Series and values of an instant query. */
function at(text: string, seconds: number, query: string): string[] {
  const { value } = queryInstant(query, seconds * 1_000, { storage: stored(text), budget: budget() });
  if (value.type === "vector") return value.samples.map((sample) => `${sample.labels.metricText} ${sample.value}`);
  return value.type === "matrix" ? value.series.map(({ labels, values }) => `${labels.metricText} ${[...values]}`) : [String(value.value)];
}

/** Series, times and values of a range query. */
function over(text: string, [start, end, step]: readonly [number, number, number], query: string): Record<string, Record<string, number>> {
  const { value } = queryRange(query, rangeSteps(start * 1_000, end * 1_000, step * 1_000), { storage: stored(text), budget: budget() });
  if (value.type !== "matrix") throw new Error(value.type);
  const points = ({ timesMs, values }: (typeof value.series)[number]) =>
    Object.fromEntries(Array.from(timesMs, (ms, i) => [ms / 1_000, values[i]]));
  return Object.fromEntries(value.series.map((one) => [one.labels.metricText, points(one) as Record<string, number>]));
}

const COUNTERS = `load 15s
  requests_total{job="a",host="x"} 0+15x40
  requests_total{job="a",host="y"} 0+30x40
  requests_total{job="b",host="x"} 0+45x20 45+45x19`;

describe("ranges", () => {
  it("are open at their start: 5 minutes of 15 s have 20 samples", () => {
    expect(at(COUNTERS, 600, 'count_over_time(requests_total{job="b"}[5m])')).toEqual(['{host="x", job="b"} 20']);
  });

  it("are extrapolated to their ends, over resets", () => {
    expect(at(COUNTERS, 600, "round(sum by (job) (rate(requests_total[5m])), 0.001)")).toEqual(['{job="a"} 3', '{job="b"} 3']);
    expect(at("load 1m\n x_total 100 110 5 10", 180, "increase(x_total[3m])")).toEqual(["{} 15"]);
  });

  it("say where a name is no counter's", () => {
    for (const query of ["1 + rate(up[1m])", parseQuery("1 + rate(up[1m])")]) {
      const { infos } = queryInstant(query, 60_000, { storage: stored("load 15s\n up 0+1x9"), budget: budget() });
      expect(infos).toEqual(['PromQL info: metric might not be a counter, name does not end in _total/_sum/_count/_bucket: "up" (1:10)']);
    }
  });

  it("of subqueries stand on multiples of their step since 1970", () => {
    expect(at("load 10s\n x 0+1x30", 95, "x[40s:20s]")).toEqual(["x 6,8"]);
    expect(at("load 10s\n x 0+1x30", 95, "max_over_time(x[40s:20s] offset 20s)")).toEqual(["{} 6"]);
  });
});

describe("instant selectors", () => {
  it("end at a stale marker, and five minutes after the last sample", () => {
    const text = "load 1m\n a 1 stale 3\n b 1";
    expect(at(text, 60, '{__name__=~"a|b"}')).toEqual(["b 1"]);
    expect(at(text, 299, "b")).toEqual(["b 1"]);
    expect(at(text, 300, "b")).toEqual([]);
    expect(over(text, [0, 120, 60], "a")).toEqual({ a: { 0: 1, 120: 3 } });
  });

  it("look at the moment of @ and before by their offset", () => {
    const text = "load 10s\n x 0+1x30";
    expect(at(text, 0, "x @ 100 offset 50s")).toEqual(["x 5"]);
    expect(over(text, [0, 20, 10], "x - x @ end()")).toEqual({ "{}": { 0: -2, 10: -1, 20: 0 } });
    expect(over(text, [0, 20, 10], "timestamp(x @ 15)")).toEqual({ "{}": { 0: 10, 10: 10, 20: 10 } });
  });
});

describe("operators", () => {
  const text = `load 1m
    used{host="x",disk="1"} 4
    used{host="x",disk="2"} 6
    size{host="x"} 8
    name{host="x",role="db"} 1`;

  it("match series by labels", () => {
    expect(at(text, 0, "used / on (host) group_left () size")).toEqual(['{disk="1", host="x"} 0.5', '{disk="2", host="x"} 0.75']);
    expect(at(text, 0, "size * on (host) group_left (role) name")).toEqual(['{host="x", role="db"} 8']);
    expect(at(text, 0, "used > 5")).toEqual(['used{disk="2", host="x"} 6']);
    expect(at(text, 0, "5 < bool used")).toEqual(['{disk="1", host="x"} 0', '{disk="2", host="x"} 1']);
    expect(at(text, 0, "used and on (host) size")).toHaveLength(2);
    expect(at(text, 0, "used unless on (host) size")).toEqual([]);
  });

  it("refuse more than one partner", () => {
    expect(() => at(text, 0, "used / on (host) size")).toThrow(
      "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)",
    );
    expect(() => at(text, 0, "size / on (host) used")).toThrow(
      'found duplicate series for the match group {host="x"} on the right hand-side of the operation: [{__name__="used", disk="2", host="x"}, {__name__="used", disk="1", host="x"}];many-to-many',
    );
    expect(() => at(text, 0, 'ceil({__name__=~"size|name",host="x"})')).not.toThrow();
    expect(() => at("load 1m\n a 1\n b 2", 0, 'ceil({__name__=~"a|b"})')).toThrow("vector cannot contain metrics with the same labelset");
  });

  it("compute as Go does", () => {
    expect(at("", 0, "1 ^ NaN")).toEqual(["1"]);
    expect(at("", 0, "-7 % 4")).toEqual(["-3"]);
    expect(at("", 0, "1 / -0")).toEqual(["-Infinity"]);
  });
});

describe("aggregations", () => {
  const big = 'load 1m\n x{a="1"} 1\n x{a="2"} 1e100\n x{a="3"} 1\n x{a="4"} -1e100';

  it("lose nothing to rounding, and do not overflow", () => {
    expect(at(big, 0, "sum(x)")).toEqual(["{} 2"]);
    expect(at(big, 0, "avg(x)")).toEqual(["{} 0.5"]);
    expect(at('load 1m\n x{a="1"} 1.5e308\n x{a="2"} 1.5e308', 0, "avg(x)")).toEqual(["{} 1.5e+308"]);
    expect(at("load 1m\n x 1 1e100 1 -1e100", 180, "sum_over_time(x[4m])")).toEqual(["{} 2"]);
  });

  it("have no deviation of infinity", () => {
    expect(at('load 1m\n x{a="1"} Inf\n x{a="2"} 1', 0, "stddev(x)")).toEqual(["{} NaN"]);
  });

  it("rank with NaN last and in order", () => {
    const text = 'load 1m\n x{a="1"} NaN\n x{a="2"} 5\n x{a="3"} 7\n x{a="4"} 6';
    expect(at(text, 0, "topk(2, x)")).toEqual(['x{a="3"} 7', 'x{a="4"} 6']);
    expect(at(text, 0, "bottomk(9, x)")).toEqual(['x{a="2"} 5', 'x{a="4"} 6', 'x{a="3"} 7', 'x{a="1"} NaN']);
    expect(() => at(text, 0, "topk(NaN, x)")).toThrow("Parameter value is NaN");
    expect(at(text, 0, "sort_desc(x)")[0]).toBe('x{a="3"} 7');
    expect(at(text, 0, "max(x)")).toEqual(["{} 7"]);
  });

  it("count values by their text", () => {
    expect(at('load 1m\n x{a="1"} 1e21\n x{a="2"} 1e21\n x{a="3"} -0', 0, 'count_values("v", x)')).toEqual([
      '{v="1000000000000000000000"} 2',
      '{v="-0"} 1',
    ]);
    expect(() => at("load 1m\n x 1", 0, 'count_values("a\\xc5z", x)')).toThrow('invalid label name "a\\xc5z"');
  });
});

describe("classic histograms", () => {
  const text = 'load 1m\n h_bucket{le="1"} 4\n h_bucket{le="2"} 3\n h_bucket{le="+Inf"} 8\n h_bucket{le="wide"} 1';

  it("are raised where they decrease, and say so", () => {
    const { value, infos, warnings } = queryInstant("histogram_quantile(0.25, h_bucket)", 0, { storage: stored(text), budget: budget() });
    expect(value).toMatchObject({ samples: [{ value: 0.5 }] });
    expect(infos).toEqual([
      "PromQL info: input to histogram_quantile needed to be fixed for monotonicity (see https://prometheus.io/docs/prometheus/latest/querying/functions/#histogram_quantile), from buckets 2 to 2, with a max diff of 1, over 1 samples from 1970-01-01T00:00:00Z to 1970-01-01T00:00:00Z (1:26)",
    ]);
    expect(warnings).toEqual([
      'PromQL warning: bucket label "le" is missing or has a malformed value of "wide" for metric name "h_bucket" (1:26)',
    ]);
  });

  it("have shares between two values", () => {
    expect(
      at('load 1m\n h_bucket{le="1"} 4\n h_bucket{le="3"} 8\n h_bucket{le="+Inf"} 10', 0, "histogram_fraction(0.5, 2, h_bucket)"),
    ).toEqual(["{} 0.4"]);
  });

  it("are none where they are native", () => {
    expect(at("load 1m\n h 1", 0, "histogram_count(h)")).toEqual([]);
  });
});

describe("functions of labels and time", () => {
  it("replace and join labels", () => {
    const text = 'load 1m\n up{host="db-12.example"} 1';
    // biome-ignore lint/suspicious/noTemplateCurlyInString: a group in braces, as Go has them
    expect(at(text, 0, 'label_replace(up, "n", "${1}_$2", "host", "(\\\\w+)-(\\\\d+).*")')).toEqual([
      'up{host="db-12.example", n="db_12"} 1',
    ]);
    expect(at(text, 0, 'label_replace(up, "n", "x", "host", "db")')).toEqual(['up{host="db-12.example"} 1']);
    expect(at(text, 0, 'label_join(up, "n", "/", "host", "none")')).toEqual(['up{host="db-12.example", n="db-12.example/"} 1']);
    expect(() => at(text, 0, 'label_replace(up, "n", "x", "host", "(")')).toThrow("invalid regular expression in label_replace(): (");
  });

  it("say which series is absent", () => {
    expect(at("", 0, 'absent(up{job="a",host=~"b"})')).toEqual(['{job="a"} 1']);
    expect(at("load 1m\n a 1\n b 2", 0, 'absent_over_time({__name__=~"a|b"}[5m])')).toEqual([]);
    expect(over("load 1m\n up 1 stale stale", [0, 120, 60], "absent(up)")).toEqual({ "{}": { 60: 1, 120: 1 } });
  });

  it("take dates apart", () => {
    expect(at("", 1_709_251_199, "days_in_month() + day_of_year() / 1000 + day_of_week() / 10")).toEqual([`{} ${29 + 60 / 1000 + 4 / 10}`]);
  });

  it("draw a line through samples", () => {
    expect(at("load 1m\n x 0+60x9", 540, "deriv(x[10m])")).toEqual(["{} 1"]);
    expect(at("load 1m\n x 0+60x9", 540, "predict_linear(x[10m], 60)")).toEqual(["{} 600"]);
  });
});

describe("a range query", () => {
  it("answers in the order of labels, and says that sorting is in vain", () => {
    const storage = stored('load 1m\n x{a="2"} 1 1\n x{a="1"} 2 2');
    const result = queryRange("sort(x)", rangeSteps(0, 60_000, 60_000), { storage, budget: budget() });
    expect(result.value).toMatchObject({ series: [{ values: Float64Array.of(2, 2) }, { values: Float64Array.of(1, 1) }] });
    expect(result.warnings).toEqual([
      "PromQL warning: sort is ineffective for range queries since results are always ordered by labels (1:1)",
    ]);
  });

  it("has a type, a step and not too many of them", () => {
    expect(() => over("", [0, 1, 1], "up[5m]")).toThrow(
      'invalid expression type "range vector" for range query, must be Scalar or instant Vector',
    );
    expect(() => rangeSteps(0, PROMQL_STEPS_MAX * 1_000, 1_000)).toThrow("exceeded maximum resolution of 11,000 points per timeseries");
    expect(() => rangeSteps(0, 1, 0)).toThrow("zero or negative query resolution step widths are not accepted");
  });
});

describe("the longest and deepest queries", () => {
  it.each([
    ["a sum", `x${" + x".repeat(PROMQL_OPERATORS_MAX)}`],
    ["a power", `1${" ^ 1".repeat(PROMQL_OPERATORS_MAX)}`],
    ["parentheses", `${"(".repeat(PROMQL_NESTING_MAX - 1)}x${")".repeat(PROMQL_NESTING_MAX - 1)}`],
    ["signs", `${"-".repeat(PROMQL_NESTING_MAX - 1)}x`],
    ["calls", `${"abs(".repeat(PROMQL_NESTING_MAX - 1)}x${")".repeat(PROMQL_NESTING_MAX - 1)}`],
    ["aggregations", `${"sum(".repeat(PROMQL_NESTING_MAX - 1)}x${")".repeat(PROMQL_NESTING_MAX - 1)}`],
  ])("fit the stack: %s", (_, query) => {
    expect(at("load 1m\n x 1", 0, query)).toHaveLength(1);
  });
});

describe("the budget of a query", () => {
  const kind = (bounds: Partial<QueryBounds>, query = "sum(x)", nowMs = () => 0) => {
    const storage = stored('load 1s\n x{a="1"} 0+1x299\n x{a="2"} 0+1x299');
    try {
      queryRange(query, rangeSteps(0, 100_000, 1_000), { storage, budget: new QueryBudget(nowMs, bounds) });
      return "ends";
    } catch (error) {
      return error instanceof QueryError ? error.kind : String(error);
    }
  };

  it("ends it by samples, bytes and time", () => {
    expect(kind({ samplesMax: 201 })).toBe("too_much");
    expect(kind({ samplesMax: 202 })).toBe("ends");
    expect(kind({ bytesMax: 2_000 }, "x")).toBe("too_much");
    expect(kind({ bytesMax: 3_000 }, "x")).toBe("ends");
    let now = 0;
    expect(kind({ durationMsMax: 2 }, "sum(x)", () => now++)).toBe("timeout");
  });

  it("is not used up by series that were added and are gone", () => {
    expect(kind({ bytesMax: 4_500 }, "sum(x) + sum(x) + sum(x) + sum(x)")).toBe("ends");
  });

  it("ends it from elsewhere", () => {
    const canceled = budget();
    canceled.cancel();
    expect(() => queryInstant("x", 0, { storage: stored("load 1s\n x 1"), budget: canceled })).toThrow("query was canceled");
  });

  it("counts samples of subqueries as those that are read", () => {
    const ask = (samplesMax: number) => {
      const own = budget({ samplesMax });
      queryInstant("max_over_time(vector(1)[1d:1s])", 86_400_000, { storage: stored("load 1s\n x 1"), budget: own });
      return own.samples;
    };
    expect(ask(86_400)).toBe(86_400);
    expect(() => ask(86_399)).toThrow("too many samples");
  });

  it("lets others go on between series, and within a long one, once its slice is over", () => {
    let nowMs = 0;
    const own = new QueryBudget(() => nowMs++);
    own.beginSlice(0);
    const series = Array.from({ length: 10 }, (_, index) => ` x{n="${index}"} 0+1x600`).join("\n");
    const steps = rangeSteps(0, 600_000, 1_000);
    const evaluating = evaluateRange("sum(rate(x[1m]))", steps, { storage: stored(`load 1s\n${series}`), budget: own });
    let pauses = 0;
    let next = evaluating.next();
    for (; next.done !== true; next = evaluating.next()) pauses++;
    expect(pauses).toBeGreaterThan(100);
    expect(next.value.value).toEqual(
      queryRange("sum(rate(x[1m]))", steps, { storage: stored(`load 1s\n${series}`), budget: budget() }).value,
    );
  });
});
