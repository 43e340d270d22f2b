// Words of which many are zero: a bit for each, then those that are not. A page of 13,152 words takes 40 to 80 us to pack at any fill;
// deflate at its fastest takes 100 us where most are zero, and 1,000 to 3,000 where few are.

const BITS = 32;

/** Words that `words` words take at most when they are packed. */
export function packedSizeMax(length: number): number {
  return Math.ceil(length / BITS) + length;
}

/** Packs `words` into `packed` from the word `at` on; answers the word behind. */
export function packNonZero(slots: Uint32Array, packed: Uint32Array, at: number): number {
  const maskLength = Math.ceil(slots.length / BITS);
  let next = at + maskLength;
  for (let group = 0; group < maskLength; group++) {
    const from = BITS * group;
    const count = Math.min(BITS, slots.length - from);
    let mask = 0;
    for (let bit = 0; bit < count; bit++) {
      const word = slots[from + bit] as number;
      if (word === 0) continue;
      mask |= 1 << bit;
      packed[next++] = word;
    }
    packed[at + group] = mask;
  }
  return next;
}

/** Unpacks into `words`, which are all zero; false where `packed`, which has its own buffer, is not as long as it says. */
export function unpackNonZero(packed: Uint8Array<ArrayBuffer>, slots: Uint32Array): boolean {
  const maskLength = Math.ceil(slots.length / BITS);
  if (packed.length % 4 !== 0 || packed.length < 4 * maskLength) return false;
  const source = new Uint32Array(packed.buffer, 0, packed.length / 4);
  let next = maskLength;
  for (let group = 0; group < maskLength; group++) {
    let mask = source[group] as number;
    if (group === maskLength - 1 && slots.length % BITS !== 0 && mask >>> (slots.length % BITS) !== 0) return false;
    while (mask !== 0) {
      if (next >= source.length) return false;
      slots[BITS * group + 31 - Math.clz32(mask & -mask)] = source[next++] as number;
      mask &= mask - 1;
    }
  }
  return next === source.length;
}
