// What roll-ups take of the coordinator's time, on a virtual clock.
import { describe, expect, it } from "vitest";
import { ROLLUP_CYCLE_SHARE, ROLLUP_SHARE_MAX, ROLLUP_SHARE_MIN } from "../../../../src/core/config/pace-limits.ts";
import { RollupPace } from "../../../../src/modules/series/rollups/rollup-retention.ts";

const INTERVAL_MS = 60_000;

function paceOf(blocks: number) {
  const clock = { ms: 1_000 };
  return { clock, pace: new RollupPace({ intervalMs: INTERVAL_MS, blocks, monotonicMs: () => clock.ms }) };
}

describe("the pace of roll-ups", () => {
  it("is slow where there is little to do", () => {
    expect(paceOf(10).pace.share).toBe(ROLLUP_SHARE_MIN);
  });

  it.each([0.5, 1, 3])("spreads many blocks of %s ms over the time until the next round, evenly", (blockMs) => {
    const { clock, pace } = paceOf(5_000);
    const shares: number[] = [];
    const endMs = clock.ms + ROLLUP_CYCLE_SHARE * INTERVAL_MS;
    for (let block = 0; block < 5_000; block++) {
      pace.aggregated();
      clock.ms += blockMs + pace.pauseAfterMs(blockMs);
      shares.push(pace.share);
    }
    const neededShare = (5_000 * blockMs) / (ROLLUP_CYCLE_SHARE * INTERVAL_MS);
    expect(Math.abs(clock.ms - endMs)).toBeLessThan(0.02 * INTERVAL_MS);
    for (const share of shares.slice(200, 4_500)) expect(Math.abs(share / neededShare - 1)).toBeLessThan(0.1);
  });

  it("hastens where time is lost, and leaves others half of it however late it is", () => {
    const { clock, pace } = paceOf(2_000);
    const before = pace.share;
    clock.ms += 30_000;
    expect(pace.share).toBeGreaterThan(2 * before);
    clock.ms += ROLLUP_CYCLE_SHARE * INTERVAL_MS;
    expect(pace.share).toBe(ROLLUP_SHARE_MAX);
    expect(pace.pauseAfterMs(4)).toBe(4);
  });
});
