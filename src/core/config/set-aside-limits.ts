// Bounds of what is set aside because it cannot be stored, read or applied.

/** Bytes of <data folder>/set-aside: four of the largest blocks of a log. Beyond, a thing is counted and said, and its bytes are not kept. */
export const SET_ASIDE_BYTES_MAX = 320 * 1024 * 1024;
/** Things in it, two files each: what one poisoned batch can leave is a few, and an operator looks through a list of a thousand. */
export const SET_ASIDE_FILES_MAX = 1_000;
