// Two values of one time in one request, as where two senders have one series: the later counts, and the one before it is no finding.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const TICK_MS = 10_000;
const ORDINARY_TICKS = 40;
const TICKS = 50;

/** What is found where values of a total of about 29,000 are sent so from some tick on. */
async function anomaliesOf(valuesOf: (total: number, tick: number) => readonly number[]): Promise<ReadonlyArray<{ metric_name: string }>> {
  const machine = { clock: new VirtualClock(Date.UTC(2026, 0, 5, 12)), disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const server = new SimulatedServer({ engines: 1, epoch: 1, seed: 1, ...SMALL_SIZES }, machine);
  await server.open();
  await server.rest();
  let total = 29_000;
  for (let tick = 0; tick < TICKS; tick++) {
    total += tick % 3;
    const time = machine.clock.wallMs();
    const values = tick < ORDINARY_TICKS ? [total] : valuesOf(total, tick);
    const series = values.map((value) => ({
      labels: [
        ["__name__", "errors_total"],
        ["job", "shop"],
      ] as const,
      samples: [{ value, time }],
    }));
    const other = {
      labels: [
        ["__name__", "requests_total"],
        ["job", "shop"],
      ] as const,
      samples: [{ value: 50 * tick, time }],
    };
    const bytes = compressSync(Buffer.from(encodeBody([series[0] as (typeof series)[number], other, ...series.slice(1)])));
    server.submit(0, BODY_REMOTE_WRITE_1, bytes, "", ({ status }) => expect(status).toBe(204));
    await server.rest();
    machine.clock.advance(TICK_MS);
    await server.rest();
  }
  const { anomalies } = (await server.query("anomalies", {}, "default")) as { anomalies: ReadonlyArray<{ metric_name: string }> };
  return anomalies;
}

it("is no finding of a value that the same request corrects, and one of a value that it does not", async () => {
  expect(await anomaliesOf((total) => [total + 100_000, total])).toEqual([]);
  expect(await anomaliesOf((total) => [total, total])).toEqual([]);
  const jumps = await anomaliesOf((total, tick) => [total + 500 * (tick - ORDINARY_TICKS + 1)]);
  expect(jumps.map(({ metric_name }) => metric_name)).toEqual(["errors_total"]);
});
