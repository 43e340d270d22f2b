// Values as they were sent: whatever a counter or a gauge is sent by remote-write, with resets, late and repeated values, NaN, infinities and stale markers, reads back so, also after kills,
// stops and eviction from memory.
import fc from "fast-check";
import { compressSync } from "snappy";
import { expect, it } from "vitest";
import { BODY_REMOTE_WRITE_1 } from "../../src/core/protocol/body-kind.ts";
import type { SeriesDataAnswer } from "../../src/core/protocol/engine-control.ts";
import { ChunkBlock } from "../../src/domain/codec/chunk-block.ts";
import { SentSamples, type SentSeries } from "../../src/domain/codec/sent-samples.ts";
import { engineOf, partitionOf } from "../../src/domain/placement/partition.ts";
import { blockKey, partitionKey } from "../../src/modules/state/tables.ts";
import { VirtualClock } from "../support/cluster.ts";
import { MemoryDisk } from "../support/memory-log.ts";
import { encodeBody } from "../support/remote-write-body.ts";
import { SimulatedServer, SMALL_SIZES } from "../support/simulation-server.ts";

const START = Date.UTC(2026, 0, 5, 12);
const SERVICE = "api";
const COUNTER = "requests_total";
const GAUGE = "queue_length";
/** Stands for a stale marker until the body is made: no number in JavaScript keeps its bits. */
const STALE_PLACEHOLDER = -8.51e-17;
const STALE_BITS = 0x7ff0000000000002n;
const NAN_BITS = 0x7ff8000000000001n;

interface Sample {
  readonly time: number;
  readonly value: number;
}

type Sent = Map<number, number>;

/** A server that is killed and starts again, with all that was sent to it. */
class Sender {
  readonly #clock = new VirtualClock(START);
  readonly #machine = { clock: this.#clock, disk: new MemoryDisk(), control: new Map(), series: new Map() };
  readonly #sent = new Map<string, Sent>([
    [COUNTER, new Map()],
    [GAUGE, new Map()],
  ]);
  #epoch = 0;
  #engines = 1;
  #server!: SimulatedServer;

  async start(engines: number): Promise<void> {
    this.#engines = engines;
    const options = { engines, epoch: ++this.#epoch, seed: 1, ...SMALL_SIZES, checkpointCycleBytes: 4096 };
    this.#server = new SimulatedServer(options, this.#machine);
    await this.#server.open();
    await this.#server.rest();
  }

  kill(): void {
    this.#server.kill();
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  /** Sends samples of a metric, in the order in which they stand. */
  async send(metric: string, samples: readonly Sample[]): Promise<void> {
    const labels = [["__name__", metric] as const, ["job", SERVICE] as const];
    const body = Buffer.from(encodeBody([{ labels, samples }]));
    const marker = Buffer.alloc(8);
    marker.writeDoubleLE(STALE_PLACEHOLDER);
    for (let at = body.indexOf(marker); at >= 0; at = body.indexOf(marker)) body.writeBigUInt64LE(STALE_BITS, at);
    let status = 0;
    this.#server.submit(0, BODY_REMOTE_WRITE_1, compressSync(body), "", (answer) => {
      status = answer.status;
    });
    await this.#server.rest();
    expect(status).toBe(204);
    for (const { time, value } of samples) (this.#sent.get(metric) as Sent).set(time, value);
    this.#clock.advance(1000);
  }

  async expectSent(): Promise<void> {
    for (const [metric, sent] of this.#sent) if (sent.size > 0) expectSame(await this.#read(metric), sent);
  }

  async #read(metricName: string): Promise<SentSeries> {
    const partition = partitionOf("default", SERVICE);
    const query = { type: "series-data", tenant: "default", serviceId: SERVICE, metricName, environment: null, attributes: null } as const;
    const asked = this.#server.cluster.ask(engineOf(partition, this.#engines), query);
    await this.#server.rest();
    const answer = (await asked) as SeriesDataAnswer;
    expect(answer.matches).toBe(1);
    const samples = new SentSamples(answer.summary?.kind === "counter");
    const range = { from: blockKey(partition, 0), to: partitionKey(partition + 1), limit: 10_000 };
    for (const { value } of this.#server.series.range("blocks", range)) {
      for (const { chunk } of (ChunkBlock.open(value) as ChunkBlock).chunksOf(answer.streamId as Uint8Array)) samples.add(chunk);
    }
    for (const chunk of [...answer.pendingChunks, ...answer.openChunks]) expect(samples.add(chunk)).toBe(true);
    return samples.finish();
  }
}

function expectSame({ timesMs, values, hasSums }: SentSeries, sent: Sent): void {
  expect(hasSums).toBe(false);
  const times = [...sent.keys()].sort((a, b) => a - b);
  expect([...timesMs]).toEqual(times);
  const bits = new BigUint64Array(values.buffer, values.byteOffset, values.length);
  for (const [index, time] of times.entries()) {
    const expected = sent.get(time) as number;
    if (expected === STALE_PLACEHOLDER) expect(bits[index]).toBe(STALE_BITS);
    else if (Number.isNaN(expected)) expect(bits[index]).toBe(NAN_BITS);
    else if (Number.isInteger(expected) || !Number.isFinite(expected)) expect(values[index]).toBe(expected);
    else if (!(Math.abs((values[index] as number) - expected) <= 1e-12 * Math.abs(expected)))
      expect.fail(`${values[index]} instead of ${expected} at sample ${index}`);
  }
}

/** What a counter may do next; the amounts are scaled so that some series are of whole numbers. */
const moves = fc.oneof(
  {
    weight: 12,
    arbitrary: fc.record({ kind: fc.constant("more" as const), by: fc.nat({ max: 1000 }), times: fc.integer({ min: 1, max: 60 }) }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("reset" as const), to: fc.nat({ max: 500 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("rounding" as const) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("stale" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant("unjudged" as const),
      values: fc.array(fc.constantFrom(Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY), { minLength: 1, maxLength: 40 }),
    }),
  },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("late" as const), back: fc.integer({ min: 1, max: 200 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("again" as const) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("corrected" as const), by: fc.nat({ max: 50 }) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("kill" as const), engines: fc.integer({ min: 1, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("stop" as const), engines: fc.integer({ min: 1, max: 2 }) }) },
);

type Move = typeof moves extends fc.Arbitrary<infer M> ? M : never;

/** Makes bodies of moves. */
class Series {
  readonly #sender: Sender;
  readonly #metric: string;
  readonly #unit: number;
  #time = START;
  #value: number;
  #last: readonly Sample[] = [];

  constructor(sender: Sender, metric: string, { unit, first }: { readonly unit: number; readonly first: number }) {
    this.#sender = sender;
    this.#metric = metric;
    this.#unit = unit;
    this.#value = first * unit;
  }

  async move(move: Move): Promise<void> {
    if (move.kind === "kill") {
      this.#sender.kill();
      await this.#sender.start(move.engines);
    } else if (move.kind === "stop") {
      await this.#sender.stop();
      await this.#sender.start(move.engines);
    } else await this.#send(this.#samplesOf(move));
  }

  async #send(samples: readonly Sample[]): Promise<void> {
    if (samples.length === 0) return;
    await this.#sender.send(this.#metric, samples);
    this.#last = samples;
  }

  #samplesOf(move: Exclude<Move, { kind: "kill" | "stop" }>): readonly Sample[] {
    if (move.kind === "again") return this.#last;
    if (move.kind === "stale") return [{ time: ++this.#time, value: STALE_PLACEHOLDER }];
    if (move.kind === "unjudged") return this.#unjudged(move.values);
    if (move.kind === "late") return [{ time: Math.max(START - 600_000, this.#time - 1000 * move.back - 3), value: this.#value * 0.75 }];
    if (move.kind === "corrected") return this.#corrected(move.by * this.#unit);
    if (move.kind === "reset") this.#value = move.to * this.#unit;
    if (move.kind === "rounding") this.#value *= 1 - 1e-10;
    const count = move.kind === "more" ? move.times : 1;
    return Array.from({ length: count }, () => {
      this.#time += 1000;
      if (move.kind === "more") this.#value += move.by * this.#unit;
      return { time: this.#time, value: this.#value };
    });
  }

  #unjudged(values: readonly number[]): readonly Sample[] {
    const from = this.#time;
    this.#time += 1000 * values.length;
    return values.map((value, index) => ({ time: from + 1000 * (index + 1), value }));
  }

  /** The last value again, with another one: of a time that has what is not judged no value is sent. */
  #corrected(by: number): readonly Sample[] {
    const last = this.#last.at(-1);
    if (last === undefined || last.time !== this.#time || last.value === STALE_PLACEHOLDER || !Number.isFinite(last.value)) return [];
    this.#value += by;
    return [{ time: this.#time, value: this.#value }];
  }
}

const plans = fc.record({
  metric: fc.constantFrom(COUNTER, COUNTER, COUNTER, GAUGE),
  unit: fc.constantFrom(1, 1, 0.1, Math.PI, 1e-9, 1e12),
  first: fc.nat({ max: 100_000 }),
  moves: fc.array(moves, { minLength: 1, maxLength: 30 }),
});

it("reads back whatever was sent, also after kills and stops", async () => {
  await fc.assert(
    fc.asyncProperty(plans, async ({ metric, moves: plan, ...from }) => {
      const sender = new Sender();
      await sender.start(1);
      const series = new Series(sender, metric, from);
      for (const move of plan) await series.move(move);
      await sender.expectSent();
      sender.kill();
      await sender.start(2);
      await sender.expectSent();
    }),
    { numRuns: 25 },
  );
});
