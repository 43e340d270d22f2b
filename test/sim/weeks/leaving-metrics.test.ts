// What the joint detector makes of incidents over days: one metric that leaves the others, the second time too; a week of incidents that hides none; a new normal.
import { describe, expect, it } from "vitest";
import { ServiceTrack } from "../../../src/domain/backtest/tracks/service-track.ts";
import { seededRandom } from "../../../src/domain/detection/multivariate/isolation-forest.ts";
import { ServiceDetector, serviceDetectorFloats } from "../../../src/domain/detection/multivariate/service-detector.ts";
import { encodeServiceModel } from "../../../src/domain/detection/multivariate/service-model-coding.ts";
import { symmetricEigen } from "../../../src/domain/detection/multivariate/symmetric-eigen.ts";
import { generator } from "../../support/generator.ts";

const COLUMNS = { names: ["a", "b"], aggregations: Uint8Array.from([1, 1]), starts: Uint16Array.from([0, 1, 2]) };

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 5);
const METRICS = 30;
const DRIVERS = 3;
const NOISE = 0.3;
/** Standard deviation of a metric: its driver's and its noise. */
const SD = Math.hypot(1, NOISE);
const TRAINED = 3_000;
const HOUR = 60;
const DAY = 24 * HOUR;

/** Minutes of metrics that follow one of three drivers each; `moved` says by how many standard deviations a metric is off. */
class Service {
  readonly #random = generator(7);
  readonly #drivers = new Float64Array(DRIVERS);
  readonly detector = new ServiceDetector(METRICS);
  #minute = 0;

  constructor() {
    const rows = Array.from({ length: TRAINED }, () => this.#next(() => 0));
    const times = Float64Array.from(rows, (_, row) => START_MS - (TRAINED - row) * MINUTE_MS);
    this.detector.train(
      { times, values: Float64Array.from(rows.flatMap((row) => [...row])), width: METRICS },
      seededRandom(1),
      symmetricEigen,
    );
  }

  /** Vectors in which an alert opened, of so many; and whether one is open at the end. */
  pass(minutes: number, moved: (metric: number) => number = () => 0): { readonly opened: number[]; readonly isFiring: boolean } {
    const opened: number[] = [];
    for (let at = 0; at < minutes; at++) {
      if (this.detector.observe(START_MS + this.#minute++ * MINUTE_MS, this.#next(moved)).firing.opened) opened.push(at);
    }
    return { opened, isFiring: this.detector.isFiring };
  }

  #next(moved: (metric: number) => number): Float64Array {
    const drivers = this.#drivers;
    for (let d = 0; d < DRIVERS; d++) drivers[d] = 0.95 * (drivers[d] as number) + Math.sqrt(1 - 0.95 ** 2) * this.#random.normal();
    return Float64Array.from(
      { length: METRICS },
      (_, j) => (drivers[j % DRIVERS] as number) + NOISE * this.#random.normal() + SD * moved(j),
    );
  }
}

const one = (metric: number) => (metric === 4 ? 4 : 0);
const quarter = (metric: number) => (metric < METRICS / 4 ? 3 : 0);

describe("a service of many metrics", () => {
  it("opens an alert when one metric leaves the others, within a few minutes, the second time too", () => {
    const service = new Service();
    expect(service.pass(DAY).opened).toEqual([]);
    for (let time = 0; time < 2; time++) {
      const { opened } = service.pass(20, one);
      expect(opened).toHaveLength(1);
      expect(opened[0]).toBeLessThan(10);
      expect(service.pass(DAY)).toEqual({ opened: [], isFiring: false });
    }
  });

  it("opens none for a metric that leaves them for two vectors by as much", () => {
    const service = new Service();
    service.pass(HOUR);
    expect(service.pass(2, (metric) => (metric === 4 ? 2.5 : 0)).opened).toEqual([]);
  });

  it("finds it behind a week with an incident a day", () => {
    const service = new Service();
    for (let day = 0; day < 7; day++) {
      expect(service.pass(30, (metric) => (metric % 4 === 1 ? 5 : 0)).opened).toHaveLength(1);
      expect(service.pass(DAY - 30).opened).toEqual([]);
    }
    expect(service.pass(20, one).opened).toHaveLength(1);
  });

  it("falls quiet within two days of a new normal, though no model has learned it, and opens no second alert of it", () => {
    const service = new Service();
    service.pass(HOUR);
    const { opened, isFiring } = service.pass(2 * DAY, quarter);
    expect(opened).toHaveLength(1);
    expect(isFiring).toBe(false);
    expect(service.pass(DAY, quarter).opened).toEqual([]);
  });

  it("of two metrics that hardly differ has no evidence without end in its history", () => {
    const random = generator(3);
    const rows = Array.from({ length: 400 }, (_, row) => [Math.sin(row), 2 * Math.sin(row) + (row > 20 ? 1e-3 * random.normal() : 0)]);
    const times = Float64Array.from(rows, (_, row) => START_MS - (400 - row) * MINUTE_MS);
    const detector = new ServiceDetector(2);
    detector.train({ times, values: Float64Array.from(rows.flat()), width: 2 }, seededRandom(1), symmetricEigen);
    const { evidence } = detector.observe(START_MS, Float64Array.of(Math.sin(400), 2 * Math.sin(400) + 2e-3));
    expect(evidence).toBeLessThan(100);
  });

  it("opens none of an event more where one is usual, and one of fifty", () => {
    const random = generator(5);
    const rows = Array.from({ length: 400 }, () => [1, 100 + 10 * random.normal()]);
    const opensAt = (errors: number) => {
      const detector = trained(rows);
      return Array.from(
        { length: 5 },
        (_, at) => detector.observe(START_MS + at * MINUTE_MS, Float64Array.of(errors, 100 + 10 * random.normal())).firing.opened,
      ).some(Boolean);
    };
    expect([2, 4].map(opensAt)).toEqual([false, false]);
    expect(opensAt(50)).toBe(true);
  });

  it("of which one stood still goes on with a history of its next model once both move", () => {
    const random = generator(9);
    const still = Array.from({ length: 400 }, () => [3.5, 100 + 10 * random.normal()]);
    const moving = () => {
      const shared = random.normal();
      return [3.5 + shared + 0.3 * random.normal(), 100 + 10 * shared];
    };
    const track = new ServiceTrack({ tenant: "t", environment: "", serviceId: "s", hash: "h" }, COLUMNS);
    const take = (rows: readonly (readonly number[])[]) => {
      const state = new Float64Array(serviceDetectorFloats(2));
      track.take(encodeServiceModel(trained(rows, state).model), state, { rows: rows.length, trainedMs: START_MS });
    };
    take(still);
    take(Array.from({ length: 400 }, moving));
    const evidence = Array.from({ length: 200 }, (_, at) => {
      const timeMs = START_MS + at * MINUTE_MS;
      track.observe(timeMs, timeMs, Float64Array.from(moving()));
      return track.newest?.verdict.evidence ?? 0;
    });
    expect(Math.max(...evidence)).toBeLessThan(10);
  });

  it("takes no other filling of a missing value for a jump when its model changes", () => {
    const random = generator(11);
    const rowsAbout = (level: number) => Array.from({ length: 400 }, () => [level + random.normal(), 100 + 10 * random.normal()]);
    const track = new ServiceTrack({ tenant: "t", environment: "", serviceId: "s", hash: "h" }, COLUMNS);
    const take = (rows: readonly (readonly number[])[]) => {
      const state = new Float64Array(serviceDetectorFloats(2));
      track.take(encodeServiceModel(trained(rows, state).model), state, { rows: rows.length, trainedMs: START_MS });
    };
    const opened: boolean[] = [];
    const pass = (from: number) => {
      for (let at = from; at < from + 10; at++) {
        const frame = track.observe(
          START_MS + at * MINUTE_MS,
          START_MS + at * MINUTE_MS,
          Float64Array.of(Number.NaN, 100 + 10 * random.normal()),
        );
        opened.push(frame?.transition === "open");
      }
    };
    take(rowsAbout(40));
    pass(0);
    take(rowsAbout(80));
    pass(10);
    expect(opened).not.toContain(true);
  });
});

function trained(rows: readonly (readonly number[])[], state = new Float64Array(serviceDetectorFloats(2))): ServiceDetector {
  const times = Float64Array.from(rows, (_, row) => START_MS - (rows.length - row) * MINUTE_MS);
  const detector = new ServiceDetector(2, state);
  detector.train({ times, values: Float64Array.from(rows.flat()), width: 2 }, seededRandom(1), symmetricEigen);
  return detector;
}
