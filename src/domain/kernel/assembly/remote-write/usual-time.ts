// The time of a sample as senders write it (isUsualSample() of remote-write-index.ts).

/** The time of a usual sample is a varint of six bytes. */
const USUAL_TIME_BITS: u64 = 0x7f7f7f7f7f7f;
// The samples of one scrape have one time: it is decoded once.
let lastTimeWord: u64 = 0;
let lastTime: i64 = 0;

// @ts-ignore
@inline
function usualTime(word: u64): i64 {
  const pairs = (word & 0x007f007f007f) | ((word & 0x7f007f007f00) >> 1); // 14 bits in each of three 16-bit places
  return (pairs & 0x3fff) | ((pairs >> 2) & 0xfffc000) | ((pairs >> 4) & 0x3fff0000000);
}

/** Time of the usual sample at p. */
// @ts-ignore
@inline
export function usualTimeAt(p: usize): i64 {
  const word = load<u64>(p, 12) & USUAL_TIME_BITS;
  if (word != lastTimeWord) {
    lastTimeWord = word;
    lastTime = usualTime(word);
  }
  return lastTime;
}
