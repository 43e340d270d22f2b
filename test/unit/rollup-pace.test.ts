// What roll-ups take of the coordinator's time, on a virtual clock.
import { describe, expect, it } from "vitest";
import { RollupPace } from "../../src/actors/coordinator/retention/rollup-pace.ts";
import { ROLLUP_ROUND_SHARE, ROLLUP_SHARE_MIN } from "../../src/core/config/pace-limits.ts";

const INTERVAL_MS = 60_000;

function paceOf(blocks: number) {
  const clock = { ms: 1_000 };
  return { clock, pace: new RollupPace({ intervalMs: INTERVAL_MS, blocks, monotonicMs: () => clock.ms }) };
}

describe("the pace of roll-ups", () => {
  it("is slow where there is little to do", () => {
    expect(paceOf(10).pace.share).toBe(ROLLUP_SHARE_MIN);
  });

  it("spreads many blocks over the time until the next round, and none of them has all of it", () => {
    const { clock, pace } = paceOf(10_000);
    const shares: number[] = [];
    const endMs = clock.ms + ROLLUP_ROUND_SHARE * INTERVAL_MS;
    for (let block = 0; block < 10_000; block++) {
      shares.push(pace.share);
      clock.ms += 1.5 / pace.share;
      pace.folded();
    }
    expect(clock.ms).toBeCloseTo(endMs, 0);
    expect(Math.max(...shares.slice(0, 9_000)) - Math.min(...shares.slice(0, 9_000))).toBeLessThan(0.01);
  });

  it("hastens where blocks take longer, and takes all of the time once it is late", () => {
    const { clock, pace } = paceOf(2_000);
    const before = pace.share;
    clock.ms += 30_000;
    expect(pace.share).toBeGreaterThan(2 * before);
    clock.ms += ROLLUP_ROUND_SHARE * INTERVAL_MS;
    expect(pace.share).toBe(1);
  });
});
