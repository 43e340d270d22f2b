// Bounds of what is set aside because it cannot be stored, read or applied.

/** Bytes of <data folder>/set-aside: four of the largest blocks of a log. Beyond, a thing is counted and said, and its bytes are not kept. */
export const SET_ASIDE_BYTES_MAX = 320 * 1024 * 1024;
/** Things in it, two files each: what one poisoned batch can leave is a few, and an operator looks through a list of a thousand. */
export const SET_ASIDE_FILES_MAX = 1_000;
/** Stored rows that one start sets aside: each costs reading the stores anew, some seconds for large ones. A start that needs more ends with one line, and all rows are where they were. */
export const ROWS_SET_ASIDE_PER_START_MAX = 64;
/** Notes of what threads were working at when they threw, 300 bytes each: they go with what they name, and every run that fails adds one for each thread. */
export const POISON_MARKS_MAX = 1_000;
/** Starts that `vedette` makes by itself after ones that ended by something that the next passes over. Each makes progress; that many in one go is a defect that needs a person. */
export const STARTS_AFTER_POISON_MAX = 8;
