// What is foreseen of the first values of a series. All that is found of a young one is a departure, and no hour is known by which its values are expected, so nothing
// else of a pair has a say: where no departure is news, judging them whole, as the next cycle does, would find nothing either.
import { DEPARTING_VALUES, type DepartureDetector } from "../departure/departure-detector.ts";
import type { RecentValues } from "../rolling/recent-values.ts";
import type { UsualInterval } from "../rolling/usual-interval.ts";
import { knowsNoHour } from "../seasonal/hour-profile.ts";
import type { OffsetMs } from "../seasonal/time-zone-hours.ts";
import { type momentOf, noteValue } from "./pair-moments.ts";
import type { NewValues, PairSurroundings } from "./pair-surroundings.ts";
import { compressedValue } from "./value-range.ts";

/** Parts of a pair that departures of a young series follow from. */
interface FirstParts {
  readonly interval: UsualInterval;
  readonly values: RecentValues;
  readonly departure: DepartureDetector;
  readonly moment: ReturnType<typeof momentOf>;
  readonly offsetMs: OffsetMs;
}

export class FirstValues {
  readonly #parts: FirstParts;

  constructor(parts: FirstParts) {
    this.#parts = parts;
  }

  /** Whether values of a pair that has seen none leave it young, and bring no departure that is news; false where more has to be asked. They change its state. */
  areQuiet({ times, values, count, pending }: NewValues, around: PairSurroundings): boolean {
    const { deployedMs, acceptedMs = 0, changedMs = 0, warmUntilMs = 0, knownDays } = around;
    if (deployedMs > 0 || acceptedMs > 0 || changedMs > 0 || warmUntilMs > 0 || knownDays !== undefined) return false;
    for (let i = 0; i < count; i++) if (!this.#isQuiet(times[i] as number, values[i] as number, i, around)) return false;
    return pending === undefined || count < DEPARTING_VALUES || this.#isQuiet(pending.timeMs, pending.mean, count, around);
  }

  /** Takes in one value behind so many. */
  #isQuiet(timeMs: number, observed: number, before: number, around: PairSurroundings): boolean {
    const { interval, values, departure, moment, offsetMs } = this.#parts;
    const { lastMs } = interval;
    interval.add(timeMs);
    if (!knowsNoHour(before, interval.ms)) return false;
    const value = compressedValue(observed);
    values.add(value);
    noteValue(moment, interval, timeMs, lastMs, around);
    moment.localMs = timeMs + offsetMs(timeMs);
    moment.hour = Number.NaN;
    moment.lenientUntilMs = 0;
    moment.acceptedMs = 0;
    departure.observe(timeMs, value, moment);
    return !departure.opened && departure.isYoung(interval.ms);
  }
}
