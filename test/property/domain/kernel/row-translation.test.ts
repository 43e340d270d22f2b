import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ColdStreams, RETURNED } from "../../../../src/actors/engine/cold/cold-streams.ts";
import { ReplayedRefs } from "../../../../src/actors/engine/recovery/replayed-refs.ts";
import type { EngineMemory, ProcessSlots } from "../../../../src/adapters/shared-memory/engine-memory.ts";
import { NumberMap } from "../../../../src/core/collections/number-map.ts";
import { COLD_SLOTS, REPLAYED_REFS, REPLAYED_REFS_MAX, STAGING, STAGING_BYTES } from "../../../../src/core/layout/memory-map.ts";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../../src/core/layout/row-frame.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import type { ShardKernel } from "../../../../src/domain/kernel/shard-kernel.ts";
import { loadKernel } from "../../../support/kernel.ts";
import type { Row } from "../../../support/row-packing.ts";

const PARTITIONS_USED = 4;
const SLOTS = 12;
const COLD_STREAMS = 4;
const UNPACKED = STAGING + STAGING_BYTES;
/** Where a stream is that has come back: behind the slots of the others. */
const returnedSlot = (id: number) => SLOTS + id;
const partitionOf = (slot: number) => slot % PARTITIONS_USED;

/** Some of them beyond what the kernel can be taught of. */
const ref = fc.oneof(
  { weight: 9, arbitrary: fc.nat(15) },
  { weight: 1, arbitrary: fc.constantFrom(REPLAYED_REFS_MAX, REPLAYED_REFS_MAX + 3) },
);
const slot = fc.oneof(
  fc.constant(-1),
  fc.nat(SLOTS - 1),
  fc.nat(COLD_STREAMS - 1).map((id) => COLD_SLOTS + id),
);
const someRows = fc
  .array(
    fc.record({ ref, samples: fc.integer({ min: 1, max: 4 }), offset: fc.nat(1000), bits: fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }) }),
    { maxLength: 30 },
  )
  .map((runs) =>
    runs.flatMap(({ samples, ...row }) => Array.from({ length: samples }, (_, i): Row => ({ ...row, offset: row.offset + i }))),
  );
const step = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant("bind" as const), ref, slot }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("return" as const), id: fc.nat(COLD_STREAMS - 1) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("epoch" as const), known: fc.array(fc.tuple(ref, slot), { maxLength: 5 }) }) },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant("block" as const), covered: fc.nat(2 ** PARTITIONS_USED - 1), rows: someRows }) },
);

describe("rows of an earlier log", () => {
  const { kernel, view, bytes } = loadKernel<IngestExports>();
  const uint32s = new Uint32Array(view.buffer);

  /** The refs under test, over streams that are numbers alone. */
  function makeRefs(world: { returned: Set<number>; covered: number }) {
    const bound: number[] = [];
    const refs = new ReplayedRefs({
      memory: { bytes, uint32s } as EngineMemory,
      ingest: kernel,
      kernel: { records: { partition: partitionOf }, bindRef: (_: number, target: number) => bound.push(target) } as unknown as ShardKernel,
      cold: {
        state: (id: number) => (world.returned.has(id) ? RETURNED : 0),
        slot: returnedSlot,
        partition: (id: number) => partitionOf(returnedSlot(id)),
      } as unknown as ColdStreams,
      processSlots: { takeRef: () => bound.length } as ProcessSlots,
      isBlockCovered: (partition) => ((world.covered >>> partition) & 1) === 1,
    });
    return { refs, bound };
  }

  function put(rows: readonly Row[]): void {
    rows.forEach((row, i) => {
      view.setUint32(UNPACKED + i * ROW_BYTES + ROW_REF, row.ref, true);
      view.setUint32(UNPACKED + i * ROW_BYTES + ROW_OFFSET, row.offset, true);
      view.setBigUint64(UNPACKED + i * ROW_BYTES + ROW_VALUE, row.bits, true);
    });
  }

  const get = (rows: number): Row[] =>
    Array.from({ length: rows }, (_, i) => ({
      ref: view.getUint32(STAGING + i * ROW_BYTES + ROW_REF, true),
      offset: view.getUint32(STAGING + i * ROW_BYTES + ROW_OFFSET, true),
      bits: view.getBigUint64(STAGING + i * ROW_BYTES + ROW_VALUE, true),
    }));

  it("come with the refs of their streams in this start, less what is covered or of no stream of this engine", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), (steps) => {
        const world = { returned: new Set<number>(), covered: 0 };
        const { refs, bound } = makeRefs(world);
        let slots = new Map<number, number>();
        for (const one of steps) {
          if (one.kind === "bind") {
            refs.bind(one.ref, one.slot);
            slots.set(one.ref, one.slot);
          } else if (one.kind === "return") {
            world.returned.add(one.id);
          } else if (one.kind === "epoch") {
            const known = new NumberMap();
            for (const [knownRef, knownSlot] of one.known) known.set(knownRef, knownSlot);
            refs.beginEpoch(known);
            slots = new Map(one.known);
          } else {
            world.covered = one.covered;
            refs.beginBlock();
            put(one.rows);
            const came = get(refs.translate(UNPACKED, one.rows.length, STAGING));
            const streams = came.map(({ ref: newRef, ...row }) => ({ ...row, slot: bound[newRef] }));
            expect(streams).toEqual(
              one.rows.flatMap(({ ref: oldRef, ...row }) => {
                const known = slots.get(oldRef) ?? -1;
                const id = known - COLD_SLOTS;
                const target = id >= 0 && world.returned.has(id) ? returnedSlot(id) : known;
                if (target < 0) return [];
                const partition = partitionOf(target >= COLD_SLOTS ? returnedSlot(id) : target);
                return ((one.covered >>> partition) & 1) === 1 ? [] : [{ ...row, slot: target }];
              }),
            );
          }
        }
        // One ref a stream, and nothing left where the ingest's table comes.
        expect(new Set(bound).size).toBe(bound.length);
        refs.forget();
        for (let taught = 0; taught < 16; taught++) expect(uint32s[(REPLAYED_REFS >>> 2) + 2 * taught + 1]).toBe(0);
      }),
    );
  });
});
