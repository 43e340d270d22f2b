// Trainings on request over made-up days: what they leave out, how they thin, and which of two models a comparison finds better on what people have labelled.
import { describe, expect, it } from "vitest";
import { selectRows } from "../../../../src/domain/detection/multivariate/selected-rows.ts";
import { type TrainingJob, trainService } from "../../../../src/domain/detection/multivariate/service-training.ts";
import { writeTrainingInput } from "../../../../src/domain/detection/multivariate/training-input.ts";
import { compareModels } from "../../../../src/domain/models/model-comparison.ts";
import { modelDrift } from "../../../../src/domain/models/model-drift.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 5);
const FACTORS = [4, -2, 3, 1];
const ROWS = 2_600;
/** Minutes in which the third metric follows the opposite of the load. */
const INCIDENTS = [
  [400, 900],
  [2_200, 2_230],
] as const;
const timeOf = (row: number) => START_MS + row * MINUTE_MS;

/** Days of a service whose metrics follow one load. */
function days(shift = 0): TrainingJob {
  const random = generator(11);
  const times = Float64Array.from({ length: ROWS }, (_, row) => timeOf(row));
  const rows: number[][] = [];
  let load = 0;
  for (let row = 0; row < ROWS; row++) {
    load = 0.9 * load + random.normal() / 3;
    const isBroken = INCIDENTS.some(([from, to]) => row >= from && row < to);
    const at = isBroken ? Math.sign(load) * Math.max(1, Math.abs(load)) : load;
    rows.push(
      FACTORS.map(
        (factor, j) => 50 + (isBroken && j === 2 ? -1 : 1) * factor * at + 0.05 * random.normal() + (row > 2_000 && j === 0 ? shift : 0),
      ),
    );
  }
  return {
    streams: FACTORS.map((_, j) => ({ times, values: Float64Array.from(rows, (row) => row[j] as number) })),
    starts: Uint16Array.of(0, 1, 2, 3, 4),
    aggregations: Uint8Array.of(1, 1, 1, 1),
    toMs: timeOf(ROWS - 1),
    intervalMs: MINUTE_MS,
    rowsMax: ROWS,
    seed: 1,
  };
}

/** A model of the first 2,000 minutes, or of some of them. */
function trained(excluded: readonly (readonly [number, number])[], [from, to]: readonly [number, number] = [0, 2_000]) {
  const job = { ...days(), toMs: timeOf(to), selection: { excluded, rowsMax: 4_320 } };
  const streams = job.streams.map(({ times, values }) => ({ times: times.slice(from, to + 1), values: values.slice(from, to + 1) }));
  return trainService({ ...job, streams });
}

describe("a requested training", () => {
  it("learns nothing of labelled incidents, and says how many vectors that were", () => {
    const { selected, rows, model } = trained([[timeOf(400), timeOf(900)]]);
    expect(selected).toEqual({ found: 2_001, excluded: 500, sinceMs: START_MS });
    expect(rows).toBe(1_501);
    expect(model).not.toBeNull();
  });

  it("thins a long window evenly, in runs of consecutive vectors", () => {
    const width = 1;
    const times = Float64Array.from({ length: 20_000 }, (_, row) => timeOf(row));
    const { rows, found } = selectRows({ times, values: times.slice(), width }, { excluded: [], rowsMax: 4_320 });
    expect(found).toBe(20_000);
    expect(rows.times.length).toBeGreaterThan(4_200);
    expect(rows.times.length).toBeLessThanOrEqual(4_320);
    expect(rows.times.at(-1)).toBe(times.at(-1));
    const runs = rows.breaks?.reduce((sum, one) => sum + one, 1) as number;
    expect(rows.times.length / runs).toBeGreaterThan(28);
    // Each tenth of the window has its tenth.
    for (let tenth = 0; tenth < 10; tenth++) {
      const part = rows.times.filter((time) => time >= timeOf(2_000 * tenth) && time < timeOf(2_000 * (tenth + 1)));
      expect(part.length / rows.times.length).toBeCloseTo(0.1, 1);
    }
  });

  it("says what it lacks", () => {
    const excluded = [[0, timeOf(1_900)]] as const;
    expect(trained(excluded)).toMatchObject({ rows: 101, model: null, state: null, selected: { excluded: 1_900 } });
  });
});

describe("a comparison on what is labelled", () => {
  const incident = { fromMs: timeOf(2_195), toMs: timeOf(2_235), isIncident: true };
  // What is kept begins behind the incident that one of them has learned.
  const job = days();
  const streams = job.streams.map(({ times, values }) => ({ times: times.slice(1_000), values: values.slice(1_000) }));
  const input = writeTrainingInput({ ...job, streams });
  const clean = { model: trained([[timeOf(400), timeOf(900)]]).model as Uint8Array<ArrayBuffer>, input };
  const spoiled = { model: trained([], [380, 900]).model as Uint8Array<ArrayBuffer>, input };

  it("finds a model that has learned an incident worse, and one of clean days better", () => {
    const worse = compareModels({ candidate: spoiled, production: clean, labels: [incident] });
    expect(worse).toMatchObject({ verdict: "worse", incidents: 1, candidate: { missed: 1 }, production: { caught: 1, missed: 0 } });
    expect(compareModels({ candidate: clean, production: spoiled, labels: [incident] }).verdict).toBe("better");
  });

  it("knows nothing where nothing is labelled, and no difference between equal models", () => {
    expect(compareModels({ candidate: clean, production: spoiled, labels: [] }).verdict).toBe("unknown");
    expect(compareModels({ candidate: clean, production: clean, labels: [incident] }).verdict).toBe("equal");
  });
});

describe("drift of a model", () => {
  const drift = (shift: number) =>
    modelDrift({ input: writeTrainingInput(days(shift)), reference: null, trainedMs: timeOf(2_000), rowsMax: 1_440, rowsMin: 60 });

  it("is none in what goes on as before, and names the metric that moved", () => {
    expect(drift(0).columns.some(({ isDrift }) => isDrift)).toBe(false);
    const { columns, rows } = drift(20);
    expect(rows).toBe(599);
    expect(columns[0]).toMatchObject({ column: 0, isDrift: true });
    expect(columns.slice(1).some(({ isDrift }) => isDrift)).toBe(false);
  });
});
