import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DECOMPRESSED, STAGING } from "../../../../src/core/layout/memory-map.ts";
import { PACKED_ROW_BYTES_MAX, ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../../src/core/layout/row-frame.ts";
import type { IngestExports } from "../../../../src/domain/kernel/ingest-kernel.ts";
import { loadKernel } from "../../../support/kernel.ts";
import { packRowsSlowly, type Row } from "../../../support/row-packing.ts";

const UNPACKED = STAGING + 0x80000;
const u32 = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.integer({ min: 0, max: 300 }), fc.constantFrom(0, 2 ** 31, 2 ** 32 - 1));
const bits = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
const anyRow: fc.Arbitrary<Row> = fc.record({ ref: u32, offset: u32, bits });
/** As senders write: refs one after another, a few samples of each, at one interval. */
const usualRows = fc
  .record({ ref: fc.nat(1000), series: fc.nat(40), samples: fc.integer({ min: 1, max: 10 }), step: fc.nat(60_000), value: bits })
  .map(({ ref, series, samples, step, value }) =>
    Array.from({ length: series * samples }, (_, i) => ({ ref: ref + Math.floor(i / samples), offset: (i % samples) * step, bits: value })),
  );
const someRows = fc.oneof(fc.array(anyRow, { maxLength: 200 }), usualRows);

describe("packed rows", () => {
  const { kernel, view, bytes } = loadKernel<IngestExports>();

  function put(rows: readonly Row[]): void {
    rows.forEach(({ ref, offset, bits: value }, i) => {
      view.setUint32(STAGING + i * ROW_BYTES + ROW_REF, ref, true);
      view.setUint32(STAGING + i * ROW_BYTES + ROW_OFFSET, offset, true);
      view.setBigUint64(STAGING + i * ROW_BYTES + ROW_VALUE, value, true);
    });
  }

  function get(rows: number): Row[] {
    return Array.from({ length: rows }, (_, i) => ({
      ref: view.getUint32(UNPACKED + i * ROW_BYTES + ROW_REF, true),
      offset: view.getUint32(UNPACKED + i * ROW_BYTES + ROW_OFFSET, true),
      bits: view.getBigUint64(UNPACKED + i * ROW_BYTES + ROW_VALUE, true),
    }));
  }

  it("are what the slow twin makes, and come back with every bit", () => {
    fc.assert(
      fc.property(someRows, (rows) => {
        put(rows);
        const packed = kernel.packRows(STAGING, rows.length, DECOMPRESSED);
        expect(packed).toBeLessThanOrEqual(rows.length * PACKED_ROW_BYTES_MAX);
        expect(bytes.slice(DECOMPRESSED, DECOMPRESSED + packed)).toEqual(packRowsSlowly(rows));
        expect(kernel.unpackRows(DECOMPRESSED, packed, UNPACKED, rows.length)).toBe(rows.length);
        expect(get(rows.length)).toEqual(rows);
      }),
    );
  });

  it("take 9 bytes where refs follow each other and the time stays", () => {
    put(Array.from({ length: 1000 }, (_, i) => ({ ref: i, offset: 0, bits: BigInt(i) })));
    expect(kernel.packRows(STAGING, 1000, DECOMPRESSED)).toBe(9000);
  });

  it("that do not fit or are cut off are told by one more than there is room for", () => {
    put([
      { ref: 7, offset: 9, bits: 1n },
      { ref: 1, offset: 3, bits: 2n },
    ]);
    const packed = kernel.packRows(STAGING, 2, DECOMPRESSED);
    expect(kernel.unpackRows(DECOMPRESSED, packed, UNPACKED, 1)).toBe(2);
    expect(kernel.unpackRows(DECOMPRESSED, packed - 1, UNPACKED, 2)).toBe(3);
  });
});
