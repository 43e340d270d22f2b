// A server that is sent bodies and killed meanwhile, and what it holds afterwards: by it runs with and without disturbance are compared.
import snappy from "snappy";
import { expect } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import { parseRfc3339 } from "../../src/core/time/rfc3339.ts";
import { VirtualClock } from "./cluster.ts";
import type { Generator } from "./generator.ts";
import { MemoryDisk } from "./memory-log.ts";
import { encodeBody, type Series } from "./remote-write-body.ts";
import { SimulatedServer } from "./simulation-server.ts";

/** Time of the first tick. */
export const START_MS = Date.UTC(2026, 0, 5, 12);
export const TICK_MS = 10_000;

/** A body that the server is to take, at the earliest in its tick. */
export interface Sent {
  readonly tick: number;
  readonly kind: number;
  readonly bytes: Uint8Array;
  readonly status: number;
}

/** A remote-write body. */
export function remoteBody(tick: number, series: readonly Series[]): Sent {
  return { tick, kind: BODY_REMOTE_WRITE_1, bytes: snappy.compressSync(Buffer.from(encodeBody(series))), status: 204 };
}

/** Values by time, by service and metric. */
export type Holdings = ReadonlyMap<string, ReadonlyMap<number, number>>;

/** Faults of a run; none for the run that the others are compared with. */
export interface Disturbance {
  readonly random: Generator;
  readonly killShare: number;
}

/** A machine whose server is started, killed and asked. */
export class DisturbedServer {
  readonly clock = new VirtualClock(START_MS);
  readonly #machine = { clock: this.clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  #epoch = 0;
  server!: SimulatedServer;
  /** Kills and orderly stops so far. */
  stumbles = 0;

  async start(engines: number, { idleMs = Number.POSITIVE_INFINITY, seriesLimit = 1_000_000 } = {}): Promise<void> {
    const sizes = {
      seriesLimit,
      segmentBytes: 16_384,
      blockBytes: 4096,
      checkpointCycleBytes: 2 ** 14,
      checkpointLogShare: 0,
      checkpointPartBytes: 256,
      commitTurnsMax: 3,
      idleMs,
    };
    this.server = new SimulatedServer({ engines, epoch: ++this.#epoch, seed: this.#epoch, ...sizes }, this.#machine);
    await this.server.open();
    await this.server.rest();
  }

  /** Sends a body until it is answered; with a disturbance the server may be killed meanwhile, and the body come again. */
  async send({ kind, bytes, status }: Sent, disturbance: Disturbance | undefined): Promise<void> {
    for (let answer = 0; answer === 0; ) {
      const engine = disturbance === undefined ? 0 : Math.floor(disturbance.random.uniform() * this.server.engines);
      this.server.submit(engine, kind, bytes, "", (given) => {
        expect(given.status, given.body ?? "").toBe(status);
        answer = given.status;
      });
      if (disturbance !== undefined && disturbance.random.uniform() < disturbance.killShare) await this.#stumble(disturbance.random);
      else await this.server.rest();
      if (disturbance !== undefined && answer !== 0 && disturbance.random.uniform() < 0.1) answer = 0;
    }
  }

  async #stumble(random: Generator): Promise<void> {
    for (let steps = Math.floor(random.uniform() * 60); steps > 0; steps--) {
      this.server.cluster.step(Math.floor(random.uniform() * this.server.engines));
      if (random.uniform() < 0.3) await this.server.stepCoordinator();
      if (random.uniform() < 0.1) this.clock.advance(100);
    }
    this.stumbles++;
    if (random.uniform() < 0.8) this.server.kill();
    else {
      await this.server.rest();
      await this.server.stop();
    }
    await this.start(1 + Math.floor(random.uniform() * 3));
  }

  /** Values by time, by service and metric. */
  async holdings(): Promise<Holdings> {
    const { series } = (await this.server.query("series", { limit: "1000" })) as {
      series: Array<{ service_id: string; metric_name: string }>;
    };
    const held = new Map<string, Map<number, number>>();
    for (const { service_id, metric_name } of series) {
      const { points } = (await this.server.query("seriesData", { service_id, metric_name, limit: "1000" })) as {
        points: Array<{ timestamp: string; value: number }>;
      };
      held.set(`${service_id} ${metric_name}`, new Map(points.map(({ timestamp, value }) => [parseRfc3339(timestamp) as number, value])));
    }
    return held;
  }
}

/** What a server holds that has been sent these bodies, and how often it was killed or stopped meanwhile. */
export async function play(bodies: readonly Sent[], disturbance?: Disturbance): Promise<{ held: Holdings; stumbles: number }> {
  const machine = new DisturbedServer();
  await machine.start(disturbance === undefined ? 1 : 2);
  let tick = 0;
  for (const body of bodies) {
    if (body.tick > tick) machine.clock.advance(TICK_MS * (body.tick - tick));
    tick = Math.max(tick, body.tick);
    await machine.send(body, disturbance);
  }
  await machine.server.rest();
  const held = await machine.holdings();
  await machine.server.stop();
  return { held, stumbles: machine.stumbles };
}

/** Bodies of neighbouring ticks change places. */
export function disordered(bodies: readonly Sent[], random: Generator, reach: number): Sent[] {
  return bodies
    .map((body) => ({ body, at: body.tick + random.uniform() * reach }))
    .sort((a, b) => a.at - b.at)
    .map(({ body }, i, all) => ({ ...body, tick: Math.max(...all.slice(0, i + 1).map((one) => one.body.tick)) }));
}

/** Throws where two runs differ. */
export function expectSame(held: Holdings, wanted: Holdings): void {
  expect([...held.keys()].sort()).toEqual([...wanted.keys()].sort());
  for (const [name, points] of wanted) expect([name, ...(held.get(name) ?? [])]).toEqual([name, ...points]);
}

/** Samples of one tick: whole numbers, so that sums have no rounding; a share of the ticks has none. */
export function samplesOf(random: Generator, emptyShare: number): number[] {
  const count = random.uniform() < emptyShare ? 0 : 1 + Math.floor(random.uniform() * 30);
  return Array.from({ length: count }, () => 1 + Math.floor(Math.exp(3 * random.uniform() + random.normal() * 0.5)));
}
