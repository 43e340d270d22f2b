// Calendar months in UTC, by which accepted events are counted. A month is a number, so that it sorts and takes two bytes: 12 x year + month from 0.

/** Number of the month that a time in ms since 1970 lies in. */
export function monthOf(timeMs: number): number {
  const date = new Date(timeMs);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

/** First ms of a month; of `month + 1` the end of `month`. */
export function monthStartMs(month: number): number {
  return Date.UTC(Math.floor(month / 12), month % 12);
}

/** As 2026-11. */
export function monthText(month: number): string {
  return `${String(Math.floor(month / 12)).padStart(4, "0")}-${String((month % 12) + 1).padStart(2, "0")}`;
}

/** The month of a text as `monthText` writes it, of 1970 to 4999: rows of usage have 16 bits for it. Undefined for another. */
export function parseMonth(text: string): number | undefined {
  const match = /^(19[7-9][0-9]|[2-4][0-9]{3})-(0[1-9]|1[0-2])$/.exec(text);
  return match === null ? undefined : Number(match[1]) * 12 + Number(match[2]) - 1;
}

/** Tells the month of times that mostly lie in the month of the one before, without an object for each. */
export class MonthClock {
  #month = 0;
  #fromMs = 0;
  #toMs = 0;

  month(timeMs: number): number {
    if (timeMs < this.#fromMs || timeMs >= this.#toMs) {
      this.#month = monthOf(timeMs);
      this.#fromMs = monthStartMs(this.#month);
      this.#toMs = monthStartMs(this.#month + 1);
    }
    return this.#month;
  }
}
