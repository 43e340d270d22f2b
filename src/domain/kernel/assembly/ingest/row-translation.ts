// Rows of an earlier log get the refs of this start. The log is read from what the oldest checkpoint covers on, so that about half of its rows are in the
// state already, or are other engines': they are passed over here, a few nanoseconds each. What is not known yet is left to TypeScript, which teaches it
// (actors/engine/recovery/replayed-refs.ts). Slow twin: in test/property/domain/kernel/row-translation.test.ts.
import { REPLAYED_COVERAGE, REPLAYED_REFS, REPLAYED_REFS_MAX } from "../../../../core/layout/memory-map";
import {
  COVERAGE_NO, COVERAGE_UNKNOWN, REPLAYED_NEW_REF, REPLAYED_OTHERS, REPLAYED_PARTITION, REPLAYED_OWNER, REPLAYED_REF_BYTES, REPLAYED_UNKNOWN,
} from "../../../../core/layout/replayed-refs";
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../../core/layout/row-frame";

let translated: u32 = 0;

/** Rows that the last translateRows() wrote. */
export function translatedRows(): u32 {
  return translated;
}

/**
 * Copies those of `rows` rows to `out` whose stream is this engine's and whose partition's checkpoint does not cover the block, with the refs of this
 * start. Answers how many rows it has dealt with: it stops before the first of which something is not known.
 */
export function translateRows(pointer: usize, rows: u32, out: usize): u32 {
  const end = pointer + <usize>rows * ROW_BYTES;
  let row = pointer;
  let to = out;
  let newRef: u32 = 0;
  let isSkipped = false;
  for (let last: u64 = U64.MAX_VALUE; row < end; row += ROW_BYTES) {
    const ref = load<u32>(row, ROW_REF);
    if (<u64>ref != last) {
      if (ref >= <u32>REPLAYED_REFS_MAX) break;
      const entry = <usize>REPLAYED_REFS + <usize>ref * REPLAYED_REF_BYTES;
      const owner = load<u32>(entry, REPLAYED_OWNER);
      if (owner == REPLAYED_UNKNOWN) break;
      isSkipped = owner == REPLAYED_OTHERS;
      if (!isSkipped) {
        const coverage = load<u8>(<usize>REPLAYED_COVERAGE + owner - REPLAYED_PARTITION);
        if (coverage == COVERAGE_UNKNOWN) break;
        isSkipped = coverage != COVERAGE_NO;
        newRef = load<u32>(entry, REPLAYED_NEW_REF);
        if (!isSkipped && newRef == 0) break;
      }
      last = ref;
    }
    if (isSkipped) continue;
    store<u32>(to, newRef - 1, ROW_REF);
    store<u32>(to, load<u32>(row, ROW_OFFSET), ROW_OFFSET);
    store<u64>(to, load<u64>(row, ROW_VALUE), ROW_VALUE);
    to += ROW_BYTES;
  }
  translated = <u32>((to - out) / ROW_BYTES);
  return <u32>((row - pointer) / ROW_BYTES);
}
