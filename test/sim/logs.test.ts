// Logs as JSON through whole servers: their counts become series, whatever number of engines, kills and repeats.
import { expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);

/** Logs of one window: an error each third window, and a text with a number. */
function batch(window: number): Uint8Array {
  const at = (ms: number) => formatRfc3339(START + window * 10_000 + ms);
  const logs = [0, 1, 2].flatMap((service) => [
    ...Array.from({ length: 2 + service }, (_, i) => ({
      service_id: `service-${service}`,
      type: "log",
      body: `order ${window * 10 + i} placed`,
      timestamp: at(i),
      attributes: { level: "info" },
    })),
    ...(window % 3 === 1
      ? [{ service_id: `service-${service}`, type: "log", body: "cannot reach the bank", timestamp: at(9), attributes: { level: "error" } }]
      : []),
  ]);
  return new TextEncoder().encode(JSON.stringify(logs));
}

async function run(kills: boolean): Promise<string[]> {
  const clock = new VirtualClock(START);
  const machine = { clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  let epoch = 0;
  const start = async (engines: number) => {
    const server = new SimulatedServer({ engines, epoch: ++epoch, seed: 1, ...SMALL_SIZES }, machine);
    await server.open();
    await server.rest();
    return server;
  };
  let server = await start(kills ? 2 : 1);
  for (let window = 0; window < 12; window++) {
    clock.advance(5_000);
    for (let repeat = 0; repeat < (kills ? 2 : 1); repeat++) {
      const engine = (window + repeat) % server.engines;
      server.submit(engine, BODY_JSON_BATCH, batch(window), "", ({ status }) => expect(status).toBe(200));
      await server.rest();
    }
    if (kills && window % 2 === 1) {
      server.kill();
      server = await start(1 + (window % 3));
    }
    clock.advance(5_000);
    await server.rest();
  }
  clock.advance(20_000);
  await server.rest();
  const lines: string[] = [];
  const { series } = (await server.query("series", { limit: "100" })) as { series: Array<Record<string, string>> };
  for (const { service_id = "", metric_name = "", attributes } of series) {
    const query = { service_id, metric_name, attributes: JSON.stringify(attributes) };
    const { points } = (await server.query("seriesData", query)) as { points: Array<{ timestamp: string; value: number }> };
    lines.push(
      `${service_id} ${metric_name} ${JSON.stringify(attributes)}: ${points.map(({ timestamp, value }) => `${Date.parse(timestamp) - START}=${value}`).join(" ")}`,
    );
  }
  const { total } = (await server.query("records", { type: "log" })) as { total: number };
  lines.push(`${total} records`);
  await server.stop();
  return lines.sort();
}

it("become counts by severity and by template, and stay records", async () => {
  const quiet = await run(false);
  expect(quiet).toContain("120 records");
  const ends = Array.from({ length: 12 }, (_, window) => (window + 1) * 10_000);
  expect(quiet).toContain(`service-1 log.records {"severity":"INFO"}: ${ends.map((at) => `${at}=3`).join(" ")}`);
  expect(quiet).toContain(
    `service-1 log.records {"severity":"ERROR"}: ${ends
      .slice(1)
      .map((at, i) => `${at}=${i % 3 === 0 ? 1 : 0}`)
      .join(" ")}`,
  );
  expect(quiet.filter((line) => line.startsWith("service-1 log.template")).length).toBe(1);
  expect(await run(true)).toEqual(quiet);
});
