// When an alert opens, goes on, ends, and does not open again: each limit from both sides.
import { describe, expect, it } from "vitest";
import { FIRING_LENGTH, FiringState } from "../../../../src/domain/detection/gates/firing-state.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const START = Date.UTC(2026, 0, 1);

function gate(words = new Float64Array(FIRING_LENGTH)): FiringState {
  return new FiringState(words);
}

/** Steps a minute apart from `start` on; the flags of firing. */
function walk(one: FiringState, evidence: readonly number[], start = START): boolean[] {
  return evidence.map((value, i) => one.step(start + i * MINUTE_MS, value, MINUTE_MS, false).isFiring);
}

describe("opening", () => {
  it("at 1 and above, not below", () => {
    expect(gate().step(START, 0.999, MINUTE_MS, false)).toMatchObject({ isFiring: false, opened: false, suppressedBy: null });
    expect(gate().step(START, 1, MINUTE_MS, false)).toMatchObject({ isFiring: true, opened: true });
  });

  it("not while the baseline is learning", () => {
    expect(gate().step(START, 5, MINUTE_MS, true)).toMatchObject({ isFiring: false, suppressedBy: "learning" });
  });

  it("says once that it opened, and when", () => {
    const one = gate();
    expect(one.step(START, 2, MINUTE_MS, false).opened).toBe(true);
    expect(one.step(START + MINUTE_MS, 2, MINUTE_MS, false).opened).toBe(false);
    expect(one.openedMs).toBe(START);
  });
});

describe("end", () => {
  it("after three quiet observations in a row", () => {
    expect(walk(gate(), [1, 0.9, 0.9, 1, 0.9, 0.9, 0.9, 0])).toEqual([true, true, true, true, true, true, false, false]);
  });
});

describe("same incident", () => {
  const again = (afterMs: number, intervalMs: number) => {
    const one = gate();
    walk(one, [1, 0, 0, 0]);
    return one.step(START + afterMs, 10, intervalMs, false);
  };

  it("within 60 usual intervals of the last excursion nothing opens", () => {
    expect(again(60 * MINUTE_MS, MINUTE_MS)).toMatchObject({ opened: false, suppressedBy: "same_incident" });
    expect(again(60 * MINUTE_MS + 1, MINUTE_MS)).toMatchObject({ opened: true });
  });

  it("but no longer than five hours", () => {
    expect(again(5 * HOUR_MS, HOUR_MS)).toMatchObject({ suppressedBy: "same_incident" });
    expect(again(5 * HOUR_MS + 1, HOUR_MS)).toMatchObject({ opened: true });
  });

  it("every excursion begins the rest again", () => {
    const one = gate();
    walk(one, [1, 0, 0, 0]);
    expect(one.step(START + 50 * MINUTE_MS, 10, MINUTE_MS, false).suppressedBy).toBe("same_incident");
    expect(one.step(START + 100 * MINUTE_MS, 10, MINUTE_MS, false).suppressedBy).toBe("same_incident");
  });
});

describe("flapping", () => {
  it("each alert raises the bar by half a power of two, and two days take most of it back", () => {
    const one = gate();
    walk(one, [1, 0, 0, 0]);
    expect(one.bar).toBeCloseTo(Math.SQRT2, 2);
    const later = START + 10 * HOUR_MS;
    const bar = 2 ** (0.5 * Math.exp(-10 / 48));
    expect(one.step(later, bar - 0.01, MINUTE_MS, false)).toMatchObject({ opened: false, suppressedBy: "flapping" });
    expect(one.step(later + MINUTE_MS, bar + 0.01, MINUTE_MS, false)).toMatchObject({ opened: true });
    one.step(later + 480 * HOUR_MS, 0, MINUTE_MS, false);
    expect(one.bar).toBeLessThan(1.001);
  });

  it("a pair that pages every six hours pages less and less", () => {
    const one = gate();
    let opened = 0;
    for (let i = 0; i < 40; i++) {
      for (const [minute, evidence] of [1.5, 0, 0, 0].entries())
        opened += one.step(START + i * 6 * HOUR_MS + minute * MINUTE_MS, evidence, MINUTE_MS, false).opened ? 1 : 0;
    }
    expect(opened).toBeGreaterThan(3);
    expect(opened).toBeLessThan(20);
  });
});

it("goes on from its stored state", () => {
  const words = new Float64Array(FIRING_LENGTH);
  walk(gate(words), [1, 0]);
  const copy = gate(words.slice());
  expect(copy.isFiring).toBe(true);
  expect(walk(copy, [0, 0], START + 2 * MINUTE_MS)).toEqual([true, false]);
});
