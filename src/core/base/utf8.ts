// Sizes of text as UTF-8, without encoding it.

/** Bytes of `text` in UTF-8 (a lone surrogate counts as the three bytes of U+FFFD). */
function utf8Bytes(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    bytes += unit < 0x800 ? 1 : 2;
    if (unit >= 0xd800 && unit <= 0xdbff) {
      const low = text.charCodeAt(i + 1);
      if (low >= 0xdc00 && low <= 0xdfff) i++;
    }
  }
  return bytes;
}

/** Whether `text` takes more than `most` bytes; cheap for the usual short text. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length * 3 <= most) return false;
  return text.length > most || utf8Bytes(text) > most;
}
