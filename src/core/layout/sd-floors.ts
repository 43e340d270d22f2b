// The least standard deviation that a judgement of values reckons with: of values that hardly vary, any step would be endless. Read by both compilers: numbers only.

export const SD_MIN = 1e-9;
/** The same relative to the values' level (decisions, section 2). */
export const SD_RELATIVE_MIN = 1e-3;
