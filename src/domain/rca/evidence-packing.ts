// Evidence of series between threads: names as texts, numbers in one array, since objects cost ten times as much to move.
//
//   mean, sd, peak, peak at, onset at, novelty, shift, onset ms, windows n, n novelties of the past
import type { SeriesEvidence } from "./evidence.ts";

const NUMBERS = 9;

/** Adds a series to what is packed. */
export function packSeries({ departure, onsetMs }: Pick<SeriesEvidence, "departure" | "onsetMs">, numbers: number[]): void {
  const { mean, sd, peak, peakAt, onsetAt, novelty, shift, past } = departure;
  numbers.push(mean, sd, peak, peakAt, onsetAt, novelty, shift, onsetMs, past.length, ...past);
}

/** The name of a series as it is packed. */
export function packName({ serviceId, metricName, instance, peer }: Omit<SeriesEvidence, "departure" | "onsetMs">): string {
  return JSON.stringify([serviceId, metricName, instance, peer]);
}

/** Reads what was packed. Throws where names and numbers do not fit. */
export function unpackSeries(names: readonly string[], numbers: Float64Array): SeriesEvidence[] {
  let at = 0;
  return names.map((name) => {
    const [serviceId, metricName, instance, peer] = JSON.parse(name) as [string, string, string | null, string | null];
    const [mean, sd, peak, peakAt, onsetAt, novelty, shift, onsetMs, windows] = numbers.subarray(at, at + NUMBERS) as unknown as number[];
    if (windows === undefined) throw new Error("packed evidence has more names than numbers");
    const past = Float32Array.from(numbers.subarray(at + NUMBERS, at + NUMBERS + windows));
    at += NUMBERS + windows;
    const departure = { mean: mean!, sd: sd!, peak: peak!, peakAt: peakAt!, onsetAt: onsetAt!, novelty: novelty!, shift: shift!, past };
    return { serviceId, metricName, instance, peer, departure, onsetMs: onsetMs! };
  });
}
