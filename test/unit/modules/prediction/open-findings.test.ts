// Values of an open finding say nothing of what is usual: forecasts and slow trends are made of what was before it.
import { describe, expect, it } from "vitest";
import type { EngineFrame } from "../../../../src/core/protocol/coordinator-frame.ts";
import { DAY_MS, episode, Rig, START_MS, stream } from "../../../support/coordinator-rig.ts";

const MINUTE_MS = 60_000;
const MINUTES = 600;
const STRANGE = 40;
const SINCE_MS = START_MS - STRANGE * MINUTE_MS;

/** Ten hours of minutes of `usual`, and then five times as much. */
async function rigOf(usual: (minute: number) => number) {
  const rig = await Rig.open();
  const times = Array.from({ length: MINUTES }, (_, i) => START_MS - (MINUTES - i) * MINUTE_MS);
  const values = times.map((timeMs, i) => usual(i) * (timeMs >= SINCE_MS ? 5 : 1));
  rig.engines[0]?.streams.push(stream({}, { times, values }));
  return rig;
}

/** Declares findings, a moment before anybody asks. */
async function declare(rig: Rig, ...frames: readonly EngineFrame[]) {
  for (const frame of frames) await rig.take(frame);
  rig.nowMs += 1;
}

const found = { startedAtMs: SINCE_MS, detector: "adaptive" };
const forecast = async (rig: Rig) =>
  (await rig.ask("forecast", { service_id: "checkout", metric: "latency_ms", horizon_hours: "1" })).body as {
    forecast: readonly { predicted_value: number; timestamp: string }[];
    left_out_since: string | null;
  };

describe("a forecast", () => {
  it("is made of what was before an open finding, and says so", async () => {
    const rig = await rigOf((minute) => 100 + (minute % 3));
    await declare(rig, episode(found));
    const { forecast: points, left_out_since } = await forecast(rig);
    expect(left_out_since).toBe(new Date(SINCE_MS).toISOString());
    expect(Date.parse(points[0]?.timestamp as string)).toBeGreaterThanOrEqual(START_MS);
    for (const { predicted_value } of points) expect(predicted_value).toBeCloseTo(101, -1);
  });

  it.each([
    ["ended", [episode(found), episode({ ...found, transition: "close" })]],
    ["is of saturation", [episode({ ...found, detector: "saturation" })]],
    ["is of another metric", [episode({ ...found, metricName: "requests" })]],
    ["has been open for two days", [episode({ ...found, startedAtMs: START_MS - 2 * DAY_MS })]],
  ])("takes all where the finding %s", async (_, frames) => {
    const rig = await rigOf((minute) => 100 + (minute % 3));
    await declare(rig, ...frames);
    expect((await forecast(rig)).left_out_since).toBeNull();
  });
});

describe("a slow trend", () => {
  it("stands where its values are, whatever the newest value of an open finding is", async () => {
    const rig = await rigOf((minute) => 100 + minute / 10 + (minute % 3));
    await declare(rig, episode(found));
    const { trends } = (await rig.ask("degradation", {})).body as { trends: readonly Record<string, number>[] };
    expect(trends).toHaveLength(1);
    expect(trends[0]?.current_value).toBeCloseTo(161, -1);
    expect(trends[0]?.trend_slope_per_hour).toBeCloseTo(6, 0);
    const { threshold, current_value, trend_slope_per_hour, estimated_breach_minutes } = trends[0] as Record<string, number>;
    const minutes = Math.max(0, (((threshold as number) - (current_value as number)) / (trend_slope_per_hour as number)) * 60);
    expect(estimated_breach_minutes).toBeCloseTo(minutes, -1);
  });
});
