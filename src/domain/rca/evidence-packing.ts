// Evidence of series between threads: numbers in one array, since objects cost ten times as much to move, and each name once (series-names.ts), since texts
// cost as much as the departures themselves.
//
//   number of the name, mean, sd, peak, peak at, onset at, novelty, shift, onset ms, windows n, interval ms, n novelties of the past
import type { SeriesEvidence } from "./evidence.ts";

const NUMBERS = 11;
/** Numbers that there is room for at first: 200 series. It doubles. */
const ROOM_MIN = 8_192;

/** Parts of a series that are packed. */
export interface SeriesToPack extends Pick<SeriesEvidence, "departure" | "onsetMs" | "intervalMs"> {
  /** Number of its name. */
  readonly name: number;
}

/** Series that are being packed, in memory that is used again. */
export class SeriesPacker {
  #numbers = new Float64Array(ROOM_MIN);
  #used = 0;

  add({ name, departure, onsetMs, intervalMs }: SeriesToPack): void {
    const { mean, sd, peak, peakAt, onsetAt, novelty, shift, past } = departure;
    const at = this.#used;
    this.#used += NUMBERS + past.length;
    while (this.#used > this.#numbers.length) this.#grow();
    const numbers = this.#numbers;
    numbers[at] = name;
    numbers[at + 1] = mean;
    numbers[at + 2] = sd;
    numbers[at + 3] = peak;
    numbers[at + 4] = peakAt;
    numbers[at + 5] = onsetAt;
    numbers[at + 6] = novelty;
    numbers[at + 7] = shift;
    numbers[at + 8] = onsetMs;
    numbers[at + 9] = past.length;
    numbers[at + 10] = intervalMs;
    numbers.set(past, at + NUMBERS);
  }

  /** A copy of what was packed, whose buffer may be moved; begins anew. */
  take(): Float64Array<ArrayBuffer> {
    const taken = this.#numbers.slice(0, this.#used);
    this.#used = 0;
    return taken;
  }

  #grow(): void {
    const more = new Float64Array(2 * this.#numbers.length);
    more.set(this.#numbers);
    this.#numbers = more;
  }
}

/** A series that was packed, with what stands for its name. */
export interface UnpackedSeries<Name> {
  readonly name: Name;
  readonly one: SeriesEvidence;
}

/** Reads what was packed, in its order. Throws where a name is not known or numbers are missing. */
export function unpackSeries<Name extends { readonly of: SeriesName }>(
  numbers: Float64Array,
  nameOf: (number: number) => Name | undefined,
): Array<UnpackedSeries<Name>> {
  const found: Array<UnpackedSeries<Name>> = [];
  const novelties = new Float32Array(numbers);
  for (let at = 0; at < numbers.length; ) {
    const name = nameOf(numbers[at]!);
    const windows = numbers[at + 9];
    if (name === undefined || windows === undefined) throw new Error("packed evidence is cut off, or of a series that has no name");
    const { serviceId, metricName, instance, peer, node } = name.of;
    const past = novelties.subarray(at + NUMBERS, at + NUMBERS + windows);
    const [mean, sd, peak] = [numbers[at + 1]!, numbers[at + 2]!, numbers[at + 3]!];
    const [peakAt, onsetAt, novelty, shift] = [numbers[at + 4]!, numbers[at + 5]!, numbers[at + 6]!, numbers[at + 7]!];
    const departure = { mean, sd, peak, peakAt, onsetAt, novelty, shift, past };
    found.push({
      name,
      one: { serviceId, metricName, instance, node, peer, departure, onsetMs: numbers[at + 8]!, intervalMs: numbers[at + 10]! },
    });
    at += NUMBERS + windows;
  }
  return found;
}

/** Name of a series. */
export type SeriesName = Pick<SeriesEvidence, "serviceId" | "metricName" | "instance" | "node" | "peer">;
