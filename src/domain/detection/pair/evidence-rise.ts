// Whether evidence that goes on is still news: for a while after it has risen, and again once it was gone for as long, or long after people were informed of it.

/** Numbers of state: when it rose, when it was there last, and whether people were told. */
export const RISE_LENGTH = 3;
const ROSE = 0;
const LAST = 1;
const REPORTED = 2;

/** Intervals from its rise in which evidence is news; without it for as long, the next is. */
const NEWS_INTERVALS = 12;
/** Intervals after a rise that was told, before which the next is none. */
const REST_INTERVALS = 60;

/** Over caller-owned state of RISE_LENGTH numbers, all 0 at the start. */
export class EvidenceRise {
  readonly #floats: Float64Array;

  constructor(floats: Float64Array) {
    this.#floats = floats;
  }

  /** Takes that the evidence is there at this time; whether it is news. */
  isNews(timeMs: number, intervalMs: number): boolean {
    const floats = this.#floats;
    const isNew = timeMs - (floats[LAST] as number) > NEWS_INTERVALS * intervalMs && floats[REPORTED] !== 1;
    if (isNew || timeMs - (floats[ROSE] as number) > REST_INTERVALS * intervalMs) {
      floats[ROSE] = timeMs;
      floats[REPORTED] = 0;
    }
    floats[LAST] = timeMs;
    return timeMs - (floats[ROSE] as number) <= NEWS_INTERVALS * intervalMs;
  }

  /** People were told. */
  tell(): void {
    this.#floats[REPORTED] = 1;
  }
}
