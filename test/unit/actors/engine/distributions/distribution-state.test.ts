// What a checkpoint keeps of histograms: pieces of a bounded size, taken while points go on coming, from which another start goes on.

import { describe, expect, it } from "vitest";
import { BucketFamily } from "../../../../../src/actors/engine/distributions/bucket-family.ts";
import { DerivedQuantiles } from "../../../../../src/actors/engine/distributions/derived-quantiles.ts";
import { DistributionHandler } from "../../../../../src/actors/engine/distributions/distribution-handler.ts";
import { DistributionIntake } from "../../../../../src/actors/engine/distributions/distribution-intake.ts";
import { readFamily, writeFamily } from "../../../../../src/actors/engine/distributions/family-state.ts";
import type { EngineCounters } from "../../../../../src/actors/engine/report/engine-counters.ts";
import type { DerivedSeries } from "../../../../../src/actors/engine/shard/derived-series.ts";
import { STATE_PIECE_BYTES_MAX } from "../../../../../src/core/config/limits.ts";
import type { StreamName } from "../../../../../src/core/protocol/coordinator-frame.ts";
import { ByteWriter } from "../../../../../src/domain/codec/byte-writer.ts";
import { pieceReader } from "../../../../../src/domain/distribution/series-state.ts";
import { partitionOf } from "../../../../../src/domain/placement/partition.ts";
import { explicitPoint } from "../../../../support/distribution-points.ts";
import { generator } from "../../../../support/generator.ts";
import { openLedger } from "../../../../support/share-ledgers.ts";

const START = Date.UTC(2026, 0, 5, 12);
const SERIES = 1500;
const PARTITION = partitionOf("default", "service");

/** A handler whose values go into a list. */
class Rig {
  readonly written: string[] = [];
  readonly #series = {
    openWithin: ({ metricName, attributes }: StreamName) => ({ ref: `${attributes["route"]} ${metricName}` }),
    open: ({ metricName, attributes }: StreamName) => ({ ref: `${attributes["route"]} ${metricName}` }),
    write: ({ ref }: { ref: string }, timeMs: number, value: number) => void this.written.push(`${ref} ${timeMs - START} ${value}`),
    writeWidth: () => undefined,
    end: ({ ref }: { ref: string }, timeMs: number) => void this.written.push(`${ref} ${timeMs - START} ends`),
    flush: () => undefined,
  } as unknown as DerivedSeries;
  readonly handler = new DistributionHandler(
    { seriesLimit: 1e6, idleMs: Number.POSITIVE_INFINITY, normalize: true },
    {
      series: this.#series,
      counters: { add: () => undefined, set: () => undefined } as unknown as EngineCounters,
      streams: () => 0,
      shares: { series: openLedger(), bytes: openLedger() },
    },
  );
  readonly #writer = new DistributionIntake({ mayHave: () => true });

  family(): BucketFamily {
    const name = { tenant: "default", environment: "", serviceId: "service", metricName: "wait", attributes: { route: "é" } };
    const dependencies = { series: this.#series, seriesLimit: 1e6, countRefused: () => undefined };
    return new BucketFamily("identity é", name, PARTITION, new DerivedQuantiles(name, dependencies));
  }

  send(route: number, onInterval: number): void {
    const unit = {
      addMessage: (_: number, partition: number, payload: Uint8Array) =>
        this.handler.take(partition, new Uint8Array(payload), { baseMs: 0, arrivalMs: 0 }),
    };
    const names = { serviceId: "service", environment: "", metricName: "latency", attributes: { route: `/é/${route}` } };
    const point = explicitPoint(new Array(5 + onInterval * (1 + (route % 7))).fill(3), [1, 5, 10]);
    const given = { ...point, ...names, temporality: "cumulative" as const, timeMs: START + onInterval * 1000 };
    const problem = this.#writer.add(unit, { tenant: 0, tenantName: "default", wallMs: START }, given);
    expect(problem).toBeUndefined();
  }
}

it("is cut into pieces, between which points come, and goes on elsewhere", () => {
  const rig = new Rig();
  for (let onInterval = 0; onInterval < 3; onInterval++) for (let route = 0; route < SERIES; route++) rig.send(route, onInterval);
  const pieces: Uint8Array[] = [];
  for (const piece of rig.handler.save(PARTITION)) {
    expect(piece.length).toBeLessThanOrEqual(STATE_PIECE_BYTES_MAX);
    pieces.push(piece);
    for (let route = 0; route < SERIES; route += 3) rig.send(route, 3);
  }
  expect(pieces.length).toBeGreaterThan(2);
  const next = new Rig();
  for (const piece of pieces) next.handler.restore(PARTITION, piece);
  const before = rig.written.length;
  // All that came since the state was begun comes again, and then something new.
  for (let onInterval = 2; onInterval < 5; onInterval++) for (let route = 0; route < SERIES; route++) next.send(route, onInterval);
  for (let onInterval = 3; onInterval < 5; onInterval++) for (let route = 0; route < SERIES; route++) rig.send(route, onInterval);
  const last = (lines: readonly string[]) => lines.filter((line) => line.includes(" 4000 ")).sort();
  expect(last(rig.written.slice(before))).toHaveLength(SERIES * (5 + 6)); // and what is for queries: buckets of three bounds and of all, count and sum
  expect(last(next.written)).toEqual(last(rig.written));
});

describe("a family of buckets", () => {
  it("comes back with its times, whole counts and others, and says the same then", () => {
    const { uniform } = generator(3);
    let written = 0;
    for (let round = 0; round < 50; round++) {
      const rig = new Rig();
      const family = rig.family();
      const bounds = [0.5, 1, 2.5, 10, Number.POSITIVE_INFINITY].slice(Math.floor(uniform() * 3));
      const isWhole = uniform() < 0.7;
      const counts = bounds.map(() => 0);
      for (let onInterval = 0; onInterval < 12; onInterval++) {
        bounds.forEach((bound, i) => {
          counts[i] = (counts[i] as number) + (isWhole ? Math.floor(uniform() * 5) : uniform()) + i;
          if (uniform() < 0.9) family.take(family.bucket(bound), START + onInterval * 1000, counts[i] as number);
        });
        if (uniform() < 0.8) family.settle();
      }
      const writer = new ByteWriter();
      writeFamily(writer, family);
      const copy = new Rig();
      const reader = pieceReader(writer.bytes.subarray(0, writer.at));
      const read = readFamily(reader, (identity) => {
        expect(identity).toBe("identity é");
        return copy.family();
      });
      expect(reader.at).toBe(writer.at);
      const again = new ByteWriter();
      writeFamily(again, read);
      expect(Buffer.compare(again.bytes.subarray(0, again.at), reader.bytes)).toBe(0);
      rig.written.length = 0;
      for (const one of [family, read]) {
        bounds.forEach((bound, i) => {
          one.take(one.bucket(bound), START + 12_000, (counts[i] as number) + 1 + i);
        });
        one.settle();
      }
      expect(copy.written).toEqual(rig.written);
      written += copy.written.length;
    }
    expect(written).toBeGreaterThan(50);
  });
});
