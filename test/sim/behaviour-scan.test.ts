// How engines tell of their services' behaviour: whole engines over real kernels, asked in slices while bodies go on.
import { describe, expect, it } from "vitest";
import { STREAMS_PER_SLICE } from "../../src/core/config/limits.ts";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import type { BehaviourAnswer, BehaviourQuery } from "../../src/core/protocol/engine-control.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { Cluster, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";

const START = Date.UTC(2026, 0, 5, 12);
const MINUTE_MS = 60_000;
const TICKS = 40;
const SERVICES = 150;
const METRICS = ["requests_total", "service.errors", "latency.p95", "cpu_percent", "temperature", "up"];
const encoder = new TextEncoder();

/** Latency of service 7 is up over the last ten minutes. */
function valueAt(service: number, metric: number, tick: number): number {
  const wobble = ((tick * 7 + service) % 5) - 2;
  return 100 + wobble + (service === 7 && metric === 2 && tick >= TICKS - 10 ? 6 : 0);
}

function filled(engines: number): { cluster: Cluster; clock: VirtualClock } {
  const clock = new VirtualClock(START);
  const cluster = new Cluster({ engines, epoch: 1 }, { clock, disk: new MemoryDisk() });
  cluster.run(() => undefined);
  for (let tick = 0; tick < TICKS; tick++) {
    const records = Array.from({ length: SERVICES * METRICS.length }, (_, i) => {
      const [service, metric] = [Math.floor(i / METRICS.length), i % METRICS.length];
      const timestamp = formatRfc3339(START + tick * MINUTE_MS);
      return { service_id: `service-${service}`, metric_name: METRICS[metric], value: valueAt(service, metric, tick), timestamp };
    });
    cluster.submit(tick % engines, BODY_JSON_BATCH, encoder.encode(JSON.stringify(records)), () => undefined);
    cluster.run(() => undefined);
    clock.advance(MINUTE_MS);
  }
  return { cluster, clock };
}

async function scan(cluster: Cluster, engines: number, number: number, sinceMs: number) {
  const found = new Map<string, number[]>();
  let slices = 0;
  let streamsMost = 0;
  for (let engine = 0; engine < engines; engine++) {
    for (let done = false; !done; slices++) {
      const question: Omit<BehaviourQuery, "id"> = { type: "behaviour", scan: number, sinceMs };
      const asked = cluster.ask(engine, question);
      cluster.run(() => undefined);
      const answer = (await asked) as BehaviourAnswer;
      answer.services.forEach((key, i) => {
        expect(found.has(key)).toBe(false);
        found.set(key, [...answer.deviations.subarray(4 * i, 4 * i + 4)]);
      });
      streamsMost = Math.max(streamsMost, answer.streams);
      done = answer.done;
    }
  }
  return { found, slices, streamsMost };
}

describe("a walk over services", () => {
  it.each([1, 3])("comes to each service once, in slices, with %i engines", async (engines) => {
    const { cluster, clock } = filled(engines);
    const first = await scan(cluster, engines, 1, clock.wallMs() - 15 * MINUTE_MS);
    expect([...first.found.keys()].sort()).toEqual(
      Array.from({ length: SERVICES }, (_, service) => JSON.stringify(["default", `service-${service}`])).sort(),
    );
    expect(first.slices).toBeGreaterThan((SERVICES * METRICS.length) / STREAMS_PER_SLICE);
    expect(first.streamsMost).toBeLessThanOrEqual(STREAMS_PER_SLICE);
    const [rate, errors, latency, saturation] = first.found.get('["default","service-7"]') as number[];
    expect(latency).toBeGreaterThan(3);
    for (const still of [rate, errors, saturation]) expect(Math.abs(still as number)).toBeLessThan(1);
    // Names are known by now: fewer slices.
    const second = await scan(cluster, engines, 2, clock.wallMs() - 15 * MINUTE_MS);
    expect(second.found).toEqual(first.found);
    expect(second.slices).toBeLessThan(first.slices);
  });

  it("leaves out services that were silent, and families that a service lacks", async () => {
    const { cluster, clock } = filled(1);
    clock.advance(16 * MINUTE_MS);
    const minute = clock.wallMs();
    const records = Array.from({ length: 20 }, (_, i) => ({
      service_id: "late",
      metric_name: "queue_length",
      value: 5 + (i % 3),
      timestamp: formatRfc3339(minute - (20 - i) * MINUTE_MS),
    }));
    cluster.submit(0, BODY_JSON_BATCH, encoder.encode(JSON.stringify(records)), () => undefined);
    cluster.run(() => undefined);
    const { found } = await scan(cluster, 1, 1, minute - 5 * MINUTE_MS);
    expect([...found.keys()]).toEqual(['["default","late"]']);
    const [rate, errors, latency, saturation] = found.get('["default","late"]') as number[];
    for (const missing of [rate, errors, latency]) expect(missing).toBeNaN();
    expect(Math.abs(saturation as number)).toBeLessThan(1);
  });
});
