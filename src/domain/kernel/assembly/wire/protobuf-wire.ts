// The protobuf wire format, checked: https://protobuf.dev/programming-guides/encoding/
// Reads may run up to 19 bytes over the end of a message before the position is compared with it; a body's padding covers that.

export const WIRE_VARINT: u32 = 0;
export const WIRE_FIXED64: u32 = 1;
export const WIRE_BYTES: u32 = 2;
export const WIRE_FIXED32: u32 = 5;

/** The varint that was read last. */
export let varint: u64 = 0;
// The field that was read last; its content lies between payload and the position that readField() returned.
export let fieldNumber: u32 = 0;
export let wireType: u32 = 0;
export let payload: usize = 0;

/** Reads a varint and returns the position behind it, or 0 when it has more than ten bytes. Bits over 64 are dropped, as other decoders do. */
export function readVarint(p: usize): usize {
  let value: u64 = 0;
  for (let shift: u64 = 0; shift < 70; shift += 7) {
    const byte = <u64>load<u8>(p++);
    value |= (byte & 127) << shift;
    if (byte < 128) {
      varint = value;
      return p;
    }
  }
  return 0;
}

/** Reads the field at p and returns the position behind it, or 0 when it is malformed, a group, or runs over `end`. */
export function readField(p: usize, end: usize): usize {
  p = readVarint(p);
  if (p == 0 || varint > <u64>U32.MAX_VALUE) return 0;
  fieldNumber = <u32>varint >> 3;
  wireType = <u32>varint & 7;
  if (fieldNumber == 0) return 0;
  payload = p;
  if (wireType == WIRE_BYTES) {
    p = readVarint(p);
    if (p == 0 || p > end || varint > <u64>(end - p)) return 0;
    payload = p;
    return p + <usize>varint;
  }
  if (wireType == WIRE_VARINT) p = readVarint(p);
  else if (wireType == WIRE_FIXED64) p += 8;
  else if (wireType == WIRE_FIXED32) p += 4;
  else return 0;
  return p > end ? 0 : p;
}

/**
 * Reads the field at p as readField() does, without its loops where it is bytes under a tag of one byte and a length of one or two: messages that follow
 * each other by the thousand.
 */
// @ts-ignore
@inline
export function readRepeated(p: usize, end: usize, tag: u32): usize {
  if (<u32>load<u8>(p) == tag) {
    let bytes = <u32>load<u8>(p, 1), content = p + 2;
    if (bytes >= 128) {
      const high = <u32>load<u8>(p, 2);
      bytes = high < 128 ? (bytes & 127) | (high << 7) : U32.MAX_VALUE;
      content = p + 3;
    }
    const next = content + <usize>bytes;
    if (bytes != U32.MAX_VALUE && next <= end) {
      fieldNumber = tag >> 3;
      wireType = WIRE_BYTES;
      payload = content;
      return next;
    }
  }
  return readField(p, end);
}
