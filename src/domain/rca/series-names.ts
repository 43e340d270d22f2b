// Names of series that an engine has told whoever asks it: each is told once, with the series that first needs it, and has its place in the list as its number.
// Either side may forget: the question says how many names are known, the answer from which number on it tells.
import type { SeriesName } from "./evidence-packing.ts";

/** Names that an answer tells. */
export interface NewNames {
  /** Number of the first; what the other side knows from there on counts no more. */
  readonly namesFrom: number;
  /** Packed. */
  readonly names: readonly string[];
}

/** A name that was told. */
export interface ReportedName {
  readonly packed: string;
  readonly of: SeriesName;
}

/** The name of a series in one text. */
export function packName({ serviceId, metricName, instance, peer, node }: SeriesName): string {
  return JSON.stringify([serviceId, metricName, instance, peer, node]);
}

function unpackName(packed: string): ReportedName {
  const [serviceId, metricName, instance, peer, node] = JSON.parse(packed) as [string, string, string | null, string | null, string | null];
  return { packed, of: { serviceId, metricName, instance, peer, node } };
}

/** Names that one engine has told: as many as it keeps, about 300 bytes each. */
export class ReportedNames {
  readonly #names: ReportedName[] = [];

  get count(): number {
    return this.#names.length;
  }

  of(number: number): ReportedName | undefined {
    return this.#names[number];
  }

  /** Throws where names in between were lost. */
  learn({ namesFrom, names }: NewNames): void {
    if (namesFrom > this.#names.length) throw new Error("names of series in between were lost");
    this.#names.length = namesFrom;
    for (const packed of names) this.#names.push(unpackName(packed));
  }
}
