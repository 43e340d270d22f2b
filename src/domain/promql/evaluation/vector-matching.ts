// Operators between series of both sides that have the same labels, and and, or, unless (VectorBinop, VectorAnd, VectorOr and VectorUnless in promql/engine.go of Prometheus).
import { Labels, METRIC_NAME } from "../labels/labels.ts";
import type { BinaryExpression, VectorMatching } from "../parser/expression.ts";
import type { QueryBudget } from "../query-budget.ts";
import { QueryError } from "../query-error.ts";
import { arithmeticOf, comparisonOf } from "./operators.ts";
import { hasValues, makeSeries, merge, presentSteps, SeriesMerger, type StepSeries } from "./step-series.ts";

/** The labels by which series find each other. */
function matchedLabels({ isOn, labels }: VectorMatching): (of: Labels) => Labels {
  const names = new Set(isOn ? labels : [...labels, METRIC_NAME]);
  return (of) => (isOn ? of.only(names) : of.without(names));
}

/** Series of one side with the same matched labels, and what they have been combined to. */
interface MatchGroup {
  readonly series: StepSeries[];
  /** Steps at which a result is there: of all one-to-one, else by the result's labels. */
  readonly taken: Map<string, Uint8Array>;
}

function groupsOf(series: readonly StepSeries[], labelsOf: (of: Labels) => Labels): Map<string, MatchGroup> {
  const groups = new Map<string, MatchGroup>();
  for (const one of series) {
    const { key } = labelsOf(one.labels);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, { series: [one], taken: new Map() });
    else group.series.push(one);
  }
  return groups;
}

/** Combines two sides by arithmetic or comparison. */
export class VectorCombination {
  readonly #expression: BinaryExpression;
  readonly #matching: VectorMatching;
  readonly #budget: QueryBudget;
  readonly #steps: number;

  constructor(expression: BinaryExpression, steps: number, budget: QueryBudget) {
    this.#expression = expression;
    this.#matching = expression.matching as VectorMatching;
    this.#budget = budget;
    this.#steps = steps;
  }

  /** The combined series. Throws QueryError where a series finds more than one. */
  combine(left: readonly StepSeries[], right: readonly StepSeries[]): StepSeries[] {
    const isManyRight = this.#matching.cardinality === "one-to-many";
    const [many, one] = isManyRight ? [right, left] : [left, right];
    const labelsOf = matchedLabels(this.#matching);
    const groups = groupsOf(one, labelsOf);
    const active = presentSteps(many, this.#steps);
    for (const group of groups.values()) this.#checkUnique(group.series, active, labelsOf);
    const merger = new SeriesMerger();
    for (const series of many) {
      const group = groups.get(labelsOf(series.labels).key);
      for (const other of group?.series ?? []) {
        const result = this.#combinePair(series, other, group as MatchGroup);
        if (hasValues(result)) merger.add(result);
      }
    }
    return merger.series;
  }

  /** The side of one may have one series only at a step at which the other side has any. */
  #checkUnique(series: readonly StepSeries[], active: Uint8Array, labelsOf: (of: Labels) => Labels): void {
    if (series.length === 1) return;
    const first = new Array<StepSeries | undefined>(this.#steps);
    for (const one of series) {
      for (let i = 0; i < this.#steps; i++) {
        if (one.present[i] === 0 || active[i] === 0) continue;
        const before = first[i];
        if (before !== undefined) throw this.#duplicate(labelsOf(one.labels), one.labels, before.labels);
        first[i] = one;
      }
    }
  }

  #duplicate(matched: Labels, second: Labels, first: Labels): QueryError {
    const side = this.#matching.cardinality === "one-to-many" ? "left" : "right";
    return new QueryError(
      `found duplicate series for the match group ${matched} on the ${side} hand-side of the operation: [${second}, ${first}];many-to-many matching not allowed: matching labels must be unique on one side`,
    );
  }

  #combinePair(many: StepSeries, one: StepSeries, group: MatchGroup): StepSeries {
    const result = makeSeries(this.#resultLabels(many.labels, one.labels), this.#steps, this.#budget);
    this.#claimSteps(many, one, { group, result });
    const [left, right] = this.#matching.cardinality === "one-to-many" ? [one, many] : [many, one];
    const compute = arithmeticOf(this.#expression.operator);
    if (compute === undefined) this.#compare(left, right, result);
    else {
      for (let i = 0; i < this.#steps; i++) {
        if (result.present[i] === 1) result.values[i] = compute(left.values[i] as number, right.values[i] as number);
      }
    }
    return result;
  }

  /** Marks the steps at which both are there; none may have been taken before. */
  #claimSteps(many: StepSeries, one: StepSeries, { group, result }: { readonly group: MatchGroup; readonly result: StepSeries }): void {
    const isOneToOne = this.#matching.cardinality === "one-to-one";
    const key = isOneToOne ? "" : result.labels.key;
    const known = group.taken.get(key);
    const taken = known ?? new Uint8Array(this.#steps);
    if (known === undefined) group.taken.set(key, taken);
    for (let i = 0; i < this.#steps; i++) {
      if (many.present[i] === 0 || one.present[i] === 0) continue;
      if (taken[i] === 1) {
        throw new QueryError(
          isOneToOne
            ? "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)"
            : "multiple matches for labels: grouping labels must ensure unique matches",
        );
      }
      taken[i] = 1;
      result.present[i] = 1;
    }
  }

  #compare(left: StepSeries, right: StepSeries, result: StepSeries): void {
    const compare = comparisonOf(this.#expression.operator);
    for (let i = 0; i < this.#steps; i++) {
      if (result.present[i] === 0) continue;
      const value = left.values[i] as number;
      const holds = compare(value, right.values[i] as number);
      result.values[i] = this.#expression.returnsBool ? Number(holds) : value;
      if (!holds && !this.#expression.returnsBool) result.present[i] = 0;
    }
  }

  #resultLabels(many: Labels, one: Labels): Labels {
    const { cardinality, isOn, labels, include } = this.#matching;
    const dropsName = arithmeticOf(this.#expression.operator) !== undefined || this.#expression.returnsBool;
    let result = arithmeticOf(this.#expression.operator) === undefined ? many : many.withoutMetricName();
    if (cardinality === "one-to-one") result = isOn ? result.only(new Set(labels)) : result.without(new Set(labels));
    if (include.length > 0) result = Labels.of([...result.entries(), ...include.map((name) => [name, one.get(name)] as const)]);
    return dropsName && this.#expression.returnsBool ? result.withoutMetricName() : result;
  }
}

/** Series of one side by those of the other. */
export function combineSets(
  expression: BinaryExpression,
  [left, right]: readonly [StepSeries[], StepSeries[]],
  steps: number,
): StepSeries[] {
  const labelsOf = matchedLabels(expression.matching as VectorMatching);
  const [retained, others] = expression.operator === "or" ? [right, left] : [left, right];
  const groups = groupsOf(others, labelsOf);
  const present = new Map([...groups].map(([key, group]) => [key, presentSteps(group.series, steps)]));
  for (const series of retained) restrict(series, present.get(labelsOf(series.labels).key), expression.operator === "and");
  const result = retained.filter(hasValues);
  return expression.operator === "or" ? merge([...left, ...result]) : result;
}

/** Leaves a series' values at the steps at which the other side is there, or is not. */
function restrict({ present }: StepSeries, others: Uint8Array | undefined, isWanted: boolean): void {
  for (let i = 0; i < present.length; i++) if ((others?.[i] === 1) !== isWanted) present[i] = 0;
}
