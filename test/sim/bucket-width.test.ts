// Quantiles of histograms that move within a bucket, and beyond it, through a whole server that is ended meanwhile.
import { describe, expect, it } from "vitest";
import { DisturbedServer, remoteBody, START_MS, TICK_MS } from "../support/disturbed-server.ts";
import type { Series } from "../support/remote-write-body.ts";

const BOUNDS = ["1", "2", "5", "10", "+Inf"];
const OBSERVATIONS = 1_000;
const MOVE_TICK = 45;
const TICKS = 52;

/** One family in which so many observations of a thousand lie from 1 to 2 each interval and the others from 2 to 5. */
function family(tick: number, sums: { low: number; all: number }, low: number): Series[] {
  sums.low += low;
  sums.all += OBSERVATIONS;
  return BOUNDS.map((le, place) => ({
    labels: [
      ["__name__", "latency_bucket"],
      ["job", "shop"],
      ["le", le],
    ],
    samples: [{ value: place === 0 ? 0 : place === 1 ? sums.low : sums.all, time: START_MS + tick * TICK_MS }],
  }));
}

/** A server whose p95 lies around 2.86, three units below the end of its bucket, and from MOVE_TICK on where `low` says. */
async function played(low: number, ends: boolean): Promise<DisturbedServer> {
  const machine = new DisturbedServer();
  await machine.start(1);
  const sums = { low: 0, all: 0 };
  for (let tick = 0; tick < TICKS; tick++) {
    const usual = 928 + ((tick * 7) % 5);
    await machine.send(remoteBody(tick, family(tick, sums, tick < MOVE_TICK ? usual : low)), undefined);
    machine.clock.advance(TICK_MS);
    await machine.server.rest();
    if (ends && tick === MOVE_TICK - 1) {
      machine.server.kill();
      await machine.start(2);
    }
  }
  return machine;
}

interface Found {
  readonly metric_name: string;
  readonly verdict: { readonly observed: number; readonly gates: ReadonlyArray<{ readonly name: string; readonly limit: number }> };
}

async function anomaliesOf(machine: DisturbedServer, metric: string): Promise<Found[]> {
  const { anomalies } = (await machine.server.query("anomalies", { limit: "1000" })) as { anomalies: Found[] };
  return anomalies.filter(({ metric_name }) => metric_name === metric);
}

describe.each([false, true])("a quantile of a histogram (server killed before it moves: %s)", (ends) => {
  it("is no anomaly where it moves by less than half of its bucket, and the ledger says so", async () => {
    const machine = await played(860, ends);
    const { points } = (await machine.server.query("seriesData", { service_id: "shop", metric_name: "latency.p95", limit: "1000" })) as {
      points: Array<{ value: number }>;
    };
    expect(points.at(-1)?.value).toBeCloseTo(2 + (3 * 90) / 140, 9);
    expect(await anomaliesOf(machine, "latency.p95")).toEqual([]);
    const at = new Date(START_MS + MOVE_TICK * TICK_MS).toISOString();
    const { moments } = (await machine.server.query("alertLedger", { service_id: "shop", metric_name: "latency.p95", at })) as {
      moments: Array<{ declared: boolean; reason: string; verdict: { z: number } }>;
    };
    expect(moments).toMatchObject([{ declared: false, reason: "within_bucket_width" }]);
    expect(moments[0]?.verdict.z).toBeGreaterThan(6);
  });

  it("is one where it moves by more", async () => {
    const machine = await played(600, ends);
    const found = await anomaliesOf(machine, "latency.p95");
    expect(found.length).toBe(1);
    expect(found[0]?.verdict.gates.find(({ name }) => name === "bucket_width")).toMatchObject({ passed: true, limit: 1.5 });
  });
});
