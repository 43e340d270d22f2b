// Keys of spans as src/domain/trace/span-key.ts makes them, from ids in bytes.

const MULTIPLIER_HIGH: u32 = 0x85ebca6b;
const MULTIPLIER_LOW: u32 = 0xc2b2ae35;

let traceHigh: u32 = 0;
let traceLow: u32 = 0;

/** The key of the span that was hashed last. */
export let keyHigh: u32 = 0;
export let keyLow: u32 = 0;

// @ts-ignore
@inline
function mix(hash: u32, word: u32, multiplier: u32): u32 {
  const mixed = (hash ^ word) * multiplier;
  return mixed ^ (mixed >> 15);
}

// @ts-ignore
@inline
function finish(hash: u32): u32 {
  const h = (hash ^ (hash >> 16)) * 0x85ebca6b;
  const g = (h ^ (h >> 13)) * 0xc2b2ae35;
  return g ^ (g >> 16);
}

/** Goes on with the spans of a trace, whose id lies there in 16 bytes; the hash that all of them share. */
export function hashTrace(id: usize, seed: u32): u32 {
  let high = seed, low = ~seed;
  for (let at: usize = 0; at < 16; at += 4) {
    const word = bswap<u32>(load<u32>(id + at));
    high = mix(high, word, MULTIPLIER_HIGH);
    low = mix(low, word, MULTIPLIER_LOW);
  }
  traceHigh = high;
  traceLow = low;
  return finish(high ^ low);
}

/** Hashes a span of that trace by its id of 8 bytes. */
export function hashSpanId(id: usize): void {
  const first = bswap<u32>(load<u32>(id)), second = bswap<u32>(load<u32>(id, 4));
  keyHigh = finish(mix(mix(traceHigh, first, MULTIPLIER_HIGH), second, MULTIPLIER_HIGH));
  keyLow = finish(mix(mix(traceLow, first, MULTIPLIER_LOW), second, MULTIPLIER_LOW));
}
