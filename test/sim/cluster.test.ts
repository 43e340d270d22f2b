import { describe, expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { type EngineFrame, type EpisodeFrame, FRAME_CLOSING, FRAME_VERDICT } from "../../src/core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { decodeEpisode } from "../../src/domain/anomaly/episode-codec.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const encoder = new TextEncoder();

function batch(tick: number, services: number): Uint8Array {
  const records = Array.from({ length: services }, (_, s) => {
    const noise = Math.sin(tick * 12.9898 + s * 78.233) * 43758.5453;
    const value = 100 + (noise - Math.floor(noise)) * 10 + (tick === 40 + s || tick === 41 + s ? 90 : 0);
    return {
      service_id: `service-${s}`,
      metric_name: "latency_ms",
      value,
      timestamp: formatRfc3339(START + tick * 10_000),
      attributes: { zone: `z${s % 3}` },
    };
  });
  return encoder.encode(JSON.stringify(records));
}

function episodes(frames: readonly EngineFrame[]): EpisodeFrame[] {
  return frames.filter(({ kind }) => kind === FRAME_VERDICT || kind === FRAME_CLOSING).map(({ payload }) => decodeEpisode(payload));
}

function run(engines: number, ticks: number) {
  const clock = new VirtualClock(START);
  const disk = new MemoryDisk();
  const cluster = new Cluster({ engines, epoch: 1 }, { clock, disk });
  const frames: EngineFrame[] = [];
  const statuses: number[] = [];
  cluster.run((_, taken) => frames.push(...taken));
  for (let tick = 0; tick < ticks; tick++) {
    cluster.submit(tick % engines, BODY_JSON_BATCH, batch(tick, 20), ({ status }) => statuses.push(status));
    cluster.run((_, taken) => frames.push(...taken));
    clock.advance(10_000);
  }
  return { frames, statuses, disk, clock };
}

describe("a cluster of engines", () => {
  it("answers every body and finds the planted anomalies, alike for 1, 2 and 3 engines", () => {
    const summaries = [1, 2, 3].map((engines) => {
      const { frames, statuses } = run(engines, 90);
      expect(statuses).toEqual(Array.from({ length: 90 }, () => 200));
      return episodes(frames)
        .map((one) => `${one.transition} ${one.serviceId} ${one.direction} ${one.startedAtMs} ${one.z.toFixed(6)} ${one.episodeId}`)
        .sort();
    });
    expect(summaries[0]?.filter((line) => line.startsWith("open")).length).toBe(20);
    expect(summaries[1]).toEqual(summaries[0]);
    expect(summaries[2]).toEqual(summaries[0]);
  });

  it("answers slices of a cycle until it stops, and leaves the rest of it to the next start", async () => {
    const clock = new VirtualClock(START);
    const cluster = new Cluster({ engines: 1, epoch: 1, servicesMax: 100, watchdogIntervalMs: 60_000 }, { clock, disk: new MemoryDisk() });
    cluster.run(() => undefined);
    const answers: number[] = [];
    const ask = (id: number) => {
      const slice = { type: "watchdog", id, cycle: 1, detector: "pairs", nowMs: START, workMs: 5, sliceMs: 5, yields: true } as const;
      void cluster
        .link(0)
        .ask(slice)
        .then((answer) => answers.push(answer.id));
    };
    ask(1);
    cluster.run(() => undefined);
    ask(2);
    cluster.stop();
    cluster.run(() => undefined);
    await new Promise((resolve) => setImmediate(resolve));
    expect(cluster.isStopped).toBe(true);
    expect(answers).toEqual([1]);
  });
});
