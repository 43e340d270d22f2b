// Evidence of series between threads: names as texts, numbers in one array, since objects cost ten times as much to move.
//
//   mean, sd, peak, peak at, onset at, novelty, shift, onset ms, windows n, n novelties of the past
import type { SeriesEvidence } from "./evidence.ts";

const NUMBERS = 9;

/** Adds a series to what is packed. */
export function packSeries({ departure, onsetMs }: Pick<SeriesEvidence, "departure" | "onsetMs">, numbers: number[]): void {
  const { mean, sd, peak, peakAt, onsetAt, novelty, shift, past } = departure;
  numbers.push(mean, sd, peak, peakAt, onsetAt, novelty, shift, onsetMs, past.length);
  for (let i = 0; i < past.length; i++) numbers.push(past[i]!);
}

/** The name of a series as it is packed. */
export function packName({ serviceId, metricName, instance, peer }: Omit<SeriesEvidence, "departure" | "onsetMs">): string {
  return JSON.stringify([serviceId, metricName, instance, peer]);
}

/** Reads what was packed. Throws where names and numbers do not fit. */
export function unpackSeries(names: readonly string[], numbers: Float64Array): SeriesEvidence[] {
  let at = 0;
  const novelties = new Float32Array(numbers);
  return names.map((name) => {
    const [serviceId, metricName, instance, peer] = JSON.parse(name) as [string, string, string | null, string | null];
    const windows = numbers[at + 8];
    if (windows === undefined) throw new Error("packed evidence has more names than numbers");
    const past = novelties.subarray(at + NUMBERS, at + NUMBERS + windows);
    const [mean, sd, peak] = [numbers[at]!, numbers[at + 1]!, numbers[at + 2]!];
    const [peakAt, onsetAt, novelty, shift] = [numbers[at + 3]!, numbers[at + 4]!, numbers[at + 5]!, numbers[at + 6]!];
    const onsetMs = numbers[at + 7]!;
    at += NUMBERS + windows;
    return { serviceId, metricName, instance, peer, departure: { mean, sd, peak, peakAt, onsetAt, novelty, shift, past }, onsetMs };
  });
}
