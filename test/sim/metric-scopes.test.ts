// Two scopes that send one metric to two engines at once, with kills in between: each keeps its own series, under the same names for good.
import { expect, it } from "vitest";
import { otlpBodyKind } from "../../src/core/protocol/otlp-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const TICK_MS = 10_000;
const TICKS = 12;
const ns = (ms: number) => `${ms}000000`;

/** Cumulative: one scope counts 10 a tick, two 1. */
function body(scope: string, tick: number, nowMs: number): Uint8Array {
  const count = scope === "one" ? 1000 + 10 * tick : 20 + tick;
  const times = { startTimeUnixNano: ns(START - 3_600_000), timeUnixNano: ns(nowMs) };
  const metrics = [
    { name: "calls", sum: { aggregationTemporality: 2, isMonotonic: true, dataPoints: [{ ...times, asInt: String(count) }] } },
    {
      name: "wait",
      histogram: {
        aggregationTemporality: 2,
        dataPoints: [{ ...times, count: String(count), sum: count, bucketCounts: [String(count), "0"], explicitBounds: [1] }],
      },
    },
  ];
  const resource = { attributes: [{ key: "service.name", value: { stringValue: "shop" } }] };
  const scopeMetrics = [{ scope: { name: scope, version: String(tick) }, metrics }];
  return Buffer.from(JSON.stringify({ resourceMetrics: [{ resource, scopeMetrics }] }));
}

interface Row {
  readonly metric_name: string;
  readonly environment: string;
  readonly attributes: Readonly<Record<string, unknown>>;
}

/** By series: the values that it has. */
async function held(server: SimulatedServer): Promise<Record<string, readonly number[]>> {
  const { series } = (await server.query("series", { limit: "100" }, "default")) as { series: readonly Row[] };
  const found: Record<string, readonly number[]> = {};
  for (const { metric_name, environment, attributes } of series) {
    if (!["calls", "wait.count"].includes(metric_name)) continue;
    const names = { service_id: "shop", metric_name, environment, attributes: JSON.stringify(attributes) };
    const { points } = (await server.query("seriesData", names, "default")) as { points: ReadonlyArray<{ value: number }> };
    found[`${metric_name} ${names.attributes}`] = [...new Set(points.map(({ value }) => value))];
  }
  return found;
}

it("gives each scope its series, whichever engine it comes to, over kills and starts", async () => {
  const machine = { clock: new VirtualClock(START), disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const start = async (epoch: number) => {
    const server = new SimulatedServer({ engines: 2, epoch, seed: 1, ...SMALL_SIZES }, machine);
    await server.open();
    await server.rest();
    return server;
  };
  let server = await start(1);
  for (let tick = 0; tick < TICKS; tick++) {
    // After the first tick the other scope comes first.
    const order = tick === 0 ? ["one", "two"] : ["two", "one"];
    for (const [place, scope] of order.entries()) {
      const sent = body(scope, tick, machine.clock.wallMs());
      server.submit((tick + place) % 2, otlpBodyKind("metrics", "json"), sent, "", (answer) => expect(answer.status).toBe(200));
      if (tick === 0) await server.rest();
    }
    await server.rest();
    if (tick % 4 === 0) {
      server.kill();
      server = await start(2 + tick);
    }
    machine.clock.advance(TICK_MS);
    await server.rest();
  }
  machine.clock.advance(60_000);
  await server.rest();
  expect(await held(server)).toEqual({
    "calls {}": [10],
    'calls {"otel.scope.name":"two"}': [1],
    "wait.count {}": [10],
    'wait.count {"otel.scope.name":"two"}': [1],
  });
  await server.stop();
});
