// What an automatic training learns from: not from incidents, open or found by itself, but from what has lasted two days; and which model stays where a new one is worse.
import { describe, expect, it } from "vitest";
import { isNoWorse } from "../../../../src/domain/detection/multivariate/calm-check.ts";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { ServiceModel, type TimedRows } from "../../../../src/domain/detection/multivariate/service-model.ts";
import { decodeServiceModel } from "../../../../src/domain/detection/multivariate/service-model-coding.ts";
import { type TrainingJob, type TrainingPast, trainService } from "../../../../src/domain/detection/multivariate/service-training.ts";
import { alertStretches, NEW_NORMAL_MS, strangeRows } from "../../../../src/domain/detection/multivariate/strange-stretches.ts";
import { symmetricEigen } from "../../../../src/domain/detection/multivariate/symmetric-eigen.ts";
import { decodeTrainingRows } from "../../../../src/domain/detection/multivariate/training-rows-coding.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const DAY = 24 * 60;
const START_MS = Date.UTC(2026, 0, 5);
const FACTORS = [4, -2, 3, 1, 5, -1];
const timeOf = (minute: number) => START_MS + minute * MINUTE_MS;

/** Minutes of metrics that follow one load; in [from, to) the third one follows the opposite. */
function minutes(count: number, [from, to]: readonly [number, number] = [0, 0], first = 0): TimedRows {
  const random = generator(5);
  const values = new Float64Array(count * FACTORS.length);
  let load = 0;
  for (let minute = 0; minute < count; minute++) {
    load = 0.9 * load + random.normal() / 3;
    const isBroken = minute >= from && minute < to;
    const at = isBroken ? Math.sign(load) * Math.max(1, Math.abs(load)) : load;
    for (const [j, factor] of FACTORS.entries())
      values[minute * FACTORS.length + j] = 50 + (isBroken && j === 2 ? -1 : 1) * factor * at + 0.1 * random.normal();
  }
  return { times: Float64Array.from({ length: count }, (_, minute) => timeOf(first + minute)), values, width: FACTORS.length };
}

function jobOf(rows: TimedRows, past?: TrainingPast): TrainingJob {
  const { times, values, width } = rows;
  return {
    streams: FACTORS.map((_, j) => ({ times, values: times.map((_, row) => values[row * width + j] as number) })),
    starts: Uint16Array.from({ length: width + 1 }, (_, j) => j),
    aggregations: new Uint8Array(width).fill(1),
    toMs: times.at(-1) as number,
    intervalMs: MINUTE_MS,
    rowsMax: 10_080,
    seed: 1,
    ...(past !== undefined && { past }),
  };
}

const leftOf = (rows: TimedRows, known: ReadonlyArray<readonly [number, number]> = []) =>
  [...strangeRows(rows, known, symmetricEigen).entries()].filter(([, left]) => left === 1).map(([row]) => row);

describe("what a training leaves out", () => {
  it("is a stretch in which the metrics were not as they are together, with a margin", () => {
    const left = leftOf(minutes(3 * DAY, [2_000, 2_040]));
    expect(left[0]).toBeGreaterThan(1_980);
    expect(left[0]).toBeLessThanOrEqual(1_995);
    expect(left.at(-1)).toBeGreaterThanOrEqual(2_045);
    expect(left.at(-1)).toBeLessThan(2_070);
  });

  it("is what is known for an anomaly, whatever it looked like", () => {
    expect(leftOf(minutes(2 * DAY))).toEqual([]);
    const left = leftOf(minutes(2 * DAY), [[timeOf(600), timeOf(660)]]);
    expect([left[0], left.at(-1)]).toEqual([590, 669]);
  });

  it("is not what has lasted for two days: it is the new normal", () => {
    const lasts = NEW_NORMAL_MS / MINUTE_MS;
    expect(leftOf(minutes(7 * DAY), [[timeOf(3_000), timeOf(3_000 + lasts)]])).toEqual([]);
    expect(leftOf(minutes(7 * DAY), [[timeOf(3_000), timeOf(3_000 + lasts / 2)]])).toHaveLength(lasts / 2 + 20);
  });

  it("is of alerts of single metrics the newest, as far as they are an exception, and none that has lasted for two days", () => {
    const of = (...alerts: ReadonlyArray<readonly [from: number, to: number]>) =>
      alertStretches(
        alerts.map(([from, to]) => [timeOf(from), timeOf(to)]),
        { fromMs: timeOf(0), toMs: timeOf(7 * DAY) },
      ).map((stretch) => stretch.map((timeMs) => (timeMs - START_MS) / MINUTE_MS));
    expect(of([100, 130], [7 * DAY - 60, 7 * DAY])).toEqual([
      [7 * DAY - 60, 7 * DAY],
      [100, 130],
    ]);
    expect(of([4 * DAY, 7 * DAY], [100, 130])).toEqual([[100, 130]]);
    const daily = Array.from({ length: 7 }, (_, day) => [day * DAY, day * DAY + 300] as const);
    expect(of(...daily)).toEqual(
      daily
        .slice(-3)
        .toReversed()
        .map((one) => [...one]),
    );
  });

  it("is nothing of a service's first day, of which nobody knows what is usual", () => {
    expect(leftOf(minutes(700, [500, 520]))).toEqual([]);
  });
});

/** Mean logarithm of a model's residuals of some minutes. */
function strangenessOf(model: Uint8Array<ArrayBuffer> | null, rows: TimedRows, [from, to]: readonly [number, number]): number {
  const trained = decodeServiceModel(model as Uint8Array<ArrayBuffer>) as ServiceModel;
  let sum = 0;
  for (let row = from; row < to; row++) sum += trained.measure(rows.values, row * rows.width, rows.times[row] as number).shape;
  return sum / (to - from);
}

describe("an automatic training", () => {
  it("finds an incident as strange the second time as if it had never been there", () => {
    const [broken, calm] = [minutes(3 * DAY, [2_000, 2_120]), minutes(3 * DAY)];
    const [taught, clean] = [trainService(jobOf(broken)), trainService(jobOf(calm))];
    expect(taught.rows).toBeLessThan(3 * DAY - 120);
    const again = minutes(3 * DAY, [2_000, 2_120]);
    const of = (model: Uint8Array<ArrayBuffer> | null) => strangenessOf(model, again, [2_010, 2_110]);
    expect(of(taught.model)).toBeGreaterThan(0.9 * of(clean.model));
  });

  it("keeps its vectors for the next one, which knows weeks that raw samples do not give any more", () => {
    const first = trainService(jobOf(minutes(7 * DAY)));
    const next = trainService(jobOf(minutes(7 * DAY, [0, 0], 21 * DAY), { rows: first.retained, model: undefined, excluded: [] }));
    const { times } = decodeTrainingRows(next.retained as Uint8Array, FACTORS.length) as TimedRows;
    const old = times.filter((timeMs) => timeMs < timeOf(14 * DAY)).length;
    expect(old).toBeGreaterThan(4_900);
    expect(times.length - old).toBeGreaterThan(4_900);
    expect(times.length).toBeLessThanOrEqual(10_080);
    expect(next.rows).toBe(times.length);
  });

  it("learns from what it was given where what is kept is damaged", () => {
    const damaged = trainService(jobOf(minutes(2 * DAY), { rows: Uint8Array.of(1, 2, 3), model: undefined, excluded: [] }));
    expect(damaged.model).toEqual(trainService(jobOf(minutes(2 * DAY))).model);
  });
});

/** A day in which hardly anything moved. */
function standstill(): TimedRows {
  const rows = minutes(DAY);
  return { ...rows, values: rows.values.map((value) => 50 + 0.1 * (value - 50)) };
}

describe("a new model", () => {
  const model = (rows: TimedRows) => ServiceModel.train(rows, seededRandom(1), symmetricEigen);
  const calm = minutes(DAY);

  it("takes the place of the one before where it finds calm vectors no stranger", () => {
    const [one, other] = [model(minutes(2 * DAY)), model(minutes(3 * DAY))];
    expect([isNoWorse(one, other, calm), isNoWorse(other, one, calm)]).toEqual([true, true]);
  });

  it("does not where calm minutes are strange to it, unless they were to the one before", () => {
    const still = model(standstill());
    expect(isNoWorse(still, model(minutes(2 * DAY)), calm)).toBe(false);
    expect(isNoWorse(still, still, calm)).toBe(true);
  });

  it("is asked about nothing where too few vectors are aside", () => {
    expect(isNoWorse(model(standstill()), model(minutes(2 * DAY)), minutes(200))).toBe(true);
  });
});
