/** Slow twin of src/domain/kernel/assembly/wire/snappy.ts, written from the format: github.com/google/snappy/blob/main/format_description.txt. */

/** What a raw snappy block holds; undefined when it is none, "too large" when it says that it holds more than `capacity` bytes. */
export function snappyDecode(block: Uint8Array, capacity: number): Uint8Array | "too large" | undefined {
  let size = 0;
  let at = 0;
  for (; ; at++) {
    const byte = block[at];
    if (byte === undefined || at === 5) return undefined;
    size += (byte & 127) * 2 ** (7 * at);
    if (byte < 128) break;
  }
  if (size >= 2 ** 32) return undefined;
  if (size > capacity) return "too large";
  const out = new Uint8Array(size);
  return decodeElements(block, at + 1, out) ? out : undefined;
}

function decodeElements(block: Uint8Array, from: number, out: Uint8Array): boolean {
  let at = from;
  let written = 0;
  while (at < block.length) {
    const tag = block[at++] as number;
    const kind = tag & 3;
    const extraBytes = kind === 0 ? Math.max(0, (tag >> 2) - 59) : kind === 3 ? 4 : kind;
    if (at + extraBytes > block.length) return false;
    let extra = 0;
    for (let i = 0; i < extraBytes; i++) extra += (block[at + i] as number) * 256 ** i;
    at += extraBytes;
    const length = kind === 1 ? ((tag >> 2) & 7) + 4 : kind === 0 && extraBytes > 0 ? extra + 1 : (tag >> 2) + 1;
    if (length > out.length - written) return false;
    if (kind === 0) {
      if (length > block.length - at) return false;
      out.set(block.subarray(at, at + length), written);
      at += length;
    } else {
      const offset = kind === 1 ? extra + (tag >> 5) * 256 : extra;
      if (offset === 0 || offset > written) return false;
      for (let i = 0; i < length; i++) out[written + i] = out[written + i - offset] as number;
    }
    written += length;
  }
  return written === out.length;
}
