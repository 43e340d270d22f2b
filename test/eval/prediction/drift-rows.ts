// Drift of a service's metrics against what its model was trained on: how often it is found where there is none, and how many vectors show a metric that has moved
// by half a standard deviation. By the functions of GET /api/v1/ml/drift, on generated vectors with a daily course.
import { DRIFT_VECTORS_MAX, REQUESTED_VECTORS_MAX } from "../../../src/core/config/model-limits.ts";
import type { TimedRows } from "../../../src/domain/detection/multivariate/service-model.ts";
import { referenceOf } from "../../../src/domain/detection/multivariate/vector-reference.ts";
import { columnDrifts } from "../../../src/domain/models/model-drift.ts";
import { type Generator, generator } from "../../support/generator.ts";
import type { Row } from "../rows.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 5);
const METRICS = 5;
const CHECKS = 2_000;
/** Checks that share a reference, as those of one model do. */
const CHECKS_PER_MODEL = 20;
const SHIFT_SD = 0.5;
const FOUND_SHARE = 0.95;
const DRAWS = 200;
const STEP = 25;

export function driftRows(seed: number): Row[] {
  const random = generator(seed);
  const data = `drift, ${METRICS} metrics`;
  return [
    { data, measure: `false alarms in ${CHECKS} checks`, value: falseAlarms(random, 0), bar: 0.01, goal: 0.002, less: true },
    { data, measure: "the same, neighbours correlated by 0.7", value: falseAlarms(random, 0.7), bar: 0.01, goal: 0.002, less: true },
    { data, measure: "vectors to find 0.5 sd in 95 of 100", value: vectorsNeeded(random), bar: 500, goal: 300, less: true },
  ];
}

function falseAlarms(random: Generator, correlation: number): number {
  let alarms = 0;
  for (let check = 0, reference = referenceOf(vectors(random, REQUESTED_VECTORS_MAX, { correlation })); check < CHECKS; check++) {
    if (check % CHECKS_PER_MODEL === 0) reference = referenceOf(vectors(random, REQUESTED_VECTORS_MAX, { correlation }));
    const current = vectors(random, DRIFT_VECTORS_MAX, { correlation });
    alarms += Number(columnDrifts(reference, current).some(({ isDrift }) => isDrift));
  }
  return alarms / CHECKS;
}

function vectorsNeeded(random: Generator): number {
  const reference = referenceOf(vectors(random, REQUESTED_VECTORS_MAX, {}));
  for (let count = STEP; ; count += STEP) {
    let found = 0;
    for (let draw = 0; draw < DRAWS; draw++) {
      const current = vectors(random, count, { shift: SHIFT_SD });
      found += Number(columnDrifts(reference, current).some(({ column, isDrift }) => column === 0 && isDrift));
    }
    if (found >= FOUND_SHARE * DRAWS) return count;
  }
}

/** Minutes from midnight; `shift` moves the first metric, in standard deviations of its noise. */
function vectors(random: Generator, count: number, { correlation = 0, shift = 0 }): TimedRows {
  const values = new Float64Array(count * METRICS);
  const noise = new Float64Array(METRICS).map(() => random.normal());
  for (let row = 0; row < count; row++) {
    for (let metric = 0; metric < METRICS; metric++) {
      noise[metric] = correlation * (noise[metric] as number) + Math.sqrt(1 - correlation ** 2) * random.normal();
      const course = metric * Math.sin((2 * Math.PI * row) / 1_440);
      values[row * METRICS + metric] = 50 + course + (noise[metric] as number) + (metric === 0 ? shift : 0);
    }
  }
  return { times: Float64Array.from({ length: count }, (_, row) => START_MS + row * MINUTE_MS), values, width: METRICS };
}
