// The only place that reads the machine's clocks. Everything else is given these functions, or values from them.

export interface Clock {
  /** Milliseconds since 1970, for stamps. */
  wallMs(): number;
  /** Milliseconds on a clock that never steps and is the same for all threads of this process, for durations. */
  monotonicMs(): number;
}

/** The machine's clock. */
export const systemClock: Clock = {
  wallMs: () => Date.now(),
  monotonicMs: () => {
    const [seconds, nanoseconds] = process.hrtime();
    return seconds * 1e3 + nanoseconds / 1e6;
  },
};
