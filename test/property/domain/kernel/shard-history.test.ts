// History in a shard: whatever order it and live samples come in, the ring holds the newest of both, every sample is in a chunk or in the ring, nothing of
// it is declared, and what is live is judged as ever.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { HistoryRun } from "../../../../src/actors/engine/shard/history-run.ts";
import { CHUNK_HAS_FORM, FORM_ANCHOR_INTEGER, FORM_COUNTED } from "../../../../src/core/layout/chunk-form.ts";
import { EVENT_CHUNK_DUE, EVENT_LATE, EVENT_LATE_START, EVENT_OPEN } from "../../../../src/core/layout/kernel-event.ts";
import { STAGING } from "../../../../src/core/layout/memory-map.ts";
import { ARRIVAL_HISTORY, ROW_BYTES, START_MARKER_HIGH } from "../../../../src/core/layout/row-frame.ts";
import { FLAG_COUNTER, WINDOW_MAX } from "../../../../src/core/layout/stream-record.ts";
import { CHUNK_BYTES_MAX, encodeChunkApart, encodeCountedChunk } from "../../../../src/domain/codec/sample-chunk.ts";
import { SentSamples } from "../../../../src/domain/codec/sent-samples.ts";
import { type Generator, generator } from "../../../support/generator.ts";
import { ShardRig } from "../../../support/shard-rig.ts";

const START_MS = 1_790_000_000_000;
const STEP_MS = 15_000;

type Sample = readonly [timeMs: number, value: number];
type StartedSample = readonly [timeMs: number, value: number, startMs: number];

/** A shard's handling of late history, over the kernel, with what it stores. */
class HistoryRig {
  readonly rig = new ShardRig({ window: 120 });
  readonly slot: number;
  readonly stored = new Map<number, number>();
  /** Of a counter's past. */
  readonly chunks: Uint8Array[] = [];
  events = 0;
  readonly #run: HistoryRun;

  constructor(flags = 0) {
    this.slot = this.rig.stream(flags);
    const counters = { add: () => undefined };
    const note = (times: Float64Array, values: Float64Array, count: number) => {
      for (let i = 0; i < count; i++) this.stored.set(times[i] as number, values[i] as number);
    };
    this.#run = new HistoryRun({
      kernel: this.rig.shard,
      counters: counters as never,
      chunks: {
        storeHistory: (_, times, values, count) => note(times, values, count),
        storeCounted: (_, from, times, deltas, count) => {
          note(times, deltas, count);
          this.#keep((out) => encodeCountedChunk(from, times, deltas, count, out, 0));
        },
        storeValue: (_, timeMs, delta) => {
          note(Float64Array.of(timeMs), Float64Array.of(delta), 1);
          this.#keep((out) => encodeChunkApart("deltas", Float64Array.of(timeMs), Float64Array.of(delta), 1, out, 0));
        },
        keepCumulative: (_, timeMs, value) =>
          this.#keep((out) => encodeChunkApart("sent", Float64Array.of(timeMs), Float64Array.of(value), 1, out, 0)),
      },
    });
  }

  #keep(encode: (out: Uint8Array) => number): void {
    const out = new Uint8Array(CHUNK_BYTES_MAX);
    this.chunks.push(out.slice(0, encode(out)));
  }

  apply(samples: ReadonlyArray<Sample | StartedSample>, arrivalMs: number): void {
    const { rig, slot } = this;
    const baseMs = Math.min(...samples.map(([timeMs]) => timeMs));
    let rows = 0;
    const stage = (timeMs: number, put: (at: number) => void) => {
      const at = STAGING + rows++ * ROW_BYTES;
      rig.view.setUint32(at, slot, true);
      rig.view.setUint32(at + 4, timeMs - baseMs, true);
      put(at + 8);
    };
    for (const [timeMs, value, startMs = 0] of samples) {
      const marker = (BigInt(START_MARKER_HIGH) << 48n) | BigInt(startMs);
      if (startMs > 0) stage(timeMs, (at) => rig.view.setBigUint64(at, marker, true));
      stage(timeMs, (at) => rig.view.setFloat64(at, value, true));
    }
    for (let done = 0; done < rows; ) {
      done += rig.shard.applyRows(STAGING + done * ROW_BYTES, rows - done, baseMs, arrivalMs);
      for (let i = 0; i < rig.shard.eventsCount(); i++) this.#handle(rig.shard.event(i));
      rig.shard.eventsReset();
    }
    if (arrivalMs === ARRIVAL_HISTORY) this.#run.flush();
  }

  ring(): Sample[] {
    const times = new Float64Array(WINDOW_MAX);
    const values = new Float64Array(WINDOW_MAX);
    const count = this.rig.shard.records.readRing(this.slot, times, values);
    return Array.from({ length: count }, (_, i): Sample => [times[i] as number, values[i] as number]);
  }

  #handle(event: ReturnType<ShardRig["shard"]["event"]>): void {
    const { records } = this.rig.shard;
    if (event.kind === EVENT_CHUNK_DUE) {
      for (const [timeMs, value] of this.ring().slice(-records.unchunked(this.slot))) this.stored.set(timeMs, value);
      this.rig.shard.chunkTaken(this.slot);
    } else if (event.kind === EVENT_LATE) {
      if (event.arrivalMs === ARRIVAL_HISTORY && this.#run.add(event.slot, event.timeMs, event.value)) return;
      const { result, chunked } = records.insertLate(this.slot, event.timeMs, event.value);
      if (result === "too-old-for-ring" || chunked) this.stored.set(event.timeMs, event.value);
    } else if (event.kind === EVENT_LATE_START) this.#run.takeStart(event.slot, event.timeMs, event.value);
    else this.events++;
  }
}

const quiet = ({ uniform }: Generator) => 50 + Math.round(uniform() * 1000) / 1000;

function exactStatistics(values: readonly number[]): { mean: number; m2: number } {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, m2: values.reduce((sum, value) => sum + (value - mean) ** 2, 0) };
}

describe("history of a stream", () => {
  it.each(Array.from({ length: 20 }, (_, i) => i + 1))("of seed %i and live samples, in pieces, in any order", (seed) => {
    const random = generator(seed);
    const rig = new HistoryRig();
    const all = new Map<number, number>();
    const historyCount = Math.floor(random.uniform() * 900) + 1;
    const history = Array.from({ length: historyCount }, (_, i): Sample => [START_MS + i * STEP_MS, quiet(random)]);
    const live = Array.from(
      { length: Math.floor(random.uniform() * 300) },
      (_, i): Sample => [START_MS + (historyCount + i) * STEP_MS, quiet(random)],
    );
    for (const [timeMs, value] of [...history, ...live]) all.set(timeMs, value);
    while (history.length + live.length > 0) {
      const isHistory = live.length === 0 || (history.length > 0 && random.uniform() < 0.5);
      const queue = isHistory ? history : live;
      rig.apply(queue.splice(0, 1 + Math.floor(random.uniform() * 300)), isHistory ? ARRIVAL_HISTORY : 5);
    }
    const newest = [...all].sort(([a], [b]) => a - b).slice(-WINDOW_MAX);
    const ring = rig.ring();
    expect(ring).toEqual(newest.slice(-ring.length));
    expect(ring.length).toBe(newest.length);
    const seen = new Map([...rig.stored, ...ring]);
    expect(new Map([...seen].sort(([a], [b]) => a - b))).toEqual(all);
    const { mean, m2 } = rig.rig.statistics(rig.slot);
    const exact = exactStatistics(newest.map(([, value]) => value));
    expect(mean).toBeCloseTo(exact.mean, 9);
    expect(m2).toBeCloseTo(exact.m2, 6);
    expect(rig.rig.shard.records.firstTimeMs(rig.slot)).toBe(START_MS);
    expect(rig.events).toBe(0);
  });

  it("is not judged, however far out; the live sample behind it is", () => {
    const random = generator(9);
    const rig = new HistoryRig();
    const history = Array.from({ length: 200 }, (_, i): Sample => [START_MS + i * STEP_MS, i === 20 || i === 21 ? 1e6 : quiet(random)]);
    rig.apply(history, ARRIVAL_HISTORY);
    expect(rig.events).toBe(0);
    const events = rig.rig.apply(rig.slot, START_MS + 200 * STEP_MS, 500);
    expect(events.map(({ kind }) => kind)).toContain(EVENT_OPEN);
  });

  it("sent again changes nothing", () => {
    const random = generator(2);
    const rig = new HistoryRig();
    const history = Array.from({ length: 500 }, (_, i): Sample => [START_MS + i * STEP_MS, quiet(random)]);
    rig.apply(history, ARRIVAL_HISTORY);
    const before = [rig.ring(), new Map(rig.stored), rig.rig.statistics(rig.slot)];
    rig.apply(history, ARRIVAL_HISTORY);
    const after = [
      rig.ring(),
      new Map([...rig.stored].filter(([timeMs]) => (before[1] as Map<number, number>).has(timeMs))),
      rig.rig.statistics(rig.slot),
    ];
    expect(after).toEqual(before);
  });

  it("of a cumulative counter begins anew where its start says so, though no value falls, in order and late", () => {
    const began = [START_MS - 3_600_000, START_MS + 3 * STEP_MS - 2_000];
    const values = [100, 110, 120, 500, 510];
    const raw = values.map((value, i): StartedSample => [START_MS + i * STEP_MS, value, began[i < 3 ? 0 : 1] as number]);
    const inOrder = new HistoryRig(FLAG_COUNTER);
    inOrder.apply(raw, ARRIVAL_HISTORY);
    expect(inOrder.ring().map(([, value]) => value)).toEqual([10, 10, 500, 10]);
    const late = new HistoryRig(FLAG_COUNTER);
    late.apply(
      [9, 10].map((i): Sample => [START_MS + i * STEP_MS, 1000 + i]),
      5,
    );
    late.apply(raw, ARRIVAL_HISTORY);
    expect([...late.stored.values()]).toEqual([10, 10, 500, 10]);
  });

  it("of a cumulative counter becomes the same deltas, in order and late, when pieces overlap by a value", () => {
    const random = generator(5);
    let total = 0;
    const raw = Array.from({ length: 400 }, (_, i): Sample => {
      total = i === 250 ? 3 : total + Math.floor(random.uniform() * 10);
      return [START_MS + i * STEP_MS, total];
    });
    const inOrder = new HistoryRig(FLAG_COUNTER);
    inOrder.apply(raw, ARRIVAL_HISTORY);
    const late = new HistoryRig(FLAG_COUNTER);
    late.apply(
      [
        [START_MS + 400 * STEP_MS, 1e6],
        [START_MS + 401 * STEP_MS, 1e6 + 1],
      ],
      5,
    );
    for (let from = 0; from < raw.length; from += 90) late.apply(raw.slice(Math.max(0, from - 1), from + 90), ARRIVAL_HISTORY);
    const deltas = new Map([...inOrder.stored, ...inOrder.ring()]);
    expect(deltas.size).toBe(399);
    for (const [timeMs, value] of deltas) expect([timeMs, late.stored.get(timeMs)]).toEqual([timeMs, value]);
  });
});

describe("a counter's past", () => {
  const step = fc.oneof(
    { weight: 20, arbitrary: fc.record({ by: fc.nat({ max: 1_000 }), to: fc.constant(-1) }) },
    { weight: 1, arbitrary: fc.record({ by: fc.constant(0), to: fc.nat({ max: 500 }) }) },
  );
  const plans = fc.record({
    unit: fc.constantFrom(1, 1, 0.1, Math.PI),
    first: fc.nat({ max: 100_000 }),
    pieces: fc.array(fc.array(step, { maxLength: 300, size: "max" }), { minLength: 1, maxLength: 4 }),
  });

  it("reads as it was sent, its resets too", () => {
    fc.assert(
      fc.property(plans, ({ unit, first, pieces }) => {
        const rig = new HistoryRig(FLAG_COUNTER);
        rig.apply([[START_MS, 1]], 0);
        let [timeMs, value] = [START_MS - 10_000_000_000, first * unit];
        const sent: Sample[] = [];
        for (const piece of pieces) {
          const samples = piece.map(({ by, to }): Sample => {
            value = to < 0 ? value + by * unit : to * unit;
            timeMs += STEP_MS;
            return [timeMs, value];
          });
          if (samples.length > 0) rig.apply(samples, ARRIVAL_HISTORY);
          sent.push(...samples);
        }
        const reader = new SentSamples(true);
        for (const chunk of rig.chunks) expect(reader.add(chunk)).toBe(true);
        const read = reader.finish();
        expect([...read.timesMs]).toEqual(sent.map(([time]) => time));
        for (const [index, [, expected]] of sent.entries())
          expect(Math.abs((read.values[index] as number) - expected)).toBeLessThanOrEqual(unit === 1 ? 0 : 1e-12 * Math.abs(expected));
      }),
      { numRuns: 100 },
    );
  });

  it("has no value twice: 250 whole counts take 250 deltas and the value before them", () => {
    const rig = new HistoryRig(FLAG_COUNTER);
    rig.apply([[START_MS, 1]], 0);
    rig.apply(
      Array.from({ length: 251 }, (_, i): Sample => [START_MS - 10_000_000 + i * STEP_MS, 1_000 + i * 15 + (i % 7)]),
      ARRIVAL_HISTORY,
    );
    expect(rig.chunks.map(([isForm, form]) => [isForm, form])).toEqual([[CHUNK_HAS_FORM, FORM_COUNTED | FORM_ANCHOR_INTEGER]]);
  });
});
