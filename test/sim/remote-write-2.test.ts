// Metadata and start times of remote-write 2.0 over kills: what was acknowledged is there, whichever engine was told, and whoever had stored it.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1, BODY_REMOTE_WRITE_2 } from "../../src/core/protocol/body-kind.ts";
import { type ClusterAnswer, VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody2, type Series2 } from "../support/remote-write-2-body.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const GAUGE = 2;

class Rig {
  readonly clock = new VirtualClock(START);
  readonly machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  server!: SimulatedServer;

  async start(engines: number): Promise<void> {
    this.server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES }, this.machine);
    await this.server.open();
    await this.server.rest();
  }

  /** Sends a body and steps the engines until it is answered; the coordinator does nothing meanwhile. */
  send(engine: number, series: readonly Series2[], version: 1 | 2): ClusterAnswer {
    const body = compressSync(Buffer.from(version === 1 ? encodeBody(series) : encodeBody2(series)));
    const answers: ClusterAnswer[] = [];
    this.server.submit(engine, version === 1 ? BODY_REMOTE_WRITE_1 : BODY_REMOTE_WRITE_2, body, "", (answer) => answers.push(answer));
    for (let steps = 0; answers.length === 0 && steps < 1000; steps++)
      for (let each = 0; each < this.server.engines; each++) this.server.cluster.step(each);
    this.clock.advance(1000);
    return answers[0] as ClusterAnswer;
  }

  async series(): Promise<unknown> {
    return ((await this.server.query("series", { limit: "100" })) as { series: unknown }).series;
  }

  async values(metric: string): Promise<number[]> {
    const answer = await this.server.query("seriesData", { service_id: "s", metric_name: metric, limit: "1000" });
    return (answer as { points: Array<{ value: number }> }).points.map(({ value }) => value);
  }
}

const one = (metric: string, value: number, time: number, more: Partial<Series2> = {}): Series2 => ({
  labels: [
    ["__name__", metric],
    ["job", "s"],
  ],
  samples: [{ value, time }],
  ...more,
});

it("what an engine was told before a kill decides after it, though nobody had stored it, and on every engine", async () => {
  const rig = new Rig();
  await rig.start(3);
  const metadata = { type: GAUGE, help: "", unit: "items" };
  expect(rig.send(0, [one("depth_total", 10, START, { metadata })], 2)).toEqual({ status: 204, body: null, written: [1, 0, 0] });
  rig.server.kill();
  await rig.start(2);
  for (const [i, value] of [7, 9].entries()) expect(rig.send(i, [one("depth_total", value, START + 1000 * (i + 1))], 1).status).toBe(204);
  await rig.server.rest();
  expect(await rig.series()).toMatchObject([{ metric_name: "depth_total", kind: "gauge", type: "gauge", unit: "items", samples: 3 }]);
  expect(await rig.values("depth_total")).toEqual([10, 7, 9]);
});

it("a start time that was told before a kill is neither lost nor taken twice", async () => {
  for (const killAt of [1, 2, 3]) {
    const rig = new Rig();
    await rig.start(2);
    const sends = [
      [5, START - 20_000],
      [8, START - 20_000],
      [9, START + 1500],
      [11, START + 1500],
    ] as const;
    for (const [i, [value, start]] of sends.entries()) {
      if (i === killAt) {
        rig.server.kill();
        await rig.start(2);
      }
      const samples = [{ value, time: START + 1000 * i, start }];
      expect(rig.send(i % 2, [one("jobs_total", 0, 0, { samples })], 2).status).toBe(204);
    }
    await rig.server.rest();
    expect([killAt, await rig.values("jobs_total")]).toEqual([killAt, [5, 3, 9, 2]]);
  }
});
