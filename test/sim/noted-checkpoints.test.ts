// A partition to which nothing has come since its checkpoint is not written again: by a stop, and by starts in between, its checkpoint is noted to cover more of the log.
import { expect, it } from "vitest";
import { BODY_JSON_BATCH } from "../../src/core/protocol/body-kind.ts";
import type { CheckpointHeader } from "../../src/core/protocol/coordinator-frame.ts";
import { formatRfc3339 } from "../../src/core/time/rfc3339.ts";
import { partitionOf } from "../../src/domain/placement/partition.ts";
import { decodeCheckpointRow } from "../../src/modules/state/checkpoint-row.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const SERVICES = ["one", "two", "three"];
const START = Date.UTC(2026, 0, 5, 12);

class Rig {
  readonly clock = new VirtualClock(START);
  readonly machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  readonly #sent = new Map<string, number[]>();
  #epoch = 0;
  #server!: SimulatedServer;

  async start(engines: number): Promise<void> {
    this.#server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES }, this.machine);
    await this.#server.open();
    await this.#server.rest();
  }

  stop(): Promise<void> {
    return this.#server.stop();
  }

  kill(): void {
    this.#server.kill();
  }

  async send(services: readonly string[], value: number): Promise<void> {
    const timestamp = formatRfc3339(this.clock.wallMs());
    const records = services.map((service_id) => ({ service_id, metric_name: "m", value, timestamp }));
    let status = 0;
    this.#server.submit(0, BODY_JSON_BATCH, new TextEncoder().encode(JSON.stringify(records)), "", (answer) => {
      status = answer.status;
    });
    await this.#server.rest();
    expect(status).toBe(200);
    for (const service of services) this.#sent.set(service, [...(this.#sent.get(service) ?? []), value]);
    this.clock.advance(10_000);
  }

  /** Every value that was sent is there, once. */
  async check(): Promise<void> {
    for (const [service_id, values] of this.#sent) {
      const { points } = (await this.#server.query("seriesData", { service_id, metric_name: "m", limit: "1000" })) as {
        points: Array<{ value: number }>;
      };
      expect(points.map(({ value }) => value)).toEqual(values);
    }
  }

  /** Of the stored checkpoints: {generation, epoch} by partition. */
  stored(): Map<number, Pick<CheckpointHeader, "generation" | "epoch">> {
    const rows = [...((this.machine.series.get("checkpoints") as Map<string, Uint8Array>) ?? []).values()];
    return new Map(rows.map((row) => decodeCheckpointRow(row).header).map(({ partition, ...header }) => [partition, header]));
  }
}

const changedBetween = (before: ReturnType<Rig["stored"]>, after: ReturnType<Rig["stored"]>) =>
  [...after].filter(([partition, { generation }]) => before.get(partition)?.generation !== generation).map(([partition]) => partition);

it("keeps the states of partitions to which nothing comes over starts, stops and kills, with any number of engines", async () => {
  const rig = new Rig();
  await rig.start(2);
  for (let value = 0; value < 40; value++) await rig.send(SERVICES, value);
  await rig.stop();
  const first = rig.stored();

  await rig.start(1);
  await rig.stop();
  const second = rig.stored();
  expect(changedBetween(first, second)).toEqual([]);
  expect(new Set([...second.values()].map(({ epoch }) => epoch))).toEqual(new Set([2]));

  await rig.start(3);
  await rig.check();
  await rig.send(["two"], 40);
  await rig.stop();
  const third = rig.stored();
  expect(changedBetween(second, third)).toEqual([partitionOf("default", "two")]);

  await rig.start(2);
  await rig.send(["one", "two"], 41);
  rig.kill();
  await rig.start(1);
  await rig.check();
  await rig.stop();
  await rig.start(2);
  await rig.check();
  await rig.send(SERVICES, 42);
  await rig.check();
  await rig.stop();
});
