// Buckets of histograms. Those of classic ones are streams: their samples go to their families as well, in a list that TypeScript reads. A stream is one when it is a counter and its
// metric's name ends with _bucket, which is seen once, when its slot is made; TypeScript takes the flag away where that was an attribute's value.
import {
  BUCKET_ARRIVAL, BUCKET_BEGAN, BUCKET_SAMPLE_BYTES, BUCKET_SLOT, BUCKET_TIME, BUCKET_VALUE,
} from "../../../../core/layout/bucket-sample";
import { EVENT_BUCKETS_DUE } from "../../../../core/layout/kernel-event";
import { BUCKET_SAMPLES, BUCKET_SAMPLES_BYTES } from "../../../../core/layout/memory-map";
import {
  FLAG_BUCKET, FLAG_COUNTER, SERVICE_LABEL_QUERY_ONLY, SR_FLAGS, SR_IDENTITY, SR_IDENTITY_BYTES, SR_LAST_TIME, SR_SERVICE_LABEL, SR_WIDTH,
} from "../../../../core/layout/stream-record";
import { emitPlain } from "./shard-event";
import { recordOf } from "./shard-table";

const CAPACITY: u32 = BUCKET_SAMPLES_BYTES / BUCKET_SAMPLE_BYTES;
/** `_bucket"` */
const SUFFIX: u64 = 0x2274656b6375625f;

/** What a value takes of the width that is remembered: half in eleven. */
const FORGOTTEN: f64 = 1.0 / 16.0;

let count: u32 = 0;

/** Entries of BUCKET_SAMPLE_BYTES at BUCKET_SAMPLES, oldest first. */
export function bucketSamples(): u32 {
  return count;
}

/** Forgets them, once they have been read. */
export function bucketSamplesReset(): void {
  count = 0;
}

/** Gives a stream FLAG_BUCKET if it is a counter with such a name that is judged. About 1 ns a byte of a counter's identity. */
export function markBucket(slot: u32): void {
  const r = recordOf(slot);
  const flags = load<u32>(r, SR_FLAGS);
  if ((flags & FLAG_COUNTER) == 0 || load<u8>(r, SR_SERVICE_LABEL) == SERVICE_LABEL_QUERY_ONLY) return;
  let p = <usize>load<u32>(r, SR_IDENTITY);
  for (const stop = p + load<u32>(r, SR_IDENTITY_BYTES); p + 8 <= stop; p++) {
    if (load<u64>(p) != SUFFIX) continue;
    store<u32>(r, flags | FLAG_BUCKET, SR_FLAGS);
    return;
  }
}

/** Takes the width of the bucket that the stream's next value lies in, at `time`. One that comes again, or is of a value that was taken, changes nothing. */
export function takeWidth(r: usize, time: f64, width: f64): void {
  if (time <= load<f64>(r, SR_LAST_TIME) || (load<u32>(r, SR_FLAGS) & FLAG_COUNTER) != 0) return;
  const known = load<f64>(r, SR_WIDTH);
  store<f64>(r, max(width, known - FORGOTTEN * known), SR_WIDTH);
}

/** Appends a sample; `began` when its count is whole, as its start time tells. The row that fills the list is the last that is taken before TypeScript has read it. */
export function addBucketSample(slot: u32, time: f64, value: f64, began: bool, arrivalMs: f64): void {
  if (count == CAPACITY) return;
  const at = <usize>BUCKET_SAMPLES + <usize>count * BUCKET_SAMPLE_BYTES;
  store<u32>(at, slot, BUCKET_SLOT);
  store<u32>(at, began ? 1 : 0, BUCKET_BEGAN);
  store<f64>(at, time, BUCKET_TIME);
  store<f64>(at, value, BUCKET_VALUE);
  store<f64>(at, arrivalMs, BUCKET_ARRIVAL);
  if (++count == CAPACITY) emitPlain(EVENT_BUCKETS_DUE, slot, time, 0, 0, arrivalMs);
}
