// Canonical identity text, written by the kernel for series whose texts need no escape in JSON: byte for byte what identityText(nameOfLabels(...)) of
// domain/series/stream-identity.ts gives. Sketch: 5 ns a label.
import { TENANT_HEAD } from "../../../../core/layout/memory-map";
import {
  environmentLabel, labelCount, labelTextBytes, metricLabel, nameBytesOf, nameOf, NO_LABEL, serviceLabel, valueBytesOf, valueOf,
} from "./series-labels";
import { isNameText, isUtf8, RETAINED } from "../wire/name-text";

/** Bytes behind a text that may be overwritten while it is written. */
export const TEXT_SLACK: u32 = 32;

const METRIC_NAME_BYTES: u32 = 8; // __name__
const UNKNOWN_SERVICE = memory.data<u8>([0x75, 0x6e, 0x6b, 0x6e, 0x6f, 0x77, 0x6e, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
const UNKNOWN_SERVICE_BYTES: u32 = 7;

const ESCAPED: u32 = 1; // a character that JSON writes otherwise, or DEL, which no name may have
const WIDE: u32 = 2; // a byte that is not ASCII

/** Of the labels that were read last. */
// @ts-ignore
@inline
export function serviceText(): usize {
  return serviceLabel == NO_LABEL ? UNKNOWN_SERVICE : valueOf(serviceLabel);
}
// @ts-ignore
@inline
export function serviceTextBytes(): u32 {
  return serviceLabel == NO_LABEL ? UNKNOWN_SERVICE_BYTES : valueBytesOf(serviceLabel);
}

/** Bytes of the identity of the labels that were read last, whose tenant's head has `headBytes`. */
export function identityBytes(headBytes: u32): u32 {
  let text = labelTextBytes - METRIC_NAME_BYTES;
  let members = labelCount - 1;
  if (serviceLabel == NO_LABEL) {
    text += UNKNOWN_SERVICE_BYTES;
  } else {
    text -= nameBytesOf(serviceLabel);
    members--;
  }
  if (environmentLabel != NO_LABEL) text += valueBytesOf(environmentLabel);
  // "environment","service","metric",{ "name":"value" , ... }]
  return headBytes + text + 10 + members * 5 + (members > 0 ? members - 1 : 0) + 2;
}

/**
 * Writes that identity; false when a text needs an escape or has DEL, is not UTF-8, or is a label's name or a service with other characters than ASCII, or
 * no name where it stands for one. */
export function writeIdentity(at: usize, headBytes: u32): bool {
  let to = at;
  for (let i: u32 = 0; i < headBytes; i += 16) v128.store(to + i, v128.load(<usize>TENANT_HEAD + i));
  to += headBytes;
  let wide: u32 = 0, seen: u32 = 0;
  store<u8>(to++, 0x22);
  if (environmentLabel != NO_LABEL) {
    const bytes = valueBytesOf(environmentLabel);
    seen = nameFlaws(valueOf(environmentLabel), bytes, copyText(to, valueOf(environmentLabel), bytes)); // as an attribute it is judged below
    to += bytes;
  }
  to = between(to);
  const serviceBytes = serviceTextBytes();
  seen |= copyText(to, serviceText(), serviceBytes);
  to = between(to + serviceBytes);
  const metricBytes = valueBytesOf(metricLabel);
  const metric = copyText(to, valueOf(metricLabel), metricBytes);
  to += metricBytes;
  store<u32>(to, 0x7b2c22); // ",{
  to += 3;
  wide |= metric & WIDE;
  seen |= nameFlaws(valueOf(metricLabel), metricBytes, metric);
  let separator: u32 = 0x22; // " at first, then ,"
  let separatorBytes: usize = 1;
  for (let index: u32 = 0; index < labelCount; index++) {
    if (index == metricLabel || index == serviceLabel) continue;
    store<u16>(to, <u16>separator);
    to += separatorBytes;
    separator = 0x222c;
    separatorBytes = 2;
    const nameBytes = nameBytesOf(index);
    seen |= copyText(to, nameOf(index), nameBytes);
    to += nameBytes;
    store<u32>(to, 0x223a22); // ":"
    to += 3;
    const bytes = valueBytesOf(index);
    const value = copyText(to, valueOf(index), bytes);
    wide |= value & WIDE;
    seen |= value & ESCAPED;
    to += bytes;
    store<u8>(to++, 0x22);
  }
  store<u16>(to, 0x5d7d); // }]
  store<u64>(to + 2, 0);
  return seen == 0 && (wide == 0 || valuesAreUtf8());
}

/** ESCAPED where a text that may have other characters than ASCII is no name for what was seen in it, else 0. */
// @ts-ignore
@inline
function nameFlaws(text: usize, bytes: u32, seen: u32): u32 {
  return (seen & WIDE) != 0 && !isNameText(text, bytes) ? ESCAPED : seen & ESCAPED;
}

/** "," */
// @ts-ignore
@inline
function between(to: usize): usize {
  store<u32>(to, 0x222c22);
  return to + 3;
}

/** Copies a text, up to 15 bytes more than it has, and says what it saw in it. */
// @ts-ignore
@inline
function copyText(to: usize, from: usize, bytes: u32): u32 {
  let escaped = i8x16.splat(0);
  let all = escaped;
  let left = <i32>bytes;
  while (left > 0) {
    let block = v128.load(from);
    v128.store(to, block);
    if (left < 16) block = v128.bitselect(block, i8x16.splat(0x20), v128.load(RETAINED + 16 - <usize>left));
    escaped = v128.or(escaped, v128.or(i8x16.lt_u(block, i8x16.splat(0x20)), v128.or(i8x16.eq(block, i8x16.splat(0x22)), v128.or(i8x16.eq(block, i8x16.splat(0x5c)), i8x16.eq(block, i8x16.splat(0x7f))))));
    all = v128.or(all, block);
    from += 16;
    to += 16;
    left -= 16;
  }
  return (v128.any_true(escaped) ? ESCAPED : 0) | (i8x16.bitmask(all) != 0 ? WIDE : 0);
}

function valuesAreUtf8(): bool {
  for (let index: u32 = 0; index < labelCount; index++) {
    if (!isUtf8(valueOf(index), valueBytesOf(index))) return false;
  }
  return true;
}
