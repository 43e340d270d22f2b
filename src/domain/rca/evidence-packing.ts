// Evidence of series between threads: numbers in one array, since objects cost ten times as much to move, and each name once (series-names.ts), since texts
// cost as much as the departures themselves.
//
//   number of the name, mean, sd, peak, peak at, onset at, novelty, shift, onset ms, windows n, interval ms, n novelties of the past
import type { Departure, SeriesEvidence } from "./evidence.ts";

const NUMBERS = 11;
/** Where among them the number of windows stands. */
const PAST_LENGTH = 9;
/** Numbers that there is room for at first: 200 series. It doubles. */
const CAPACITY_MIN = 8_192;

/** Parts of a series that are packed. */
export interface SeriesToPack extends Pick<SeriesEvidence, "departure" | "onsetMs" | "intervalMs"> {
  readonly name: number;
}

/** Series that are being packed, in memory that is used again. */
export class SeriesPacker {
  #numbers = new Float64Array(CAPACITY_MIN);
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
    numbers[at + PAST_LENGTH] = past.length;
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
  const answer = { numbers, novelties: new Float32Array(numbers) };
  for (let at = 0; at < numbers.length; ) {
    const name = nameOf(numbers[at]!);
    const windows = numbers[at + PAST_LENGTH];
    if (name === undefined || windows === undefined) throw new Error("packed evidence is cut off, or of a series that has no name");
    found.push({ name, one: new PackedSeries(name.of, answer, at) });
    at += NUMBERS + windows;
  }
  return found;
}

/** What was packed together. */
interface PackedNumbers {
  readonly numbers: Float64Array;
  readonly novelties: Float32Array;
}

/** A series whose numbers are read where they lie: as objects of their own, those of 10,000 series would be 4 MB that live as long as an incident. */
class PackedSeries implements SeriesEvidence {
  readonly #name: SeriesName;
  readonly #packed: PackedNumbers;
  readonly #at: number;

  constructor(name: SeriesName, packed: PackedNumbers, at: number) {
    this.#name = name;
    this.#packed = packed;
    this.#at = at;
  }

  get serviceId(): string {
    return this.#name.serviceId;
  }

  get metricName(): string {
    return this.#name.metricName;
  }

  get instance(): string | null {
    return this.#name.instance;
  }

  get node(): string | null {
    return this.#name.node;
  }

  get peer(): string | null {
    return this.#name.peer;
  }

  get departure(): Departure {
    return new PackedDeparture(this.#packed, this.#at);
  }

  get onsetMs(): number {
    return this.#packed.numbers[this.#at + 8]!;
  }

  get intervalMs(): number {
    return this.#packed.numbers[this.#at + 10]!;
  }
}

class PackedDeparture implements Departure {
  readonly #packed: PackedNumbers;
  readonly #at: number;

  constructor(packed: PackedNumbers, at: number) {
    this.#packed = packed;
    this.#at = at;
  }

  get mean(): number {
    return this.#packed.numbers[this.#at + 1]!;
  }

  get sd(): number {
    return this.#packed.numbers[this.#at + 2]!;
  }

  get peak(): number {
    return this.#packed.numbers[this.#at + 3]!;
  }

  get peakAt(): number {
    return this.#packed.numbers[this.#at + 4]!;
  }

  get onsetAt(): number {
    return this.#packed.numbers[this.#at + 5]!;
  }

  get novelty(): number {
    return this.#packed.numbers[this.#at + 6]!;
  }

  get shift(): number {
    return this.#packed.numbers[this.#at + 7]!;
  }

  get past(): Float32Array {
    const from = this.#at + NUMBERS;
    return this.#packed.novelties.subarray(from, from + this.#packed.numbers[this.#at + PAST_LENGTH]!);
  }
}

export type SeriesName = Pick<SeriesEvidence, "serviceId" | "metricName" | "instance" | "node" | "peer">;
