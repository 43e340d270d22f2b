// Incidents that look alike: signatures as 40 signed bytes each, compared one by one. 100,000 take 4 MB and about 5 ms, less than any index would be worth.
import { type IncidentSignature, SIGNATURE_LENGTH, signatureMeanings } from "./signature.ts";

/** Number that 1 is stored as; the heaviest block's 1 is then 85 x 1.41 = 120 of 127. */
const SCALE = 85;
const PLACES_FIRST = 256;
/** Blocks of a signature weigh as much as they help (ADR 97): the surroundings least, lines most. */
const CALLERS_FROM = 10;
const CALLERS_TO = 20;
const LINES_FROM = 25;
const LINES_TO = 31;
const CALLERS_WEIGHT = 0.3;
const LINES_WEIGHT = 2;
/** A number that is at least this in both is something they have in common. */
const COMMON_MIN = 0.25;
const REASONS_MAX = 4;

const weightRoots = Float64Array.from({ length: SIGNATURE_LENGTH }, (_, i) => {
  if (i >= CALLERS_FROM && i < CALLERS_TO) return Math.sqrt(CALLERS_WEIGHT);
  return i >= LINES_FROM && i < LINES_TO ? Math.sqrt(LINES_WEIGHT) : 1;
});

/** One that is near. */
export interface SimilarIncident {
  /** The place that `add` gave. */
  readonly index: number;
  /** 1 for the same, towards 0. */
  readonly similarity: number;
  /** Features that they have in common, in words. */
  readonly why: readonly string[];
}

/** Signatures of one tenant's incidents. */
export class SimilarIncidents {
  #bytes = new Int8Array(PLACES_FIRST * SIGNATURE_LENGTH);
  #count = 0;

  get size(): number {
    return this.#count;
  }

  /** Takes a signature; the number that it has from now on. */
  add(signature: IncidentSignature): number {
    if ((this.#count + 1) * SIGNATURE_LENGTH > this.#bytes.length) {
      const larger = new Int8Array(2 * this.#bytes.length);
      larger.set(this.#bytes);
      this.#bytes = larger;
    }
    this.put(this.#count, signature);
    return this.#count++;
  }

  /** Replaces one. */
  put(index: number, signature: IncidentSignature): void {
    const at = index * SIGNATURE_LENGTH;
    for (let i = 0; i < SIGNATURE_LENGTH; i++) this.#bytes[at + i] = Math.round(SCALE * (signature[i] ?? 0) * weightRoots[i]!);
  }

  /** The nearest, nearest first; places for which `isLeftOut` is true are no answer. */
  nearest(signature: IncidentSignature, count: number, isLeftOut: (index: number) => boolean): SimilarIncident[] {
    const wanted = new Float64Array(SIGNATURE_LENGTH);
    for (let i = 0; i < SIGNATURE_LENGTH; i++) wanted[i] = Math.round(SCALE * (signature[i] ?? 0) * weightRoots[i]!);
    const best: Array<{ index: number; distance: number }> = [];
    let limit = Number.POSITIVE_INFINITY;
    for (let index = 0; index < this.#count; index++) {
      const distance = distanceTo(this.#bytes, index * SIGNATURE_LENGTH, wanted, limit);
      if (distance >= limit || isLeftOut(index)) continue;
      best.push({ index, distance });
      best.sort((a, b) => a.distance - b.distance || a.index - b.index);
      if (best.length > count) best.pop();
      if (best.length === count) limit = best[count - 1]!.distance;
    }
    return best.map(({ index, distance }) => ({
      index,
      similarity: 1 / (1 + Math.sqrt(distance) / SCALE),
      why: this.#common(index, signature),
    }));
  }

  #common(index: number, signature: IncidentSignature): string[] {
    const both: Array<readonly [least: number, meaning: string]> = [];
    for (let i = 0; i < SIGNATURE_LENGTH; i++) {
      const other = this.#bytes[index * SIGNATURE_LENGTH + i]! / (SCALE * weightRoots[i]!);
      const least = Math.min(other, signature[i] ?? 0);
      if (least >= COMMON_MIN) both.push([least, signatureMeanings[i] ?? ""]);
    }
    return both
      .sort((a, b) => b[0] - a[0])
      .slice(0, REASONS_MAX)
      .map(([, meaning]) => meaning);
  }
}

/** Squared; anything from `limit` on where it is so far. */
function distanceTo(bytes: Int8Array, at: number, wanted: Float64Array, limit: number): number {
  let sum = 0;
  for (let i = 0; i < SIGNATURE_LENGTH && sum < limit; i++) {
    const off = bytes[at + i]! - wanted[i]!;
    sum += off * off;
  }
  return sum;
}
