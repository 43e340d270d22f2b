// What simple rules get of the same evidence, which is told the onset: the floor under what an analysis is worth. A constant and random orders of the names say whether
// a system's cases can tell rankings apart at all.
import type { SeriesEvidence } from "../../../src/domain/rca/evidence.ts";
import { meaningOf, RESOURCE_KINDS } from "../../../src/domain/rca/metric-kind.ts";
import { generator } from "../../support/generator.ts";
import type { Row } from "../rows.ts";
import type { EvaluatedCase } from "./cases.ts";

/** A series that is so many standard deviations off has moved. */
const MOVED_MIN = 5;
const RANDOM_ORDERS = 5;

const deviation = ({ departure: { mean, sd, peak } }: SeriesEvidence) => Math.abs(peak - mean) / sd;
const isResource = ({ metricName }: SeriesEvidence) => RESOURCE_KINDS.some((kind) => kind === meaningOf(metricName).kind);

/** Rules by what they are called; each tells its one service. */
const RULES: ReadonlyArray<readonly [name: string, rule: (series: readonly SeriesEvidence[]) => string | undefined]> = [
  [
    "the service whose metric moves first",
    (series) =>
      most(
        series.filter((one) => deviation(one) >= MOVED_MIN),
        ({ onsetMs }) => -onsetMs,
      ),
  ],
  ["the largest deviation in sd", (series) => most(series, deviation)],
  ["the largest resource deviation", (series) => most(series.filter(isResource), deviation)],
];

/** AC@1 of each rule over the faults of a system. */
export function simpleRuleRows(name: string, cases: readonly EvaluatedCase[]): Row[] {
  const faults = cases.filter(({ truth }) => truth !== null);
  if (faults.length === 0) return [];
  const share = (answerOf: (of: EvaluatedCase) => string | undefined) =>
    faults.filter((of) => answerOf(of) === of.truth).length / faults.length;
  const byRule = RULES.map(([rule, answerOf]) => ({
    data: name,
    measure: `AC@1 of ${rule}`,
    value: share(({ evidence }) => answerOf(evidence.series)),
  }));
  const truths = [...new Set(faults.map(({ truth }) => truth!))];
  const constant = Math.max(...truths.map((truth) => share(() => truth)));
  return [
    ...byRule,
    { data: name, measure: "AC@1 of a constant", value: constant },
    ...Array.from({ length: RANDOM_ORDERS }, (_, i) => {
      return { data: name, measure: `AC@1 of random order ${i + 1} of the names`, value: randomShare(faults, i + 1) };
    }),
  ];
}

/** Share of cases whose cause is the first of one order of all names of the system that the case has. */
function randomShare(faults: readonly EvaluatedCase[], seed: number): number {
  const { uniform } = generator(seed);
  const names = [...new Set(faults.flatMap(({ evidence }) => evidence.series.map(({ serviceId }) => serviceId)))].sort();
  const order = new Map(names.map((name) => [name, uniform()]));
  const first = ({ evidence }: EvaluatedCase) => most(evidence.series, ({ serviceId }) => order.get(serviceId)!);
  return faults.filter((of) => first(of) === of.truth).length / faults.length;
}

function most(series: readonly SeriesEvidence[], measure: (of: SeriesEvidence) => number): string | undefined {
  let best: string | undefined;
  let largest = Number.NEGATIVE_INFINITY;
  for (const one of series) {
    const value = measure(one);
    if (value <= largest) continue;
    largest = value;
    best = one.serviceId;
  }
  return best;
}
