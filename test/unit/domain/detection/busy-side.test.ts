// A departure that is over says nothing of what then departs to the other side.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE_MS = 60_000;
const START_MS = Date.UTC(2026, 0, 5);
const BEFORE = 1_700;
const ODD_AT = BEFORE - 10;

/** Minutes behind the beginning of a shift by so many standard deviations until it is reported; `odd` is what one value ten minutes before it is off by. */
function reportedAfter(seed: number, sds: number, odd: number): number | undefined {
  const { normal } = generator(seed);
  const detector = new PairDetector();
  let noise = 0;
  for (let i = 0; i < BEFORE + 60; i++) {
    noise = 0.6 * noise + 0.8 * normal();
    const off = i === ODD_AT ? odd : i >= BEFORE ? sds : 0;
    const { reports } = detector.observe(START_MS + i * MINUTE_MS, 100 + 2 * (noise + off));
    if (reports && i >= BEFORE) return i - BEFORE;
  }
  return undefined;
}

describe("a shift behind a single value far out", () => {
  it.each([1, 2, 3, 4])("to the other side is reported as without it: seed %i", (seed) => {
    const alone = reportedAfter(seed, 7, 0);
    expect(alone).toBeLessThan(12);
    expect(reportedAfter(seed, 7, -14)).toBeLessThan(12);
  });
});
