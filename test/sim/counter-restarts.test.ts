// Restarts of counters never page: a new start below, at or above what was, with or without a start time, one reading of 0. Through the whole server on a virtual clock.
import { expect, it } from "vitest";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { generator } from "../support/generator.ts";
import { MINUTE_MS, WatchedServer } from "../support/watched-server.ts";

const START = Date.UTC(2026, 0, 5, 6);
const MINUTES = 460;
const RESTARTS: readonly number[] = [400, 430];
const A_MINUTE = 10_000;

/** What a sender says when it begins anew: its value, and whether with a new start time; where it goes on from a glitch, the value before it holds. */
interface Restart {
  readonly hasStart: boolean;
  readonly isGlitch?: boolean;
  readonly value: (before: number) => number;
}

const CASES: Readonly<Record<string, Restart>> = {
  below: { hasStart: true, value: () => 0.3 * A_MINUTE },
  at: { hasStart: true, value: (before) => before },
  above: { hasStart: true, value: (before) => before + A_MINUTE },
  thrice: { hasStart: true, value: () => 3 * A_MINUTE },
  "below-unknown": { hasStart: false, value: () => 0.3 * A_MINUTE },
  "thrice-unknown": { hasStart: false, value: () => 3 * A_MINUTE },
  "half-unknown": { hasStart: false, value: (before) => Math.round(before / 2) },
  "zero-once": { hasStart: false, isGlitch: true, value: () => 0 },
};

it("counters that restart are no news, and a fault behind their restart is", async () => {
  const watched = await WatchedServer.open(START, 1);
  const { normal } = generator(11);
  const senders = Object.entries(CASES).map(([name, restart]) => ({ name, restart, total: 5e6, startMs: START - 60 * MINUTE_MS }));
  const dataPoint = (startMs: number, value: number, hasStart: boolean) => ({
    ...(hasStart && { startTimeUnixNano: `${startMs}000000` }),
    timeUnixNano: `${watched.nowMs}000000`,
    asInt: String(value),
  });
  const point = (sender: (typeof senders)[number], minute: number) => {
    const { restart } = sender;
    const isFaulty = sender.name === "thrice" && minute >= MINUTES - 10;
    sender.total += Math.round((isFaulty ? 4 : 1) * A_MINUTE * (1 + 0.05 * normal()));
    if (!RESTARTS.includes(minute)) return dataPoint(sender.startMs, sender.total, restart.hasStart);
    if (restart.isGlitch === true) return dataPoint(sender.startMs, restart.value(sender.total), restart.hasStart);
    sender.total = restart.value(sender.total);
    sender.startMs = watched.nowMs - 20_000;
    return dataPoint(sender.startMs, sender.total, restart.hasStart);
  };
  for (let minute = 0; minute < MINUTES; minute++) {
    const resourceMetrics = senders.map((sender) => ({
      resource: { attributes: [{ key: "service.name", value: { stringValue: sender.name } }] },
      scopeMetrics: [
        {
          metrics: [{ name: "requests", sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [point(sender, minute)] } }],
        },
      ],
    }));
    watched.server.submit(0, otlpBodyKind("metrics", "json"), Buffer.from(JSON.stringify({ resourceMetrics })), "", () => undefined);
    await watched.server.rest();
    await watched.minute();
  }
  const paged = (await watched.anomalies()).filter(({ outcome }) => outcome === "paged");
  expect(paged.map(({ service_id, started_at }) => [service_id, Date.parse(started_at) >= START + (MINUTES - 10) * MINUTE_MS])).toEqual([
    ["thrice", true],
  ]);
});
