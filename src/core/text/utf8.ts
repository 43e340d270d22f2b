// Sizes of text as UTF-8, without encoding it.

/** Bytes of `text` in UTF-8 (a lone surrogate counts as the three bytes of U+FFFD). */
export function utf8Bytes(text: string): number {
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

/** The longest beginning of `text` that takes at most `most` bytes and splits no character. */
export function cutToBytes(text: string, most: number): string {
  let bytes = 0;
  for (let at = 0; at < text.length; ) {
    const character = text.codePointAt(at) as number;
    bytes += character < 0x80 ? 1 : character < 0x800 ? 2 : character < 0x10000 ? 3 : 4;
    if (bytes > most) return text.slice(0, at);
    at += character < 0x10000 ? 1 : 2;
  }
  return text;
}

/** Whether `text` takes more than `most` bytes; cheap for the usual short text. */
export function isLongerThan(text: string, most: number): boolean {
  if (text.length * 3 <= most) return false;
  return text.length > most || utf8Bytes(text) > most;
}
