// Functions of PromQL in Prometheus 3.14 with their types (promql/parser/functions.go). @data-table

export type ValueType = "scalar" | "vector" | "matrix" | "string";

/** What a function takes and returns. */
export interface FunctionSignature {
  readonly name: string;
  readonly takes: readonly ValueType[];
  /** Further arguments of the last type, which may then be missing too; -1 for any number. */
  readonly variadic: number;
  readonly returns: ValueType;
  /** Prometheus has it behind a flag. */
  readonly isExperimental: boolean;
}

type Row = readonly [names: string, takes: string, variadic?: number, returns?: ValueType];

const STABLE: readonly Row[] = [
  [
    "abs absent acos acosh asin asinh atan atanh ceil cos cosh deg exp floor ln log10 log2 rad sgn sin sinh sort sort_desc sqrt tan tanh timestamp",
    "vector",
  ],
  ["histogram_avg histogram_count histogram_sum histogram_stddev histogram_stdvar", "vector"],
  ["absent_over_time avg_over_time count_over_time first_over_time last_over_time max_over_time min_over_time present_over_time", "matrix"],
  ["stddev_over_time stdvar_over_time sum_over_time changes delta deriv idelta increase irate rate resets", "matrix"],
  ["days_in_month day_of_month day_of_week day_of_year hour minute month year", "vector", 1],
  ["clamp", "vector scalar scalar"],
  ["clamp_max clamp_min", "vector scalar"],
  ["histogram_fraction", "scalar scalar vector"],
  ["histogram_quantile", "scalar vector"],
  ["label_join", "vector string string string", -1],
  ["label_replace", "vector string string string string"],
  ["predict_linear", "matrix scalar"],
  ["quantile_over_time", "scalar matrix"],
  ["round", "vector scalar", 1],
  ["pi time", "", 0, "scalar"],
  ["scalar", "vector", 0, "scalar"],
  ["vector", "scalar"],
];

const EXPERIMENTAL: readonly Row[] = [
  ["double_exponential_smoothing", "matrix scalar scalar"],
  ["histogram_quantiles", "vector string scalar scalar", 9],
  ["info", "vector vector", 1],
  ["mad_over_time ts_of_first_over_time ts_of_last_over_time ts_of_max_over_time ts_of_min_over_time", "matrix"],
  ["max_of min_of", "scalar scalar", 0, "scalar"],
  ["sort_by_label sort_by_label_desc", "vector string", -1],
  ["end range start step", "", 0, "scalar"],
  ["start_timestamp", "vector"],
];

function signatures(rows: readonly Row[], isExperimental: boolean): FunctionSignature[] {
  return rows.flatMap(([names, takes, variadic = 0, returns = "vector"]) =>
    names.split(" ").map((name) => ({
      name,
      takes: takes === "" ? [] : (takes.split(" ") as ValueType[]),
      variadic,
      returns,
      isExperimental,
    })),
  );
}

/** Every function by name. */
export const FUNCTIONS: ReadonlyMap<string, FunctionSignature> = new Map(
  [...signatures(STABLE, false), ...signatures(EXPERIMENTAL, true)].map((signature) => [signature.name, signature]),
);
