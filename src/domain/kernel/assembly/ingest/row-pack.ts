// Rows of a unit of work as the log keeps them: 9 bytes instead of 16 where streams come in the order of their refs, which is how senders repeat them.
// Less to write, to sum and to read again. A row is
//
//   code varint      bit 0: the time moved on as much as at the row before; above it, zigzag, how much larger the ref is than one more than the last
//   move varint      only where bit 0 is 0: zigzag, milliseconds since the row before
//   value f64
//
// The first row is expected to have ref 0, and counts from time and move 0. Slow twin: test/support/row-packing.ts.
import { ROW_BYTES, ROW_OFFSET, ROW_REF, ROW_VALUE } from "../../../../core/layout/row-frame";

// @ts-ignore
@inline
function zigzag(value: i64): u64 {
  return <u64>((value << 1) ^ (value >> 63));
}

// @ts-ignore
@inline
function unzigzag(code: u64): i64 {
  return <i64>(code >> 1) ^ -(<i64>(code & 1));
}

function writeVarint(at: usize, value: u64): usize {
  while (value > 127) {
    store<u8>(at++, <u8>(value & 127) | 128);
    value >>= 7;
  }
  store<u8>(at++, <u8>value);
  return at;
}

/** Packs rows to `out`, which has PACKED_ROW_BYTES_MAX bytes for each; answers how many bytes they take. */
export function packRows(pointer: usize, rows: u32, out: usize): u32 {
  const end = pointer + <usize>rows * ROW_BYTES;
  let at = out;
  let expected: u32 = 0;
  let offset: u32 = 0;
  let move: i64 = 0;
  for (let row = pointer; row < end; row += ROW_BYTES) {
    const ref = load<u32>(row, ROW_REF), nextOffset = load<u32>(row, ROW_OFFSET);
    const nextMove = <i64>nextOffset - <i64>offset;
    const step = zigzag(<i64>ref - <i64>expected) << 1;
    if (nextMove == move) {
      at = step < 128 ? one(at, <u8>(step | 1)) : writeVarint(at, step | 1);
    } else {
      at = writeVarint(writeVarint(at, step), zigzag(nextMove));
      move = nextMove;
    }
    store<u64>(at, load<u64>(row, ROW_VALUE));
    at += 8;
    expected = ref + 1;
    offset = nextOffset;
  }
  return <u32>(at - out);
}

// @ts-ignore
@inline
function one(at: usize, byte: u8): usize {
  store<u8>(at, byte);
  return at + 1;
}

let varint: u64 = 0;

function readVarint(at: usize): usize {
  let value: u64 = 0;
  for (let shift: u64 = 0; ; shift += 7) {
    const byte = <u64>load<u8>(at++);
    value |= (byte & 127) << shift;
    if (byte < 128 || shift == 63) break;
  }
  varint = value;
  return at;
}

/** Unpacks `bytes` to rows at `out`, at most `most`, and answers how many there were; more than `most` when they do not fit, or run over their end. */
export function unpackRows(pointer: usize, bytes: u32, out: usize, most: u32): u32 {
  const end = pointer + bytes;
  let at = pointer;
  let row = out;
  let rows: u32 = 0;
  let expected: u32 = 0;
  let offset: u32 = 0;
  let move: i64 = 0;
  while (at < end) {
    if (rows == most) return most + 1;
    at = readVarint(at);
    const ref = <u32>(<i64>expected + unzigzag(varint >> 1));
    if ((varint & 1) == 0) {
      at = readVarint(at);
      move = unzigzag(varint);
    }
    if (at + 8 > end) return most + 1;
    offset = <u32>(<i64>offset + move);
    store<u32>(row, ref, ROW_REF);
    store<u32>(row, offset, ROW_OFFSET);
    store<u64>(row, load<u64>(at), ROW_VALUE);
    at += 8;
    row += ROW_BYTES;
    rows++;
    expected = ref + 1;
  }
  return rows;
}
