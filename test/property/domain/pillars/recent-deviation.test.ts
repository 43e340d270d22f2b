// The kernel's recent deviation against its slow twin, over rings of all lengths, intervals and shapes.
import { describe, expect, it } from "vitest";
import { WINDOW_MAX } from "../../../../src/core/layout/stream-record.ts";
import { generator } from "../../../support/generator.ts";
import { recentDeviation } from "../../../support/recent-deviation.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START_MS = 1_790_000_000_000;
const MINUTE_MS = 60_000;

describe("recent deviation", () => {
  it.each(Array.from({ length: 12 }, (_, i) => i + 1))("of seed %i is that of the twin", (seed) => {
    const { uniform } = generator(seed);
    const rig = new ShardRig({ window: 120 });
    const times = new Float64Array(WINDOW_MAX);
    const values = new Float64Array(WINDOW_MAX);
    let defined = 0;
    for (let stream = 0; stream < 60; stream++) {
      const slot = rig.stream();
      const intervalMs = [1_000, 10_000, 15_000, 60_000, 300_000][Math.floor(uniform() * 5)] as number;
      const levels = [1, 2, 5, 1e9][Math.floor(uniform() * 4)] as number;
      const count = Math.floor(uniform() * 180);
      let timeMs = START_MS;
      for (let i = 0; i < count; i++) {
        timeMs += Math.max(1, Math.round(intervalMs * (0.5 + uniform())));
        rig.apply(slot, timeMs, Math.floor(uniform() * levels) + (i > 0.8 * count ? 3 : 0));
      }
      const held = rig.shard.records.readRing(slot, times, values);
      for (const ago of [0, 1, 15, 60]) {
        const sinceMs = timeMs - ago * MINUTE_MS;
        const twin = recentDeviation(times.slice(0, held), values.slice(0, held), sinceMs);
        const kernel = rig.shard.recentDeviation(slot, sinceMs);
        if (twin === undefined) expect(kernel).toBeNaN();
        else expect(kernel).toBeCloseTo(twin, 9);
        if (twin !== undefined) defined++;
      }
    }
    expect(defined).toBeGreaterThan(30);
  });

  it("is that of the shift, in standard deviations of the time before", () => {
    const rig = new ShardRig({ window: 120 });
    const [still, shifted] = [rig.stream(), rig.stream()];
    for (let i = 0; i < 120; i++) {
      const wobble = (i % 5) - 2;
      const timeMs = START_MS + i * MINUTE_MS;
      rig.apply(still, timeMs, 100 + wobble);
      rig.apply(shifted, timeMs, i < 110 ? 100 + wobble : 107 + wobble);
    }
    const sinceMs = START_MS + 110 * MINUTE_MS;
    expect(rig.shard.recentDeviation(still, sinceMs)).toBe(0);
    // A MAD of 1 is 1.4826 standard deviations of a normal.
    expect(rig.shard.recentDeviation(shifted, sinceMs)).toBeCloseTo(7 / 1.4826, 3);
    expect(rig.shard.recentDeviation(shifted, sinceMs + 11 * MINUTE_MS)).toBeNaN();
  });
});
