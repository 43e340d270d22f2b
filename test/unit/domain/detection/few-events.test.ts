// What a service's metrics count is judged as counts: one failed span in five hundred opens no alert of the service, several at once do.
import { describe, expect, it } from "vitest";
import { areFewEvents } from "../../../../src/domain/detection/multivariate/few-events.ts";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { ServiceDetector, serviceDetectorFloats } from "../../../../src/domain/detection/multivariate/service-detector.ts";
import { countsOfColumn } from "../../../../src/domain/detection/multivariate/service-vector.ts";
import { symmetricEigen } from "../../../../src/domain/detection/multivariate/symmetric-eigen.ts";
import { generator } from "../../../support/generator.ts";

const COLUMNS = { names: ["span.errors", "span.requests"], aggregations: Uint8Array.from([1, 1]), starts: Uint16Array.from([0, 1, 2]) };
const MINUTE_MS = 60_000;
/** Vectors before the first failure. */
const TRAINED = 300;

describe("counts of a column", () => {
  it.each([
    ["span.errors", 1, 3, 3],
    ["requests_total", 0, 3, 1],
    ["errors_ratio", 1, 1, 0],
    ["latency_ms", 1, 1, 0],
  ])("%s, aggregation %d, of %d streams: %d", (name, aggregation, streams, counts) => {
    const columns = { names: [name], aggregations: Uint8Array.from([aggregation]), starts: Uint16Array.from([0, streams]) };
    expect(countsOfColumn(columns, 0)).toBe(counts);
  });
});

describe("few events", () => {
  it.each([
    ["one where none came so far", [1, 0, 0], [0, 0, 0], 1, true],
    ["one of three operations", [1 / 3, 0, 0], [0, 0, 0], 3, true],
    ["one, of a metric that may be a share", [1, 0, 0], [0, 0, 0], 0, false],
    ["two at once, which chance brings too", [2, 0, 0], [0, 0, 0], 1, true],
    ["three at once", [3, 0, 0], [0, 0, 0], 1, false],
    ["one in each of three", [1, 1, 1], [0, 0, 0], 1, false],
    ["fourteen where five are usual", [14, 5, 4], [5, 5, 5], 1, true],
    ["none where seven are usual", [0, 7, 6], [7, 7, 7], 1, true],
    ["none for three where seven are usual", [0, 0, 0], [7, 7, 7], 1, false],
    ["one more, where the others are missing", [2, 1.03, 1.03], [1.03, 1.03, 1.03], 1, true],
    ["a mean that is none of counts", [2.5, 1, 1], [1, 1, 1], 1, false],
    ["thousands", [1100, 1000, 1000], [1000, 1000, 1000], 1, false],
  ])("%s: %o where %o fit, each of %d counts", (_, values, usual, counts, isFew) => {
    expect(areFewEvents(values, usual, counts)).toBe(isFew);
  });
});

function counted(seed: number) {
  const { uniform } = generator(seed);
  const poisson = (mean: number): number => {
    let [count, product] = [0, uniform()];
    for (; product > Math.exp(-mean); product *= uniform()) count++;
    return count;
  };
  return (share: number): Float64Array => {
    const requests = poisson(5);
    let errors = 0;
    for (let n = 0; n < requests; n++) if (uniform() < share) errors++;
    return Float64Array.from([errors, requests]);
  };
}

describe.each([1, 2, 3])("a service that fails once in five hundred, seed %d", (seed) => {
  const vector = counted(seed);
  const rows = Array.from({ length: TRAINED }, () => vector(0));
  const detector = new ServiceDetector(2, new Float64Array(serviceDetectorFloats(2)), null, COLUMNS);
  const times = Float64Array.from(rows, (_, i) => i * MINUTE_MS);
  detector.train({ times, values: Float64Array.from(rows.flatMap((row) => [...row])), width: 2 }, seededRandom(seed), symmetricEigen);
  let minute = TRAINED;
  const opens = (minutes: number, next: () => Float64Array): boolean => {
    const untilMinute = minute + minutes;
    let opened = false;
    for (; minute < untilMinute; minute++) opened ||= detector.observe(minute * MINUTE_MS, next()).firing.opened;
    return opened;
  };

  it("opens nothing in two days", () => {
    expect(opens(2880, () => vector(1 / 500))).toBe(false);
  });

  it("opens when many come and all fail", () => {
    expect(opens(4, () => Float64Array.from([40, 40]))).toBe(true);
  });
});
