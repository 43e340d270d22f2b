// How much of their threads the Watchdog, stored pasts and roll-ups take, and when.

/** A cycle of the Watchdog is to be over by then, or in so much of a short interval: people wait for what it finds, and the stream has the rest. */
export const WATCHDOG_CYCLE_MS_GOAL = 3_000;
export const WATCHDOG_CYCLE_SHARE_GOAL = 0.2;
/** Bodies that wait come first while it can be over by then with less than half of its engines' time. */
export const WATCHDOG_CYCLE_MS_MAX = 4_500;
export const WATCHDOG_CYCLE_SHARE_MAX = 0.3;
/** Work of a Watchdog pass between two bodies: about what a small body takes, and while a cycle is behind at most what a large one does. */
export const WATCHDOG_SLICE_MS_MIN = 0.5;
export const WATCHDOG_SLICE_MS_MAX = 2;
/** Work of a pass for one question: the more, the less is asked; its answer comes in so many ms at the latest, whatever else the engine does. */
export const WATCHDOG_QUESTION_MS_MIN = 2;
export const WATCHDOG_QUESTION_MS_MAX = 8;
export const WATCHDOG_ANSWER_MS = 100;
/** An engine is busy that had a body within so long: ten a second are a load, however short a question is. */
export const WATCHDOG_BUSY_MS = 100;
/** Between two questions to a busy engine, however little there is to do. */
export const WATCHDOG_REST_MS_MAX = 20;

/** Stored history for a training is gathered in so much of the coordinator's time, and so many ms at once: some 30 ms a service. */
export const TRAINING_READ_SHARE = 0.25;
export const TRAINING_READ_MS = 1;

/** Stored pasts of bounded series are read in so much of the coordinator's time, and so many ms at once: 12 s of work between two passes. */
export const SATURATION_AGGREGATE_SHARE = 0.1;
export const SATURATION_AGGREGATE_MS = 1;

/** Roll-ups of a round of retention are to be over in so much of the time until the next: they go on beside the stream, evenly, and nobody waits for them. */
export const ROLLUP_CYCLE_SHARE = 0.75;
/** The least of the coordinator's time that they take while there are some to be made: what a load of a million samples a second needs. */
export const ROLLUP_SHARE_MIN = 0.05;
/** The most, also where a round is late: verdicts go on beside it, and it catches up with five million samples a second. */
export const ROLLUP_SHARE_MAX = 0.5;
