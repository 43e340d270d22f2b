// One name that is a counter of one sender and a gauge of another, told by metadata of remote-write 1.0 alone, over two engines, kills and starts: each series has the
// values of its own kind.
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody, metadataField } from "../support/remote-write-body.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const TICK_MS = 10_000;
const COUNTER = 1;
const GAUGE = 2;
/** A gauge whose falls are as those of queues and temperatures. */
const LEVELS = [70, 75, 60, 65, 72, 58, 61, 70, 66, 59, 73, 64];
const ONE_KEY = 33;

/** What a sender says of a name, how, and what its series are. */
interface Sender {
  readonly number: number;
  readonly name: string;
  readonly job: string;
  readonly type: number;
  /** The metadata come with the series, not in requests of their own. */
  readonly isTogether: boolean;
}

const SENDERS: readonly Sender[] = [
  { number: 11, name: "two_keys", job: "a", type: COUNTER, isTogether: false },
  { number: 22, name: "two_keys", job: "b", type: GAUGE, isTogether: false },
  { number: 12, name: "gauge_first", job: "c", type: GAUGE, isTogether: false },
  { number: 23, name: "gauge_first", job: "d", type: COUNTER, isTogether: false },
  { number: ONE_KEY, name: "together", job: "e", type: COUNTER, isTogether: true },
  { number: ONE_KEY, name: "together", job: "f", type: GAUGE, isTogether: true },
  { number: ONE_KEY, name: "one_key", job: "g", type: COUNTER, isTogether: false },
  { number: ONE_KEY, name: "one_key", job: "h", type: GAUGE, isTogether: false },
];

function bodiesOf({ name, job, type, isTogether }: Sender, tick: number, nowMs: number): Uint8Array[] {
  const value = type === COUNTER ? 1000 + 10 * tick : (LEVELS[tick] as number);
  const labels = [["__name__", name] as const, ["job", job] as const];
  const series = encodeBody([{ labels, samples: [{ value, time: nowMs }] }]);
  const metadata = metadataField(name, type);
  // Of one sender all that differ come together: of several each says its own in each minute.
  return isTogether ? [Buffer.concat([series, metadata])] : [metadata, series];
}

async function values(server: SimulatedServer, { name, job }: Sender): Promise<number[]> {
  const names = { service_id: job, metric_name: name, environment: "" };
  const { points } = (await server.query("seriesData", names, "default")) as { points: ReadonlyArray<{ value: number }> };
  return points.map(({ value }) => value);
}

it("leaves each series its kind, whoever else says another of its name", async () => {
  const machine = { clock: new VirtualClock(START), disk: new MemoryDisk(), control: new Map(), series: new Map() };
  const start = async (epoch: number) => {
    const server = new SimulatedServer({ engines: 2, epoch, seed: 1, ...SMALL_SIZES }, machine);
    await server.open();
    await server.rest();
    return server;
  };
  let server = await start(1);
  for (let tick = 0; tick < LEVELS.length; tick++) {
    for (const [place, sender] of SENDERS.entries()) {
      for (const body of bodiesOf(sender, tick, machine.clock.wallMs())) {
        const bytes = compressSync(Buffer.from(body));
        server.submit((tick + place) % 2, BODY_REMOTE_WRITE_1, bytes, "", ({ status }) => expect(status).toBe(204), 0, sender.number);
        await server.rest();
      }
    }
    if (tick % 5 === 4) {
      server.kill();
      server = await start(2 + tick);
    }
    machine.clock.advance(TICK_MS);
    await server.rest();
  }
  for (const sender of SENDERS.filter(({ name }) => name !== "one_key")) {
    const right = sender.type === COUNTER ? LEVELS.slice(1).map(() => 10) : LEVELS;
    expect([sender.name, sender.job, await values(server, sender)]).toEqual([sender.name, sender.job, right]);
  }
  // Of one sender that says both nothing tells at first what a series is: its values do.
  const [counter, gauge] = SENDERS.filter(({ name }) => name === "one_key") as [Sender, Sender];
  expect(await values(server, counter)).toEqual(LEVELS.slice(1).map(() => 10));
  expect((await values(server, gauge)).slice(-10)).toEqual(LEVELS.slice(-10));
  await server.stop();
});
