// The joint detector of a service: eigenvectors, what breaks a relation, models that are due.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { EVIDENCE_BAR, ServiceDetector } from "../../../../src/domain/detection/multivariate/service-detector.ts";
import { symmetricEigen } from "../../../../src/domain/detection/multivariate/symmetric-eigen.ts";
import { jacobiEigen } from "../../../support/jacobi-eigen.ts";

const START = Date.UTC(2026, 0, 5);
const MINUTE_MS = 60_000;

/** Puts a metric some twelve standard deviations of its noise off what the others say. */
const OFF_THE_RELATION = 0.17;

/** Load drives four metrics, each with its own noise. */
function service(seed: number): () => Float64Array {
  const random = seededRandom(seed);
  let load = 0;
  return () => {
    load = 0.95 * load + (random() - 0.5);
    return Float64Array.from([1, 2, -1, 0.5], (factor) => factor * load + 0.05 * (random() - 0.5));
  };
}

/** Times of rows that end where the test begins. */
function minutes(rows: number): Float64Array {
  return Float64Array.from({ length: rows }, (_, i) => START - (rows - i) * MINUTE_MS);
}

function trained(rows = 2000): { detector: ServiceDetector; next: () => Float64Array } {
  const next = service(1);
  const values = new Float64Array(rows * 4);
  for (let i = 0; i < rows; i++) values.set(next(), 4 * i);
  const detector = new ServiceDetector(4);
  detector.train({ times: minutes(rows), values, width: 4 }, seededRandom(1), symmetricEigen);
  return { detector, next };
}

describe("eigenvectors of a symmetric matrix", () => {
  it("of a known one", () => {
    const { values, vectors } = symmetricEigen(Float64Array.from([2, 1, 1, 2]), 2);
    expect(values[0]).toBeCloseTo(3, 12);
    expect(values[1]).toBeCloseTo(1, 12);
    expect(Math.abs(vectors[0] as number)).toBeCloseTo(Math.SQRT1_2, 12);
  });

  it("give the matrix back", () => {
    const random = seededRandom(9);
    const size = 12;
    const matrix = new Float64Array(size * size);
    for (let i = 0; i < size; i++) for (let j = i; j < size; j++) matrix[i * size + j] = matrix[j * size + i] = random() - 0.5;
    const { values, vectors } = symmetricEigen(matrix, size);
    for (let i = 0; i < size; i++) {
      for (let j = 0; j < size; j++) {
        let sum = 0;
        for (let k = 0; k < size; k++) sum += (values[k] as number) * (vectors[k * size + i] as number) * (vectors[k * size + j] as number);
        expect(sum).toBeCloseTo(matrix[i * size + j] as number, 10);
      }
    }
  });

  it("are those of the slow twin, each up to its sign", () => {
    const random = seededRandom(4);
    for (const size of [1, 2, 7, 30]) {
      const matrix = new Float64Array(size * size);
      for (let i = 0; i < size; i++) for (let j = i; j < size; j++) matrix[i * size + j] = matrix[j * size + i] = random() - 0.5;
      const [fast, slow] = [symmetricEigen(matrix, size), jacobiEigen(matrix, size)];
      for (let k = 0; k < size; k++) {
        expect(fast.values[k]).toBeCloseTo(slow.values[k] as number, 12);
        const row = (vectors: Float64Array) => vectors.subarray(k * size, (k + 1) * size);
        const along = row(fast.vectors).reduce((sum, value, j) => sum + value * (row(slow.vectors)[j] as number), 0);
        expect(Math.abs(along)).toBeCloseTo(1, 12);
      }
    }
  });

  it("are the axes where a number is not finite", () => {
    const { values, vectors } = symmetricEigen(Float64Array.of(Number.NaN, 1, 1, 3), 2);
    expect([...values, ...vectors]).toEqual([Number.NaN, 3, 1, 0, 0, 1]);
  });
});

describe("service detector", () => {
  it("says the same with components of the slow twin", () => {
    const rows = 2_000;
    const next = service(3);
    const values = new Float64Array(rows * 4);
    for (let i = 0; i < rows; i++) values.set(next(), 4 * i);
    const [fast, slow] = [symmetricEigen, jacobiEigen].map((eigen) => {
      const detector = new ServiceDetector(4);
      detector.train({ times: minutes(rows), values, width: 4 }, seededRandom(1), eigen);
      return detector;
    }) as [ServiceDetector, ServiceDetector];
    for (let i = 0; i < 500; i++) {
      const row = next();
      if (i % 50 > 45) row[i % 4] = (row[i % 4] as number) + 20;
      const { score, firing } = slow.observe(START + i * MINUTE_MS, row);
      const verdict = fast.observe(START + i * MINUTE_MS, row);
      expect(verdict.score).toBeCloseTo(score, 6);
      expect(verdict.firing.opened).toBe(firing.opened);
    }
  });

  it("says nothing without a model", () => {
    const detector = new ServiceDetector(4);
    expect(detector.observe(START, Float64Array.of(1, 1, 1, 1))).toMatchObject({ score: 0, evidence: 0 });
    expect(detector.hasModel).toBe(false);
  });

  it("is quiet on a service as it was trained", () => {
    const { detector, next } = trained();
    let opened = 0;
    let high = 0;
    for (let i = 0; i < 2880; i++) {
      const { firing, score } = detector.observe(START + i * MINUTE_MS, next());
      opened += firing.opened ? 1 : 0;
      high += score >= 0.7 ? 1 : 0;
    }
    expect(opened).toBeLessThanOrEqual(1);
    expect(high).toBeLessThan(2880 * 0.02);
  });

  it("finds a broken relation though every metric is in its range, and names the metric", () => {
    const { detector, next } = trained();
    for (let i = 0; i < 200; i++) detector.observe(START + i * MINUTE_MS, next());
    const broken = next();
    broken[2] = -(broken[2] as number) + 0.5;
    const { score, firing } = detector.observe(START + 200 * MINUTE_MS, broken);
    expect(score).toBeGreaterThan(0.7);
    expect(firing.opened).toBe(true);
    expect(detector.isFiring).toBe(true);
    const [first] = detector.contributions(["a", "b", "c", "d"]);
    expect(first?.feature).toBe("c");
    expect(first?.share).toBeGreaterThan(0.4);
  });

  it("opens at the second vector near the bar, and not at one alone", () => {
    const gates = (...broken: readonly boolean[]) => {
      const { detector, next } = trained();
      for (let i = 0; i < 200; i++) detector.observe(START + i * MINUTE_MS, next());
      return broken.map((isBroken, i) => {
        const vector = next();
        if (isBroken) vector[2] = (vector[2] as number) + OFF_THE_RELATION;
        const { evidence, firing } = detector.observe(START + (200 + i) * MINUTE_MS, vector);
        return { isOver: evidence >= EVIDENCE_BAR, isSevere: evidence >= 2 * EVIDENCE_BAR, opened: firing.opened, by: firing.suppressedBy };
      });
    };
    const [alone] = gates(true, false, false);
    expect(alone).toEqual({ isOver: true, isSevere: false, opened: false, by: "not_persistent" });
    expect(gates(true, false, false, false).some(({ opened }) => opened)).toBe(false);
    expect(gates(true, true).map(({ opened }) => opened)).toEqual([false, true]);
  });

  it("equal history, seed and vectors give equal scores", () => {
    const score = (): number => {
      const { detector, next } = trained(500);
      return detector.observe(START, next()).score;
    };
    expect(score()).toBe(score());
  });

  it("metrics that never change do no harm", () => {
    const values = new Float64Array(200 * 2).map((_, i) => (i % 2 === 0 ? 7 : 0));
    const detector = new ServiceDetector(2);
    detector.train({ times: minutes(200), values, width: 2 }, seededRandom(1), symmetricEigen);
    expect(detector.observe(START, Float64Array.of(7, 0)).evidence).toBe(0);
    const moved = detector.observe(START + MINUTE_MS, Float64Array.of(7, 1));
    expect(Number.isFinite(moved.score)).toBe(true);
    expect(moved.firing.opened).toBe(true);
  });
});
