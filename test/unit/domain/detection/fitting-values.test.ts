// What is said to fit the other metrics of a service is told by them, never by the value itself.
import { describe, expect, it } from "vitest";
import { seededRandom } from "../../../../src/domain/detection/multivariate/isolation-forest.ts";
import { PrincipalComponents } from "../../../../src/domain/detection/multivariate/principal-components.ts";
import { symmetricEigen } from "../../../../src/domain/detection/multivariate/symmetric-eigen.ts";

const ROWS = 600;

function learned(width: number, rowOf: (noise: () => number) => readonly number[]): PrincipalComponents {
  const random = seededRandom(11);
  const noise = () => random() + random() + random() - 1.5;
  const values = Float64Array.from(Array.from({ length: ROWS }, () => rowOf(noise)).flat());
  return PrincipalComponents.learn({ values, width }, symmetricEigen);
}

describe("the value that fits the others", () => {
  it("is the usual one of two metrics that know nothing of each other, whatever was seen", () => {
    const components = learned(2, (noise) => [50 + 2 * noise(), 25 + noise()]);
    for (const latency of [50, 130, 5_000]) {
      const row = Float64Array.of(latency, 25);
      expect(components.fitting(row, 0)).toBeCloseTo(50, 0);
    }
  });

  it("follows a metric that tells it", () => {
    const components = learned(3, (noise) => {
      const load = noise();
      return [100 + 20 * load + 0.2 * noise(), 40 + 10 * load + 0.1 * noise(), 7 + noise()];
    });
    const row = Float64Array.of(900, 50, 7);
    expect(Math.abs(components.fitting(row, 0) - 120)).toBeLessThan(3);
    expect(Math.abs(components.fitting(Float64Array.of(120, 50, 7), 2) - 7)).toBeLessThan(0.5);
  });
});
