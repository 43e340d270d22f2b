// Queries that are generated from a seed over the series of compared-feed.ts, in the language that Prometheus 2.42 and 3.14 have in common.

const GAUGES = ["depth", 'depth{zone="a"}', 'depth{service_id=~"s[0-4]"}', 'depth{instance!="3"}', '{__name__="depth",zone!~"b|c"}'];
const COUNTERS = ["requests_total", 'requests_total{zone="a"}', 'requests_total{service_id="s3"}'];
const BUCKETS = ["latency_seconds_bucket"];
const RANGES = ["1m", "2m", "5m", "11m", "1h"];
const OVER = ["avg", "min", "max", "sum", "count", "last", "stddev", "stdvar", "present"];
const OF_GAUGES = ["delta", "deriv", "idelta", "changes"];
const OF_COUNTERS = ["rate", "increase", "irate", "resets", "changes"];
const AGGREGATIONS = ["sum", "avg", "min", "max", "count", "stddev", "stdvar", "group"];
const GROUPINGS = ["", " by (zone)", " by (service_id, zone)", " without (instance)"];
const MATHS = ["abs", "ceil", "floor", "exp", "ln", "sqrt", "sgn", "log2", "sin"];
const OPERATORS = ["+", "-", "*", "/", "%", ">", "<=", "== bool", "> bool"];

/** Draws of one seed: the same on every machine. */
class Draws {
  #state: number;

  constructor(seed: number) {
    this.#state = seed;
  }

  /** A whole number below `end`. */
  below(end: number): number {
    this.#state = (Math.imul(this.#state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((this.#state / 2 ** 32) * end);
  }

  of<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)] as T;
  }
}

function gauge(draws: Draws): string {
  const selector = draws.of(GAUGES);
  const offset = draws.below(4) === 0 ? ` offset ${draws.of(["1m", "7m", "30m"])}` : "";
  switch (draws.below(5)) {
    case 0:
      return `${selector}${offset}`;
    case 1:
      return `${draws.of(OVER)}_over_time(${selector}[${draws.of(RANGES)}]${offset})`;
    case 2:
      return `${draws.of(OF_GAUGES)}(${selector}[${draws.of(RANGES)}]${offset})`;
    case 3:
      return `quantile_over_time(${draws.of(["0.1", "0.5", "0.99"])}, ${selector}[${draws.of(RANGES)}]${offset})`;
    default:
      return `predict_linear(${selector}[${draws.of(RANGES)}], ${draws.of(["60", "3600"])})`;
  }
}

function vector(draws: Draws): string {
  if (draws.below(3) === 0) return `${draws.of(OF_COUNTERS)}(${draws.of(COUNTERS)}[${draws.of(RANGES)}])`;
  return draws.below(6) === 0 ? `max_over_time(${draws.of(GAUGES)}[${draws.of(["10m", "31m"])}:${draws.of(["1m", "2m"])}])` : gauge(draws);
}

function query(draws: Draws): string {
  const inner = vector(draws);
  switch (draws.below(8)) {
    case 0:
      return inner;
    case 1:
      return `${draws.of(AGGREGATIONS)}${draws.of(GROUPINGS)} (${inner})`;
    case 2:
      return `quantile${draws.of(GROUPINGS)} (${draws.of(["0.25", "0.9"])}, ${inner})`;
    case 3:
      return `${draws.of(MATHS)}(${inner})`;
    case 4:
      return `(${inner}) ${draws.of(OPERATORS)} ${draws.of(["2", "0.5", "100"])}`;
    case 5: {
      const selector = draws.of(GAUGES);
      return `avg_over_time(${selector}[${draws.of(RANGES)}]) ${draws.of(["-", "/", ">", "and", "or", "unless"])} ${selector}`;
    }
    case 6:
      return `sum by (zone) (${inner}) ${draws.of(["/", "-"])} on (zone) count by (zone) (depth)`;
    default:
      return `histogram_quantile(${draws.of(["0.5", "0.95"])}, sum by (le) (rate(${draws.of(BUCKETS)}[${draws.of(["5m", "1h"])}])))`;
  }
}

/** So many queries. */
export function generatedQueries(seed: number, count: number): string[] {
  const draws = new Draws(seed);
  return Array.from({ length: count }, () => query(draws));
}
