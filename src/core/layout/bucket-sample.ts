// A sample of a classic histogram's bucket, as the kernel hands it to the families of buckets. Read by both compilers: integer constants only.
export const BUCKET_SAMPLE_BYTES = 32;
export const BUCKET_SLOT = 0; // u32
export const BUCKET_BEGAN = 4; // u32, 1: the start time tells that all of the count was added since the sample before
export const BUCKET_TIME = 8; // f64, ms since 1970
export const BUCKET_VALUE = 16; // f64, cumulative; the stale marker where the bucket ended
export const BUCKET_ARRIVAL = 24; // f64, monotonic ms, from the frame
