// Packed rows of the log: the kernel against a twin of whole numbers. The input ends with its padding where the memory ends; canaries stand around the rows.
import { BODY_PADDING_BYTES, SCRATCH } from "../../../src/core/layout/memory-map.ts";
import { PACKED_ROW_BYTES_MAX, ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../src/core/layout/row-frame.ts";
import type { IngestExports } from "../../../src/domain/kernel/ingest-kernel.ts";
import { loadKernel } from "../../support/kernel.ts";
import { packRowsSlowly, unpackRowsSlowly } from "../../support/row-packing.ts";
import type { InputWriter } from "../input/input-writer.ts";
import type { Random } from "../input/random.ts";
import { type FuzzTarget, magnitude, must } from "../target.ts";

const ROWS_MAX = 20;
const GUARD = 0x5a;
const GUARD_BYTES = 64;
const OUT = SCRATCH + GUARD_BYTES;
const BEHIND = OUT + ROWS_MAX * ROW_BYTES;
const AGAIN = SCRATCH + 65_536;

export function packedRowsTarget(): FuzzTarget {
  const { kernel, bytes: memory, view } = loadKernel<IngestExports>();
  const check = (input: Uint8Array): number => {
    const pointer = memory.length - BODY_PADDING_BYTES - input.length;
    memory.set(input, pointer);
    memory.fill(0, pointer + input.length);
    memory.fill(GUARD, SCRATCH, OUT);
    memory.fill(GUARD, BEHIND, BEHIND + GUARD_BYTES);
    const rows = kernel.unpackRows(pointer, input.length, OUT, ROWS_MAX);
    for (let i = 0; i < GUARD_BYTES; i++) must(memory[SCRATCH + i] === GUARD && memory[BEHIND + i] === GUARD, "wrote outside the rows");
    const expected = unpackRowsSlowly(input, ROWS_MAX);
    must(rows === (expected?.length ?? ROWS_MAX + 1), `${rows} rows instead of ${expected?.length ?? "none"}`);
    if (expected === undefined) return -1;
    for (let i = 0; i < rows; i++) {
      const at = OUT + i * ROW_BYTES;
      const row = expected[i] as (typeof expected)[number];
      const same = view.getUint32(at + ROW_REF, true) === row.ref && view.getUint32(at + ROW_OFFSET, true) === row.offset;
      must(same && view.getBigUint64(at + ROW_VALUE, true) === row.bits, `row ${i} is another than the twin's`);
    }
    const bytes = kernel.packRows(OUT, rows, AGAIN);
    must(bytes <= rows * PACKED_ROW_BYTES_MAX, `${rows} rows take ${bytes} bytes`);
    must(
      Buffer.compare(memory.subarray(AGAIN, AGAIN + bytes), packRowsSlowly(expected)) === 0,
      "packed again it is another text than the twin's",
    );
    return magnitude(rows) * 64 + magnitude(input.length) * 4 + Math.sign(bytes - input.length) + 1;
  };
  return { name: "packed-rows", bytesMax: 512, tokens: [], write, check };
}

function write(out: InputWriter, random: Random): void {
  let ref = random.oneIn(2) ? 0 : random.next();
  let offset = random.below(1000);
  const rows = random.below(ROWS_MAX + 2);
  const packed = packRowsSlowly(
    Array.from({ length: rows }, () => {
      ref = random.oneIn(4) ? random.next() : (ref + 1) >>> 0;
      offset = random.oneIn(4) ? random.next() : offset;
      return { ref, offset, bits: BigInt(random.next()) << 32n };
    }),
  );
  out.raw(packed);
}
