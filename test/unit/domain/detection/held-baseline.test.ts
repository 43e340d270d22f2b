// What people were told of and what goes on is no part of the long baseline, at any age of the series: its level stays where it was until the departure is over, and moves at
// once where the departure becomes the new level.
import { describe, expect, it } from "vitest";
import { PairDetector } from "../../../../src/domain/detection/pair/pair-detector.ts";
import { generator } from "../../../support/generator.ts";

const MINUTE = 60_000;
const START = Date.UTC(2026, 0, 5);
const USUAL = 100;

/** A detector that has seen so many minutes of noise, and what gives it further ones at a level. */
function rig(minutes: number, seed = 1) {
  const random = generator(seed);
  const detector = new PairDetector();
  let [minute, told] = [0, 0];
  const observe = (level: number) => {
    const verdict = detector.observe(START + minute++ * MINUTE, level + 2 * random.normal());
    if (verdict.reports) told++;
  };
  for (let i = 0; i < minutes; i++) observe(USUAL);
  return { detector, observe, told: () => told };
}

describe.each([
  [500, 160],
  [2 * 1440, 140],
  [8 * 1440, 130],
])("after %d minutes, a slow shift to %d", (minutes, shifted) => {
  it("that stays for an hour moves no level of the long baseline", () => {
    const { detector, observe, told } = rig(minutes);
    const before = { ...detector.baseline };
    for (let i = 0; i < 10; i++) observe(USUAL + ((i + 1) / 10) * (shifted - USUAL));
    for (let i = 0; i < 60; i++) observe(shifted);
    expect([told() > 0, detector.departure.isOpen]).toEqual([true, true]);
    // The values on the way, before anybody was told.
    expect(Math.abs(detector.baseline.mean - before.mean)).toBeLessThan((5 * (shifted - USUAL)) / Math.min(minutes, 6400));
    expect(detector.baseline.median).toBeCloseTo(before.median, 0);
    expect(detector.bounds.expected).toBeCloseTo(USUAL, -1);
    for (let i = 0; i < 10; i++) observe(USUAL);
    expect([detector.departure.isOpen, detector.accepted]).toEqual([false, undefined]);
  });

  it("that has become the new level is the long baseline's", () => {
    const { detector, observe } = rig(minutes);
    let accepted: { readonly from: number; readonly to: number } | undefined;
    for (let i = 0; i < 400 && accepted === undefined; i++) {
      observe(shifted);
      accepted = detector.accepted;
    }
    expect(accepted?.from).toBeCloseTo(USUAL, -1);
    expect(accepted?.to).toBeCloseTo(shifted, -1);
    expect(detector.baseline.mean).toBeCloseTo(shifted, -1);
    for (let i = 0; i < 120; i++) observe(shifted);
    expect([detector.isFiring, detector.bounds.expected]).toEqual([false, expect.closeTo(shifted, -1)]);
  });
});
