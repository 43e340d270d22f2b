// What a name may be, of bytes: the kernel's twin of domain/series/name-rule.ts, but for its length. Asked where a text is first seen. Sketch: 2 ns for 16 bytes of ASCII.

/** 16 bytes at RETAINED + 16 - n: n bytes that are kept, then those that are not. */
export const RETAINED = memory.data<u8>([
  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
]);

/** Whether all bytes are printable ASCII; up to 15 bytes behind them are read. */
export function isPrintable(p: usize, bytes: usize): bool {
  let others = i8x16.splat(0);
  for (let left = <isize>bytes; left > 0; left -= 16, p += 16) {
    let block = v128.load(p);
    if (left < 16) block = v128.bitselect(block, i8x16.splat(0x20), v128.load(RETAINED + 16 - <usize>left));
    others = v128.or(others, v128.or(i8x16.lt_s(block, i8x16.splat(0x20)), i8x16.eq(block, i8x16.splat(0x7f)))); // signed: bytes outside ASCII are below zero
  }
  return !v128.any_true(others);
}

/** Whether bytes are a name's: well-formed UTF-8 without control characters and line separators. Up to 15 bytes behind them are read. */
export function isNameText(p: usize, bytes: usize): bool {
  return isPrintable(p, bytes) || (isUtf8(p, bytes) && !holdsControl(p, bytes));
}

/** Whether well-formed text has a control character (C0, DEL, C1), U+2028 or U+2029. */
function holdsControl(p: usize, bytes: usize): bool {
  for (const end = p + bytes; p < end; p++) {
    const byte = <u32>load<u8>(p);
    if (byte < 0x20 || byte == 0x7f) return true;
    if (byte == 0xc2 && <u32>load<u8>(p, 1) < 0xa0) return true;
    if (byte == 0xe2 && load<u8>(p, 1) == 0x80 && (load<u8>(p, 2) & 0xfe) == 0xa8) return true;
  }
  return false;
}

/** Well-formed UTF-8 (Unicode 15, table 3-7): no overlong form, no surrogate, nothing beyond U+10FFFF. */
export function isUtf8(p: usize, bytes: usize): bool {
  const end = p + bytes;
  while (p < end) {
    const lead = <u32>load<u8>(p++);
    if (lead < 0x80) continue;
    if (lead < 0xc2 || lead > 0xf4) return false;
    const more: usize = lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
    if (p + more > end) return false;
    const second = <u32>load<u8>(p);
    const least: u32 = lead == 0xe0 ? 0xa0 : lead == 0xf0 ? 0x90 : 0x80;
    const most: u32 = lead == 0xed ? 0x9f : lead == 0xf4 ? 0x8f : 0xbf;
    if (second < least || second > most) return false;
    for (let i: usize = 1; i < more; i++) {
      if ((load<u8>(p + i) & 0xc0) != 0x80) return false;
    }
    p += more;
  }
  return true;
}
