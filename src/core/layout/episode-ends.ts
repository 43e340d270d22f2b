// When a finding ends without having recovered, and when a hold on telling of it ends. Read by both compilers: integer constants only.

/** Duration, and number of values, after which what lasts is the new level. */
export const ACCEPTED_MS = 21600000; // 6 h
export const ACCEPTED_VALUES = 24;
/** Duration after which nothing at all is the new level, where there was something: a tenth of what was expected, or less. */
export const NOTHING_ACCEPTED_MS = 604800000; // 7 days
export const NOTHING_DIVISOR = 10;

/** A window of fewer values than came since its episode opened, and than this, gives way to those where one in so many lies beyond half a standard deviation on each side: it was calm by chance. */
export const SCATTER_BASELINE_VALUES = 60;
export const SCATTER_SHARE = 8;

/** Duration and number of values in a row, beyond the bar on one side, after which a hold ends, and the values that the baseline must have. */
export const LASTING_MS = 180000; // 3 min
export const LASTING_VALUES = 4;
export const LASTING_BASELINE_VALUES = 20;

/** So many values in a row, each so many standard deviations out and away from the mean by so many times it, end a hold at once: single odd values stand alone. Of fewer values than above they must have been more than nothing. */
export const EXTREME_VALUES = 2;
export const EXTREME_SD = 20;
export const EXTREME_MOVE = 3;
